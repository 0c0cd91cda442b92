# HTTP: every way in which a request may be written, and the ones in which it may not.
use strict;
use warnings FATAL => 'all';

use RawHttp;
use Test::More;

sub {
	my ($mock) = @_;
	my $port = $mock->port;
	my $body = '{"model":"mock-3","input":"a"}';
	my $start = "POST /v1/embeddings HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n";
	my $length = 'Content-Length: ' . length($body) . "\r\n";
	my $raw = sub {
		my ($bytes) = @_;
		my $client = RawHttp->connect($port);
		$client->send($bytes);
		return $client->reply;
	};

	is($raw->("$start${length}\r\n$body")->{status}, 200, 'a body with its length');
	my $chunks = join '', map { sprintf "%x\r\n%s\r\n", length, $_ } unpack '(a7)*', $body;
	my $chunked = "${start}Transfer-Encoding: chunked\r\n\r\n";
	is($raw->("$chunked${chunks}0\r\n\r\n")->{status}, 200, 'a body in chunks');
	my $trailing = RawHttp->connect($port);
	$trailing->send("$chunked${chunks}0\r\nTrailer: 1\r\nAnother: 2\r\n\r\n") for 1, 2;
	is_deeply([ map { $trailing->reply->{status} } 1, 2 ], [ 200, 200 ], 'with a trailer, twice');
	is($raw->(sprintf("%s%X;ext=1\r\n%s\r\n0\r\n\r\n", $chunked, length $body, $body))->{status},
		200, 'with an extension, in capitals');

	my $drops = RawHttp->connect($port);
	$drops->send($_) for split //, "$chunked${chunks}0\r\n\r\n";
	is($drops->reply->{status}, 200, 'byte by byte');

	my $careful = RawHttp->connect($port);
	$careful->send("$start${length}Expect: 100-continue\r\n\r\n");
	is($careful->read_until(qr/\r\n\r\n/), "HTTP/1.1 100 Continue\r\n\r\n", 'the client may go on');
	$careful->send($body);
	is($careful->reply->{status}, 200, 'and does');
	is($raw->("$start${length}Expect: 100-continue\r\n\r\n$body")->{status},
		200, 'a client that does not wait is not told');

	my $pipe = RawHttp->connect($port);
	my $get = "GET /v1/models HTTP/1.1\r\nHost: x\r\n\r\n";
	$pipe->send("$start${length}\r\n$body$get$start${length}\r\n$body" . $get x 500);
	is_deeply([ map { $pipe->reply->{status} } 1 .. 503 ], [ (200) x 503 ], 'requests in a row');
	$pipe->get('/v1/models');
	is($pipe->reply->{status}, 200, 'on a connection that stays open');

	my $old = RawHttp->connect($port);
	$old->send("GET /v1/models HTTP/1.0\r\n\r\n");
	is($old->reply->{headers}{connection}, 'close', 'HTTP/1.0 closes');
	is($old->end, 'eof', 'as announced');
	$old = RawHttp->connect($port);
	$old->send("GET /v1/models HTTP/1.0\r\nConnection: keep-alive\r\n\r\n") for 1, 2;
	is_deeply([ map { $old->reply->{status} } 1, 2 ], [ 200, 200 ], 'unless asked not to');
	my $last = RawHttp->connect($port);
	$last->send("GET /v1/models HTTP/1.1\r\nConnection: close\r\n\r\n");
	is($last->reply->{headers}{connection}, 'close', 'a client may ask to close');
	is($last->end, 'eof', 'and it is done');
	my $head = RawHttp->connect($port);
	$head->send("HEAD /v1/models HTTP/1.1\r\n\r\n");
	cmp_ok($head->reply(head_only => 1)->{headers}{'content-length'}, '>', 100, 'HEAD has a length');
	$head->get('/v1/models');
	is($head->reply->{status}, 200, 'and no body');

	# A text is counted once the whole of it has come; 48 MB are under the limit.
	my $large = 'x' x (48 << 20);
	my $reply = RawHttp->once($port, '/v1/embeddings', { model => 'mock-3', input => $large });
	is($reply->{status}, 200, 'a large body');
	is($reply->{json}{usage}{total_tokens}, 12 << 20, 'read to its end');

	my $before = $mock->stats->{bad_requests};
	my @bad = (
		[ 'no HTTP', "nonsense\r\n\r\n", 400 ],
		[ 'an empty line', "\r\n\r\n", 400 ],
		[ 'no target', "GET HTTP/1.1\r\n\r\n", 400 ],
		[ 'a blank in the target', "GET /a b HTTP/1.1\r\n\r\n", 400 ],
		[ 'a wrong version', "GET / HTTP/2.0\r\n\r\n", 505 ],
		[ 'a header without a colon', "GET / HTTP/1.1\r\nHost\r\n\r\n", 400 ],
		[ 'a length that is no number', "${start}Content-Length: 1x\r\n\r\n", 400 ],
		[ 'a negative length', "${start}Content-Length: -1\r\n\r\n", 400 ],
		[ 'two lengths', "$start$length$length\r\n$body", 400 ],
		[ 'a length and chunks', "$start${length}Transfer-Encoding: chunked\r\n\r\n", 400 ],
		[ 'an unknown encoding', "${start}Transfer-Encoding: gzip\r\n\r\n", 501 ],
		[ 'a chunk without a size', "${chunked}z\r\n", 400 ],
		[ 'a chunk too long', "${chunked}1\r\nabc\r\n", 400 ],
		[ 'a chunk without CR', "${chunked}1\n", 400 ],
		[ 'a head too large', "GET / HTTP/1.1\r\nX: " . 'x' x 70_000 . "\r\n\r\n", 431 ],
		[ 'a body too large', "${start}Content-Length: 67108865\r\n\r\n", 413 ],
		[ 'a chunk too large', "${chunked}4000001\r\n", 413 ],
	);
	for my $case (@bad)
	{
		my ($what, $bytes, $status) = @$case;
		my $client = RawHttp->connect($port);
		$client->send($bytes);
		my $got = $client->reply;
		is($got->{status}, $status, "$what: $status");
		is($client->end, 'eof', "$what: and it is over");
	}
	is($mock->stats->{bad_requests}, $before + @bad, 'they are counted');

	$mock->settings(max_body_bytes => 100);
	is($raw->("$start${length}\r\n$body")->{status}, 200, 'under a lower limit');
	my $refused = RawHttp->connect($port);
	$refused->send("${start}Content-Length: 1000000\r\nExpect: 100-continue\r\n\r\n");
	is($refused->reply->{status}, 413, 'over it, without waiting for the body');
	my $pushing = RawHttp->connect($port);
	$pushing->send("${start}Content-Length: 1000000\r\n\r\n" . 'x' x 1_000_000);
	is($pushing->reply->{status}, 413, 'who sends all the same can read the answer');
	is($pushing->end, 'eof', 'and is not reset');
	$mock->reset;
	return;
};
