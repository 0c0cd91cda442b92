# The process: starts on free ports, ends when told to or with its parent, says what it does not
# understand.
package MockTest::Process;

use strict;
use warnings FATAL => 'all';

use JSON::PP ();
use POSIX ();
use RawHttp;
use Test::More;

# Runs the program to its end; returns the exit status and all it says.
sub run
{
	my (@arguments) = @_;
	open(my $out, '-|', 'sh', '-c', 'exec "$@" 2>&1', 'sh', MockProvider::program(), @arguments)
	  or die "could not run: $!";
	my $text = do { local $/; <$out> };
	close $out;
	return ($? >> 8, $text // '');
}

sub {
	my ($mock) = @_;
	my @others = map { MockProvider->start(threads => $_) } 1, 4;
	my %ports = map { $_ => 1 } map { ($_->port, $_->control_port) } $mock, @others;
	is(keys %ports, 6, 'all have ports of their own');
	is(RawHttp->once($_->port, '/v1/models')->{status}, 200, 'and serve') for @others;
	is($others[0]->stop, 0, 'SIGTERM ends one');
	is($others[1]->kill('INT'), 0, 'and SIGINT');

	my $set = MockProvider->start(
		settings => { api_keys => ['k'], models => { own => 2 } },
		rules => [ { text => 'x', status => 503 } ]);
	my $ask = sub {
		return RawHttp->once($set->port, '/v1/embeddings', { model => 'own', input => $_[0] },
			Authorization => 'Bearer k')->{status};
	};
	is($ask->('a') . $ask->('x'), '200503', 'settings and rules from the start');
	$set->settings(api_keys => ['other']);
	is($ask->('a'), 401, 'settings can change');
	$set->reset;
	is($ask->('a') . $ask->('x'), '200200', 'a reset goes back to the settings of the start');

	# It ends while requests wait, hang, drip and are half read, and while somebody waits for counters.
	$set->rules({ text => 'hang', hang => 'body' }, { text => 'drip', drip => { bytes => 1, every_ms => 50 } },
		{ text => 'late', latency_ms => 60_000 });
	my @clients = map { RawHttp->connect($set->port) } 1 .. 4;
	my $number = 0;
	$clients[ $number++ ]->post('/v1/embeddings', { model => 'own', input => $_ },
		Authorization => 'Bearer k')
	  for qw(hang drip late);
	$clients[3]->send("POST /v1/embeddings HTTP/1.1\r\nContent-Length: 10\r\n\r\n");
	my $waiter = RawHttp->connect($set->control_port);
	$waiter->get('/control/wait?requests=1000&timeout_ms=60000');
	ok($set->wait_for(in_flight => 3, hanging => 1), 'amid all this');
	is($set->stop, 0, 'it ends');
	isnt($_->end(5), 'timeout', 'and leaves nobody waiting') for @clients, $waiter;

	my $again = MockProvider->start;
	my ($port, $control) = ($again->port, $again->control_port);
	RawHttp->once($port, '/v1/models');
	$again->restart;
	is_deeply([ $again->port, $again->control_port ], [ $port, $control ], 'it comes back');
	is(RawHttp->once($port, '/v1/models')->{status}, 200, 'on the same ports');
	$again->kill('KILL');
	ok(!eval { RawHttp->connect($port); 1 }, 'when it is gone, connections are refused');

	# A process that starts it and dies takes it along.
	pipe(my $read, my $write) or die "pipe: $!";
	my $parent = fork // die "fork: $!";
	if ($parent == 0)
	{
		my $child = MockProvider->start;
		syswrite $write, $child->port . "\n";
		kill KILL => $$;
	}
	close $write;
	my ($orphan) = <$read> =~ /(\d+)/;
	waitpid $parent, 0;
	my $turns = 0;
	while (eval { RawHttp->connect($orphan); 1 } && $turns++ < 1000)
	{
		select undef, undef, undef, 0.01;
	}
	ok(!eval { RawHttp->connect($orphan); 1 }, 'it ends with its parent');

	is_deeply([ run('--parent', 1) ], [ 0, '' ], 'it does not start for a parent that is gone')
	  if getppid() != 1 && $$ != 1;
	my ($status, $text) = run('--help');
	is($status, 0, 'help');
	like($text, qr/usage: mock_provider/, 'is given');
	for my $case (
		[ [ '--nonsense', 1 ], 2, qr/unknown option --nonsense/ ],
		[ ['--port'], 2, qr/without its value/ ],
		[ [ '--port', 70_000 ], 2, qr/number up to 65535/ ],
		[ [ '--threads', 0 ], 2, qr/at least one/ ],
		[ [ '--tls-cert', 'x' ], 2, qr/go together/ ],
		[ [ '--tls-flaw', 'x' ], 2, qr/expired or wrong-host/ ],
		[ [ '--tls', '/nonexistent' ], 1, qr/could not write/ ],
		[ [ '--settings', '{"x":1}' ], 1, qr/unknown field "x"/ ],
		[ [ '--rules', '[' ], 1, qr/byte/ ],
		[ [ '--host', 'x' ], 1, qr/no IPv4 address/ ],
		[ [ '--port', $mock->port ], 1, qr/bind/ ])
	{
		my ($arguments, $wanted, $why) = @$case;
		my ($got, $said) = run(@$arguments);
		is($got, $wanted, "@$arguments: status");
		like($said, $why, "@$arguments: reason");
	}
	return;
};
