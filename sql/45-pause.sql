-- Pauses. Who is paused finishes the rows it has taken and takes no more, until somebody resumes it or
-- the pause is over. Workers look here before each claim, so this outlives them and the server.
--
-- A pause is not ai.disable_vectorizer_schedule: that one lets go of rows that are under way, and has
-- no end of its own.

CREATE TABLE ai._worker_pause (
    component    text PRIMARY KEY,
    paused_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
    paused_until timestamptz,
    paused_by    name NOT NULL
);
COMMENT ON TABLE ai._worker_pause IS
    'workers that are paused; the component * stands for all of them. Without paused_until there is '
    'no end; a row whose time has passed means nothing';

CREATE TABLE ai._vectorizer_pause (
    vectorizer_id int4 PRIMARY KEY REFERENCES ai.vectorizer ON DELETE CASCADE,
    paused_at     timestamptz NOT NULL DEFAULT clock_timestamp(),
    paused_until  timestamptz,
    paused_by     name,
    reason        text
);
COMMENT ON TABLE ai._vectorizer_pause IS
    'vectorizers that are paused, as ai._worker_pause; those that ended too many workers are paused '
    'by the coordinator, and have a reason instead of paused_by';

-- A restored database stays paused: nobody wants the provider's bill of a copy he did not start.
SELECT pg_catalog.pg_extension_config_dump('ai._worker_pause', '');
SELECT pg_catalog.pg_extension_config_dump('ai._vectorizer_pause', '');
CREATE TRIGGER restore BEFORE INSERT ON ai._vectorizer_pause FOR EACH ROW
    WHEN (NEW.paused_at NOT BETWEEN now() AND clock_timestamp())
    EXECUTE FUNCTION ai._restore_row('vectorizer_id');

-- By the clock of now, not of the transaction: the end of a pause may come while one is open. In
-- PL/pgSQL because a worker calls it often, and so plans it once.
CREATE FUNCTION ai._pause_left(component text, vectorizer_id int4) RETURNS float8
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

-- What commits to a queue need not wake anybody for: see src/worker/barred_queues.hpp.
CREATE FUNCTION ai._barred_queues(queues oid[], OUT queue oid, OUT left_ms float8)
    RETURNS SETOF record
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT q, CASE WHEN v.id IS NULL OR v.disabled OR v.restoring THEN 'infinity'
              ELSE ai._pause_left(NULL, v.id) END
    FROM unnest(queues) q LEFT JOIN ai.vectorizer v ON v.queue = q
    WHERE v.id IS NULL OR v.disabled OR v.restoring OR ai._pause_left(NULL, v.id) IS NOT NULL
    $$;
COMMENT ON FUNCTION ai._barred_queues(oid[]) IS
    'those of these queues from which no worker may take rows, and for how many milliseconds';
REVOKE ALL ON FUNCTION ai._barred_queues(oid[]) FROM PUBLIC;

CREATE FUNCTION ai._pause_end(until timestamptz) RETURNS timestamptz
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

CREATE FUNCTION ai._pause_prune() RETURNS void
    LANGUAGE sql
    SET search_path = pg_catalog, pg_temp
    AS $$
    DELETE FROM ai._worker_pause WHERE paused_until <= clock_timestamp();
    DELETE FROM ai._vectorizer_pause WHERE paused_until <= clock_timestamp();
    $$;
COMMENT ON FUNCTION ai._pause_prune() IS 'removes pauses that are over';

-- Workers.

CREATE FUNCTION ai._pause_component(caller oid, component text, until timestamptz) RETURNS void
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

CREATE FUNCTION ai._pause_workers(caller oid, until timestamptz) RETURNS void
    LANGUAGE sql
    SET search_path = pg_catalog, pg_temp
    AS $$SELECT ai._pause_component(caller, '*', until)$$;
COMMENT ON FUNCTION ai._pause_workers(oid, timestamptz) IS
    'what ai.pause_workers does, for the role that called it';

CREATE FUNCTION ai._pause_worker(caller oid, component text, until timestamptz) RETURNS void
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

CREATE FUNCTION ai._resume_workers(caller oid) RETURNS boolean
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

CREATE FUNCTION ai._resume_worker(caller oid, component text) RETURNS boolean
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

CREATE FUNCTION ai.pause_workers(until timestamptz DEFAULT NULL) RETURNS void
    LANGUAGE c VOLATILE AS 'MODULE_PATHNAME', 'ai_call_as_owner';
CREATE FUNCTION ai.pause_worker(component text, until timestamptz DEFAULT NULL) RETURNS void
    LANGUAGE c VOLATILE AS 'MODULE_PATHNAME', 'ai_call_as_owner';
CREATE FUNCTION ai.resume_workers() RETURNS boolean
    LANGUAGE c VOLATILE AS 'MODULE_PATHNAME', 'ai_call_as_owner';
CREATE FUNCTION ai.resume_worker(component text) RETURNS boolean
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

CREATE FUNCTION ai._vectorizer_pause_by(caller oid, v ai.vectorizer, until timestamptz) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    PERFORM ai._vectorizer_require_owner(caller, v, 'pause');
    INSERT INTO ai._vectorizer_pause AS p (vectorizer_id, paused_until, paused_by)
    VALUES (v.id, ai._pause_end(until), pg_get_userbyid(caller))
    ON CONFLICT (vectorizer_id) DO UPDATE
    SET paused_at = excluded.paused_at, paused_until = excluded.paused_until,
        paused_by = excluded.paused_by, reason = NULL;
    PERFORM ai._vectorizer_notify();
END
$$;
COMMENT ON FUNCTION ai._vectorizer_pause_by(oid, ai.vectorizer, timestamptz) IS
    'pauses a vectorizer, for the role that called';

CREATE FUNCTION ai._vectorizer_resume_by(caller oid, v ai.vectorizer) RETURNS boolean
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    until timestamptz;
BEGIN
    PERFORM ai._vectorizer_require_owner(caller, v, 'resume');
    DELETE FROM ai._vectorizer_pause p WHERE p.vectorizer_id = v.id
    RETURNING coalesce(p.paused_until, 'infinity') INTO until;
    PERFORM ai._vectorizer_notify();
    RETURN coalesce(until > clock_timestamp(), false);
END
$$;
COMMENT ON FUNCTION ai._vectorizer_resume_by(oid, ai.vectorizer) IS
    'ends the pause of a vectorizer, for the role that called';

CREATE FUNCTION ai._pause_vectorizer(caller oid, vectorizer_id int4, until timestamptz) RETURNS void
    LANGUAGE sql SET search_path = pg_catalog, pg_temp
    AS $$SELECT ai._vectorizer_pause_by(caller, ai._vectorizer_get(vectorizer_id), until)$$;
CREATE FUNCTION ai._pause_vectorizer(caller oid, name text, until timestamptz) RETURNS void
    LANGUAGE sql SET search_path = pg_catalog, pg_temp
    AS $$SELECT ai._vectorizer_pause_by(caller, ai._vectorizer_get(name), until)$$;
CREATE FUNCTION ai._resume_vectorizer(caller oid, vectorizer_id int4) RETURNS boolean
    LANGUAGE sql SET search_path = pg_catalog, pg_temp
    AS $$SELECT ai._vectorizer_resume_by(caller, ai._vectorizer_get(vectorizer_id))$$;
CREATE FUNCTION ai._resume_vectorizer(caller oid, name text) RETURNS boolean
    LANGUAGE sql SET search_path = pg_catalog, pg_temp
    AS $$SELECT ai._vectorizer_resume_by(caller, ai._vectorizer_get(name))$$;
COMMENT ON FUNCTION ai._pause_vectorizer(oid, int4, timestamptz) IS
    'what ai.pause_vectorizer does, for the role that called it';
COMMENT ON FUNCTION ai._pause_vectorizer(oid, text, timestamptz) IS
    'what ai.pause_vectorizer does, for the role that called it';
COMMENT ON FUNCTION ai._resume_vectorizer(oid, int4) IS
    'what ai.resume_vectorizer does, for the role that called it';
COMMENT ON FUNCTION ai._resume_vectorizer(oid, text) IS
    'what ai.resume_vectorizer does, for the role that called it';

CREATE FUNCTION ai.pause_vectorizer(vectorizer_id int4, until timestamptz DEFAULT NULL) RETURNS void
    LANGUAGE c VOLATILE AS 'MODULE_PATHNAME', 'ai_call_as_owner';
CREATE FUNCTION ai.pause_vectorizer(name text, until timestamptz DEFAULT NULL) RETURNS void
    LANGUAGE c VOLATILE AS 'MODULE_PATHNAME', 'ai_call_as_owner';
CREATE FUNCTION ai.resume_vectorizer(vectorizer_id int4) RETURNS boolean
    LANGUAGE c VOLATILE AS 'MODULE_PATHNAME', 'ai_call_as_owner';
CREATE FUNCTION ai.resume_vectorizer(name text) RETURNS boolean
    LANGUAGE c VOLATILE AS 'MODULE_PATHNAME', 'ai_call_as_owner';
COMMENT ON FUNCTION ai.pause_vectorizer(int4, timestamptz) IS
    'has workers finish the rows of a vectorizer that they have taken, and take no more of them';
COMMENT ON FUNCTION ai.pause_vectorizer(text, timestamptz) IS
    'has workers finish the rows of a vectorizer that they have taken, and take no more of them';
COMMENT ON FUNCTION ai.resume_vectorizer(int4) IS
    'ends the pause of a vectorizer; returns whether it was paused';
COMMENT ON FUNCTION ai.resume_vectorizer(text) IS
    'ends the pause of a vectorizer; returns whether it was paused';

-- A pause tells nothing but that work stands still, which everybody sees anyway; the name of a
-- vectorizer only who may see that one.
CREATE VIEW ai.pauses WITH (security_barrier) AS
    SELECT CASE p.component WHEN '*' THEN 'all workers' ELSE 'worker' END AS kind,
        nullif(p.component, '*') AS name, p.paused_at, p.paused_until, p.paused_by,
        NULL::text AS reason
    FROM ai._worker_pause p WHERE coalesce(p.paused_until, 'infinity') > clock_timestamp()
    UNION ALL
    SELECT 'vectorizer', v.name, p.paused_at, p.paused_until, p.paused_by, p.reason
    FROM ai._vectorizer_pause p JOIN ai.vectorizer v ON v.id = p.vectorizer_id
    WHERE coalesce(p.paused_until, 'infinity') > clock_timestamp()
      AND ai._vectorizer_visible(current_user, v.source, v.target);
COMMENT ON VIEW ai.pauses IS
    'what is paused now: all workers, single ones, vectorizers; until when, by whom, and why if it '
    'was no person';
GRANT SELECT ON ai.pauses TO PUBLIC;

-- Workers are the server's: their pauses are for the owner of the extension, superusers, and roles
-- that these have given EXECUTE to. The others are called through the functions of the same names
-- without the underscore, by nobody else.
REVOKE ALL ON FUNCTION ai.pause_workers(timestamptz), ai.pause_worker(text, timestamptz),
    ai.resume_workers(), ai.resume_worker(text), ai._pause_prune(),
    ai._pause_component(oid, text, timestamptz), ai._pause_workers(oid, timestamptz),
    ai._pause_worker(oid, text, timestamptz), ai._resume_workers(oid), ai._resume_worker(oid, text),
    ai._vectorizer_pause_by(oid, ai.vectorizer, timestamptz),
    ai._vectorizer_resume_by(oid, ai.vectorizer), ai._pause_vectorizer(oid, int4, timestamptz),
    ai._pause_vectorizer(oid, text, timestamptz), ai._resume_vectorizer(oid, int4),
    ai._resume_vectorizer(oid, text), ai._pause_left(text, int4) FROM PUBLIC;
