-- Which statements put which keys into the queue.
\set SHOW_CONTEXT never
SELECT setval('ai.vectorizer_id_seq', 1, false);
CREATE TABLE src (id int PRIMARY KEY, title text, body text, other int, doc json, place point);
SELECT ai.create_vectorizer('src', loading => ai.loading_column('body'), embedding => ai.embedding_local('m', 3),
    formatting => ai.formatting_python_template('$title ${doc} $place: $chunk'));
-- The keys queued since the last call.
CREATE FUNCTION queued(vectorizer int DEFAULT 1) RETURNS int[] LANGUAGE plpgsql AS $$
DECLARE result int[];
BEGIN
    EXECUTE format('WITH d AS (DELETE FROM ai._vectorizer_q_%s RETURNING id)
                    SELECT array_agg(id ORDER BY id) FROM d', vectorizer) INTO result;
    RETURN result;
END $$;

-- INSERT, COPY
INSERT INTO src (id, body) VALUES (1, 'a');
SELECT queued();
INSERT INTO src (id, body) SELECT g, 'a' FROM generate_series(2, 5) g;
SELECT queued();
COPY src (id, body) FROM stdin;
6	a
7	b
\.
SELECT queued();
INSERT INTO src (id, body) SELECT g, 'a' FROM generate_series(100, 2599) g;
SELECT cardinality(queued());
DELETE FROM src WHERE id >= 100;
SELECT cardinality(queued());

-- UPDATE: only columns that matter, and only if they change.
UPDATE src SET other = 1;
SELECT queued();
UPDATE src SET body = body, title = title, id = id;
SELECT queued();
UPDATE src SET body = 'b' WHERE id = 1;
SELECT queued();
UPDATE src SET title = 'b' WHERE id = 2;
SELECT queued();
UPDATE src SET doc = '{"a": 1}' WHERE id = 3;
SELECT queued();
UPDATE src SET doc = '{"a": 1}', other = 2 WHERE id = 3;
SELECT queued();
UPDATE src SET place = '(1,2)' WHERE id = 4;
SELECT queued();
UPDATE src SET place = NULL WHERE id = 4;
SELECT queued();
UPDATE src SET body = NULL WHERE id IN (1, 2);
SELECT queued();
UPDATE src SET body = 'b' WHERE id = 99;
SELECT queued();
-- A long value that is not touched.
UPDATE src SET body = repeat('long ', 100000) WHERE id = 5;
SELECT queued();
UPDATE src SET other = 3 WHERE id = 5;
SELECT queued();
UPDATE src SET body = body || '' WHERE id = 5;
SELECT queued();

-- A change of the key queues both.
UPDATE src SET id = 50 WHERE id = 5;
SELECT queued();

-- DELETE, MERGE, ON CONFLICT
DELETE FROM src WHERE id IN (50, 51);
SELECT queued();
MERGE INTO src USING (VALUES (1, 'merged'), (2, NULL), (60, 'new')) AS m (id, body) ON src.id = m.id
WHEN MATCHED AND m.body IS NULL THEN DELETE
WHEN MATCHED THEN UPDATE SET body = m.body
WHEN NOT MATCHED THEN INSERT (id, body) VALUES (m.id, m.body);
SELECT queued();
INSERT INTO src (id, body) VALUES (60, 'x'), (61, 'y') ON CONFLICT (id) DO UPDATE SET body = excluded.body;
SELECT queued();
INSERT INTO src (id, body) VALUES (60, 'x'), (61, 'y') ON CONFLICT (id) DO UPDATE SET body = excluded.body;
SELECT queued();
INSERT INTO src (id, body) VALUES (60, 'z') ON CONFLICT DO NOTHING;
SELECT queued();

-- A BEFORE trigger changes what the statement did not.
CREATE FUNCTION touch() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.body := NEW.body || '!'; RETURN NEW; END $$;
CREATE TRIGGER touch BEFORE UPDATE ON src FOR EACH ROW EXECUTE FUNCTION touch();
UPDATE src SET other = 4 WHERE id = 1;
SELECT queued();
DROP TRIGGER touch ON src;

-- Rolled back with the transaction and the savepoint; visible inside the transaction.
BEGIN;
INSERT INTO src (id, body) VALUES (70, 'a');
SAVEPOINT s;
INSERT INTO src (id, body) VALUES (71, 'a');
ROLLBACK TO s;
INSERT INTO src (id, body) VALUES (72, 'a');
SELECT ai.vectorizer_queue_pending(1, exact_count => true);
COMMIT;
SELECT queued();
BEGIN;
DELETE FROM src WHERE id > 69;
ROLLBACK;
SELECT queued();
DO $$
BEGIN
    INSERT INTO src (id, body) VALUES (73, 'a');
    BEGIN
        INSERT INTO src (id, body) VALUES (74, 'a'), (73, 'again');
    EXCEPTION WHEN unique_violation THEN
        INSERT INTO src (id, body) VALUES (75, 'a');
    END;
END $$;
SELECT queued();

-- A prepared transaction.
BEGIN;
INSERT INTO src (id, body) VALUES (80, 'a');
PREPARE TRANSACTION 'regress_ai';
SELECT queued();
COMMIT PREPARED 'regress_ai';
SELECT queued();

-- Foreign keys with CASCADE, writes from functions and data-modifying WITH.
CREATE TABLE parent (id int PRIMARY KEY);
INSERT INTO parent VALUES (90), (91);
ALTER TABLE src ADD COLUMN parent int REFERENCES parent ON DELETE CASCADE ON UPDATE CASCADE;
INSERT INTO src (id, parent) VALUES (90, 90), (91, 91);
SELECT queued();
DELETE FROM parent WHERE id = 90;
SELECT queued();
WITH i AS (INSERT INTO src (id) VALUES (92) RETURNING id), d AS (DELETE FROM src WHERE id = 91 RETURNING id)
SELECT count(*) FROM i, d;
SELECT queued();

-- What logical replication brings fires the triggers, and so does session_replication_role.
SET session_replication_role = replica;
INSERT INTO src (id, body) VALUES (93, 'a');
UPDATE src SET body = 'b' WHERE id = 93;
DELETE FROM src WHERE id = 93;
RESET session_replication_role;
SELECT queued();

-- TRUNCATE queues what has embeddings.
INSERT INTO src_embedding_store (id, chunk_seq, chunk, embedding)
VALUES (1, 0, 'a', '[1,2,3]'), (1, 1, 'b', '[1,2,3]'), (3, 0, 'c', '[1,2,3]'), (4, 0, 'd', '[1,2,3]');
BEGIN;
TRUNCATE src CASCADE;
SELECT ai.vectorizer_queue_pending(1, exact_count => true);
ROLLBACK;
SELECT queued();
TRUNCATE src;
SELECT queued();
INSERT INTO src (id, body) VALUES (1, 'back');
SELECT queued();

-- Two vectorizers on one table have a queue each.
SELECT ai.create_vectorizer('src', loading => ai.loading_column('title'), embedding => ai.embedding_local('m', 3),
    destination => ai.destination_table('titles'));
SELECT queued(2);
UPDATE src SET body = 'only for the first';
SELECT queued(1), queued(2);
UPDATE src SET title = 'for both';
SELECT queued(1), queued(2);
INSERT INTO src (id) VALUES (2);
SELECT queued(1), queued(2);
TRUNCATE src;
SELECT queued(1), queued(2);

-- Two updates of a row are two entries and one row to do.
INSERT INTO src (id, body) VALUES (1, 'a');
UPDATE src SET body = 'b';
UPDATE src SET body = 'c';
SELECT count(*) FROM ai._vectorizer_q_1;
SELECT ai.vectorizer_queue_pending(1, exact_count => true);

-- A publication of all tables does not keep workers from their work.
CREATE PUBLICATION regress_ai FOR ALL TABLES;
UPDATE ai._vectorizer_q_1 SET priority = 1;
DELETE FROM ai._vectorizer_q_1;
SELECT ai.create_vectorizer('src', name => 'published', loading => ai.loading_column('title'), embedding => ai.embedding_local('m', 3),
    destination => ai.destination_table('published')) > 0 AS made;
ALTER TABLE src RENAME COLUMN other TO another;
ALTER TABLE src RENAME COLUMN another TO other;
INSERT INTO ai._vectorizer_errors (id, message) SELECT 1, 'x' FROM generate_series(1, 1001);
DELETE FROM ai._vectorizer_errors;
SELECT ai.drop_vectorizer('published', true);
SELECT c.relname FROM pg_class c
WHERE c.relnamespace = 'ai'::regnamespace AND c.relkind = 'r' AND c.relpersistence = 'p' AND c.relreplident = 'd'
  AND c.relnatts > 0 AND NOT EXISTS (SELECT FROM pg_index i WHERE i.indrelid = c.oid AND i.indisprimary);
DROP PUBLICATION regress_ai;

-- Where event triggers are off, names lead elsewhere. A trigger says so, and copies nothing.
BEGIN;
ALTER EVENT TRIGGER ai_on_ddl_command_end DISABLE;
ALTER TABLE src RENAME COLUMN id TO number;
SAVEPOINT s;
INSERT INTO src (number) VALUES (5);
ROLLBACK TO s;
ALTER TABLE src ADD COLUMN id text NOT NULL DEFAULT 'a text in the place of a number';
INSERT INTO src (number) VALUES (5);
ROLLBACK;

-- A writer needs no rights on our tables.
CREATE ROLE regress_ai_writer;
GRANT SELECT, INSERT, UPDATE, DELETE, TRUNCATE ON src TO regress_ai_writer;
DELETE FROM ai._vectorizer_q_1;
SET ROLE regress_ai_writer;
INSERT INTO src (id, body) VALUES (2, 'a'), (3, 'b');
UPDATE src SET body = 'c' WHERE id = 2;
DELETE FROM src WHERE id = 3;
TRUNCATE src;
SELECT * FROM ai._vectorizer_q_1;
INSERT INTO ai._vectorizer_q_1 (id) VALUES (1);
RESET ROLE;
SELECT queued();
DROP OWNED BY regress_ai_writer;
DROP ROLE regress_ai_writer;
DROP TABLE src, parent CASCADE;
DROP FUNCTION queued, touch;
SELECT count(*) FROM ai.vectorizer;
