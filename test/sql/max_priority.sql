-- Who may use which priority: ai.max_priority.
\set SHOW_CONTEXT never
CREATE ROLE regress_ai_mallory;
CREATE SCHEMA urgent AUTHORIZATION regress_ai_mallory;
SHOW ai.max_priority;

CREATE TABLE urgent.src (id int PRIMARY KEY, body text);
ALTER TABLE urgent.src OWNER TO regress_ai_mallory;
CREATE FUNCTION urgent.try(priority int) RETURNS int LANGUAGE sql AS $$
    SELECT ai.create_vectorizer('urgent.src', name => 'urgent', loading => ai.loading_column('body'),
        embedding => ai.embedding_openai('m', 3), processing => ai.processing_default(priority => $1)) > 0;
    SELECT ai.drop_vectorizer('urgent', drop_all => true) IS NOT NULL;
    SELECT priority
$$;
CREATE FUNCTION urgent.job(priority ai.job_priority) RETURNS bigint LANGUAGE sql AS $$
    SELECT count(*) FROM ai.create_embedding_job(ARRAY['a', 'b'], ai.embedding_ollama('m', 3), $1)
$$;

-- An ordinary role: up to the default.
SET ROLE regress_ai_mallory;
SELECT urgent.try(100);
SELECT urgent.try(-32768);
SELECT urgent.try(NULL);
SELECT urgent.try(101);
SELECT urgent.try(32767);
-- The helper only builds a configuration.
SELECT ai.processing_default(priority => 32767) ->> 'priority' AS priority;
SELECT ai.create_vectorizer('urgent.src', loading => ai.loading_column('body'), embedding => ai.embedding_openai('m', 3),
    processing => '{"config_type": "processing", "implementation": "default", "priority": 101}');
SELECT urgent.job('high');
SELECT urgent.job('urgent');
SELECT ai.create_embedding_job('a', ai.embedding_ollama('m', 3), 'urgent');
DO $$ BEGIN PERFORM urgent.try(200); EXCEPTION WHEN insufficient_privilege THEN RAISE NOTICE 'insufficient_privilege'; END $$;

-- The limit is not for the role to raise.
SET ai.max_priority = 200;
SELECT set_config('ai.max_priority', '200', false);
ALTER ROLE regress_ai_mallory SET ai.max_priority = 200;
CREATE FUNCTION urgent.raised() RETURNS bigint LANGUAGE sql SET ai.max_priority = 200 AS $$SELECT urgent.job('urgent')$$;
-- Nor is who asks for somebody else to say.
SELECT ai._create_embedding_job(10::oid, 'a'::text, ai.embedding_ollama('m', 3), 'urgent', 3, NULL, NULL);
SELECT ai._check_priority(10::oid, 32767);
RESET ROLE;

-- A superuser may anything, and set it for others.
SELECT urgent.try(32767);
SELECT urgent.job('urgent');
ALTER ROLE regress_ai_mallory SET ai.max_priority = 200;
SELECT setconfig FROM pg_db_role_setting WHERE setrole = 'regress_ai_mallory'::regrole;
ALTER ROLE regress_ai_mallory RESET ai.max_priority;
SET ai.max_priority = 200;
SET ROLE regress_ai_mallory;
SELECT urgent.try(200);
SELECT urgent.job('urgent');
SELECT urgent.try(201);
RESET ROLE;
RESET ai.max_priority;

-- Or grant the right to set it.
GRANT SET ON PARAMETER ai.max_priority TO regress_ai_mallory;
SET ROLE regress_ai_mallory;
SELECT urgent.job('urgent');
SET ai.max_priority = 32767;
SELECT urgent.try(32767);
SELECT urgent.job('urgent');
RESET ai.max_priority;
RESET ROLE;
REVOKE SET ON PARAMETER ai.max_priority FROM regress_ai_mallory;

-- It can be lower, too.
SET ai.max_priority = -1;
SET ROLE regress_ai_mallory;
SELECT urgent.job('normal');
SELECT urgent.job('low');
RESET ROLE;
RESET ai.max_priority;
SET ai.max_priority = 32768;

DELETE FROM ai.embedding_jobs;
SET client_min_messages = warning;
DROP SCHEMA urgent CASCADE;
DROP OWNED BY regress_ai_mallory;
DROP ROLE regress_ai_mallory;
