-- Rows of a vectorizer that come first: by a column of the source.
\set SHOW_CONTEXT never
SELECT setval('ai.vectorizer_id_seq', 1, false);
CREATE SCHEMA prio;
CREATE TYPE prio.level AS ENUM ('low', 'normal', 'critical');
CREATE DOMAIN prio.word AS text;

SELECT v, ai._row_priority(v) FROM unnest(ARRAY['critical', 'urgent', 'URGENT ', 'high', 'normal', 'low', '', 'whatever',
    '7', '-7', '99999', '-99999', '1.5', '0x10', '99999999999999999999', NULL]) v;

-- Rows that are there, and changes; what is said in the column is added to the vectorizer's priority.
CREATE TABLE prio.rules (id int PRIMARY KEY, body text, priority prio.word, other int);
INSERT INTO prio.rules VALUES (1, 'a', 'critical'), (2, 'b', 'high'), (3, 'c', 'medium'), (4, 'd', NULL), (5, 'e', 'low');
SELECT ai.create_vectorizer('prio.rules', name => 'rules', loading => ai.loading_column('body'),
    embedding => ai.embedding_openai('m', 3),
    processing => ai.processing_default(priority => 10, priority_column => 'priority'));
SELECT id, priority FROM ai._vectorizer_q_1 ORDER BY priority DESC, queued_at, id;
TRUNCATE ai._vectorizer_q_1;
INSERT INTO prio.rules VALUES (6, 'f', 'Urgent'), (7, 'g', 'low');
UPDATE prio.rules SET body = 'A', priority = 'low' WHERE id = 1;
UPDATE prio.rules SET priority = 'critical' WHERE id = 3;
DELETE FROM prio.rules WHERE id = 2;
SELECT id, priority FROM ai._vectorizer_q_1 ORDER BY priority DESC, queued_at, id;
SELECT indexdef FROM pg_indexes WHERE schemaname = 'ai' AND tablename LIKE '\_vectorizer\_q\__';

-- Other types.
CREATE TABLE prio.types (id int PRIMARY KEY, body text, e prio.level, i bigint, v varchar(10), c char(10), n name, s smallint, b boolean);
CREATE FUNCTION prio.priorities(type text) RETURNS TABLE (id int, priority int) LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('SELECT ai.create_vectorizer(''prio.types'', name => %1$L, loading => ai.loading_column(''body''), '
        'destination => ai.destination_table(''of_%1$s''), embedding => ai.embedding_openai(''m'', 3), '
        'processing => ai.processing_default(priority_column => %1$L))', type);
    INSERT INTO prio.types VALUES (1, 'x', 'critical', 99999999, 'low', 'high', 'urgent', -5);
    INSERT INTO prio.types VALUES (2, 'y');
    PERFORM ai._vectorizer_flush_pending();
    RETURN QUERY EXECUTE format('SELECT q.id, q.priority::int FROM %s q ORDER BY 1',
        (SELECT v.queue FROM ai.vectorizer v WHERE v.name = type));
    PERFORM ai.drop_vectorizer(type, true);
    DELETE FROM prio.types;
END $$;
SELECT t, p.* FROM unnest(ARRAY['e', 'i', 'v', 'c', 'n', 's']) t, prio.priorities(t) p;
SELECT prio.priorities('b');
SELECT prio.priorities('nothing');
SELECT ai.create_vectorizer('prio.types', loading => ai.loading_column('body'), embedding => ai.embedding_openai('m', 3),
    processing => '{"config_type": "processing", "implementation": "default", "priority_column": 5}');

-- A column that is renamed is followed, one that is needed stays; another type of it tells nothing.
TRUNCATE ai._vectorizer_q_1;
ALTER TABLE prio.rules RENAME COLUMN priority TO urgency;
SELECT config #>> '{processing,priority_column}' FROM ai.vectorizer WHERE name = 'rules';
INSERT INTO prio.rules VALUES (8, 'h', 'high');
DROP VIEW prio.rules_embedding;
ALTER TABLE prio.rules DROP COLUMN urgency;
ALTER TABLE prio.rules ALTER COLUMN urgency TYPE boolean USING true;
INSERT INTO prio.rules VALUES (9, 'i', true);
SELECT id, priority FROM ai._vectorizer_q_1 ORDER BY 1;

-- An expression is a generated column. The owner of the source needs no right but on the source.
CREATE ROLE regress_ai_owner;
GRANT USAGE, CREATE ON SCHEMA prio TO regress_ai_owner;
SET ROLE regress_ai_owner;
CREATE TABLE prio.orders (id int PRIMARY KEY, body text, amount int,
    rank int GENERATED ALWAYS AS (CASE WHEN amount > 1000 THEN 100 ELSE 0 END) STORED);
INSERT INTO prio.orders VALUES (1, 'a', 1), (2, 'b', 5000);
SELECT ai.create_vectorizer('prio.orders', name => 'orders', loading => ai.loading_column('body'),
    embedding => ai.embedding_openai('m', 3), processing => ai.processing_default(priority_column => 'rank')) AS id \gset
SELECT 'ai._vectorizer_q_' || :id AS queue \gset
INSERT INTO prio.orders VALUES (3, 'c', 2000);
SELECT id, priority FROM :queue ORDER BY 1;

-- Words of one's own, as well.
CREATE TABLE prio.tickets (id int PRIMARY KEY, body text, severity text, priority text GENERATED ALWAYS AS (
    CASE severity WHEN 'blocker' THEN 'critical' WHEN 'major' THEN 'high' ELSE 'normal' END) STORED);
INSERT INTO prio.tickets VALUES (1, 'a', 'minor'), (2, 'b', 'major');
SELECT ai.create_vectorizer('prio.tickets', name => 'tickets', loading => ai.loading_column('body'),
    embedding => ai.embedding_openai('m', 3), processing => ai.processing_default(priority_column => 'priority')) AS id \gset
SELECT 'ai._vectorizer_q_' || :id AS queue \gset
INSERT INTO prio.tickets VALUES (3, 'c', 'blocker'), (4, 'd', NULL);
SELECT id, priority FROM :queue ORDER BY priority DESC, id;
RESET ROLE;
TRUNCATE :queue;
SET ROLE regress_ai_owner;
UPDATE prio.tickets SET severity = 'blocker';
SELECT count(*) AS unchanged_texts FROM :queue;
UPDATE prio.tickets SET severity = 'major', body = body || '!' WHERE id = 1;
SELECT id, priority FROM :queue ORDER BY priority DESC, id;
RESET ROLE;

SET client_min_messages = warning;
DROP SCHEMA prio CASCADE;
DROP ROLE regress_ai_owner;
