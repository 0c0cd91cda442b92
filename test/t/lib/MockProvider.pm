# MockProvider.pm: starts, controls and stops the mock provider from a test (see test/mock/README.md).
#
#   my $mock = MockProvider->start(tls => 1);
#   $mock->rules({ text => 'poison', status => 400 }, { latency_ms => [ 5, 20 ] });
#   ... base_url => $mock->url ...
#   $mock->wait_for(requests => 3) or die;
#   is($mock->stats->{repeats}, 0);
#
# Needs core modules only. Every control request that fails dies: a test must not go on with a mock
# that is not set up as it thinks.
package MockProvider;

use strict;
use warnings;

use Carp qw(croak);
use File::Basename qw(dirname);
use File::Temp ();
use HTTP::Tiny ();
use JSON::PP ();
use POSIX ();

my $json = JSON::PP->new->utf8->canonical;

# The program: the environment's, or the one that make builds.
sub program
{
	return $ENV{AI_MOCK_PROVIDER} if defined $ENV{AI_MOCK_PROVIDER};
	return dirname(__FILE__) . '/../../../build/mock/mock_provider';
}

# Options: tls (make a certificate and listen for HTTPS), tls_flaw, threads, settings (as for
# settings()), rules (an array), args (more words of the command line).
sub start
{
	my ($class, %options) = @_;
	my $self = bless { options => \%options, owner => $$ }, $class;
	$self->{directory} = File::Temp->newdir if $options{tls};
	$self->_run(0, 0, 0);
	return $self;
}

# Starts the program on the given ports, or on ones that the system picks.
sub _run
{
	my ($self, $port, $control_port, $tls_port) = @_;
	my $options = $self->{options};
	my @command = (
		program(), '--parent', $$, '--port', $port, '--control-port', $control_port,
		'--threads', $options->{threads} // 2);
	push @command, '--tls', $self->{directory}->dirname, '--tls-port', $tls_port
		if $options->{tls};
	push @command, '--tls-flaw', $options->{tls_flaw} if $options->{tls_flaw};
	push @command, '--settings', $json->encode($options->{settings}) if $options->{settings};
	push @command, '--rules', $json->encode($options->{rules}) if $options->{rules};
	push @command, @{ $options->{args} // [] };

	pipe(my $output, my $input) or croak "pipe: $!";
	my $pid = fork() // croak "fork: $!";
	if ($pid == 0)
	{
		# Nothing of the parent may run in the child, not even its END blocks.
		open(STDOUT, '>&', $input) or POSIX::_exit(126);
		exec { $command[0] } @command or POSIX::_exit(127);
	}
	close $input;
	$self->{pid} = $pid;
	$self->_read_ports($output);
	$self->{http} = HTTP::Tiny->new(proxy => undef, http_proxy => undef, timeout => 60);
	return;
}

sub _read_ports
{
	my ($self, $output) = @_;
	my $text = '';
	while ($text !~ /^ready$/m)
	{
		my $ready = '';
		vec($ready, fileno($output), 1) = 1;
		if (!select($ready, undef, undef, 60) || !sysread($output, $text, 1024, length $text))
		{
			$self->kill('KILL');
			croak 'could not start ' . program();
		}
	}
	($self->{port}) = $text =~ /\A(\d+)$/m or croak "no port in \"$text\"";
	($self->{control_port}) = $text =~ /^control (\d+)$/m;
	($self->{tls_port}) = $text =~ /^tls (\d+)$/m;
	return;
}

sub pid { return $_[0]{pid}; }
sub port { return $_[0]{port}; }
sub tls_port { return $_[0]{tls_port}; }
sub control_port { return $_[0]{control_port}; }
sub url { return "http://127.0.0.1:$_[0]{port}" . ($_[1] // ''); }
sub tls_url { return "https://127.0.0.1:$_[0]{tls_port}" . ($_[1] // ''); }
sub ca_file { return $_[0]{directory}->dirname . '/ca.pem'; }

# Ends the program and returns its exit status as waitpid gives it.
sub stop
{
	my ($self) = @_;
	return $self->kill('TERM');
}

sub kill    ## no critic (ProhibitBuiltinHomonyms)
{
	my ($self, $signal) = @_;
	return 0 if !$self->{pid};
	local ($?, $!);
	CORE::kill($signal, $self->{pid});
	waitpid($self->{pid}, 0);
	$self->{pid} = undef;
	return $?;
}

# Starts again on the same ports, for clients that know them. Rules and counters are new.
sub restart
{
	my ($self) = @_;
	$self->stop;
	$self->_run($self->{port}, $self->{control_port}, $self->{tls_port} // 0);
	return;
}

sub DESTROY
{
	my ($self) = @_;
	$self->stop if $self->{owner} == $$;
	return;
}

# A control request; returns what the reply's JSON says.
sub control
{
	my ($self, $method, $path, $data) = @_;
	my %request = defined $data ? (content => $json->encode($data)) : ();
	my $reply = $self->{http}
		->request($method, "http://127.0.0.1:$self->{control_port}/control$path", \%request);
	croak "$method /control$path: $reply->{status} $reply->{content}" if $reply->{status} != 200;
	return $json->decode($reply->{content});
}

# Replaces the rules; without any, removes them.
sub rules
{
	my ($self, @rules) = @_;
	return $self->control('POST', '', \@rules);
}

sub add_rules
{
	my ($self, @rules) = @_;
	return $self->control('POST', '/add', \@rules);
}

# The rules in force, with how often each matched and was applied.
sub shown_rules { return $_[0]->control('GET', ''); }

sub settings
{
	my ($self, %settings) = @_;
	return $self->control('POST', '/settings', \%settings);
}

sub reset { return $_[0]->control('POST', '/reset'); }    ## no critic (ProhibitBuiltinHomonyms)
sub stats { return $_[0]->control('GET', '/stats'); }

# Releases the requests that hang and returns how many they were.
sub release { return $_[0]->control('POST', '/release')->{released}; }

# Waits until the counters are reached: wait_for(requests => 5, in_flight_at_most => 0). Takes
# timeout in seconds; returns whether they were.
sub wait_for
{
	my ($self, %wanted) = @_;
	my $timeout = delete $wanted{timeout} // 30;
	my $query = join '&', map { "$_=$wanted{$_}" } sort keys %wanted;
	$self->{http}->timeout($timeout + 30);
	my $answer = $self->control('GET', "/wait?$query&timeout_ms=" . int(1000 * $timeout));
	return $answer->{reached} ? 1 : 0;
}

# The components of a text's vector as the mock writes them, worked out anew from the description in
# README.md.
sub vector
{
	my ($text, $dimensions) = @_;
	utf8::encode($text) if utf8::is_utf8($text);
	no warnings 'portable';    # 64 bits are needed here
	my $hash = 0xcbf29ce484222325;
	$hash = _multiply($hash ^ $_, 0x100000001b3) for unpack 'C*', $text;
	my $gamma = 0x9e3779b97f4a7c15;
	my $state = $hash ^ _multiply($dimensions, $gamma);
	my (@raw, $squares);
	for (1 .. $dimensions)
	{
		$state = _add($state, $gamma);
		my $mixed = _multiply($state ^ ($state >> 30), 0xbf58476d1ce4e5b9);
		$mixed = _multiply($mixed ^ ($mixed >> 27), 0x94d049bb133111eb);
		$mixed ^= $mixed >> 31;
		my $odd = 2 * ($mixed >> 40) + 1 - (1 << 24);
		push @raw, $odd;
		$squares += $odd * $odd;
	}
	my $scale = 1e8 / sqrt $squares;
	return [ map { sprintf '%.8f', sprintf('%.0f', $_ * $scale) / 1e8 } @raw ];
}

# Arithmetic modulo 2^64: "use integer" wraps, but is signed.
sub _multiply { use integer; my $product = $_[0] * $_[1]; no integer; return $product & ~0; }
sub _add { use integer; my $sum = $_[0] + $_[1]; no integer; return $sum & ~0; }

1;
