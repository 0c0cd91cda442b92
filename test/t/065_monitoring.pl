# What an operator sees while things happen: states, health, progress and metrics, in SQL and through
# Debian's own exporter; and that alerts follow from them.
use strict;
use warnings FATAL => 'all';
use EngineTest;
use File::Copy qw(copy);
use PostgresExporter;
use PostgreSQL::Test::Utils;
use Test::More;

my $engine = EngineTest->new('main', conf => q{
ai.heartbeat_interval = '200ms'
ai.breaker_pause = '1h'
});
my ($node, $mock) = ($engine->node, $engine->mock);
my $endpoint = $mock->url . '/v1';
sub sql { return $engine->sql(@_); }

# A column of ai.vectorizer_status comes to be so.
sub becomes
{
	my ($name, $condition, $test) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	return ok($engine->poll("SELECT $condition FROM ai.vectorizer_status WHERE name = '$name'"), $test)
	  || diag(sql("SELECT s FROM ai.vectorizer_status s"));
}

sql(q{CREATE ROLE watcher LOGIN IN ROLE pg_monitor});
my $exporter = PostgresExporter->start($node, 'watcher', 'postgres');

# -- all is well

ok($engine->poll('SELECT ok FROM ai.health()'), 'all is well as soon as the workers are there')
  or diag(sql('SELECT reasons FROM ai.health()'));
is(sql('SELECT ai.all_workers_healthy(), ai.get_crashed_workers(), ai.get_failed_workers()'), 't|{}|{}', 'with each worker');
$engine->table('v');
becomes('v', q{state = 'idle' AND state_reason = 'every row is embedded'}, 'there is nothing to do');
sql(q{INSERT INTO v SELECT n, 'text ' || n FROM generate_series(1, 50) n});
$engine->is_settled('v', 'rows are embedded');
like(sql(q{SELECT ai.vectorizer_progress('v')}), qr{^\[#{20}\] 100\.0%  50 of 50 rows +\d+\.\d/s  done +idle$}, 'and the bar is full');

# The first sample is where the counter stands, the next one tells the rate.
ok($engine->poll(q{SELECT count(*) > 0 FROM ai._sample WHERE done = 50}), 'samples are taken');
sql(q{INSERT INTO v SELECT n, 'text ' || n FROM generate_series(51, 80) n});
becomes('v', 'rows_per_minute > 0', 'there is a rate');
$engine->is_settled('v', 'more rows are embedded');
my $rows_requests = $mock->stats->{requests};
my $job = sql(q{SELECT ai.create_embedding_job('a job', ai.embedding_openai('mock-8', 8))});
is(sql("SELECT status FROM ai.wait_for_embedding_job('$job', '3 min')"), 'completed', 'and so is a job');

# -- what the exporter shows is what SQL shows

ok($engine->poll(qq{SELECT last_success_at IS NOT NULL FROM ai.provider WHERE endpoint = '$endpoint'}), 'the provider is known');
$engine->counted or die;
my $seen = $exporter->metrics;
my $told = PostgresExporter::parse(sql('SELECT ai.metrics()'));
my $database = 'database="postgres"';
my $provider = qq{api_key_name="OPENAI_API_KEY",$database,endpoint="$endpoint"};
my $requests = $mock->stats->{requests};
my $role = sql('SELECT current_user');
my %expected = (
	"ai_database_healthy{$database}"                                       => 1,
	"ai_database_wanted_workers{$database}"                                => 2,
	"ai_database_lag_seconds_count{$database}"                             => 80,
	qq(ai_workers_in_status{$database,status="healthy"})                   => 2,
	qq(ai_workers_in_status{$database,status="failed"})                    => 0,
	qq(ai_worker_healthy{component="coordinator",$database})               => 1,
	qq(ai_worker_crashes_total{component="worker:vectorizer:1",$database}) => 0,
	qq(ai_vectorizer_pending_rows{$database,vectorizer="v"})               => 0,
	qq(ai_vectorizer_embedded_rows_total{$database,vectorizer="v"})        => 80,
	qq(ai_usage_rows_total{$database,model="mock-8",vectorizer="v"})       => 80,
	qq(ai_usage_requests_total{$database,model="mock-8",vectorizer="v"})   => $rows_requests,
	qq(ai_jobs_pending{$database,priority="normal"})                       => 0,
	qq(ai_job_usage_jobs_total{$database,model="mock-8",role="$role"})     => 1,
	qq(ai_provider_breaker_open{$provider})                                => 0,
	qq(ai_provider_requests_total{$provider,outcome="succeeded"})          => $requests,
	qq(ai_provider_request_seconds_count{$provider})                       => $requests,
	qq(ai_provider_request_seconds_bucket{$provider,le="+Inf"})            => $requests,
);
is_deeply({ map { $_ => $seen->{$_} } keys %expected }, \%expected, 'the exporter shows what happened');
is_deeply({ map { $_ => $told->{$_} } keys %expected }, \%expected, 'and so does ai.metrics()');
is_deeply([ sort keys %$seen ], [ sort keys %$told ], 'they have the same metrics');
my $moves = qr/age_seconds|per_second|oldest/;
is_deeply({ map { $_ => $seen->{$_} + 0 } grep { !/$moves/ } keys %$seen },
	{ map { $_ => $told->{$_} + 0 } grep { !/$moves/ } keys %$told }, 'with the same numbers');
cmp_ok($seen->{"ai_database_lag_seconds_sum{$database}"}, '>', 0, 'changes took their time');
cmp_ok($seen->{"ai_provider_request_seconds_sum{$provider}"}, '>', 0, 'and requests theirs');
my ($ok, $output) = PostgresExporter::promtool(sql('SELECT ai.metrics()') . "\n", 'check', 'metrics');
ok($ok && $output eq '', 'promtool has nothing to say about ai.metrics()') or diag($output);
($ok, $output) = PostgresExporter::promtool($exporter->text =~ s/^.*(?:go_|process_|promhttp_|pg_|postgres_exporter_).*\n//mgr, 'check', 'metrics');
ok($ok && $output eq '', 'nor about the exporter') or diag($output);

# -- the alerts

my $rules = PostgreSQL::Test::Utils::tempdir();
copy("$ENV{AI_SOURCE_TREE}/doc/monitoring/alerts.yaml", $rules) or die $!;
copy("$ENV{TESTDIR}/t/monitoring/alerts_test.yaml", $rules) or die $!;
($ok, $output) = PostgresExporter::promtool('', 'check', 'rules', "$rules/alerts.yaml");
ok($ok, 'the alert rules are valid') or diag($output);
($ok, $output) = PostgresExporter::promtool('', 'test', 'rules', "$rules/alerts_test.yaml");
ok($ok, 'and alert when they should') or diag($output);
my %known = map { /^(\w+?)(?:_bucket|_sum|_count)?\{/ => 1 } keys %$told;
is_deeply([ grep { !$known{$_} } slurp_file("$rules/alerts.yaml") =~ /\b(ai_\w+)/g ], [], 'each metric in them exists');

# -- somebody is dropping a vectorizer: nobody waits for that

$engine->table('w');
my $dropper = $node->background_psql('postgres', on_error_stop => 1);
$dropper->query_safe(q{BEGIN; SELECT ai.drop_vectorizer('v')});
is(sql(q{SET lock_timeout = '10s'; SELECT name, state, pending, pending_items, state_reason FROM ai.vectorizer_status ORDER BY name}),
	"v|locked|||somebody is changing or dropping it\nw|idle|0|0|every row is embedded", 'the others are seen meanwhile');
is(sql(q{SET lock_timeout = '10s'; SELECT ai.vectorizer_progress('v')}), 'v: somebody is changing or dropping it', 'in the progress, too');
is($exporter->metrics->{qq(ai_vectorizer_pending_rows{$database,vectorizer="v"})}, 'NaN', 'and in the metrics');
$dropper->query_safe('ROLLBACK');
$dropper->quit;

# -- a row that fails

$mock->rules({ text => 'poison', status => 400 });
sql(q{INSERT INTO v VALUES (1000, 'poison')});
becomes('v', q{failed = 1 AND state = 'idle' AND last_error ~ '400'}, 'a row is given up');
like(sql(q{SELECT state_reason FROM ai.vectorizer_status WHERE name = 'v'}), qr/^every row is embedded but for 1 row that failed:/, 'which the state says');
is(sql(q{SELECT ok, reasons FROM ai.health()}), q(f|{"vectorizer \"v\": 1 row failed: see ai.vectorizer_errors"}), 'and the health');
like(sql(q{SELECT ai.vectorizer_progress('v')}), qr{ 98\.7%  80 of 81 rows .* idle, 1 failed$}, 'and the progress');
is($exporter->metrics->{"ai_database_healthy{$database}"}, 0, 'and the metrics');
$mock->rules;
sql(q{SELECT ai.retry_failed('v')});
$engine->is_settled('v', 'it is tried again by hand');

# -- a provider that answers nobody

$mock->rules({ status => 503 });
sql(q{INSERT INTO v SELECT n, 'text ' || n FROM generate_series(81, 90) n});
becomes('v', q{state = 'waiting' AND state_reason ~ '^for provider .*: breaker open: .* failures in a row; one request is tried at'},
	'the breaker is open');
is(sql(q{SELECT last_error ~ '503' FROM ai.vectorizer_status WHERE name = 'v'}), 't', 'the last error is that of the provider');
ok($engine->poll(qq{SELECT count(*) = 1 FROM ai.health() h, unnest(h.reasons) r WHERE r ~ '^provider $endpoint: breaker open: .*503'}),
	'the health says so');
my $in_trouble = $exporter->metrics;
is($in_trouble->{qq(ai_provider_breaker_open{$provider})}, 1, 'and the metrics');
cmp_ok($in_trouble->{qq(ai_provider_requests_total{$provider,outcome="transient"})}, '>=', 5, 'with the failures');
cmp_ok($in_trouble->{qq(ai_vectorizer_oldest_pending_seconds{$database,vectorizer="v"})}, '>', 0, 'and how long rows have waited');
$mock->rules;
sql(q{SELECT ai.resume_provider('openai')});
$engine->is_settled('v', 'all is done when it answers');
# Its share of failures is known for some minutes.
sql(q{INSERT INTO v SELECT n, 'text ' || n FROM generate_series(91, 95) n});
ok($engine->poll(qq{SELECT count(*) = 1 FROM ai.health(max_error_rate => 0.01) h, unnest(h.reasons) r
	WHERE r ~ '^provider $endpoint: \\d+ of \\d+ requests failed in the last five minutes'}), 'many requests have failed')
  or diag(sql('SELECT * FROM ai._sample'));
is(sql(q{SELECT ok FROM ai.health(max_error_rate => 1)}), 't', 'which may be allowed');

# -- workers that are paused, or not wanted

sql(q{SELECT ai.pause_workers()});
sql(q{INSERT INTO v VALUES (2000, 'late')});
becomes('v', q{state = 'paused' AND pending = 1 AND state_reason ~ 'paused all workers'}, 'all are paused');
sql(q{SELECT ai.resume_workers()});
$engine->is_settled('v', 'and go on');
$engine->set('ai.workers' => 0);
becomes('v', q{state = 'no workers' AND state_reason = 'ai.workers is 0'}, 'none is wanted');
like(sql('SELECT reasons FROM ai.health()'), qr/no worker takes rows: ai\.workers is 0/, 'which is not healthy');
$engine->set('ai.workers' => 2);
becomes('v', q{state = 'idle'}, 'they are back');
$engine->set('ai.databases' => 'elsewhere');
becomes('v', q{state = 'no workers' AND state_reason = 'no coordinator runs in this database; ai.databases is elsewhere'}, 'nobody is here');
$engine->set('ai.databases' => '');
becomes('v', q{state = 'idle'}, 'they are back again');

# -- without the library

$exporter->stop;
$node->append_conf('postgresql.conf', q{shared_preload_libraries = ''});
$node->restart;
is(sql(q{SET client_min_messages = error; SELECT state, state_reason FROM ai.vectorizer_status WHERE name = 'v'}),
	'no workers|ai is not in shared_preload_libraries', 'the library is not there');
like(sql(q{SET client_min_messages = error; SELECT ai.metrics()}), qr/^ai_database_healthy\{database="postgres"\} 0$/m, 'metrics are, nevertheless');

$node->stop;
done_testing();
