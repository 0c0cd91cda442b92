# scripts/setup on a machine without a network: names what is missing, and goes on with what is there.
use strict;
use warnings;
use File::Temp qw(tempdir);
use IPC::Run qw(run);
use Test::More;

my $root = $ENV{AI_SOURCE_TREE};

# A PATH with the programs of this machine but some, and package tools that reach nothing.
sub machine_without
{
	my %absent = map { $_ => 1 } @_;
	my $bin = tempdir(CLEANUP => 1);
	for my $directory (split /:/, "$ENV{PATH}:/usr/sbin:/sbin")
	{
		for my $program (glob "$directory/*")
		{
			my ($name) = $program =~ m{([^/]+)$};
			symlink $program, "$bin/$name" if !$absent{$name} && !-e "$bin/$name";
		}
	}
	my %stubs = (
		'apt-get' => 'case "$*" in *update*) echo "W: Failed to fetch the lists"; exit 0 ;; '
		  . '*) echo "E: Unable to locate package some"; exit 100 ;; esac',
		'apt-cache' => 'echo "  Candidate: (none)"',
		'sudo' => '[ "$1" = -n ] && shift; [ "$1" = -v ] && exit 0; exec "$@"');
	for my $name (keys %stubs)
	{
		unlink "$bin/$name";
		open my $file, '>', "$bin/$name" or die $!;
		print $file "#!/bin/sh\n$stubs{$name}\n";
		close $file;
		chmod 0755, "$bin/$name";
	}
	return $bin;
}

# Runs the set-up there; returns its exit code and what it said.
sub set_up
{
	my ($bin, @profiles) = @_;
	local $ENV{PATH} = $bin;
	local $ENV{TMPDIR} = tempdir(CLEANUP => 1);
	run [ "$bin/bash", "$root/scripts/setup", @profiles ], '<', \'', '>&', \my $said;
	return ($? >> 8, $said);
}

my ($code, $said) = set_up(machine_without());
is($code, 0, 'with everything there, no network is needed') or diag $said;
like($said, qr/^setup: everything is there \(PostgreSQL \d+, pgvector [\d.]+\)$/m, 'and is not asked for');

($code, $said) = set_up(machine_without('npm'));
is($code, 0, 'without npm, the set-up goes on') or diag $said;
like($said, qr/^setup: missing: npm$/m, 'what is missing is named');
like($said, qr/^setup: packages could not be downloaded; going on without npm$/m, 'and what that means');
like($said, qr/^setup: Check the network and the mirror in the package sources/m, 'and what to do');
like($said, qr/^setup: the rest is there \(PostgreSQL \d+, pgvector/m, 'and what there is');

($code, $said) = set_up(machine_without('npm', 'pkg-config', 'make'));
is($code, 1, 'without make, it does not') or diag $said;
like($said, qr/^setup: missing: make, pkg-config, .*npm$/m, 'all that is missing is named');
like($said,
	qr/^setup: packages could not be downloaded; nothing can be built without make, pkg-config, /m,
	'and what stands in the way');
unlike($said, qr/nothing can be built without [^\n]*npm/, 'which is not all of it');

done_testing();
