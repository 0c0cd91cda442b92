# The mock provider does everything that test/mock/README.md says. The parts are in test/mock/t; each
# gets a mock that is as new.
use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::Bin/../mock/t/lib";
use MockProvider;
use Test::More;

my @parts = @ARGV ? @ARGV
  : qw(openai providers vectors http statuses bodies transport latency control rate_limit tls process);

my $mock = MockProvider->start(tls => 1);
for my $part (@parts)
{
	my $file = "$FindBin::Bin/../mock/t/$part.pl";
	my $test = do $file or die $@ || "could not read $file: $!";
	subtest $part => sub { $test->($mock) };
	$mock->reset;
}
is($mock->stats->{in_flight}, 0, 'no request is left');
is($mock->stats->{hanging}, 0, 'none hangs');
is($mock->stop, 0, 'the mock ends as it should');
done_testing();
