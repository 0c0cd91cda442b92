-- See functions/worker-api.sql.

-- What a worker is doing, in words. Vectorizers may have been dropped since its last heartbeat.
CREATE OR REPLACE VIEW ai.worker_status AS
    SELECT w.component, w.status, w.pid,
        CASE WHEN w.status NOT IN ('healthy', 'stopping') OR w.component = 'coordinator' THEN NULL
             WHEN w.current_job IS NULL THEN 'nothing'
             WHEN NOT ai._is_supervised(w.component) THEN w.current_job
             ELSE format('%s, %s rows and %s requests in hand',
                  coalesce((SELECT format('vectorizer "%s"', v.name) FROM ai.vectorizer v
                            WHERE w.current_job = 'vectorizer/' || v.id), w.current_job),
                  coalesce(w.details ->> 'rows', '?'), coalesce(w.details ->> 'requests', '?'))
        END AS doing,
        clock_timestamp() - w.last_seen AS last_seen_age, w.restart_count AS restarts,
        w.last_restart, pause.is_on AS paused,
        CASE w.status
            WHEN 'starting' THEN 'is started, and has not said yet that it is there'
            WHEN 'stopping' THEN 'ends'
            WHEN 'crashed' THEN 'crashed: ' || error.message
                || CASE WHEN NOT ai._is_supervised(w.component)
                            THEN '; start it again where it runs'
                        WHEN w.pid IS NOT NULL THEN '; its process is being ended'
                        ELSE '; is started again' END
            WHEN 'failed' THEN format(
                'crashed too often: %s. Find the reason in the server''s log, then run '
                'SELECT ai.restart_worker(%L)', error.message, w.component)
            ELSE CASE WHEN pause.is_on AND w.current_job IS NULL THEN 'paused'
                      WHEN pause.is_on THEN 'paused, and finishes what it has'
                      WHEN w.last_seen < clock_timestamp()
                               - current_setting('ai.worker_timeout', true)::interval
                          THEN 'has not been seen for long: a statement takes its time, or the '
                               'server does not run its workers any more'
                      WHEN w.component = 'coordinator' THEN 'looks after the workers'
                      WHEN w.current_job IS NULL THEN 'waits for changes'
                      ELSE 'works' END
        END AS words
    FROM ai.worker w,
        LATERAL (SELECT coalesce(w.details ->> 'error_message', 'for an unknown reason') AS message)
            error,
        LATERAL (SELECT EXISTS (
            SELECT FROM ai._worker_pause p
            WHERE p.component IN ('*', w.component) AND w.component <> 'coordinator'
              AND coalesce(p.paused_until, 'infinity') > clock_timestamp()) AS is_on) pause;
COMMENT ON VIEW ai.worker_status IS
    'workers of this database: their health, what each is doing, and what to do about it';

GRANT SELECT ON ai.worker, ai.worker_status TO pg_monitor;
