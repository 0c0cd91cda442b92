-- What coordinators do to the tables: rows of worker processes that are gone go back, histories stay
-- short. Only the background processes call these.

CREATE FUNCTION ai._vectorizer_max_attempts(config jsonb) RETURNS int4
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $$SELECT coalesce((config #>> '{processing,max_attempts}')::int4, 6)$$;
COMMENT ON FUNCTION ai._vectorizer_max_attempts(jsonb) IS
    'after how many attempts a row of a vectorizer is given up';

-- The rows that are with a process that does not live, or lives but has not said so for too long.
-- An attempt is charged, so that a row that kills workers ends in the table of failed rows. A row
-- that somebody has locked is written just now, or comes next time.
CREATE FUNCTION ai._vectorizer_reclaim(v ai.vectorizer, live uuid[], lock_timeout interval,
        OUT lease uuid, OUT given_back bigint, OUT given_up bigint) RETURNS SETOF record
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    work text := ai._qualified_name(v.work);
    keys text := ai._key_list(v.source_pk, '%2$s');
BEGIN
    RETURN QUERY EXECUTE format($statement$
        WITH lost AS (
            SELECT ctid AS place, w.lease FROM ONLY %1$s w
            WHERE w.lease IS NOT NULL AND (w.lease <> ALL ($1) OR EXISTS (
                SELECT FROM ai.vectorizer_worker_process p
                WHERE p.id = w.lease AND p.last_heartbeat < clock_timestamp() - $2))
            FOR UPDATE SKIP LOCKED
        ), back AS (
            UPDATE ONLY %1$s w
            SET lease = NULL, attempts = w.attempts + 1, retry_at = now(), error = $4
            FROM lost l WHERE w.ctid = l.place AND w.attempts + 1 < $3
            RETURNING l.lease
        ), up AS (
            DELETE FROM ONLY %1$s w USING lost l WHERE w.ctid = l.place AND w.attempts + 1 >= $3
            RETURNING %3$s, w.attempts + 1 AS attempts, l.lease
        ), failed AS (
            INSERT INTO %2$s AS f (%4$s, step, error, class, attempts)
            SELECT %4$s, 'worker', $4, 'reclaimed', u.attempts FROM up u
            ON CONFLICT (%4$s) DO UPDATE
            SET step = excluded.step, error = excluded.error, class = excluded.class,
                attempts = excluded.attempts, failed_at = excluded.failed_at
        )
        SELECT l.lease, (SELECT count(*) FROM back b WHERE b.lease = l.lease),
               (SELECT count(*) FROM up u WHERE u.lease = l.lease)
        FROM (SELECT DISTINCT d.lease FROM lost d) l
        $statement$, work, ai._qualified_name(v.failed), ai._key_list(v.source_pk, 'w.%2$s'), keys)
    USING live, lock_timeout, ai._vectorizer_max_attempts(v.config),
        'the worker process that had taken it is gone';
END
$$;
COMMENT ON FUNCTION ai._vectorizer_reclaim(ai.vectorizer, uuid[], interval) IS
    'gives back the rows of worker processes that are gone; a row for each of these processes';

CREATE FUNCTION ai._worker_prune(live uuid[]) RETURNS void
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

-- A scan of the index for each vectorizer, backwards to the thousandth error.
CREATE FUNCTION ai._vectorizer_errors_prune() RETURNS void
    LANGUAGE sql
    SET search_path = pg_catalog, pg_temp
    AS $$
    DELETE FROM ai._vectorizer_errors WHERE ctid IN (
        SELECT old.ctid FROM ai.vectorizer v, LATERAL (
            SELECT e.ctid FROM ai._vectorizer_errors e WHERE e.id = v.id
            ORDER BY e.recorded DESC OFFSET 1000 LIMIT 1000) old)
    $$;
COMMENT ON FUNCTION ai._vectorizer_errors_prune() IS
    'removes all but the newest thousand errors of each vectorizer, in steps';

REVOKE ALL ON FUNCTION ai._vectorizer_reclaim(ai.vectorizer, uuid[], interval),
    ai._worker_prune(uuid[]), ai._vectorizer_errors_prune() FROM PUBLIC;
