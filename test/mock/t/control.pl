# Control: counters, waiting for them, and what is refused.
use strict;
use warnings FATAL => 'all';

use Digest::SHA qw(sha256_hex);
use JSON::PP ();
use POSIX ();
use RawHttp;
use Test::More;
use Time::HiRes qw(time);

sub {
	my ($mock) = @_;
	my $port = $mock->port;
	my $ask = sub {
		my ($input, %headers) = @_;
		return RawHttp->once($port, '/v1/embeddings', { model => 'mock-3', input => $input }, %headers);
	};

	# Counters.
	is_deeply(
		{ %{ $mock->stats }{qw(requests items tokens connections open in_flight repeats)} },
		{ map { $_ => 0 } qw(requests items tokens connections open in_flight repeats) },
		'nothing has happened');
	$ask->([ 'one', 'two' ], Authorization => 'Bearer sk-secret', 'X-Test' => 'yes');
	$ask->([ 'two', 'three', 'three' ]);
	$ask->('two', 'api-key' => 'sk-other');
	RawHttp->once($port, '/v1/models');
	RawHttp->once($port, '/v1/nowhere');
	my $stats = $mock->stats;
	is($stats->{requests}, 5, 'requests');
	is($stats->{replies}, 5, 'replies');
	is($stats->{items}, 6, 'items');
	is($stats->{tokens}, 1 + 1 + 1 + 2 + 2 + 1, 'tokens');
	is($stats->{distinct_texts}, 3, 'different texts');
	is($stats->{repeated_texts}, 2, 'texts that came again');
	is($stats->{repeats}, 3, 'how often they did');
	is($stats->{connections}, 5, 'connections');
	is($stats->{most_in_flight}, 1, 'one request at a time, as the client knows it');
	is_deeply($stats->{by_status}, { 200 => 4, 404 => 1 }, 'by status');
	my $path = $stats->{by_path}{'/v1/embeddings'};
	is($path->{requests}, 3, 'by path');
	is($path->{items}, 6, 'with items');
	is($path->{last}{method}, 'POST', 'the last request of a path: method');
	is_deeply(JSON::PP::decode_json($path->{last}{body}), { model => 'mock-3', input => 'two' },
		'body');
	my %headers = map { lc $_->[0] => $_->[1] } @{ $path->{last}{headers} };
	is($headers{'content-type'}, 'application/json', 'headers');
	my $hash = 'sha256:' . sha256_hex('sk-secret');
	is_deeply($stats->{keys}, { $hash => 1 }, 'keys, as hashes');
	is($headers{'api-key'}, 'sha256:' . sha256_hex('sk-other'), 'also in headers');
	unlike(JSON::PP::encode_json($stats), qr/sk-/, 'and never as they are');

	# Control requests do not count, on whichever port.
	RawHttp->once($port, '/control/stats') for 1 .. 3;
	is($mock->stats->{$_}, $stats->{$_}, "control does not count: $_")
	  for qw(requests connections most_open most_in_flight);
	my $both = RawHttp->connect($port);
	$both->get('/control/stats');
	is($both->reply->{status}, 200, 'control');
	$both->get('/v1/models');
	is($both->reply->{status}, 200, 'and a request on one connection');
	is(RawHttp->once($mock->control_port, '/v1/models')->{status}, 404, 'not on the port for control');
	$mock->reset;
	is($mock->stats->{requests}, 0, 'a reset');
	is_deeply($mock->stats->{by_path}, {}, 'forgets all');

	# Requests one after the other are never in flight together, whichever threads serve them.
	my @pair = map { RawHttp->connect($port) } 1, 2;
	for my $turn (1 .. 300)
	{
		$pair[ $turn % 2 ]->get('/v1/models');
		$pair[ $turn % 2 ]->reply;
	}
	is($mock->stats->{most_in_flight}, 1, 'one after the other');
	is($mock->stats->{open}, 2, 'on two connections');
	undef @pair;
	ok($mock->wait_for(open_at_most => 0), 'which close');
	is($mock->stats->{most_open}, 2, 'two at most');

	# A request that is older than a reset does not count after it.
	$mock->rules({ hang => 'before' });
	my $older = RawHttp->connect($port);
	$older->get('/v1/models');
	ok($mock->wait_for(hanging => 1), 'a request hangs');
	$mock->reset;
	is($older->reply->{status}, 200, 'a reset releases it');
	is($mock->stats->{$_}, 0, "and it no longer counts: $_") for qw(requests replies in_flight);

	# Waiting.
	my $start = time;
	ok(!$mock->wait_for(requests => 1, timeout => 0.1), 'what does not happen is waited for');
	cmp_ok(time - $start, '>=', 0.1, 'for the time given');
	my $pid = fork // die "fork: $!";
	if ($pid == 0)
	{
		$ask->([ 'a', 'b' ]) for 1 .. 3;
		POSIX::_exit(0);
	}
	ok($mock->wait_for(requests => 3, items => 6, in_flight_at_most => 0), 'what does is seen');
	waitpid $pid, 0;
	ok($mock->wait_for(requests => 3), 'also when it has happened already');
	my @waiters = map { RawHttp->connect($mock->control_port) } 1 .. 5;
	$_->get('/control/wait?bad_requests=1') for @waiters;
	my $bad = RawHttp->connect($port);
	$bad->send("nonsense\r\n\r\n");
	is_deeply([ map { $_->reply->{body} } @waiters ], [ ('{"reached":true}') x 5 ], 'by many');

	# Rules and settings.
	my $refused = sub {
		my ($what, $path, $body, $why) = @_;
		my $reply = RawHttp->once($port, $path, $body);
		is($reply->{status}, 400, "$what is refused");
		like($reply->{json}{error}, $why, "$what: with the reason");
	};
	$refused->('no JSON', '/control', 'x', qr/Invalid value/);
	$refused->('an unknown field', '/control', { stauts => 400 }, qr/unknown field "stauts"/);
	$refused->('an unknown error', '/control', { error => 'x' }, qr/one of bad_request, /);
	$refused->('an unknown reply', '/control', { reply => 'x' }, qr/one of garbage, /);
	$refused->('an unknown place', '/control', { close => 'x' }, qr/one of before, head, body, after/);
	$refused->('a wrong hang', '/control', { hang => 'after' }, qr/before, head or body/);
	$refused->('a wrong status', '/control', { status => 700 }, qr/status from 200 to 599/);
	$refused->('a wrong share', '/control', { share => 1.5 }, qr/from 0 to 1/);
	$refused->('a wrong latency', '/control', { latency_ms => [ 5, 1 ] }, qr/not below the first/);
	$refused->('a wrong kind', '/control', { text => 5 }, qr/must be a text/);
	$refused->('no rule', '/control', [5], qr/JSON object/);
	$refused->('a wrong drip', '/control', { drip => { every_ms => 1 } }, qr/bytes above zero/);
	$refused->('an unknown setting', '/control/settings', { x => 1 }, qr/unknown field "x"/);
	$refused->('a wrong model', '/control/settings', { models => { m => 0 } }, qr/dimensions from 1/);
	$refused->('keys that are no list', '/control/settings', { api_keys => 'k' }, qr/array/);
	is(RawHttp->once($port, '/control/wait?x=1')->{status}, 400, 'an unknown counter is refused');
	is(RawHttp->once($port, '/control/wait')->{status}, 400, 'and none');
	is(RawHttp->once($port, '/control/wait?requests=x')->{status}, 400, 'and no number');
	is(RawHttp->once($port, '/control/x')->{status}, 404, 'an unknown command');

	$mock->rules({ name => 'kept', status => 500 });
	RawHttp->once($port, '/control', { stauts => 400 });
	is($mock->shown_rules->[0]{name}, 'kept', 'a refused rule changes nothing');
	$mock->add_rules({ name => 'added', text => 'x', status => 501 });
	is_deeply([ map { $_->{name} } @{ $mock->shown_rules } ], [ 'kept', 'added' ], 'rules add up');
	RawHttp->once($port, '/control', { name => 'alone' });
	is_deeply([ map { $_->{name} } @{ $mock->shown_rules } ], ['alone'], 'or replace each other');
	$mock->reset;
	is_deeply($mock->shown_rules, [], 'a reset removes them');

	# Keys.
	$mock->settings(api_keys => [ 'sk-a', 'sk-b' ]);
	my $keyed = sub { return $ask->('a', $_[0] ? (Authorization => $_[0]) : ()) };
	is($keyed->('Bearer sk-a')->{status}, 200, 'a key');
	is($keyed->('bearer sk-b')->{status}, 200, 'another');
	is($keyed->('Bearer sk-c')->{json}{error}{code}, 'invalid_api_key', 'a wrong one');
	is($keyed->('Basic sk-a')->{status}, 401, 'a wrong scheme');
	like($keyed->()->{json}{error}{message}, qr/didn't provide an API key/, 'none');
	is(RawHttp->once($port, '/api/tags')->{json}{error}, 'unauthorized', 'Ollama wants it too');
	is(RawHttp->once($port, '/voyage/v1/embeddings', {})->{status}, 401, 'and Voyage');
	is(RawHttp->once($port, '/v2/embed', {})->{json}{message}, 'no api key supplied', 'and Cohere');
	$mock->settings(api_keys => undef);
	is($keyed->()->{status}, 200, 'until it is no longer wanted');

	# Limits of the model.
	$mock->settings(max_input_tokens => 10, max_request_tokens => 15);
	is($ask->('x' x 40)->{status}, 200, 'a text that just fits');
	like($ask->('x' x 41)->{json}{error}{message}, qr/requested 11 tokens/, 'one that does not');
	is($ask->([ ('x' x 40) x 2 ])->{json}{error}{code}, 'max_tokens_per_request', 'too many texts');
	return;
};
