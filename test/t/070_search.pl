# Search from a text to hits: what workers have embedded, with the vectorizer's model and its owner's key,
# read with the rights of the caller; the plan that is really used.
use strict;
use warnings FATAL => 'all';
use EngineTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $engine = EngineTest->new('main', conf => 'ai.workers = 2');
my ($node, $mock) = ($engine->node, $engine->mock);
sub sql { return $engine->sql(@_); }

sub error_of
{
	my ($statement) = @_;
	my ($code, undef, $err) = $node->psql('postgres', $statement);
	isnt($code, 0, "fails: $statement");
	return $err;
}

# What a statement returns, and how many texts it has sent.
sub asks
{
	my ($statement, $items, $result, $test) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	my $before = $mock->stats->{items};
	is(sql($statement), $result, $test);
	is($mock->stats->{items} - $before, $items, "$test: $items texts are sent");
	return;
}

# -- a text finds its row

sql(q{
	CREATE ROLE owner; CREATE ROLE even; CREATE ROLE odd;
	CREATE SCHEMA app AUTHORIZATION owner;
	GRANT USAGE ON SCHEMA app TO even, odd;
	SELECT ai.grant_secret('OPENAI_API_KEY', 'owner');
	SET ROLE owner;
	CREATE TABLE app.docs (id int PRIMARY KEY, body text, reader name);
	INSERT INTO app.docs SELECT n, 'text ' || n || CASE WHEN n < 10 THEN ' of elephants' ELSE '' END,
		CASE WHEN n % 2 = 0 THEN 'even' ELSE 'odd' END FROM generate_series(1, 300) n;
	GRANT SELECT ON app.docs TO even, odd;
	SELECT ai.create_vectorizer('app.docs', name => 'docs', loading => ai.loading_column('body'),
		embedding => ai.embedding_openai('mock-8', 8), grant_to => ai.grant_to('even', 'odd'))});
$engine->is_settled('docs', 'embedded');

asks(q{SELECT key, chunk_seq, chunk, distance < 1e-6 FROM ai.search('docs', 'text 77', 1)}, 1, '{"id": 77}|0|text 77|t', 'by name');
asks(q{SELECT key ->> 'id' FROM ai.search(1, 'text 78', 1)}, 1, '78', 'by id');
asks(q{SELECT d.body FROM ai.search('docs', 'text 77', 50) h JOIN app.docs d ON d.id = (h.key ->> 'id')::int
	WHERE h.score > 0.999}, 1, 'text 77', 'in a join');
asks(q{SELECT string_agg(h.chunk, ',' ORDER BY q.n) FROM (VALUES (1, 'text 5 of elephants'), (2, 'text 200')) AS q (n, query)
	CROSS JOIN LATERAL ai.search('docs', q.query, 1) h}, 2, 'text 5 of elephants,text 200', 'for each row of another table');
asks(q{SELECT count(*) FROM ai.search('docs', NULL::text)}, 0, '0', 'no query');
sql(q{UPDATE app.docs SET body = 'brand new' WHERE id = 77});
$engine->is_settled('docs', 'changed');
asks(q{SELECT key ->> 'id' FROM ai.search('docs', 'brand new', 1)}, 1, '77', 'a new text');

# -- what is wrong is told before the provider is asked

my $before = $mock->stats->{requests};
like(error_of(q{SELECT * FROM ai.search('docs', 'x', 0)}), qr/k must be between 1 and 10000/, 'k');
like(error_of(q{SELECT * FROM ai.search('docs', 'x', filter => '{"nope": 1}')}), qr/column "nope" of the filter does not exist/, 'filter');
like(error_of(q{SELECT * FROM ai.search('nope', 'x')}), qr/vectorizer "nope" does not exist/, 'vectorizer');
like(error_of(q{CREATE ROLE nobody; SET ROLE nobody; SELECT * FROM ai.hybrid_search('docs', 'x')}),
	qr/permission denied for vectorizer "docs"/, 'rights');
is($mock->stats->{requests}, $before, 'nothing was sent');
like(error_of(q{SELECT * FROM ai.search('docs', '')}), qr/cannot embed an empty text/, 'an empty text');
$mock->rules({ status => 401 });
like(error_of(q{SELECT * FROM ai.search('docs', 'x')}), qr/401/, 'a refusal of the provider');
$mock->reset;

# -- two roles see their own rows, with the key of the owner

sql(q{
	ALTER TABLE app.docs ENABLE ROW LEVEL SECURITY;
	CREATE POLICY own ON app.docs FOR SELECT TO even, odd USING (reader = current_user)});
my $seen = q{SELECT count(*), count(*) FILTER (WHERE (key ->> 'id')::int % 2 = 0) FROM ai};
foreach my $function ('search', 'hybrid_search')
{
	is(sql("SET ROLE even; $seen.$function('docs', 'text', 200)"), '150|150', "$function: even rows");
	is(sql("SET ROLE odd; $seen.$function('docs', 'text', 200)"), '150|0', "$function: odd rows");
	is(sql("SET ROLE odd; $seen.$function('docs', 'text', 200, filter => '{\"id\": {\"<=\": 100}}')"), '50|0', "$function: with a filter");
	is(sql("SET ROLE owner; $seen.$function('docs', 'text', 300)"), '300|150', "$function: all rows for the owner");
}
is(sql(q{SET ROLE even; SELECT count(*) FROM ai.search('docs', 'text 3 of elephants', 1) WHERE chunk = 'text 3 of elephants'}), '0',
	'not even the nearest one');
like(error_of(q{SET ROLE even; SELECT ai.openai_embed('mock-8', 'text')}), qr/secret|permission/, 'the key is not theirs');
sql(q{
	ALTER TABLE app.docs DISABLE ROW LEVEL SECURITY;
	ALTER TABLE app.docs_embedding_store ENABLE ROW LEVEL SECURITY;
	CREATE POLICY low ON app.docs_embedding_store FOR SELECT TO even, odd USING (id <= CASE current_user WHEN 'even' THEN 20 ELSE 30 END)});
is(sql(q{SET ROLE even; SELECT count(*), max((key ->> 'id')::int) FROM ai.search('docs', 'text', 100)}), '20|20', 'row security of the target');
is(sql(q{SET ROLE odd; SELECT count(*), max((key ->> 'id')::int) FROM ai.hybrid_search('docs', 'text', 100)}), '30|30', 'for each role its own');
$engine->is_settled('docs', 'row security of the target does not stop the workers');
sql(q{ALTER TABLE app.docs_embedding_store DISABLE ROW LEVEL SECURITY});

# -- words, kept while workers write

is(sql(q{SET ROLE owner; SELECT ai.enable_hybrid_search('docs', 'english')}), 'chunk_english', 'words are kept');
sql(q{INSERT INTO app.docs VALUES (500, 'An umbrella in the rain', 'even'); UPDATE app.docs SET body = 'two umbrellas' WHERE id = 8;
	DELETE FROM app.docs WHERE id = 9});
$engine->is_settled('docs', 'written with a column for the words');
is(sql(q{SELECT string_agg(key ->> 'id', ',' ORDER BY (key ->> 'id')::int) FROM ai.hybrid_search('docs', 'umbrella') WHERE text_rank IS NOT NULL}),
	'8,500', 'new words are found');
is(sql(q{SELECT count(*) FROM ai.hybrid_search('docs', 'elephants', 20) WHERE text_rank IS NOT NULL}), '7', 'old ones, too');

# -- the plan, as the server has logged it

sql(q{
	INSERT INTO app.docs SELECT n, 'more ' || n, 'even' FROM generate_series(1001, 4000) n});
$engine->is_settled('docs', 'more rows');
sql(q{
	CREATE INDEX docs_hnsw ON app.docs_embedding_store USING hnsw (embedding vector_cosine_ops);
	VACUUM ANALYZE app.docs; VACUUM ANALYZE app.docs_embedding_store});

sub plan_of
{
	my ($statement) = @_;
	my $offset = -s $node->logfile;
	sql(q{LOAD 'auto_explain'; SET auto_explain.log_min_duration = 0; SET auto_explain.log_nested_statements = on;} . $statement);
	return slurp_file($node->logfile, $offset);
}

my $plan = plan_of(q{SELECT count(*) FROM ai.search('docs', 'more 1500')});
like($plan, qr/Index Scan using docs_hnsw on docs_embedding_store t/, 'search: by the index of vectors');
unlike($plan, qr/Seq Scan on docs_embedding_store/, 'search: without reading all');
$plan = plan_of(q{SELECT count(*) FROM ai.search('docs', 'more 1500', filter => '{"reader": "even"}', group_by_row => true)});
like($plan, qr/Index Scan using docs_hnsw on docs_embedding_store t.*Filter: \(reader = 'even'::name\)/s, 'search: the filter within the scan');
$plan = plan_of(q{SELECT count(*) FROM ai.hybrid_search('docs', 'umbrellas')});
like($plan, qr/Index Scan using docs_hnsw on docs_embedding_store t/, 'hybrid search: by the index of vectors');
like($plan, qr/Bitmap Index Scan on docs_embedding_store_chunk_english_idx/, 'hybrid search: and by that of words');
is(sql(q{SELECT key ->> 'id' FROM ai.search('docs', 'more 1500', 1)}), '1500', 'the index finds it');

# -- pgvector in a schema of its own, which is not in the search_path

$node->safe_psql('postgres', 'CREATE DATABASE elsewhere');
sub elsewhere { return sql(shift, 'elsewhere'); }
elsewhere(q{
	CREATE SCHEMA "Ext"; CREATE EXTENSION vector SCHEMA "Ext"; CREATE EXTENSION ai;
	CREATE TABLE docs (id int PRIMARY KEY, body text);
	INSERT INTO docs SELECT n, 'text ' || n FROM generate_series(1, 50) n;
	SELECT ai.create_vectorizer('docs', name => 'docs', loading => ai.loading_column('body'),
		embedding => ai.embedding_openai('mock-8', 8), indexing => ai.indexing_hnsw(opclass => 'halfvec_l2_ops'))});
ok(EngineTest::poll_node($node, 'elsewhere', q{SELECT ai.vectorizer_queue_pending('docs', true) = 0}), 'elsewhere: embedded');
is(elsewhere(q{SELECT key ->> 'id' FROM ai.search('docs', 'text 7', 1)}), '7', 'elsewhere: search');
is(elsewhere(q{SELECT key ->> 'id' FROM ai.hybrid_search('docs', 'text 7', 1, filter => '{"id": [7, 8]}')}), '7', 'elsewhere: hybrid search');

# -- a dump takes along what search needs

my $dump = PostgreSQL::Test::Utils::tempdir() . '/dump.sql';
is(elsewhere(q{SELECT ai.enable_hybrid_search('docs', 'simple')}), 'chunk_simple', 'elsewhere: words are kept');
$node->command_ok([ 'pg_dump', '--file', $dump, $node->connstr('elsewhere') ], 'dumped');
$node->safe_psql('postgres', 'CREATE DATABASE restored');
$node->command_ok([ 'psql', '--no-psqlrc', '--quiet', '--set=ON_ERROR_STOP=1', '--file', $dump, $node->connstr('restored') ], 'restored');
is(sql(q{SELECT statement ~ 't.chunk_simple @@' FROM ai.hybrid_search_plan('docs')}, 'restored'), 't', 'restored: words are kept');
is(sql(q{SELECT key ->> 'id' FROM ai.hybrid_search('docs', 'text 7', 1)}, 'restored'), '7', 'restored: hybrid search');

$node->stop;
done_testing();
