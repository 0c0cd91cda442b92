# RawHttp.pm: an HTTP client for the mock's own test that hides nothing: how a reply ended, what came
# before it, which header stood where. Repairs nothing and retries nothing.
package RawHttp;

use strict;
use warnings FATAL => 'all';

use Errno qw(ECONNRESET EPIPE);
use IO::Select ();
use IO::Socket::INET ();
use JSON::PP ();
use Socket qw(IPPROTO_TCP TCP_NODELAY);

my $json = JSON::PP->new->utf8->canonical;

sub connect    ## no critic (ProhibitBuiltinHomonyms)
{
	my ($class, $port) = @_;
	my $socket = IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => $port, Timeout => 30)
	  or die "connect to $port: $@";
	$socket->setsockopt(IPPROTO_TCP, TCP_NODELAY, 1);
	return bless { socket => $socket, buffer => '', ended => '' }, $class;
}

# False when the other side no longer takes it.
sub send    ## no critic (ProhibitBuiltinHomonyms)
{
	my ($self, $data) = @_;
	local $SIG{PIPE} = 'IGNORE';
	my $sent = 0;
	while ($sent < length $data)
	{
		my $count = syswrite($self->{socket}, $data, length($data) - $sent, $sent) // return 0;
		$sent += $count;
	}
	return 1;
}

sub post
{
	my ($self, $path, $data, %headers) = @_;
	my $body = ref $data ? $json->encode($data) : $data;
	my $lines = join '', map { "$_: $headers{$_}\r\n" } sort keys %headers;
	return $self->send("POST $path HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
		  . $lines . 'Content-Length: ' . length($body) . "\r\n\r\n" . $body);
}

sub get
{
	my ($self, $path) = @_;
	return $self->send("GET $path HTTP/1.1\r\nHost: localhost\r\n\r\n");
}

# Reads once within the seconds; false at the end, which is then in "ended": eof, reset or timeout.
sub more
{
	my ($self, $timeout) = @_;
	if (!IO::Select->new($self->{socket})->can_read($timeout // 30))
	{
		$self->{ended} = 'timeout';
		return 0;
	}
	my $count = sysread($self->{socket}, $self->{buffer}, 1 << 16, length $self->{buffer});
	return 1 if $count;
	$self->{ended} = defined $count ? 'eof' : $! == ECONNRESET ? 'reset' : "error: $!";
	return 0;
}

# Reads until the pattern has come; returns what is up to its end, or undef.
sub read_until
{
	my ($self, $pattern, $timeout) = @_;
	do
	{
		return substr($self->{buffer}, 0, $+[0], '') if $self->{buffer} =~ /$pattern/;
	} while ($self->more($timeout));
	return;
}

sub read_bytes
{
	my ($self, $count, $timeout) = @_;
	while (length $self->{buffer} < $count)
	{
		last if !$self->more($timeout);
	}
	return substr($self->{buffer}, 0, $count, '');
}

# Reads one reply: status, headers (last one wins), body, and how it ended: complete, eof, reset or
# timeout. The status is 0 when there was not even a head.
sub reply
{
	my ($self, %options) = @_;
	my $timeout = $options{timeout};
	my $head = $self->read_until(qr/\r\n\r\n/, $timeout);
	return { status => 0, headers => {}, body => '', ended => $self->{ended} } if !defined $head;
	my ($status) = $head =~ m{\AHTTP/1\.1 (\d+) };
	my %headers = map { /\A([^:]+): (.*)\z/ ? (lc $1, $2) : () } split /\r\n/, $head;
	my $reply = { status => $status, headers => \%headers, head => $head, body => '' };
	if ($options{head_only})
	{
		$reply->{ended} = 'complete';
	}
	elsif (($headers{'transfer-encoding'} // '') eq 'chunked')
	{
		$self->_read_chunks($reply, $timeout);
	}
	else
	{
		my $length = $headers{'content-length'} // 1e15;
		$reply->{body} = $self->read_bytes($length, $timeout);
		$reply->{ended} = length $reply->{body} == $length ? 'complete' : $self->{ended};
	}
	return $reply;
}

sub _read_chunks
{
	my ($self, $reply, $timeout) = @_;
	while (defined(my $line = $self->read_until(qr/\r\n/, $timeout)))
	{
		if ($line !~ /\A([0-9a-f]+)\r\n\z/)
		{
			$reply->{ended} = 'bad chunk';
			return;
		}
		my $size = hex $1;
		my $chunk = $self->read_bytes($size + 2, $timeout);
		$reply->{body} .= substr $chunk, 0, $size;
		if ($size == 0)
		{
			$reply->{ended} = 'complete';
			return;
		}
	}
	$reply->{ended} = $self->{ended};
	return;
}

# Whether the other side closes or resets within the seconds.
sub end
{
	my ($self, $timeout) = @_;
	1 while $self->more($timeout);
	return $self->{ended};
}

sub close    ## no critic (ProhibitBuiltinHomonyms)
{
	my ($self) = @_;
	CORE::close($self->{socket});
	return;
}

# One request on a connection of its own.
sub once
{
	my ($class, $port, $path, $data, %headers) = @_;
	my $client = $class->connect($port);
	defined $data ? $client->post($path, $data, %headers) : $client->get($path);
	my $reply = $client->reply;
	$reply->{json} = eval { $json->decode($reply->{body}) };
	return $reply;
}

1;
