-- Embedding jobs in the way PostgREST calls functions: it finds the one whose arguments fit the members of
-- the body, reads them by the types of these, passes them by name, and makes JSON of the result. As a role
-- that has no right but what everybody has.
\set SHOW_CONTEXT never
CREATE ROLE regress_ai_web;

CREATE FUNCTION pg_temp.rest(called name, body json) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    given text[] := ARRAY(SELECT k FROM json_object_keys(body) k ORDER BY k);
    found record;
    result text;
BEGIN
    SELECT p.oid, p.proretset, t.typtype = 'c' AS composite,
        (SELECT string_agg(format('%I := b.%I', k, k), ', ') FROM unnest(given) k) AS passed,
        (SELECT string_agg(format('%I %s', n, format_type(y, NULL)), ', ')
         FROM unnest(p.proargnames, p.proargtypes::oid[]) AS a (n, y) WHERE n = ANY (given)) AS typed
    INTO STRICT found
    FROM pg_proc p JOIN pg_type t ON t.oid = p.prorettype
    WHERE p.pronamespace = 'ai'::regnamespace AND p.proname = called
      AND p.proargnames @> given AND p.proargnames[1:p.pronargs - p.pronargdefaults] <@ given;
    EXECUTE format(CASE WHEN found.composite
        THEN 'SELECT coalesce(json_agg(c), ''[]'') FROM (SELECT $1 AS d) p, LATERAL (SELECT * FROM json_to_record(p.d) AS _ (%s) LIMIT 1) b, LATERAL ai.%I(%s) c'
        ELSE 'SELECT json_agg(c.s) FROM (SELECT $1 AS d) p, LATERAL (SELECT * FROM json_to_record(p.d) AS _ (%s) LIMIT 1) b, LATERAL (SELECT ai.%I(%s) AS s) c' END,
        found.typed, called, found.passed) INTO result USING body;
    RETURN CASE WHEN found.proretset THEN result ELSE (result::json -> 0)::text END;
END $$;

SET ROLE regress_ai_web;
\set config '{"config_type": "embedding", "implementation": "ollama", "model": "m", "dimensions": 3}'

-- Create: one, several.
SELECT trim('"' FROM pg_temp.rest('create_embedding_job', json_build_object('input_text', 'a text', 'priority', 'high',
    'embedding', :'config'::json, 'metadata', json_build_object('user', 7)))) AS id \gset
SELECT json_array_length(pg_temp.rest('create_embedding_job', json_build_object('input_texts', ARRAY['b', 'c'],
    'embedding', :'config'::json))::json);
SELECT pg_temp.rest('create_embedding_job', '{"input_text": ""}');
SELECT pg_temp.rest('create_embedding_job', '{"input_text": "x", "priority": "whenever"}');
SELECT pg_temp.rest('create_embedding_job', '{"input_text": "x", "priority": "urgent"}');

-- Get, list, wait.
CREATE FUNCTION pg_temp.shown(answer text) RETURNS TABLE (input_text text, status text, priority text, metadata text)
    LANGUAGE sql AS $$
    SELECT j ->> 'input_text', j ->> 'status', j ->> 'priority', j ->> 'metadata'
    FROM json_array_elements(CASE json_typeof(answer::json) WHEN 'array' THEN answer::json
                             ELSE json_build_array(answer::json) END) j ORDER BY 1 $$;
SELECT s.* FROM pg_temp.shown(pg_temp.rest('embedding_job', json_build_object('id', :'id'))) s;
SELECT pg_temp.rest('embedding_job', '{"id": "00000000-0000-0000-0000-000000000000"}');
SELECT s.* FROM pg_temp.shown(pg_temp.rest('list_embedding_jobs', '{"status": "pending"}')) s;
SELECT pg_temp.rest('list_embedding_jobs', '{"status": "failed", "max_rows": 5}');
SELECT s.* FROM pg_temp.shown(pg_temp.rest('wait_for_embedding_job', json_build_object('id', :'id', 'timeout', '1 ms'))) s;

-- Cancel, begin anew.
SELECT pg_temp.rest('cancel_embedding_job', json_build_object('id', :'id'));
SELECT pg_temp.rest('cancel_embedding_job', json_build_object('id', :'id'));
SELECT pg_temp.rest('retry_embedding_job', json_build_object('id', :'id'));
SELECT pg_temp.rest('retry_embedding_job', '{"id": "00000000-0000-0000-0000-000000000000"}');

-- Reading functions run in a read-only transaction; tables and views are there to read, own rows only.
BEGIN READ ONLY;
SELECT s.status FROM pg_temp.shown(pg_temp.rest('embedding_job', json_build_object('id', :'id'))) s;
SELECT json_array_length(pg_temp.rest('list_embedding_jobs', '{"priority": "normal"}')::json);
SELECT json_agg(json_build_object('status', status, 'count', count)) FROM ai.embedding_job_health;
SELECT count(*) FROM ai.embedding_jobs WHERE created_by = current_user::regrole;
SELECT count(*) FROM ai.embedding_job_failures;
SELECT count(*) FROM ai.embedding_job_usage;
COMMIT;

RESET ROLE;
DELETE FROM ai.embedding_jobs;
SET client_min_messages = warning;
DROP OWNED BY regress_ai_web;
DROP ROLE regress_ai_web;
