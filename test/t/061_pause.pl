# Pauses: what is under way is finished and nothing is taken, for as long as it was said.
use strict;
use warnings FATAL => 'all';
use EngineTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(time);

# Nobody polls: what happens, happens because somebody was woken or a time has come.
my $engine = EngineTest->new('main', conf => q{
ai.poll_interval = '1h'
ai.heartbeat_interval = '200ms'
ai.idle_timeout = -1
});
my ($node, $mock) = ($engine->node, $engine->mock);
sub sql { return $engine->sql(@_); }

# Two more heartbeats of both workers: who is awake has looked.
sub beats
{
	my $seen = sql('SELECT clock_timestamp()');
	foreach (1 .. 2)
	{
		$engine->poll("SELECT count(*) = 2 FROM ai.worker WHERE component LIKE 'worker:%' AND status = 'healthy' AND last_seen > '$seen'")
		  or die 'workers do not beat';
		$seen = sql(q{SELECT max(last_seen) FROM ai.worker WHERE component LIKE 'worker:%'});
	}
	return;
}
sub pending { my ($name) = @_; return sql("SELECT ai.vectorizer_queue_pending('$name', true)"); }
sub leases { my ($name) = @_; return 'ai._vectorizer_q_work_' . $engine->id($name) . ' WHERE lease IS NOT NULL'; }

# -- under load: each claim notes when its transaction began

$engine->table('load', processing => 'ai.processing_default(batch_size => 5, concurrency => 2)');
my $work = leases('load');
sql(q{CREATE TABLE claims (began timestamptz, at timestamptz);
	CREATE FUNCTION note_claim() RETURNS trigger LANGUAGE plpgsql AS
		'BEGIN INSERT INTO public.claims VALUES (now(), clock_timestamp()); RETURN NULL; END'});
sql('CREATE TRIGGER claims AFTER INSERT ON ai._vectorizer_q_work_' . $engine->id('load') . ' EXECUTE FUNCTION note_claim()');
$mock->rules({ latency_ms => 30 });
sql(q{INSERT INTO load SELECT n, 'load ' || n FROM generate_series(1, 3000) n});
my $requests = $mock->stats->{requests};
$mock->wait_for(requests => $requests + 10) or die;
my $paused_at = sql('SELECT ai.pause_workers(); SELECT clock_timestamp()') =~ s/^\s+//r;
ok($engine->poll("SELECT count(*) = 0 FROM $work"), 'what is under way is finished');
my $left = pending('load');
cmp_ok($left, '>', 0, "$left rows are left");
is(sql("SELECT count(*) > 0, count(*) FILTER (WHERE began > '$paused_at') FROM claims"), 't|0', 'no claim begins after the pause');
note(sql("SELECT format('the last one ended %s s after it', extract(epoch FROM max(at) - '$paused_at')) FROM claims"));
$requests = $mock->stats->{requests};
sql(q{INSERT INTO load SELECT n, 'more ' || n FROM generate_series(3001, 3100) n});
beats();
is(pending('load'), $left + 100, 'nothing more is taken');
is($mock->stats->{requests}, $requests, 'nor asked');
is(sql(q{SELECT count(*) FROM ai.worker_status WHERE component LIKE 'worker:%' AND status = 'healthy' AND paused AND words = 'paused' AND doing = 'nothing'}),
	'2', 'they say so');
is(sql(q{SELECT count(*) FROM ai.worker WHERE component LIKE 'worker:%' AND (details ->> 'paused')::boolean}), '2', 'and know it');
$node->restart;
beats();
is(pending('load'), $left + 100, 'a restart of the server does not end it');
is(sql(q{SELECT kind, paused_until FROM ai.pauses}), 'all workers|', 'it is still there');
$mock->rules;
is(sql('SELECT ai.resume_workers()'), 't', 'resumed');
$engine->is_settled('load', 'all is done, nothing was lost');

# -- a claim looks before it takes: it is the table that counts, not the wake-up

sql(q{INSERT INTO ai._worker_pause (component, paused_by) VALUES ('*', 'nobody')});
sql(q{INSERT INTO load VALUES (5000, 'claimed')});
beats();
is(pending('load'), '1', 'a pause that nobody was woken for is seen when rows are taken');
sql('SELECT ai.resume_workers()');
$engine->is_settled('load', 'resumed');

# -- until a time

my $start = time;
sql(q{SELECT ai.pause_workers(clock_timestamp() + interval '2 s'); INSERT INTO load VALUES (5001, 'until')});
$engine->is_settled('load', 'the pause ends without a hand');
cmp_ok(time - $start, '>=', 2, 'not before its time');
is(sql('SELECT ai.resume_workers()'), 'f', 'it is over');

# -- a vectorizer: others go on, requests under way come back

$engine->table('other');
$mock->rules({ text => 'flight', hang => 'before' });
sql(q{INSERT INTO load VALUES (6000, 'flight')});
$mock->wait_for(hanging => 1) or die;
sql(q{SELECT ai.pause_vectorizer('load')});
sql(q{INSERT INTO load VALUES (6001, 'after'); INSERT INTO other VALUES (1, 'other')});
$engine->is_settled('other', 'another vectorizer goes on');
$mock->rules;
$mock->release;
ok($engine->poll(q{SELECT count(*) = 1 FROM load_embedding_store WHERE id = 6000}), 'a request under way is finished');
beats();
is(sql(q{SELECT key ->> 'id', status FROM ai.jobs('load')}), '6001|pending', 'what came later waits');
is(sql(q{SELECT ai.resume_vectorizer('load')}), 't', 'resumed');
$engine->is_settled('load', 'and done');
sql(q{SELECT ai.pause_vectorizer('load', clock_timestamp() + interval '1 s'); INSERT INTO load VALUES (6002, 'for a second')});
$engine->is_settled('load', 'a pause of a second');

# Disabled is another thing: what is under way is let go of.
$mock->rules({ text => 'disabled', hang => 'before' });
sql(q{INSERT INTO load VALUES (6003, 'disabled')});
$mock->wait_for(hanging => 1) or die;
sql(q{SELECT ai.disable_vectorizer_schedule('load')});
ok($engine->poll(q{SELECT count(*) = 1 FROM ai.jobs('load') WHERE status <> 'running'}), 'a disabled one releases its rows');
$mock->rules;
$mock->release;
sql(q{SELECT ai.enable_vectorizer_schedule('load')});
$engine->is_settled('load', 'enabled');

# -- one worker of two, and back when it was ended

my $process = q{(SELECT details ->> 'process' FROM ai.worker WHERE component = 'worker:vectorizer:%d')};
my $by = sub { return $engine->poll(sprintf("SELECT last_success_process_id::text = $process FROM ai.vectorizer_worker_progress p JOIN ai.vectorizer v ON v.id = p.vectorizer_id WHERE name = 'load'", $_[0])); };
foreach my $number (0, 1)
{
	sql("SELECT ai.pause_worker('worker:vectorizer:$number')");
	foreach my $n (1 .. 5)
	{
		sql("INSERT INTO load VALUES ((SELECT max(id) + 1 FROM load), 'one of two')");
		$engine->drained('load') or die;
		ok($by->(1 - $number), "worker $number is paused: the other one works");
	}
	sql("SELECT ai.resume_worker('worker:vectorizer:$number')");
}
sql(q{SELECT ai.pause_worker('worker:vectorizer:0'); SELECT ai.pause_worker('worker:vectorizer:1')});
my $pids = join ',', $engine->workers;
sql("SELECT count(pg_terminate_backend(pid, 5000)) FROM unnest(ARRAY[$pids]) pid");
sql(q{INSERT INTO load VALUES ((SELECT max(id) + 1 FROM load), 'nobody')});
$engine->poll(qq{SELECT count(*) = 2 FROM ai.worker WHERE component LIKE 'worker:%' AND status = 'healthy' AND pid NOT IN ($pids)}) or die;
beats();
is(pending('load'), '1', 'new processes of paused workers are paused');
sql('SELECT ai.resume_workers()');
$engine->is_settled('load', 'resumed together');

# -- another database

sql('CREATE DATABASE second');
sql(q{CREATE EXTENSION ai CASCADE; CREATE TABLE src (id int PRIMARY KEY, body text);
	SELECT ai.create_vectorizer('src', name => 'load', loading => ai.loading_column('body'), embedding => ai.embedding_openai('mock-8', 8))}, 'second');
sql('SELECT ai.pause_workers()');
sql(q{INSERT INTO src VALUES (1, 'not paused')}, 'second');
ok(EngineTest::poll_node($node, 'second', 'SELECT count(*) = 1 FROM src_embedding_store'), 'a pause is for one database');
sql('SELECT ai.resume_workers()');

$node->stop;
done_testing();
