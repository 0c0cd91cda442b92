# Every released version, updated: what is in use goes on, and each object, comment and right is as in a
# fresh installation.
use strict;
use warnings FATAL => 'all';
use EngineTest;
use File::Basename;
use File::Copy;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

# A private installation that has the old scripts, too.
my $stage = PostgreSQL::Test::Utils::tempdir();
system_or_bail('cp', '-a', "$ENV{AI_STAGE}/.", $stage);
chomp(my $control = `find '$stage' -name ai.control`);
my ($current) = slurp_file($control) =~ /default_version = '(.*)'/;
my @released = map { basename($_) =~ /\Aai--(.*)\.sql\z/ } sort glob("$ENV{AI_SOURCE_TREE}/sql/released/ai--*.sql");
copy("$ENV{AI_SOURCE_TREE}/sql/released/ai--$_.sql", dirname($control)) or die $! foreach @released;
cmp_ok(scalar @released, '>', 0, "there are released versions: @released");

my $engine = EngineTest->new('main', install_path => dirname("$stage$ENV{AI_BINDIR}"), conf => 'ai.idle_timeout = -1');
my ($node, $mock) = ($engine->node, $engine->mock);
sub sql { return $engine->sql(@_); }

# Objects, their comments and the rights on them; each as a row of text.
my $ours = q{'ai'::regnamespace};
my %objects = (
	functions => qq{SELECT oid::regprocedure, pg_get_functiondef(oid), obj_description(oid), proacl::text[]
		FROM pg_proc WHERE pronamespace = $ours AND prokind <> 'a'},
	relations => qq{SELECT oid::regclass, relkind, relpersistence, relrowsecurity, reloptions, obj_description(oid), relacl::text[],
		CASE relkind WHEN 'v' THEN pg_get_viewdef(oid) WHEN 'i' THEN pg_get_indexdef(oid) END FROM pg_class WHERE relnamespace = $ours},
	columns => qq{SELECT attrelid::regclass, attname, row_number() OVER (PARTITION BY attrelid ORDER BY attnum), format_type(atttypid, atttypmod),
		attnotnull, attacl::text[], col_description(attrelid, attnum), pg_get_expr(adbin, adrelid)
		FROM pg_attribute JOIN pg_class c ON c.oid = attrelid LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
		WHERE relnamespace = $ours AND attnum > 0 AND NOT attisdropped},
	constraints => qq{SELECT conrelid::regclass, conname, pg_get_constraintdef(oid) FROM pg_constraint WHERE connamespace = $ours},
	types => qq{SELECT oid::regtype, typtype, obj_description(oid), typacl::text[] FROM pg_type WHERE typnamespace = $ours},
	triggers => qq{SELECT tgrelid::regclass, tgname, tgenabled, pg_get_triggerdef(t.oid) FROM pg_trigger t JOIN pg_class c ON c.oid = tgrelid
		WHERE relnamespace = $ours AND NOT tgisinternal},
	policies => qq{SELECT polrelid::regclass, polname, polcmd, pg_get_expr(polqual, polrelid) FROM pg_policy},
	'event triggers' => qq{SELECT evtname, evtevent, evtfoid::regproc, evtenabled, evttags, obj_description(oid, 'pg_event_trigger') FROM pg_event_trigger},
	members => q{SELECT pg_describe_object(classid, objid, 0) FROM pg_depend d JOIN pg_extension e ON e.oid = d.refobjid
		AND refclassid = 'pg_extension'::regclass WHERE extname = 'ai' AND deptype = 'e'},
	'tables in dumps' => q{SELECT t::regclass, c FROM pg_extension, unnest(extconfig, extcondition) u(t, c) WHERE extname = 'ai'},
	schema => qq{SELECT nspname, nspacl::text[], obj_description(oid, 'pg_namespace') FROM pg_namespace WHERE oid = $ours});

sub look
{
	my ($database, $what) = @_;
	return sql("SELECT o::text FROM ($objects{$what}) o WHERE o::text !~ '_vectorizer_q' ORDER BY o::text COLLATE \"C\"", $database);
}

# The order in which rights were given says nothing.
sub sorted { return $_[0] =~ s/\{([^{}]*=[^{}]*)\}/'{' . join(',', sort split(m{,}, $1)) . '}'/ger; }

sub dump_of
{
	my ($database) = @_;
	my $file = PostgreSQL::Test::Utils::tempdir() . '/dump.sql';
	$node->command_ok([ 'pg_dump', '--schema-only', '-f', $file, $node->connstr($database) ], "$database: dumped");
	return slurp_file($file) =~ s/^\\(un)?restrict .*\n//gmr;
}

my $in_use = q{
	CREATE TABLE src (id int PRIMARY KEY, body text);
	CREATE TABLE paused (id int PRIMARY KEY, body text);
	SELECT ai.create_vectorizer('src', name => 'src', loading => ai.loading_column('body'), embedding => ai.embedding_openai('mock-8', 8),
		formatting => ai.formatting_python_template('$chunk'));
	SELECT ai.create_vectorizer('paused', name => 'paused', loading => ai.loading_column('body'), embedding => ai.embedding_openai('mock-8', 8),
		destination => ai.destination_column('embedding'), chunking => ai.chunking_none());
	SELECT ai.pause_vectorizer('paused', '2999-01-01');
	SELECT ai.set_secret('OPENAI_API_KEY', 'sk-test');
	INSERT INTO paused VALUES (1, 'waits');
};

sql('CREATE DATABASE fresh');
sql("CREATE EXTENSION ai CASCADE; $in_use", 'fresh');
foreach my $version (@released)
{
	my $database = "from_$version" =~ s/\W/_/gr;
	sql("CREATE DATABASE $database");
	sql("CREATE EXTENSION ai VERSION '$version' CASCADE; $in_use", $database);
	$node->wait_for_log(qr/ai: library version \Q$current\E does not match extension version \Q$version\E in this database, processing is suspended/);
	sql(q{INSERT INTO src SELECT n, 'text ' || n FROM generate_series(1, 100) n}, $database);
	my $file = PostgreSQL::Test::Utils::tempdir() . '/before.sql';
	$node->command_ok([ 'pg_dump', '-f', $file, $node->connstr($database) ], "$version: dumped before the update");

	sql(q{ALTER EXTENSION ai UPDATE}, $database);
	is(sql(q{SELECT extversion = ai.version() FROM pg_extension WHERE extname = 'ai'}, $database), 't', "$version: updated");
	is(sorted(look($database, $_)), sorted(look('fresh', $_)), "$version: $_ as in a fresh installation") foreach sort keys %objects;
	is(dump_of($database), dump_of('fresh'), "$version: the dump is that of a fresh installation");
	ok(EngineTest::poll_node($node, $database, 'SELECT count(*) = 100 FROM src_embedding_store'), "$version: what was queued before is embedded");
	sql(q{INSERT INTO src VALUES (101, 'afterwards')}, $database);
	ok(EngineTest::poll_node($node, $database, 'SELECT count(*) = 101 FROM src_embedding_store'), "$version: and what comes after");
	is(sql(q{SELECT count(*) FROM ai.pauses WHERE name = 'paused'}, $database), '1', "$version: a pause holds");
	is(sql(q{SELECT ai.reveal_secret('OPENAI_API_KEY')}, $database), 'sk-test', "$version: a key is there");

	# A dump that the old version made, in a database of the new one.
	sql("CREATE DATABASE restored_$database");
	$node->command_ok([ 'psql', '-Xq', '-v', 'ON_ERROR_STOP=1', '-f', $file, $node->connstr("restored_$database") ], "$version: its dump can be restored");
	ok(EngineTest::poll_node($node, "restored_$database", 'SELECT count(*) = 100 FROM src_embedding_store'), "$version: and is served");
}
unlike(slurp_file($node->logfile), qr/PANIC:|TRAP:|terminated by signal/, 'no process crashed');

$node->stop;
done_testing();
