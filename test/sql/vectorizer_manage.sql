-- Dropping, disabling, enabling and changing vectorizers.
\set SHOW_CONTEXT never
SELECT setval('ai.vectorizer_id_seq', 1, false);
CREATE TABLE src (id int PRIMARY KEY, title text, body text);
INSERT INTO src VALUES (1, 'a', 'b');
CREATE FUNCTION make(name text) RETURNS int LANGUAGE sql AS $$
    SELECT ai.create_vectorizer('src', name => name, loading => ai.loading_column('body'),
        embedding => ai.embedding_local('m', 3), destination => ai.destination_table(name::name))
$$;
CREATE FUNCTION objects() RETURNS SETOF text LANGUAGE sql AS $$
    SELECT c.relkind::text || ' ' || c.relname FROM pg_class c
    WHERE c.relname ~ '^(_vectorizer_q_\w*\d|one|two)' AND c.relkind IN ('r', 'v')
    UNION ALL SELECT 't ' || tgname FROM pg_trigger WHERE tgrelid = 'src'::regclass
    UNION ALL SELECT 'vectorizer ' || name FROM ai.vectorizer
    ORDER BY 1
$$;

-- Without drop_all the embeddings stay.
SELECT make('one'), make('two');
SELECT objects();
INSERT INTO one_store (id, chunk_seq, chunk, embedding) VALUES (1, 0, 'c', '[1,2,3]');
SELECT ai.drop_vectorizer('one');
SELECT objects();
SELECT chunk, body FROM one;
-- Nothing of it is in the way of writers.
UPDATE src SET body = 'c';
SELECT ai.drop_vectorizer(2, drop_all => true);
SELECT objects();
DROP VIEW one;
DROP TABLE one_store;
-- After a write in the same transaction.
BEGIN;
SELECT make('one') AS v \gset
UPDATE src SET body = 'd';
SELECT ai.drop_vectorizer(:v, true);
COMMIT;
SELECT objects();
-- In a subtransaction, with rows of the outer one still on their way to the queue.
CREATE TABLE parts (id int PRIMARY KEY, body text) PARTITION BY RANGE (id);
CREATE TABLE part PARTITION OF parts FOR VALUES FROM (0) TO (10);
SELECT ai.create_vectorizer('parts', name => 'parts', loading => ai.loading_column('body'),
    embedding => ai.embedding_local('m', 3)) > 0 AS made;
BEGIN;
INSERT INTO part VALUES (1, 'a');
SAVEPOINT s;
SELECT ai.drop_vectorizer('parts', true);
RELEASE s;
COMMIT;
DROP TABLE parts;
-- What others made depend on it stops drop_all, and then nothing is dropped.
SELECT make('one') AS v \gset
CREATE VIEW on_top AS SELECT * FROM one_store;
SELECT ai.drop_vectorizer(:v, true);
SELECT name FROM ai.vectorizer_status;
DROP VIEW on_top;
-- The name is free again.
SELECT ai.drop_vectorizer(:v, true);
SELECT make('one') > 0 AS made;
SELECT ai.drop_vectorizer('one', true);

-- A trigger that was renamed is found all the same.
SELECT make('one') AS v \gset
SELECT format('ALTER TRIGGER %I ON src RENAME TO mine', '_vectorizer_src_trg_' || :v) \gexec
SELECT ai.drop_vectorizer('one', true);
SELECT objects();
UPDATE src SET body = 'e';

-- Off and on. Changes are queued meanwhile.
SELECT make('one') AS v \gset
SELECT ai.disable_vectorizer_schedule(:v);
SELECT disabled FROM ai.vectorizer_status;
INSERT INTO src VALUES (2, 'a', 'b');
SELECT ai.enable_vectorizer_schedule('one');
SELECT disabled, pending_items FROM ai.vectorizer_status;
SELECT ai.disable_vectorizer_schedule('one');
SELECT ai.enable_vectorizer_schedule(:v);
SELECT disabled FROM ai.vectorizer_status;

-- set_scheduling changes scheduling and indexing.
SELECT ai.set_scheduling(:v, ai.scheduling_none(), ai.indexing_hnsw(10, 'vector_l2_ops'));
SELECT config -> 'scheduling', config -> 'indexing' FROM ai.vectorizer;
SELECT ai.set_scheduling(:v);
SELECT config -> 'scheduling', config -> 'indexing' FROM ai.vectorizer;
SELECT ai.set_scheduling(:v, '{"config_type": "scheduling", "implementation": "never"}');
SELECT ai.set_scheduling(:v, indexing => ai.scheduling_none());

-- A new owner of the name: ids are never used twice.
SELECT ai.drop_vectorizer('one', true);
SELECT make('one') > :v AS greater;
DROP TABLE src CASCADE;
DROP FUNCTION make, objects;
SELECT count(*) FROM ai.vectorizer;
