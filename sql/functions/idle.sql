-- When there is something to do next, for a coordinator that may end when nothing is. What comes by an
-- event (a change, a job, a pause that is ended by hand) wakes somebody then.

-- Rows that wait, or that a process has, are due now. One whose tables somebody has locked may have
-- some, and so may one that cannot be looked at. The look ends with an error in any case, which gives its
-- locks back.
CREATE OR REPLACE FUNCTION ai._vectorizer_next_due(v ai.vectorizer) RETURNS timestamptz
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    due timestamptz;
BEGIN
    IF ai._pages(v.queue) = 0 AND ai._pages(v.work) = 0 THEN
        RETURN NULL;
    END IF;
    EXECUTE format('LOCK TABLE %s, %s IN ACCESS SHARE MODE NOWAIT', ai._qualified_name(v.queue),
                   ai._qualified_name(v.work));
    EXECUTE format('SELECT CASE WHEN EXISTS (SELECT FROM %1$s) OR EXISTS (SELECT FROM %2$s w '
                   'WHERE w.lease IS NOT NULL) THEN pg_catalog.now() ELSE '
                   '(SELECT pg_catalog.min(w.retry_at) FROM %2$s w) END',
                   ai._qualified_name(v.queue), ai._qualified_name(v.work)) INTO due;
    RAISE SQLSTATE 'AI001';  -- that was all
EXCEPTION
    WHEN SQLSTATE 'AI001' THEN
        RETURN due;
    WHEN OTHERS THEN
        RETURN now();
END
$$;
COMMENT ON FUNCTION ai._vectorizer_next_due(ai.vectorizer) IS
    'when the next row of a vectorizer is to be worked on; null if there is none';

CREATE OR REPLACE FUNCTION ai._jobs_next_due() RETURNS timestamptz
    LANGUAGE sql
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT CASE WHEN EXISTS (SELECT FROM ai.embedding_jobs j WHERE j.status = 'pending')
                  OR EXISTS (SELECT FROM ai.embedding_jobs j WHERE j.status = 'processing')
           THEN now()
           ELSE (SELECT min(j.retry_at) FROM ai.embedding_jobs j WHERE j.status = 'retrying') END
    $$;
COMMENT ON FUNCTION ai._jobs_next_due() IS
    'when the next embedding job is to be worked on; null if there is none';

-- What is paused is due at the end of the pause; without an end, by an event. A worker outside that is
-- not heard of in time is missed by the coordinator.
CREATE OR REPLACE FUNCTION ai._next_due(worker_timeout interval) RETURNS float8
    LANGUAGE sql
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT nullif(min(d.ms), 'infinity') FROM (
        SELECT (extract(epoch FROM ai._vectorizer_next_due(v) - now()) * 1000)::float8 AS ms,
            ai._pause_left('', v.id) AS pause_ms
        FROM ai.vectorizer v WHERE NOT v.disabled AND NOT v.restoring
        UNION ALL
        SELECT (extract(epoch FROM ai._jobs_next_due() - now()) * 1000)::float8,
            ai._pause_left('', NULL)
        UNION ALL
        SELECT (extract(epoch FROM w.last_seen + worker_timeout - now()) * 1000)::float8, NULL
        FROM ai.worker w
        WHERE NOT ai._is_supervised(w.component) AND w.status IN ('starting', 'healthy', 'stopping')
    ) x, LATERAL (SELECT greatest(x.ms, x.pause_ms, 0) AS ms WHERE x.ms IS NOT NULL) d
    $$;
COMMENT ON FUNCTION ai._next_due(interval) IS
    'in how many milliseconds there is something to do, if nothing happens until then; null if there is '
    'nothing';

-- A standby has the workers of its primary, and is not told why there are none.
CREATE OR REPLACE FUNCTION ai._is_idle() RETURNS boolean
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT coalesce(ai._pool() ->> 'state' IN ('idle', 'dormant'),
                    pg_is_in_recovery() AND NOT EXISTS (SELECT FROM ai.worker))
    $$;
COMMENT ON FUNCTION ai._is_idle() IS
    'whether there are no workers in this database because there is nothing to do';

REVOKE ALL ON FUNCTION ai._vectorizer_next_due(ai.vectorizer), ai._jobs_next_due(),
    ai._next_due(interval) FROM PUBLIC;
