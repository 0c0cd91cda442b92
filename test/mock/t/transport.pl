# Replies that stop, drip, break off or never end, and connections that close.
package MockTest::Transport;

use strict;
use warnings FATAL => 'all';

use IO::Uncompress::Gunzip qw(gunzip);
use JSON::PP ();
use RawHttp;
use Test::More;
use Time::HiRes qw(time);

my $request = { model => 'mock-64', input => 'a' };

sub ask
{
	my ($mock, %headers) = @_;
	my $client = RawHttp->connect($mock->port);
	$client->post('/v1/embeddings', $request, %headers);
	return $client;
}

sub hangs
{
	my ($mock, $good) = @_;
	for my $where (qw(before head body))
	{
		$mock->rules({ hang => $where });
		my @clients = map { ask($mock) } 1 .. 3;
		ok($mock->wait_for(hanging => 3), "$where: requests hang");
		is($mock->stats->{in_flight}, 3, "$where: and are in flight");
		my $client = $clients[0];
		my $head = $where eq 'before' ? undef : $client->read_until(qr/\r\n\r\n/);
		my $half = $where eq 'body' ? $client->read_bytes(int(length($good) / 2)) : '';
		is($client->read_bytes(1, 0.1), '', "$where: nothing comes");
		is($mock->release, 3, "$where: they are released");
		my $rest =
		  $where eq 'before' ? $client->reply->{body} : $client->read_bytes(length($good) - length $half);
		is($half . $rest, $good, "$where: and then all is well");
		is($clients[$_]->reply->{body}, $good, "$where: for all of them") for 1, 2;
		$mock->rules;
		$client->post('/v1/embeddings', $request);
		is($client->reply->{body}, $good, "$where: the connection goes on");

		$mock->rules({ hang => $where });
		my $leaver = ask($mock);
		ok($mock->wait_for(hanging => 1), "$where: another hangs");
		$leaver->close;
		ok($mock->wait_for(hanging_at_most => 0), "$where: until it leaves");
		is($mock->stats->{aborted}, 1, "$where: which is counted");
		is($mock->release, 0, "$where: nothing is left to release");
		$mock->reset;
	}
	$mock->rules({ hang => 'body', at_byte => 5 });
	my $client = ask($mock);
	$client->read_until(qr/\r\n\r\n/);
	is($client->read_bytes(5), substr($good, 0, 5), 'after so many bytes');
	is($client->read_bytes(1, 0.1), '', 'and no more');
	$mock->reset;
	is($client->read_bytes(length($good) - 5), substr($good, 5), 'a reset releases as well');
	return;
}

sub breaks
{
	my ($mock, $good) = @_;
	my $half = substr $good, 0, length($good) / 2;
	for my $case (
		[ before => 0, '' ], [ head => 200, '' ], [ body => 200, $half ], [ after => 200, $good ])
	{
		my ($where, $status, $body) = @$case;
		for my $how ('close', 'reset')
		{
			$mock->rules({ $how => $where });
			my $client = ask($mock);
			my $reply = $client->reply;
			my $end = $how eq 'close' ? 'eof' : 'reset';
			is($reply->{status}, $status, "$how $where: the status");
			is($reply->{body}, $body, "$how $where: the body");
			is($reply->{ended} eq 'complete' ? $client->end : $reply->{ended}, $end, "$how $where");
			is($reply->{headers}{connection} // 'keep-alive', 'keep-alive', 'not announced');
		}
	}
	is($mock->stats->{dropped}, 6, 'what was not sent is counted');
	is($mock->stats->{replies}, 2, 'and what was');
	$mock->rules({ close => 'body', at_byte => 3 });
	is(ask($mock)->reply->{body}, substr($good, 0, 3), 'after so many bytes');

	# A connection that was good for one request and is closed when the next one comes.
	$mock->rules({ close => 'before', skip => 1 });
	my $client = ask($mock);
	is($client->reply->{status}, 200, 'the first request is answered');
	$client->post('/v1/embeddings', $request);
	is($client->reply->{ended}, 'eof', 'the second finds the connection closed');
	$mock->reset;
	return;
}

sub drips
{
	my ($mock, $good) = @_;
	$mock->rules({ drip => { bytes => 50, every_ms => 10 } });
	my $start = time;
	my $client = ask($mock);
	my $reply = $client->reply;
	is($reply->{body}, $good, 'all comes in the end');
	my $pauses = int((length($good) - 1) / 50);
	cmp_ok(time - $start, '>=', $pauses * 0.01, 'but slowly');
	$mock->rules({ drip => { bytes => 1, every_ms => 60_000 } });
	my $slow = ask($mock);
	$slow->read_until(qr/\r\n\r\n/);
	is($slow->read_bytes(1), substr($good, 0, 1), 'a byte');
	is($slow->read_bytes(1, 0.2), '', 'and then nothing');
	$slow->close;
	ok($mock->wait_for(in_flight_at_most => 0), 'the client leaves');
	$mock->reset;
	return;
}

sub framings
{
	my ($mock, $good) = @_;
	my $framed = sub {
		my ($framing, %options) = @_;
		$mock->rules({ framing => $framing });
		my $client = ask($mock);
		return ($client->reply(%options), $client);
	};
	my ($chunked, $client) = $framed->('chunked');
	is($chunked->{headers}{'transfer-encoding'}, 'chunked', 'a body in chunks');
	is($chunked->{body}, $good, 'is the same body');
	$client->post('/v1/embeddings', $request);
	is($client->reply->{body}, $good, 'and the connection goes on');
	my ($open) = $framed->('until_close');
	is($open->{headers}{'content-length'}, undef, 'a body without a length');
	is($open->{body}, $good, 'is the same body');
	is($open->{ended}, 'eof', 'and ends with the connection');
	my ($long) = $framed->('long_length');
	is($long->{headers}{'content-length'}, length($good) + 1000, 'a length too long');
	is($long->{ended}, 'eof', 'is not reached');
	my ($bad) = $framed->('bad_length', head_only => 1);
	like($bad->{head}, qr/^Content-Length: many\r$/m, 'a length that is no number');
	my ($chunk) = $framed->('bad_chunk');
	is($chunk->{ended}, 'bad chunk', 'a chunk without a size');

	$mock->rules({ header_bytes => 200_000 });
	my $headers = ask($mock)->reply;
	cmp_ok(length $headers->{head}, '>', 200_000, 'headers without end');
	is($headers->{body}, $good, 'and then the body');
	return;
}

sub gzips
{
	my ($mock, $good) = @_;
	my $unpack = sub {
		my ($reply) = @_;
		is($reply->{headers}{'content-encoding'}, 'gzip', 'compressed');
		my $plain;
		return gunzip(\$reply->{body}, \$plain) ? $plain : undef;
	};
	$mock->rules({ gzip => 'when_asked' });
	is(ask($mock)->reply->{body}, $good, 'not compressed when not asked for');
	is($unpack->(ask($mock, 'Accept-Encoding' => 'br, gzip;q=0.5')->reply), $good, 'when asked for');
	$mock->rules({ gzip => 'always' });
	is($unpack->(ask($mock)->reply), $good, 'or always');
	$mock->rules({ gzip => 'corrupt' });
	isnt($unpack->(ask($mock)->reply), $good, 'or wrongly');
	return;
}

sub enormous
{
	my ($mock) = @_;
	my $size = 300 << 20;
	$mock->rules({ enormous_bytes => $size });
	my $client = ask($mock);
	my ($length) = $client->read_until(qr/\r\n\r\n/) =~ /Content-Length: (\d+)/;
	cmp_ok($length, '>=', $size, 'the length of an enormous body');
	my $got = 0;
	while ($client->more)
	{
		$got += length $client->{buffer};
		like(substr($client->{buffer}, 0, 200), qr/\A\{"object":"list"/, 'starts well')
		  if $got == length $client->{buffer};
		$client->{buffer} = '';
		last if $got >= $length;
	}
	is($got, $length, 'and all of it');
	$mock->rules({ enormous_bytes => 1_000_000_000_000_000, framing => 'chunked' });
	$client = ask($mock);
	my $head = $client->read_until(qr/\r\n\r\n/);
	like($head, qr/Transfer-Encoding: chunked/, 'or without an announced length');
	cmp_ok(length $client->read_bytes(10 << 20), '==', 10 << 20, 'and no end');
	$client->close;
	ok($mock->wait_for(in_flight_at_most => 0), 'the client leaves');
	return;
}

sub redirects
{
	my ($mock) = @_;
	$mock->rules({ redirect => 'http://127.0.0.2:9/elsewhere' });
	my $reply = ask($mock)->reply;
	is($reply->{status}, 307, 'a redirect');
	is($reply->{headers}{location}, 'http://127.0.0.2:9/elsewhere', 'to elsewhere');
	for my $status (301, 302, 308)
	{
		$mock->rules({ redirect => '/x', status => $status });
		is(ask($mock)->reply->{status}, $status, "a redirect of another kind: $status");
	}
	return;
}

sub connections
{
	my ($mock, $good) = @_;
	$mock->settings(requests_per_connection => 2);
	my $client = ask($mock);
	is($client->reply->{headers}{connection}, 'keep-alive', 'the first of two requests');
	$client->post('/v1/embeddings', $request);
	is($client->reply->{headers}{connection}, 'close', 'the last is announced');
	is($client->end, 'eof', 'and then it is closed');
	$mock->reset;

	# Far more than a busy machine takes from connecting to sending.
	$mock->settings(idle_timeout_ms => 1000);
	$mock->rules({ latency_ms => 1200 });
	$client = ask($mock);
	is($client->reply->{body}, $good, 'waiting for a reply is not idle');
	is($client->end, 'eof', 'a connection that is idle is closed');
	is(RawHttp->connect($mock->port)->end, 'eof', 'also before its first request');
	$mock->reset;

	for my $case ([ close => 'eof' ], [ reset => 'reset' ])
	{
		my ($how, $end) = @$case;
		$mock->settings(on_connect => $how);
		# The reset may come while the client still connects.
		my $got = eval { RawHttp->connect($mock->port)->end } // ($@ =~ /reset by peer/ ? 'reset' : $@);
		is($got, $end, "on_connect: $how");
	}
	$mock->settings(on_connect => 'hang');
	$client = ask($mock);
	is($client->reply(timeout => 0.2)->{ended}, 'timeout', 'or never served');
	is($mock->stats->{requests}, 0, 'not even read');
	$mock->settings(on_connect => 'serve');
	is(ask($mock)->reply->{body}, $good, 'others are');
	$client->close;
	$mock->reset;
	return;
}

sub {
	my ($mock) = @_;
	my $good = ask($mock)->reply->{body};
	$mock->reset;
	subtest hangs => sub { hangs($mock, $good) };
	subtest breaks => sub { breaks($mock, $good) };
	subtest drips => sub { drips($mock, $good) };
	subtest framings => sub { framings($mock, $good) };
	subtest gzips => sub { gzips($mock, $good) };
	subtest enormous => sub { enormous($mock) };
	subtest redirects => sub { redirects($mock) };
	$mock->reset;
	subtest connections => sub { connections($mock, $good) };
	return;
};
