# What a worker has not begun with is not its own: a pause gives it back at once, also with a model that computes
# for long; and after a restart no more is sent again than what was under way.
use strict;
use warnings FATAL => 'all';
use EngineTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use TinyModel;

my $engine = EngineTest->new('main', conf => q{
ai.workers = 1
ai.heartbeat_interval = '200ms'
ai.idle_timeout = -1
});
my ($node, $mock) = ($engine->node, $engine->mock);
sub sql { return $engine->sql(@_); }

# -- a pause with the embedded model

# A text takes it a good part of a second, so a batch of 32 takes long; no row is larger than that.
my $slow = TinyModel::write(PostgreSQL::Test::Utils::tempdir . '/slow', layers => 12, heads => 6, hidden => 384, intermediate => 1536, positions => 512);
$engine->set('ai.model_path' => $slow);
my $text = q{repeat('the cat sat on the mat. ', 200)};

# Pauses all workers, and waits until no more than so many are in hand. Returns how long that took.
sub seconds_to_release
{
	my ($running, $most) = @_;
	my $taken = sql(qq{
		CREATE TEMP TABLE paused AS SELECT clock_timestamp() AS at;
		SELECT ai.pause_workers();
		DO \$\$ BEGIN
			FOR i IN 1..1000 LOOP
				EXIT WHEN ($running) <= $most;
				COMMIT;
				PERFORM pg_sleep(0.02);
			END LOOP;
		END \$\$;
		SELECT extract(epoch FROM clock_timestamp() - at) FROM paused}) =~ s/\A\s+//r;
	return $taken;
}

sub is_released
{
	my ($running, $most, $test) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	my $taken = seconds_to_release($running, $most);
	return cmp_ok($taken, '<', 1 + EngineTest::slowness(), sprintf('%s: %.2f s', $test, $taken));
}

sql('CREATE TABLE long (id int PRIMARY KEY, body text)');
my $id = $engine->vectorizer('long', name => 'long', embedding => q{ai.embedding_local('slow', 384)}, chunking => 'ai.chunking_none()');
my $leases = "SELECT count(*) FROM ai._vectorizer_q_work_$id WHERE lease IS NOT NULL";
sql("INSERT INTO long SELECT n, $text FROM generate_series(1, 64) n");
ok($engine->poll("SELECT ($leases) >= 32"), 'a worker has many rows');
# The model computes texts of 256 tokens together, or one that is longer.
is_released($leases, 2, 'what the model has not begun is released');
ok($engine->poll("SELECT ($leases) = 0"), 'what it has begun is finished');
my $stored = sql('SELECT count(*) FROM long_embedding_store');
cmp_ok($stored, '<', 32, "$stored rows are stored");
is(sql(qq{SELECT count(*), max(attempts) FROM ai.jobs('long')}), (64 - $stored) . '|0', 'the others wait, uncharged');
my $start = sql('SELECT clock_timestamp()');
ok($engine->poll("SELECT min(last_heartbeat) > '$start'::timestamptz + interval '1 s' FROM ai.vectorizer_worker_process"), 'time passes');
is(sql('SELECT count(*) FROM long_embedding_store'), $stored, 'and nothing is done');
sql(q{DELETE FROM long WHERE id > 40; UPDATE long SET body = 'the cat ' || id WHERE id > 5; SELECT ai.resume_workers()});
ok($engine->drained('long'), 'resumed');
is(sql('SELECT count(DISTINCT id), count(*) FROM long_embedding_store'), '40|40', 'and all is done');

# Rows of many chunks: the one that was begun is finished, the others are released.
sql('CREATE TABLE many (id int PRIMARY KEY, body text)');
$id = $engine->vectorizer('many', name => 'many', embedding => q{ai.embedding_local('slow', 384)},
	chunking => q{ai.chunking_character_text_splitter(chunk_size => 1000, chunk_overlap => 0, separator => ' ')});
$leases = "SELECT count(*) FROM ai._vectorizer_q_work_$id WHERE lease IS NOT NULL";
sql("INSERT INTO many SELECT n, $text FROM generate_series(1, 64) n");
ok($engine->poll("SELECT ($leases) >= 6"), 'a worker has rows of several chunks');
is_released($leases, 2, 'those that the model has not begun are released');
ok($engine->poll("SELECT ($leases) = 0"), 'the rest is finished');
sql(q{DELETE FROM many WHERE id > 10; SELECT ai.resume_workers()});
ok($engine->drained('many'), 'resumed');
is(sql('SELECT count(DISTINCT id), count(DISTINCT (id, chunk_seq)) = count(*) FROM many_embedding_store'), '10|t', 'all is done, once');

# Jobs are no other.
sql("SELECT count(*) FROM ai.create_embedding_job((SELECT array_agg(n || ' ' || $text) FROM generate_series(1, 40) n), ai.embedding_local('slow', 384))");
my $processing = q{SELECT count(*) FROM ai.embedding_jobs WHERE status = 'processing'};
ok($engine->poll("SELECT ($processing) >= 32"), 'a worker has many jobs');
is_released($processing, 2, 'those that the model has not begun are released');
sql(q{SELECT ai.cancel_embedding_job(id) FROM ai.embedding_jobs WHERE status IN ('pending', 'retrying') OFFSET 5; SELECT ai.resume_workers()});
ok($engine->poll(q{SELECT count(*) = 0 FROM ai.embedding_jobs WHERE status IN ('pending', 'processing', 'retrying')}), 'resumed, and done');

# -- a restart amid work

$engine->set('ai.workers' => '2', 'ai.heartbeat_interval' => '1s');
my ($batch, $concurrency, $rows) = (20, 8, 2_000);
$engine->table('restarted', processing => "ai.processing_default(batch_size => $batch, concurrency => $concurrency)");
foreach my $mode (qw(fast fast immediate))
{
	$mock->rules({ latency_ms => [ 50, 150 ] });
	$mock->reset;
	sql('TRUNCATE restarted');
	$engine->is_settled('restarted', 'nothing to do');
	$mock->rules({ latency_ms => [ 50, 150 ] });
	sql("INSERT INTO restarted SELECT n, '$mode ' || clock_timestamp() || ' ' || n FROM generate_series(1, $rows) n");
	$mock->wait_for(items => 800) or die;
	$node->stop($mode);
	$node->start;
	$engine->is_settled('restarted', "$mode restart: all is done");
	my $stats = $mock->stats;
	is($stats->{distinct_texts}, $rows, "each text was sent");
	note("$mode: $stats->{items} texts for $rows rows, $stats->{aborted} requests broken off");
	# One that is killed has not stored what it was just answered.
	my $most = $concurrency * $batch * ($mode eq 'fast' ? 1 : 2);
	cmp_ok($stats->{items} - $rows, '<=', $most, "and no more of them again than were under way: " . ($stats->{items} - $rows));
}

unlike(slurp_file($node->logfile), qr/PANIC:|TRAP:|terminated by signal (?!3: Quit)/, 'no process crashed');
$node->stop;
done_testing();
