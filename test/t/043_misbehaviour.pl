# Every misbehaviour that the mock provider knows, of every provider: the class of the error (told by
# the hint), where it happened, the model, the status, the provider's words; no key, no part of a
# result, and the next call works.
use strict;
use warnings FATAL => 'all';
use MockProvider;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $mock = MockProvider->start;
my $url = $mock->url;
my $key = 'key-of-openai-0123456789';
my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
$node->append_conf('postgresql.conf', qq{
shared_preload_libraries = 'ai'
ai.workers = 0
ai.openai_base_url = '$url/v1'
ai.ollama_host = '$url'
ai.openai_api_key = '$key'
});
$node->start;
$node->safe_psql('postgres', 'CREATE EXTENSION ai CASCADE');

my %config = (
	openai   => "ai.embedding_openai('mock-8', 8)",
	ollama   => "ai.embedding_ollama('mock-8', 8)",
	voyageai => "ai.embedding_voyageai('mock-8', 8, api_key_name => NULL, base_url => '$url/voyage/v1')",
	cohere   => "ai.embedding_cohere('mock-8', 8, api_key_name => NULL, base_url => '$url/v2')");
my %path = (openai => '/v1/embeddings', ollama => '/api/embed', voyageai => '/voyage/v1/embeddings', cohere => '/v2/embed');
my @providers = sort keys %config;

# What follows an error, which tells its class.
my %hint = (
	deferred      => qr/^HINT:  Try again (?:in \d+ s|later)\.$/m,
	transient     => qr/^HINT:  The problem may be temporary: try again\.$/m,
	configuration => qr/^HINT:  (?:Check the address, the key and the model\.|A superuser can add)/m,
	none          => qr/^(?!.*^HINT:)/ms);    # the input or the reply is to blame

sub ask
{
	my ($provider, $before) = @_;
	return $node->psql('postgres', ($before // '')
		. qq{SELECT string_agg("index" || ':' || vector_dims(embedding), ' ' ORDER BY "index")
			FROM ai.embed($config{$provider}, ARRAY['good', 'bad'])});
}

sub fails
{
	my ($provider, $class, $words, $name, $before) = @_;
	my ($code, $out, $err) = ask($provider, $before);
	subtest "$provider: $name" => sub {
		isnt($code, 0, 'fails');
		is($out, '', 'no part of a result');
		like($err, $words, 'the right words');
		like($err, $hint{$class}, "class: $class");
		like($err, qr{\Q$url\E}, 'where');
		like($err, qr/model "mock-8"/, 'the model');
		unlike($err, qr/\Q$key\E/, 'no key');
		cmp_ok(length((split /\n/, $err)[0]), '<', 700, 'clipped');
	};
	return;
}

sub works
{
	my ($provider, $name) = @_;
	my ($code, $out, $err) = ask($provider);
	is("$out$err", '0:8 1:8', "$provider: $name");
	return;
}

# -- what is wrong with the reply, though its status is 200

my $base64 = qr/^(?:openai|voyageai)$/;    # of these; the others send numbers
my %reply = (
	garbage       => qr/cannot be read: invalid JSON at byte \d/,
	html          => qr/is an HTML page/,
	empty         => qr/is empty/,
	null          => qr/has 0 embeddings instead of 2/,
	wrong_shape   => qr/has 0 embeddings instead of 2/,
	truncated     => qr/cannot be read: invalid JSON at byte \d/,
	trailing_garbage => qr/cannot be read: .*expected the end of the text/,
	invalid_utf8  => qr/cannot be read: .*not valid UTF-8/,
	deep_nesting  => qr/cannot be read: .*nested too deeply/,
	missing_item  => qr/has 1 embedding instead of 2/,
	extra_item    => qr/has (?:more than 2 embeddings|an embedding at place 2 whose index 2 is not below 2)/,
	empty_list    => qr/has 0 embeddings instead of 2/,
	no_embeddings => qr/has (?:no embedding at place 0|0 embeddings instead of 2)/,
	wrong_dimensions  => qr/has an embedding at place 0 of (?:\d+ dimensions instead of 8|more than 8 dimensions)/,
	uneven_dimensions => qr/has an embedding at place 1 of (?:\d+ dimensions instead of 8|more than 8 dimensions)/,
	null_item     => qr/has an embedding at place 1 that is null/,
	null_value    => qr/has an embedding at place 1 (?:with null among its numbers|that is null)/,
	string_value  => qr/has an embedding at place 1 (?:with a string among its numbers|that is not valid base64)/,
	zero_vector   => qr/has an embedding at place 1 with zeros only/,
	nan           => qr/has an embedding at place 1 with a value that is not a finite number|cannot be read: invalid JSON at byte \d/,
	infinity      => qr/has an embedding at place 1 with a value that is not a finite number|cannot be read: invalid JSON at byte \d/);
foreach my $provider (@providers)
{
	foreach my $fault (sort keys %reply)
	{
		$mock->rules({ reply => $fault, text => 'bad' });
		fails($provider, 'none', qr/reply from \Q$url$path{$provider}\E for model "mock-8" $reply{$fault}/, $fault);
	}
	$mock->rules({ reply => 'error_with_status_200' });
	my (undef, $out, $err) = ask($provider);
	like($err, qr/HTTP status 200 from \Q$url$path{$provider}\E for model "mock-8": \w/, "$provider: an error with status 200 is an error");
	$mock->rules({ reply => 'no_usage' });
	works($provider, 'a reply without usage');
}
foreach my $provider (grep { $_ =~ $base64 } @providers)
{
	my %index = (
		duplicate_index => qr/at place 1 whose index \d was there before/,
		bad_index       => qr/at place \d whose index -?\d+ is not below 2/,
		no_index        => qr/at place \d without an index/,
		bad_base64      => qr/at place 1 that is not valid base64/);
	foreach my $fault (sort keys %index)
	{
		$mock->rules({ reply => $fault });
		fails($provider, 'none', $index{$fault}, $fault);
	}
	$mock->rules({ reply => 'wrong_order' });
	works($provider, 'another order');
	is($node->safe_psql('postgres', qq{SELECT (SELECT embedding FROM ai.embed($config{$provider}, ARRAY['good', 'bad']) WHERE "index" = 1)
			<-> '[@{[join ',', @{ MockProvider::vector('bad', 8) }]}]' < 1e-6}), 't', "$provider: goes by the index");
}

# -- errors: status and the provider's own words

my %error = (
	bad_request        => [ 400, 'none' ],
	context_length     => [ 400, 'none' ],
	too_many_items     => [ 400, 'none' ],
	too_many_tokens    => [ 400, 'none' ],
	invalid_key        => [ 401, 'configuration' ],
	missing_key        => [ 401, 'configuration' ],
	forbidden          => [ 403, 'configuration' ],
	model_not_found    => [ '40[04]', 'configuration' ],
	not_found          => [ 404, 'configuration' ],
	method_not_allowed => [ 405, 'configuration' ],
	timeout            => [ 408, 'transient' ],
	conflict           => [ 409, 'transient' ],
	too_large          => [ 413, 'none' ],
	unprocessable      => [ 422, 'none' ],
	rate_limit         => [ 429, 'deferred' ],
	quota              => [ '\d+', 'configuration' ],
	server             => [ 500, 'transient' ],
	bad_gateway        => [ 502, 'transient' ],
	overloaded         => [ 503, 'transient' ],
	gateway_timeout    => [ 504, 'transient' ]);
foreach my $provider (@providers)
{
	foreach my $error (sort keys %error)
	{
		my ($status, $class) = @{ $error{$error} };
		# Ollama has no quotas, and Voyage's is about the rate.
		$class = 'deferred' if $error eq 'quota' && $provider =~ /^(?:ollama|voyageai)$/;
		$mock->rules({ error => $error });
		fails($provider, $class, qr/HTTP status $status from \Q$url$path{$provider}\E for model "mock-8": \S/, $error);
	}
	$mock->rules({ status => 429, retry_after => 7 });
	fails($provider, 'deferred', qr/HTTP status 429.*HINT:  Try again in 7 s\./s, 'Retry-After in seconds');
	$mock->rules({ status => 429, retry_after_date => 30 });
	fails($provider, 'deferred', qr/HTTP status 429.*HINT:  Try again in (?:2\d|30) s\./s, 'Retry-After as a date');
	foreach my $status (300, 302, 303, 307, 308)
	{
		$mock->rules({ redirect => 'http://169.254.169.254/latest/meta-data?key=x', status => $status });
		fails($provider, 'configuration',
			qr/HTTP status $status .*: a redirect to host "169\.254\.169\.254", which is not followed$/m, "redirect $status");
	}
	$mock->rules({ status => 401, body => '{"error":{"message":"Wrong, ' . 'x' x 1000 . '"}}' });
	fails($provider, 'configuration', qr/HTTP status 401 .*xxx\.\.\.$/m, 'an error without end');
}
$mock->rules({ status => 401, body => qq({"error":{"message":"Wrong key $key"}}) });
fails('openai', 'configuration', qr/HTTP status 401 .*Wrong key \[key\]$/m, 'an error that repeats the key');

# -- on the way: one provider is as good as another

my %way = (
	'closed before the reply'  => [ { close => 'before' }, 'transient', qr/connection to .* broke before the answer was complete/ ],
	'closed after the head'    => [ { close => 'head' }, 'transient', qr/connection to .* broke before the answer was complete .*HTTP status 200/ ],
	'closed amid the body'     => [ { close => 'body' }, 'transient', qr/connection to .* broke before the answer was complete .*HTTP status 200/ ],
	'reset before the reply'   => [ { reset => 'before' }, 'transient', qr/connection to .* broke before the answer was complete/ ],
	'reset after the head'     => [ { reset => 'head' }, 'transient', qr/connection to .* broke before the answer was complete/ ],
	'reset amid the body'      => [ { reset => 'body' }, 'transient', qr/connection to .* broke before the answer was complete/ ],
	'closes before its length' => [ { framing => 'long_length' }, 'transient', qr/connection to .* broke before the answer was complete/ ],
	'a wrong chunk'            => [ { framing => 'bad_chunk' }, 'transient', qr/connection to .* broke before the answer was complete/ ],
	'a length that is none'    => [ { framing => 'bad_length' }, 'none', qr/answer of .* is not valid HTTP/ ],
	'corrupt gzip'             => [ { gzip => 'corrupt' }, 'none', qr/answer of .* is not valid HTTP/ ],
	'an enormous reply'        => [ { enormous_bytes => 10_000_000 }, 'none', qr/answer of .* is larger than the limit of \d+ bytes .*HTTP status 200/ ],
	'an enormous gzip'         => [ { enormous_bytes => 10_000_000, gzip => 'always' }, 'none', qr/answer of .* is larger than the limit of \d+ bytes/ ],
	'enormous headers'         => [ { header_bytes => 1_000_000 }, 'none', qr/answer of .* is larger than the limit of \d+ bytes|is not valid HTTP/ ]);
foreach my $what (sort keys %way)
{
	my ($rule, $class, $words) = @{ $way{$what} };
	$mock->rules($rule);
	fails('openai', $class, $words, $what);
}
foreach my $hang ('before', 'head', 'body')
{
	$mock->rules({ hang => $hang });
	fails('openai', 'transient', qr/no complete answer from .* within 150 ms/, "hangs: $hang", q{SET ai.request_timeout = '150ms'; });
}
$mock->rules({ drip => { bytes => 1, every_ms => 50 } });
fails('openai', 'transient', qr/no complete answer from .* within 150 ms/, 'drop by drop', q{SET ai.request_timeout = '150ms'; });
foreach my $how ('close', 'reset')
{
	$mock->reset;
	$mock->settings(on_connect => $how);
	fails('openai', 'transient', qr/connection to .* broke before the answer was complete|could not connect to/, "on_connect $how");
}
$mock->reset;
$mock->settings(on_connect => 'hang');
fails('openai', 'transient', qr/no complete answer from .* within 150 ms/, 'on_connect hang', q{SET ai.request_timeout = '150ms'; });
$mock->reset;
$mock->stop;
fails('openai', 'transient', qr/could not connect to \Q$url\E: Connection refused/, 'nobody is there');
$mock->restart;

# -- what is unusual but right

foreach my $rule (
	{ framing => 'chunked' }, { framing => 'until_close' }, { gzip => 'always' }, { gzip => 'when_asked' },
	{ close => 'after' }, { reset => 'after' }, { drip => { bytes => 100, every_ms => 1 } }, { latency_ms => [ 1, 20 ] })
{
	$mock->rules($rule);
	works($_, join ' ', map { "$_ " . (ref $rule->{$_} ? 'list' : $rule->{$_}) } keys %$rule) foreach @providers;
}
$mock->reset;
works($_, 'and afterwards all is well') foreach @providers;

$node->stop;
done_testing();
