# A psql that is asked the same question many times.
package PollSession;
use strict;
use warnings FATAL => 'all';
use IPC::Open2 qw(open2);
use Time::HiRes qw(time);

my $mark = 'end of answer';

sub new
{
	my ($class, $connstr) = @_;
	my $pid = open2(my $out, my $in, 'sh', '-c', 'exec psql "$@" 2>&1', 'sh', '-XAtq', '-d', $connstr);
	$in->autoflush(1);
	return bless { pid => $pid, in => $in, out => $out }, $class;
}

# What it prints, errors too; undef if it has ended, or the time has come.
sub ask
{
	my ($self, $query, $end) = @_;
	local $SIG{PIPE} = 'IGNORE';
	print { $self->{in} } "$query\n;\n\\echo $mark\n" or return;
	my ($answer, $bits) = ('', '');
	vec($bits, fileno($self->{out}), 1) = 1;
	while ($answer !~ s/^\Q$mark\E\n//m)
	{
		return if !select(my $ready = $bits, undef, undef, $end > time ? $end - time : 0);
		return if !sysread($self->{out}, $answer, 65536, length $answer);
	}
	chomp $answer;
	return $answer;
}

sub DESTROY
{
	my ($self) = @_;
	local ($?, $!);
	close $self->{in};
	kill 'TERM', $self->{pid};
	waitpid $self->{pid}, 0;
	return;
}

1;
