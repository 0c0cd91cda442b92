# Governance of providers: limits that are given and limits that are found out, breaker and probe, pauses,
# for all workers of all databases together. AI_CHAOS=1 makes the first part long.
use strict;
use warnings FATAL => 'all';
use EngineTest;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(time);

my $key = 'sk-not-to-be-seen';
my $engine = EngineTest->new('main', conf => "ai.openai_api_key = '$key'");
my ($node, $mock) = ($engine->node, $engine->mock);
my $endpoint = $mock->url . '/v1';
my $ollama = q{ai.embedding_ollama('mock-8', 8, base_url => '} . $mock->url . q{')};

sub sql { return $engine->sql(@_); }
sub fill
{
	my ($table, $rows, $database) = @_;
	return sql("INSERT INTO $table SELECT n, '$table ' || n FROM generate_series((SELECT count(*) + 1 FROM $table),
		(SELECT count(*) + $rows FROM $table)) n", $database);
}
sub one_each { return (processing => 'ai.processing_default(batch_size => 1)'); }
sub is_state
{
	my ($state, $test) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	return ok($engine->poll("SELECT state = '$state' FROM ai.provider_status WHERE endpoint = '$endpoint'"), $test);
}
# The next probe is some seconds away, so nothing that is tested now can be one. Those before it have failed.
sub no_probe_soon { return $engine->poll("SELECT next_probe > now() + interval '6 seconds' FROM ai.provider_status WHERE endpoint = '$endpoint'"); }
sub seconds_for { my ($code) = @_; my $start = time; $code->(); return time - $start; }

# Nothing is sent for a second.
sub nothing_sent
{
	my ($test) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	my $requests = $mock->stats->{requests};
	return ok(!$mock->wait_for(requests => $requests + 1, timeout => 1), $test);
}

# -- a limit that is found out

# With sanitizers a worker is so slow that the limit has to be low, to be one.
my ($rows, $per_minute, $burst) = EngineTest::long() ? (10_000, 600, 10) : $ENV{SANITIZE} ? (1_000, 600, 10) : (2_500, 3_000, 20);
$engine->table('busy', processing => 'ai.processing_default(batch_size => 10)');
sql(q{CREATE TABLE charged (attempts int);
	CREATE FUNCTION note_charge() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN INSERT INTO public.charged VALUES (NEW.attempts); RETURN NULL; END'});
sql('CREATE TRIGGER charged AFTER INSERT OR UPDATE ON ai._vectorizer_q_work_' . $engine->id('busy')
	  . ' FOR EACH ROW WHEN (NEW.attempts > 0) EXECUTE FUNCTION note_charge()');
$mock->settings(rate_limit => { requests_per_minute => $per_minute, burst => $burst });
my $taken = seconds_for(sub { fill('busy', $rows); $engine->drained('busy') or die; });
my $least = ($rows / 10 - $burst) / ($per_minute / 60);
my $stats = $mock->stats;
note(sprintf '%d rows in %.1f s, %.3f times the least; %d refusals', $rows, $taken, $taken / $least, $stats->{by_status}{429} // 0);
# On a busy machine the workers may be late; who went on after each pause with a burst would take three times as long.
cmp_ok($taken / $least, '<', ($ENV{SANITIZE} ? 2 : 1) * (EngineTest::long() ? 1.1 : 2.5), 'a provider with a limit is asked as fast as it allows');
is(sql('SELECT count(*) FROM charged'), '0', 'no attempt is charged');
cmp_ok($stats->{by_status}{429}, '>', 0, 'it has refused something');
cmp_ok($stats->{by_status}{429}, '<', 100, 'but not much');
cmp_ok($stats->{by_status}{200}, '<=', $rows / 10 + 5, 'requests are full');
$engine->is_settled('busy', 'all is written');

# -- what is seen of it

ok($engine->poll('SELECT last_success_at > last_failure_at FROM ai.provider_status'), 'it answers');
is(sql('SELECT endpoint, api_key_name, state, reason, enabled, failure_streak, paused_until, last_success_at > last_failure_at FROM ai.provider_status'),
	"$endpoint|OPENAI_API_KEY|ok|requests go through|t|0||t", 'an endpoint has a row from its first use');
like(sql('SELECT last_error FROM ai.provider'), qr{\AHTTP status 429 from \Q$endpoint\E/embeddings}, 'with its last error');
unlike(sql('SELECT p::text FROM ai.provider p; SELECT c::text FROM ai._provider_counters() c'), qr/\Q$key\E/, 'the key is nowhere');
is( sql('SELECT succeeded, deferred, transient + suspect + configuration + invalid_reply, input_tokens > 0, latency_sum > 0,
		(SELECT sum(c) FROM unnest(latency_counts) c) = succeeded + deferred, cardinality(latency_counts) - cardinality(latency_bounds)
	FROM ai._provider_counters()'),
	"$stats->{by_status}{200}|$stats->{by_status}{429}|0|t|t|t|1", 'requests are counted by their outcome');
is( sql('SELECT (SELECT sum(c) FROM unnest(counts) c), sum > 0, cardinality(counts) - cardinality(bounds) FROM ai._lag_histogram()'),
	"$rows|t|1", 'and rows by how long they took');

# -- a limit that is given: the provider never refuses

$engine->table('single', one_each());
sql("SELECT ai.set_provider_limits('$endpoint', requests_per_minute => " . $per_minute / 2 . ')');
$mock->reset;
$mock->settings(rate_limit => { requests_per_minute => $per_minute, burst => $burst });
my $count = $per_minute / 60;
$taken = seconds_for(sub { fill('single', $count); $engine->drained('single'); });
# Half a second's worth may go at once.
cmp_ok($taken, '>', ($count - $per_minute / 2 / 60 / 2 - 1) / ($per_minute / 2 / 60), "a limit is kept: $taken s");
is($mock->stats->{by_status}{429}, undef, 'nothing is refused');
like(sql('SELECT reason FROM ai.provider_status'), qr/, at most \d+ requests in a minute\z/, 'the limit is in the status');

# By UPDATE, at once: with the old limit this would take twenty minutes.
$mock->reset;
sql('UPDATE ai.provider SET requests_per_minute = 1');
fill('single', 20);
$mock->wait_for(requests => 1) or die;
nothing_sent('one request a minute');
is(sql(q{SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'ai worker' AND state = 'idle' AND (backend_xmin IS NOT NULL OR backend_xid IS NOT NULL)}),
	'0', 'no transaction is open meanwhile');
cmp_ok(sql(q{SELECT count(*) FILTER (WHERE status = 'running') FROM ai.jobs('single')}), '<=', 2, 'rows are not taken long before they can be sent');
sql('UPDATE ai.provider SET requests_per_minute = NULL');
$engine->is_settled('single', 'without the limit');
$mock->reset;
sql(q{SELECT ai.set_provider_limits('openai', tokens_per_minute => 1)});
fill('single', 5);
$mock->wait_for(requests => 1) or die;
nothing_sent('one token a minute');
sql(q{SELECT ai.set_provider_limits('openai')});
$engine->is_settled('single', 'without that limit, too');

# -- breaker: opens, lets one request through in the whole server, closes

$engine->table('broken', processing => 'ai.processing_default(batch_size => 10)');
$engine->set('ai.breaker_pause' => '1h');
$mock->rules({ path => '/v1/*', status => 500 });
fill('broken', 100);
is_state('open', 'a provider that fails is left alone');
like(sql('SELECT reason FROM ai.provider_status'), qr/\A\d+ failures in a row; one request is tried at /, 'for a reason');
cmp_ok(sql('SELECT failure_streak FROM ai.provider'), '>=', 5, 'five failures in a row');
ok($engine->poll(q{SELECT count(*) = 0 FROM ai.jobs('broken') WHERE status = 'running'}), 'its rows are released');
is(sql(q{SELECT max(attempts) FROM ai.jobs('broken')}), '0', 'uncharged');
ok(no_probe_soon(), 'a probe that fails makes the time to the next one longer');
is(sql('SELECT next_probe = paused_until FROM ai.provider_status'), 't', 'which is seen');
nothing_sent('nobody asks');
my $told = q{SELECT count(*), min(message), min(details ->> 'class'), min(details ->> 'step'), min(details ->> 'hint')
	FROM ai.vectorizer_errors WHERE NOT details ? 'key' AND name =};
my $told_once = qr{\A1\|circuit breaker is open for provider \Q$endpoint\E: HTTP status 500 [^|]+\|transient\|embedding\|See ai\.provider_status. Use ai\.resume_provider };
like(sql("$told 'broken'"), $told_once, 'the vectorizer has an error for it, however many workers and probes there are');
fill('single', 10);
ok($engine->poll(q{SELECT count(*) = 1 FROM ai.vectorizer_errors WHERE name = 'single' AND message ~ 'circuit breaker'}),
	'so has another one that has to wait');
$engine->table('elsewhere', embedding => $ollama);
fill('elsewhere', 100);
$engine->is_settled('elsewhere', 'another provider is asked meanwhile');

no_probe_soon() or die;
$mock->rules({ path => '/v1/*', hang => 'before', status => 503 });
my $before = $mock->stats;
$engine->set('ai.breaker_pause' => '500ms');
$mock->wait_for(hanging => 1) or die;
ok(!$mock->wait_for(hanging => 2, timeout => 1), 'one request is tried, by one of two workers');
is($mock->stats->{items} - $before->{items}, 1, 'with one text');
is_state('half-open', 'the breaker is half-open');
$before = $mock->stats;
$mock->release;
$mock->wait_for(requests => $before->{requests} + 1) or die;
$mock->wait_for(hanging => 1) or die;
ok(!$mock->wait_for(hanging => 2, timeout => 1), 'it fails, and after a pause there is one more');
sql("SELECT pg_terminate_backend($_, 5000)") foreach $engine->workers;
$mock->wait_for(requests => $before->{requests} + 2) or die;
$mock->wait_for(hanging => 1) or die;
pass('a worker that ends with the probe leaves it to others');
$mock->rules;
$mock->release;
$engine->is_settled('broken', 'the provider is back');
$engine->is_settled('single', 'for all');
is_state('ok', 'the breaker is closed');
is(sql('SELECT count(next_probe) FROM ai.provider_status'), '0', 'there is no next probe');
like(sql("$told '$_'"), $told_once, "$_: an opening is one error") foreach qw(broken single);

# -- a provider that fails for a moment under load: whatever the pause, it is soon asked again

$engine->set('ai.breaker_pause' => '5min');
$mock->rules({ path => '/v1/*', status => 500 });
fill('single', 300);
is_state('open', 'a provider fails under load');
$mock->rules;
$taken = seconds_for(sub { $engine->is_settled('single', 'and is well again'); });
cmp_ok($taken, '<', 60, "all is done soon: $taken s");
is_state('ok', 'the breaker is closed again');
is(sql(q{SELECT count(*) FROM ai.vectorizer_errors WHERE name = 'single' AND message ~ 'circuit breaker'}), '2', 'another opening is another error');

# -- one that hangs takes no slot from others

$mock->rules({ path => '/v1/*', hang => 'before' });
fill('single', 100);
$mock->wait_for(hanging => 32) or die;
fill('elsewhere', 300);
$engine->is_settled('elsewhere', 'a provider that hangs in all slots does not hold up another');
is($mock->stats->{hanging}, 32, 'it hangs all the while');
$mock->rules;
$mock->release;
$engine->is_settled('single', 'it is back');

# Somebody who has locked the row neither.
my $user = $node->background_psql('postgres');
$user->query_safe('BEGIN; UPDATE ai.provider SET enabled = enabled');
fill('single', 20);
$engine->is_settled('single', 'a row that somebody has locked is written later');
$user->query_safe('COMMIT');
$user->quit;

# -- a refused model is not the provider's fault

$engine->table('unknown', embedding => q{ai.embedding_openai('no-such-model', 8)});
fill('unknown', 10);
ok($engine->poll(q{SELECT count(*) > 0 FROM ai.vectorizer_errors WHERE name = 'unknown' AND details ->> 'class' = 'configuration'}),
	'an unknown model is an error');
fill('busy', 100);
$engine->is_settled('busy', 'others at the same endpoint go on');
is_state('ok', 'its breaker stays closed');
sql(q{SELECT ai.drop_vectorizer('unknown', drop_all => true)});

# -- pause and resume

$mock->reset;
$mock->rules({ path => '/v1/*', latency_ms => 20 });
fill('single', 1_000);
$mock->wait_for(requests => 20) or die;
sql("SELECT ai.pause_provider('$endpoint')");
ok($engine->poll(q{SELECT count(*) = 0 FROM ai.jobs('single') WHERE status = 'running'}), 'a pause under load: rows are released');
my $pending = sql(q{SELECT ai.vectorizer_queue_pending('single', true)});
cmp_ok($pending, '>', 0, "$pending are left");
is_state('paused', 'the status says so');
nothing_sent('nothing is sent');
fill('elsewhere', 100);
$engine->is_settled('elsewhere', 'another provider is asked');
$node->restart;
$engine->poll(q{SELECT count(*) = 2 FROM pg_stat_activity WHERE backend_type = 'ai worker'});
nothing_sent('a pause survives a restart');
is(sql(q{SELECT ai.vectorizer_queue_pending('single', true)}), $pending, 'nothing was lost');
sql(q{SELECT ai.resume_provider('openai')});
$engine->is_settled('single', 'resumed');

$taken = seconds_for(sub {
	sql("SELECT ai.pause_provider('$endpoint', until => now() + interval '2 seconds')");
	fill('single', 10);
	$engine->is_settled('single', 'paused until a time, which comes by itself');
});
cmp_ok($taken, '>=', 2, 'and not before');
sql("SELECT ai.disable_provider('$endpoint')");
fill('single', 10);
nothing_sent('disabled');
sql("SELECT ai.enable_provider('$endpoint')");
$engine->is_settled('single', 'enabled');

# -- a breaker that is open when the server stops, and a hand that closes it

$engine->set('ai.breaker_pause' => '1h');
$mock->rules({ path => '/v1/*', error => 'invalid_key' });
fill('broken', 20);
is_state('open', 'a refused key');
my $probe = "SELECT next_probe FROM ai.provider_status WHERE endpoint = '$endpoint'";
my $next = sql($probe);
is(sql("SELECT '$next' > now() + interval '50 minutes'"), 't', 'is not tried again before the pause is over');
$mock->rules;
$node->restart;
$engine->poll(q{SELECT count(*) = 2 FROM pg_stat_activity WHERE backend_type = 'ai worker'});
nothing_sent('an open breaker survives a restart');
is(sql("SELECT abs(extract(epoch FROM ($probe) - '$next')) < 1"), 't', 'with the time of its next probe');
like(sql("$told 'broken' AND details ->> 'class' = 'configuration'"), qr/\A1\|(circuit breaker of provider \S+ is open: )?HTTP status 401/,
	'and its error is told once, by the worker that met it or by one that met the open breaker');
sql("SELECT ai.resume_provider('$endpoint')");
$engine->is_settled('broken', 'somebody says that all is well');

# A new key has a breaker of its own.
$mock->rules({ path => '/v1/*', error => 'invalid_key' });
fill('broken', 20);
is_state('open', 'a refused key again');
$mock->rules;
$engine->set('ai.openai_api_key' => "$key-new");
$engine->is_settled('broken', 'another key is tried at once');
is_state('ok', 'and does well');
$engine->set('ai.openai_api_key' => $key);
sql("SELECT ai.resume_provider('$endpoint')");
$engine->set('ai.breaker_pause' => '500ms');

# A pause that the provider asks for: it is seen, and nobody is held up by it.
$mock->rules({ path => '/v1/*', status => 429, retry_after => 3600 });
fill('broken', 20);
is_state('cooling', 'a long pause is asked for');
fill('elsewhere', 100);
$engine->is_settled('elsewhere', 'another provider is asked');
is(sql(q{SELECT max(attempts) FROM ai.jobs('broken')}), '0', 'no attempt is charged');
$mock->rules;
sql("SELECT ai.resume_provider('$endpoint')");
$engine->is_settled('broken', 'somebody knows better');

# -- two databases with the same key share a limit, the stricter one

sql('CREATE DATABASE second');
sql(q{CREATE EXTENSION ai CASCADE; CREATE TABLE other (id int PRIMARY KEY, body text);
	SELECT ai.create_vectorizer('other', loading => ai.loading_column('body'), name => 'other',
		embedding => ai.embedding_openai('mock-8', 8), processing => ai.processing_default(batch_size => 1));
	SELECT ai.set_provider_limits('openai', requests_per_minute => 100000)}, 'second');
sql("SELECT ai.set_provider_limits('$endpoint', requests_per_minute => 1200)");
$mock->reset;
fill('other', 1, 'second');
$mock->wait_for(requests => 1) or die;
$taken = seconds_for(sub {
	fill('single', 40);
	fill('other', 40, 'second');
	$mock->wait_for(requests => 81) or die;
});
cmp_ok($taken, '>', (80 - 12) / 20, "two databases share a limit: $taken s");
is( sql('SELECT fingerprint FROM ai.provider WHERE fingerprint IS NOT NULL', 'second'),
	sql("SELECT fingerprint FROM ai.provider WHERE endpoint = '$endpoint'"), 'as their fingerprints say');
is($mock->stats->{by_status}{200}, 81, 'each is embedded');
sql('DROP DATABASE second');

# -- limits survive a restart and a dump

$node->restart;
$taken = seconds_for(sub { fill('single', 30); $engine->drained('single'); });
cmp_ok($taken, '>', (30 - 12) / 20, "a limit survives a restart: $taken s");
my $dump = PostgreSQL::Test::Utils::tempdir() . '/dump.sql';
sql("SELECT ai.pause_provider('$endpoint', until => '2100-01-01')");
$node->command_ok([ 'pg_dump', '--file', $dump, $node->connstr('postgres') ], 'pg_dump');
sql('CREATE DATABASE restored');
$node->command_ok([ 'psql', '--no-psqlrc', '--quiet', '--set=ON_ERROR_STOP=1', '--file', $dump, $node->connstr('restored') ], 'and its restore');
is(sql('SELECT endpoint, requests_per_minute, paused_until, state FROM ai.provider_status', 'restored'),
	sql("SELECT endpoint, requests_per_minute, paused_until, state FROM ai.provider_status WHERE endpoint = '$endpoint'"),
	'limits and pauses are in it');

my $log = slurp_file($node->logfile);
my $breaker = 'LOG:  ai: circuit breaker';
my $provider = "for provider \Q$endpoint\E";
like($log, qr{$breaker opened $provider after \d+ consecutive failures, first probe in 5 s\n.*DETAIL:  Last failure: HTTP status 500}, 'an open breaker is in the log');
like($log, qr{$breaker opened $provider after 1 failure, first probe in 3600 s\n.*DETAIL:  Last failure: HTTP status 401}, 'one that only a hand can close, too');
like($log, qr{$breaker closed $provider}, 'and a closed one');
unlike($log, qr/terminated by signal|TRAP|could not (read|update) ai\.provider/, 'the log has nothing that is not expected');
$node->stop;
done_testing();
