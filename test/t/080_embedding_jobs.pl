# Embedding jobs as workers do them: each once, the urgent first, equal texts together; what follows from
# failures, cancels and dead workers. What SQL alone decides is in test/sql/embedding_jobs.sql.
use strict;
use warnings FATAL => 'all';
use EngineTest;
use JSON::PP ();
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(time);
use TinyModel;

my $engine = EngineTest->new('main', conf => "ai.workers = 3\nai.job_retry_delay = '100ms'\n");
my ($node, $mock) = ($engine->node, $engine->mock);
my $mock_8 = q{ai.embedding_openai('mock-8', 8)};

sub sql { return $engine->sql(@_); }

# Makes jobs of texts, which are SQL for a text[]; more arguments are SQL, too. Returns the ids.
sub create
{
	my ($texts, %arguments) = @_;
	my %all = (embedding => $mock_8, %arguments);
	return split /\n/, sql("SELECT ai.create_embedding_job($texts, " . join(', ', map { "$_ => $all{$_}" } sort keys %all) . ')');
}
sub numbered { my ($name, $count) = @_; return "(SELECT array_agg('$name ' || n ORDER BY n) FROM generate_series(1, $count) n)"; }
sub status { my ($id) = @_; return sql("SELECT status FROM ai.embedding_job('$id')"); }
sub ended { my ($id) = @_; return sql("SELECT status FROM ai.wait_for_embedding_job('$id', '3 min')"); }
sub forget { sql('TRUNCATE ai.embedding_jobs, ai.embedding_job_failures, ai.embedding_job_usage'); return; }

# Waits until none is left to do, then compares: all completed, each with the vector of its text.
sub is_done
{
	my ($count, $test) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	$engine->poll(q{SELECT NOT EXISTS (SELECT FROM ai.embedding_jobs WHERE status IN ('pending', 'processing', 'retrying'))});
	is(sql(q{SELECT count(*) FILTER (WHERE status = 'completed'), count(*) FROM ai.embedding_jobs}), "$count|$count", $test);
	is($engine->_wrong_vectors(q{SELECT encode(convert_to(input_text, 'UTF8'), 'hex'), embedding_vector
		FROM ai.embedding_jobs WHERE status = 'completed' ORDER BY random() LIMIT 50}), 0, "$test: the vectors are those of the texts");
	return;
}

# What a piece of code sends: texts.
sub items
{
	my ($code) = @_;
	my $before = $mock->stats->{items};
	$code->();
	return $mock->stats->{items} - $before;
}

# Lets requests with a text hang and waits until one does.
sub hang
{
	my ($text, $code, %rule) = @_;
	$mock->rules({ text => $text, hang => 'before', %rule });
	my @result = $code->();
	$mock->wait_for(hanging => 1) or die "nothing hangs: $text";
	return @result;
}
sub release { $mock->rules; $mock->release; return; }

# -- one job

my ($id) = create(q{'a text'}, metadata => q{'{"n": 1}'});
is(ended($id), 'completed', 'a job is completed');
is( sql(qq{SELECT embedding_dimensions, vector_dims(embedding_vector), attempts, error_message IS NULL, processing_time_ms >= 0,
	started_at <= completed_at, embedded_at = completed_at, worker_version = ai.version(), metadata,
	EXISTS (SELECT FROM ai.vectorizer_worker_process p WHERE p.id = worker_id) FROM ai.embedding_job('$id')}),
	'8|8|1|t|t|t|t|t|{"n": 1}|t', 'and says how');
is_done(1, 'one job');

# -- many, several workers: each exactly once

foreach my $count (20, 20_000)
{
	$engine->counted or die;
	forget();
	my $before = $mock->stats;
	is(scalar create(numbered("job of $count", $count)), $count, "$count jobs");
	is_done($count, "$count jobs");
	my $after = $mock->stats;
	is($after->{items} - $before->{items}, $count, "$count jobs: each text is sent once");
	cmp_ok($after->{requests} - $before->{requests}, '<=', 10 + $count / 50, "$count jobs: many in a request");
	is( sql(q{SELECT min(attempts), max(attempts), count(DISTINCT id) FROM ai.embedding_jobs}), "1|1|$count",
		"$count jobs: each is claimed once");
	is(sql(q{SELECT sum(jobs_completed), sum(failures) FROM ai.embedding_worker_performance}), "$count|0", "$count jobs: counted by worker");
	$engine->counted or die;
	is( sql(q{SELECT jobs, sent_texts, reused_jobs, requests > 0, input_tokens > 0 FROM ai.embedding_job_usage WHERE model = 'mock-8'}),
		"$count|$count|0|t|t", "$count jobs: counted by role and model");
}
cmp_ok(sql(q{SELECT count(DISTINCT worker_id) FROM ai.embedding_jobs}), '>', 1, 'several workers took part');

# -- the urgent first

forget();
$engine->set('ai.workers' => 1, 'ai.max_in_flight' => 1);
$engine->poll(q{SELECT count(*) = 1 FROM pg_stat_activity WHERE backend_type = 'ai worker'});
my $many = 100_000;
hang('background', sub { create(numbered('background', $many), priority => q{'low'}) });
my ($urgent) = create(q{'now'}, priority => q{'urgent'});
my ($other) = create(q{'now'}, priority => q{'high'}, embedding => q{ai.embedding_openai('mock-16', 16)});
is( sql(q{SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'ai worker' AND (backend_xmin IS NOT NULL OR backend_xid IS NOT NULL)}),
	'0', 'no transaction is open while the provider is waited for');
release();
is(ended($urgent), 'completed', "an urgent job in front of $many");
is(ended($other), 'completed', 'one of another model');
sub low_before { my ($job) = @_; return sql(qq{SELECT count(*) FROM ai.embedding_jobs j, ai.embedding_job('$job') u
	WHERE j.priority = 'low' AND j.started_at < u.started_at}); }
is(low_before($urgent), 200, 'is claimed next, after the one request that was under way');
cmp_ok(low_before($other), '<', 400, 'then that one');
sql(q{DELETE FROM ai.embedding_jobs WHERE status = 'pending'});
is_done(sql(q{SELECT count(*) FROM ai.embedding_jobs}), 'what was begun');

# Rows of a vectorizer, too.
sql('CREATE TABLE rules (id int PRIMARY KEY, body text, priority text)');
$engine->vectorizer('rules', name => 'rules', processing => q{ai.processing_default(batch_size => 10, priority_column => 'priority')});
hang('rule', sub { sql(q{INSERT INTO rules SELECT n, 'rule ' || n, 'low' FROM generate_series(1, 300) n}) });
sql(q{INSERT INTO rules VALUES (301, 'the rule', 'critical')});
$mock->rules({ latency_ms => 200 });
$mock->release;
$engine->poll('SELECT EXISTS (SELECT FROM rules_embedding_store WHERE id = 301)');
cmp_ok(sql('SELECT count(*) FROM rules_embedding_store'), '<', 100, 'a critical row in front of 300');
$mock->rules;
sql(q{UPDATE rules SET body = body || '!', priority = CASE id % 3 WHEN 0 THEN 'high' END});
$engine->is_settled('rules', 'rows with priorities');
$engine->set('ai.workers' => 3, 'ai.max_in_flight' => 16);

# -- equal texts: one request

$engine->counted or die;
forget();
my @same;
is( items(sub {
		push @same, hang('the same', sub { create(q{'the same'}) });
		push @same, create(q{array_fill('the same'::text, '{100}')}) foreach 1 .. 3;
		push @same, create(q{'the same'}, priority => q{'urgent'});
		push @same, create(q{'different'});
		is(ended(pop @same), 'completed', 'others go on');
		is(sql(q{SELECT count(*), count(*) FILTER (WHERE status = 'processing') FROM ai.embedding_jobs WHERE input_text = 'the same'}),
			'302|1', 'equal texts wait for the first of them');
		release();
		is_done(303, 'equal texts at the same time');
	}), 2, 'equal texts at the same time: one is sent');
is(items(sub { is(status(create(q{'the same'})), 'completed', 'a text that is known'); }), 0, 'is not sent');
is(items(sub { create(q{array_fill('all the same'::text, '{500}')}); is_done(804, 'equal texts at once'); }), 1, 'equal texts at once: one is sent');
$engine->counted or die;
is(sql(q{SELECT sum(sent_texts), sum(jobs), sum(reused_jobs) >= 799 FROM ai.embedding_job_usage}), '3|803|t', 'usage tells');
$engine->set('ai.cache_ttl' => '0');
is(items(sub { is(ended(create(q{'the same'})), 'completed', 'with ai.cache_ttl = 0'); }), 1, 'it is sent again');
$engine->set('ai.cache_ttl' => '1h');
sql(q{CREATE ROLE other LOGIN; SELECT ai.grant_secret('OPENAI_API_KEY', 'other')});
is(items(sub { is(ended(sql("SET ROLE other; SELECT ai.create_embedding_job('the same', $mock_8)")), 'completed', 'another role'); }), 1, 'has its own');

# -- waiting: woken at once, whatever the poll is set to

forget();
$engine->set('ai.poll_interval' => '1h');
my $waiter = $node->background_psql('postgres', on_error_stop => 0);
my $pid = $waiter->query_safe('SELECT pg_backend_pid()');
my %end = (release => 'completed', cancel => 'cancelled', fail => 'failed');
foreach my $how (sort keys %end)
{
	($id) = hang('waited for', sub { create(qq{'waited for: $how'}) }, $how eq 'fail' ? (status => 400) : ());
	$waiter->query_until(qr/begun/, "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM ai.embedding_jobs;\n\\echo begun\n"
			. "SELECT status FROM ai.wait_for_embedding_job('$id', NULL); COMMIT;\n");
	ok($engine->poll("SELECT wait_event_type = 'Extension' FROM pg_stat_activity WHERE pid = $pid"), "$how: somebody waits");
	sql("SELECT ai.cancel_embedding_job('$id')") if $how eq 'cancel';
	release() if $how ne 'cancel';
	like($waiter->query_until(qr/(completed|cancelled|failed)/, "\n"), qr/$end{$how}/, "$how: it sees the end, whatever its snapshot");
	release();
}
$mock->rules;
($id) = hang('equal', sub { create(q{'equal'}) }, status => 400);
my ($next, $unlike) = create(q{ARRAY['equal', 'unlike']});
is(ended($unlike), 'completed', 'one text waits for an equal one, another does not');
release();
is(ended($id), 'failed', 'that one is given up');
is(sql("SELECT status FROM ai.wait_for_embedding_job('$next', '20 s')"), 'completed', 'and the one that waited is done at once');
($id) = hang('waited for', sub { create(q{'waited for in vain'}) });
$waiter->query_until(qr/begun/, "\\echo begun\nSELECT status FROM ai.wait_for_embedding_job('$id', '1 h');\n");
$engine->poll("SELECT wait_event_type = 'Extension' FROM pg_stat_activity WHERE pid = $pid");
sql("SELECT pg_cancel_backend($pid)");
ok($engine->poll("SELECT state = 'idle' FROM pg_stat_activity WHERE pid = $pid"), 'waiting can be cancelled');
release();
$waiter->quit;
$engine->set('ai.poll_interval' => '1s');

# -- cancelled while it is under way

forget();
($id, my @others) = hang('begun', sub { create(numbered('begun', 10)) });
is(status($id), 'processing', 'a job that is under way');
is(sql("SELECT ai.cancel_embedding_job('$id')"), 't', 'is cancelled');
is(status($id), 'cancelled', 'at once');
release();
is(ended($others[-1]), 'completed', 'the others of the request are completed');
is(sql("SELECT status, embedding_vector IS NULL FROM ai.embedding_job('$id')"), 'cancelled|t', 'it stays cancelled');
sql("SELECT ai.retry_embedding_job('$id')");
is_done(10, 'begun anew');

# By a transaction that takes its time: nobody waits for it.
foreach my $end (qw(COMMIT ROLLBACK))
{
	forget();
	my $user = $node->background_psql('postgres');
	my ($pending, @more);
	($id, @more) = hang("held $end", sub { create(numbered("held $end", 10)) });
	$user->query_safe("BEGIN; SELECT ai.cancel_embedding_job('$id')");
	($pending) = create(qq{'waiting $end'});
	is(ended($pending), 'completed', "$end: a job that is claimed meanwhile");
	release();
	is(ended($_), 'completed', "$end: a job that is stored meanwhile") foreach $more[0], $more[-1];
	is(status($id), 'processing', "$end: the one that is locked is passed over");
	my $transactions = q{SELECT xact_commit + xact_rollback FROM pg_stat_database WHERE datname = 'postgres'};
	my ($before, $beats) = map { sql($_) } $transactions, q{SELECT sum(heartbeat_count) FROM ai.vectorizer_worker_process};
	$engine->poll("SELECT sum(heartbeat_count) > $beats + 3 FROM ai.vectorizer_worker_process") or die;
	cmp_ok(sql($transactions) - $before, '<', 500, "$end: and looked for no more than now and then");
	is(sql(q{SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'ai worker' AND wait_event_type = 'Lock'}), '0', "$end: no worker waits");
	$user->query_safe($end);
	$user->quit;
	is(ended($id), $end eq 'COMMIT' ? 'cancelled' : 'completed', "$end: and ends as it should");
	is(sql("SELECT attempts FROM ai.embedding_job('$id')"), '1', "$end: one attempt");
}
forget();
$engine->set('ai.workers' => 0);
$engine->poll(q{SELECT count(*) = 0 FROM pg_stat_activity WHERE backend_type = 'ai worker'});
($id, @others) = create(numbered('pending', 10));
my $user = $node->background_psql('postgres');
$user->query_safe("BEGIN; SELECT ai.cancel_embedding_job('$id')");
$engine->set('ai.workers' => 2);
is(ended($others[-1]), 'completed', 'a pending job that somebody has locked is passed over, too');
$user->query_safe('ROLLBACK');
$user->quit;
is_done(10, 'and claimed when it is free');

# -- failures

forget();
$mock->rules({ text => 'poison 77!', status => 400 });
my ($bad) = (create(q{(SELECT array_agg('poison ' || n || '!' ORDER BY n) FROM generate_series(1, 200) n)}))[76];
is(ended($bad), 'failed', 'a job to blame');
ok($engine->poll(q{SELECT count(*) = 199 FROM ai.embedding_jobs WHERE status = 'completed'}), 'is found; the others are completed');
is( sql(q{SELECT f.job_id, f.step, f.class, f.attempts, f.error_message = j.error_message, f.worker_id = j.worker_id
	FROM ai.embedding_job_failures f JOIN ai.embedding_jobs j ON j.id = f.job_id}), "$bad|embedding|suspect|1|t|t", 'it is a dead letter');
$mock->rules;
is(sql(q{SELECT ai.retry_embedding_job(job_id) FROM ai.embedding_job_failures}), 't', 'brought back');
is_done(200, 'and completed');
is(sql(q{SELECT count(*) FROM ai.embedding_job_failures}), '0', 'no dead letter is left');

forget();
$mock->rules({ text => 'shaky', reply => 'garbage' });
($id) = create(q{'shaky'}, max_attempts => 1000);
ok($engine->poll(qq{SELECT status = 'retrying' AND attempts >= 2 AND retry_at > started_at AND error_message IS NOT NULL
	FROM ai.embedding_job('$id')}), 'a job is tried again and again');
$mock->rules;
is(ended($id), 'completed', 'until it works');
$mock->rules({ text => 'hopeless', reply => 'garbage' });
($id) = create(q{'hopeless'}, max_attempts => 2);
is(ended($id), 'failed', 'or until its attempts are used up');
is(sql(q{SELECT attempts, class FROM ai.embedding_job_failures}), '2|invalid_reply', 'then it is a dead letter');
$mock->rules({ status => 429, retry_after => 1, count => 2 });
($id) = create(q{'patient'}, max_attempts => 1);
is(ended($id), 'completed', 'a provider that asks to come back later');
is(sql("SELECT attempts FROM ai.embedding_job('$id')"), '1', 'costs no attempt');

# How long it waits: 30 s, twice as long each time, five minutes at most.
forget();
$engine->set('ai.job_retry_delay' => '30s');
$mock->rules({ text => 'later', reply => 'garbage' });
sql(q{SELECT ai.pause_workers()});
my @waits = (30, 60, 120, 240, 300, 300);
create(qq{'later $_'}, max_attempts => 1000) foreach 0 .. $#waits;
sql(q{UPDATE ai.embedding_jobs SET attempts = right(input_text, 1)::int});
sql(q{UPDATE ai.embedding_jobs SET attempts = 900 WHERE input_text = 'later 5'});
sql(q{SELECT ai.resume_workers()});
ok($engine->poll(q{SELECT count(*) = 6 FROM ai.embedding_jobs WHERE status = 'retrying'}), 'jobs that failed before');
is( sql(qq{SELECT count(*) FROM ai.embedding_jobs, unnest('{@{[ join ',', @waits ]}}'::int[]) WITH ORDINALITY AS w (seconds, place)
	WHERE right(input_text, 1)::int = place - 1 AND retry_at - seconds * interval '1 s' BETWEEN started_at AND now()}),
	'6', 'wait for 30 s, twice as long each time, five minutes at most');
$engine->set('ai.job_retry_delay' => '100ms');
$mock->rules;

# A key that is refused, and one that the role may not use: the jobs wait, and say why.
forget();
$mock->rules({ path => '/v1/*', error => 'invalid_key' });
($id) = create(q{'refused'}, max_attempts => 1);
ok($engine->poll("SELECT status = 'pending' AND attempts = 0 AND error_message IS NOT NULL FROM ai.embedding_job('$id')"), 'a refused key: the job stays');
$mock->rules;
is(ended($id), 'completed', 'and is completed when the key is accepted');
sql(q{SELECT ai.revoke_secret('OPENAI_API_KEY', 'other')});
$id = sql("SET ROLE other; SELECT ai.create_embedding_job('no key', $mock_8)");
ok($engine->poll("SELECT error_message = 'role \"other\" is not permitted to use secret \"OPENAI_API_KEY\"' FROM ai.embedding_job('$id')"),
	'a key that the role may not use');
is(status($id), 'pending', 'is not used');
is(ended(create(q{'with a key'})), 'completed', 'jobs of others go on');
sql(q{SELECT ai.grant_secret('OPENAI_API_KEY', 'other')});
sql("SELECT pg_terminate_backend($_, 5000)") foreach $engine->workers;
is(ended($id), 'completed', 'until it may');

# -- a worker that ends, one that dies

forget();
($id) = hang('handed on', sub { create(q{'handed on'}) });
my $worker = sql("SELECT worker_id FROM ai.embedding_job('$id')");
$mock->rules;
sql("SELECT pg_terminate_backend($_, 5000)") foreach $engine->workers;
is(ended($id), 'completed', 'a worker that is ended hands its jobs on');
is(sql("SELECT attempts, worker_id <> '$worker' FROM ai.embedding_job('$id')"), '1|t', 'uncharged');
$mock->release;

my @twice = hang('killed', sub { create(numbered('killed', 5)), create(q{'killed for good'}, max_attempts => 1) });
$engine->poll(q{SELECT count(*) = 6 FROM ai.embedding_jobs WHERE status = 'processing'});
$mock->rules;
my $logged = -s $node->logfile;
sql('CHECKPOINT');    # workers do not wait for the disk: a crash may undo a claim
kill 'KILL', $engine->workers;
$engine->poll(q{SELECT count(*) = 0 FROM ai.embedding_jobs WHERE status = 'processing' AND input_text LIKE 'killed%'});
$node->wait_for_log(qr/worker process [-0-9a-f]+ exited with claimed embedding jobs/, $logged);
is(ended($twice[0]), 'completed', 'the jobs of a worker that died are done by others');
is(ended($twice[5]), 'failed', 'unless that was their last attempt');
is( sql(q{SELECT input_text, attempts FROM ai.embedding_jobs WHERE input_text IN ('killed 1', 'killed for good') ORDER BY 1}),
	"killed 1|2\nkilled for good|1", 'the attempt is charged');
is(sql(q{SELECT step, class FROM ai.embedding_job_failures}), 'worker|reclaimed', 'and told');
$mock->release;

# -- a job that ends its worker

forget();
sql(q{CREATE FUNCTION border_end(text) RETURNS void LANGUAGE c STRICT AS '$libdir/ai_border';
	CREATE FUNCTION end_worker() RETURNS trigger LANGUAGE plpgsql AS $$
	BEGIN IF NEW.status = 'completed' AND NEW.input_text LIKE '%kills' THEN PERFORM public.border_end('fatal'); END IF; RETURN NEW; END $$;
	CREATE TRIGGER kills BEFORE UPDATE ON ai.embedding_jobs FOR EACH ROW EXECUTE FUNCTION end_worker()});
my $crashes = q{SELECT count(*) FROM ai.worker, jsonb_array_elements(details -> 'crashes')};
my $blamed = sql($crashes);
my @deadly = create(q{(SELECT array_agg(n || CASE n WHEN 33 THEN ' kills' ELSE ' lives' END ORDER BY n) FROM generate_series(1, 150) n)},
	max_attempts => 100);
is(ended($deadly[32]), 'failed', 'a job among others that ends its worker');
is( sql(q{SELECT j.input_text, f.class, f.attempts, f.error_message FROM ai.embedding_job_failures f JOIN ai.embedding_jobs j ON j.id = f.job_id}),
	'33 kills|reclaimed|3|worker processes end unexpectedly when they have it, the last one had nothing else', 'is found after three deaths');
ok($engine->poll(q{SELECT count(*) = 149 FROM ai.embedding_jobs WHERE status = 'completed'}), 'the others are completed');
is(sql($crashes), $blamed, 'no worker is blamed');
is(sql("SELECT ai.cancel_embedding_job('$deadly[32]')"), 't', 'it is let go');

# Many of them: they are set aside for a while, and others go on.
$engine->set('ai.restart_limit' => 2);
$logged = -s $node->logfile;
create(q{(SELECT array_agg(n || ' kills') FROM generate_series(1, 20) n)}, max_attempts => 100);
$node->wait_for_log(qr/embedding jobs crashed workers too often, \d+ suspect jobs are quarantined/, $logged);
is(sql(q{SELECT count(*) > 10 FROM ai.embedding_jobs WHERE status = 'retrying' AND crashes > 0 AND retry_at > now() + interval '1 min'}), 't',
	'jobs that end workers again and again are set aside');
is(ended(create(q{'another'})), 'completed', 'others go on');
sql('DROP TRIGGER kills ON ai.embedding_jobs');
$engine->set('ai.restart_limit' => 5);

# -- paused, or its provider is

forget();
sql(q{SELECT ai.pause_provider(endpoint) FROM ai.provider});
($id) = create(q{'not asked'});
is(sql("SELECT status FROM ai.wait_for_embedding_job('$id', '500 ms')"), 'pending', 'a provider that is paused is not asked');
sql(q{SELECT ai.resume_provider(endpoint) FROM ai.provider});
is(ended($id), 'completed', 'until it is resumed');
sql(q{SELECT ai.pause_workers()});
($id) = create(q{'paused'});
is(sql("SELECT status FROM ai.wait_for_embedding_job('$id', '500 ms')"), 'pending', 'workers that are paused take no jobs');
sql(q{SELECT ai.resume_workers()});
is(ended($id), 'completed', 'and go on when they are resumed');

# -- told by NOTIFY

forget();
my $listener = $node->background_psql('postgres');
$listener->query_safe('LISTEN jobs');
$mock->rules({ text => 'told badly', status => 400 });
my @told = map { create("'$_'", notify_channel => q{'jobs'}) } 'told', 'told badly';
is(ended($_), $_ eq $told[0] ? 'completed' : 'failed', 'a job with a channel') foreach @told;
push @told, create(q{'told'}, notify_channel => q{'jobs'});
$engine->set('ai.workers' => 0);
push @told, create(q{'never told'}, notify_channel => q{'jobs'});
sql("SELECT ai.cancel_embedding_job('$told[-1]')");
my %heard = map { my $said = JSON::PP::decode_json($_); ($said->{id} => $said->{status}) } $listener->query('SELECT 1') =~ /payload "(\{.*?\})"/g;
is_deeply(\%heard, { $told[0] => 'completed', $told[1] => 'failed', $told[2] => 'completed', $told[3] => 'cancelled' }, 'those who listen hear of each end');
$listener->quit;
$mock->rules;

# -- a dump has them

forget();
create(numbered('dumped', 3));
$node->command_ok([ 'pg_dump', '-f', $node->basedir . '/jobs.sql', $node->connstr('postgres') ], 'dumped');
sql('CREATE DATABASE restored');
$node->command_ok([ 'psql', '-Xq', '-v', 'ON_ERROR_STOP=1', '-f', $node->basedir . '/jobs.sql', $node->connstr('restored') ], 'restored');
$engine->set('ai.workers' => 1);
ok(EngineTest::poll_node($node, 'restored', q{SELECT count(*) = 3 FROM ai.embedding_jobs WHERE status = 'completed'}), 'and done where they are restored');

# -- the embedded model

forget();
$engine->set('ai.model_path' => TinyModel::write(PostgreSQL::Test::Utils::tempdir . '/tiny'));
create(q{(SELECT array_agg('the cat ' || n) FROM generate_series(1, 100) n)}, embedding => q{ai.embedding_local('tiny', 32)});
$engine->poll(q{SELECT count(*) = 100 FROM ai.embedding_jobs WHERE status = 'completed'});
is(sql(q{SELECT count(*) FROM ai.embedding_jobs WHERE embedding_vector = ai.local_embed(input_text)}), '100', 'the embedded model');

# -- old ones go

forget();
create(numbered('old', 2500));
is_done(2500, 'before their time');
$engine->set('ai.job_retention' => '0');
sql("SELECT pg_terminate_backend($_, 5000)") foreach $engine->workers;
ok($engine->poll('SELECT count(*) = 0 FROM ai.embedding_jobs'), 'jobs are removed after ai.job_retention');

$node->stop;
done_testing();
