# The documents tell the truth: every SQL example in them runs, in order, in a database of its own.
#
# Providers are played by the mock. Examples find it by settings, so that they stay as a user would
# write them.
use strict;
use warnings FATAL => 'all';
use File::Find;
use MockProvider;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $tree = $ENV{AI_SOURCE_TREE};
my @documents;
find({ no_chdir => 1, wanted => sub { push @documents, $_ if /\.md$/ } }, $tree);
@documents = sort @documents;

my $mock = MockProvider->start;
my $url = $mock->url;
my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
$node->append_conf('postgresql.conf', qq{
shared_preload_libraries = 'ai'
ai.workers = 0
ai.openai_base_url = '$url/v1'
ai.ollama_host = '$url'
});
$node->start;

# Voyage AI and Cohere have no setting for their address: it is put into the calls, with a key, since
# the secrets go to the providers' own hosts only.
my %path_of = (voyageai => '/voyage/v1', cohere => '/v2');
sub with_mock
{
	my ($sql) = @_;
	$sql =~ s/\b(ai\.(voyageai|cohere)_embed\([^()]*)\)/$1, api_key => 'key', base_url => '$url$path_of{$2}')/g;
	return $sql;
}

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
	my ($code, $out, $err) = $node->psql($database, with_mock(join("\n", @blocks)), on_error_stop => 1);
	is($code, 0, "$name: " . @blocks . ' examples run') or diag($err);
}
cmp_ok($examples, '>', 0, 'there are examples');

# Each provider was asked by some example.
my $asked = $mock->stats->{by_path};
is_deeply([ grep { !$asked->{$_} } qw(/v1/embeddings /v1/models /api/embed /api/tags /voyage/v1/embeddings /v2/embed) ],
	[], 'the examples ask every provider');

# Each setting is explained.
my $all_text = join "\n", map { slurp_file($_) } @documents;
my @settings = split /\n/, $node->safe_psql('postgres', q{LOAD 'ai'; SELECT name FROM pg_settings WHERE name LIKE 'ai.%'});
cmp_ok(scalar @settings, '>', 5, 'there are settings');
is_deeply([ grep { $all_text !~ /`\Q$_\E`/ } @settings ], [], 'every setting is in a document');

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
