-- Search with a vector that is given: order, grouping, metrics, indexes, what is left out.
\set SHOW_CONTEXT never
SELECT setval('ai.vectorizer_id_seq', 1, false);
CREATE SCHEMA search;
SET search_path = search, public;
CREATE TABLE doc ("Id" int, lang text, body text, PRIMARY KEY ("Id", lang));
SELECT ai.create_vectorizer('search.doc', name => 'docs', loading => ai.loading_column('body'),
    embedding => ai.embedding_openai('m', 2));
INSERT INTO doc SELECT g, 'en', 'body ' || g FROM generate_series(1, 6) g;
-- Two chunks of each row, from 0 to 110 degrees.
INSERT INTO doc_embedding_store ("Id", lang, chunk_seq, chunk, embedding)
SELECT (g + 1) / 2, 'en', (g + 1) % 2, 'chunk ' || g, format('[%s,%s]', cosd((g - 1) * 10), sind((g - 1) * 10))::vector
FROM generate_series(1, 12) g;

-- The nearest first, by name and by id.
SELECT key, chunk_seq, chunk, round(distance::numeric, 4) AS distance, round(score::numeric, 4) AS score,
    embedding_uuid IS NOT NULL AS has_uuid FROM ai.search('docs', '[1,0]'::vector, 3);
SELECT key, chunk FROM ai.search(1, '[0,1]'::vector, 2);
SELECT count(*) FROM ai.search('docs', '[1,0]'::vector);
SELECT count(*) FROM ai.search('docs', '[1,0]'::vector, 10000);
SELECT chunk FROM ai.search(query => '[0,1]'::vector, vectorizer => 'docs', k => 1);

-- No query, no rows; wrong arguments are told.
SELECT * FROM ai.search('docs', NULL::vector);
SELECT * FROM ai.search(1, NULL::text);
SELECT * FROM ai.search('docs', '[1,0]'::vector, 0);
SELECT * FROM ai.search('docs', '[1,0]'::vector, 10001);
SELECT * FROM ai.search('docs', '[1,0]'::vector, NULL);
SELECT * FROM ai.search('docs', 'text', -1);
SELECT * FROM ai.search(1, 'text', 0);
SELECT * FROM ai.search('docs', '[1,0,0]'::vector);
SELECT * FROM ai.search('nope', '[1,0]'::vector);
SELECT * FROM ai.search('nope', 'text');
SELECT * FROM ai.search(99, '[1,0]'::vector);
SELECT * FROM ai.search(NULL::text, 'text');

-- In the FROM of any query: with a condition, a join by key or by chunk, for each row of another.
SELECT h.chunk FROM ai.search('docs', '[1,0]'::vector) h WHERE h.chunk_seq = 1 AND h.score > 0.5;
SELECT d.body, h.chunk FROM ai.search('docs', '[1,0]'::vector, 2) h
JOIN doc d ON d."Id" = (h.key ->> 'Id')::int AND d.lang = h.key ->> 'lang' ORDER BY h.distance;
SELECT e.body, e.chunk FROM ai.search('docs', '[0,1]'::vector, 3) h
JOIN doc_embedding e USING (embedding_uuid) ORDER BY h.distance;
SELECT q.n, h.chunk FROM (VALUES (1, '[1,0]'::vector), (2, '[0,1]')) AS q (n, v)
CROSS JOIN LATERAL ai.search('docs', q.v, 2) h ORDER BY q.n, h.distance;
SELECT provolatile, proretset, prosecdef FROM pg_proc WHERE proname IN ('search', 'hybrid_search') GROUP BY 1, 2, 3;

-- One hit for a row: its best chunk.
SELECT key ->> 'Id' AS id, chunk FROM ai.search('docs', '[1,0]'::vector, 3, group_by_row => true);
SELECT count(*), count(DISTINCT key) FROM ai.search('docs', '[1,0]'::vector, 100, group_by_row => true);
SELECT count(*) FROM ai.search('docs', '[1,0]'::vector, 100, group_by_row => NULL);

-- A row that is deleted is not found, though its chunks are still there.
BEGIN;
DELETE FROM doc WHERE "Id" = 1;
SELECT key ->> 'Id' AS id, chunk FROM ai.search('docs', '[1,0]'::vector, 2);
ROLLBACK;

-- A vectorizer that rests can be searched.
SELECT ai.disable_vectorizer_schedule('docs');
SELECT chunk FROM ai.search('docs', '[1,0]'::vector, 1);

-- The index is used: of 2000 chunks, 1000 of them of one row.
CREATE TABLE many (id int PRIMARY KEY, body text, part int);
SELECT ai.create_vectorizer('search.many', name => 'many', loading => ai.loading_column('body'),
    embedding => ai.embedding_openai('m', 3), enqueue_existing => false);
INSERT INTO many SELECT g, 'body', g % 100 FROM generate_series(1, 1001) g;
INSERT INTO many_embedding_store (id, chunk_seq, chunk, embedding)
SELECT least(g, 1001), greatest(g - 1001, 0), 'chunk ' || g, format('[%s,%s,1]', g, g % 7)::vector
FROM generate_series(1, 2000) g;
CREATE INDEX many_hnsw ON many_embedding_store USING hnsw (embedding vector_cosine_ops);
VACUUM ANALYZE many, many_embedding_store;
CREATE FUNCTION plan_of(vectorizer text, query vector, k int DEFAULT 10, filter jsonb DEFAULT NULL,
    group_by_row boolean DEFAULT false, exact boolean DEFAULT false) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE line text;
BEGIN
    FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || replace(replace(replace((ai.search_plan(vectorizer, NULL, filter,
        group_by_row, exact)).statement, '$1', quote_literal(query) || '::public.vector'), '$2', k::text), '$3', k::text)
    LOOP
        IF line ~ '(Index|Seq) (Only )?Scan' THEN
            RETURN NEXT regexp_replace(line, '^[ >-]*', '');
        END IF;
    END LOOP;
END $$;
SELECT statement FROM ai.search_plan('many', filter => '{"part": 5}', group_by_row => true);
SELECT statement FROM ai.search_plan('many');
SELECT * FROM plan_of('many', '[1,1,1]');
SELECT * FROM plan_of('many', '[1,1,1]', filter => '{"part": {"<": 50}}');
SELECT p FROM plan_of('many', '[1,1,1]', exact => true) p WHERE p ~ 'store';
SELECT approximate FROM ai.search_plan('many') UNION ALL SELECT approximate FROM ai.search_plan('docs');

-- Rows that are gone are left out while the index is read.
BEGIN;
DELETE FROM many WHERE id % 50 <> 0;
SELECT count(*), bool_and((key ->> 'id')::int % 50 = 0) AS there FROM ai.search('many', '[1,1,1]'::vector, 15);
ROLLBACK;

-- The index gives all that there is, whatever its settings, and these are as before.
SET hnsw.ef_search = 5;
SET hnsw.max_scan_tuples = 1;
CREATE FUNCTION differs(query vector, k int, filter jsonb DEFAULT NULL, group_by_row boolean DEFAULT false)
    RETURNS TABLE (found bigint, missing bigint) LANGUAGE plpgsql AS $$
BEGIN
    RETURN QUERY EXECUTE format('WITH hits AS (SELECT key FROM ai.search(''many'', $1, $2, $3, $4)), '
        'exact AS (SELECT key FROM (%s) e) SELECT (SELECT count(*) FROM hits), '
        '(SELECT count(*) FROM (SELECT * FROM exact EXCEPT ALL SELECT * FROM hits) m)',
        replace(replace((ai.search_plan('many', NULL, filter, group_by_row, true)).statement, '$2', '$5'), '$3', '$2'))
    USING query, k, filter, group_by_row, k;
END $$;
SELECT found FROM differs('[1,1,1]', 20);
SELECT found FROM differs('[1,1,1]', 1500);
SELECT * FROM differs('[1000,1,1]', 20, '{"part": 3}');
SELECT * FROM differs('[1000,1,1]', 30, '{"part": {"in": [3, 4]}}', true);
SELECT * FROM differs('[1000,1,1]', 50, group_by_row => true);
SHOW hnsw.ef_search;
SHOW hnsw.iterative_scan;
BEGIN;
SET LOCAL hnsw.ef_search = 7;
SELECT count(*) FROM ai.search('many', '[1,1,1]'::vector, 100);
SHOW hnsw.ef_search;
SET hnsw.iterative_scan = strict_order;
SELECT count(*) FROM ai.search('many', '[1,1,1]'::vector, 100, '{"part": 3}');
COMMIT;
SHOW hnsw.ef_search;
SHOW hnsw.iterative_scan;
RESET hnsw.iterative_scan;
RESET hnsw.ef_search;
RESET hnsw.max_scan_tuples;

-- Every operator class: its operator, its score, its index.
CREATE TABLE metric (id int PRIMARY KEY, body text);
INSERT INTO metric SELECT g, 'body' FROM generate_series(1, 500) g;
CREATE PROCEDURE metric(opclass text, expression text) LANGUAGE plpgsql AS $$
BEGIN
    PERFORM ai.create_vectorizer('search.metric', name => opclass, loading => ai.loading_column('body'),
        embedding => ai.embedding_openai('m', 4), destination => ai.destination_table(opclass),
        indexing => ai.indexing_hnsw(opclass => opclass), enqueue_existing => false);
    EXECUTE format('INSERT INTO %I (id, chunk_seq, chunk, embedding) SELECT g, 0, ''chunk '' || g, '
        'ARRAY[g, -g, g %% 3 - 1, 1]::float4[]::vector FROM generate_series(1, 500) g', opclass || '_store');
    EXECUTE format('CREATE INDEX %I ON %I USING hnsw (%s %I)', opclass || '_hnsw', opclass || '_store',
        expression, opclass);
    EXECUTE format('ANALYZE %I', opclass || '_store');
END $$;
SET enable_seqscan = off;
SET jit = off;  -- plans look expensive then
CALL metric('vector_l2_ops', 'embedding');
CALL metric('vector_ip_ops', 'embedding');
CALL metric('vector_l1_ops', 'embedding');
CALL metric('halfvec_cosine_ops', '(embedding::halfvec(4))');
CALL metric('halfvec_l2_ops', '(embedding::halfvec(4))');
CALL metric('bit_hamming_ops', '(binary_quantize(embedding)::bit(4))');
CALL metric('bit_jaccard_ops', '(binary_quantize(embedding)::bit(4))');
SELECT o AS opclass, h.*, (SELECT p FROM plan_of(o, '[3,-3,0,1]', 2) p WHERE p ~ 'hnsw') AS plan
FROM unnest('{vector_l2_ops,vector_ip_ops,vector_l1_ops,halfvec_cosine_ops,halfvec_l2_ops}'::text[]) o,
    LATERAL (SELECT string_agg(key ->> 'id', ',' ORDER BY distance) AS ids,
                 round(min(distance)::numeric, 3) AS distance, round(max(score)::numeric, 3) AS score
             FROM ai.search(o, '[3,-3,0,1]'::vector, 2)) h;
-- Bits say little about these vectors: what they let through is put in order by its cosine distance.
SELECT o AS opclass, (SELECT count(*) FROM ai.search(o, '[3,-3,0,1]'::vector, 2)) AS hits,
    (SELECT p FROM plan_of(o, '[3,-3,0,1]', 2) p WHERE p ~ 'hnsw') AS plan
FROM unnest('{bit_hamming_ops,bit_jaccard_ops}'::text[]) o;
SELECT key, round(distance::numeric, 3) AS distance FROM ai.search('bit_hamming_ops', '[3,-3,0,1]'::vector, 10000) LIMIT 2;
RESET enable_seqscan;

-- A column of the source: the loaded column is the chunk; rows without an embedding are not found.
CREATE TABLE col (id uuid PRIMARY KEY DEFAULT gen_random_uuid(), n int, body varchar(20));
SELECT ai.create_vectorizer('search.col', name => 'col', loading => ai.loading_column('body'),
    embedding => ai.embedding_openai('m', 2), chunking => ai.chunking_none(),
    destination => ai.destination_column('emb'));
INSERT INTO col (n, body, emb) VALUES (1, 'one', '[1,0]'), (2, 'two', '[1,1]'), (3, 'three', NULL), (4, 'four', '[0,1]');
SELECT c.n, h.chunk_seq, h.chunk, round(h.distance::numeric, 3) AS distance, h.embedding_uuid
FROM ai.search('col', '[1,0]'::vector, group_by_row => true) h JOIN col c ON c.id = (h.key ->> 'id')::uuid ORDER BY h.distance;
SELECT chunk FROM ai.search('col', '[1,0]'::vector, filter => '{"n": {">": 1}}');
CREATE TABLE bytes (id int PRIMARY KEY, body bytea, emb vector(2));
SELECT ai.create_vectorizer('search.bytes', name => 'bytes', loading => ai.loading_column('body'),
    embedding => ai.embedding_openai('m', 2), chunking => ai.chunking_none(), destination => ai.destination_column('emb'));
INSERT INTO bytes VALUES (1, 'plain', '[1,0]'), (2, '\xff00', '[0,1]');
SELECT key, chunk FROM ai.search('bytes', '[1,0]'::vector);

-- Keys of any type; a cast that somebody made does not run.
CREATE TYPE pair AS (a int, b text);
CREATE FUNCTION steal(pair) RETURNS json LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'ran as %', current_user; END $$;
CREATE CAST (pair AS json) WITH FUNCTION steal(pair);
CREATE TABLE typed (id pair, embedding date, body text, PRIMARY KEY (id, embedding));
SELECT ai.create_vectorizer('search.typed', name => 'typed', loading => ai.loading_column('body'),
    embedding => ai.embedding_openai('m', 2));
INSERT INTO typed VALUES ((1, 'x'), '2026-01-02', 'body');
INSERT INTO typed_embedding_store (id, embedding_key, chunk_seq, chunk, embedding) VALUES ((1, 'x'), '2026-01-02', 0, 'body', '[1,0]');
SELECT key FROM ai.search('typed', '[1,0]'::vector);
SELECT key FROM ai.search('typed', '[1,0]'::vector, group_by_row => true);

-- Names in the way of the caller's search_path are not used.
CREATE SCHEMA evil;
CREATE FUNCTION evil.evil(vector, vector) RETURNS float8 LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'hijacked'; END $$;
CREATE OPERATOR evil.<=> (LEFTARG = vector, RIGHTARG = vector, FUNCTION = evil.evil);
CREATE FUNCTION evil.jsonb_build_object(text, int) RETURNS jsonb LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'hijacked'; END $$;
SET search_path = evil, search, pg_catalog, public;
SELECT chunk FROM ai.search('docs', '[1,0]'::vector, 1);
SET search_path = search, public;

-- Partitions.
CREATE TABLE parted (id int, region text, body text, PRIMARY KEY (id, region)) PARTITION BY LIST (region);
CREATE TABLE parted_eu PARTITION OF parted FOR VALUES IN ('eu');
SELECT ai.create_vectorizer('search.parted', name => 'parted', loading => ai.loading_column('body'),
    embedding => ai.embedding_openai('m', 2));
INSERT INTO parted VALUES (1, 'eu', 'body');
INSERT INTO parted_embedding_store (id, region, chunk_seq, chunk, embedding) VALUES (1, 'eu', 0, 'body', '[1,0]');
SELECT key FROM ai.search('parted', '[1,0]'::vector, filter => '{"region": "eu"}');
-- With embeddings in a column of the source, the indexes are those of the partitions.
CREATE TABLE pieces (id int PRIMARY KEY, body text, emb vector(3)) PARTITION BY RANGE (id);
CREATE TABLE pieces_low PARTITION OF pieces FOR VALUES FROM (0) TO (1000);
CREATE TABLE pieces_high PARTITION OF pieces FOR VALUES FROM (1000) TO (2001);
SELECT ai.create_vectorizer('search.pieces', name => 'pieces', loading => ai.loading_column('body'), chunking => ai.chunking_none(),
    embedding => ai.embedding_openai('m', 3), destination => ai.destination_column('emb'), enqueue_existing => false);
INSERT INTO pieces SELECT g, 'body ' || g, format('[%s,%s,1]', g, g % 7)::vector FROM generate_series(1, 2000) g;
SELECT approximate FROM ai.search_plan('pieces');
CREATE INDEX pieces_low_hnsw ON pieces_low USING hnsw (emb vector_cosine_ops);
CREATE INDEX pieces_high_hnsw ON pieces_high USING hnsw (emb vector_cosine_ops);
ANALYZE pieces;
SELECT * FROM plan_of('pieces', '[1,1,1]');
SELECT key FROM ai.search('pieces', '[1,1,1]'::vector, 1);

-- A target that became one of halfvec, for half the room.
DROP VIEW many_embedding;
DROP INDEX many_hnsw;
ALTER TABLE many_embedding_store ALTER COLUMN embedding TYPE halfvec(3);
CREATE INDEX many_half ON many_embedding_store USING hnsw (embedding halfvec_cosine_ops);
ANALYZE many_embedding_store;
SELECT * FROM plan_of('many', '[1,1,1]');
SELECT key, chunk FROM ai.search('many', '[1,1,1]'::vector, 1);

-- Renamed columns and tables are followed; what was dropped is told.
ALTER TABLE doc RENAME COLUMN "Id" TO number;
ALTER TABLE doc_embedding_store RENAME TO "Doc store";
SELECT key, chunk FROM ai.search('docs', '[1,0]'::vector, 1);
DROP TABLE "Doc store" CASCADE;
SELECT * FROM ai.search('docs', '[1,0]'::vector);
SELECT * FROM ai.search('docs', 'text');
ALTER TABLE col DROP COLUMN emb;
SELECT * FROM ai.search('col', '[1,0]'::vector);

RESET search_path;
SET client_min_messages = warning;
DROP SCHEMA search, evil CASCADE;
