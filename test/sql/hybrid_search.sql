-- Hybrid search: ranks by words and by meaning, fused; with and without a column that keeps the words.
\set SHOW_CONTEXT never
SELECT setval('ai.vectorizer_id_seq', 1, false);
SET default_text_search_config = 'pg_catalog.english';
CREATE ROLE regress_ai_owner;
CREATE ROLE regress_ai_other;
CREATE SCHEMA hybrid AUTHORIZATION regress_ai_owner;
GRANT USAGE ON SCHEMA hybrid TO regress_ai_other;
SET ROLE regress_ai_owner;
SET search_path = hybrid, public;
CREATE TABLE doc (id int PRIMARY KEY, body text, year int);
INSERT INTO doc SELECT g, 'body', 2000 + g FROM generate_series(1, 6) g;
SELECT ai.create_vectorizer('hybrid.doc', name => 'docs', loading => ai.loading_column('body'),
    embedding => ai.embedding_openai('m', 2), enqueue_existing => false);
-- From 0 degrees on, in steps of 10.
INSERT INTO doc_embedding_store (id, chunk_seq, chunk, embedding)
SELECT v.id, v.seq, v.chunk, format('[%s,%s]', cosd(v.degrees), sind(v.degrees))::vector
FROM (VALUES (1, 0, 'Elephants remember everything', 0), (1, 1, 'A herd of animals', 10), (2, 0, 'The memory of an elephant', 20),
    (3, 0, 'Das Gedächtnis der Elefanten', 30), (4, 0, 'Servers forget, and remember', 40),
    (5, 0, 'An elephant herd remembers, the herd forgets', 50), (6, 0, 'The error code 1045', 60)) AS v (id, seq, chunk, degrees);

CREATE FUNCTION hits(query text, query_vector vector DEFAULT '[1,0]', k int DEFAULT 4, filter jsonb DEFAULT NULL,
    group_by_row boolean DEFAULT false, language regconfig DEFAULT NULL, match text DEFAULT 'all', vector_weight float8 DEFAULT 1,
    text_weight float8 DEFAULT 1, rrf_k int DEFAULT 60, vectorizer text DEFAULT 'docs')
    RETURNS TABLE (id text, chunk text, distance numeric, score numeric, vector_rank int, text_rank int)
    LANGUAGE sql SET search_path = hybrid, public AS $$
    SELECT h.key ->> 'id', h.chunk, round(h.distance::numeric, 3), round(h.score::numeric, 5), h.vector_rank, h.text_rank
    FROM ai.hybrid_search(vectorizer, query, k, filter, group_by_row, language, match, vector_weight, text_weight, rrf_k, query_vector) h
$$;

-- Without a column for the words, they are computed.
SELECT approximate, oversampling, language, statement ~ 'to_tsvector' AS computes FROM ai.hybrid_search_plan('docs');
SELECT * FROM hits('elephants');
SELECT * FROM hits('remembering herds');
SELECT * FROM hits('remembering herds', match => 'any');
SELECT id, text_rank FROM hits('herd or 1045') WHERE text_rank > 0;
SELECT id, text_rank FROM hits('"elephant herd"', k => 10) WHERE text_rank > 0;
SELECT id, text_rank FROM hits('elephant -memory', k => 10, match => 'any') WHERE text_rank > 0 ORDER BY text_rank;
SELECT id, text_rank FROM hits('1045');
SET client_min_messages = warning;
SELECT id, text_rank FROM hits('the of and');
SELECT id, text_rank FROM hits('');
RESET client_min_messages;

-- Weights, rrf_k, language, filter.
SELECT id, score FROM hits('forget', text_weight => 0, k => 2);
SELECT id, score, text_rank FROM hits('forget', vector_weight => 0);
SELECT id, score FROM hits('forget', text_weight => 3, k => 2);
SELECT id, score FROM hits('forget', rrf_k => 1, k => 2);
SELECT id, text_rank FROM hits('Elefant', language => 'german', k => 10) WHERE text_rank > 0;
SELECT id, text_rank FROM hits('remember', language => 'simple', k => 10) WHERE text_rank > 0;
SELECT id, vector_rank, text_rank FROM hits('elephant', filter => '{"year": {">=": 2002}}', k => 2);

-- One hit for a row.
SELECT id, chunk, vector_rank, text_rank FROM hits('herd', group_by_row => true, k => 10);

-- By id; no query, no rows; wrong arguments are told.
SELECT chunk FROM ai.hybrid_search(1, '1045', 1, query_vector => '[-1,0]');
SELECT count(*) FROM ai.hybrid_search(1, NULL);
SELECT count(*) FROM ai.hybrid_search('docs', NULL, query_vector => '[1,0]');
SELECT * FROM hits('x', k => 0);
SELECT * FROM hits('x', match => 'some');
SELECT * FROM hits('x', match => NULL);
SELECT * FROM hits('x', vector_weight => -1);
SELECT * FROM hits('x', vector_weight => 0, text_weight => 0);
SELECT * FROM hits('x', text_weight => 'NaN');
SELECT * FROM hits('x', text_weight => NULL);
SELECT * FROM hits('x', rrf_k => 0);
SELECT * FROM hits('x', rrf_k => NULL);
SELECT * FROM hits('x', query_vector => '[1,0,0]');
SELECT * FROM hits('x', filter => '{"nope": 1}');
SELECT * FROM hits('x', vectorizer => 'nope');
SELECT * FROM ai.hybrid_search(99, 'x');
SELECT * FROM ai.hybrid_search('docs', 'x', language => 'klingon');

-- A row that is deleted is not found.
BEGIN;
DELETE FROM doc WHERE id = 5;
SELECT id FROM hits('herd', k => 10);
ROLLBACK;

-- A column keeps the words, for whoever owns the vectorizer. It is the owner's, and used.
SET ROLE regress_ai_other;
SELECT ai.enable_hybrid_search('docs');
SELECT ai._enable_hybrid_search(10, 'docs', NULL);
SELECT * FROM ai.hybrid_search('docs', 'x', query_vector => '[1,0]');
RESET ROLE;
SELECT ai.enable_hybrid_search('docs');
SELECT ai.enable_hybrid_search('docs', 'english');
SELECT ai.enable_hybrid_search(1, 'german');
SELECT ai.enable_hybrid_search('nope');
SET ROLE regress_ai_owner;
SELECT a.attname, a.attgenerated, pg_get_expr(d.adbin, d.adrelid) FROM pg_attribute a
JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
WHERE a.attrelid = 'doc_embedding_store'::regclass AND a.atttypid = 'tsvector'::regtype ORDER BY 1;
SELECT indexdef, tableowner FROM pg_indexes JOIN pg_tables USING (schemaname, tablename) WHERE indexdef ~ 'USING gin' ORDER BY 1;
SELECT language, statement ~ 'to_tsvector' AS computes, statement ~ 't.chunk_english @@' AS kept FROM ai.hybrid_search_plan('docs');
SELECT language, statement ~ 't.chunk_german @@' AS kept FROM ai.hybrid_search_plan('docs', language => 'german');
SELECT language, statement ~ 'to_tsvector' AS computes FROM ai.hybrid_search_plan('docs', language => 'simple');
SELECT * FROM hits('elephants');
SELECT id, text_rank FROM hits('Elefant', language => 'german', k => 10) WHERE text_rank > 0;
-- A worker's way to write: the words follow.
INSERT INTO doc_embedding_store (id, chunk_seq, chunk, embedding, content_hash) VALUES (6, 0, 'An umbrella', '[1,0]', 'x')
ON CONFLICT (id, chunk_seq) DO UPDATE SET chunk = excluded.chunk, embedding = excluded.embedding, content_hash = excluded.content_hash;
SELECT id, text_rank FROM hits('umbrellas', k => 1);
-- Renamed it is found, dropped it is not needed.
ALTER TABLE doc_embedding_store RENAME COLUMN chunk_english TO "Some words";
SELECT statement ~ 't."Some words" @@' AS kept FROM ai.hybrid_search_plan('docs');
ALTER TABLE doc_embedding_store DROP COLUMN "Some words", DROP COLUMN chunk_german;
SELECT language, statement ~ 'to_tsvector' AS computes FROM ai.hybrid_search_plan('docs');
SELECT id FROM hits('umbrellas', k => 1);

-- Both indexes are used, and settings of pgvector are as before.
CREATE TABLE many (id int PRIMARY KEY, body text);
INSERT INTO many SELECT g, 'body' FROM generate_series(1, 3000) g;
SELECT ai.create_vectorizer('hybrid.many', name => 'many', loading => ai.loading_column('body'),
    embedding => ai.embedding_openai('m', 3), enqueue_existing => false);
INSERT INTO many_embedding_store (id, chunk_seq, chunk, embedding)
SELECT g, 0, 'word' || g % 100 || ' and word' || g % 30, format('[%s,%s,1]', g, g % 7)::vector FROM generate_series(1, 3000) g;
SELECT ai.enable_hybrid_search('many', 'simple');
CREATE INDEX many_hnsw ON many_embedding_store USING hnsw (embedding vector_cosine_ops);
VACUUM ANALYZE many, many_embedding_store;
CREATE PROCEDURE explain(vector_weight float8, text_weight float8) LANGUAGE plpgsql AS $$
DECLARE line text;
BEGIN
    PERFORM '[1]'::vector;
    FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || replace(replace(replace(replace(replace(replace(replace(
        (ai.hybrid_search_plan('many')).statement, '$1', quote_literal('[1,1,1]') || '::public.vector'), '$2', '40'), '$3', '10'),
        '$4', quote_literal('word5') || '::tsquery'), '$5', vector_weight || '::float8'), '$6', text_weight || '::float8'), '$7', '60') LOOP
        CONTINUE WHEN line !~ 'Scan (using|on) many_';
        RAISE NOTICE '%', regexp_replace(line, '^[ >-]*|_[0-9]+$', '', 'g');
    END LOOP;
END $$;
CALL explain(1, 1);
-- A list without weight is not made.
CALL explain(1, 0);
CALL explain(0, 1);
SET hnsw.ef_search = 4;
SET hnsw.max_scan_tuples = 1;
SELECT count(*) AS hits, count(h.vector_rank) > 0 AS by_vector, count(h.text_rank) > 0 AS by_words
FROM ai.hybrid_search('many', 'word5', query_vector => '[1,1,1]') h;
SELECT count(*), min((h.key ->> 'id')::int) FROM ai.hybrid_search('many', 'word5', 20, query_vector => '[1,1,1]', filter => '{"id": {">": 2985}}') h;
SHOW hnsw.ef_search;
SHOW hnsw.iterative_scan;
-- Rows that are gone hide none that are there, whichever list they are in.
BEGIN;
DELETE FROM many WHERE id BETWEEN 3 AND 2990;
SELECT count(*), bool_and((h.key ->> 'id')::int NOT BETWEEN 3 AND 2990) AS there
FROM ai.hybrid_search('many', 'word5', query_vector => '[2900,1,1]') h;
DROP INDEX many_hnsw;
SELECT count(*) FROM ai.hybrid_search('many', 'word5', query_vector => '[2900,1,1]') h;
ROLLBACK;
RESET hnsw.ef_search;
RESET hnsw.max_scan_tuples;

-- A column of the source: the loaded column has the words.
CREATE TABLE col (id int, part text, body varchar, PRIMARY KEY (id, part));
SELECT ai.create_vectorizer('hybrid.col', name => 'col', loading => ai.loading_column('body'),
    embedding => ai.embedding_openai('m', 2), chunking => ai.chunking_none(), destination => ai.destination_column('emb'));
INSERT INTO col (id, part, body, emb) VALUES (1, 'a', 'an elephant', '[1,0]'), (1, 'b', 'a mouse', '[1,1]'), (2, 'a', 'two elephants', NULL), (3, 'a', 'elephants', '[0,1]');
SELECT * FROM hits('elephant', vectorizer => 'col');
SELECT ai.enable_hybrid_search('col', 'english');
SELECT statement ~ 's.body_english @@' AS kept FROM ai.hybrid_search_plan('col');
SELECT id, text_rank FROM hits('elephant', vectorizer => 'col', group_by_row => true);
CREATE TABLE bytes (id int PRIMARY KEY, body bytea);
SELECT ai.create_vectorizer('hybrid.bytes', name => 'bytes', loading => ai.loading_column('body'),
    embedding => ai.embedding_openai('m', 2), chunking => ai.chunking_none(), destination => ai.destination_column('emb'));
INSERT INTO bytes VALUES (1, 'an elephant', '[1,0]');
SELECT ai.enable_hybrid_search('bytes');
SELECT * FROM hits('elephant', vectorizer => 'bytes');

-- Gone with the target.
SET client_min_messages = warning;
DROP TABLE many CASCADE;
SELECT count(*) FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
WHERE c.relnamespace = 'hybrid'::regnamespace AND c.relname ~ 'many' AND a.atttypid = 'tsvector'::regtype;
SET client_min_messages = warning;
DROP TABLE doc_embedding_store CASCADE;
SELECT ai.enable_hybrid_search('docs');
SELECT * FROM hits('x');
RESET ROLE;
RESET search_path;
DROP SCHEMA hybrid CASCADE;
DROP ROLE regress_ai_owner, regress_ai_other;
