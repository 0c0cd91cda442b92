-- Owners: who owns what, and what DROP OWNED, REASSIGN OWNED, ALTER OWNER, DROP SCHEMA and DROP EXTENSION do.
\set SHOW_CONTEXT never
SELECT setval('ai.vectorizer_id_seq', 1, false);
CREATE ROLE regress_ai_a;
CREATE ROLE regress_ai_b;
CREATE ROLE regress_ai_group;
CREATE SCHEMA owned AUTHORIZATION regress_ai_a;
GRANT ALL ON SCHEMA owned TO regress_ai_b, regress_ai_group;
SET ROLE regress_ai_a;
CREATE TABLE owned.src (id int PRIMARY KEY, body text);
INSERT INTO owned.src VALUES (1, 'a');
ALTER DEFAULT PRIVILEGES GRANT SELECT ON TABLES TO regress_ai_b;
SELECT ai.create_vectorizer('owned.src', loading => ai.loading_column('body'), embedding => ai.embedding_local('m', 3));
ALTER DEFAULT PRIVILEGES REVOKE SELECT ON TABLES FROM regress_ai_b;
RESET ROLE;
CREATE VIEW owned.owners AS
    SELECT c.relname, pg_get_userbyid(c.relowner) = current_user AS superuser,
        CASE WHEN pg_get_userbyid(c.relowner) ~ '^regress' THEN pg_get_userbyid(c.relowner) END AS owner,
        regexp_replace(array_to_string(ARRAY(SELECT format('%s:%s', pg_get_userbyid(x.grantee), x.privilege_type)
            FROM aclexplode(c.relacl) x WHERE pg_get_userbyid(x.grantee) ~ '^regress' AND x.grantee <> c.relowner
            UNION ALL
            SELECT format('%s:%s(%s)', pg_get_userbyid(x.grantee), x.privilege_type, a.attname)
            FROM pg_attribute a, aclexplode(a.attacl) x WHERE a.attrelid = c.oid
            ORDER BY 1), ' '), 'regress_ai_', '', 'g') AS granted
    FROM pg_class c WHERE c.relname IN ('src', 'src_embedding_store', 'src_embedding', '_vectorizer_q_1', '_vectorizer_q_work_1',
        '_vectorizer_q_failed_1')
    ORDER BY c.relname;
SELECT * FROM owned.owners;
SELECT owner_role FROM ai.vectorizer;

-- The owner looks into the queue, and may put a row into it, nothing else.
SET ROLE regress_ai_a;
SELECT id FROM ai._vectorizer_q_1;
INSERT INTO ai._vectorizer_q_1 (id) VALUES (1);
INSERT INTO ai._vectorizer_q_1 (id, priority) VALUES (1, 100);
UPDATE ai._vectorizer_q_1 SET queued_at = NULL;
UPDATE ai._vectorizer_q_work_1 SET lease = NULL;
SELECT count(*) FROM ai._vectorizer_q_work_1;
DELETE FROM ai._vectorizer_q_1;
SELECT count(*) FROM ai._vectorizer_q_failed_1;
RESET ROLE;

-- ALTER OWNER: target, view and the rights on the queue follow.
ALTER TABLE owned.src OWNER TO regress_ai_b;
SELECT * FROM owned.owners;
SELECT owner_role FROM ai.vectorizer;
-- What was given to somebody else stays there.
ALTER TABLE owned.src_embedding_store OWNER TO regress_ai_group;
ALTER TABLE owned.src OWNER TO regress_ai_a;
SELECT relname, owner FROM owned.owners WHERE owner IS NOT NULL;
ALTER TABLE owned.src_embedding_store OWNER TO regress_ai_a;

-- REASSIGN OWNED. The rights on the queue follow when they are needed.
INSERT INTO owned.src_embedding_store (id, chunk_seq, chunk, embedding) VALUES (1, 0, 'a', '[1,2,3]');
REASSIGN OWNED BY regress_ai_a TO regress_ai_b;
DELETE FROM ai._vectorizer_q_1;
TRUNCATE owned.src;
SELECT ai.vectorizer_queue_pending(1, true);
SELECT * FROM owned.owners;
DROP OWNED BY regress_ai_a;
DROP ROLE regress_ai_a;
SET ROLE regress_ai_b;
INSERT INTO owned.src VALUES (2, 'b');
SELECT pending_items FROM ai.vectorizer_status;
RESET ROLE;
-- A role that is renamed is the same role.
ALTER ROLE regress_ai_b RENAME TO regress_ai_c;
ALTER TABLE owned.src ALTER COLUMN body SET STATISTICS 10;
SELECT owner_role FROM ai.vectorizer;
SELECT relname, owner FROM owned.owners WHERE owner IS NOT NULL;
DROP VIEW owned.owners;

-- A member of the owner, and a member who does not inherit.
GRANT regress_ai_c TO regress_ai_group;
CREATE ROLE regress_ai_noinherit NOINHERIT;
GRANT regress_ai_c TO regress_ai_noinherit;
SET ROLE regress_ai_noinherit;
SELECT ai.disable_vectorizer_schedule(1);
SET ROLE regress_ai_group;
SELECT ai.disable_vectorizer_schedule(1);
SELECT ai.create_vectorizer('owned.src', loading => ai.loading_column('body'), embedding => ai.embedding_local('m', 3),
    destination => ai.destination_table('by_member')) > 0 AS made;
RESET ROLE;
SELECT relname, relowner::regrole FROM pg_class WHERE relname ~ '^by_member' AND relkind IN ('r', 'v') ORDER BY 1;

-- The owner of the source may not create in the target's schema, but the caller may; nobody else's default privileges apply.
CREATE SCHEMA closed;
SELECT ai.create_vectorizer('owned.src', loading => ai.loading_column('body'), embedding => ai.embedding_local('m', 3),
    destination => ai.destination_table('closed', target_schema => 'closed', view_schema => 'closed'));
GRANT USAGE ON SCHEMA closed TO regress_ai_c;
ALTER DEFAULT PRIVILEGES GRANT SELECT ON TABLES TO PUBLIC;
SELECT ai.create_vectorizer('owned.src', loading => ai.loading_column('body'), embedding => ai.embedding_local('m', 3),
    destination => ai.destination_table('closed', target_schema => 'closed', view_schema => 'closed')) > 0 AS made;
ALTER DEFAULT PRIVILEGES REVOKE SELECT ON TABLES FROM PUBLIC;
SELECT relname, relowner::regrole, has_table_privilege('regress_ai_noinherit', oid, 'SELECT') AS others
FROM pg_class WHERE relnamespace = 'closed'::regnamespace AND relkind IN ('r', 'v') ORDER BY 1;

-- DROP OWNED takes the source and with it everything else.
\set VERBOSITY terse
DROP OWNED BY regress_ai_c CASCADE;
\set VERBOSITY default
SELECT count(*) FROM ai.vectorizer;
SELECT relname FROM pg_class WHERE relname ~ '_vectorizer_q_\w*\d|src_embedding|by_member|^closed';
DROP ROLE regress_ai_group, regress_ai_noinherit;
DROP SCHEMA closed;

-- DROP SCHEMA with source, target, view and queue in it.
CREATE SCHEMA everything;
CREATE TABLE everything.src (id int PRIMARY KEY, body text);
SELECT ai.create_vectorizer('everything.src', loading => ai.loading_column('body'), embedding => ai.embedding_local('m', 3),
    queue_schema => 'everything') > 0 AS made;
\set VERBOSITY terse
DROP SCHEMA everything CASCADE;
\set VERBOSITY default
SELECT count(*) FROM ai.vectorizer;
-- With the source alone in it.
CREATE SCHEMA only_source;
CREATE SCHEMA only_target;
CREATE TABLE only_source.src (id int PRIMARY KEY, body text);
SELECT ai.create_vectorizer('only_source.src', loading => ai.loading_column('body'), embedding => ai.embedding_local('m', 3),
    destination => ai.destination_table(target_schema => 'only_target', view_schema => 'only_target')) > 0 AS made;
\set VERBOSITY terse
DROP SCHEMA only_source CASCADE;
\set VERBOSITY default
SELECT count(*) FROM ai.vectorizer;
DROP SCHEMA only_target;
DROP SCHEMA IF EXISTS owned CASCADE;
DROP ROLE regress_ai_c;

-- DROP EXTENSION says what depends on it; with CASCADE only the embeddings stay.
CREATE DATABASE regress_ai_drop;
\c regress_ai_drop
\set SHOW_CONTEXT never
SET client_min_messages = warning;
CREATE EXTENSION ai CASCADE;
RESET client_min_messages;
CREATE TABLE src (id int PRIMARY KEY, body text);
SELECT ai.create_vectorizer('src', loading => ai.loading_column('body'), embedding => ai.embedding_local('m', 3));
\set VERBOSITY terse
DROP EXTENSION ai;
DROP EXTENSION ai CASCADE;
\set VERBOSITY default
SELECT tgname FROM pg_trigger WHERE tgrelid = 'src'::regclass;
SELECT c.relname FROM pg_class c WHERE c.relnamespace = 'ai'::regnamespace;
SELECT count(*) FROM src_embedding;
INSERT INTO src VALUES (1, 'a');
SELECT evtname FROM pg_event_trigger;
CREATE EXTENSION ai;
SELECT count(*) FROM ai.vectorizer_status;
\c ai_regress
DROP DATABASE regress_ai_drop;
