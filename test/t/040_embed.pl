# Embeddings by SQL functions: every provider, every misbehaviour of one, cancelling, TLS, hosts.
use strict;
use warnings FATAL => 'all';
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
		qr/an empty text has no embedding\nHINT:  Leave it out, or use NULL/, "$provider: an empty text is refused");
}
is_vector(q{SELECT ai.openai_embed('text-embedding-3-small', 'a text', NULL, 256)}, 'a text', 256, 'dimensions are asked for');
is_vector(q{SELECT ai.openai_embed('mock-8', ARRAY[1, 2, 3])}, '[1,2,3]', 8, 'tokens instead of a text');
like(error_of(q{SELECT ai.openai_embed('mock-8', '{}'::int[])}), qr/an empty text has no embedding/, 'no tokens');
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

# -- misbehaviour: the right words, no result, and the next call works

my %misbehaviour = (
	'400'  => [ { status => 400 }, qr/400/ ],
	'401'  => [ { status => 401 }, qr/401.*HINT:  Check the address, the key and the model/s ],
	'403'  => [ { status => 403 }, qr/403/ ],
	'404'  => [ { status => 404 }, qr/404/ ],
	'408'  => [ { status => 408 }, qr/408.*HINT:  This may pass/s ],
	'413'  => [ { status => 413 }, qr/413/ ],
	'422'  => [ { status => 422 }, qr/422/ ],
	'429'  => [ { status => 429, retry_after => 7 }, qr/429.*HINT:  Try again in 7 s/s ],
	'429, a date' => [ { status => 429, retry_after_date => 30 }, qr/429.*HINT:  Try again in (2\d|30) s/s ],
	'quota' => [ { error => 'quota' }, qr/quota.*HINT:  Check/s ],
	'500'  => [ { status => 500 }, qr/500.*HINT:  This may pass/s ],
	'502'  => [ { status => 502 }, qr/502/ ],
	'503'  => [ { status => 503 }, qr/503/ ],
	'504'  => [ { status => 504 }, qr/504/ ],
	'an unknown model' => [ { error => 'model_not_found' }, qr/model/ ],
	'garbage' => [ { reply => 'garbage' }, qr/not valid|invalid|not JSON/i ],
	'HTML'    => [ { reply => 'html' }, qr/not valid|invalid|not JSON|HTML/i ],
	'nothing' => [ { reply => 'empty' }, qr/ERROR/ ],
	'a half reply' => [ { reply => 'truncated' }, qr/ERROR/ ],
	'a missing item' => [ { reply => 'missing_item' }, qr/ERROR/ ],
	'an item too many' => [ { reply => 'extra_item' }, qr/ERROR/ ],
	'wrong dimensions' => [ { reply => 'uneven_dimensions' }, qr/dimensions/ ],
	'NaN' => [ { reply => 'nan' }, qr/finite|NaN|infinit/i ],
	'null' => [ { reply => 'null_item' }, qr/ERROR/ ],
	'a deep nesting' => [ { reply => 'deep_nesting' }, qr/ERROR/ ],
	'an error with status 200' => [ { reply => 'error_with_status_200' }, qr/ERROR/ ],
	'a redirect' => [ { redirect => 'http://169.254.169.254/latest/meta-data' }, qr/redirect/i ],
	'closed amid the body' => [ { close => 'body' }, qr/ERROR.*HINT:  This may pass/s ],
	'reset amid the body' => [ { reset => 'body' }, qr/ERROR.*HINT:  This may pass/s ],
	'a wrong chunk' => [ { framing => 'bad_chunk' }, qr/ERROR/ ],
	'corrupt gzip' => [ { gzip => 'corrupt' }, qr/ERROR/ ]);
foreach my $what (sort keys %misbehaviour)
{
	my ($rule, $words) = @{ $misbehaviour{$what} };
	$mock->rules({ %$rule, text => 'bad' });
	my $err = error_of(q{SELECT count(*) FROM ai.openai_embed('mock-8', ARRAY['good', 'bad'])});
	like($err, $words, "$what: the right words");
	like($err, qr{\Qhttp://127.0.0.1:\E\d+}, "$what: and where");
	unlike($err, qr/key-of-openai/, "$what: and no key");
}
$mock->reset;
is_vector(q{SELECT ai.openai_embed('mock-8', 'good')}, 'good', 8, 'afterwards all is well');

$mock->rules({ enormous_bytes => 10_000_000 });
like(error_of(q{SET ai.max_response_size = '1MB'; SELECT ai.openai_embed('mock-8', 'a')}),
	qr/larger than|too large|limit/, 'an enormous reply is not read to its end');
$mock->rules({ hang => 'before' });
like(error_of(q{SET ai.request_timeout = '200ms'; SELECT ai.openai_embed('mock-8', 'a')}), qr/no complete answer from .* within 200 ms/, 'a reply that does not come');
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
	qr/secret "PLAIN" must not go unencrypted to http:\/\/api\.voyageai\.com/, 'a key does not go unencrypted');
refused('http://169.254.169.254/v1',      qr/169\.254\.169\.254/, 'a metadata address is refused');
refused('http://[fe80::1]/v1',            qr/ERROR/, 'so is a link-local one');
refused('http://2130706433/v1',           qr/ERROR/, 'a host that is a number');
refused('http://127.1:80/v1',             qr/ERROR/, 'half an address');
refused('ftp://127.0.0.1/v1',             qr/http/, 'another protocol');
refused('http://user:pw@127.0.0.1/v1',    qr/user name/, 'a name and a password');
like(error_of(q{SET ai.allowed_hosts = '*'; SELECT ai.openai_embed('mock-8', 'a', 'k', client_config => ai.openai_client_config('http://169.254.169.254/v1'))}),
	qr/169\.254/, 'a metadata address is refused even where all hosts are allowed');
like(error_of(q{SET ai.allowed_hosts = 'not a host'}), qr/invalid value for parameter "ai.allowed_hosts"/, 'a wrong list is refused');
like(error_of(q{SET ai.openai_base_url = 'nonsense'}), qr/invalid value for parameter "ai.openai_base_url"/, 'so is a wrong URL');
like(error_of(qq{SELECT ai.openai_embed('mock-8', 'a', E'k\\r\\nX-Injected: 1')}), qr/ERROR/, 'a key cannot smuggle in a header');
is_vector(qq{SELECT ai.openai_embed('mock-8', 'a', client_config => '{}')}, 'a', 8, 'an empty client_config');
like(error_of(q{SELECT ai.openai_embed('mock-8', 'a', client_config => '{"proxy": "x"}')}), qr/client_config has unknown members: proxy/, 'an unknown member');

$node->stop;
done_testing();
