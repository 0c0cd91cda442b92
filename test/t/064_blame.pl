# One role cannot hold up another by texts that a provider cannot bear: what follows its rows is charged to
# these rows. And an outage is charged to nobody.
use strict;
use warnings FATAL => 'all';
use EngineTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $engine = EngineTest->new('main', conf => "ai.breaker_pause = '1h'");
my ($node, $mock) = ($engine->node, $engine->mock);
my $endpoint = $mock->url . '/v1';
sub sql { return $engine->sql(@_); }
sub is_closed
{
	my ($test) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	return ok($engine->poll("SELECT state IN ('ok', 'failing') FROM ai.provider_status WHERE endpoint = '$endpoint'"), $test);
}

# Writes one row of alice after another, each of which has to be prompt, until as many rows of a table are given up.
sub others_go_on_until_failed
{
	my ($table, $rows) = @_;
	my $deadline = time + $PostgreSQL::Test::Utils::timeout_default;
	while (sql("SELECT failed FROM ai.job_counts WHERE name = '$table'") < $rows && time < $deadline)
	{
		$engine->is_prompt('letters', "others go on while rows of $table are found out") or die;
	}
	return;
}

sql("CREATE ROLE $_ LOGIN; GRANT CREATE ON SCHEMA public TO $_; SELECT ai.grant_secret('OPENAI_API_KEY', '$_')") foreach qw(alice mallory);
$engine->table_of('alice', 'letters');
$engine->is_prompt('letters', 'a row');

# -- texts that the provider cannot bear, while nobody else is there

$mock->rules({ text => 'poison', status => 500 });
$engine->table_of('mallory', 'traps', processing => 'ai.processing_default(batch_size => 5, max_attempts => 2)');
sql(q{INSERT INTO traps SELECT n, 'poison ' || n FROM generate_series(1, 20) n});
ok($engine->poll("SELECT state = 'open' FROM ai.provider_status WHERE endpoint = '$endpoint'"), 'they look like an outage');
is(sql(q{SELECT max(attempts) FROM ai.jobs('traps')}), '0', 'that is charged to nobody');
$engine->is_prompt('letters', 'but another role is not shut out') or die;
is_closed('and the breaker closes');

# -- while others go on, it stays closed

others_go_on_until_failed(traps => 20);
is(sql(q{SELECT pending + running + retryable, failed FROM ai.job_counts WHERE name = 'traps'}), '0|20', 'the rows to blame are given up');
like(sql(q{SELECT DISTINCT last_error FROM ai.jobs('traps') WHERE status = 'failed'}), qr/\AHTTP status 500 from [^\n]*\z/, 'with the error');
is(sql(q{SELECT max(attempts) FROM ai.jobs('letters')}), '', 'and nothing is held against others');

# -- good rows among bad ones

$engine->table_of('mallory', 'mixed', processing => 'ai.processing_default(batch_size => 50, max_attempts => 2)');
sql(q{INSERT INTO mixed SELECT n, CASE WHEN n % 20 = 7 THEN 'poison ' ELSE 'harmless ' END || n FROM generate_series(1, 100) n});
ok($engine->poll(q{SELECT count(*) = 95 FROM mixed_embedding_store}), 'good rows are stored');
others_go_on_until_failed(mixed => 5);
is(sql(q{SELECT string_agg(key ->> 'id', ',' ORDER BY (key ->> 'id')::int) FROM ai.jobs('mixed') WHERE status = 'failed'}), '7,27,47,67,87',
	'bad ones are given up');
is_closed('the provider is asked as ever');

# -- an outage is one, with a single row too

$mock->rules({ status => 500 });
$engine->table_of('alice', 'lonely', processing => 'ai.processing_default(max_attempts => 1)');
sql(q{INSERT INTO lonely VALUES (1, 'alone')});
ok($engine->poll("SELECT state = 'open' FROM ai.provider_status WHERE endpoint = '$endpoint'"), 'a single row opens the breaker of a provider that is down');
is(sql(q{SELECT attempts, status <> 'failed' FROM ai.jobs('lonely')}), '0|t', 'and is charged nothing');
ok($engine->poll("SELECT next_probe > now() + interval '6 seconds' FROM ai.provider_status WHERE endpoint = '$endpoint'"), 'its probe fails');
$engine->table_of('mallory', 'also', processing => 'ai.processing_default(max_attempts => 1)');
my $before = $mock->stats->{requests};
sql(q{INSERT INTO also SELECT n, 'also ' || n FROM generate_series(1, 100) n});
$mock->wait_for(requests => $before + 1) or die;
ok(!$mock->wait_for(requests => $before + 2, timeout => 1), 'another role tries once, with one request');
is(sql(q{SELECT count(*), max(attempts) FROM ai.jobs('also')}), '100|0', 'which costs it nothing');
$mock->rules;
sql("SELECT ai.resume_provider('$endpoint')");
$engine->is_settled($_, "$_: the provider is back") foreach qw(lonely also);

unlike(slurp_file($node->logfile), qr/terminated by signal|TRAP|PANIC/, 'the log has nothing that is not expected');
$node->stop;
done_testing();
