# A new version comes: ALTER EXTENSION UPDATE while requests are under way, before and after the library.
use strict;
use warnings FATAL => 'all';
use EngineTest;
use File::Basename;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

# A private installation, with a second version that really differs: in a table that every worker reads.
my $stage = PostgreSQL::Test::Utils::tempdir();
system_or_bail('cp', '-a', "$ENV{AI_STAGE}/.", $stage);
chomp(my $control = `find '$stage' -name ai.control`);
chomp(my $library = `find '$stage' -name ai.so`);
my ($old) = slurp_file($control) =~ /default_version = '(.*)'/;
my $new = $old =~ s/(\d)$/$1 < 9 ? $1 + 1 : 8/er;
my $changes = q{ALTER TABLE ai.vectorizer ADD COLUMN note text;
CREATE FUNCTION ai.note(name text) RETURNS text LANGUAGE sql AS 'SELECT v.note FROM ai.vectorizer v WHERE v.name = $1';
};
my $scripts = dirname($control);
append_to_file("$scripts/ai--$old--$new.sql", $changes);
append_to_file("$scripts/ai--$new.sql", slurp_file("$scripts/ai--$old.sql") . $changes);

# The library of the new version takes the place of the old one, as a package does it: the server that
# runs has the old one still.
sub install_library
{
	my $bytes = slurp_file($library);
	cmp_ok(scalar($bytes =~ s/\Q$old\E/$new/g), '>', 0, 'the library knows its version');
	open my $file, '>:raw', "$library.new" or die $!;
	print $file $bytes;
	close $file or die $!;
	chmod 0755, "$library.new";
	rename "$library.new", $library or die $!;
	return;
}

my $engine = EngineTest->new('main', install_path => dirname("$stage$ENV{AI_BINDIR}"), conf => 'ai.idle_timeout = -1');
my ($node, $mock) = ($engine->node, $engine->mock);
sub sql { return $engine->sql(@_); }
sub has_workers
{
	my ($database, $workers, $test) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	return ok(EngineTest::poll_node($node, 'template1', "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'ai worker' AND query <> '' AND datname = '$database'", $workers), $test);
}
sub version { my ($database) = @_; return sql(q{SELECT extversion FROM pg_extension WHERE extname = 'ai'}, $database); }

sql('CREATE DATABASE second');
sql(q{CREATE EXTENSION ai CASCADE; CREATE TABLE src (id int PRIMARY KEY, body text);
	SELECT ai.create_vectorizer('src', name => 'src', loading => ai.loading_column('body'), embedding => ai.embedding_openai('mock-8', 8))}, 'second');
$engine->table('src');
sql(q{INSERT INTO src SELECT n, 'before ' || n FROM generate_series(1, 300) n});
$engine->is_settled('src', 'before the update');

# -- the extension first

$mock->rules({ text => 'under way', hang => 'before' });
sql(q{INSERT INTO src SELECT n, 'under way ' || n FROM generate_series(1001, 1300) n});
$mock->wait_for(hanging => 1) or die;
EngineTest::takes_less(2, 'ALTER EXTENSION UPDATE with requests under way', sub { sql("ALTER EXTENSION ai UPDATE TO '$new'") });
is(version(), $new, 'the extension has the new version');
has_workers('postgres', 0, 'workers of the old one leave');
$node->wait_for_log(qr/LOG:  ai: library version \Q$old\E does not match extension version \Q$new\E in this database, processing is suspended/);
is(sql(q{SELECT status, count(*), max(attempts) FROM ai.jobs('src') GROUP BY 1}), 'pending|300|0', 'they have given their rows back, uncharged');
sql(q{INSERT INTO src VALUES (2000, 'meanwhile'); UPDATE src SET body = 'changed' WHERE id <= 10; DELETE FROM src WHERE id = 11});
is(sql(q{SELECT ai.vectorizer_queue_pending('src', true)}), '312', 'changes are queued');
has_workers('second', 2, 'another database is served');
sql(q{INSERT INTO src VALUES (1, 'in the second database')}, 'second');
ok(EngineTest::poll_node($node, 'second', 'SELECT count(*) = 1 FROM src_embedding_store'), 'as before');
$mock->rules;
$mock->release;
install_library();
$node->restart;
has_workers('postgres', 2, 'workers of the new version');
$engine->is_settled('src', 'all that waited is done');
is(sql(q{SELECT ai.version(), ai.note('src') IS NULL}), "$new|t", 'the new version is there');

# -- the library first

has_workers('second', 0, 'a database with the old extension is not served by the new library');
$node->wait_for_log(qr/LOG:  ai: library version \Q$new\E does not match extension version \Q$old\E in this database, processing is suspended/);
sql(q{INSERT INTO src VALUES (2, 'waits')}, 'second');
is(sql(q{SELECT ai.vectorizer_queue_pending('src', true)}, 'second'), '1', 'its changes wait');
EngineTest::takes_less(2, 'ALTER EXTENSION UPDATE', sub { sql('BEGIN; ALTER EXTENSION ai UPDATE TO ' . qq{"$new"} . '; COMMIT', 'second') });
is(version('second'), $new, 'the extension has the new version');
has_workers('second', 2, 'and is served, without a restart');
ok(EngineTest::poll_node($node, 'second', 'SELECT count(*) = 2 FROM src_embedding_store'), 'what waited is done');

# -- an update that is rolled back changes nothing

sql('CREATE DATABASE third');
sql("CREATE EXTENSION ai VERSION '$new' CASCADE; CREATE TABLE src (id int PRIMARY KEY, body text)", 'third');
has_workers('third', 2, 'a database that begins with the new version');
append_to_file("$scripts/ai--$new--next.sql", 'ALTER TABLE ai.vectorizer ADD COLUMN other text; SELECT 1/0;');
my ($code, $out, $err) = $node->psql('third', "ALTER EXTENSION ai UPDATE TO 'next'");
like($err, qr/division by zero/, 'an update that fails');
sql(q{SELECT ai.create_vectorizer('src', name => 'src', loading => ai.loading_column('body'), embedding => ai.embedding_openai('mock-8', 8));
	INSERT INTO src VALUES (1, 'goes on')}, 'third');
ok(EngineTest::poll_node($node, 'third', 'SELECT count(*) = 1 FROM src_embedding_store'), 'is no trouble');
unlike(slurp_file($node->logfile), qr/PANIC:|TRAP:|terminated by signal/, 'no process crashed');

$node->stop;
done_testing();
