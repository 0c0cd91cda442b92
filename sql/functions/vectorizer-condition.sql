-- What may be in the way of a vectorizer, in words.

CREATE OR REPLACE FUNCTION ai._rows(number bigint) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE number WHEN 1 THEN '1 row' ELSE number::text || ' rows' END;
COMMENT ON FUNCTION ai._rows(bigint) IS 'a number of rows in words';

-- A worker whose heartbeat is late is neither this nor that.
CREATE OR REPLACE FUNCTION ai._worker_summary(OUT coordinator boolean, OUT healthy bigint, OUT at_rest bigint,
        OUT crashed bigint, OUT failed bigint)
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT coalesce(bool_or(w.status IN ('starting', 'healthy') AND w.is_seen)
                        FILTER (WHERE w.component = 'coordinator'), false),
        count(*) FILTER (WHERE w.is_worker AND w.status = 'healthy' AND w.is_seen),
        count(*) FILTER (WHERE w.is_worker AND w.status = 'healthy' AND w.is_seen
                         AND ai._pause_left(w.component, NULL) IS NOT NULL),
        count(*) FILTER (WHERE w.is_worker AND w.status = 'crashed'),
        count(*) FILTER (WHERE w.is_worker AND w.status = 'failed')
    FROM (SELECT x.*, x.component <> 'coordinator' AND ai._is_supervised(x.component) AS is_worker,
              x.last_seen > clock_timestamp()
              - coalesce(current_setting('ai.worker_timeout', true), '30s')::interval AS is_seen
          FROM ai.worker x) w
    $$;
COMMENT ON FUNCTION ai._worker_summary() IS
    'whether a coordinator runs, and how many of the server''s own workers are healthy, at rest among '
    'those, crashed, failed';

-- Workers that run outside of the server take no rows. A standby has the workers of its primary.
CREATE OR REPLACE FUNCTION ai._workers_absent() RETURNS text
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT a.reason
    FROM ai._worker_summary() w,
        (SELECT x.extversion, NOT pg_is_in_recovery() AS is_primary
         FROM pg_extension x WHERE x.extname = 'ai') e,
        jsonb_to_record(coalesce(ai._pool(), '{}')) AS p (state text, refused boolean),
        LATERAL (VALUES
            (1, e.is_primary AND NOT ai._preloaded(), 'ai is not in shared_preload_libraries'),
            (2, e.is_primary AND e.extversion <> ai.version(),
             format('the library has version %s, the extension has version %s: run ALTER EXTENSION '
                    'ai UPDATE, or restart the server if the library is the older one',
                    ai.version(), e.extversion)),
            (3, current_setting('ai.workers', true) = '0', 'ai.workers is 0'),
            (4, ai._is_idle() AND w.failed < coalesce(current_setting('ai.workers', true), '1')::int,
             NULL),
            (5, p.state = 'waiting', 'this database waits for its turn, ai.max_processes is too low for '
                                     'all that have work'),
            (6, p.refused, 'the server has no slot for another background process, '
                           'max_worker_processes is too low'),
            (7, p.state = 'starting', 'a coordinator is being started'),
            (8, NOT w.coordinator, 'no coordinator runs in this database' || coalesce(
                '; ai.databases is ' || nullif(current_setting('ai.databases', true), ''),
                '; see the server''s log')),
            (9, w.failed > 0, 'workers have failed, and are not started any more: see '
                              'ai.worker_status, then run ai.restart_workers()'),
            (10, w.crashed > 0, 'workers have crashed, and are started again: see ai.worker_status'),
            (11, true, 'workers are being started')
        ) AS a (rank, holds, reason)
    WHERE w.healthy = 0 AND a.holds
    ORDER BY a.rank LIMIT 1
    $$;
COMMENT ON FUNCTION ai._workers_absent() IS
    'why no worker takes rows; null if one does, or would if there were some';

CREATE OR REPLACE FUNCTION ai._vectorizer_disabled_reason(v ai.vectorizer) RETURNS text
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT CASE
        WHEN v.target IS NULL AND embedding_column IS NULL THEN
            'its target table was dropped; ai.drop_vectorizer removes what is left'
        WHEN embedding_column IS NOT NULL AND NOT EXISTS (
            SELECT FROM pg_attribute a WHERE a.attrelid = v.source AND a.attname = embedding_column
            AND NOT a.attisdropped) THEN
            'its embedding column was dropped; add it, then run ai.enable_vectorizer_schedule'
        WHEN NOT ai._vectorizer_has_triggers(v) THEN
            'its triggers were dropped; ai.enable_vectorizer_schedule makes them again'
        ELSE 'changes are queued until ai.enable_vectorizer_schedule is called' END
    FROM (SELECT v.config #>> '{destination,embedding_column}') AS d (embedding_column)
    $$;
COMMENT ON FUNCTION ai._vectorizer_disabled_reason(ai.vectorizer) IS
    'why a vectorizer is disabled, and what to do about it';

CREATE OR REPLACE FUNCTION ai._workers_paused_reason() RETURNS text
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT coalesce((
        SELECT format('%s paused all workers; they go on %s', p.paused_by,
            coalesce('at ' || p.paused_until::timestamptz(0), 'after ai.resume_workers'))
        FROM ai._worker_pause p
        WHERE p.component = '*' AND coalesce(p.paused_until, 'infinity') > clock_timestamp()),
        'each worker is paused; they go on after ai.resume_workers')
    FROM ai._worker_summary() w
    WHERE w.healthy = w.at_rest AND (w.healthy > 0 OR ai._pause_left('', NULL) IS NOT NULL)
    $$;
COMMENT ON FUNCTION ai._workers_paused_reason() IS
    'who paused all workers, and until when; null if one of them takes rows';
