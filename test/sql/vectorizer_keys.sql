-- Keys of every kind: their types, names, order; columns that are called as ours; long names.
\set SHOW_CONTEXT never
SELECT setval('ai.vectorizer_id_seq', 1, false);
CREATE SCHEMA keys;
SET search_path = keys, public;

-- Makes a vectorizer, changes a row, and shows the key and the queue.
CREATE FUNCTION embed(source regclass, body name DEFAULT 'body') RETURNS int LANGUAGE sql
AS $$ SELECT ai.create_vectorizer(source, loading => ai.loading_column(body), embedding => ai.embedding_local('m', 3)) $$;
CREATE FUNCTION key_of(vectorizer int) RETURNS SETOF text LANGUAGE sql
AS $$ SELECT k::text FROM ai.vectorizer v, jsonb_array_elements(v.source_pk) k WHERE v.id = vectorizer $$;
CREATE FUNCTION queue_of(vectorizer int) RETURNS SETOF jsonb LANGUAGE plpgsql
AS $$ BEGIN
    RETURN QUERY EXECUTE format('SELECT to_jsonb(q) - ''queued_at'' - ''priority''
                                 FROM ai._vectorizer_q_%s q ORDER BY 1', vectorizer);
END $$;

-- uuid
CREATE TABLE k_uuid (key uuid PRIMARY KEY, body text);
INSERT INTO k_uuid VALUES ('00000000-0000-0000-0000-000000000001', 'a');
SELECT embed('k_uuid') AS v \gset
INSERT INTO k_uuid VALUES ('00000000-0000-0000-0000-000000000002', 'b');
SELECT key_of(:v); SELECT queue_of(:v);

-- text, with a collation of its own; also longer than fits into a page uncompressed
CREATE TABLE k_text (key text COLLATE "C" PRIMARY KEY, body text);
SELECT embed('k_text') AS v \gset
INSERT INTO k_text VALUES ('ä''"\ ', 'a'), (repeat('x', 20000), 'b');
SELECT key_of(:v); SELECT length(queue_of(:v) ->> 'key');

-- an array
CREATE TABLE k_array (key text[] PRIMARY KEY, body text);
SELECT embed('k_array') AS v \gset
INSERT INTO k_array VALUES ('{a,NULL,"b c"}', 'a');
SELECT key_of(:v); SELECT queue_of(:v);

-- a domain, over a domain
CREATE DOMAIN code AS varchar(10) CHECK (value <> '');
CREATE DOMAIN short_code AS code CHECK (length(value) < 5);
CREATE TABLE k_domain (key short_code PRIMARY KEY, body code);
SELECT embed('k_domain') AS v \gset
INSERT INTO k_domain VALUES ('abc', 'a');
SELECT key_of(:v); SELECT queue_of(:v);

-- timestamptz, range, numeric, enum, together and in another order than the columns
CREATE TYPE mood AS ENUM ('fine', 'fair');
CREATE TABLE k_many (mood mood, body text, period int4range, amount numeric(10,2), "at" timestamptz,
    PRIMARY KEY (amount, "at", mood, period));
INSERT INTO k_many VALUES ('fine', 'a', '[1,5)', 1.5, '2024-01-01 00:00:00+00');
SET TIME ZONE 'UTC';
SELECT embed('k_many') AS v \gset
UPDATE k_many SET amount = 2.5;
SELECT key_of(:v); SELECT queue_of(:v);
INSERT INTO k_many_embedding_store (mood, period, amount, "at", chunk_seq, chunk, embedding)
SELECT mood, period, amount, "at", 0, 'chunk', '[1,2,3]' FROM k_many;
SELECT chunk, amount, mood FROM k_many_embedding;

-- a type of another extension, whose operators are not in pg_catalog
CREATE TABLE k_vector (key vector(2) PRIMARY KEY, body text);
SELECT embed('k_vector') AS v \gset
INSERT INTO k_vector VALUES ('[1,2]', 'a');
SELECT key_of(:v); SELECT queue_of(:v);
INSERT INTO k_vector_embedding_store (key, chunk_seq, chunk, embedding) VALUES ('[1,2]', 0, 'c', '[1,2,3]');
SELECT chunk, body FROM k_vector_embedding;
TRUNCATE k_vector;
SELECT queue_of(:v);

-- quoted and mixed-case names
CREATE TABLE "K Mixed ""Case""" ("The Key" int, "key""2" int, "Body Text" text, PRIMARY KEY ("key""2", "The Key"));
SELECT embed('"K Mixed ""Case"""', 'Body Text') AS v \gset
INSERT INTO "K Mixed ""Case""" VALUES (1, 2, 'a');
SELECT key_of(:v); SELECT queue_of(:v);
SELECT source_table, target_table, view, pending_items FROM ai.vectorizer_status WHERE id = :v;

-- columns that are called as ours
CREATE TABLE k_ours (id int, lease text, embedding int, chunk text, chunk_seq int, lease_key int, locked bool,
    queued_at text, embedding_uuid text, source_chunk text, content_hash int,
    PRIMARY KEY (id, lease, embedding, chunk_seq, lease_key, content_hash));
SELECT embed('k_ours', 'chunk') AS v \gset
INSERT INTO k_ours VALUES (1, 'l', 2, 'text', 3, 4, true, 'q', 'u', 's', 5);
SELECT key_of(:v); SELECT queue_of(:v);
SELECT attname FROM pg_attribute WHERE attrelid = 'k_ours_embedding_store'::regclass AND attnum > 0 ORDER BY attnum;
SELECT attname FROM pg_attribute WHERE attrelid = 'k_ours_embedding'::regclass AND attnum > 0 ORDER BY attnum;
INSERT INTO k_ours_embedding_store (id, lease, embedding_key, chunk_seq_key, lease_key, content_hash_key, chunk_seq, chunk, embedding)
VALUES (1, 'l', 2, 3, 4, 5, 0, 'a chunk', '[1,2,3]');
SELECT chunk, source_chunk_, embedding, source_embedding, id FROM k_ours_embedding;
UPDATE k_ours SET locked = false, queued_at = 'other';
SELECT count(*) FROM queue_of(:v);
UPDATE k_ours SET chunk = 'other';
SELECT count(*) FROM queue_of(:v);

-- names of 63 bytes; of several bytes a character
SELECT format('CREATE TABLE %I (%I int PRIMARY KEY, body text)', repeat('n', 63), repeat('k', 63)) \gexec
SELECT embed(repeat('n', 63)::regclass) AS v \gset
SELECT target_table, view FROM ai.vectorizer_status WHERE id = :v;
SELECT format('CREATE TABLE %I (id int PRIMARY KEY, body text)', repeat('n', 50)) \gexec
SELECT embed(repeat('n', 50)::regclass) AS v \gset
SELECT target_table, view FROM ai.vectorizer_status WHERE id = :v;
SELECT format('CREATE TABLE %I (id int PRIMARY KEY, body text)', repeat('ä', 31)) \gexec
SELECT embed(repeat('ä', 31)::regclass) AS v \gset
SELECT target_table, octet_length(trim(split_part(target_table, '.', 2), '"')) AS bytes, view FROM ai.vectorizer_status WHERE id = :v;
SELECT ai.create_vectorizer(repeat('n', 50)::regclass, loading => ai.loading_column('body'),
    embedding => ai.embedding_local('m', 3), destination => ai.destination_table(repeat('d', 63))) AS v \gset
SELECT target_table, view FROM ai.vectorizer_status WHERE id = :v;
SELECT ai.create_vectorizer(repeat('n', 50)::regclass, loading => ai.loading_column('body'),
    embedding => ai.embedding_local('m', 3), destination => ai.destination_table(repeat('d', 63)),
    if_not_exists => true) = :v AS the_same;
SELECT ai._free_name(repeat('x', 63)::name, ARRAY[repeat('x', 63)::name], '_key');

-- a unique index does, if the columns are not null; the smallest, the primary key before it
CREATE TABLE k_unique (a int NOT NULL, b int NOT NULL, c int NOT NULL, n int, body text, UNIQUE (n));
CREATE UNIQUE INDEX ON k_unique (a, b);
CREATE UNIQUE INDEX ON k_unique (c) INCLUDE (n);
SELECT jsonb_path_query_array(ai._vectorizer_source_pk('k_unique'), '$[*].attname');
ALTER TABLE k_unique ADD PRIMARY KEY (b, a);
SELECT jsonb_path_query_array(ai._vectorizer_source_pk('k_unique'), '$[*].attname');
CREATE TABLE k_deferrable (a int NOT NULL UNIQUE DEFERRABLE, body text);
SELECT ai._vectorizer_source_pk('k_deferrable');
CREATE TABLE k_deferrable_pk (a int PRIMARY KEY DEFERRABLE INITIALLY DEFERRED, body text);
SELECT jsonb_path_query_array(ai._vectorizer_source_pk('k_deferrable_pk'), '$[*].attname');

-- dropped columns, generated columns, identity
CREATE TABLE k_columns (gone1 int, id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, gone2 int, first text, last text,
    body text GENERATED ALWAYS AS (first || ' ' || last) STORED);
ALTER TABLE k_columns DROP gone1, DROP gone2;
SELECT embed('k_columns') AS v \gset
INSERT INTO k_columns (first, last) VALUES ('Ada', 'L'), ('Alan', 'T');
UPDATE k_columns SET last = 'Lovelace' WHERE id = 1;
UPDATE k_columns SET first = first;
SELECT queue_of(:v);

-- A plain parent: only its own rows have its key.
CREATE TABLE k_parent (id int PRIMARY KEY, body text);
CREATE TABLE k_child (extra int, PRIMARY KEY (id)) INHERITS (k_parent);
INSERT INTO k_parent VALUES (1, 'parent');
INSERT INTO k_child VALUES (1, 'child'), (2, 'child');
SELECT embed('k_parent') AS v \gset
SELECT queue_of(:v);
INSERT INTO k_child VALUES (3, 'child');
UPDATE k_parent SET body = 'changed';
SELECT queue_of(:v);
SELECT embed('k_child') AS v \gset
SELECT queue_of(:v);

\set VERBOSITY terse
RESET search_path;
DROP SCHEMA keys CASCADE;
SELECT count(*) FROM ai.vectorizer;
SELECT count(*) FROM pg_class WHERE relname ~ '_vectorizer_q_';
