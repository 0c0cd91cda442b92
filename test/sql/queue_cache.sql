-- What a session keeps between transactions to fill queues is dropped when it is not true any more.
\set SHOW_CONTEXT never
SELECT setval('ai.vectorizer_id_seq', 1, false);
CREATE TABLE src (id int PRIMARY KEY, body text);
CREATE FUNCTION pg_temp.make(source regclass) RETURNS int LANGUAGE sql AS $$
    SELECT ai.create_vectorizer(source, loading => ai.loading_column('body'), embedding => ai.embedding_local('m', 3))
    $$;
CREATE FUNCTION pg_temp.queued(vectorizer int DEFAULT 1) RETURNS text LANGUAGE plpgsql AS $$
DECLARE result text;
BEGIN
    EXECUTE format('WITH d AS (DELETE FROM ai._vectorizer_q_%s q RETURNING q.*)
                    SELECT string_agg(format(''%%s (%%s)'', (to_jsonb(d) -> ''id''), priority), '' '') FROM d', vectorizer) INTO result;
    RETURN result;
END $$;
SELECT pg_temp.make('src');
INSERT INTO src VALUES (1, 'a');
INSERT INTO src VALUES (2, 'a');
SELECT pg_temp.queued();

-- The time is that of each transaction.
BEGIN; INSERT INTO src VALUES (3, 'a'); SELECT now() AS first \gset
COMMIT;
BEGIN; INSERT INTO src VALUES (4, 'a'); SELECT now() AS second \gset
COMMIT;
SELECT array_agg(queued_at ORDER BY id) = ARRAY[:'first', :'second']::timestamptz[] AND :'first' <> :'second' AS times FROM ai._vectorizer_q_1;
SELECT pg_temp.queued();

-- Subtransactions, each with a batch of its own.
BEGIN;
INSERT INTO src VALUES (11, 'a');
SAVEPOINT one;
INSERT INTO src VALUES (12, 'a');
SAVEPOINT two;
INSERT INTO src VALUES (13, 'a');
ROLLBACK TO one;
INSERT INTO src VALUES (14, 'a');
RELEASE one;
INSERT INTO src VALUES (15, 'a');
COMMIT;
SELECT pg_temp.queued();
BEGIN; INSERT INTO src VALUES (16, 'a'); ROLLBACK;
INSERT INTO src VALUES (16, 'a');
SELECT pg_temp.queued();

-- Another default, by this transaction and by one that is rolled back.
ALTER TABLE ai._vectorizer_q_1 ALTER priority SET DEFAULT 7;
INSERT INTO src VALUES (21, 'a');
BEGIN;
ALTER TABLE ai._vectorizer_q_1 ALTER priority SET DEFAULT 8;
INSERT INTO src VALUES (22, 'a');
SELECT pg_temp.queued();
ROLLBACK;
INSERT INTO src VALUES (23, 'a');
SELECT pg_temp.queued();
ALTER TABLE ai._vectorizer_q_1 ALTER priority SET DEFAULT extract(year FROM timestamp '2001-01-01')::int + length(current_user) - length(current_user);
INSERT INTO src VALUES (24, 'a');
INSERT INTO src VALUES (25, 'a');
SELECT pg_temp.queued();
ALTER TABLE ai._vectorizer_q_1 ALTER priority SET DEFAULT 0;

-- The key of the source has another name.
ALTER TABLE src RENAME id TO number;
INSERT INTO src VALUES (31, 'a');
SELECT pg_temp.queued();
ALTER TABLE src RENAME number TO id;
INSERT INTO src VALUES (32, 'a');
SELECT pg_temp.queued();

-- The queue has another name, and is not there any more.
ALTER TABLE ai._vectorizer_q_1 RENAME TO renamed;
INSERT INTO src VALUES (33, 'a');
ALTER TABLE ai.renamed RENAME TO _vectorizer_q_1;
INSERT INTO src VALUES (34, 'a');
SELECT pg_temp.queued();
SELECT ai.drop_vectorizer(1, drop_all => true);
INSERT INTO src VALUES (35, 'a');
SELECT pg_temp.make('src');
SELECT pg_temp.queued(2) IS NOT NULL AS the_old_rows;
INSERT INTO src VALUES (36, 'a');
SELECT pg_temp.queued(2);

-- Rights on the queue, and who is a member of whom.
CREATE ROLE regress_ai_filler;
CREATE ROLE regress_ai_group;
GRANT CREATE ON SCHEMA public TO regress_ai_filler;
GRANT USAGE ON SCHEMA ai TO regress_ai_filler;
GRANT INSERT ON ai._vectorizer_q_2 TO regress_ai_filler;
SET ROLE regress_ai_filler;
CREATE TABLE filler (id int PRIMARY KEY);
CREATE TRIGGER fill AFTER INSERT ON filler FOR EACH ROW
    EXECUTE FUNCTION ai._vectorizer_enqueue('ai', '_vectorizer_q_2', 'id');
INSERT INTO filler VALUES (1);
INSERT INTO filler VALUES (2);
RESET ROLE;
REVOKE INSERT ON ai._vectorizer_q_2 FROM regress_ai_filler;
INSERT INTO filler VALUES (3);
GRANT INSERT ON ai._vectorizer_q_2 TO regress_ai_group;
INSERT INTO filler VALUES (4);
GRANT regress_ai_group TO regress_ai_filler;
INSERT INTO filler VALUES (5);
REVOKE regress_ai_group FROM regress_ai_filler;
INSERT INTO filler VALUES (6);
ALTER ROLE regress_ai_filler SUPERUSER;
INSERT INTO filler VALUES (7);
ALTER ROLE regress_ai_filler NOSUPERUSER;
INSERT INTO filler VALUES (8);
SELECT pg_temp.queued(2);
DROP TABLE filler;

-- A trigger with other arguments.
CREATE TABLE other (id int PRIMARY KEY, body text);
SELECT pg_temp.make('other');
CREATE TABLE third (id int PRIMARY KEY);
CREATE TRIGGER fill AFTER INSERT ON third FOR EACH ROW EXECUTE FUNCTION ai._vectorizer_enqueue('ai', '_vectorizer_q_2', 'id');
INSERT INTO third VALUES (1);
CREATE OR REPLACE TRIGGER fill AFTER INSERT ON third FOR EACH ROW EXECUTE FUNCTION ai._vectorizer_enqueue('ai', '_vectorizer_q_3', 'id');
INSERT INTO third VALUES (2);
SELECT pg_temp.queued(2) AS second, pg_temp.queued(3) AS third;

-- A trigger that somebody made with fewer columns than the key of the queue has.
CREATE TABLE pair (a text, b text, body text, PRIMARY KEY (a, b));
SELECT ai.create_vectorizer('pair', loading => ai.loading_column('body'), embedding => ai.embedding_local('m', 3));
CREATE TABLE half (a text PRIMARY KEY);
CREATE TRIGGER fill AFTER INSERT ON half FOR EACH ROW EXECUTE FUNCTION ai._vectorizer_enqueue('ai', '_vectorizer_q_4', 'a');
BEGIN;
INSERT INTO pair VALUES ('a', 'b');
INSERT INTO half VALUES ('a');
ROLLBACK;

-- Rows with priorities, whose queue has an index; and more queues than are kept.
CREATE TABLE ranked (id int PRIMARY KEY, body text, rank int);
SELECT ai.create_vectorizer('ranked', loading => ai.loading_column('body'), embedding => ai.embedding_local('m', 3),
    processing => ai.processing_default(priority_column => 'rank'));
INSERT INTO ranked VALUES (1, 'a', 5);
INSERT INTO ranked VALUES (2, 'a', NULL);
SET enable_seqscan = off;
SELECT id, priority FROM ai._vectorizer_q_5 ORDER BY priority DESC, queued_at;
RESET enable_seqscan;
DO $$
BEGIN
    FOR i IN 6 .. 25 LOOP
        EXECUTE format('CREATE TABLE many_%s (id int PRIMARY KEY, body text)', i);
        PERFORM pg_temp.make(format('many_%s', i)::regclass);
    END LOOP;
END $$;
DO $$
BEGIN
    FOR i IN 1 .. 3 LOOP
        FOR v IN 6 .. 25 LOOP
            EXECUTE format('INSERT INTO many_%s VALUES (%s)', v, i);
        END LOOP;
        COMMIT;
    END LOOP;
END $$;
SELECT count(*), min(q), max(q) FROM generate_series(6, 25) v, pg_temp.queued(v) q;

SET client_min_messages = warning;
SELECT count(ai.drop_vectorizer(id, drop_all => true)) FROM ai.vectorizer;
DO $$ BEGIN FOR i IN 6 .. 25 LOOP EXECUTE format('DROP TABLE many_%s', i); END LOOP; END $$;
DROP TABLE src, other, third, pair, half, ranked;
REVOKE ALL ON SCHEMA public, ai FROM regress_ai_filler;
DROP ROLE regress_ai_filler, regress_ai_group;
