-- What users do with embedding jobs. Names of arguments are those of a JSON body, so that PostgREST
-- offers the functions as they are (doc/rest.md).

CREATE OR REPLACE FUNCTION ai._embedding_jobs_changing() RETURNS void
    LANGUAGE c VOLATILE
    AS 'MODULE_PATHNAME', 'ai_embedding_jobs_changing';
COMMENT ON FUNCTION ai._embedding_jobs_changing() IS
    'tells workers that this transaction locks jobs; its commit wakes those who wait for jobs';
REVOKE ALL ON FUNCTION ai._embedding_jobs_changing() FROM PUBLIC;

CREATE OR REPLACE FUNCTION ai._text_hash(input_text text) RETURNS text
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'ai_text_hash';
COMMENT ON FUNCTION ai._text_hash(text) IS
    'half of the SHA-256 of a text in UTF-8; raises an error if the text cannot be embedded';

CREATE OR REPLACE FUNCTION ai._embedding_job_check(input_texts text[], priority ai.job_priority,
        max_attempts int4, notify_channel text) RETURNS void
    LANGUAGE plpgsql IMMUTABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    IF input_texts IS NULL OR EXISTS (SELECT FROM unnest(input_texts) t WHERE t IS NULL) THEN
        RAISE EXCEPTION 'a text to embed must not be null'
            USING ERRCODE = 'null_value_not_allowed';
    END IF;
    IF priority IS NULL THEN
        RAISE EXCEPTION 'priority must not be null' USING ERRCODE = 'null_value_not_allowed';
    END IF;
    IF max_attempts IS NULL OR max_attempts NOT BETWEEN 1 AND 1000 THEN
        RAISE EXCEPTION 'max_attempts must be between 1 and 1000, not %',
            coalesce(max_attempts::text, 'null')
            USING ERRCODE = 'invalid_parameter_value';
    END IF;
    IF octet_length(notify_channel) NOT BETWEEN 1 AND 63 THEN
        RAISE EXCEPTION 'notify_channel must have 1 to 63 bytes'
            USING ERRCODE = 'invalid_parameter_value',
                  HINT = 'It is a channel of LISTEN; leave it out if nobody listens.';
    END IF;
END
$$;
COMMENT ON FUNCTION ai._embedding_job_check(text[], ai.job_priority, int4, text) IS
    'raises an error unless these can be the arguments of a new job';

CREATE OR REPLACE FUNCTION ai._oldest_reused() RETURNS timestamptz
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    ttl interval := current_setting('ai.cache_ttl');
BEGIN
    RETURN CASE WHEN ttl > '0' THEN now() - ttl WHEN ttl = '0' THEN 'infinity' ELSE '-infinity' END;
END
$$;
COMMENT ON FUNCTION ai._oldest_reused() IS 'vectors that are older than this are not used again';

-- A text that the same role had embedded with the same configuration has its vector at once. Not one
-- of another role: that would tell who has embedded what, and a configuration with a server of its own
-- could hand its vectors to others.
--
-- The plan is made once, perhaps while the table is empty: the lookup is by index, whatever the planner
-- thinks then. Nested loops keep the order of the texts, so no sort is needed for it.
CREATE OR REPLACE FUNCTION ai._create_embedding_job(caller oid, input_texts text[], embedding jsonb,
        priority ai.job_priority, max_attempts int4, metadata jsonb, notify_channel text)
    RETURNS SETOF uuid
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    SET jit = off
    SET enable_seqscan = off
    SET enable_bitmapscan = off
    SET enable_hashjoin = off
    SET enable_mergejoin = off
    AS $$
DECLARE
    config jsonb := ai._validate_embedding(ai._config_object(embedding));
    model text := config ->> 'model';
    key uuid := ai._text_hash(config::text);
    oldest timestamptz := ai._oldest_reused();
BEGIN
    PERFORM ai._embedding_job_check(input_texts, priority, max_attempts, notify_channel);
    PERFORM ai._check_priority(caller, ai._priority_number(priority), priority::text);
    RETURN QUERY
    INSERT INTO ai.embedding_jobs AS n (status, priority, embedding_model, embedding_config,
        config_key, input_text, text_hash, max_attempts, completed_at, embedding_vector,
        embedding_dimensions, embedded_at, reused_from, metadata, notify_channel, created_by)
    SELECT CASE WHEN d.id IS NULL THEN 'pending'::ai.job_status ELSE 'completed' END,
        _create_embedding_job.priority, model, config, key, t.input_text, t.hash,
        _create_embedding_job.max_attempts, CASE WHEN d.id IS NOT NULL THEN now() END,
        d.embedding_vector, d.embedding_dimensions, d.embedded_at, d.id,
        _create_embedding_job.metadata, _create_embedding_job.notify_channel, caller
    FROM (SELECT i.input_text, ai._text_hash(i.input_text) AS hash
          FROM unnest(input_texts) AS i (input_text) OFFSET 0) t
    LEFT JOIN LATERAL (
        SELECT j.id, j.embedding_vector, j.embedding_dimensions, j.embedded_at
        FROM ai.embedding_jobs j
        WHERE ai._job_key(j.text_hash, j.config_key, j.created_by) = ai._job_key(t.hash, key, caller)
          AND j.created_by = caller AND j.config_key = key AND j.text_hash = t.hash
          AND j.status = 'completed'
        ORDER BY j.embedded_at DESC LIMIT 1) d ON d.embedded_at > oldest
    RETURNING CASE WHEN n.status = 'completed' AND n.notify_channel IS NOT NULL
              THEN ai._embedding_job_tell(n.notify_channel, n.id, n.status) ELSE n.id END;
    PERFORM ai._embedding_jobs_notify();
END
$$;
COMMENT ON FUNCTION ai._create_embedding_job(oid, text[], jsonb, ai.job_priority, int4, jsonb,
                                             text) IS
    'what ai.create_embedding_job does with several texts, for the role that called it';

CREATE OR REPLACE FUNCTION ai._create_embedding_job(caller oid, input_text text, embedding jsonb,
        priority ai.job_priority, max_attempts int4, metadata jsonb, notify_channel text)
    RETURNS uuid
    LANGUAGE sql
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT ai._create_embedding_job(caller, ARRAY[input_text], embedding, priority, max_attempts,
                                    metadata, notify_channel)
    $$;
COMMENT ON FUNCTION ai._create_embedding_job(oid, text, jsonb, ai.job_priority, int4, jsonb, text) IS
    'what ai.create_embedding_job does, for the role that called it';

CREATE OR REPLACE FUNCTION ai.create_embedding_job(input_text text,
        embedding jsonb DEFAULT ai.embedding_ollama('nomic-embed-text', 768),
        priority ai.job_priority DEFAULT 'normal', max_attempts int4 DEFAULT 3,
        metadata jsonb DEFAULT NULL, notify_channel text DEFAULT NULL) RETURNS uuid
    LANGUAGE c VOLATILE
    AS 'MODULE_PATHNAME', 'ai_call_as_owner';
COMMENT ON FUNCTION ai.create_embedding_job(text, jsonb, ai.job_priority, int4, jsonb, text) IS
    'has a text embedded by a worker; returns the id of the job';

CREATE OR REPLACE FUNCTION ai.create_embedding_job(input_texts text[],
        embedding jsonb DEFAULT ai.embedding_ollama('nomic-embed-text', 768),
        priority ai.job_priority DEFAULT 'normal', max_attempts int4 DEFAULT 3,
        metadata jsonb DEFAULT NULL, notify_channel text DEFAULT NULL) RETURNS SETOF uuid
    LANGUAGE c VOLATILE
    AS 'MODULE_PATHNAME', 'ai_call_as_owner';
COMMENT ON FUNCTION ai.create_embedding_job(text[], jsonb, ai.job_priority, int4, jsonb, text) IS
    'has texts embedded by workers, a job each; returns the ids in the order of the texts';

CREATE OR REPLACE FUNCTION ai.embedding_job(id uuid) RETURNS SETOF ai.embedding_jobs
    LANGUAGE sql STABLE ROWS 1
    SET search_path = pg_catalog, pg_temp
    AS $$SELECT * FROM ai.embedding_jobs j WHERE j.id = embedding_job.id$$;
COMMENT ON FUNCTION ai.embedding_job(uuid) IS
    'the job of an id; no row if there is none that the caller may see';

-- One condition on the id, whatever is given: so a page far down the list is as near as the first.
CREATE OR REPLACE FUNCTION ai.list_embedding_jobs(status ai.job_status DEFAULT NULL,
        priority ai.job_priority DEFAULT NULL, max_rows int4 DEFAULT 100,
        before timestamptz DEFAULT NULL, before_id uuid DEFAULT NULL) RETURNS SETOF ai.embedding_jobs
    LANGUAGE sql STABLE ROWS 100
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT * FROM ai.embedding_jobs j
    WHERE (list_embedding_jobs.status IS NULL OR j.status = list_embedding_jobs.status)
      AND (list_embedding_jobs.priority IS NULL OR j.priority = list_embedding_jobs.priority)
      AND j.id < least(before_id, ai._first_job_id(before), 'ffffffff-ffff-ffff-ffff-ffffffffffff')
    ORDER BY j.id DESC
    LIMIT max_rows
    $$;
COMMENT ON FUNCTION ai.list_embedding_jobs(ai.job_status, ai.job_priority, int4, timestamptz, uuid) IS
    'jobs that the caller may see, the newest first: of a status, of a priority, made before a time, '
    'made before another job (the last one of the page before)';

-- Locked until the end of the transaction. Workers pass over jobs that are locked, so that neither
-- waits for the other for longer than a statement.
CREATE OR REPLACE FUNCTION ai._embedding_job_get(caller oid, job_id uuid, action text)
    RETURNS ai.embedding_jobs
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    job ai.embedding_jobs;
BEGIN
    PERFORM ai._embedding_jobs_changing();
    SELECT * INTO job FROM ai.embedding_jobs j WHERE j.id = job_id FOR UPDATE;
    IF FOUND AND pg_has_role(caller, job.created_by, 'USAGE') THEN
        RETURN job;
    END IF;
    IF FOUND AND pg_has_role(caller, 'pg_monitor', 'USAGE') THEN
        RAISE EXCEPTION 'permission denied to % embedding job "%"', action, job_id
            USING ERRCODE = 'insufficient_privilege',
                  HINT = format('It belongs to role "%s".', job.created_by);
    END IF;
    RAISE EXCEPTION 'embedding job "%" does not exist', coalesce(job_id::text, 'null')
        USING ERRCODE = 'undefined_object';
END
$$;
COMMENT ON FUNCTION ai._embedding_job_get(oid, uuid, text) IS
    'the job of an id, if the caller may change it; raises an error if not';

CREATE OR REPLACE FUNCTION ai._cancel_embedding_job(caller oid, id uuid) RETURNS boolean
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    job ai.embedding_jobs := ai._embedding_job_get(caller, id, 'cancel');
BEGIN
    IF job.status IN ('completed', 'cancelled') THEN
        RETURN false;
    END IF;
    UPDATE ai.embedding_jobs j SET status = 'cancelled', completed_at = now(), retry_at = NULL
    WHERE j.id = job.id;
    DELETE FROM ai.embedding_job_failures f WHERE f.job_id = job.id;
    PERFORM ai._embedding_job_tell(job.notify_channel, job.id, 'cancelled');
    RETURN true;
END
$$;
COMMENT ON FUNCTION ai._cancel_embedding_job(oid, uuid) IS
    'what ai.cancel_embedding_job does, for the role that called it';

CREATE OR REPLACE FUNCTION ai.cancel_embedding_job(id uuid) RETURNS boolean
    LANGUAGE c VOLATILE
    AS 'MODULE_PATHNAME', 'ai_call_as_owner';
COMMENT ON FUNCTION ai.cancel_embedding_job(uuid) IS
    'lets go of a job, also of one that was given up; false if it was completed or cancelled before. '
    'What a provider makes of it meanwhile is ignored';

CREATE OR REPLACE FUNCTION ai._retry_embedding_job(caller oid, id uuid) RETURNS boolean
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    job ai.embedding_jobs := ai._embedding_job_get(caller, id, 'retry');
BEGIN
    IF job.status NOT IN ('failed', 'cancelled') THEN
        RETURN false;
    END IF;
    UPDATE ai.embedding_jobs j
    SET status = 'pending', attempts = 0, crashes = 0, started_at = NULL, completed_at = NULL,
        processing_time_ms = NULL, error_message = NULL
    WHERE j.id = job.id;
    DELETE FROM ai.embedding_job_failures f WHERE f.job_id = job.id;
    PERFORM ai._embedding_jobs_notify();
    RETURN true;
END
$$;
COMMENT ON FUNCTION ai._retry_embedding_job(oid, uuid) IS
    'what ai.retry_embedding_job does, for the role that called it';

CREATE OR REPLACE FUNCTION ai.retry_embedding_job(id uuid) RETURNS boolean
    LANGUAGE c VOLATILE
    AS 'MODULE_PATHNAME', 'ai_call_as_owner';
COMMENT ON FUNCTION ai.retry_embedding_job(uuid) IS
    'begins anew with a job that was given up or cancelled; false if it is in another state';

CREATE OR REPLACE FUNCTION ai.wait_for_embedding_job(id uuid, timeout interval DEFAULT '30 seconds')
    RETURNS ai.embedding_jobs
    LANGUAGE c VOLATILE
    AS 'MODULE_PATHNAME', 'ai_wait_for_embedding_job';
COMMENT ON FUNCTION ai.wait_for_embedding_job(uuid, interval) IS
    'waits until a job is completed, given up or cancelled, or the time is over (null: for ever), and '
    'returns it as it is then, whatever the transaction sees';

-- Called through the functions of the same names without the underscore, by nobody else.
REVOKE ALL ON FUNCTION
    ai._create_embedding_job(oid, text[], jsonb, ai.job_priority, int4, jsonb, text),
    ai._create_embedding_job(oid, text, jsonb, ai.job_priority, int4, jsonb, text),
    ai._embedding_job_get(oid, uuid, text), ai._cancel_embedding_job(oid, uuid),
    ai._retry_embedding_job(oid, uuid)
FROM PUBLIC;
