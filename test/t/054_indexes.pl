# Vector indexes: when they are made, which ones, by whom, and that nobody waits for them.
use strict;
use warnings FATAL => 'all';
use EngineTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $engine = EngineTest->new('main');
my ($node, $mock) = ($engine->node, $engine->mock);
sub sql { return $engine->sql(@_); }
sub fill { my ($table, $from, $to) = @_; return sql("INSERT INTO $table SELECT n, '$table ' || n FROM generate_series($from, $to) n"); }

# A new coordinator looks at once, and knows nothing of earlier failures.
sub look
{
	my $pid = sql(q{SELECT pid FROM pg_stat_activity WHERE backend_type = 'ai coordinator' AND datname = 'postgres'});
	sql("SELECT pg_terminate_backend($pid, 5000)") if $pid;
	return;
}

# Whether an index is to be made now.
sub is_wanted { my ($name) = @_; return sql("SELECT count(*) FROM ai._missing_indexes() l JOIN ai.vectorizer v USING (id) WHERE v.name = '$name'"); }

# The complete hnsw indexes of a table.
my $indexes = q{SELECT count(*), string_agg(regexp_replace(pg_get_indexdef(indexrelid), '.* USING hnsw ', ''), ' ')
	FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_am m ON m.oid = c.relam AND m.amname = 'hnsw'
	WHERE i.indisvalid AND indrelid = '%s'::regclass};
sub gets_index
{
	my ($table, $definition, $test) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	ok(EngineTest::poll_node($node, 'postgres', sprintf($indexes, $table), "1|$definition"), $test) or diag(sql(sprintf($indexes, $table)));
	return;
}
sub errors { my ($name) = @_; return sql("SELECT coalesce(string_agg(message, E'\\n'), '') FROM ai.vectorizer_errors WHERE name = '$name' AND details ->> 'step' = 'indexing'"); }

# -- when, and which

my $few = 'ai.indexing_hnsw(min_rows => 20, m => 8, ef_construction => 32)';
$engine->table('plain', indexing => $few);
is(is_wanted('plain'), '0', 'no index for no rows');
fill('plain', 1, 10);
$engine->is_settled('plain', 'few rows');
is(is_wanted('plain'), '0', 'no index for few rows');
is(sql('SELECT statement IS NULL FROM ai._next_index_step(' . $engine->id('plain') . ')'), 't', 'not when they are counted either');
fill('plain', 11, 30);
$engine->is_settled('plain', 'more rows');
look();
gets_index('plain_embedding_store', q{(embedding vector_cosine_ops) WITH (m='8', ef_construction='32')}, 'an index for rows enough');
is(is_wanted('plain'), '0', 'it is made once');
is(sql(q{SELECT relname FROM pg_class WHERE relam = (SELECT oid FROM pg_am WHERE amname = 'hnsw')}), 'plain_embedding_store_' . $engine->id('plain') . '_vector_cosine_ops', 'its name says whose it is');
is(sql(q{SET enable_seqscan = off; EXPLAIN (COSTS OFF) SELECT chunk FROM plain_embedding_store ORDER BY embedding <=> (SELECT embedding FROM plain_embedding_store LIMIT 1) LIMIT 1}) =~ /vector_cosine_ops/, 1, 'and it is used');

# Operator classes of other types are for an expression, or for a target of that type.
my %opclass = (
	halfvec_l2_ops  => '(((embedding)::halfvec(8)) halfvec_l2_ops)',
	bit_hamming_ops => '(((binary_quantize(embedding))::bit(8)) bit_hamming_ops)',
	vector_ip_ops   => '(embedding vector_ip_ops)');
foreach my $opclass (sort keys %opclass)
{
	$engine->table($opclass, indexing => "ai.indexing_hnsw(min_rows => 5, opclass => '$opclass')");
	$engine->table("own_$opclass", indexing => "ai.indexing_hnsw(min_rows => 5, opclass => '$opclass')");
	sql("CREATE INDEX ON own_${opclass}_embedding_store USING hnsw $opclass{$opclass}");
	fill($_, 1, 10) foreach $opclass, "own_$opclass";
}
$engine->table('halved', indexing => 'ai.indexing_hnsw(min_rows => 5)');
sql('DROP VIEW halved_embedding; ALTER TABLE halved_embedding_store ALTER COLUMN embedding TYPE halfvec(8)');
fill('halved', 1, 10);
$engine->is_settled($_, "$_: rows") foreach 'halved', sort keys %opclass;
look();
gets_index("${_}_embedding_store", $opclass{$_}, $_) foreach sort keys %opclass;
gets_index('halved_embedding_store', '(embedding halfvec_cosine_ops)', 'a target that became one of halfvec');
is(is_wanted("own_$_"), '0', "$_: an index of the owner is enough") foreach sort keys %opclass;

# -- columns of the source, also of a partitioned one

sql(q{CREATE TABLE col (id int PRIMARY KEY, body text);
	CREATE TABLE parted (id int PRIMARY KEY, body text) PARTITION BY RANGE (id);
	CREATE TABLE parted_a PARTITION OF parted FOR VALUES FROM (0) TO (10);
	CREATE TABLE parted_b PARTITION OF parted FOR VALUES FROM (10) TO (100)});
$engine->vectorizer($_, name => $_, destination => q{ai.destination_column('The Vector')}, chunking => 'ai.chunking_none()',
	indexing => 'ai.indexing_hnsw(min_rows => 20)') foreach qw(col parted);
sql(q{INSERT INTO col SELECT n, CASE WHEN n > 5 THEN 'text ' || n END FROM generate_series(1, 24) n});
fill('parted', 1, 25);
$engine->is_settled($_, "$_: rows") foreach qw(col parted);
is(sql('SELECT statement IS NULL FROM ai._next_index_step(' . $engine->id('col') . ')'), 't', 'rows without a vector do not count');
sql(q{UPDATE col SET body = 'text'});
$engine->is_settled('col', 'vectors enough');
look();
gets_index($_, '("The Vector" vector_cosine_ops)', "an index on a column: $_") foreach qw(col parted_a parted_b);

# -- an empty queue

$mock->rules({ text => 'slow', hang => 'before' });
my $at_once = 'ai.indexing_hnsw(min_rows => 5, create_when_queue_empty => false)';
$engine->table('patient', indexing => 'ai.indexing_hnsw(min_rows => 5)');
$engine->table('hasty', indexing => $at_once);
fill($_, 1, 20) foreach qw(patient hasty);
$engine->is_settled($_, "$_: rows") foreach qw(patient hasty);
sql("INSERT INTO $_ VALUES (100, 'slow')") foreach qw(patient hasty);
$mock->wait_for(hanging => 2) or die;
is(is_wanted('patient'), '0', 'as long as there is something to do, there is no index');
look();
gets_index('hasty_embedding_store', '(embedding vector_cosine_ops)', 'or there is, if you like');
$mock->rules;
$mock->release;
$engine->is_settled('patient', 'nothing to do');
look();
gets_index('patient_embedding_store', '(embedding vector_cosine_ops)', 'then there is');

# -- what fails

$engine->table('taken', indexing => $few);
sql('CREATE VIEW taken_embedding_store_' . $engine->id('taken') . '_vector_cosine_ops AS SELECT 1');
fill('taken', 1, 30);
$engine->is_settled('taken', 'taken: rows');
look();
ok($engine->poll(q{SELECT count(*) > 0 FROM ai.vectorizer_errors WHERE name = 'taken'}), 'a name that is taken');
like(errors('taken'), qr/^relation "taken_embedding_store_\d+_vector_cosine_ops" already exists$/, 'is recorded');
sql('DROP VIEW taken_embedding_store_' . $engine->id('taken') . '_vector_cosine_ops');
look();
gets_index('taken_embedding_store', q{(embedding vector_cosine_ops) WITH (m='8', ef_construction='32')}, 'made when it can be');

# -- nobody waits for a build that is under way: it waits itself, for one who has an old snapshot

sub building
{
	my ($name, $database) = @_;
	my $user = $node->background_psql($database // 'postgres');
	$user->query_safe('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1');
	$engine->is_settled($name, "$name: rows") if !$database;
	look() if !$database;
	ok(EngineTest::poll_node($node, $database // 'postgres', qq{SELECT count(*) FROM pg_stat_activity a JOIN pg_stat_progress_create_index p USING (pid)
		WHERE backend_type = 'ai indexer' AND application_name = 'ai indexer' AND phase LIKE 'waiting for old snapshots'
		AND query LIKE 'CREATE INDEX CONCURRENTLY%' AND p.relid = '${name}_embedding_store'::regclass}, '1'), "$name: a build that takes long");
	return $user;
}
sub indexer { return sql(q{SELECT pid FROM pg_stat_activity WHERE backend_type = 'ai indexer'}); }
sub takes_less
{
	my ($seconds, $test, $statement, $database) = @_;
	return EngineTest::takes_less($seconds, $test, sub { sql($statement, $database) });
}
$engine->table('long', indexing => $few);
fill('long', 1, 30);
my $old = building('long');
my $pid = indexer();
my @workers = sort $engine->workers;
fill('long', 31, 60);
$engine->is_settled('long', 'rows are written meanwhile');
is(indexer(), $pid, 'while the build goes on');
sql("SELECT pg_terminate_backend($workers[0], 5000)");
ok($engine->poll("SELECT count(*) = 2 FROM pg_stat_activity WHERE backend_type = 'ai worker' AND pid <> $workers[0]"), 'and workers are looked after');
takes_less(3, 'who changes the table', 'ALTER TABLE long_embedding_store ADD COLUMN note text');
like(errors('long'), qr/^index build was canceled because another session waited for a lock on the table$/, 'it was broken off');
is(sql(sprintf($indexes, 'long_embedding_store')), '0|', 'so there is no index');
$old->query_safe('COMMIT');
$old->quit;
look();
gets_index('long_embedding_store', q{(embedding vector_cosine_ops) WITH (m='8', ef_construction='32')}, 'the next build begins anew');
is(sql(q{SELECT count(*) FROM pg_index WHERE NOT indisvalid}), '0', 'and nothing is left of the first');

$engine->table('ended', indexing => $few);
fill('ended', 1, 30);
$old = building('ended');
takes_less(1, 'SIGTERM', 'SELECT pg_terminate_backend(' . indexer() . ', 5000)');
is(errors('ended'), '', 'who is ended has no error');
takes_less(3, 'DROP TABLE', 'DROP TABLE ended CASCADE');
$old->quit;

# -- it goes with its database and its extension

foreach my $database (qw(one two))
{
	sql("CREATE DATABASE $database");
	sql(qq{CREATE EXTENSION ai CASCADE; CREATE TABLE src (id int PRIMARY KEY, body text);
		SELECT ai.create_vectorizer('src', name => 'src', loading => ai.loading_column('body'), embedding => ai.embedding_openai('mock-8', 8), indexing => $few)}, $database);
	my $other = $node->background_psql($database);
	$other->query_safe('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1');
	sql(q{INSERT INTO src SELECT n, 'text ' || n FROM generate_series(1, 30) n}, $database);
	ok(EngineTest::poll_node($node, $database, q{SELECT count(*) = 1 FROM pg_stat_activity a JOIN pg_stat_progress_create_index p USING (pid)
		WHERE backend_type = 'ai indexer' AND a.datname = current_database() AND phase = 'waiting for old snapshots'}), "$database: a build");
	if ($database eq 'one')
	{
		takes_less(2, 'DROP EXTENSION', 'DROP EXTENSION ai CASCADE', $database);
		ok(EngineTest::poll_node($node, $database, q{SELECT count(*) = 0 FROM pg_stat_activity WHERE backend_type = 'ai indexer'}), 'ends it');
	}
	else
	{
		takes_less(2, 'DROP DATABASE', "DROP DATABASE $database WITH (FORCE)");
	}
	eval { $other->quit };
}

# -- whose rights

sql(q{CREATE ROLE alice; CREATE ROLE mallory LOGIN; CREATE SCHEMA evil AUTHORIZATION mallory; CREATE TABLE evil.seen (what text, who text, process text);
	GRANT ALL ON evil.seen TO PUBLIC; CREATE TABLE alices (id int PRIMARY KEY, body text); ALTER TABLE alices OWNER TO alice;
	SET ROLE mallory; CREATE FUNCTION evil.try(what text) RETURNS void LANGUAGE plpgsql AS $$
	BEGIN
		INSERT INTO evil.seen VALUES (what, current_user, current_setting('application_name'));
		BEGIN EXECUTE 'ALTER ROLE mallory SUPERUSER'; EXCEPTION WHEN OTHERS THEN NULL; END;
		BEGIN EXECUTE 'RESET SESSION AUTHORIZATION'; EXCEPTION WHEN OTHERS THEN NULL; END;
		BEGIN EXECUTE 'ALTER ROLE mallory SUPERUSER'; EXCEPTION WHEN OTHERS THEN NULL; END;
	END $$;
	CREATE FUNCTION evil.is(what text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN PERFORM evil.try(what); RETURN true; END $$;
	CREATE TABLE evil.src (id int PRIMARY KEY, body text)});
my $ollama = q{ai.embedding_ollama('mock-8', 8, base_url => '} . $mock->url . q{')};
$engine->vectorizer('evil.src', name => 'evil', embedding => $ollama, indexing => $few, destination => q{ai.destination_column('embedding')}, chunking => 'ai.chunking_none()');
$engine->vectorizer('alices', name => 'alices', embedding => $ollama, indexing => $few);
sql(q{SET ROLE mallory; CREATE INDEX ON evil.src (id) WHERE evil.is('predicate ' || body); ALTER TABLE evil.src ENABLE ROW LEVEL SECURITY;
	ALTER TABLE evil.src FORCE ROW LEVEL SECURITY; CREATE POLICY p ON evil.src USING (evil.is('policy')) WITH CHECK (true)});
fill('alices', 1, 30);
# As herself: what a superuser writes to her table runs her functions as superuser.
$node->safe_psql('postgres', q{INSERT INTO evil.src SELECT n, 'text ' || n FROM generate_series(1, 30) n}, extra_params => [ '-U', 'mallory' ]);
ok($engine->drained($_), "$_: rows") foreach qw(evil alices);
look();
gets_index('alices_embedding_store', q{(embedding vector_cosine_ops) WITH (m='8', ef_construction='32')}, 'an owner who may not create in the schema');
is(sql(q{SELECT DISTINCT pg_get_userbyid(c.relowner) FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid WHERE i.indrelid = 'alices_embedding_store'::regclass}), 'alice', 'has the index');
gets_index('evil.src', q{(embedding vector_cosine_ops) WITH (m='8', ef_construction='32')}, 'an owner with functions of his own');
cmp_ok(sql(q{SELECT count(*) FROM evil.seen WHERE process = 'ai indexer'}), '>', 0, 'which ran');
is(sql(q{SELECT string_agg(DISTINCT who, ',') FROM evil.seen WHERE process LIKE 'ai %'}), 'mallory', 'as the owner');
is(sql(q{SELECT rolsuper FROM pg_roles WHERE rolname = 'mallory'}), 'f', 'who is what he was');

unlike(slurp_file($node->logfile), qr/PANIC:|TRAP:|terminated by signal/, 'no process crashed');
$node->stop;
done_testing();
