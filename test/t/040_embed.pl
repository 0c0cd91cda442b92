# Embeddings by SQL functions: every provider, every misbehaviour of one, cancelling, TLS, hosts.
use strict;
use warnings FATAL => 'all';
use Digest::SHA qw(sha256_hex);
use MockProvider;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $mock = MockProvider->start(tls => 1);
my ($url, $tls_url) = ($mock->url, $mock->tls_url);
my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
$node->append_conf('postgresql.conf', qq{
shared_preload_libraries = 'ai'
ai.workers = 0
ai.openai_base_url = '$url/v1'
ai.ollama_host = '$url'
ai.openai_api_key = 'key-of-openai'
ai.request_timeout = '20s'
});
$node->start;
$node->safe_psql('postgres', 'CREATE EXTENSION ai CASCADE');

sub sql { return $node->safe_psql('postgres', shift) }

# What a statement fails with; nothing may come out of it.
sub error_of
{
	my ($statement, %options) = @_;
	my ($code, $out, $err) = $node->psql('postgres', $statement, %options);
	isnt($code, 0, "fails: $statement");
	is($out, '', 'without a result');
	return $err;
}

sub vector { return '[' . join(',', map { 0 + sprintf '%.9g', $_ } @{ MockProvider::vector(@_) }) . ']' }

# Whether a vector that SQL has made is the mock's vector of a text.
sub is_vector
{
	my ($statement, $text, $dimensions, $name) = @_;
	is(sql("SELECT (($statement) <-> '" . vector($text, $dimensions) . "') < 1e-6"), 't', $name);
	return;
}

# What the mock was last asked at a path, and a header of it.
sub last_request { return $mock->stats->{by_path}{ shift() }{last} }

sub header_of
{
	my ($path, $name) = @_;
	return (map { $_->[1] } grep { lc $_->[0] eq lc $name } @{ last_request($path)->{headers} })[0];
}

# -- each provider, with a text and with several

my %embed = (
	openai   => ['openai_embed',   ''],
	ollama   => ['ollama_embed',   ''],
	voyageai => ['voyageai_embed', ", api_key => 'k', base_url => '$url/voyage/v1'"],
	cohere   => ['cohere_embed',   ", api_key => 'k', base_url => '$url/v2'"]);
foreach my $provider (sort keys %embed)
{
	my ($function, $arguments) = @{ $embed{$provider} };
	is_vector("SELECT ai.$function('mock-8', 'a text'$arguments)", 'a text', 8, "$provider: a text");
	is( sql(qq{
			SELECT string_agg("index" || ':' || coalesce(vector_dims(embedding)::text, 'null'), ' ' ORDER BY "index")
			FROM ai.$function('mock-8', ARRAY['one', NULL, 'three']$arguments)}),
		'0:8 1:null 2:8', "$provider: several texts, null for null");
	is_vector(qq{SELECT embedding FROM ai.$function('mock-8', ARRAY['one', NULL, 'three']$arguments) WHERE "index" = 2},
		'three', 8, "$provider: in their order");
	is(sql("SELECT ai.$function('mock-8', NULL::text$arguments) IS NULL"), 't', "$provider: null is null");
	is(sql("SELECT count(*) FROM ai.$function('mock-8', NULL::text[]$arguments)"), '0', "$provider: no array, no rows");
	is(sql("SELECT count(*) FROM ai.$function('mock-8', '{}'::text[]$arguments)"), '0', "$provider: no texts, no rows");
	like(error_of("SELECT ai.$function('mock-8', ''$arguments)"),
		qr/cannot embed an empty text\nHINT:  Omit it, or use NULL/, "$provider: an empty text is refused");
	like(error_of("SELECT ai.$function(NULL, 'a'$arguments)"), qr/the name of the embedding model is empty/, "$provider: so is no model");
}
is_vector(q{SELECT ai.openai_embed('text-embedding-3-small', 'a text', NULL, 256)}, 'a text', 256, 'dimensions are asked for');
is_vector(q{SELECT ai.openai_embed('mock-8', ARRAY[1, 2, 3])}, '[1,2,3]', 8, 'tokens instead of a text');
like(error_of(q{SELECT ai.openai_embed('mock-8', ARRAY[[1, 2], [3, 4]])}), qr/input_tokens must have one dimension, not 2/,
	'the tokens of two texts are not taken for one');
like(error_of(q{SELECT ai.openai_embed('mock-8', 'a', NULL, 0)}), qr/dimensions of an embedding must be from 1 to 16000, not 0/, 'no dimensions');
like(error_of(q{SELECT ai.openai_embed('mock-8', 'a', client_config => ai.openai_client_config(timeout_seconds => 0))}),
	qr/timeout_seconds must be greater than 0\nHINT:  Omit it/, 'no time at all');
like(error_of(q{SELECT ai.openai_embed('mock-8', '{}'::int[])}), qr/cannot embed an empty text/, 'no tokens');
is(sql(q{SELECT ai.openai_embed('mock-8', NULL::int[]) IS NULL}), 't', 'null instead of tokens');
is_vector(q{SELECT ai.embed(ai.embedding_openai('mock-8', 8), 'a text')}, 'a text', 8, 'by a configuration');
is(sql(q{SELECT count(*) FROM ai.embed(ai.embedding_ollama('mock-8', 8), ARRAY['a', 'b'])}), '2', 'and several');
like(error_of(q{SELECT ai.embed(ai.embedding_ollama('mock-8', 9), 'a text')}), qr/dimensions/, 'other dimensions than configured');
like(sql(q{SELECT string_agg(id, ' ') FROM ai.openai_list_models()}), qr/text-embedding-3-small/, 'models of OpenAI');
like(sql(q{SELECT string_agg("name", ' ') FROM ai.ollama_list_models()}), qr/nomic-embed-text/, 'models of Ollama');

# -- large inputs are cut into requests

$mock->reset;
is(sql(q{SELECT count(*) FROM ai.openai_embed('mock-4', ARRAY(SELECT 'text ' || g FROM generate_series(1, 5000) g))}),
	'5000', 'more texts than a request may hold');
is($mock->stats->{requests}, 3, 'in as few requests as possible');
is($mock->stats->{repeats}, 0, 'each text once');

# -- a vectorizer's model, for a role that may read the embeddings

sql(q{
	CREATE ROLE reader; CREATE ROLE stranger;
	CREATE TABLE docs (id int PRIMARY KEY, body text);
	SELECT ai.create_vectorizer('docs', name => 'docs', loading => ai.loading_column('body'),
		embedding => ai.embedding_openai('mock-8', 8), grant_to => ai.grant_to('reader'));
	GRANT USAGE ON SCHEMA ai TO reader, stranger});
is_vector(q{SELECT ai.vectorizer_embed('docs', 'a query')},  'a query', 8, 'by the name of a vectorizer');
is_vector(q{SELECT ai.vectorizer_embed(1, 'a query')},       'a query', 8, 'by its number');
is( sql(q{SET ROLE reader; SELECT vector_dims(ai.vectorizer_embed('docs', 'a query'))}),
	'8', 'a role that may read the embeddings may search them');
like(error_of(q{SET ROLE stranger; SELECT ai.vectorizer_embed('docs', 'a query')}),
	qr/permission denied for vectorizer "docs"/, 'another role may not');
sql(q{CREATE TABLE vectors AS SELECT g AS id, array_fill(g, ARRAY[8])::vector AS embedding FROM generate_series(1, 20) g});
$mock->reset;
is(sql(q{SELECT count(*) FROM (SELECT id FROM vectors ORDER BY embedding <=> ai.vectorizer_embed('docs', 'a query')) s}), '20', 'a search');
is($mock->stats->{requests}, 1, 'asks for its query once, not for each row');
is( sql(q{GRANT pg_monitor TO stranger; SET ROLE stranger; SELECT count(*) FROM ai.vectorizer_status}), '1', 'who may monitor sees the vectorizer');
like(error_of(q{SET ROLE stranger; SELECT ai.vectorizer_embed('docs', 'a query')}), qr/permission denied for vectorizer "docs"/, 'but may not spend its key');
like(error_of(q{SELECT ai.vectorizer_embed('nope', 'a query')}), qr/vectorizer "nope" does not exist/, 'an unknown vectorizer');

# -- time and size: the settings hold (043_misbehaviour.pl has all that providers do wrong)

$mock->rules({ enormous_bytes => 10_000_000 });
like(error_of(q{SET ai.max_response_size = '1MB'; SELECT ai.openai_embed('mock-8', 'a')}),
	qr/answer of \Q$url\E is larger than the limit of 1048576 bytes/, 'an enormous reply is not read to its end');
$mock->rules({ hang => 'before' });
like(error_of(q{SET ai.request_timeout = '200ms'; SELECT ai.openai_embed('mock-8', 'a')}), qr/no complete answer from .* within 200 ms/, 'a reply that does not come');
like(error_of(q{SELECT * FROM ai.openai_list_models(client_config => ai.openai_client_config(timeout_seconds => 0.2))}),
	qr/no complete answer from .* within 200 ms$/m, 'of a list of models, too');
like(error_of(q{SELECT ai.openai_embed('mock-8', 'a', client_config => ai.openai_client_config(timeout_seconds => 0.2))}),
	qr/no complete answer from .* within 200 ms/, 'the same with a timeout of its own');

# -- cancelling: the statement ends at once, and the connection is of use

like(error_of(q{SET statement_timeout = '200ms'; SELECT ai.openai_embed('mock-8', 'a')}),
	qr/canceling statement due to statement timeout/, 'statement_timeout is kept');
my $late = sql(q{
	CREATE TEMP TABLE late (by interval);
	SET statement_timeout = '100ms';
	} . q{
	DO $do$ BEGIN
		PERFORM ai.openai_embed('mock-8', 'a');
	EXCEPTION WHEN query_canceled THEN
		INSERT INTO late VALUES (clock_timestamp() - statement_timestamp() - interval '100 ms');
	END $do$;
	} x 3 . q{
	SELECT round(extract(milliseconds FROM min(by))) FROM late});
cmp_ok($late, '<', 100, 'a cancel takes less than 100 ms while the provider hangs');
$mock->reset;
is(sql(q{SELECT vector_dims(ai.openai_embed('mock-8', 'a'))}), '8', 'and then it works again');

# -- TLS: verified, with an authority of one's own

my $ca = $mock->ca_file;
sql(q{SELECT ai.set_secret('TLS_KEY', 'key-of-tls', ARRAY['127.0.0.1'])});
my $over_tls = qq{ai.openai_embed('mock-8', 'a', api_key_name => 'TLS_KEY', client_config => ai.openai_client_config('$tls_url/v1'))};
like(error_of("SELECT $over_tls"), qr/certificate.*ai\.ca_file/s, 'an unknown authority is refused, with the setting to change');
is(sql("SET ai.ca_file = '$ca'; SELECT vector_dims($over_tls)"), '8', 'a known one is trusted');
foreach my $flaw ('expired', 'wrong-host')
{
	my $flawed = MockProvider->start(tls => 1, tls_flaw => $flaw);
	my ($flawed_ca, $flawed_url) = ($flawed->ca_file, $flawed->tls_url);
	like(error_of(qq{SET ai.ca_file = '$flawed_ca';
			SELECT ai.openai_embed('mock-8', 'a', 'k', client_config => ai.openai_client_config('$flawed_url/v1'))}),
		qr/certificate/, "a certificate that is $flaw is refused");
	is($flawed->stats->{requests}, 0, 'before anything is sent');
}

# -- where requests may go

sub refused
{
	my ($base_url, $words, $name) = @_;
	like(error_of(qq{SELECT ai.openai_embed('mock-8', 'a', 'k', client_config => ai.openai_client_config('$base_url'))}), $words, $name);
	return;
}
refused('http://example.com/v1',          qr/example\.com.*ai\.allowed_hosts/s, 'another host is refused, with the setting to change');
like(error_of(q{SELECT ai.set_secret('PLAIN', 'k'); SELECT ai.voyageai_embed('m', 'a', api_key_name => 'PLAIN', base_url => 'http://api.voyageai.com/v1')}),
	qr/secret "PLAIN" must not be sent unencrypted to http:\/\/api\.voyageai\.com/, 'a key does not go unencrypted');
refused('http://169.254.169.254/v1',      qr/169\.254\.169\.254.*HINT:  Use another address: no setting allows this one/s, 'a metadata address is refused');
refused('http://[fe80::1]/v1',            qr/host "fe80::1" is at fe80::1, a link-local/, 'so is a link-local one');
refused('http://[::ffff:169.254.169.254]/v1', qr/a link-local, metadata or otherwise reserved address/, 'also inside of another');
refused('http://2130706433/v1',           qr/invalid URL: its host or port is malformed/, 'a host that is a number');
refused('http://127.1:80/v1',             qr/invalid URL: its host or port is malformed/, 'half an address');
refused('http://LOCALHOST.:80/v1',        qr/invalid URL: its host or port is malformed/, 'a dot at the end');
refused("http://b\x{c3}\x{bc}cher.example/v1", qr/not ASCII/, 'other letters');
refused('http://api.openai.com.evil.example/v1', qr/host "api\.openai\.com\.evil\.example" is not listed/, 'a name that begins like another');
refused('ftp://127.0.0.1/v1',             qr/base_url must begin with http:/, 'another protocol');
refused('http://user:pw@127.0.0.1/v1',    qr/user name/, 'a name and a password');
like(error_of(q{SET ai.allowed_hosts = '*'; SELECT ai.openai_embed('mock-8', 'a', 'k', client_config => ai.openai_client_config('http://169.254.169.254/v1'))}),
	qr/169\.254/, 'a metadata address is refused even where all hosts are allowed');
like(error_of(q{SET ai.allowed_hosts = 'not a host'}), qr/invalid value for parameter "ai.allowed_hosts"/, 'a wrong list is refused');
like(error_of(q{SET ai.openai_base_url = 'nonsense'}), qr/invalid value for parameter "ai.openai_base_url"/, 'so is a wrong URL');
like(error_of(qq{SELECT ai.openai_embed('mock-8', 'a', E'k\\r\\nX-Injected: 1')}),
	qr/invalid value of HTTP header "Authorization"/, 'a key cannot smuggle in a header');
like(error_of(q{SELECT ai.openai_embed(E'mock-8\r\nX-Injected: 1', 'a')}), qr/HTTP status 404 .*The model/, 'a model stays in the body');
is(header_of('/v1/embeddings', 'X-Injected'), undef, 'and nothing was smuggled in');
is_vector(qq{SELECT ai.openai_embed('mock-8', 'a', client_config => '{}')}, 'a', 8, 'an empty client_config');
like(error_of(q{SELECT ai.openai_embed('mock-8', 'a', client_config => '{"proxy": "x"}')}), qr/client_config has unknown members: proxy/, 'an unknown member');

# -- what a caller adds to a request

$mock->reset;
is_vector(q{SELECT ai.openai_embed('mock-8', 'a', openai_user => 'u', extra_headers => '{"X-One": "1", "X-Two": 2}',
		extra_query => '{"api-version": "2024 & more"}', extra_body => '{"encoding_format": "float"}', verbose => false,
		client_config => ai.openai_client_config(organization => 'org', project => 'proj', max_retries => 0,
			default_headers => '{"X-One": "0", "X-Zero": "0"}', default_query => '{"q": true}'))}, 'a', 8, 'headers, a query, a body');
my $request = last_request('/v1/embeddings');
is(header_of('/v1/embeddings', $_->[0]), $_->[1], "header $_->[0]")
	foreach [ 'X-One', 1 ], [ 'X-Two', 2 ], [ 'X-Zero', 0 ], [ 'OpenAI-Organization', 'org' ], [ 'OpenAI-Project', 'proj' ];
is($request->{query}, 'q=true&api-version=2024%20%26%20more', 'the query');
like($request->{body}, qr/"encoding_format":"float"/, 'the body has what was given');
unlike($request->{body}, qr/base64/, 'instead of ours');
is(sql(q{SELECT count(*) > 0 FROM ai.openai_list_models(extra_headers => '{"X-List": "1"}', extra_query => '{"x": 1}', verbose => false)}), 't', 'a list with them');
is(header_of('/v1/models', 'X-List'), 1, 'sent there, too');
like(error_of(q{SELECT ai.openai_embed('mock-8', 'a', extra_headers => '{"Authorization": "Bearer x"}')}),
	qr/extra_headers must not have the header "Authorization"\nHINT:  Name the key in api_key_name/, 'no key among the headers');
like(error_of(q{SELECT ai.openai_embed('mock-8', 'a', extra_headers => '{"X": "1\\r\\nY: 2"}')}),
	qr/invalid value of HTTP header "X"/, 'no line break');
like(error_of(q{SELECT ai.openai_embed('mock-8', 'a', extra_headers => '[1]')}), qr/extra_headers/, 'no list');
like(error_of(q{SELECT ai.openai_embed('mock-8', 'a', extra_body => '{"input": "b"}')}),
	qr/extra_body must not have the member "input"/, 'the text is given as such');
like(error_of(q{SELECT ai.openai_embed('mock-8', 'a', client_config => ai.openai_client_config(max_retries => 2))}),
	qr/max_retries must be 0: a request is tried once\nHINT:  Leave it out/, 'nothing is tried twice');
is(error_of(q{SELECT ai.embed(ai.embedding_openai('mock-8', 8) || '{"extra_headers": {"X": "1"}}', 'a')}) =~ /unrecognized argument "extra_headers"/, 1,
	'a configuration has no headers');
is_vector(qq{SELECT ai.ollama_embed('mock-8', 'a', base_url => '$url', verbose => false)}, 'a', 8, 'host has another name');
my (undef, undef, $told) = $node->psql('postgres', q{SELECT ai.openai_embed('mock-8', 'a secret text', verbose => true, extra_query => '{"q": "secret"}')});
like($told, qr{^psql:.*INFO:  POST \Q$url\E/v1/embeddings, \d+ bytes\n.*INFO:  HTTP status 200, \d+ bytes, all within \d+ ms$}s, 'verbose tells of requests');
unlike($told, qr/secret|key-of/, 'but neither text nor key');
foreach my $provider (sort keys %embed)
{
	my ($function, $arguments) = @{ $embed{$provider} };
	(undef, undef, $told) = $node->psql('postgres', "SELECT ai.$function('mock-8', 'a'$arguments, verbose => true)");
	like($told, qr/INFO:  HTTP status 200/, "$provider: verbose");
}

# -- dimensions are told only to who wants to know

$mock->settings(models => { 'bge-m3' => 8, 'plain' => 8 });
my %told = (
	"ai.embedding_openai('plain', 8)" => 1, "ai.embedding_openai('plain', 8, send_dimensions => false)" => 0,
	"ai.embedding_openai('bge-m3', 8)" => 0, "ai.embedding_openai('bge-m3', 8, send_dimensions => true)" => 1);
foreach my $config (sort keys %told)
{
	$node->psql('postgres', "SELECT ai.embed($config, 'a')");
	is(last_request('/v1/embeddings')->{body} =~ /"dimensions":8/ ? 1 : 0, $told{$config}, $config);
}
$mock->rules({ status => 400, body => '{"error":{"message":"Model plain does not support matryoshka representation"}}' });
like(error_of(q{SELECT ai.embed(ai.embedding_openai('plain', 8), 'a')}),
	qr/does not support matryoshka representation\nHINT:  If the model has vectors of one length only, use send_dimensions => false/, 'and the error says so');
$mock->reset;

# -- a text that is too long is cut, and that is told

my $long = q{repeat('word ', 10000)};
(undef, undef, $told) = $node->psql('postgres', qq{SELECT count(*) FROM ai.openai_embed('text-embedding-3-small', ARRAY[$long, 'short', $long])});
like($told, qr/NOTICE:  2 texts were truncated to 8191 tokens, the maximum of model "text-embedding-3-small"/, 'as a notice');
(undef, undef, $told) = $node->psql('postgres', q{SELECT vector_dims(ai.openai_embed('text-embedding-3-small', 'short'))});
is($told, '', 'and else not');

# -- the environment of the server

$node->stop;
$node->append_conf('postgresql.conf', "ai.ollama_host = ''\nai.openai_api_key = ''\n");
my ($port) = $url =~ /(\d+)$/;
foreach my $host ("0.0.0.0:$port", ":$port", "127.0.0.1:$port", "$url/")
{
	local $ENV{OLLAMA_HOST} = $host;
	local $ENV{OLLAMA_MAX_CHUNKS_PER_BATCH} = 2;
	local $ENV{OPENAI_API_KEY} = 'key-of-environment';
	$node->start;
	$mock->reset;
	is(sql(q{SELECT count(*) FROM ai.ollama_embed('mock-8', ARRAY['a', 'b', 'c', 'd', 'e'])}), 5, "OLLAMA_HOST=$host");
	is($mock->stats->{requests}, 3, 'OLLAMA_MAX_CHUNKS_PER_BATCH');
	is_vector(q{SELECT ai.openai_embed('mock-8', 'a')}, 'a', 8, 'OPENAI_API_KEY');
	is(join(' ', keys %{ $mock->stats->{keys} }), 'sha256:' . sha256_hex('key-of-environment'), 'is the key that is sent');
	$node->stop;
}
done_testing();
