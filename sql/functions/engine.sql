-- What coordinators do to the tables: rows of worker processes that are gone go back, histories stay
-- short. Only the background processes call these.

CREATE OR REPLACE FUNCTION ai._pages(relation regclass) RETURNS bigint
    LANGUAGE c VOLATILE STRICT
    AS 'MODULE_PATHNAME', 'ai_pages';
COMMENT ON FUNCTION ai._pages(regclass) IS
    'how many pages a table has; null if it is gone or somebody has locked it. Waits for nobody and '
    'keeps no lock';

CREATE OR REPLACE FUNCTION ai._vectorizer_max_attempts(config jsonb) RETURNS int4
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $$SELECT coalesce((config #>> '{processing,max_attempts}')::int4, 6)$$;
COMMENT ON FUNCTION ai._vectorizer_max_attempts(jsonb) IS
    'after how many attempts a row of a vectorizer is given up';

-- The rows that are with a process that does not live, or lives but has not said so for too long.
-- An attempt is charged, so that a row that kills workers ends in the table of failed rows. A row
-- that somebody has locked is written just now, or comes next time.
--
-- Rows that a process died with come in small groups next time, and alone when that one dies too. A
-- process that died by itself (dead) with such a row and nothing else was killed by it: one more
-- attempt would only kill another. When all of the server went down, somebody else may be to blame.
CREATE OR REPLACE FUNCTION ai._vectorizer_reclaim(v ai.vectorizer, live uuid[], lock_timeout interval,
        dead uuid[] DEFAULT '{}', OUT lease uuid, OUT released bigint, OUT dead_letters bigint)
    RETURNS SETOF record
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    work text := ai._qualified_name(v.work);
    keys text := ai._key_list(v.source_pk, '%2$s');
BEGIN
    IF NOT ai._vectorizer_has_queue(v) THEN
        RETURN;  -- workers set it aside
    END IF;
    RETURN QUERY EXECUTE format($statement$
        WITH lost AS (
            SELECT ctid AS place, w.lease, w.crashes OPERATOR(pg_catalog.>=) 2
                    AND w.lease OPERATOR(pg_catalog.=) ANY ($5) AS is_to_blame,
                (w.attempts OPERATOR(pg_catalog.+) 1) OPERATOR(pg_catalog.>=) $3
                    OR w.crashes OPERATOR(pg_catalog.>=) 2
                    AND w.lease OPERATOR(pg_catalog.=) ANY ($5) AS is_over
            FROM ONLY %1$s w
            WHERE w.lease IS NOT NULL AND (w.lease OPERATOR(pg_catalog.<>) ALL ($1) OR EXISTS (
                SELECT FROM ai.vectorizer_worker_process p
                WHERE p.id OPERATOR(pg_catalog.=) w.lease
                  AND p.last_heartbeat OPERATOR(pg_catalog.<)
                      (pg_catalog.clock_timestamp() OPERATOR(pg_catalog.-) $2)))
            FOR UPDATE SKIP LOCKED
        ), back AS (
            UPDATE ONLY %1$s w
            SET lease = NULL, attempts = w.attempts OPERATOR(pg_catalog.+) 1,
                retry_at = pg_catalog.now(), error = $4,
                crashes = least(w.crashes OPERATOR(pg_catalog.+) 1, 32767)
            FROM lost l WHERE w.ctid OPERATOR(pg_catalog.=) l.place AND NOT l.is_over
            RETURNING l.lease
        ), up AS (
            DELETE FROM ONLY %1$s w USING lost l
            WHERE w.ctid OPERATOR(pg_catalog.=) l.place AND l.is_over
            RETURNING %3$s, w.attempts OPERATOR(pg_catalog.+) 1 AS attempts, l.lease,
                CASE WHEN l.is_to_blame THEN $7 ELSE $4 END AS error
        ), failed AS (
            INSERT INTO %2$s AS f (%4$s, step, error, class, attempts)
            SELECT %4$s, 'worker', u.error, 'reclaimed', u.attempts FROM up u
            ON CONFLICT (%4$s) DO UPDATE
            SET step = excluded.step, error = excluded.error, class = excluded.class,
                attempts = excluded.attempts, failed_at = excluded.failed_at
        ), noted AS (
            INSERT INTO ai._vectorizer_errors (id, message, details)
            SELECT $6, u.error,
                pg_catalog.jsonb_build_object('step', 'worker', 'class', 'reclaimed', 'key', %5$s)
            FROM up u
        )
        SELECT l.lease,
            (SELECT pg_catalog.count(*) FROM back b WHERE b.lease OPERATOR(pg_catalog.=) l.lease),
            (SELECT pg_catalog.count(*) FROM up u WHERE u.lease OPERATOR(pg_catalog.=) l.lease)
        FROM (SELECT DISTINCT d.lease FROM lost d) l
        $statement$, work, ai._qualified_name(v.failed), ai._key_list(v.source_pk, 'w.%2$s'), keys,
        ai._key_as_jsonb(v, 'u'))
    USING live, lock_timeout, ai._vectorizer_max_attempts(v.config),
        'the worker process that had claimed it is gone', dead, v.id,
        'worker processes end unexpectedly when they have it, the last one had nothing else';
END
$$;
COMMENT ON FUNCTION ai._vectorizer_reclaim(ai.vectorizer, uuid[], interval, uuid[]) IS
    'releases the rows of worker processes that are gone; a row for each of these processes';

-- A process died with rows of this vectorizer and no others. When that happens too often, the
-- vectorizer is set aside for a while, so that the workers are there for the others.
CREATE OR REPLACE FUNCTION ai._vectorizer_blame(vectorizer_id int4, worker text, most int4, span interval)
    RETURNS boolean
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    deaths bigint;
BEGIN
    INSERT INTO ai._vectorizer_errors (id, message, details, recorded)
    VALUES (vectorizer_id, 'a worker process ended unexpectedly while it had rows of this '
            'vectorizer and no others',
            jsonb_build_object('step', 'worker', 'class', 'crash', 'worker', worker),
            clock_timestamp());
    SELECT count(*) INTO deaths FROM ai._vectorizer_errors e
    WHERE e.id = vectorizer_id AND e.recorded > clock_timestamp() - span
      AND e.details ->> 'class' = 'crash';
    IF deaths < most THEN
        RETURN false;
    END IF;
    INSERT INTO ai._vectorizer_pause AS p (vectorizer_id, paused_until, reason)
    VALUES (vectorizer_id, clock_timestamp() + span,
            format('its rows ended %s worker processes within %s seconds', deaths,
                   round(extract(epoch FROM span))))
    ON CONFLICT ON CONSTRAINT _vectorizer_pause_pkey DO UPDATE
    SET paused_at = excluded.paused_at, paused_until = excluded.paused_until, paused_by = NULL,
        reason = excluded.reason
    WHERE p.paused_until < excluded.paused_until;
    RETURN true;
END
$$;
COMMENT ON FUNCTION ai._vectorizer_blame(int4, text, int4, interval) IS
    'notes that a vectorizer''s rows ended a worker process, and pauses it when there are too many; '
    'returns whether it is paused';

CREATE OR REPLACE FUNCTION ai._worker_prune(live uuid[]) RETURNS void
    LANGUAGE sql
    SET search_path = pg_catalog, pg_temp
    AS $$
    DELETE FROM ai.vectorizer_worker_process WHERE id IN (
        SELECT p.id FROM ai.vectorizer_worker_process p
        WHERE p.last_heartbeat < now() - interval '7 days' AND p.id <> ALL (live)
        ORDER BY p.last_heartbeat LIMIT 1000 FOR UPDATE SKIP LOCKED)
    $$;
COMMENT ON FUNCTION ai._worker_prune(uuid[]) IS
    'removes rows about worker processes that have been gone for a week, a thousand at most';

REVOKE ALL ON FUNCTION ai._pages(regclass),
    ai._vectorizer_reclaim(ai.vectorizer, uuid[], interval, uuid[]),
    ai._vectorizer_blame(int4, text, int4, interval),
    ai._worker_prune(uuid[]) FROM PUBLIC;
