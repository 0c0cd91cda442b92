# Failures by status: which requests they hit, and what each provider says.
use strict;
use warnings FATAL => 'all';

use HTTP::Tiny ();
use RawHttp;
use Test::More;

my %request = (
	'/v1/embeddings' => { model => 'mock-3', input => 'a' },
	'/api/embed' => { model => 'mock-3', input => 'a' },
	'/api/embeddings' => { model => 'mock-3', prompt => 'a' },
	'/voyage/v1/embeddings' => { model => 'mock-3', input => 'a' },
	'/v2/embed' => { model => 'mock-3', texts => ['a'], input_type => 'clustering' });

# Where each provider puts its message.
my %message = (
	'/v1/embeddings' => sub { $_[0]{error}{message} },
	'/api/embed' => sub { $_[0]{error} },
	'/api/embeddings' => sub { $_[0]{error} },
	'/voyage/v1/embeddings' => sub { $_[0]{detail} },
	'/v2/embed' => sub { $_[0]{message} });

sub {
	my ($mock) = @_;
	my $ask = sub {
		my ($path, %changes) = @_;
		return RawHttp->once($mock->port, $path, { %{ $request{$path} }, %changes });
	};
	my @statuses = (400, 401, 403, 404, 408, 409, 413, 422, 429, 500 .. 504);

	for my $status (@statuses)
	{
		$mock->rules({ status => $status });
		for my $path (sort keys %request)
		{
			my $reply = $ask->($path);
			is($reply->{status}, $status, "$path: $status");
			if ($path eq '/v1/embeddings' && ($status == 502 || $status == 504))
			{
				like($reply->{headers}{'content-type'}, qr{\Atext/html}, 'a page of the front door');
				like($reply->{body}, qr/<title>$status /, 'that says so');
				next;
			}
			like($message{$path}->($reply->{json}), qr/\w/, "$path: $status: with its message");
			is($reply->{headers}{'retry-after'}, undef, "$path: $status: no Retry-After");
		}
	}

	my $openai = sub { return $ask->('/v1/embeddings', @_) };
	my %named = (
		quota => [ 429, 'insufficient_quota', qr/exceeded your current quota/ ],
		rate_limit => [ 429, 'rate_limit_exceeded', qr/Rate limit reached for mock-3.*try again in/ ],
		context_length => [ 400, undef, qr/maximum context length/ ],
		too_many_tokens => [ 400, 'max_tokens_per_request', qr/max 300000 tokens per request/ ],
		invalid_key => [ 401, 'invalid_api_key', qr/Incorrect API key provided/ ],
		missing_key => [ 401, undef, qr/didn't provide an API key/ ],
		model_not_found => [ 404, 'model_not_found', qr/does not exist/ ],
		overloaded => [ 503, undef, qr/overloaded/ ]);
	for my $name (sort keys %named)
	{
		my ($status, $code, $text) = @{ $named{$name} };
		$mock->rules({ error => $name });
		my $reply = $openai->();
		is($reply->{status}, $status, "$name: $status");
		is($reply->{json}{error}{code}, $code, "$name: its code");
		like($reply->{json}{error}{message}, $text, "$name: its message");
	}
	$mock->rules({ error => 'quota', status => 403 });
	is($openai->()->{status}, 403, 'the status of an error can be another');

	$mock->rules({ status => 429, retry_after => 7 });
	is($openai->()->{headers}{'retry-after'}, '7', 'Retry-After in seconds');
	like($openai->()->{json}{error}{message}, qr/try again in 7s/, 'and in words');
	$mock->rules({ status => 503, retry_after_date => 3600 });
	my $date = HTTP::Tiny->new->_parse_http_date($openai->()->{headers}{'retry-after'});
	ok(abs($date - time - 3600) < 60, 'Retry-After as a date');

	$mock->rules({ status => 418, body => "\x{2615} only", content_type => 'text/tea',
			headers => { 'X-Tea' => 'yes' } });
	my $tea = $openai->();
	is($tea->{status}, 418, 'any status');
	is($tea->{body}, "\xe2\x98\x95 only", 'any body');
	is($tea->{headers}{'content-type'}, 'text/tea', 'any type');
	is($tea->{headers}{'x-tea'}, 'yes', 'any header');

	# Which requests.
	my $statuses = sub { return join ' ', map { $openai->(%$_)->{status} } @_ };
	$mock->rules({ text => 'poison', status => 400 });
	is($statuses->({ input => 'good' }, { input => [ 'a', 'some poison here' ] }, { input => 'Poison' }),
		'200 400 200', 'by text');
	$mock->rules({ model => 'mock-4', status => 500 });
	is($statuses->({}, { model => 'mock-4' }), '200 500', 'by model');
	$mock->rules({ path => '/api/*', status => 500 }, { path => '/v2/embed', status => 501 });
	is(join(' ', map { $ask->($_)->{status} } sort keys %request), '500 500 200 501 200', 'by path');
	$mock->rules({ method => 'GET', status => 500 });
	is($openai->()->{status} . RawHttp->once($mock->port, '/v1/models')->{status},
		'200500', 'by method');
	$mock->rules({ key => 'bad', status => 401 });
	is(join(' ', map { RawHttp->once($mock->port, '/v1/embeddings', $request{'/v1/embeddings'},
		Authorization => "Bearer $_")->{status} } 'good', 'bad', 'bad2'), '200 401 200', 'by key');
	$mock->rules({ status => 500, count => 2 });
	is($statuses->({}, {}, {}, {}), '500 500 200 200', 'the first ones');
	$mock->rules({ status => 500, skip => 1, count => 2 });
	is($statuses->({}, {}, {}, {}), '200 500 500 200', 'some in the middle');
	$mock->rules({ status => 500, count => 1 }, { status => 429, count => 1 });
	is($statuses->({}, {}, {}), '500 429 200', 'one rule after the other');
	is_deeply([ map { $_->{applied} } @{ $mock->shown_rules } ], [ 1, 1 ], 'which count');

	my $run = sub { return join '', map { $openai->()->{status} == 500 ? 'x' : '.' } 1 .. 200 };
	$mock->rules({ status => 500, share => 0.25, seed => 11 });
	my $first = $run->();
	my $failed = () = $first =~ /x/g;
	ok($failed > 25 && $failed < 75, "a share ($failed of 200)");
	$mock->rules({ status => 500, share => 0.25, seed => 11 });
	is($run->(), $first, 'the same with the same seed');
	$mock->rules({ status => 500, share => 0.25, seed => 12 });
	isnt($run->(), $first, 'another with another');
	$mock->rules({ status => 500, share => 0 });
	unlike($run->(), qr/x/, 'no share');
	$mock->rules({ status => 500, share => 1 });
	unlike($run->(), qr/\./, 'the whole');
	$mock->rules;
	is($openai->()->{status}, 200, 'without rules all is well');
	return;
};
