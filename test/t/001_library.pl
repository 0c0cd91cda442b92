# The library and its surroundings: versions agree, nothing is exported but the entry points, and
# the messages where something is missing.
use strict;
use warnings FATAL => 'all';
use File::Basename;
use JSON::PP;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $tree = $ENV{AI_SOURCE_TREE};

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
$node->append_conf('postgresql.conf', "shared_preload_libraries = 'ai'");
$node->start;
$node->safe_psql('postgres', 'CREATE EXTENSION ai CASCADE');

# One version, four places that show it.
my ($control) = slurp_file("$tree/ai.control") =~ /default_version = '(.*)'/;
my $meta = decode_json(slurp_file("$tree/META.json"));
is($meta->{version}, $control, 'META.json has the version of ai.control');
is($meta->{provides}{ai}{version}, $control, 'and so has what it provides');
is($node->safe_psql('postgres', 'SELECT ai.version()'), $control, 'ai.version() too');
is( $node->safe_psql('postgres', q{SELECT extversion FROM pg_extension WHERE extname = 'ai'}),
	$control, 'and the SQL objects');
like(slurp_file("$tree/CHANGELOG.md"), qr/^## \Q$control\E\b/m, 'the change log has an entry');

# Exported symbols.
my @exported = split /\n/, `nm -D --defined-only '$ENV{AI_LIBRARY}'`;
cmp_ok(scalar @exported, '>=', 4, 'nm lists the library');
is_deeply(
	[ grep { !/ [TB] (?:_PG_init|Pg_magic_func|(?:pg_finfo_)?ai_\w+)$/ } @exported ],
	[], 'nothing is exported but the entry points');

# With preloading there is no warning.
my ($code, $out, $err) = $node->psql('postgres', 'SELECT ai.version()');
is($err, '', 'no warning when preloaded');

# Without pgvector the message names the package. That needs an installation without it.
my $stage = PostgreSQL::Test::Utils::tempdir();
system_or_bail('cp', '-a', "$ENV{AI_STAGE}/.", $stage);
chomp(my $vector_control = `find '$stage' -name vector.control`);
unlink $vector_control or die "cannot remove $vector_control: $!";
my $bare = PostgreSQL::Test::Cluster->new('bare', install_path => dirname("$stage$ENV{AI_BINDIR}"));
$bare->init;
$bare->append_conf('postgresql.conf', "shared_preload_libraries = 'ai'");
$bare->start;
($code, $out, $err) = $bare->psql('postgres', 'CREATE EXTENSION ai CASCADE');
my $major = int($node->safe_psql('postgres', 'SHOW server_version_num') / 10000);
like($err, qr/ERROR:  extension "ai" requires the extension "vector" \(pgvector\)/, 'pgvector missing: error');
like($err, qr/HINT:  Install the package postgresql-$major-pgvector/, 'and its hint names the package');
$bare->stop;

# Without preloading: one warning a session, never an error.
$node->append_conf('postgresql.conf', "shared_preload_libraries = ''");
$node->restart;
($code, $out, $err) = $node->psql('postgres', 'SELECT ai.version(); SELECT ai.version();');
is($code, 0, 'works without preloading');
is(() = $err =~ /WARNING:  ai was not loaded through shared_preload_libraries/g, 1, 'warns once');
like($err, qr/HINT:  Add ai to shared_preload_libraries/, 'and says what to do');
($code, $out, $err) =
  $node->psql('postgres', q{SET ai.preload_warning = off; SELECT value, advice FROM ai.status() WHERE item = 'preloaded'});
is($err, '', 'the warning can be turned off');
like($out, qr/^no\|Add ai to shared_preload_libraries/, 'the status says it too');
($code, $out, $err) = $node->psql('template1', 'CREATE EXTENSION ai CASCADE');
is($code, 0, 'CREATE EXTENSION works without preloading');

$node->stop;
done_testing();
