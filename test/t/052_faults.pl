# What can go wrong, and that nothing is lost, written twice or held up by it. Each part ends with the
# check of EngineTest. AI_CHAOS=1 makes it long (make chaos), AI_SEED repeats a run.
use strict;
use warnings FATAL => 'all';
use EngineTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use POSIX ();
use Test::More;
use Time::HiRes qw(sleep);

my $seed = EngineTest::seed();
my $long = EngineTest::long();
my $engine = EngineTest->new('main', streaming => 1);
my ($node, $mock) = ($engine->node, $engine->mock);
my $patient = 'ai.processing_default(batch_size => 10, max_attempts => 1000)';

sub sql { return $engine->sql(@_); }
sub fill { my ($table, $rows) = @_; return sql("INSERT INTO $table SELECT n, '$table ' || n FROM generate_series(1, $rows) n"); }

sub takes_less { return EngineTest::takes_less(@_); }

# Lets requests with a text hang and waits until one does.
sub hang
{
	my ($text, $change, $database) = @_;
	$mock->rules({ text => $text, hang => 'before' });
	sql($change, $database);
	$mock->wait_for(hanging => 1) or die "nothing hangs: $text";
	return;
}
sub release { $mock->rules; $mock->release; return; }

# -- one bad row

my $rows = $long ? 10_000 : 1_000;
my $bad = 1 + int(rand $rows);
note("poison row $bad");
$mock->rules({ text => "poison $bad!", status => 400 });
$engine->table('poison');
sql("INSERT INTO poison SELECT n, 'poison ' || n || '!' FROM generate_series(1, $rows) n");
$engine->is_settled('poison', "a poison row among $rows", failed => 1, where => "s.id <> $bad");
is(sql(q{SELECT key ->> 'id', status FROM ai.jobs('poison')}), "$bad|failed", 'it is the one that was given up');
is(sql(q{SELECT details -> 'key' ->> 'id', details ->> 'step', details ->> 'class' FROM ai.vectorizer_errors WHERE name = 'poison'}),
	"$bad|embedding|suspect", 'with its key in the errors');
$mock->rules;
is(sql(qq{SELECT ai.retry_failed('poison', '{"id": $bad}')}), '1', 'tried again');
$engine->is_settled('poison', 'and written when it can be');

# -- a provider that fails now and then

$engine->table('flaky', processing => $patient);
$mock->rules({ share => 0.2, seed => $seed, status => 500 });
fill('flaky', $long ? 5_000 : 500);
$engine->is_settled('flaky', 'a fifth of the requests fails');
$mock->rules;

# -- one that asks to come back later

$engine->table('busy');
$mock->rules({ status => 429, retry_after => 1, count => 6 });
fill('busy', 400);
my $most = 0;
while (sql(q{SELECT ai.vectorizer_queue_pending('busy') > 0}) eq 't')
{
	my $attempts = sql(q{SELECT coalesce(max(attempts), 0) FROM ai._vectorizer_q_work_} . $engine->id('busy'));
	$most = $attempts if $attempts > $most;
}
$engine->is_settled('busy', '429 with Retry-After');
is($most, 0, 'no attempt is charged');
$mock->rules;

# -- a key that is refused

$engine->table('refused');
$engine->table('accepted', embedding => q{ai.embedding_ollama('mock-8', 8, base_url => '} . $mock->url . q{')});
$mock->rules({ path => '/v1/*', error => 'invalid_key' });
fill('refused', 300);
ok($engine->poll(q{SELECT count(*) > 0 FROM ai.vectorizer_errors WHERE name = 'refused'}), 'a refused key is an error');
fill('accepted', 300);
$engine->is_settled('accepted', 'another vectorizer goes on');
is(sql(q{SELECT pending + running + retryable, failed FROM ai.job_counts WHERE name = 'refused'}), '300|0', 'the rows stay');
is(sql(q{SELECT max(attempts) FROM ai.jobs('refused')}), '0', 'uncharged');
is(sql(q{SELECT count(*) FROM ai.vectorizer_errors WHERE name = 'refused'}), '1', 'said once, by whichever worker');
$mock->rules;
takes_less(30, 'a key that is accepted again', sub { $engine->is_settled('refused', 'all are written when the key is accepted'); });

# -- replies that must not be written

$engine->table('garbled', processing => $patient);
$mock->rules({ reply => 'wrong_dimensions', dimensions => 7 });
my $before = $mock->stats->{requests};
fill('garbled', 50);
$mock->wait_for(requests => $before + 10) or die;
sleep($long ? 60 : 0);
is(sql('SELECT count(*) FROM garbled_embedding_store'), '0', 'vectors of other dimensions are not written');
$mock->rules;
$engine->is_settled('garbled', 'wrong dimensions for a while');
foreach my $reply (qw(garbage nan missing_item extra_item null_value))
{
	$mock->rules({ reply => $reply, count => 2 });
	sql("INSERT INTO garbled SELECT n, '$reply ' || n FROM generate_series((SELECT max(id) + 1 FROM garbled), (SELECT max(id) + 20 FROM garbled)) n");
	$engine->is_settled('garbled', "replies with $reply");
}
$mock->rules;

# -- a provider that hangs, and is back

$engine->table('hung', processing => $patient);
$engine->set('ai.request_timeout' => '200ms');
hang('hung', q{INSERT INTO hung SELECT n, 'hung ' || n FROM generate_series(1, 50) n});
$mock->wait_for(aborted => 5) or die;
release();
$engine->is_settled('hung', 'a provider that hangs');
$engine->set('ai.request_timeout' => '120s');

# -- changes while the request is under way

$engine->table('moving');
fill('moving', 20);
$engine->is_settled('moving', 'before');
my %change = (
	deleted      => 'DELETE FROM moving WHERE id <= 15',
	updated      => q{UPDATE moving SET body = 'newer ' || id},
	truncated    => 'TRUNCATE moving',
	'key changed' => 'UPDATE moving SET id = id + 100',
	'deleted and inserted' => q{DELETE FROM moving; INSERT INTO moving SELECT n, 'again ' || n FROM generate_series(1, 10) n},
	'keys exchanged' => q{UPDATE moving SET id = -id; UPDATE moving SET id = 21 + id});
foreach my $what (sort keys %change)
{
	hang("slow $what", qq{DELETE FROM moving; INSERT INTO moving SELECT n, 'slow $what ' || n FROM generate_series(1, 20) n});
	takes_less(2, "$what: nobody waits", sub { sql($change{$what}); });
	release();
	$engine->is_settled('moving', "$what while the request is under way");
}
hang('twice', q{UPDATE moving SET body = 'twice ' || id});
sql(q{UPDATE moving SET body = 'newest ' || id; VACUUM FULL ai._vectorizer_q_work_} . $engine->id('moving'));
release();
$engine->is_settled('moving', 'the table of work is rewritten meanwhile');

# -- rows that were taken from a worker which is still at work on them

hang('stolen', q{UPDATE moving SET body = 'stolen ' || id});
is( sql(q{SELECT DISTINCT j.status, p.id IS NOT NULL FROM ai.jobs('moving') j
	LEFT JOIN ai.vectorizer_worker_process p ON p.id = j.worker}), 'running|t', 'rows under way are with a worker');
$mock->rules;
sql(q{UPDATE ai._vectorizer_q_work_} . $engine->id('moving') . q{ SET lease = NULL, retry_at = now() WHERE id % 2 = 0; SELECT ai._vectorizer_notify()});
ok($engine->poll(q{SELECT count(*) = 0 FROM ai.jobs('moving') WHERE (key ->> 'id')::int % 2 = 0}), 'others write those that were taken away');
sql(q{UPDATE moving SET body = 'newer than stolen' WHERE id % 4 = 0});
$mock->release;
$engine->is_settled('moving', 'the one that had them writes the rest');

# -- a user who holds locks

sql(q{CREATE TABLE col (id int PRIMARY KEY, body text)});
$engine->vectorizer('col', name => 'col', destination => q{ai.destination_column('embedding')}, chunking => 'ai.chunking_none()');
$engine->table('locked');
hang('locked', q{INSERT INTO locked SELECT n, 'locked ' || n FROM generate_series(1, 20) n;
	INSERT INTO col SELECT n, 'locked ' || n FROM generate_series(1, 20) n});
my $user = $node->background_psql('postgres');
$user->query_safe('BEGIN; SELECT FROM locked WHERE id <= 5 FOR UPDATE; UPDATE col SET id = id WHERE id <= 5');
release();
$engine->is_settled('locked', 'rows that a user has locked are written to a table');
ok($engine->poll('SELECT count(*) = 15 FROM col WHERE embedding IS NOT NULL'), 'the others are written to a column');
ok($engine->poll(q{SELECT count(*) = 5 AND max(attempts) = 0 FROM ai.jobs('col') WHERE status IN ('retryable', 'pending', 'running')}), 'the locked ones wait');
is(sql(q{SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'ai worker' AND wait_event_type = 'Lock'}), '0', 'no worker does');
sleep($long ? 60 : 1);
$user->query_safe('COMMIT');
$user->quit;
$engine->is_settled('col', 'written when they are free');

# -- a user who holds locks on tables

$engine->table('bystander');
$engine->table('victim');
my $meanwhile = 0;
foreach my $statement (
	'LOCK TABLE victim', 'LOCK TABLE victim_embedding_store', "SELECT ai.drop_vectorizer('victim')",
	'TRUNCATE ai._vectorizer_q_work_' . $engine->id('victim'))
{
	$meanwhile++;
	hang('victim', "INSERT INTO victim VALUES ($meanwhile, 'victim')");
	$user = $node->background_psql('postgres');
	$user->query_safe("BEGIN; $statement");
	release();
	my @workers = sort $engine->workers;
	foreach (1 .. 3)
	{
		takes_less(10, "$statement", sub {
			sql('INSERT INTO bystander VALUES (' . ++$meanwhile . q{, 'bystander')});
			$engine->is_settled('bystander', 'others go on');
		});
	}
	is(join(' ', sort $engine->workers), "@workers", 'the workers are the same');
	$user->query_safe('ROLLBACK');
	$user->quit;
	$engine->is_settled('victim', 'written when the lock is gone');
}
is(sql(q{SELECT count(*) FROM ai.vectorizer_errors WHERE name = 'victim'}), '0', 'a lock is no error');
$mock->rules({ text => 'owed', hang => 'before', status => 400 });
sql(q{INSERT INTO victim VALUES (1000, 'owed')});
$mock->wait_for(hanging => 1) or die;
$user = $node->background_psql('postgres');
$user->query_safe('BEGIN; LOCK TABLE ai._vectorizer_q_work_' . $engine->id('victim'));
$before = $mock->stats->{replies};
release();
$mock->wait_for(replies => $before + 1) or die;
sql('INSERT INTO bystander VALUES (' . ++$meanwhile . q{, 'bystander')});
$engine->is_settled('bystander', 'a reply that cannot be dealt with does not hold up others');
sleep(1);
$user->query_safe('ROLLBACK');
$user->quit;
$engine->is_settled('victim', 'the row is released when that is possible');

# -- settings of a database that are not made for workers

sql(q{ALTER DATABASE postgres SET default_transaction_isolation = 'serializable';
	ALTER DATABASE postgres SET default_transaction_read_only = on; ALTER DATABASE postgres SET row_security = off;
	ALTER DATABASE postgres SET search_path = nowhere});
sql("SELECT pg_terminate_backend($_, 5000)", 'template1') foreach $engine->workers;
sql(q{SET default_transaction_read_only = off; INSERT INTO public.bystander SELECT n, 'settings' FROM generate_series(1001, 1500) n});
ok($engine->drained('bystander'), 'workers go by their own settings');
sql('SET default_transaction_read_only = off; ALTER DATABASE postgres RESET ALL');
sql("SELECT pg_terminate_backend($_, 5000)", 'template1') foreach $engine->workers;
$engine->is_settled('bystander', 'all is written');

# -- what has to be done later is noticed at its time, not by the poll

$engine->set('ai.poll_interval' => '1h', 'ai.retry_delay' => '500ms');
$engine->table('later', processing => $patient);
$mock->rules({ text => 'later', reply => 'garbage', count => 1 });
$before = $mock->stats->{replies};
sql(q{INSERT INTO later VALUES (1, 'later')});
$mock->wait_for(replies => $before + 1) or die;
ok($engine->poll(q{SELECT count(*) = 1 FROM ai.jobs('later') WHERE status = 'retryable'}), 'a row waits for its next attempt');
sql(q{INSERT INTO later VALUES (2, 'meanwhile')});
takes_less(60, 'noticed', sub { $engine->is_settled('later', 'a row to try again while others change'); });
sql(q{ALTER TABLE later_embedding_store ADD CONSTRAINT c CHECK (chunk <> 'no'); INSERT INTO later VALUES (3, 'no')});
ok($engine->poll(q{SELECT max(attempts) > 0 FROM ai.jobs('later')}), 'a row that the target refuses');
sql('ALTER TABLE later_embedding_store DROP CONSTRAINT c');
takes_less(60, 'noticed', sub { $engine->is_settled('later', 'is written when it may be'); });
$user = $node->background_psql('postgres');
hang('col', q{INSERT INTO col VALUES (100, 'col')});
$user->query_safe('BEGIN; SELECT FROM col WHERE id = 100 FOR UPDATE');
release();
ok($engine->poll(q{SELECT count(*) = 1 FROM ai.jobs('col') WHERE status = 'retryable'}), 'a row that somebody has locked');
$user->query_safe('COMMIT');
$user->quit;
takes_less(60, 'noticed', sub { $engine->is_settled('col', 'is written when it is free'); });
$mock->rules({ reply => 'garbage', count => 16 });
sql(q{INSERT INTO later SELECT n, 'many ' || n FROM generate_series(10, 400) n});
takes_less(60, 'noticed', sub { $engine->is_settled('later', 'a breaker that opens and closes'); });

# A breaker that is open for long: nothing to do, and nothing is done.
sub cpu_seconds
{
	my $ticks = 0;
	foreach my $pid ($engine->workers)
	{
		my @fields = split / /, slurp_file("/proc/$pid/stat") =~ s/\A.*\) //sr;
		$ticks += $fields[11] + $fields[12];
	}
	return $ticks / POSIX::sysconf(POSIX::_SC_CLK_TCK());
}
$engine->set('ai.breaker_pause' => '1h');
$mock->rules({ error => 'invalid_key' });
sql(q{INSERT INTO later SELECT n, 'shut ' || n FROM generate_series(1000, 5000) n});
ok($engine->poll(q{SELECT count(*) > 0 FROM ai.vectorizer_errors WHERE name = 'later' AND details ->> 'class' = 'configuration'}), 'a breaker that opens');
sleep(0.5);
my $cpu = cpu_seconds();
sleep(2);
cmp_ok(cpu_seconds() - $cpu, '<', $ENV{SANITIZE} ? 1 : 0.2, 'workers are idle meanwhile');
$engine->set('ai.poll_interval' => '1s', 'ai.retry_delay' => '100ms', 'ai.breaker_pause' => '500ms');
$mock->rules;
sql("SELECT pg_terminate_backend($_, 5000)") foreach $engine->workers;
$engine->is_settled('later', 'new workers ask anew');

# -- no transaction while a provider is waited for

$engine->table('sampled', processing => 'ai.processing_default(batch_size => 5, concurrency => 4)');
$mock->rules({ latency_ms => 1000 });
my $seconds = $long ? 60 : 3;
fill('sampled', 5 * 4 * 2 * ($seconds + 1));
$mock->wait_for(in_flight => 4) or die;
my ($waiting, $open, $waits, $samples) = EngineTest::open_transactions($node, $seconds * 100, 0.01);
is($waiting, 0, "$samples samples, $waits waits: no transaction while a provider is waited for");
cmp_ok($waits, '>', 0, 'it was waited for');
cmp_ok($open / $samples, '<', 0.25 * EngineTest::slowness(), "and few at all: $open");
$mock->rules;
$engine->is_settled('sampled', 'a slow provider');

# -- large rows: memory is bounded

if ($long)
{
	$engine->table('large');
	sql(q{INSERT INTO large SELECT n, repeat(md5(n::text) || ' ', 40000) FROM generate_series(1, 60) n});
	$engine->is_settled('large', 'large rows');
	foreach my $pid ($engine->workers)
	{
		my ($kilobytes) = slurp_file("/proc/$pid/status") =~ /VmHWM:\s+(\d+)/;
		cmp_ok($kilobytes, '<', 400_000, "a worker had at most $kilobytes kB");
	}
}

# -- workers that end

$engine->table('ended');
$mock->rules({ latency_ms => 30 });
fill('ended', 2_000);
foreach (1 .. ($long ? 30 : 3))
{
	$engine->poll(q{SELECT count(*) = 2 FROM pg_stat_activity WHERE backend_type = 'ai worker' AND datname = 'postgres'}) or die;
	sleep(rand 0.3);
	$engine->ends_in(1, 'SIGTERM', $engine->workers);
}
$mock->rules;
$engine->is_settled('ended', 'workers that were ended');
hang('ended too', q{INSERT INTO ended SELECT n, 'ended too ' || n FROM generate_series(3000, 3100) n});
$engine->ends_in(1, 'SIGTERM with a provider that hangs', $engine->workers);
is(sql(q{SELECT max(attempts) FROM ai.jobs('ended')}), '0', 'the rows are released uncharged');
release();
$engine->is_settled('ended', 'and done by others');

# -- what is dropped while a request is under way

sub another
{
	my ($name) = @_;
	sql("CREATE DATABASE $name");
	sql('CREATE TABLE src (id int PRIMARY KEY, body text)', $name);
	return create_extension($name);
}
sub create_extension
{
	my ($name) = @_;
	sql('CREATE EXTENSION ai CASCADE', $name);
	return $engine->elsewhere(database => $name)->vectorizer('src', name => 'src');
}
my %drop = (
	'drop_vectorizer' => q{SELECT ai.drop_vectorizer('dropped', drop_all => true)},
	'DROP TABLE'      => 'DROP TABLE dropped CASCADE',
	'DROP TABLE of the target' => q{DROP TABLE dropped_embedding_store CASCADE});
foreach my $what (sort keys %drop)
{
	$engine->table('dropped');
	hang($what, "INSERT INTO dropped VALUES (1, '$what')");
	takes_less(2, "$what with a request under way", sub { sql($drop{$what}); });
	release();
	sql('INSERT INTO ended VALUES (' . int(10_000 + rand 1e6) . q{, 'goes on')});
	$engine->is_settled('ended', 'the others go on');
	sql('DROP TABLE IF EXISTS dropped CASCADE');
}
another($_) foreach qw(one two);
hang('one', q{INSERT INTO src VALUES (1, 'one')}, 'one');
takes_less(2, 'CREATE DATABASE ... TEMPLATE with a request under way', sub { sql('CREATE DATABASE copied TEMPLATE one'); });
release();
$engine->elsewhere(database => $_)->is_settled('src', "$_: goes on") foreach qw(one copied);
hang('two', q{INSERT INTO src VALUES (2, 'two')}, 'two');
takes_less(2, 'DROP EXTENSION with a request under way', sub { sql('DROP EXTENSION ai CASCADE', 'two'); });
release();
is(sql(q{SELECT body FROM src}, 'two'), 'two', 'the rows are left');
sql(q{DROP TABLE IF EXISTS src_embedding_store CASCADE}, 'two');
create_extension('two');
$engine->elsewhere(database => 'two')->is_settled('src', 'and are embedded when the extension comes again');
hang('three', q{INSERT INTO src VALUES (3, 'three')}, 'one');
takes_less(2, 'DROP DATABASE with a request under way', sub { sql('DROP DATABASE one'); });
release();
$engine->is_settled('ended', 'all that is dropped is no trouble to others');
hang('another version', q{INSERT INTO ended VALUES (9000, 'another version')});
sql(q{UPDATE pg_extension SET extversion = '9.9' WHERE extname = 'ai'});
ok($engine->poll(q{SELECT count(*) = 0 FROM pg_stat_activity WHERE backend_type = 'ai worker' AND datname = 'postgres'}), 'workers leave an extension that is updated');
sql(q{UPDATE pg_extension SET extversion = ai.version() WHERE extname = 'ai'});
release();
$engine->is_settled('ended', 'and are back');

# -- kill -9 while clients change rows

$engine->table('chaos', processing => $patient,
	chunking => q{ai.chunking_character_text_splitter(chunk_size => 20, chunk_overlap => 0, separator => ' ')});
$mock->rules({ latency_ms => [ 1, 40 ] }, { share => 0.02, seed => $seed, status => 500 });
my $stop = PostgreSQL::Test::Utils::tempdir() . '/stop';
my $script = "$stop.sql";
my $key = '(SELECT (random() * 300)::int)';
my $text = q{(SELECT string_agg(md5(n::text || random()), ' ') FROM generate_series(1, 1 + (random() * 4)::int) n)};
append_to_file($script, join "\n", map { "$_;" } (
	"INSERT INTO chaos SELECT $key, $text ON CONFLICT (id) DO UPDATE SET body = excluded.body",
	"UPDATE chaos SET body = $text WHERE id = $key",
	"UPDATE chaos SET body = split_part(body, ' ', 1) || ' ' || md5(random()::text) WHERE id = $key",
	"DELETE FROM chaos WHERE id = $key",
	"UPDATE chaos SET id = $key WHERE id = $key") x 10);
# One who has many rows locked, in an order of his own: workers write to the same rows.
sql(q{CREATE TABLE chaos_column (id int PRIMARY KEY, body text)});
$engine->vectorizer('chaos_column', name => 'chaos_column', processing => $patient, destination => q{ai.destination_column('embedding')},
	chunking => 'ai.chunking_none()');
sql(q{INSERT INTO chaos_column SELECT n, 'text' FROM generate_series(1, 40) n});
append_to_file("$stop.column.sql", join "\n", 'BEGIN;', (map { "UPDATE chaos_column SET body = md5(random()::text) WHERE id = $_;" } reverse 1 .. 40), 'COMMIT;');
my $connection = $node->connstr('postgres');
my @clients = map {
	my $statements = $_;
	my $pid = fork() // die;
	if ($pid == 0)
	{
		exec 'sh', '-c', "while [ ! -e $stop ]; do psql -X -q -d '$connection' -f $statements >/dev/null 2>&1; sleep 0.05; done"
			or POSIX::_exit(127);
	}
	$pid;
} ($script) x 4, "$stop.column.sql";
END { local $?; append_to_file($stop, '') if defined $stop && !-e $stop; }
my $kills = $long ? 30 : 3;
# Workers are not to wait longer after each of them.
$engine->set('ai.restart_window' => '1s');
foreach my $kill (1 .. $kills)
{
	sleep(0.3 + rand 1);
	my @workers = $engine->workers;
	my $victim = $workers[ rand @workers ];
	kill 'KILL', $victim if $victim;
	ok($engine->poll(q{SELECT count(*) = 2 FROM pg_stat_activity WHERE backend_type = 'ai worker' AND datname = 'postgres'}),
		"kill -9 number $kill of $kills: workers are back");
}
ok($engine->poll('SELECT count(*) > 50 FROM chaos'), 'clients were at work');
append_to_file($stop, '');
waitpid $_, 0 foreach @clients;
$mock->rules;
$engine->is_settled('chaos', 'kill -9 of workers while clients change rows');
$engine->is_settled('chaos_column', 'also in a column of their table');

# -- immediate shutdown

$engine->table('shutdown', processing => $patient);
$mock->rules({ latency_ms => [ 10, 100 ] });
fill('shutdown', 1_000);
$mock->wait_for(in_flight => 1) or die;
$node->stop('immediate');
$node->start;
$mock->rules;
$engine->is_settled('shutdown', 'immediate shutdown and restart');
hang('fast', q{INSERT INTO shutdown VALUES (5000, 'fast')});
takes_less(2, 'fast shutdown with a provider that hangs', sub { $node->stop('fast'); });
release();
$node->start;
$engine->is_settled('shutdown', 'fast shutdown and restart');

# -- a standby that is promoted while requests are under way

$node->backup('backup');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($node, 'backup', has_streaming => 1);
$standby->start;
hang('promoted', q{INSERT INTO shutdown SELECT n, 'promoted ' || n FROM generate_series(6000, 6200) n});
$node->wait_for_catchup($standby, 'replay', $node->lsn('insert'));
$node->stop('immediate');
$standby->promote;
release();
my $promoted = $engine->elsewhere(node => $standby);
$promoted->is_settled('shutdown', 'a standby that was promoted goes on');
$promoted->is_settled('chaos', 'with all that was done');

foreach my $server ($node, $standby)
{
	unlike(slurp_file($server->logfile), qr/PANIC:|TRAP:|terminated by signal (?!9: Killed|3: Quit)|exited with exit code 134/, $server->name . ': no process crashed');
	unlike(slurp_file($server->logfile), qr/deadlock detected/, $server->name . ': nobody met a worker in a deadlock');
}
$standby->stop;

# -- no room for workers, then for one only

my $full = EngineTest->new('full', mock => $mock, conf => 'max_worker_processes = 2');
$full->table('src');
$full->sql(q{INSERT INTO src SELECT n, 'full ' || n FROM generate_series(1, 500) n});
$full->node->wait_for_log(qr/could not start another "ai coordinator": out of background worker slots/);
$full->sql(q{UPDATE src SET body = 'changed ' || id WHERE id <= 10; DELETE FROM src WHERE id > 490});
is($full->sql(q{SELECT count(*), min(status), max(status) FROM ai.jobs('src')}), '500|pending|pending', 'changes are queued');
$full->node->append_conf('postgresql.conf', 'max_worker_processes = 4');
$full->node->restart;
$full->is_settled('src', 'room for one worker is enough');
is(scalar($full->workers), 1, 'there is one');
$full->node->stop;
done_testing();
