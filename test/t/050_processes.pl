# Launcher, coordinators and workers: which databases are served, what ends and starts the processes,
# and that they are in nobody's way. Here they stay whether there is work or not; for what happens when there is
# none see 050a_pool.pl.
use strict;
use warnings FATAL => 'all';
use EngineTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init(allows_streaming => 1);
$node->append_conf('postgresql.conf', q{
shared_preload_libraries = 'ai'
max_worker_processes = 30
restart_after_crash = on
ai.poll_interval = '200ms'
ai.heartbeat_interval = '200ms'
ai.idle_timeout = -1
});
$node->start;

my $engine = bless { node => $node }, 'EngineTest';
sub sql { my ($statement, $database) = @_; return $node->safe_psql($database // 'postgres', $statement); }

# The processes of a database come to be so many.
sub served_by
{
	my ($database, $coordinators, $workers, $name) = @_;
	ok( EngineTest::poll_node($node, 'template1', qq{
		SELECT count(*) FILTER (WHERE backend_type = 'ai coordinator'),
		       count(*) FILTER (WHERE backend_type = 'ai worker' AND query <> '')
		FROM pg_stat_activity WHERE datname = '$database' AND backend_type LIKE 'ai %'},
			"$coordinators|$workers"), $name);
	return;
}
sub served { my ($database, $name) = @_; return served_by($database, 1, 2, $name); }
sub not_served { my ($database, $name) = @_; return served_by($database, 0, 0, $name); }

sub pid_of
{
	my ($type, $database) = @_;
	my $where = defined $database ? "AND datname = '$database'" : '';
	return $node->safe_psql('template1', qq{SELECT pid FROM pg_stat_activity
		WHERE backend_type = '$type' $where ORDER BY pid LIMIT 1});
}

# A pid that some process had is not there any more, and a process of that type is.
sub replaced
{
	my ($type, $pid, $database, $name) = @_;
	ok( EngineTest::poll_node($node, 'template1', qq{
		SELECT count(*) FILTER (WHERE pid = $pid) = 0 AND count(*) > 0 FROM pg_stat_activity
		WHERE backend_type = '$type' AND coalesce(datname, '') = '$database'}), $name);
	return;
}

sub takes_less
{
	my ($seconds, $statement, $name) = @_;
	return EngineTest::takes_less($seconds, $name, sub { sql($statement) });
}

sub set
{
	my ($setting, $value) = @_;
	return EngineTest::change_settings($node, $setting => $value);
}

# -- which databases are served

ok(EngineTest::poll_node($node, 'postgres', q{
	SELECT count(*) = 1 FROM pg_stat_activity WHERE backend_type = 'ai launcher'
	AND application_name = 'ai launcher' AND datname IS NULL
	AND query = 'waiting for databases to serve' AND wait_event_type = 'Extension'}), 'the launcher waits');
sql('CREATE DATABASE second');
sql('CREATE EXTENSION vector');
sql('BEGIN; CREATE EXTENSION ai; ROLLBACK');
sql('CREATE EXTENSION ai CASCADE', 'second');
served('second', 'a database is served when CREATE EXTENSION commits');
not_served('postgres', 'and not when it is rolled back');
sql('CREATE EXTENSION ai');
served('postgres', 'two databases');
served('second', 'at once');
is(sql(q{SELECT value FROM ai.status() WHERE item = 'processes'}), '4', 'the status counts them');

set('ai.databases', 'second');
not_served('postgres', 'ai.databases leaves a database out');
served('second', 'and another in');
set('ai.databases', '');
served('postgres', 'an empty list is all');
my ($code, $out, $err) = $node->psql('postgres', q{ALTER SYSTEM SET ai.databases = 'a,,b'});
like($err, qr/invalid value for parameter "ai.databases"/, 'a list that is none');
like($err, qr/DETAIL:  List syntax is invalid/, 'and why');

# -- what a DBA sees

ok( EngineTest::poll_node($node, 'postgres', q{SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'ai worker' AND datname = 'postgres'
	AND application_name = 'ai worker' AND query = 'waiting for changes' AND state = 'idle'
	AND wait_event_type = 'Extension' AND usename = (SELECT rolname FROM pg_roles WHERE oid = 10)}, '2'),
	'workers wait for changes');
ok( EngineTest::poll_node($node, 'postgres', q{SELECT application_name, query FROM pg_stat_activity
	WHERE backend_type = 'ai coordinator' AND datname = 'postgres'}, 'ai coordinator|supervising workers'),
	'the coordinator looks after them');
like(`ps -o args= -p @{[ pid_of('ai worker', 'postgres') ]}`, qr/ai worker postgres (?:waiting for|working on) changes/, 'and so does ps');
my ($in_transaction, undef, $waits) = EngineTest::open_transactions($node, 300, 0.001);
is($in_transaction, '0', 'no process has a transaction while it waits');
cmp_ok($waits, '>', 0, 'and they do wait');
ok(EngineTest::poll_node($node, 'postgres', q{
	SELECT count(*) = 2 FROM ai.vectorizer_worker_process
	WHERE heartbeat_count >= 2 AND version = ai.version() AND expected_heartbeat_interval = '200ms'
	AND last_heartbeat > now() - interval '5 s'}), 'workers beat');

# -- ai.workers

for my $workers (4, 1, 0, 2)
{
	set('ai.workers', $workers);
	served_by('postgres', 1, $workers, "ai.workers = $workers by reload");
}

# -- a commit wakes the workers

sql(q{CREATE TABLE src (id int PRIMARY KEY, body text);
	SELECT ai.create_vectorizer('src', name => 'v', loading => ai.loading_column('body'),
		embedding => ai.embedding_local('m', 3));
	SELECT ai.disable_vectorizer_schedule('v')});
set('ai.poll_interval', '1h');
set('ai.worker_timeout', '1h');
set('ai.heartbeat_interval', '1h');
# They have read it when they wait again.
my $reloaded = sql('SELECT pg_conf_load_time()');
my $waiting = q{SELECT count(*) = 2 FROM pg_stat_activity WHERE datname = 'postgres'
	AND backend_type = 'ai worker' AND state = 'idle' AND state_change > };
ok(EngineTest::poll_node($node, 'postgres', "$waiting '$reloaded'"), 'workers read the new settings');
my $before = sql('SELECT clock_timestamp()');
sql(q{INSERT INTO src VALUES (1, 'a')});
ok(EngineTest::poll_node($node, 'postgres', "$waiting '$before'"), 'a commit wakes them');
ok(EngineTest::poll_node($node, 'postgres', q{SELECT bool_and(state_change < clock_timestamp() - interval '2 s') FROM pg_stat_activity
	WHERE datname = 'postgres' AND backend_type = 'ai worker'}), 'and then they are quiet');
$before = sql('SELECT clock_timestamp()');
sql(q{BEGIN; INSERT INTO src VALUES (2, 'b'); ROLLBACK; CREATE TABLE other (a int); INSERT INTO other VALUES (1)});
is( sql(qq{SELECT count(*) FROM pg_stat_activity WHERE datname = 'postgres'
	AND backend_type = 'ai worker' AND state_change > '$before'}), '0', 'a rollback, or another table, does not');
set('ai.poll_interval', '200ms');
set('ai.worker_timeout', '30s');
set('ai.heartbeat_interval', '200ms');

# -- ends in order, and back again

sub ends_in_a_second { my ($process, $test) = @_; return $engine->ends_in(1, $test, $process); }
my $pid = pid_of('ai worker', 'postgres');
my $process = sql("SELECT details ->> 'process' FROM ai.worker WHERE pid = $pid");
set('ai.heartbeat_interval', '1h');
$before = sql('SELECT clock_timestamp()');
ends_in_a_second($pid, 'a worker ends in a second');
is(sql("SELECT last_heartbeat > '$before' FROM ai.vectorizer_worker_process WHERE id = '$process'"), 't', 'with a last heartbeat');
set('ai.heartbeat_interval', '200ms');
replaced('ai worker', $pid, 'postgres', 'and is replaced');
served('postgres', 'so that there are two again');
$pid = pid_of('ai worker', 'postgres');
sql("SELECT pg_cancel_backend($pid)");
is(pid_of('ai worker', 'postgres'), $pid, 'there is nothing to cancel in one that waits');

$pid = pid_of('ai coordinator', 'postgres');
ends_in_a_second($pid, 'a coordinator ends in a second');
replaced('ai coordinator', $pid, 'postgres', 'and is replaced');
served('postgres', 'with its workers');

$pid = pid_of('ai launcher');
my $coordinator = pid_of('ai coordinator', 'postgres');
ends_in_a_second($pid, 'the launcher ends in a second');
replaced('ai launcher', $pid, '', 'and is replaced');
served('postgres', 'databases are served');
is(pid_of('ai coordinator', 'postgres'), $coordinator, 'by the same processes');

# -- rows of processes that are gone

sql(q{CREATE TABLE given (id int, lease uuid);
	INSERT INTO given SELECT n, gen_random_uuid() FROM generate_series(1, 2) n;
	INSERT INTO ai._vectorizer_q_work_1 (id, queued_at, priority, attempts, lease, taken_at)
	SELECT id, now(), 0, CASE id WHEN 1 THEN 0 ELSE 5 END, lease, now() FROM given;
	INSERT INTO ai._vectorizer_q_work_1 (id, queued_at, priority, lease, taken_at)
	SELECT 3, now(), 0, id, now() FROM ai.vectorizer_worker_process ORDER BY last_heartbeat DESC LIMIT 1});
my $log_position = -s $node->logfile;
sql("SELECT pg_terminate_backend($coordinator, 60000)");
ok(EngineTest::poll_node($node, 'postgres',
	'SELECT id, attempts, lease IS NULL, retry_at <= now(), error FROM ai._vectorizer_q_work_1 WHERE id = 1',
	'1|1|t|t|the worker process that had claimed it is gone'), 'a row is released with an attempt more');
ok(EngineTest::poll_node($node, 'postgres', 'SELECT id, step, class, attempts, error FROM ai._vectorizer_q_failed_1',
	'2|worker|reclaimed|6|the worker process that had claimed it is gone'), 'given up when there were too many');
is(sql('SELECT count(*) FROM ai._vectorizer_q_work_1 WHERE id = 2'), '0', 'and is not tried any more');
my $owner = sql('SELECT lease FROM given WHERE id = 1');
my $log = slurp_file($node->logfile, $log_position);
like($log, qr/LOG:  ai: worker process $owner exited with claimed rows of vectorizer "v": 1 released, 0 moved to dead letters/,
	'the log names the owner');
served('postgres', 'all are back');

# The lease of a live process is its own until its heart has not beaten for too long.
my $live = q{(SELECT id FROM ai.vectorizer_worker_process ORDER BY started DESC LIMIT 1)};
is( sql(qq{DELETE FROM ai._vectorizer_q_work_1;
	INSERT INTO ai._vectorizer_q_work_1 (id, queued_at, priority, lease, taken_at) SELECT 4, now(), 0, $live, now();
	SELECT count(*) FROM ai.vectorizer v, ai._vectorizer_reclaim(v, ARRAY[$live], '1h')}), '0', 'a live process keeps its rows');
is( sql(qq{BEGIN; UPDATE ai.vectorizer_worker_process SET last_heartbeat = now() - interval '2h';
	SELECT released, dead_letters FROM ai.vectorizer v, ai._vectorizer_reclaim(v, ARRAY[$live], '1h'); ROLLBACK}),
	'1|0', 'one that does not beat loses them');

# Histories stay short.
sql(q{INSERT INTO ai._vectorizer_errors (id, message, recorded) SELECT 1, n::text, now() + n * interval '1 s' FROM generate_series(1, 1500) n;
	INSERT INTO ai.vectorizer_worker_process (version, expected_heartbeat_interval, last_heartbeat)
	VALUES ('old', '1s', now() - interval '8 days'), ('recent', '1s', now() - interval '6 days')});
sql('SELECT pg_terminate_backend(' . pid_of('ai coordinator', 'postgres') . ', 60000)');
ok(EngineTest::poll_node($node, 'postgres', q{
	SELECT count(*), (array_agg(message ORDER BY recorded))[1] FROM ai._vectorizer_errors}, '1000|501'),
	'the newest thousand errors stay');
ok(EngineTest::poll_node($node, 'postgres',
	q{SELECT string_agg(version, ',') FROM ai.vectorizer_worker_process WHERE version IN ('old', 'recent')}, 'recent'),
	'processes that are gone for a week are forgotten');
served('postgres', 'all are back');

# -- kill -9: the server restarts, and everything comes back

for my $type ('ai worker', 'ai coordinator', 'ai launcher')
{
	sql(qq{DELETE FROM ai._vectorizer_q_work_1;
		INSERT INTO ai._vectorizer_q_work_1 (id, queued_at, priority, lease, taken_at) SELECT 5, now(), 0, $live, now()});
	$pid = pid_of($type, $type eq 'ai launcher' ? undef : 'postgres');
	kill 'KILL', $pid;
	replaced($type, $pid, $type eq 'ai launcher' ? '' : 'postgres', "kill -9 of an $type: another one comes");
	served('postgres', 'all are back');
	served('second', 'in the other database too');
	ok(EngineTest::poll_node($node, 'postgres',
		'SELECT attempts, lease IS NULL FROM ai._vectorizer_q_work_1 WHERE id = 5', '1|t'), 'rows are released');
}

# -- a library and an extension of different versions

sql(q{UPDATE pg_extension SET extversion = '9.9' WHERE extname = 'ai'});
served_by('postgres', 1, 0, 'nothing is processed when versions differ');
like(slurp_file($node->logfile), qr/LOG:  ai: library version \S+ does not match extension version 9\.9 in this database, processing is suspended/,
	'the log says why');
sql(q{UPDATE pg_extension SET extversion = ai.version() WHERE extname = 'ai'});
served('postgres', 'workers are back when they agree');
is(() = slurp_file($node->logfile) =~ /does not match extension version 9\.9/g, 1, 'it is said once');

# -- commands that need the database empty

takes_less(2, 'CREATE DATABASE copy TEMPLATE second', 'CREATE DATABASE ... TEMPLATE');
served('second', 'the template is served again');
served('copy', 'and so is the copy');
takes_less(2, 'ALTER DATABASE copy RENAME TO renamed', 'ALTER DATABASE ... RENAME');
served('renamed', 'it is served under its new name');
my $place = PostgreSQL::Test::Utils::tempdir();
sql("CREATE TABLESPACE place LOCATION '$place'");
takes_less(2, 'ALTER DATABASE renamed SET TABLESPACE place', 'ALTER DATABASE ... SET TABLESPACE');
served('renamed', 'it is served at its new place');

($code, $out, $err) = $node->psql('postgres', 'BEGIN; ALTER DATABASE renamed RENAME TO second');
like($err, qr/database "second" already exists/, 'a command that fails');
served('renamed', 'leaves the database served');
$pid = pid_of('ai coordinator', 'renamed');
($code, $out, $err) = $node->psql('postgres', 'CREATE ROLE nobody; SET ROLE nobody; DROP DATABASE renamed');
like($err, qr/must be owner of database renamed/, 'who may not drop a database');
is(pid_of('ai coordinator', 'renamed'), $pid, 'does not disturb it either');
takes_less(2, 'DROP DATABASE renamed', 'DROP DATABASE');
unlike(slurp_file($node->logfile), qr/FATAL:  database \S+ does not exist/, 'nobody tries to serve it');
sql('DROP TABLESPACE place');

# -- DROP EXTENSION

my $session = $node->background_psql('second');
$session->query_safe('SET client_min_messages = warning; BEGIN; DROP EXTENSION ai');
$before = sql('SELECT clock_timestamp()');
ok(EngineTest::poll_node($node, 'postgres', qq{
	SELECT count(*) = 3 FROM pg_stat_activity WHERE datname = 'second' AND backend_type LIKE 'ai %'
	AND state = 'idle' AND state_change > '$before'}), 'all have looked at an extension that is being dropped');
is( sql(q{SELECT count(*) FROM pg_stat_activity WHERE backend_type LIKE 'ai %' AND wait_event_type = 'Lock'}),
	'0', 'nobody waits for one who drops the extension');
$session->query_safe('ROLLBACK');
served('second', 'and who changes his mind is served');
$coordinator = pid_of('ai coordinator', 'second');
$session->query_safe('BEGIN; DROP EXTENSION ai; CREATE EXTENSION ai; COMMIT');
replaced('ai coordinator', $coordinator, 'second', 'an extension that is made anew is another one');
served('second', 'and is served');
$session->query_safe('DROP EXTENSION ai');
not_served('second', 'one that is dropped is not');
$session->query_safe('CREATE EXTENSION ai');
served('second', 'until it comes again');
$session->query_safe('DROP EXTENSION vector CASCADE');
not_served('second', 'dropped with another one');
$session->quit;
unlike(slurp_file($node->logfile), qr/ERROR:  (?!database|must be|invalid value)/, 'no process failed');

# -- a standby waits for its promotion

$node->backup('backup');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($node, 'backup', has_streaming => 1);
$standby->start;
$node->wait_for_catchup($standby, 'replay', $node->lsn('insert'));
is($standby->safe_psql('postgres', q{SELECT count(*) FROM pg_stat_activity WHERE backend_type LIKE 'ai %'}),
	'0', 'nothing runs on a standby');
$standby->promote;
ok(EngineTest::poll_node($standby, 'postgres', q{
	SELECT count(*) = 2 FROM pg_stat_activity WHERE backend_type = 'ai worker' AND datname = 'postgres'}),
	'when it is promoted, it is served');
$standby->stop;

# -- shutdown

EngineTest::takes_less(2, 'fast shutdown', sub { $node->stop('fast') });

# -- no place for another process

my $full = PostgreSQL::Test::Cluster->new('full');
$full->init;
$full->append_conf('postgresql.conf', "shared_preload_libraries = 'ai'\nmax_worker_processes = 2\nai.idle_timeout = -1");
$full->start;
$full->safe_psql('postgres', 'CREATE EXTENSION ai CASCADE');
my $refused = qr/LOG:  could not start another "ai coordinator": out of background worker slots/;
$full->wait_for_log($refused);
$full->safe_psql('template1', "CREATE DATABASE another");
$full->safe_psql('another', 'CREATE EXTENSION ai CASCADE');
is($full->safe_psql('another', 'SELECT ai.version() IS NOT NULL'), 't', 'SQL works when processes cannot be started');
$log = slurp_file($full->logfile);
is(() = $log =~ /$refused/g, 1, 'it is logged once');
like($log, qr/HINT:  Increase max_worker_processes and restart the server/, 'with what to do');
$full->append_conf('postgresql.conf', 'max_worker_processes = 16');
$full->restart;
ok(EngineTest::poll_node($full, 'another', q{
	SELECT count(*) = 2 FROM pg_stat_activity WHERE backend_type = 'ai worker' AND datname = 'another'}),
	'which helps');
$full->stop;

done_testing();
