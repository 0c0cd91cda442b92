-- See tables/activity.sql.

CREATE OR REPLACE FUNCTION ai._counters(OUT subject text, OUT done bigint, OUT errors bigint)
    RETURNS SETOF record
    LANGUAGE sql ROWS 10
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT 'vectorizer/' || p.vectorizer_id, p.success_count, p.error_count
    FROM ai.vectorizer_worker_progress p
    UNION ALL
    SELECT 'provider/' || c.fingerprint, c.succeeded,
        c.transient + c.suspect + c.configuration + c.invalid_reply
    FROM ai._provider_counters() c
    $$;
COMMENT ON FUNCTION ai._counters() IS
    'where the counters stand that samples are taken of. A request that is to be sent again later, '
    'by the word of the provider, is no error';

-- A counter that had rested gets two samples: the one before says until when it rested, or the
-- first rows after an hour would seem to have taken that hour.
CREATE OR REPLACE FUNCTION ai._take_samples(span interval) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    at constant timestamptz := clock_timestamp();
BEGIN
    WITH last AS (
        SELECT DISTINCT ON (s.subject) s.* FROM ai._sample s ORDER BY s.subject, s.taken_at DESC
    ), moved AS (
        SELECT c.*, l.taken_at, l.done AS old_done, l.errors AS old_errors,
            c.done < l.done OR c.errors < l.errors AS is_new
        FROM ai._counters() c LEFT JOIN last l ON l.subject = c.subject
        WHERE (c.done, c.errors) IS DISTINCT FROM (l.done, l.errors)
    ), forgotten AS (
        DELETE FROM ai._sample s USING moved m
        WHERE s.subject = m.subject AND (m.is_new OR s.taken_at < at - interval '10 minutes')
    )
    INSERT INTO ai._sample (subject, taken_at, done, errors)
    SELECT m.subject, at, m.done, m.errors FROM moved m
    UNION ALL
    SELECT m.subject, at - span, m.old_done, m.old_errors FROM moved m
    WHERE m.taken_at < at - span AND NOT m.is_new
    ON CONFLICT DO NOTHING;
END
$$;
COMMENT ON FUNCTION ai._take_samples(interval) IS
    'notes where counters stand that have moved; span is the time since the last look';

CREATE OR REPLACE FUNCTION ai._prune_samples() RETURNS void
    LANGUAGE sql
    SET search_path = pg_catalog, pg_temp
    AS $$
    DELETE FROM ai._sample s
    WHERE s.taken_at < now() - interval '10 minutes'
      AND NOT EXISTS (SELECT FROM ai._counters() c WHERE c.subject = s.subject)
    $$;
COMMENT ON FUNCTION ai._prune_samples() IS 'removes samples of what is not there any more';

CREATE OR REPLACE FUNCTION ai._recent(subject text, span interval, done bigint, errors bigint,
        OUT seconds float8, OUT recent_done bigint, OUT recent_errors bigint)
    LANGUAGE sql
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT extract(epoch FROM clock_timestamp() - s.taken_at)::float8,
        greatest(_recent.done - s.done, 0), greatest(_recent.errors - s.errors, 0)
    FROM ai._sample s
    WHERE s.subject = _recent.subject AND s.taken_at > clock_timestamp() - span
    ORDER BY s.taken_at LIMIT 1
    $$;
COMMENT ON FUNCTION ai._recent(text, interval, bigint, bigint) IS
    'what was counted since the first sample within a span, and how long ago that was; nulls if '
    'nothing was';

REVOKE ALL ON FUNCTION ai._counters(), ai._take_samples(interval),
    ai._prune_samples(), ai._recent(text, interval, bigint, bigint) FROM PUBLIC;
