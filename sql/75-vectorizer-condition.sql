-- What there is to know of a vectorizer beyond the numbers of its rows: how fast it goes, its last
-- error, and what is in the way of it.

CREATE FUNCTION ai._rows(number bigint) RETURNS text
    LANGUAGE sql IMMUTABLE
    SET search_path = pg_catalog, pg_temp
    AS $$SELECT CASE number WHEN 1 THEN '1 row' ELSE number || ' rows' END$$;
COMMENT ON FUNCTION ai._rows(bigint) IS 'a number of rows in words';

CREATE FUNCTION ai._vectorizer_rows_per_minute(vectorizer_id int4) RETURNS numeric
    LANGUAGE sql
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT coalesce(round((60 * r.recent_done / greatest(r.seconds, 1))::numeric, 1), 0)
    FROM (SELECT) none
    LEFT JOIN ai.vectorizer_worker_progress p
        ON p.vectorizer_id = _vectorizer_rows_per_minute.vectorizer_id
    LEFT JOIN LATERAL ai._recent('vectorizer/' || p.vectorizer_id, interval '1 minute',
                                 p.success_count, p.error_count) r ON true
    $$;
COMMENT ON FUNCTION ai._vectorizer_rows_per_minute(int4) IS
    'how many rows of a vectorizer were embedded in a minute, on average over the last one';

CREATE FUNCTION ai._vectorizer_provider(v ai.vectorizer) RETURNS ai.provider
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT p FROM ai.provider p
    WHERE p.endpoint = ai._embedding_endpoint(v.config -> 'embedding')
      AND p.api_key_name = coalesce(v.config #>> '{embedding,api_key_name}', '')
    $$;
COMMENT ON FUNCTION ai._vectorizer_provider(ai.vectorizer) IS
    'how the provider of a vectorizer fares; null if it has not been asked yet, or there is none';

-- The row that was tried last, the errors that were recorded, a provider that is failing: whatever
-- was last.
CREATE FUNCTION ai._vectorizer_last_error(v ai.vectorizer, n ai._vectorizer_counts, p ai.provider,
        OUT message text, OUT at timestamptz)
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT e.message, e.at FROM (
        (SELECT x.message, x.recorded AS at FROM ai._vectorizer_errors x
         WHERE x.id = v.id ORDER BY x.recorded DESC LIMIT 1)
        UNION ALL SELECT n.error, n.error_at
        UNION ALL SELECT p.last_error, p.last_failure_at WHERE p.failure_streak > 0) e
    WHERE e.message IS NOT NULL ORDER BY e.at DESC NULLS LAST LIMIT 1
    $$;
COMMENT ON FUNCTION
    ai._vectorizer_last_error(ai.vectorizer, ai._vectorizer_counts, ai.provider) IS
    'the last error that a vectorizer met with, and when';

-- A worker whose heartbeat is late is neither this nor that.
CREATE FUNCTION ai._worker_summary(OUT coordinator boolean, OUT healthy bigint, OUT at_rest bigint,
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
CREATE FUNCTION ai._workers_absent() RETURNS text
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT a.reason
    FROM ai._worker_summary() w,
        (SELECT x.extversion, NOT pg_is_in_recovery() AS is_primary
         FROM pg_extension x WHERE x.extname = 'ai') e,
        LATERAL (VALUES
            (1, e.is_primary AND NOT ai._preloaded(), 'ai is not in shared_preload_libraries'),
            (2, e.is_primary AND e.extversion <> ai.version(),
             format('the library has version %s, the extension has version %s: run ALTER EXTENSION '
                    'ai UPDATE, or restart the server if the library is the older one',
                    ai.version(), e.extversion)),
            (3, current_setting('ai.workers', true) = '0', 'ai.workers is 0'),
            (4, NOT w.coordinator, 'no coordinator runs in this database' || coalesce(
                '; ai.databases is ' || nullif(current_setting('ai.databases', true), ''),
                '; see the server''s log')),
            (5, w.failed > 0, 'workers have failed, and are not started any more: see '
                              'ai.worker_status, then run ai.restart_workers()'),
            (6, w.crashed > 0, 'workers have crashed, and are started again: see ai.worker_status'),
            (7, true, 'workers are being started')
        ) AS a (rank, holds, reason)
    WHERE w.healthy = 0 AND a.holds
    ORDER BY a.rank LIMIT 1
    $$;
COMMENT ON FUNCTION ai._workers_absent() IS 'why no worker takes rows; null if one does';

CREATE FUNCTION ai._vectorizer_disabled_reason(v ai.vectorizer) RETURNS text
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

CREATE FUNCTION ai._vectorizer_paused_reason(vectorizer_id int4) RETURNS text
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT format('%s; it goes on %s', coalesce(p.reason, format('%s paused it', p.paused_by)),
        coalesce('at ' || p.paused_until::timestamptz(0), 'after ai.resume_vectorizer'))
    FROM ai._vectorizer_pause p
    WHERE p.vectorizer_id = _vectorizer_paused_reason.vectorizer_id
      AND coalesce(p.paused_until, 'infinity') > clock_timestamp()
    $$;
COMMENT ON FUNCTION ai._vectorizer_paused_reason(int4) IS
    'who paused a vectorizer or why, and until when; null if it is not paused';

CREATE FUNCTION ai._workers_paused_reason() RETURNS text
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
    WHERE w.healthy > 0 AND w.healthy = w.at_rest
    $$;
COMMENT ON FUNCTION ai._workers_paused_reason() IS
    'who paused all workers, and until when; null if one of them takes rows';
