-- See tables/pause.sql.

-- By the clock of now, not of the transaction: the end of a pause may come while one is open. In
-- PL/pgSQL because a worker calls it often, and so plans it once.
CREATE OR REPLACE FUNCTION ai._pause_left(component text, vectorizer_id int4) RETURNS float8
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    RETURN (
        SELECT max(coalesce(extract(epoch FROM p.paused_until - clock_timestamp()) * 1000,
                            'infinity'))
        FROM (SELECT w.paused_until FROM ai._worker_pause w
              WHERE w.component = ANY (ARRAY['*', _pause_left.component])
              UNION ALL
              SELECT v.paused_until FROM ai._vectorizer_pause v
              WHERE v.vectorizer_id = _pause_left.vectorizer_id) p
        WHERE coalesce(p.paused_until, 'infinity') > clock_timestamp());
END
$$;
COMMENT ON FUNCTION ai._pause_left(text, int4) IS
    'for how many milliseconds a worker may take no rows of a vectorizer; null if it may, infinity '
    'if somebody has to resume it';

CREATE OR REPLACE FUNCTION ai._pause_end(until timestamptz) RETURNS timestamptz
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    IF until <= clock_timestamp() THEN
        RAISE EXCEPTION 'cannot pause until %, which is in the past', until
            USING ERRCODE = 'invalid_parameter_value',
                  HINT = 'Give a time to come, or none for a pause without end.';
    END IF;
    RETURN nullif(until, 'infinity');
END
$$;
COMMENT ON FUNCTION ai._pause_end(timestamptz) IS
    'end of a pause, null if there is none; raises an error for a time in the past';

CREATE OR REPLACE FUNCTION ai._pause_prune() RETURNS void
    LANGUAGE sql
    SET search_path = pg_catalog, pg_temp
    AS $$
    DELETE FROM ai._worker_pause WHERE paused_until <= clock_timestamp();
    DELETE FROM ai._vectorizer_pause WHERE paused_until <= clock_timestamp();
    $$;
COMMENT ON FUNCTION ai._pause_prune() IS 'removes pauses that are over';

-- Workers.

CREATE OR REPLACE FUNCTION ai._pause_component(caller oid, component text, until timestamptz) RETURNS void
    LANGUAGE sql
    SET search_path = pg_catalog, pg_temp
    AS $$
    INSERT INTO ai._worker_pause AS p (component, paused_until, paused_by)
    VALUES (component, ai._pause_end(until), pg_get_userbyid(caller))
    ON CONFLICT ON CONSTRAINT _worker_pause_pkey DO UPDATE
    SET paused_at = excluded.paused_at, paused_until = excluded.paused_until,
        paused_by = excluded.paused_by;
    SELECT ai._vectorizer_notify()
    $$;
COMMENT ON FUNCTION ai._pause_component(oid, text, timestamptz) IS 'pauses a worker, or all: *';

CREATE OR REPLACE FUNCTION ai._pause_workers(caller oid, until timestamptz) RETURNS void
    LANGUAGE sql
    SET search_path = pg_catalog, pg_temp
    AS $$SELECT ai._pause_component(caller, '*', until)$$;
COMMENT ON FUNCTION ai._pause_workers(oid, timestamptz) IS
    'what ai.pause_workers does, for the role that called it';

CREATE OR REPLACE FUNCTION ai._pause_worker(caller oid, component text, until timestamptz) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    IF component = 'coordinator' THEN
        RAISE EXCEPTION 'the coordinator cannot be paused'
            USING ERRCODE = 'feature_not_supported',
                  HINT = 'It takes no rows itself. ai.pause_workers() pauses all workers.';
    END IF;
    PERFORM ai._worker_require(component);
    PERFORM ai._pause_component(caller, component, until);
END
$$;
COMMENT ON FUNCTION ai._pause_worker(oid, text, timestamptz) IS
    'what ai.pause_worker does, for the role that called it';

CREATE OR REPLACE FUNCTION ai._resume_workers(caller oid) RETURNS boolean
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    was_paused boolean;
BEGIN
    WITH gone AS (DELETE FROM ai._worker_pause p RETURNING p.paused_until)
    SELECT bool_or(coalesce(g.paused_until, 'infinity') > clock_timestamp()) INTO was_paused
    FROM gone g;
    PERFORM ai._vectorizer_notify();
    RETURN coalesce(was_paused, false);
END
$$;
COMMENT ON FUNCTION ai._resume_workers(oid) IS
    'what ai.resume_workers does, for the role that called it';

CREATE OR REPLACE FUNCTION ai._resume_worker(caller oid, component text) RETURNS boolean
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    until timestamptz;
BEGIN
    PERFORM ai._worker_require(component);
    IF EXISTS (SELECT FROM ai._worker_pause p WHERE p.component = '*'
               AND coalesce(p.paused_until, 'infinity') > clock_timestamp()) THEN
        RAISE EXCEPTION 'all workers are paused, not only "%"', component
            USING ERRCODE = 'object_not_in_prerequisite_state',
                  HINT = 'Run ai.resume_workers(), then pause those that are to rest.';
    END IF;
    DELETE FROM ai._worker_pause p WHERE p.component = _resume_worker.component
    RETURNING coalesce(p.paused_until, 'infinity') INTO until;
    PERFORM ai._vectorizer_notify();
    RETURN coalesce(until > clock_timestamp(), false);
END
$$;
COMMENT ON FUNCTION ai._resume_worker(oid, text) IS
    'what ai.resume_worker does, for the role that called it';

CREATE OR REPLACE FUNCTION ai.pause_workers(until timestamptz DEFAULT NULL) RETURNS void
    LANGUAGE c VOLATILE AS 'MODULE_PATHNAME', 'ai_call_as_owner';
CREATE OR REPLACE FUNCTION ai.pause_worker(component text, until timestamptz DEFAULT NULL) RETURNS void
    LANGUAGE c VOLATILE AS 'MODULE_PATHNAME', 'ai_call_as_owner';
CREATE OR REPLACE FUNCTION ai.resume_workers() RETURNS boolean
    LANGUAGE c VOLATILE AS 'MODULE_PATHNAME', 'ai_call_as_owner';
CREATE OR REPLACE FUNCTION ai.resume_worker(component text) RETURNS boolean
    LANGUAGE c VOLATILE AS 'MODULE_PATHNAME', 'ai_call_as_owner';
COMMENT ON FUNCTION ai.pause_workers(timestamptz) IS
    'has all workers of this database finish what they have taken and take no more';
COMMENT ON FUNCTION ai.pause_worker(text, timestamptz) IS
    'has one worker finish what it has taken and take no more';
COMMENT ON FUNCTION ai.resume_workers() IS
    'ends all pauses of workers; returns whether there was one';
COMMENT ON FUNCTION ai.resume_worker(text) IS
    'ends the pause of one worker; returns whether it was paused';

-- Vectorizers, by their owners.

CREATE OR REPLACE FUNCTION ai._pause_vectorizer(caller oid, vectorizer_id int4, until timestamptz) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    v ai.vectorizer := ai._vectorizer_get(vectorizer_id);
BEGIN
    PERFORM ai._vectorizer_require_owner(caller, v, 'pause');
    INSERT INTO ai._vectorizer_pause AS p (vectorizer_id, paused_until, paused_by)
    VALUES (v.id, ai._pause_end(until), pg_get_userbyid(caller))
    ON CONFLICT ON CONSTRAINT _vectorizer_pause_pkey DO UPDATE
    SET paused_at = excluded.paused_at, paused_until = excluded.paused_until,
        paused_by = excluded.paused_by, reason = NULL;
    PERFORM ai._vectorizer_notify();
END
$$;
COMMENT ON FUNCTION ai._pause_vectorizer(oid, int4, timestamptz) IS
    'what ai.pause_vectorizer does, for the role that called it';

CREATE OR REPLACE FUNCTION ai._resume_vectorizer(caller oid, vectorizer_id int4) RETURNS boolean
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    v ai.vectorizer := ai._vectorizer_get(vectorizer_id);
    until timestamptz;
BEGIN
    PERFORM ai._vectorizer_require_owner(caller, v, 'resume');
    DELETE FROM ai._vectorizer_pause p WHERE p.vectorizer_id = v.id
    RETURNING coalesce(p.paused_until, 'infinity') INTO until;
    PERFORM ai._vectorizer_notify();
    RETURN coalesce(until > clock_timestamp(), false);
END
$$;
COMMENT ON FUNCTION ai._resume_vectorizer(oid, int4) IS
    'what ai.resume_vectorizer does, for the role that called it';

CREATE OR REPLACE FUNCTION ai.pause_vectorizer(vectorizer_id int4, until timestamptz DEFAULT NULL) RETURNS void
    LANGUAGE c VOLATILE AS 'MODULE_PATHNAME', 'ai_call_as_owner';
CREATE OR REPLACE FUNCTION ai.pause_vectorizer(name text, until timestamptz DEFAULT NULL) RETURNS void
    LANGUAGE c VOLATILE AS 'MODULE_PATHNAME', 'ai_call_as_owner';
CREATE OR REPLACE FUNCTION ai.resume_vectorizer(vectorizer_id int4) RETURNS boolean
    LANGUAGE c VOLATILE AS 'MODULE_PATHNAME', 'ai_call_as_owner';
CREATE OR REPLACE FUNCTION ai.resume_vectorizer(name text) RETURNS boolean
    LANGUAGE c VOLATILE AS 'MODULE_PATHNAME', 'ai_call_as_owner';
COMMENT ON FUNCTION ai.pause_vectorizer(int4, timestamptz) IS
    'has workers finish the rows of a vectorizer that they have taken, and take no more of them';
COMMENT ON FUNCTION ai.pause_vectorizer(text, timestamptz) IS
    'has workers finish the rows of a vectorizer that they have taken, and take no more of them';
COMMENT ON FUNCTION ai.resume_vectorizer(int4) IS
    'ends the pause of a vectorizer; returns whether it was paused';
COMMENT ON FUNCTION ai.resume_vectorizer(text) IS
    'ends the pause of a vectorizer; returns whether it was paused';

-- Workers are the server's: their pauses are for the owner of the extension, superusers, and roles
-- that these have given EXECUTE to. The others are called through the functions of the same names
-- without the underscore, by nobody else.
REVOKE ALL ON FUNCTION ai.pause_workers(timestamptz), ai.pause_worker(text, timestamptz),
    ai.resume_workers(), ai.resume_worker(text), ai._pause_prune(),
    ai._pause_component(oid, text, timestamptz), ai._pause_workers(oid, timestamptz),
    ai._pause_worker(oid, text, timestamptz), ai._resume_workers(oid), ai._resume_worker(oid, text),
    ai._pause_vectorizer(oid, int4, timestamptz), ai._resume_vectorizer(oid, int4),
    ai._pause_left(text, int4) FROM PUBLIC;
