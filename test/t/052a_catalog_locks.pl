# Who has locked a table of the catalog holds up nothing that does not need it: LOCK TABLE takes what VACUUM FULL
# and REINDEX take. And a lock that is met is no cancel.
use strict;
use warnings FATAL => 'all';
use EngineTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(sleep time);

my $engine = EngineTest->new('main', conf => q{
ai.idle_timeout = -1
ai.job_retry_delay = '100ms'
});
my ($node, $mock) = ($engine->node, $engine->mock);
my $rows = 0;

sub sql { return $engine->sql(@_); }
sub log_of { my ($from) = @_; return slurp_file($node->logfile, $from); }

# Waits for an answer for a while only: what is held up stays so until the lock is gone.
sub soon
{
	my ($query, $test) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	my ($start, $limit) = (time, 30);
	sleep 0.05 while sql($query) ne 't' && time - $start < $limit;
	my $taken = time - $start;
	return ok($taken < $limit, sprintf('%s: %.1f s', $test, $taken));
}

# Rows for tables, and the wait until they are embedded. Only the targets are looked at: nothing else may be free.
sub embeds
{
	my ($test, @tables) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	foreach (1 .. 3)
	{
		my $first = $rows + 1;
		$rows += 10;
		sql("INSERT INTO $_ SELECT n, '$_ ' || n FROM generate_series($first, $rows) n") foreach @tables;
		soon("SELECT count(*) = 10 FROM ${_}_embedding_store WHERE id >= $first", "$test: rows of $_") foreach @tables;
	}
	return;
}

sub creates_job { return sql(q{SELECT ai.create_embedding_job('a job ' || clock_timestamp(), ai.embedding_openai('mock-8', 8))}); }
sub job_is_done { return soon("SELECT status = 'completed' FROM ai.embedding_jobs WHERE id = '$_[0]'", $_[1]); }

# Runs code while somebody has locked a table: the workers are the same, and none says that it was cancelled.
sub locked
{
	my ($table, $code) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	my $before = join ' ', sort { $a <=> $b } $engine->workers;
	my $from = -s $node->logfile;
	my $user = $node->background_psql('postgres');
	$user->query_safe("BEGIN; LOCK TABLE ai.$table IN ACCESS EXCLUSIVE MODE");
	$code->("ai.$table is locked");
	$user->query_safe('ROLLBACK');
	$user->quit;
	is(join(' ', sort { $a <=> $b } $engine->workers), $before, "ai.$table is locked: the workers are the same");
	unlike(log_of($from), qr/was cancelled|due to user request|exited with/,
		"ai.$table is locked: nobody was cancelled");
	return;
}

$engine->table($_) foreach qw(known other poison);
embeds('before', qw(known other));
job_is_done(creates_job(), 'a job');

# -- the jobs

locked('embedding_jobs', sub {
	my ($test) = @_;
	$engine->table('fresh_jobs');
	embeds($test, qw(known other fresh_jobs));
});
job_is_done(creates_job(), 'a job after the lock');
$engine->is_settled($_, "$_: all is done") foreach qw(known other fresh_jobs);

# -- the vectorizers: workers go on with those that they know

locked('vectorizer', sub {
	my ($test) = @_;
	embeds($test, qw(known other));
	job_is_done(creates_job(), "$test: a job");
});
$engine->table('fresh');
sql(q{INSERT INTO fresh VALUES (1, 'never seen before')});
$engine->is_settled($_, "$_: all is done") foreach qw(known other fresh);

# A vectorizer that no worker has opened waits, and is not forgotten.
$engine->table('waiting');
locked('vectorizer', sub {
	sql(q{INSERT INTO waiting SELECT n, 'waiting ' || n FROM generate_series(1, 20) n});
	embeds('with one that has to wait', 'known');
});
$engine->is_settled('waiting', 'done after the lock');

# -- what is only counted or recorded

foreach my $table (qw(usage vectorizer_worker_progress vectorizer_worker_process worker provider _vectorizer_errors embedding_job_usage))
{
	locked($table, sub {
		my ($test) = @_;
		embeds($test, qw(known other));
		job_is_done(creates_job(), "$test: a job");
		# For so long that everybody has tried to write to it, heartbeats and reports too.
		my $end = time + 1.5;
		embeds("$test for long", 'known') while time < $end;
	});
}
$engine->is_settled($_, "$_: all is done") foreach qw(known other);
ok($engine->poll(q{SELECT bool_and(u.rows = s.count) FROM (
		SELECT 'known' AS name, count(*) FROM known UNION ALL SELECT 'other', count(*) FROM other) s
		JOIN ai.vectorizer v USING (name) JOIN (SELECT vectorizer_id, sum(rows) AS rows FROM ai.usage GROUP BY 1) u ON u.vectorizer_id = v.id}),
	'what was used is counted up') or diag(sql('SELECT vectorizer_id, rows FROM ai.usage'));
ok($engine->poll(q{SELECT sum(success_count) = (SELECT count(*) FROM known) FROM ai.vectorizer_worker_progress p
	JOIN ai.vectorizer v ON v.id = p.vectorizer_id WHERE name = 'known'}), 'and so is the progress')
	or diag(sql('SELECT vectorizer_id, success_count FROM ai.vectorizer_worker_progress'));

# A row that has to be given up cannot be while nobody can write why; the others are stored.
$mock->rules({ text => 'poison 25!', status => 400 });
locked('_vectorizer_errors', sub {
	my ($test) = @_;
	sql(q{INSERT INTO poison SELECT n, 'poison ' || n || '!' FROM generate_series(1, 50) n});
	soon('SELECT count(*) = 49 FROM poison_embedding_store', "$test: a bad row does not hold up the others");
	embeds($test, 'known');
});
$engine->is_settled('poison', 'it is given up later', failed => 1, where => 's.id <> 25');
$mock->rules;

# -- who cancels a worker is told from who has a lock

my @workers = $engine->workers;
my $from = -s $node->logfile;
my $user = $node->background_psql('postgres');
sql('CREATE TABLE held (id int PRIMARY KEY); INSERT INTO held VALUES (1);
	CREATE FUNCTION wait_for_it() RETURNS trigger LANGUAGE plpgsql AS
		$$BEGIN PERFORM pg_sleep(0) FROM public.held FOR UPDATE; RETURN NULL; END$$');
$engine->table('cancelled', chunking => 'ai.chunking_none()');
sql('CREATE TRIGGER wait AFTER INSERT ON cancelled_embedding_store EXECUTE FUNCTION wait_for_it()');
$engine->set('ai.store_timeout' => '60s');
$user->query_safe('BEGIN; SELECT FROM held FOR UPDATE');
sql(q{INSERT INTO cancelled VALUES (1, 'cancelled')});
my $waiting = q{SELECT count(*) %s 0 FROM pg_stat_activity WHERE backend_type = 'ai worker' AND wait_event_type = 'Lock'};
ok($engine->poll(sprintf($waiting, '>')) && $engine->poll(sprintf($waiting, '=')), 'a worker meets a lock, and goes on without it');
is(join(' ', sort $engine->workers), join(' ', sort @workers), 'a lock that is met while a row is stored ends nobody');
unlike(log_of($from), qr/was cancelled/, 'and is no cancel');
$user->query_safe('ROLLBACK');
$user->quit;
$engine->is_settled('cancelled', 'the row is stored when the lock is gone');
sql('DROP TRIGGER wait ON cancelled_embedding_store; CREATE OR REPLACE FUNCTION wait_for_it() RETURNS trigger LANGUAGE plpgsql AS
	$$BEGIN PERFORM pg_sleep(30); RETURN NULL; END$$;
	CREATE TRIGGER wait AFTER INSERT ON cancelled_embedding_store EXECUTE FUNCTION wait_for_it()');
sql(q{INSERT INTO cancelled VALUES (2, 'sleeps')});
my $sleeper = q{SELECT pid FROM pg_stat_activity WHERE backend_type = 'ai worker' AND wait_event = 'PgSleep'};
$engine->poll("SELECT EXISTS ($sleeper)") or die 'no worker sleeps';
my $pid = sql($sleeper);
sql("SELECT pg_cancel_backend($pid)");
$node->wait_for_log(qr/worker exits because its statement was canceled/, $from);
sql('DROP TRIGGER wait ON cancelled_embedding_store');
$engine->is_settled('cancelled', 'another worker stores the row of one that was cancelled');
ok(!grep({ $_ == $pid } $engine->workers), 'in whose place it came');

unlike(slurp_file($node->logfile), qr/PANIC:|TRAP:|terminated by signal|deadlock detected/, 'no process crashed');
$node->stop;
done_testing();
