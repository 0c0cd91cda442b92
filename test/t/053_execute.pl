# ai.execute_vectorizer: it waits for what was queued, says what it cannot wait for, and is in nobody's
# way meanwhile.
use strict;
use warnings FATAL => 'all';
use EngineTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $engine = EngineTest->new('main');
my ($node, $mock) = ($engine->node, $engine->mock);
sub sql { return $engine->sql(@_); }

# Runs a statement and returns what it says.
sub says
{
	my ($statement, $database) = @_;
	my ($code, $out, $err) = $node->psql($database // 'postgres', $statement);
	return $err;
}

# A session that is in execute_vectorizer, and its process.
sub waiting_session
{
	my ($statement) = @_;
	my $session = $node->background_psql('postgres', on_error_stop => 0);
	my $pid = $session->query_safe('SELECT pg_backend_pid()');
	$session->{stdin} .= "$statement\\echo over\n";
	$session->{run}->pump_nb;
	$engine->poll("SELECT wait_event_type = 'Extension' FROM pg_stat_activity WHERE pid = $pid") or die "$statement does not wait";
	return ($session, $pid);
}

# Waits until it has printed something.
sub hear
{
	my ($session, $stream, $pattern) = @_;
	$session->{timeout}->start($PostgreSQL::Test::Utils::timeout_default);
	$session->{run}->pump until $session->{$stream} =~ $pattern || $session->{timeout}->is_expired;
	return;
}

# Waits until its statement is over, and returns what it said.
sub finish
{
	my ($session) = @_;
	hear($session, 'stdout', qr/^over$/m);
	my $said = $session->{stderr};
	$session->quit;
	return $said;
}

# -- it waits

$engine->table('src', processing => 'ai.processing_default(max_attempts => 2)');
$engine->table('other');
$mock->rules({ latency_ms => 200 });
is(says(q{INSERT INTO src SELECT n, 'text ' || n FROM generate_series(1, 500) n; SELECT ai.execute_vectorizer('src')}), '', 'by its name');
is(sql('SELECT count(*) FROM src_embedding_store'), '500', 'all are there when it returns');
is(says(q{UPDATE src SET body = 'new ' || id; SELECT ai.execute_vectorizer(} . $engine->id('src') . ')'), '', 'by its number');
is(sql(q{SELECT count(*) FROM src_embedding_store WHERE chunk LIKE 'new %'}), '500', 'all are there');
$mock->rules;
is(says(q{SELECT ai.execute_vectorizer('src')}), '', 'nothing to do');
is( says(q{BEGIN ISOLATION LEVEL SERIALIZABLE; SELECT count(*) FROM src; SELECT ai.execute_vectorizer('src'); COMMIT}),
	'', 'at another isolation level');

# -- it is in nobody's way, and waits for nothing that comes later

$mock->rules({ text => 'slow', hang => 'before' });
sql(q{INSERT INTO src VALUES (1000, 'slow')});
my ($session, $pid) = waiting_session(q{BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT ai.execute_vectorizer('src'); COMMIT;});
# It reads tables between two waits; what it locks then, it releases before it waits again.
ok( $engine->poll(
		"SELECT count(*) = 0 FROM pg_locks l JOIN pg_class c ON c.oid = l.relation WHERE l.pid = $pid AND c.relnamespace = 'ai'::regnamespace"),
	'it holds no lock on tables while it waits');
my $user = $node->background_psql('postgres');
$user->query_safe(q{BEGIN; INSERT INTO src VALUES (1001, 'not committed')});
$mock->release;
is(finish($session), '', 'what is not committed is not waited for');
$user->query_safe('COMMIT');
$user->quit;
$mock->rules;
$engine->is_settled('src', 'and comes later');

# -- it can be cancelled, and ends with what it waits for

sub waiting_for_slow
{
	sql(q{UPDATE src SET body = 'slow ' || random() WHERE id = 1000});
	return waiting_session(q{SELECT ai.execute_vectorizer('src');});
}
$mock->rules({ text => 'slow', hang => 'before' });
($session, $pid) = waiting_for_slow();
sql("SELECT pg_cancel_backend($pid)");
like(finish($session), qr/ERROR:  canceling statement due to user request/, 'cancelled');
like(says(q{SET statement_timeout = '200ms'; SELECT ai.execute_vectorizer('src')}), qr/ERROR:  canceling statement due to statement timeout/, 'a time-out');
($session) = waiting_for_slow();
sql(q{SELECT ai.disable_vectorizer_schedule('src')});
like(finish($session), qr/ERROR:  vectorizer "src" is disabled\nHINT:  Enable it with ai.enable_vectorizer_schedule/, 'disabled meanwhile');
like(says(q{SELECT ai.execute_vectorizer('src')}), qr/ERROR:  vectorizer "src" is disabled/, 'disabled');
sql(q{SELECT ai.enable_vectorizer_schedule('src'); SELECT ai.pause_vectorizer('src')});
like(says(q{SELECT ai.execute_vectorizer('src')}), qr/ERROR:  vectorizer "src" is paused\nHINT:  End the pause with ai.resume_vectorizer/, 'paused');
sql(q{SELECT ai.resume_vectorizer('src')});
$mock->rules;
$mock->release;
is(says(q{SELECT ai.execute_vectorizer('src')}), '', 'enabled');
$engine->is_settled('src', 'all are written');

$engine->table('dropped');
$mock->rules({ text => 'slow', hang => 'before' });
sql(q{INSERT INTO dropped VALUES (1, 'slow')});
($session) = waiting_session(q{SELECT ai.execute_vectorizer('dropped');});
sql(q{SET statement_timeout = '10s'; DROP TABLE dropped CASCADE});
like(finish($session), qr/ERROR:  vectorizer with id \d+ does not exist/, 'dropped meanwhile');
$mock->rules;
$mock->release;

# -- what is left

$mock->rules({ text => 'bad', status => 400, hang => 'before' }, { text => 'garbled', reply => 'garbage', hang => 'before' });
$engine->set('ai.retry_delay' => '1h');
$engine->table('mixed', processing => 'ai.processing_default(batch_size => 1)');
sql(q{INSERT INTO mixed VALUES (1, 'bad'), (2, 'garbled'), (3, 'good')});
($session) = waiting_session(q{SELECT ai.execute_vectorizer('mixed');});
$mock->rules({ text => 'bad', status => 400 }, { text => 'garbled', reply => 'garbage' });
$mock->release;
like( finish($session),
	qr/WARNING:  not all rows of vectorizer "mixed" are up to date: 1 wait for a retry, 1 failed\nHINT:  ai.jobs\(\d+\) shows them/,
	'rows that could not be embedded');
is(sql('SELECT string_agg(chunk, $$,$$) FROM mixed_embedding_store'), 'good', 'the others are there');
$mock->rules({ error => 'invalid_key' });
sql(q{INSERT INTO src VALUES (3000, 'refused')});
ok($engine->poll(q{SELECT count(*) > 0 FROM ai.vectorizer_errors WHERE name = 'src' AND details ->> 'class' = 'configuration'}), 'a key that is refused');
($session) = waiting_session(q{SELECT ai.execute_vectorizer('src');});
hear($session, 'stderr', qr/reports an error/);
$mock->rules;
like(finish($session), qr/WARNING:  vectorizer "src" reports an error: .*\nDETAIL:  It will be retried\. This statement keeps waiting/, 'is told while it waits');
$engine->is_settled('src', 'all are written');

# -- what it cannot do

like(says(q{SELECT ai.execute_vectorizer('nobody')}), qr/ERROR:  vectorizer "nobody" does not exist\nHINT:  The view ai.vectorizer_status/, 'no such name');
like(says(q{SELECT ai.execute_vectorizer(12345)}), qr/ERROR:  vectorizer with id 12345 does not exist/, 'no such number');
like(says(q{SELECT ai.execute_vectorizer(NULL::int)}), qr/ERROR:  vectorizer with id null does not exist/, 'no number at all');
like( says(q{CREATE ROLE nobody; SET ROLE nobody; SELECT ai.execute_vectorizer('src')}),
	qr/ERROR:  only a superuser or the owner of the source table may execute vectorizer "src"/, 'another role');
like( says(q{BEGIN; INSERT INTO src VALUES (4000, 'x'); SELECT ai.execute_vectorizer('src')}),
	qr/ERROR:  ai.execute_vectorizer cannot run in a transaction that has modified data\nDETAIL:  Workers see changes when they are committed\.\nHINT:  Commit first/,
	'after a change');
sql(q{UPDATE pg_extension SET extversion = '9.9' WHERE extname = 'ai'});
like(says(q{SELECT ai.execute_vectorizer('src')}), qr/ERROR:  library and extension versions differ, processing is suspended\nHINT:  Run ALTER EXTENSION ai UPDATE/, 'another version');
sql(q{UPDATE pg_extension SET extversion = ai.version() WHERE extname = 'ai'});
$engine->set('ai.databases' => 'elsewhere');
like(says(q{SELECT ai.execute_vectorizer('src')}), qr/ERROR:  this database is not served: it is not listed in ai.databases\nHINT:  Add it to ai.databases/, 'not served');
$engine->set('ai.databases' => '', 'ai.workers' => 0);
like(says(q{SELECT ai.execute_vectorizer('src')}), qr/ERROR:  no workers are configured: ai.workers is 0\nHINT:  Increase ai.workers/, 'no workers');
$engine->set('ai.workers' => 2);
is(says(q{INSERT INTO other VALUES (1, 'x'); SELECT ai.execute_vectorizer('other')}), '', 'workers that are just starting are waited for');
$node->append_conf('postgresql.conf', 'max_worker_processes = 2');
$node->restart;
like(says(q{INSERT INTO other VALUES (2, 'x'); SELECT ai.execute_vectorizer('other')}), qr/ERROR:  no worker is running for this database\nHINT:  See ai\.health\(\) and the server's log/, 'no room for a worker');
$node->append_conf('postgresql.conf', "shared_preload_libraries = ''\nmax_worker_processes = 20");
$node->restart;
like( says(q{SET client_min_messages = error; SELECT ai.execute_vectorizer('other')}),
	qr/ERROR:  ai was not loaded through shared_preload_libraries: nothing is processed\nHINT:  Add ai/, 'not preloaded');

unlike(slurp_file($node->logfile), qr/PANIC:|TRAP:|terminated by signal/, 'no process crashed');
$node->stop;
done_testing();
