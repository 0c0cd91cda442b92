# Workers that crash, hang or go down with the server: found, replaced, given up in the end; and rows that
# kill them. What happened is in ai.worker and in the log. Times are short here, by settings.
use strict;
use warnings FATAL => 'all';
use EngineTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $engine = EngineTest->new('main', conf => q{
ai.poll_interval = '200ms'
ai.heartbeat_interval = '200ms'
ai.worker_timeout = '2s'
ai.restart_limit = 1000
ai.idle_timeout = -1
});
my ($node, $mock) = ($engine->node, $engine->mock);
sub sql { return $engine->sql(@_); }

my $log_position = 0;
sub new_log { my $log = slurp_file($node->logfile, $log_position); return $log; }
sub forget_log { $log_position = -s $node->logfile; return; }
sub logged { my ($pattern, $test) = @_; ok($node->wait_for_log($pattern, $log_position), $test); return; }

# All that are wanted are there and well, each with a process of its own.
sub all_well
{
	my ($test, $workers) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	$workers //= 2;
	ok($engine->poll(qq{SELECT count(*) = $workers + 1 AND bool_and(w.status = 'healthy') AND bool_and(a.pid IS NOT NULL)
		AND count(DISTINCT w.pid) = count(*)
		FROM ai.worker w LEFT JOIN pg_stat_activity a ON a.pid = w.pid AND a.datname = current_database()
			AND a.backend_type = CASE w.component WHEN 'coordinator' THEN 'ai coordinator' ELSE 'ai worker' END}), $test)
	  or diag(sql('SELECT w FROM ai.worker w') . "\n" . sql(q{SELECT pid, backend_type, query FROM pg_stat_activity WHERE backend_type LIKE 'ai %'}));
	return;
}
sub pid_of { my ($component) = @_; return sql("SELECT pid FROM ai.worker WHERE component = '$component'"); }

# A request hangs; returns component, pid and process of the worker that sent it.
sub hang
{
	my ($text, $change) = @_;
	$mock->rules({ text => $text, hang => 'before' });
	sql($change);
	$mock->wait_for(hanging => 1) or die "nothing hangs: $text";
	$engine->poll(q{SELECT count(*) > 0 FROM ai.worker WHERE current_job IS NOT NULL}) or die;
	return split /\|/, sql(q{SELECT component, pid, details ->> 'process' FROM ai.worker WHERE current_job IS NOT NULL LIMIT 1});
}
sub release { $mock->rules; $mock->release; return; }

# Two more heartbeats of somebody, so that what would happen has happened.
sub beats
{
	my ($component) = @_;
	my $seen = sql(q{SELECT clock_timestamp()});
	foreach (1 .. 2)
	{
		$engine->poll("SELECT last_seen > '$seen' FROM ai.worker WHERE component = '$component'") or die "$component does not beat";
		$seen = sql("SELECT last_seen FROM ai.worker WHERE component = '$component'");
	}
	return;
}

# -- a row for each component

all_well('the coordinator and two workers');
is( sql(q{SELECT string_agg(component, ' ' ORDER BY component), max(restart_count), count(last_restart), count(current_job),
	bool_and(created_at <= last_seen AND last_seen > now() - interval '1 minute') FROM ai.worker}),
	'coordinator worker:vectorizer:0 worker:vectorizer:1|0|0|0|t', 'as they should be');
is( sql(q{SELECT count(*) FROM ai.worker w JOIN ai.vectorizer_worker_process p ON p.id = (w.details ->> 'process')::uuid
	WHERE w.details ->> 'queue_type' = 'vectorizer' AND NOT (w.details ->> 'paused')::boolean}), '2', 'with their processes');
foreach my $workers (4, 1, 0, 2)
{
	$engine->set('ai.workers' => $workers);
	all_well("ai.workers = $workers: as many rows", $workers);
}
my ($created, $pid) = split /\|/, sql(q{SELECT created_at, pid FROM ai.worker WHERE component = 'worker:vectorizer:0'});
sql("SELECT pg_terminate_backend($pid, 5000)");
ok($engine->poll(qq{SELECT created_at > '$created' AND restart_count = 0 FROM ai.worker WHERE component = 'worker:vectorizer:0'}),
	'one that ends in order takes its row with it, and is counted from zero');
all_well('and another takes its place');

# Somebody has locked a table: one that comes to work waits for that, and ends with the server, too.
$engine->set('ai.worker_timeout' => '5min');
my $in_the_way = $node->background_psql('postgres', on_error_stop => 0);
$in_the_way->query_safe('BEGIN; LOCK TABLE ai.vectorizer_worker_process IN EXCLUSIVE MODE');
sql(q{SELECT pg_terminate_backend(pid) FROM ai.worker WHERE component = 'worker:vectorizer:0'});
my $waiting = q{SELECT l.pid, l.waitstart FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid WHERE NOT l.granted AND l.waitstart IS NOT NULL
	AND l.relation = 'ai.vectorizer_worker_process'::regclass AND a.query = 'starting'};
ok($engine->poll("SELECT count(*) = 1 FROM ($waiting) w"), 'one is kept from coming to work');
my ($waiter, $since) = split /\|/, sql($waiting);
ok($engine->poll("SELECT count(*) = 1 FROM ($waiting) w WHERE pid = $waiter AND waitstart > '$since'"), 'and tries again');
is(sql(q{SELECT status FROM ai.worker WHERE component = 'worker:vectorizer:0'}), 'starting', 'it is still starting');
$node->restart;
eval { $in_the_way->quit };
all_well('after a restart of the server');
is(sql('SELECT max(restart_count) FROM ai.worker'), '0', 'which is no crash') or diag(sql('SELECT w FROM ai.worker w'));

# Whatever is set, a process beats often enough to be believed.
$engine->set('ai.worker_timeout' => '2s', 'ai.heartbeat_interval' => '1h');
beats($_) foreach qw(worker:vectorizer:0 coordinator);
$engine->set('ai.heartbeat_interval' => '200ms');

# -- restarted by hand

my %before = map { $_ => pid_of($_) } qw(coordinator worker:vectorizer:0 worker:vectorizer:1);
sql(q{SELECT ai.restart_worker('worker:vectorizer:0')});
ok($engine->poll("SELECT pid <> $before{'worker:vectorizer:0'} AND status = 'healthy' FROM ai.worker WHERE component = 'worker:vectorizer:0'"),
	'a worker that runs is restarted');
is(pid_of('worker:vectorizer:1'), $before{'worker:vectorizer:1'}, 'another one is not');
is(sql('SELECT ai.restart_workers()'), '2', 'all of them');
ok($engine->poll("SELECT count(*) = 2 FROM ai.worker WHERE component LIKE 'worker:%' AND status = 'healthy' AND pid NOT IN ("
	  . join(', ', values %before) . ')'), 'are restarted');
sql(q{SELECT ai.restart_worker('coordinator')});
ok($engine->poll("SELECT pid <> $before{coordinator} AND status = 'healthy' FROM ai.worker WHERE component = 'coordinator'"), 'the coordinator too');
all_well('all are back');

# -- what it is doing, in words; then stopped, found and replaced, and its work done

sql('CREATE DATABASE second');
sql('CREATE EXTENSION ai CASCADE', 'second');
ok(EngineTest::poll_node($node, 'second', q{SELECT count(*) = 3 AND bool_and(status = 'healthy') FROM ai.worker}), 'another database');
my $others = sql('SELECT string_agg(format(\'%s %s %s\', component, pid, restart_count), \',\' ORDER BY component) FROM ai.worker', 'second');

$engine->table('stopped');
my ($component, $old_pid, $process) = hang('stopped', q{INSERT INTO stopped SELECT n, 'stopped ' || n FROM generate_series(1, 50) n});
ok($engine->poll("SELECT (status, doing, words, paused) = ('healthy', 'vectorizer \"stopped\", 50 rows and 1 requests in hand', 'works', false)
	FROM ai.worker_status WHERE component = '$component'"), 'what a worker is doing');
forget_log();
kill 'STOP', $old_pid;
release();
ok($engine->poll("SELECT pid <> $old_pid AND status = 'healthy' FROM ai.worker WHERE component = '$component'"), 'a worker that is stopped is replaced');
$engine->is_settled('stopped', 'its work is done');
is(sql("SELECT count(*) FROM pg_stat_activity WHERE pid = $old_pid"), '0', 'its process is gone');
is(sql("SELECT restart_count, last_restart > created_at, details ->> 'error_message' FROM ai.worker WHERE component = '$component'"),
	'1|t|process does not respond', 'the restart is counted');
my $log = new_log();
like($log, qr/LOG:  ai: $component crashed: process does not respond\n.*DETAIL:  The process was $process, PID $old_pid\./, 'the log says so');
like($log, qr/LOG:  ai: worker process $process exited with claimed rows of vectorizer "stopped": 50 released, 0 moved to dead letters/,
	'and whose rows were released');
is( sql('SELECT string_agg(format(\'%s %s %s\', component, pid, restart_count), \',\' ORDER BY component) FROM ai.worker', 'second'),
	$others, 'the other database was not disturbed');

# One that is not wanted any more, and stopped.
$pid = pid_of('worker:vectorizer:1');
kill 'STOP', $pid;
$engine->set('ai.workers' => 1);
all_well('one that is stopped and not wanted is ended', 1);
$engine->set('ai.workers' => 2);
all_well('and comes again');

# -- one that lives, and makes no progress

$engine->table('slow');
$engine->set('ai.job_lock_timeout' => '6s');
sql(q{CREATE FUNCTION sleep_a_while() RETURNS trigger LANGUAGE plpgsql AS $$
	BEGIN IF NEW.chunk LIKE 'long%' THEN PERFORM pg_sleep(3); ELSIF NEW.chunk LIKE 'endless%' THEN PERFORM pg_sleep(3600); END IF; RETURN NEW; END $$;
	CREATE TRIGGER slow BEFORE INSERT ON slow_embedding_store FOR EACH ROW EXECUTE FUNCTION sleep_a_while()});
forget_log();
%before = map { $_ => pid_of($_) } qw(worker:vectorizer:0 worker:vectorizer:1);
sql(q{INSERT INTO slow VALUES (1, 'long')});
$engine->is_settled('slow', 'a statement that takes longer than the timeout is left alone');
is(pid_of($_), $before{$_}, "$_ is the same") foreach sort keys %before;
unlike(new_log(), qr/has crashed/, 'nobody crashed');
sql(q{INSERT INTO slow VALUES (2, 'endless')});
logged(qr/crashed: process responds but makes no progress/, 'one that makes no progress for ai.job_lock_timeout is ended');
sql(q{ALTER TABLE slow_embedding_store DISABLE TRIGGER slow});
$engine->set('ai.job_lock_timeout' => '300s');
$engine->is_settled('slow', 'others do its work');
all_well('it is replaced');

# -- stuck in starting

sql(q{CREATE FUNCTION sleep_long() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(3600); RETURN NEW; END';
	CREATE TRIGGER slow BEFORE INSERT ON ai.vectorizer_worker_process FOR EACH ROW EXECUTE FUNCTION sleep_long()});
forget_log();
sql('SELECT pg_terminate_backend(' . pid_of('worker:vectorizer:0') . ')');
logged(qr/worker:vectorizer:0 crashed: process did not become healthy/, 'one that does not get to work is ended');
sql('DROP TRIGGER slow ON ai.vectorizer_worker_process');
all_well('and started again');
cmp_ok(sql(q{SELECT restart_count FROM ai.worker WHERE component = 'worker:vectorizer:0'}), '>=', 1, 'which is counted');

# -- the coordinator stopped

%before = map { $_ => pid_of($_) } qw(coordinator worker:vectorizer:0 worker:vectorizer:1);
kill 'STOP', $before{coordinator};
ok($engine->poll("SELECT count(*) = 1 FROM ai.worker WHERE component = 'coordinator' AND pid <> $before{coordinator} AND status = 'healthy'"),
	'a coordinator that is stopped is replaced');
is(sql(q{SELECT restart_count, details ->> 'error_message' FROM ai.worker WHERE component = 'coordinator'}),
	'1|the coordinator or the server exited unexpectedly', 'and counted');
all_well('there are workers');

# -- workers outside

forget_log();
like(sql(q{SELECT ai.register_worker('worker:outside:0', 1); SELECT ai.heartbeat_worker('worker:outside:0', 'a job')}), qr/^f$/m, 'a worker outside beats');
logged(qr/LOG:  ai: worker:outside:0 crashed: no heartbeat/, 'and is missed when it does not');
is(sql(q{SELECT words FROM ai.worker_status WHERE component = 'worker:outside:0'}), 'crashed: no heartbeat; start it again where it runs', 'with what to do');
my ($code, $out, $err) = $node->psql('postgres', q{SELECT ai.heartbeat_worker('worker:outside:0')});
like($err, qr/ERROR:  worker "worker:outside:0" is not registered, or was taken for crashed\nHINT:  Call ai\.register_worker, then go on\./, 'it is told so');
sql(q{SELECT ai.register_worker('worker:outside:0'); SELECT ai.unregister_worker('worker:outside:0')});

# -- crashes within the window end in failed

sub break_workers { return sql('ALTER TABLE ai._worker_pause RENAME TO _worker_pause_gone'); }
sub mend_workers { return sql('ALTER TABLE ai._worker_pause_gone RENAME TO _worker_pause'); }
sql('SELECT ai.restart_workers()');
all_well('nobody has crashed');
$engine->set('ai.restart_limit' => 5);
forget_log();
break_workers();
ok($engine->poll(q{SELECT count(*) = 2 AND bool_and(pid IS NULL AND current_job IS NULL) FROM ai.worker WHERE status = 'failed'}), 'workers that crash again and again have failed');
is(sql(q{SELECT count(*) FROM ai.worker WHERE status = 'failed' AND restart_count = 4 AND jsonb_array_length(details -> 'crashes') = 5}),
	'2', 'after five crashes, as ai.restart_limit says');
my $failed = sql(q{SELECT string_agg(format('%s %s %s', component, restart_count, last_restart), ',' ORDER BY component) FROM ai.worker WHERE status = 'failed'});
logged(qr/LOG:  ai: $_ crashed too often and will not be restarted\n.*DETAIL:.*\n.*HINT:  Once the cause is fixed, run SELECT ai\.restart_worker\('$_'\)/, "the log says so of $_")
  foreach qw(worker:vectorizer:0 worker:vectorizer:1);
is(sql(q{SELECT count(*) FROM ai.worker_status WHERE words =
	format('crashed too often: process exited unexpectedly. Find the reason in the server''s log, then run SELECT ai.restart_worker(%L)', component)}), '2', 'and the view');
beats('coordinator');
is(sql(q{SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'ai worker' AND datname = 'postgres'}), '0', 'nobody starts them');
$node->restart;
$engine->poll(q{SELECT count(*) = 1 FROM ai.worker WHERE component = 'coordinator' AND status = 'healthy'}) or die;
beats('coordinator');
is( sql(q{SELECT string_agg(format('%s %s %s', component, restart_count, last_restart), ',' ORDER BY component) FROM ai.worker WHERE status = 'failed'}),
	$failed, 'nor does a restart of the server');
ok($engine->poll(q{SELECT count(*) = 2 AND bool_and(status = 'healthy') FROM ai.worker WHERE component LIKE 'worker:%'}, 'second'), 'the other database is served');
mend_workers();
sql(q{INSERT INTO stopped SELECT n, 'waiting ' || n FROM generate_series(100, 150) n});
sql(q{SELECT ai.restart_worker('worker:vectorizer:0')});
ok($engine->poll(q{SELECT status = 'healthy' AND restart_count = 0 AND last_restart IS NULL FROM ai.worker WHERE component = 'worker:vectorizer:0'}),
	'one is started by hand, and counted from zero');
$engine->is_settled('stopped', 'the queue drains');
is(sql(q{SELECT status FROM ai.worker WHERE component = 'worker:vectorizer:1'}), 'failed', 'the other one is still down');
sql('SELECT ai.restart_workers()');
all_well('until all are restarted');

# -- a row that ends its worker

sql(q{CREATE FUNCTION border_end(text) RETURNS void LANGUAGE c STRICT AS '$libdir/ai_border';
	CREATE FUNCTION end_worker() RETURNS trigger LANGUAGE plpgsql AS $$
	BEGIN IF NEW.chunk LIKE '%kills' THEN PERFORM public.border_end(TG_ARGV[0]); END IF; RETURN NEW; END $$});
sub killing
{
	my ($table, $how, $processing) = @_;
	$engine->table($table, processing => "ai.processing_default($processing)");
	sql("CREATE TRIGGER kills BEFORE INSERT ON ${table}_embedding_store FOR EACH ROW EXECUTE FUNCTION end_worker('$how')");
	return;
}
sub deaths { my ($table) = @_; return sql("SELECT count(*) FROM ai.vectorizer_errors WHERE name = '$table' AND details ->> 'class' = 'crash'"); }
$engine->table('bystander');
killing('fatal', 'fatal', 'max_attempts => 100');
sql(q{INSERT INTO fatal SELECT n, n || CASE n WHEN 333 THEN ' kills' ELSE ' lives' END FROM generate_series(1, 1000) n});
$engine->poll(q{SELECT count(*) > 0 FROM ai.vectorizer_errors WHERE name = 'fatal' AND details ->> 'class' = 'crash'}) or die;
sql(q{INSERT INTO bystander SELECT n, 'bystander ' || n FROM generate_series(1, 100) n});
$engine->is_settled('fatal', 'a row among a thousand that ends its worker', failed => 1, where => 's.id <> 333');
is( sql(q{SELECT key ->> 'id', status, attempts, last_error FROM ai.jobs('fatal')}),
	'333|failed|3|worker processes end unexpectedly when they have it, the last one had nothing else', 'is found and set aside');
is(deaths('fatal'), '3', 'after three deaths');
is( sql(q{SELECT details -> 'key' ->> 'id' FROM ai.vectorizer_errors WHERE name = 'fatal' AND details ->> 'class' = 'reclaimed'}), '333', 'its key is in the errors');
$engine->is_settled('bystander', 'others go on');
all_well('no worker has failed');
cmp_ok(sql('SELECT sum(restart_count) FROM ai.worker'), '>=', 3, 'though they were restarted');
is(sql(q{SELECT count(*) FROM ai.worker WHERE jsonb_array_length(details -> 'crashes') > 0}), '0', 'and none of it counts against them');

# Two that end at the same time, each with a row of its own.
$engine->set('ai.restart_limit' => 1000, 'ai.worker_timeout' => '60s');
killing('pair', 'fatal', 'max_attempts => 100');
my (undef, $first) = hang('kills', q{INSERT INTO pair VALUES (1, 'one kills')});
kill STOP => $first;
sql(q{INSERT INTO pair VALUES (2, 'two kills')});
$mock->wait_for(hanging => 2) or die;
my $coordinator = pid_of('coordinator');
kill STOP => $coordinator;
my $pids = sql(q{SELECT array_agg(pid) FROM ai.worker WHERE component LIKE 'worker:%'});
kill CONT => $first;
release();
ok($engine->poll("SELECT count(*) = 0 FROM pg_stat_activity WHERE pid = ANY ('$pids')"), 'two workers end while nobody looks');
kill CONT => $coordinator;
$engine->is_settled('pair', 'both rows are found and set aside', failed => 2, where => 'false');
cmp_ok(deaths('pair'), '>=', 5, 'after three deaths each, the second perhaps together');
is(sql(q{SELECT count(*) FROM ai.worker WHERE jsonb_array_length(details -> 'crashes') > 0}), '0', 'which count against no worker');
all_well('they are back');
$engine->set('ai.worker_timeout' => '2s');

# A vectorizer with too many of them is set aside itself, and the workers are there for the others.
killing('deadly', 'fatal', 'max_attempts => 100');
$engine->set('ai.restart_limit' => 3);
forget_log();
sql(q{INSERT INTO deadly SELECT n, n || ' kills' FROM generate_series(1, 300) n});
ok($engine->poll(q{SELECT count(*) = 1 FROM ai.pauses WHERE kind = 'vectorizer' AND name = 'deadly' AND paused_by IS NULL
	AND reason ~ '^its rows ended [3-6] worker processes within 300 seconds' AND paused_until > now() + interval '4 min'}), 'a vectorizer whose rows end workers again and again is paused');
logged(qr/LOG:  ai: vectorizer "deadly" paused: its rows crashed workers too often/, 'the log says so');
all_well('the workers are there');
sql(q{INSERT INTO bystander SELECT n, 'more ' || n FROM generate_series(101, 200) n});
$engine->is_settled('bystander', 'for others');
is(sql(q{SELECT count(*) FROM ai.pauses WHERE name = 'deadly'}), '1', 'while it rests');
sql(q{ALTER TABLE deadly_embedding_store DISABLE TRIGGER kills});
is(sql(q{SELECT ai.resume_vectorizer('deadly')}), 't', 'mended and resumed');
ok($engine->drained('deadly'), 'it is done');
cmp_ok(sql('SELECT count(*) FROM deadly_embedding_store'), '>=', 290, 'but for the few that were given up');

# -- a worker that lives, and can write nothing

(my $mute, $process) = split /\|/, sql(q{SELECT pid, details ->> 'process' FROM ai.worker WHERE component = 'worker:vectorizer:1'});
forget_log();
sql(qq{CREATE FUNCTION refuse_beat() RETURNS trigger LANGUAGE plpgsql AS \$\$ BEGIN RAISE EXCEPTION 'not you'; END \$\$;
	CREATE TRIGGER refuse BEFORE UPDATE ON ai.vectorizer_worker_process FOR EACH ROW WHEN (OLD.id = '$process') EXECUTE FUNCTION refuse_beat()});
ok($engine->poll(qq{SELECT count(*) = 1 FROM ai.worker WHERE component = 'worker:vectorizer:1' AND pid <> $mute AND status = 'healthy'}),
	'another one takes its place');
like(new_log(), qr/could not record the heartbeat of a worker: not you/, 'the log says why');
sql(q{DROP TRIGGER refuse ON ai.vectorizer_worker_process});
all_well('all are well');

# -- a row that takes the server down

$engine->set('ai.restart_limit' => 2);
killing('crash', 'signal', 'max_attempts => 4');
sql(q{INSERT INTO crash SELECT n, n || CASE n WHEN 7 THEN ' kills' ELSE ' lives' END FROM generate_series(1, 50) n});
ok($engine->poll(q{SELECT count(*) = 1 FROM ai.jobs('crash') WHERE status = 'failed' AND key ->> 'id' = '7'}), 'a row that takes the server down ends in the failed table');
$engine->is_settled('crash', 'the others are written', failed => 1, where => 's.id <> 7');
all_well('workers that went down with the server have not failed');
# What was taken before the first crash may be lost in it, and is in the queue again.
my $crashes = () = new_log() =~ /was terminated by signal 11/g;
like($crashes, qr/^[45]$/, 'the server was restarted four times, or five');
cmp_ok(sql(q{SELECT min(restart_count) FROM ai.worker}), '>=', 4, 'and so were they');

$node->stop;
done_testing();
