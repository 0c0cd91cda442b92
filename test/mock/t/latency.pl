# Latency: fixed, random, by item and by text, for many requests at once.
use strict;
use warnings FATAL => 'all';

use List::Util qw(max min);
use RawHttp;
use Test::More;
use Time::HiRes qw(time);

sub {
	my ($mock) = @_;
	my $timed = sub {
		my (%changes) = @_;
		my $start = time;
		my $reply = RawHttp->once($mock->port, '/v1/embeddings',
			{ model => 'mock-3', input => 'a', %changes });
		is($reply->{status}, 200, 'answered');
		return time - $start;
	};

	$mock->rules({ latency_ms => 80 });
	cmp_ok($timed->(), '>=', 0.08, 'fixed');
	$mock->rules({ latency_ms => 2.5 });
	cmp_ok($timed->(), '>=', 0.0025, 'fractions');
	$mock->rules({ latency_ms => [ 20, 120 ] });
	my @times = map { $timed->() } 1 .. 20;
	cmp_ok(min(@times), '>=', 0.02, 'random, from the least');
	cmp_ok(max(@times) - min(@times), '>', 0.03, 'and different');
	$mock->rules({ latency_per_item_ms => 20 });
	cmp_ok($timed->(input => [ ('a') x 5 ]), '>=', 0.1, 'by item');
	$mock->rules({ text => 'slow', latency_ms => 60_000 });
	cmp_ok($timed->(input => 'fast'), '<', 30, 'by text: not this one');
	$mock->rules({ text => 'slow', latency_ms => 300 }, { latency_ms => 20 });
	cmp_ok($timed->(input => 'a slow text'), '>=', 0.32, 'this one, and latencies add up');
	$mock->rules({ latency_ms => 50 }, { status => 503, latency_ms => 30 });
	my $start = time;
	is(RawHttp->once($mock->port, '/v1/embeddings', { model => 'mock-3', input => 'a' })->{status},
		503, 'a failure');
	cmp_ok(time - $start, '>=', 0.08, 'may come late');

	# Whoever waits longer is not answered with those who wait less.
	$mock->rules({ text => 'late', latency_ms => 400 }, { text => 'soon', latency_ms => 20 });
	$start = time;
	my @mixed = map { [ $_, RawHttp->connect($mock->port) ] } qw(late late late soon soon soon);
	$_->[1]->post('/v1/embeddings', { model => 'mock-3', input => $_->[0] }) for @mixed;
	for my $client (reverse @mixed)
	{
		is($client->[1]->reply->{status}, 200, "$client->[0]: answered");
		cmp_ok(time - $start, '>=', $client->[0] eq 'late' ? 0.4 : 0.02, "$client->[0]: in its time");
	}

	# All wait at the same time, far more than there are threads.
	$mock->reset;
	$mock->rules({ latency_ms => 400 });
	$start = time;
	my @clients = map { RawHttp->connect($mock->port) } 1 .. 200;
	$_->post('/v1/embeddings', { model => 'mock-3', input => 'a' }) for @clients;
	ok($mock->wait_for(requests => 200), 'many requests');
	is(scalar(grep { $_->reply->{status} == 200 } @clients), 200, 'are answered');
	cmp_ok(time - $start, '<', 30, 'and not one after the other');
	cmp_ok($mock->stats->{most_in_flight}, '>', 20, 'but together');

	# Control is never delayed.
	$mock->rules({ latency_ms => 60_000 });
	my $waiting = RawHttp->connect($mock->port);
	$waiting->post('/v1/embeddings', { model => 'mock-3', input => 'a' });
	ok($mock->wait_for(in_flight => 1), 'one request waits');
	my $stats = RawHttp->once($mock->port, '/control/stats');
	is($stats->{json}{in_flight}, 1, 'control on the same port does not');
	$waiting->close;
	ok($mock->wait_for(aborted => 1), 'a client that leaves is noticed at once');
	return;
};
