-- Whether all is well in this database, and what is not: for pg_monitor.

CREATE OR REPLACE FUNCTION ai.all_workers_healthy() RETURNS boolean
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$SELECT coalesce(bool_and(w.status = 'healthy'), ai._is_idle()) FROM ai.worker w$$;
COMMENT ON FUNCTION ai.all_workers_healthy() IS
    'whether each component in ai.worker is healthy; if there is none, whether none is needed';

CREATE OR REPLACE FUNCTION ai.get_crashed_workers() RETURNS text[]
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT coalesce(array_agg(w.component ORDER BY w.component), '{}')
    FROM ai.worker w WHERE w.status = 'crashed'
    $$;
COMMENT ON FUNCTION ai.get_crashed_workers() IS 'components that have crashed';

CREATE OR REPLACE FUNCTION ai.get_failed_workers() RETURNS text[]
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT coalesce(array_agg(w.component ORDER BY w.component), '{}')
    FROM ai.worker w WHERE w.status = 'failed'
    $$;
COMMENT ON FUNCTION ai.get_failed_workers() IS
    'components that have crashed too often, and are not started any more';

-- Each of these returns the complaints about one part.

CREATE OR REPLACE FUNCTION ai._health_workers() RETURNS SETOF text
    LANGUAGE sql STABLE ROWS 10
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT 'no worker takes rows: ' || reason FROM ai._workers_absent() AS a (reason)
    WHERE reason IS NOT NULL
    UNION ALL
    SELECT 'no coordinator runs: workers that end are not started again'
    FROM ai._worker_summary() s WHERE s.healthy > 0 AND NOT s.coordinator
    UNION ALL
    SELECT format('%s of %s workers are healthy', s.healthy, wanted)
    FROM ai._worker_summary() s, least(current_setting('ai.workers', true)::int,
                                       (ai._pool() ->> 'workers')::int) AS wanted
    WHERE s.healthy > 0 AND s.healthy < wanted
    UNION ALL
    SELECT 'background processes are short: ' || ai._pool_advice()
    FROM jsonb_to_record(ai._pool()) AS p (state text, waited boolean, refused boolean)
    WHERE p.state = 'waiting' OR p.waited OR p.refused
    UNION ALL
    (SELECT format('%s has %s: %s', w.component, w.status,
         coalesce(w.details ->> 'error_message', 'for an unknown reason'))
     FROM ai.worker w WHERE w.status IN ('crashed', 'failed') ORDER BY w.component)
    UNION ALL
    (SELECT CASE p.component WHEN '*' THEN 'all workers are' ELSE p.component || ' is' END
         || ' paused' || coalesce(' until ' || p.paused_until::timestamptz(0), '')
     FROM ai._worker_pause p WHERE coalesce(p.paused_until, 'infinity') > clock_timestamp()
     ORDER BY p.component)
    $$;
COMMENT ON FUNCTION ai._health_workers() IS 'what is not well with the workers';

-- Whoever pauses or disables something knows it; it is a complaint when rows wait for it.
CREATE OR REPLACE FUNCTION ai._health_vectorizers(statuses ai.vectorizer_status[], max_pending_age interval)
    RETURNS SETOF text
    LANGUAGE sql STABLE ROWS 10
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT format('vectorizer "%s": %s', s.name, c.complaint)
    FROM unnest(statuses) s, LATERAL (VALUES
        (1, CASE WHEN s.state IN ('disabled', 'paused') AND s.pending_items > 0 THEN
            format('%s with %s to do: %s', s.state, ai._rows(s.pending_items), s.state_reason) END),
        (2, CASE WHEN s.state = 'waiting' THEN 'waits ' || s.state_reason END),
        (3, CASE WHEN s.state = 'retrying' THEN
            format('something failed, and is tried again: %s', s.last_error) END),
        (4, CASE WHEN s.oldest_pending_age > max_pending_age THEN
            format('the oldest change has waited for %s',
                   date_trunc('second', s.oldest_pending_age)) END),
        (5, CASE WHEN s.failed > 0 THEN
            format('%s failed: see ai.vectorizer_errors', ai._rows(s.failed)) END)
    ) AS c (rank, complaint)
    WHERE c.complaint IS NOT NULL
    ORDER BY s.name, c.rank
    $$;
COMMENT ON FUNCTION ai._health_vectorizers(ai.vectorizer_status[], interval) IS
    'what is not well with the vectorizers';

CREATE OR REPLACE FUNCTION ai._health_jobs(max_pending_age interval) RETURNS SETOF text
    LANGUAGE sql ROWS 10
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT 'embedding jobs: ' || c.complaint
    FROM (SELECT max(m.oldest_seconds) * interval '1 second' AS oldest_age, sum(m.failed) AS failed
          FROM ai.metrics_jobs m) j, LATERAL (VALUES
        (1, j.oldest_age > max_pending_age,
         format('the oldest has waited for %s', date_trunc('second', j.oldest_age))),
        (2, j.failed > 0, format('%s failed: see ai.embedding_job_failures', j.failed))
    ) AS c (rank, holds, complaint)
    WHERE c.holds
    ORDER BY c.rank
    $$;
COMMENT ON FUNCTION ai._health_jobs(interval) IS 'what is not well with the embedding jobs';

-- Single failures are nothing: a provider complains when some of at least ten requests failed.
CREATE OR REPLACE FUNCTION ai._health_providers(max_error_rate float8) RETURNS SETOF text
    LANGUAGE sql ROWS 10
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT format('provider %s: %s', p.endpoint, c.complaint)
    FROM ai.provider p
    CROSS JOIN LATERAL ai._provider_state(p) s
    LEFT JOIN ai._counters() n ON n.subject = 'provider/' || p.fingerprint
    LEFT JOIN LATERAL ai._recent(n.subject, interval '5 minutes', n.done, n.errors) r ON true
    CROSS JOIN LATERAL (VALUES
        (1, s.state IN ('open', 'half-open'),
         format('breaker %s: %s: %s', s.state, s.reason, p.last_error)),
        (2, r.recent_done + r.recent_errors >= 10
            AND r.recent_errors > max_error_rate * (r.recent_done + r.recent_errors),
         format('%s of %s requests failed in the last five minutes: %s', r.recent_errors,
                r.recent_done + r.recent_errors, p.last_error))
    ) AS c (rank, holds, complaint)
    WHERE c.holds
    ORDER BY p.endpoint, p.api_key_name, c.rank
    $$;
COMMENT ON FUNCTION ai._health_providers(float8) IS 'what is not well with the providers';

CREATE OR REPLACE FUNCTION ai._health_reasons(statuses ai.vectorizer_status[], max_pending_age interval,
        max_error_rate float8) RETURNS text[]
    LANGUAGE sql
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT ARRAY(
        SELECT * FROM ai._health_workers()
        UNION ALL SELECT * FROM ai._health_providers(max_error_rate)
        UNION ALL SELECT * FROM ai._health_vectorizers(statuses, max_pending_age)
        UNION ALL SELECT * FROM ai._health_jobs(max_pending_age)
        UNION ALL SELECT * FROM ai._health_orphans())
    $$;
COMMENT ON FUNCTION ai._health_reasons(ai.vectorizer_status[], interval, float8) IS
    'what is not well in this database, where that is known of its vectorizers';

CREATE OR REPLACE FUNCTION ai._health(caller oid, max_pending_age interval, max_error_rate float8,
        OUT ok boolean, OUT reasons text[]) RETURNS SETOF record
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    IF max_pending_age IS NULL OR max_pending_age < '0' THEN
        RAISE EXCEPTION 'max_pending_age must not be negative or null'
            USING ERRCODE = 'invalid_parameter_value',
                  HINT = 'It is how long a change may wait, for example interval ''15 minutes''.';
    ELSIF max_error_rate IS NULL OR NOT max_error_rate BETWEEN 0 AND 1 THEN
        RAISE EXCEPTION 'max_error_rate must be between 0 and 1'
            USING ERRCODE = 'invalid_parameter_value',
                  HINT = 'It is the share of requests that may fail: 0.1 is one in ten.';
    END IF;
    reasons := ai._health_reasons(ARRAY(SELECT s FROM ai.vectorizer_status s), max_pending_age,
                                  max_error_rate);
    ok := cardinality(reasons) = 0;
    RETURN NEXT;
END
$$;
COMMENT ON FUNCTION ai._health(oid, interval, float8) IS
    'what ai.health does, for the role that called it';

CREATE OR REPLACE FUNCTION ai.health(max_pending_age interval DEFAULT '15 minutes',
        max_error_rate float8 DEFAULT 0.1, OUT ok boolean, OUT reasons text[]) RETURNS SETOF record
    LANGUAGE c VOLATILE ROWS 1
    AS 'MODULE_PATHNAME', 'ai_call_as_owner';
COMMENT ON FUNCTION ai.health(interval, float8) IS
    'one row: whether all is well in this database, and what is not. Changes and jobs may wait for '
    'max_pending_age; that share of the requests of the last five minutes may fail';

-- For the metrics, which have looked at the vectorizers already.
CREATE OR REPLACE FUNCTION ai.__healthy(caller oid, statuses ai.vectorizer_status[]) RETURNS boolean
    LANGUAGE sql
    SET search_path = pg_catalog, pg_temp
    AS $$SELECT cardinality(ai._health_reasons(statuses, '15 minutes', 0.1)) = 0$$;
COMMENT ON FUNCTION ai.__healthy(oid, ai.vectorizer_status[]) IS
    'what ai._healthy does, for the role that called it';

CREATE OR REPLACE FUNCTION ai._healthy(statuses ai.vectorizer_status[]) RETURNS boolean
    LANGUAGE c VOLATILE
    AS 'MODULE_PATHNAME', 'ai_call_as_owner';
COMMENT ON FUNCTION ai._healthy(ai.vectorizer_status[]) IS
    'what ai.health() says without arguments, where the state of all vectorizers is known';

REVOKE ALL ON FUNCTION ai.all_workers_healthy(), ai.get_crashed_workers(), ai.get_failed_workers(),
    ai.health(interval, float8), ai._health(oid, interval, float8), ai._health_workers(),
    ai._health_vectorizers(ai.vectorizer_status[], interval), ai._health_jobs(interval),
    ai._health_providers(float8), ai._health_reasons(ai.vectorizer_status[], interval, float8),
    ai._healthy(ai.vectorizer_status[]), ai.__healthy(oid, ai.vectorizer_status[])
FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ai.all_workers_healthy(), ai.get_crashed_workers(),
    ai.get_failed_workers(), ai.health(interval, float8), ai._healthy(ai.vectorizer_status[])
TO pg_monitor;
