# What is in the server's log: a line for what matters, none for what happens all the time. And statements
# of the workers are few, however many rows there are.
use strict;
use warnings FATAL => 'all';
use EngineTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $engine = EngineTest->new('main', conf => q{
shared_preload_libraries = 'ai, pg_stat_statements'
compute_query_id = on
pg_stat_statements.track = all
log_statement = none
log_line_prefix = '%b: '
ai.poll_interval = '100ms'
ai.heartbeat_interval = '200ms'
ai.breaker_pause = '300ms'
});
my ($node, $mock) = ($engine->node, $engine->mock);
my $endpoint = $mock->url . '/v1';
sub sql { return $engine->sql(@_); }

# What our processes have written since.
my $position = 0;
sub forget_log { $position = -s $node->logfile; return; }
sub our_lines { return grep { /^ai (?:launcher|coordinator|worker): / } split /\n/, slurp_file($node->logfile, $position); }

# So many more heartbeats of each worker, and as many turns of the coordinator.
sub beats
{
	my ($number) = @_;
	my $before = sql(q{SELECT string_agg(format('(%L, %s)', id, heartbeat_count), ', ') FROM ai.vectorizer_worker_process});
	$engine->poll(qq{SELECT count(*) >= 2 FROM ai.vectorizer_worker_process p
		JOIN (VALUES $before) AS b (id, count) ON b.id::uuid = p.id WHERE p.heartbeat_count >= b.count + $number}) or die;
	return;
}

$engine->table('v');
ok($engine->poll(q{SELECT count(*) = 2 FROM ai.vectorizer_worker_process WHERE heartbeat_count > 0}), 'two workers');

# -- nothing happens

forget_log();
beats(10);
is_deeply([ our_lines() ], [], 'who waits says nothing');

# -- all goes well

sql(q{INSERT INTO v SELECT n, 'text ' || n FROM generate_series(1, 300) n});
sql(q{UPDATE v SET body = body || '.' WHERE id <= 100; DELETE FROM v WHERE id > 290});
$engine->is_settled('v', 'rows are embedded');
is_deeply([ our_lines() ], [], 'without a word');

# -- the statements are the same ones

sql('CREATE EXTENSION pg_stat_statements');
sub statements { return sql(q{SELECT count(*) FROM pg_stat_statements WHERE dbid = (SELECT oid FROM pg_database WHERE datname = 'postgres')}); }
sub round { my ($from) = @_; sql("INSERT INTO v SELECT n, 'text ' || n FROM generate_series($from, $from + 200) n; UPDATE v SET body = body || '.' WHERE id < 50"); $engine->drained('v'); return; }
round(1000);
beats(2);
my $few = statements();
round($_ * 1000) foreach 2 .. 4;
beats(2);
cmp_ok(statements() - $few, '<=', 5, "they are $few, and stay so");

# -- a provider that fails: its breaker opens, is tried in vain again and again, closes

forget_log();
$mock->rules({ status => 503 });
sql(q{INSERT INTO v VALUES (5000, 'nobody answers')});
$node->wait_for_log(qr/ai worker: LOG:  ai: circuit breaker opened for provider \Q$endpoint\E/, $position);
my $asked = $mock->stats->{requests};
$mock->wait_for(requests => $asked + 3) or die;
$mock->rules;
$engine->is_settled('v', 'it answers in the end');
my @lines = our_lines();
is(scalar(grep { /LOG:  ai: circuit breaker opened for provider \Q$endpoint\E after \d+ consecutive failures, first probe in 0\.3 s/ } @lines), 1, 'that it fails is said once');
is(scalar(grep { /LOG:  ai: circuit breaker closed for provider \Q$endpoint\E/ } @lines), 1, 'that it answers, too');
is(scalar(grep { /LOG: / } @lines), 2, 'and no more') or diag(join "\n", @lines);

# -- a vectorizer that cannot go on

forget_log();
$mock->rules({ error => 'model_not_found' });
sql(q{INSERT INTO v VALUES (6000, 'no such model')});
$node->wait_for_log(qr/ai worker: LOG:  ai: vectorizer "v"/, $position);
beats(5);
@lines = our_lines();
cmp_ok(scalar(grep { /LOG: / } @lines), '<=', 2, 'says so once, or once for each worker') or diag(join "\n", @lines);
like($lines[0], qr/vectorizer "v" backs off after an error in embedding: /, 'with its name and the step');
is(sql(q{SELECT count(*) > 0 FROM ai.vectorizer_errors WHERE name = 'v' AND message ~ 'model'}), 't', 'what was said is found by its name');
ok($engine->poll(q{SELECT last_error ~ 'model' AND state = 'retrying' FROM ai.vectorizer_status WHERE name = 'v'}), 'and is its last error');
$mock->rules;
$engine->is_settled('v', 'it goes on');

# -- the coordinator cannot do something, time and again: a worker that ends has it keep house

my $in_the_way = $node->background_psql('postgres', on_error_stop => 1);
$in_the_way->query_safe('BEGIN; LOCK TABLE ai._worker_pause IN EXCLUSIVE MODE');
my $kept_house = q{SELECT coalesce(sum(calls), 0) FROM pg_stat_statements WHERE query LIKE '%ai._embedding_jobs_prune(%'};
forget_log();
foreach (1 .. 3)
{
	my $before = sql($kept_house);
	sql(q{SELECT pg_terminate_backend(pid) FROM ai.worker WHERE component = 'worker:vectorizer:0'});
	$engine->poll("SELECT ($kept_house) > $before") or die;
	$engine->poll(q{SELECT count(*) = 1 FROM ai.worker WHERE component = 'worker:vectorizer:0' AND status = 'healthy'}) or die;
}
is(scalar(grep { /LOG:  ai: could not prune pauses and samples: canceling statement due to lock timeout/ } our_lines()), 1,
	'what fails again and again is said once') or diag(join "\n", our_lines());
$in_the_way->query_safe('COMMIT');
$in_the_way->quit;

# -- log_min_messages holds for us, too

$engine->set('log_min_messages' => 'fatal');
forget_log();
$mock->rules({ status => 503 });
sql(q{INSERT INTO v VALUES (7000, 'nobody answers')});
ok($engine->poll(qq{SELECT failure_streak > 0 AND breaker <> 'closed' FROM ai.provider WHERE endpoint = '$endpoint'}), 'it fails again');
$mock->rules;
$engine->is_settled('v', 'and answers again');
is_deeply([ our_lines() ], [], 'nobody wanted to know');

$node->stop;
done_testing();
