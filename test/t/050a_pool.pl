# The pool of background processes, with max_worker_processes as the server comes: databases where there is
# nothing to do have no process, those with work share what there is, and parallel queries get their part.
use strict;
use warnings FATAL => 'all';
use EngineTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(time);

# Nobody polls: what happens, happens because somebody was woken or a time has come.
my $engine = EngineTest->new('main', conf => q{
max_worker_processes = 8
ai.poll_interval = '1h'
ai.heartbeat_interval = '200ms'
ai.idle_timeout = '1s'
max_parallel_workers_per_gather = 2
min_parallel_table_scan_size = 0
parallel_setup_cost = 0
parallel_tuple_cost = 0
});
my ($node, $mock) = ($engine->node, $engine->mock);
sub sql { return $engine->sql(@_); }
my @databases = qw(postgres second third);

sub processes
{
	my ($where) = @_;
	return sql("SELECT count(*) FROM pg_stat_activity WHERE backend_type LIKE 'ai %' AND $where", 'template1');
}
sub come_to_be
{
	my ($count, $where, $test) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	ok($engine->poll("SELECT count(*) = $count FROM pg_stat_activity WHERE backend_type LIKE 'ai %' AND $where", 'template1'), $test)
	  or diag(sql("SELECT string_agg(concat_ws(' ', datname, backend_type, query), E'\\n') FROM pg_stat_activity WHERE backend_type LIKE 'ai %'", 'template1'));
	return;
}
sub rests { my ($database, $test) = @_; come_to_be(0, "datname = '$database'", $test); return; }
sub status { my ($item, $database) = @_; return sql("SELECT value, advice FROM ai.status() WHERE item = '$item'", $database); }
sub is_well
{
	my ($database, $test) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	is(sql('SELECT ok, reasons FROM ai.health()', $database), 't|{}', $test);
	return;
}

# -- databases where there is nothing to do

sql("CREATE DATABASE $_") foreach qw(second third);
sql('CREATE EXTENSION ai CASCADE', $_) foreach qw(second third);
come_to_be(1, 'true', 'three databases without work have no process but the launcher');
foreach my $database (@databases)
{
	is_well($database, "$database is well");
	is(sql('SELECT ai.all_workers_healthy(), count(*) FROM ai.worker', $database), 't|0', 'without any worker');
}
like(status('processes'), qr/^1\|ai launcher \(pid \d+\); there is nothing to do here: the next change starts others$/, 'the status says why');
is(status('process pool'), '1 of 5|', 'and how many there may be');
is(sql('SELECT wanted_workers FROM ai.metrics_database'), '0', 'nobody is missed');
like( sql(q{CREATE TABLE many AS SELECT n FROM generate_series(1, 10000) n; ANALYZE many;
	EXPLAIN (ANALYZE, COSTS off, TIMING off, SUMMARY off) SELECT count(*) FROM many}),
	qr/Workers Launched: 2/, 'a parallel query has its workers');

# -- the first change starts them, and no look is needed for it

my %work;
foreach my $database (@databases)
{
	my $work = $work{$database} = $engine->elsewhere(database => $database);
	$work->table('docs');
	$work->sql(q{INSERT INTO docs VALUES (1, 'first')});
	ok($work->poll('SELECT count(*) = 1 FROM docs_embedding_store'), "a row in $database is embedded");
}
rests($_, "$_ has none again") foreach @databases;
my $start = time;
sql(q{INSERT INTO docs VALUES (2, 'woken')});
ok($engine->poll('SELECT count(*) = 2 FROM docs_embedding_store'), 'a commit wakes a database that rests');
note(sprintf 'it took %.3f s', time - $start);
come_to_be(3, q{datname = 'postgres'}, 'coordinator and workers are there');
is(sql(q{SELECT count(*) FROM ai.worker WHERE status = 'healthy'}), '3', 'and known') if processes(q{datname = 'postgres'}) == 3;
rests('postgres', 'until nothing has happened for a while');
sql(q{BEGIN; INSERT INTO docs VALUES (3, 'rolled back'); ROLLBACK});
is(processes(q{datname = 'postgres'}), '0', 'a rollback wakes nobody');

# What else wakes.
sql(q{SELECT ai.execute_vectorizer('docs'); DELETE FROM docs WHERE id = 2});
$engine->is_settled('docs', 'ai.execute_vectorizer');
rests('postgres', 'rest');
sql(q{SELECT ai.pause_workers(); INSERT INTO docs VALUES (3, 'paused')});
rests('postgres', 'what is paused needs nobody');
is(sql(q{SELECT state FROM ai.vectorizer_status WHERE name = 'docs'}), 'paused', 'which is told');
sql('SELECT ai.resume_workers()');
$engine->is_settled('docs', 'ai.resume_workers');
rests('postgres', 'rest');
sql(q{SELECT ai.pause_workers(now() + interval '3 s'); INSERT INTO docs VALUES (4, 'paused for three seconds')});
rests('postgres', 'what is paused until a time needs nobody until then');
$engine->is_settled('docs', 'the pause is over');
rests('postgres', 'rest');
sql(q{SELECT ai.restart_worker('worker:vectorizer:0')});
come_to_be(3, q{datname = 'postgres'}, 'ai.restart_worker');
rests('postgres', 'rest');
my $job = sql(q{SELECT ai.create_embedding_job('a text', embedding => ai.embedding_openai('mock-8', 8))});
is(sql("SELECT (ai.wait_for_embedding_job('$job')).status"), 'completed', 'a job');
rests('postgres', 'rest');

# -- a retry is on time

sql(q{CREATE TABLE stored (id int, at timestamptz);
	CREATE FUNCTION note_store() RETURNS trigger LANGUAGE plpgsql AS
		'BEGIN INSERT INTO public.stored VALUES (NEW.id, clock_timestamp()); RETURN NULL; END';
	CREATE TRIGGER note AFTER INSERT ON docs_embedding_store FOR EACH ROW EXECUTE FUNCTION note_store()});
$mock->rules({ text => 'again', reply => 'garbage', count => 1 });
$engine->set('ai.retry_delay' => '4s');
sql(q{INSERT INTO docs VALUES (5, 'again')});
ok($engine->poll(q{SELECT count(*) = 1 FROM ai.jobs('docs') WHERE status = 'retryable'}), 'a row is to be tried again');
my $due = sql(q{SELECT retry_at FROM ai._vectorizer_q_work_} . $engine->id('docs'));
rests('postgres', 'meanwhile nobody is there');
$engine->is_settled('docs', 'and it is tried');
my $late = sql(qq{SELECT extract(epoch FROM at - '$due') FROM stored WHERE id = 5});
cmp_ok($late, '>=', 0, "not before its time: $late s");
cmp_ok($late, '<', 2 * EngineTest::slowness(), 'nor late');
$engine->set('ai.retry_delay' => '100ms');
$mock->rules;

# -- a stream of changes is served by the same processes

rests('postgres', 'rest');
sql(q{INSERT INTO docs VALUES (10, 'stream 10')});
come_to_be(2, q{datname = 'postgres' AND backend_type = 'ai worker'}, 'workers are there');
my $pids = join ',', sort $engine->workers;
foreach my $n (11 .. 30)
{
	sql("INSERT INTO docs VALUES ($n, 'stream $n'); SELECT pg_sleep(0.2)");
}
is(join(',', sort $engine->workers), $pids, 'a stream does not start and stop processes');
$engine->is_settled('docs', 'all is done');

# -- a restart of the server: a look, and no worker where there is no work

rests($_, 'rest') foreach @databases;
my $processes = sql('SELECT count(*) FROM ai.vectorizer_worker_process', 'second');
$engine->set('ai.workers' => 0);
sql(q{INSERT INTO docs VALUES (31, 'while nobody looks')}, 'third');
$node->restart;
$engine->set('ai.workers' => 2);
$work{third}->is_settled('docs', 'what was queued is done after a restart');
rests($_, "$_ rests") foreach @databases;
is(sql('SELECT count(*) FROM ai.vectorizer_worker_process', 'second'), $processes, 'and where nothing was, no worker was started');

# -- one database has what there is

sql(q{SELECT ai.drop_vectorizer('docs'); TRUNCATE docs}, $_) foreach @databases;
$work{$_}->vectorizer('docs', name => 'slow', processing => 'ai.processing_default(batch_size => 1, concurrency => 1)',
	destination => q{ai.destination_table('slow')}) foreach @databases;
$engine->set('ai.workers' => 4);
$mock->rules({ latency_ms => 20 });
sql(q{INSERT INTO docs SELECT n, 'more ' || n FROM generate_series(3000, 3500) n});
come_to_be(4, q{datname = 'postgres'}, 'coordinator and three workers, of four');
like(status('process pool'), qr/^5 of 5\|This database has 3 of the 4 workers that it could use\. Raise ai\.max_processes/, 'the status says so');
like(sql(q{EXPLAIN (ANALYZE, COSTS off, TIMING off, SUMMARY off) SELECT count(*) FROM many}), qr/Workers Launched: 2/, 'a parallel query has its workers');
$mock->rules;
$engine->is_settled('slow', 'all is done');
rests('postgres', 'rest');
$engine->set('ai.workers' => 2);

# -- more work than places: databases take turns

$engine->set('ai.max_processes' => 3);
my $log_position = -s $node->logfile;
$mock->rules({ latency_ms => 20 });
my %rows = (postgres => 1000, second => 1000, third => 1);
sql("INSERT INTO docs SELECT n, 'turn ' || n FROM generate_series(1, $rows{$_}) n", $_) foreach @databases;
my $waiting = q{SELECT ai._pool() ->> 'state' = 'waiting'};
ok($work{third}->poll(q{SELECT count(*) = 1 FROM slow_store}), 'one row is embedded while two databases have work for long');
ok($engine->poll("SELECT count(*) > 50 FROM slow_store WHERE id <= 1000", $_), "$_ has its turns") foreach qw(postgres second);
cmp_ok(processes('true'), '<=', 3, 'with three processes at most');
ok($engine->poll($waiting), 'one waits for its turn');
my $health = sql(q{SELECT ok, array_to_string(reasons, E'\n') FROM ai.health()});
like($health, qr/^f\|/, 'which is not well');
like($health, qr/^(?:f\|)?background processes are short: This database waits for its turn now and then: all of the 3 background processes serve others\. /m, 'the health says so');
like($health, qr/Raise ai\.max_processes, and max_worker_processes \(now 8\) with it; or lower ai\.workers\.$/m, 'and what to set');
like(status('process pool'), qr/^\d of 3\|This database waits for its turn now and then: .*Raise ai\.max_processes/, 'so does the status');
my $waits = qr/LOG:  ai: database "\w+" waits for a process slot: all 3 processes of the pool serve other databases/;
ok($node->wait_for_log($waits, $log_position), 'and the log');
is(() = slurp_file($node->logfile, $log_position) =~ /$waits/g, 1, 'once');
like(slurp_file($node->logfile, $log_position), qr/HINT:  Increase ai\.max_processes together with max_worker_processes \(currently 8\), or reduce ai\.workers\./, 'with what to do');
is(sql(q{SELECT count(*) FROM ai.vectorizer_errors}, $_), '0', "turns charge nothing in $_") foreach @databases;
$engine->set('ai.max_processes' => 8);
$mock->rules;
$work{$_}->is_settled('slow', "all is done in $_") foreach @databases;
rests($_, "$_ rests") foreach @databases;

# -- an index is built with one place for all the work

$engine->set('ai.max_processes' => 3);
$engine->table('small', indexing => 'ai.indexing_hnsw(min_rows => 10)');
sql(q{INSERT INTO small SELECT n, 'small ' || n FROM generate_series(1, 20) n});
ok($engine->poll(q{SELECT count(*) = 1 FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_am a ON a.oid = c.relam
	WHERE i.indrelid = 'small_embedding_store'::regclass AND a.amname = 'hnsw' AND i.indisvalid}), 'an index is built in the place of a worker');
$engine->is_settled('small', 'and rows are embedded');
rests('postgres', 'then all rest');

# -- no rest

$engine->set('ai.max_processes' => -1, 'ai.databases' => 'postgres', 'ai.idle_timeout' => -1);
come_to_be(3, q{datname = 'postgres'}, 'ai.idle_timeout = -1: processes are there without work');
$engine->set('ai.idle_timeout' => '1s');
rests('postgres', 'until it is set otherwise');
unlike(slurp_file($node->logfile), qr/ai: worker:vectorizer:\d has crashed|PANIC|terminated by signal/, 'nobody crashed');

$node->stop;
done_testing();
