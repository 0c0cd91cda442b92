# Secrets: who may use them, where they may go, and that they show up nowhere.
use strict;
use warnings FATAL => 'all';
use EngineTest;
use MockProvider;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $canary = 'sk-canary-' . 'x1Y2z3' x 4;
my $mock = MockProvider->start;
my $url = $mock->url;
$ENV{FROM_ENVIRONMENT} = "$canary-environment";
my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
$node->append_conf('postgresql.conf', qq{
shared_preload_libraries = 'ai, auto_explain'
auto_explain.log_min_duration = 0
auto_explain.log_nested_statements = on
restart_after_crash = on
ai.workers = 0
ai.openai_base_url = '$url/v1'
ai.cohere_api_key = '$canary-setting'
log_statement = all
log_min_duration_statement = 0
log_parameter_max_length = -1
log_parameter_max_length_on_error = -1
track_activity_query_size = 4096
});
$node->start;
$node->safe_psql('postgres', 'CREATE EXTENSION ai CASCADE; CREATE ROLE app LOGIN; CREATE ROLE team; GRANT USAGE ON SCHEMA ai TO app, team');

sub sql { return $node->safe_psql('postgres', shift) }

sub error_of
{
	my ($statement) = @_;
	my ($code, $out, $err) = $node->psql('postgres', $statement);
	isnt($code, 0, 'fails: ' . ($statement =~ s/\Q$canary\E/.../gr));
	unlike($err, qr/\Q$canary\E/, 'and does not tell the secret');
	return $err;
}

# -- the order of the lookup: store, setting, environment

is(sql(q{SELECT ai.reveal_secret('FROM_ENVIRONMENT')}), "$canary-environment", 'the environment');
is(sql(q{SELECT ai.reveal_secret('COHERE_API_KEY')}), "$canary-setting", 'before it the setting');
is(sql(q{SELECT ai.reveal_secret('NOWHERE') IS NULL}), 't', 'null if it is nowhere');
is(sql(qq{SELECT ai.set_secret('COHERE_API_KEY', '$canary-store'); SELECT ai.reveal_secret('COHERE_API_KEY')}) =~ s/^\n//r,
	"$canary-store", 'before both the store');
sql(q{SELECT ai.drop_secret('COHERE_API_KEY')});
is(sql(q{SELECT ai.reveal_secret('COHERE_API_KEY')}), "$canary-setting", 'until it is dropped');
is(sql(q{SELECT ai.reveal_secret('OPENAI_BASE_URL') IS NULL}), 't', 'other settings are no secrets');

# -- bad input

like(error_of(q{SELECT ai.drop_secret('NOWHERE')}), qr/secret "NOWHERE" is not in the store/, 'dropping an unknown one');
like(error_of(qq{SELECT ai.set_secret('a name', '$canary')}), qr/invalid name of a secret/, 'a wrong name');
like(error_of(qq{SELECT ai.set_secret('$canary$canary$canary$canary$canary', 'K')}), qr/invalid name of a secret/, 'name and value confused');
like(error_of(q{SELECT ai.set_secret('K', '')}), qr/invalid value of secret "K"/, 'an empty value');
like(error_of(qq{SELECT ai.set_secret('K', E'$canary\\n')}), qr/invalid value of secret "K"/, 'a line break');
like(error_of(qq{SELECT ai.set_secret('K', '$canary', ARRAY['not a host'])}), qr/not a host/, 'a wrong host');
like(error_of(q{SELECT ai.grant_secret('K', 'nobody_here')}), qr/role "nobody_here" does not exist/, 'an unknown role');

# -- who may

sql(qq{SELECT ai.set_secret('OPENAI_API_KEY', '$canary')});
my $as_app = 'SET ROLE app;';
like(error_of("$as_app SELECT ai.reveal_secret('OPENAI_API_KEY')"),
	qr/role "app" is not permitted to use secret "OPENAI_API_KEY"\nHINT:  A superuser can permit it: SELECT ai\.grant_secret/, 'others may not see');
like(error_of("$as_app SELECT ai.openai_embed('mock-8', 'a')"), qr/role "app" is not permitted/, 'nor use');
like(error_of("$as_app SELECT value FROM ai._secret"), qr/permission denied for table _secret/, 'nor read the table');
like(error_of("$as_app SELECT ai._resolve_secret(10, 'OPENAI_API_KEY')"), qr/permission denied for function _resolve_secret/, 'nor go around');
like(error_of("$as_app SELECT ai._reveal_secret(10, 'OPENAI_API_KEY', true)"), qr/permission denied for function _reveal_secret/, 'nor forge the caller');
like(error_of("$as_app SELECT ai._embed_as(10, ai.embedding_openai('mock-8', 8), ARRAY['a'])"), qr/permission denied for function _embed_as/, 'nor act as another');
like(error_of("$as_app SELECT ai.set_secret('OPENAI_API_KEY', 'mine')"), qr/permission denied to manage secrets/, 'nor set');
like(error_of("$as_app SELECT ai.drop_secret('OPENAI_API_KEY')"), qr/permission denied to manage secrets/, 'nor drop');
like(error_of("$as_app SELECT ai.grant_secret('OPENAI_API_KEY', 'app')"), qr/permission denied to manage secrets/, 'nor grant');
like(error_of("$as_app SHOW ai.cohere_api_key"), qr/must be superuser|permission denied/, 'nor SHOW a key');
like(error_of("$as_app SHOW ai.$_"), qr/must be superuser|permission denied/, "nor $_")
	foreach qw(openai_api_key voyage_api_key openai_base_url ollama_host allowed_hosts ca_file connect_timeout request_timeout max_response_size);
like(error_of("$as_app SET ai.openai_base_url = 'http://localhost'"), qr/permission denied to set parameter/, 'nor set an address');
sql('CREATE ROLE watcher IN ROLE pg_monitor');
is(sql('SET ROLE watcher; SHOW ai.cohere_api_key'), '(hidden)', 'pg_monitor, which sees all settings, does not see a key');
is(sql(q{SET ROLE watcher; SELECT current_setting('ai.cohere_api_key') || current_setting('ai.openai_api_key')}), '(hidden)', 'but whether there is one');
is(sql('SHOW ai.cohere_api_key'), "$canary-setting", 'a superuser sees it');
is(sql(q{SET ROLE watcher; SELECT count(*) FROM pg_settings WHERE name ~ 'api_key' OR concat(setting, boot_val, reset_val) ~ 'canary'}), '0', 'nor is it in pg_settings');
foreach my $place ('ALTER ROLE app', 'ALTER DATABASE postgres', 'ALTER ROLE app IN DATABASE postgres',
	'CREATE FUNCTION f() RETURNS int LANGUAGE sql RETURN 1')
{
	like(error_of("$place SET ai.openai_api_key = '$canary'" =~ s/(LANGUAGE sql )(RETURN 1)(.*)/$1$3 $2/r),
		qr/a key cannot be set for a role, a database or a function\nDETAIL:  Everybody can read such settings\.\nHINT:  Keep it with ai\.set_secret/,
		"$place: where everybody could read it");
}
sql(q{ALTER ROLE app SET ai.openai_api_key = ''});
is(sql("$as_app SELECT count(*) FROM pg_settings WHERE name ~ '^ai' AND (name ~ 'key|url|host' OR setting ~ 'canary')"), '0', 'nor see them in pg_settings');

sql(q{SELECT ai.grant_secret('OPENAI_API_KEY', 'team'); GRANT team TO app});
is(sql("$as_app SELECT ai.reveal_secret('OPENAI_API_KEY')"), $canary, 'a permitted role, by membership');
is(sql("$as_app SELECT vector_dims(ai.openai_embed('mock-8', 'a'))"), '8', 'and it may use it');
is(sql("$as_app SELECT name, role FROM ai.secret_permissions"), 'OPENAI_API_KEY|team', 'which it can look up');
like(error_of("$as_app SELECT ai.reveal_secret('FROM_ENVIRONMENT')"), qr/not permitted/, 'others it may not');
sql(q{SELECT ai.revoke_secret('OPENAI_API_KEY', 'team'); SELECT ai.grant_secret('*', 'app')});
is(sql("$as_app SELECT ai.reveal_secret('FROM_ENVIRONMENT')"), "$canary-environment", 'unless it may use all');
sql(q{SELECT ai.revoke_secret('*', 'app')});
like(error_of("$as_app SELECT ai.openai_embed('mock-8', 'a')"), qr/not permitted/, 'what was given can be taken back');

# -- a role that comes after a dropped one of the same name has no rights of it

sql(q{CREATE ROLE gone; SELECT ai.grant_secret('*', 'gone'); DROP ROLE gone; CREATE ROLE gone; GRANT USAGE ON SCHEMA ai TO gone});
like(error_of("SET ROLE gone; SELECT ai.reveal_secret('OPENAI_API_KEY')"), qr/not permitted/, 'permissions end with the role');

# -- where a key may go

$mock->reset;
my $elsewhere = MockProvider->start;
my $other = $elsewhere->url =~ s/127\.0\.0\.1/localhost/r;
my $there = "client_config => ai.openai_client_config('$other/v1')";
like(error_of("SELECT ai.openai_embed('mock-8', 'a', $there)"),
	qr/secret "OPENAI_API_KEY" must not be sent to .*localhost.*HINT:  Set the secret with this host/s, 'a key does not go to another host');
is($elsewhere->stats->{requests}, 0, 'nothing was sent there');
sql(qq{SELECT ai.set_secret('BOUND', '$canary-bound', ARRAY['localhost'])});
is(sql("SELECT vector_dims(ai.openai_embed('mock-8', 'a', api_key_name => 'BOUND', $there))"), '8', 'unless it was set for that host');
like(error_of("SELECT ai.openai_embed('mock-8', 'a', api_key_name => 'BOUND')"),
	qr/secret "BOUND" must not be sent to/, 'and then to no other, the provider included');
is(sql("SELECT vector_dims(ai.embed(ai.embedding_openai('mock-8', 8, api_key_name => NULL, base_url => '$other/v1'), 'a'))"), '8',
	'a server without keys gets none');
like(error_of("SELECT ai.openai_embed('mock-8', 'a', client_config => ai.openai_client_config('http://api.openai.com/v1'))"),
	qr/secret "OPENAI_API_KEY" must not be sent unencrypted to http:\/\/api\.openai\.com/, 'the address of another server does not let it go unencrypted');
like(error_of("SELECT ai.openai_embed('mock-8', 'a', api_key_name => 'NOWHERE')"),
	qr/secret "NOWHERE" does not exist\nHINT:  Set it with SELECT ai\.set_secret/, 'a missing key');

# -- dumps: left out, unless asked for

sql(qq{SELECT ai.set_secret('IN_DUMP', '$canary-dumped', in_dump => true); SELECT ai.grant_secret('IN_DUMP', 'app')});
my $dump = $node->basedir . '/dump.sql';
$node->command_ok([ 'pg_dump', '-f', $dump, $node->connstr('postgres') ], 'a dump');
my $dumped = slurp_file($dump);
is(join(' ', sort $dumped =~ /\Q$canary\E(\S*)/g), '-dumped', 'has only the secrets that were marked for it');
$node->safe_psql('postgres', 'CREATE DATABASE restored');
$node->command_ok([ 'psql', '-v', 'ON_ERROR_STOP=1', '-q', '-f', $dump, $node->connstr('restored') ], 'a restore');
is($node->safe_psql('restored', q{SET ROLE app; SELECT ai.reveal_secret('IN_DUMP')}), "$canary-dumped", 'brings secret and permission back');

# -- the canary: a run with errors of all kinds, then a search through everything that can be read

$mock->rules({ status => 401, body => "{\"error\":{\"message\":\"Incorrect API key provided: $canary\"}}" });
like(error_of(q{SELECT ai.openai_embed('mock-8', 'a')}), qr/\[key\]/, 'a provider that repeats the key');
error_of(qq{SELECT ai.openai_embed('mock-8', 'a', api_key => '$canary')});
error_of(qq{SELECT ai.set_secret('X', '$canary', ARRAY['x y']) FROM nothing});
$node->psql('postgres', qq{SELEC ai.set_secret('X', '$canary')});
error_of(qq{DO \$\$ BEGIN PERFORM ai.set_secret('X', '$canary', ARRAY['x y']); END \$\$});
$node->psql('postgres', qq{PREPARE p AS SELECT ai.set_secret(\$1, \$2); EXECUTE p('X', '$canary')});
$node->psql('postgres', qq{ALTER SYSTEM SET ai.openai_api_key = '$canary-system'});
$node->reload;
EngineTest::poll_node($node, 'postgres', q{SELECT ai._secret_setting('OPENAI_API_KEY') ~ 'system$'}) or die;
like(slurp_file($node->logfile), qr/parameter "ai\.openai_api_key \(hidden\)/, 'a setting that changes is logged without its value');

# Keys that are given by their position, and as parameters; each as an error and as a success.
my $escaped = $canary =~ s/canary/\\x63anary/r;
my @calls = (
	"ai.openai_embed('mock-8', 'a', '$canary')", "ai.openai_embed ( 'mock-8' , 'it''s, (a', E'$escaped' )",
	"ai.openai_embed('mock-8', \$t\$a', (\$t\$, '$canary', 8)", "ai.openai_embed('mock-8', ARRAY[1, 2], '$canary')",
	"AI.OPENAI_EMBED(E'mock-8', E'a\\', (', '$canary')", "ai.cohere_embed('mock-8', 'a', '$canary', base_url => '$url/v2')",
	"ai.voyageai_embed('mock-8', 'a', 'query', '$canary', base_url => '$url/voyage/v1')",
	"\"ai\".\"openai_embed\"('mock-8', 'a', '$canary')", "ai.\"cohere_embed\" ('mock-8', 'a', '$canary', base_url => '$url/v2')",
	"ai.openai_embed /* a /* b */ (' */ ('mock-8', 'a', '$canary')", "ai.openai_embed('mock-8', -- it's a\n 'a', '$canary')",
	"ai.openai_embed('mock-8', /* don't */ 'a' /* 'b, */, '$canary')",
	"ai.openai_embed('mock-8', 'a', '', NULL, NULL, NULL, '{\"api-key\": \"$canary\"}')",
	"ai.openai_embed('mock-8', 'a', '', client_config => ai.openai_client_config(NULL, 9, NULL, NULL, NULL, '{\"api-key\": \"$canary\"}'))",
	"ai.openai_embed('mock-8', 'a', extra_headers => '{\"api-key\": \"$canary\"}', api_key => '')",
	"ai.openai_embed('mock-8', 'a', '', client_config => ai.openai_client_config(default_headers => '{\"api-key\": \"$canary\"}'))");
foreach my $call (@calls)
{
	$mock->rules({ status => 500 });
	error_of("SELECT $call");
	error_of("PREPARE \"A p\" AS SELECT ai.openai_embed('mock-8', 'a', \$1); EXECUTE \"A p\"('$canary')");
	$mock->reset;
	is(sql("SELECT vector_dims($call)"), '8', 'works: ' . ($call =~ s/\Q$canary\E/.../r));
}
$mock->rules({ status => 500 });
error_of("PREPARE p AS SELECT ai.openai_embed('mock-8', 'a', \$1); $_ EXECUTE p('$canary')")
	foreach '/* again */', 'EXPLAIN', 'CREATE TABLE made AS', 'SELECT 1 \\;';
$mock->reset;
is(sql("SELECT count(*) > 0 FROM ai.openai_list_models('$canary')"), 't', 'a list of models');
my $script = $node->basedir . '/script.sql';
foreach my $statement ("SELECT ai.set_secret('X', :k, ARRAY['x y'])", "SELECT ai.openai_embed('mock-8', '', :k)",
	"SELECT ai.set_secret('X', :k)", "SELECT ai.openai_embed('mock-8', 'a', :k)")
{
	append_to_file($script, "$statement;\n");
	$node->run_log([ 'pgbench', '-n', '-t', 1, '-M', $_, '-D', "k=$canary", '-f', $script, $node->connstr('postgres') ])
		foreach 'extended', 'prepared';
	unlink $script;
}
my $background = $node->background_psql('postgres', on_error_stop => 0);
$background->query(qq{SELECT ai.set_secret('Y', '$canary')});
is(sql(q{SELECT count(*) FROM pg_stat_activity WHERE query ~ 'canary' AND pid <> pg_backend_pid()}), '0', 'pg_stat_activity does not tell');
foreach my $statement ("SELECT ai.openai_embed('mock-8', 'a', '$canary')", "SELECT ai.openai_embed('mock-8', '', api_key => '$canary')",
	"SELECT count(*) FROM ai.openai_list_models('$canary')",
	"SELECT ai.\"openai_embed\"('mock-8', /* it's */ 'a', '$canary')", "PREPARE p AS SELECT ai.openai_embed('mock-8', 'a', \$1)", "EXECUTE p('$canary')",
	"SELECT ai.openai_embed('mock-8', 'a', extra_headers => '{\"x\": \"$canary\"}')")
{
	$background->query($statement);
	is(sql(q{SELECT string_agg(query, ' ') FROM pg_stat_activity WHERE query ~ 'canary' AND pid <> pg_backend_pid()}), '', 'nor after a call with a key');
}
$background->quit;
sql(qq{CREATE TABLE docs (id int PRIMARY KEY, body text);
	SELECT ai.create_vectorizer('docs', loading => ai.loading_column('body'), embedding => ai.embedding_openai('mock-8', 8))});

# What the postmaster says about a process that crashed.
my $victim = $node->background_psql('postgres', on_error_stop => 0);
my $pid = $victim->query('SELECT pg_backend_pid()');
$victim->query("SELECT ai.openai_embed('mock-8', 'a', api_key => '$canary')");
my $position = -s $node->logfile;
kill 'KILL', $pid;
ok($node->wait_for_log(qr/server process \(PID $pid\) was terminated by signal 9/, $position), 'the log tells of a crash');
ok($node->wait_for_log(qr/Failed process was running: SELECT ai\.openai_embed\('mock-8', 'a', api_key \(hidden\)/, $position),
	'and what was done, without the key');
$victim->{run}->finish;
EngineTest::poll_node($node, 'postgres', 'SELECT true') or die;

# Told on purpose: by reveal_secret, whose results are not logged, and by the tests' own statements
# about the canary itself.
my @told = grep { /canary|x1Y2z3/ && !/query ~ 'canary'|setting ~ 'canary'/ } split /\n/, slurp_file($node->logfile);
is(scalar @told, 0, 'the log has no secret') or diag(join "\n", @told);
my @tables = split /\n/, sql(q{SELECT c.oid::regclass FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
	WHERE n.nspname = 'ai' AND c.relkind IN ('r', 'v', 'm') AND c.relname <> '_secret'});
cmp_ok(scalar @tables, '>', 5, 'there are tables to look through');
foreach my $table (@tables)
{
	is(sql("SELECT count(*) FROM $table t WHERE t::text ~ 'canary'"), '0', "$table has no secret");
}

$node->stop;
done_testing();
