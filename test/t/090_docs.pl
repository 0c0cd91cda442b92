# The documents tell the truth: every SQL example in them runs, in order, in a database of its own.
use strict;
use warnings FATAL => 'all';
use File::Find;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $tree = $ENV{AI_SOURCE_TREE};
my @documents;
find({ no_chdir => 1, wanted => sub { push @documents, $_ if /\.md$/ } }, $tree);
@documents = sort @documents;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
$node->append_conf('postgresql.conf', "shared_preload_libraries = 'ai'\nai.workers = 0");
$node->start;

my $examples = 0;
for my $document (@documents)
{
	my $name = $document =~ s{^\Q$tree\E/}{}r;
	my $text = slurp_file($document);
	my @blocks = $text =~ /^```sql\n(.*?)^```$/msg;
	next unless @blocks;
	$examples += @blocks;

	my $database = 'docs' . $examples;
	$node->safe_psql('postgres', "CREATE DATABASE $database");
	my ($code, $out, $err) = $node->psql($database, join("\n", @blocks), on_error_stop => 1);
	is($code, 0, "$name: " . @blocks . ' examples run') or diag($err);
}
cmp_ok($examples, '>', 0, 'there are examples');

# Links between the documents lead somewhere.
my @broken;
for my $document (@documents)
{
	my $text = slurp_file($document);
	my ($directory) = $document =~ m{^(.*)/};
	while ($text =~ /\]\(([^)#:]+)(?:#[^)]*)?\)/g)
	{
		my $target = "$directory/$1";
		push @broken, "$document -> $1" unless -e $target || $1 =~ m{^(?:\.\./)*(?:src|test|sql|scripts|LICENSE)};
	}
}
is_deeply(\@broken, [], 'no link between documents is broken');

$node->stop;
done_testing();
