# The rate limit: token buckets for requests and for tokens.
use strict;
use warnings FATAL => 'all';

use RawHttp;
use Test::More;

sub {
	my ($mock) = @_;
	my $ask = sub {
		my ($input) = @_;
		return RawHttp->once($mock->port, '/v1/embeddings',
			{ model => 'mock-3', input => $input // 'a' });
	};

	$mock->settings(rate_limit => { requests_per_minute => 3 });
	my @replies = map { $ask->() } 1 .. 3;
	is_deeply([ map { $_->{status} } @replies ], [ 200, 200, 200 ], 'requests within the limit');
	is_deeply([ map { $_->{headers}{'x-ratelimit-remaining-requests'} } @replies ],
		[ 2, 1, 0 ], 'which is told');
	is($replies[0]{headers}{'x-ratelimit-limit-requests'}, 3, 'as it is');
	my $over = $ask->();
	is($over->{status}, 429, 'one over it');
	is($over->{json}{error}{type}, 'requests', 'because of the requests');
	is($over->{json}{error}{code}, 'rate_limit_exceeded', 'as OpenAI puts it');
	like($over->{json}{error}{message}, qr/\(RPM\): Limit 3, Used 3/, 'and says');
	my $wait = $over->{headers}{'retry-after'};
	ok($wait >= 10 && $wait <= 20, "a third of a minute to wait ($wait s)");
	is($mock->stats->{by_status}{429}, 1, 'counted');

	$mock->settings(rate_limit => { requests_per_minute => 1200, burst => 2 });
	is($ask->()->{status}, 200, 'within the burst') for 1, 2;
	my $turns = 0;
	$turns++ while $ask->()->{status} != 429;
	cmp_ok($turns, '<', 100, 'over it soon');
	select undef, undef, undef, 0.06;
	is($ask->()->{status}, 200, 'the bucket fills with time');

	$mock->settings(rate_limit => { tokens_per_minute => 100 });
	is($ask->('x' x 320)->{status}, 200, 'tokens within the limit');
	$over = $ask->('x' x 320);
	is($over->{status}, 429, 'over it');
	is($over->{json}{error}{type}, 'tokens', 'because of the tokens');
	like($over->{json}{error}{message}, qr/\(TPM\): Limit 100/, 'and says so');
	cmp_ok($over->{headers}{'retry-after'}, '>=', 20, 'a time to wait');
	is($ask->('x' x 20)->{status}, 200, 'a smaller request still passes');

	$mock->reset;
	$mock->settings(rate_limit => { requests_per_minute => 1 });
	$mock->rules({ status => 500, count => 3 });
	is(join(' ', map { $ask->()->{status} } 1 .. 5), '500 500 500 200 429', 'failures use nothing up');
	is(RawHttp->once($mock->port, '/api/embed', { model => 'mock-3', input => 'a' })->{json}{error},
		'too many requests', 'Ollama has the same limit');
	$mock->settings(rate_limit => undef);
	is($ask->()->{status}, 200, 'until there is none');
	return;
};
