-- How providers fare, in words and in numbers.

CREATE OR REPLACE FUNCTION ai._provider_state(p ai.provider, OUT state text, OUT reason text,
                                   OUT paused_until timestamptz)
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT s.state, s.reason, s.until
    FROM (SELECT p.failure_streak || CASE p.failure_streak WHEN 1 THEN ' failure'
              ELSE ' failures in a row' END AS failures) f, LATERAL (VALUES
        (1, NOT p.enabled, 'disabled', 'ai.disable_provider was called; ai.enable_provider undoes it',
         'infinity'::timestamptz),
        (2, p.paused_until > now(), 'paused',
         CASE WHEN p.paused_until < 'infinity'
         THEN 'ai.pause_provider was called; requests go on at ' || p.paused_until::timestamptz(0)
         ELSE 'ai.pause_provider was called; requests go on after ai.resume_provider' END,
         p.paused_until),
        (3, p.breaker <> 'closed' AND p.next_probe > now(), 'open',
         format('%s; one request is tried at %s', f.failures, p.next_probe::timestamptz(0)),
         p.next_probe),
        (4, p.cooldown_until > now(), 'cooling',
         format('it asked to be left alone until %s', p.cooldown_until::timestamptz(0)),
         p.cooldown_until),
        (5, p.breaker <> 'closed', 'half-open',
         f.failures || '; the next request decides', NULL),
        (6, p.failure_streak > 0, 'failing', f.failures, NULL),
        (7, p.last_success_at IS NULL AND p.last_failure_at IS NULL, 'unused',
         'it has not been asked yet', NULL),
        (8, true, 'ok', 'requests go through' || coalesce(', at most '
            || concat_ws(' and ', p.requests_per_minute || ' requests', p.tokens_per_minute || ' tokens')
            || CASE WHEN coalesce(p.requests_per_minute, p.tokens_per_minute) IS NOT NULL
               THEN ' in a minute' END, ''), NULL)
    ) AS s (rank, holds, state, reason, until)
    WHERE s.holds
    ORDER BY s.rank LIMIT 1
    $$;
COMMENT ON FUNCTION ai._provider_state(ai.provider) IS
    'state of a provider with its reason, and until when it is not asked';

CREATE OR REPLACE FUNCTION ai.__provider_visible(caller oid, endpoint text, api_key_name text) RETURNS boolean
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT pg_has_role(caller, 'pg_monitor', 'USAGE') OR EXISTS (
        SELECT FROM ai.vectorizer v
        WHERE ai._vectorizer_visible(pg_get_userbyid(caller), v.source, v.target)
          AND coalesce(v.config #>> '{embedding,api_key_name}', '') = __provider_visible.api_key_name
          AND ai._embedding_endpoint(v.config -> 'embedding') = __provider_visible.endpoint)
        OR EXISTS (
        SELECT FROM ai._embedding_job_configs(caller) AS j (config)
        WHERE coalesce(j.config ->> 'api_key_name', '') = __provider_visible.api_key_name
          AND ai._embedding_endpoint(j.config) = __provider_visible.endpoint)
    $$;
COMMENT ON FUNCTION ai.__provider_visible(oid, text, text) IS
    'what ai._provider_visible does, for the role that called it';
REVOKE ALL ON FUNCTION ai.__provider_visible(oid, text, text) FROM PUBLIC;

CREATE OR REPLACE FUNCTION ai._provider_visible(endpoint text, api_key_name text) RETURNS boolean
    LANGUAGE c STABLE
    AS 'MODULE_PATHNAME', 'ai_call_as_owner';
COMMENT ON FUNCTION ai._provider_visible(text, text) IS
    'whether the current role may see how a provider fares';

-- Of the whole server since its start: what databases share is counted once.
CREATE OR REPLACE FUNCTION ai._provider_counters(OUT endpoint text, OUT api_key_name text,
        OUT fingerprint text, OUT breaker text, OUT pace_per_minute float8, OUT succeeded bigint,
        OUT deferred bigint, OUT transient bigint, OUT suspect bigint, OUT configuration bigint,
        OUT invalid_reply bigint, OUT input_tokens bigint, OUT latency_bounds float8[],
        OUT latency_counts bigint[], OUT latency_sum float8) RETURNS SETOF record
    LANGUAGE c VOLATILE
    AS 'MODULE_PATHNAME', 'ai_provider_counters';
COMMENT ON FUNCTION ai._provider_counters() IS
    'for each endpoint and key, since the start of the server: requests by outcome, tokens, seconds '
    'that requests took (counts up to each bound and above the last), the pace that was learned (0: '
    'none)';

CREATE OR REPLACE FUNCTION ai._lag_histogram(OUT bounds float8[], OUT counts bigint[], OUT sum float8)
    RETURNS SETOF record
    LANGUAGE c VOLATILE
    AS 'MODULE_PATHNAME', 'ai_lag_histogram';
COMMENT ON FUNCTION ai._lag_histogram() IS
    'seconds from a change to its vectors in this database, since the start of the server: counts up '
    'to each bound and above the last';
REVOKE ALL ON FUNCTION ai._provider_counters(), ai._lag_histogram() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ai._provider_counters(), ai._lag_histogram() TO pg_monitor;
