-- In which state a vectorizer is, in a word and with the reason; and the view of all that is known.
--
--   idle      there is nothing to do            queued      rows wait for a worker that has time
--   active    rows are with workers             waiting     its provider is not to be asked now, or
--                                                           it is being restored
--   retrying  something failed, is tried again  no workers  nobody is there who could take rows
--   paused, disabled  by somebody's decision    locked      somebody is changing it

-- One query for all that a role may see, or for one: what is the same for all is found out once, and
-- nothing is planned for each. The last error is that of the row that was tried last, the last that
-- was recorded, or the provider's while that is failing: whatever was last.
CREATE OR REPLACE FUNCTION ai._figures(role name, only_id int4, OUT id int4, OUT pending bigint,
        OUT running bigint, OUT retrying bigint, OUT failed bigint, OUT oldest_pending_age interval,
        OUT rows_per_minute numeric, OUT estimated_time_left interval, OUT last_error text,
        OUT last_error_at timestamptz, OUT state text, OUT state_reason text) RETURNS SETOF record
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp SET plan_cache_mode = force_generic_plan SET jit = off
    AS $$
#variable_conflict use_column
BEGIN
    PERFORM ai._vectorizer_flush_pending();
    RETURN QUERY
    WITH w AS MATERIALIZED (
        SELECT ai._workers_absent() AS absent, ai._workers_paused_reason() AS paused
    ), p AS MATERIALIZED (
        SELECT c.embedding, x.*, s.state, s.reason
        FROM (SELECT DISTINCT v.config -> 'embedding' FROM ai.vectorizer v
              WHERE only_id IS NULL OR v.id = only_id) AS c (embedding)
        JOIN ai.provider x ON x.endpoint = ai._embedding_endpoint(c.embedding)
            AND x.api_key_name = coalesce(c.embedding ->> 'api_key_name', '')
        CROSS JOIN LATERAL ai._provider_state(x) s
    )
    SELECT v.id, n.pending, n.running, n.retrying, n.failed,
        greatest(clock_timestamp() - n.oldest, CASE WHEN n.oldest IS NOT NULL THEN interval '0' END),
        r.rows_per_minute,
        CASE WHEN s.state[1] IN ('queued', 'active') THEN make_interval(secs => round(
            60 * (n.pending + n.running + n.retrying) / nullif(r.rows_per_minute, 0))::float8) END,
        e.message, e.at, s.state[1], s.state[2]
    FROM w CROSS JOIN ai.vectorizer v
    LEFT JOIN p ON p.embedding = v.config -> 'embedding'
    LEFT JOIN ai.vectorizer_worker_progress g ON g.vectorizer_id = v.id
    LEFT JOIN ai._vectorizer_pause z ON z.vectorizer_id = v.id
        AND coalesce(z.paused_until, 'infinity') > clock_timestamp()
    CROSS JOIN LATERAL ai._vectorizer_count(v) n
    LEFT JOIN LATERAL (
        SELECT x.message, x.recorded FROM ai._vectorizer_errors x
        WHERE x.id = v.id ORDER BY x.recorded DESC LIMIT 1) l ON true
    LEFT JOIN LATERAL (
        SELECT x.message, x.at FROM (VALUES (l.message, l.recorded), (n.error, n.error_at),
            (CASE WHEN p.failure_streak > 0 THEN p.last_error END, p.last_failure_at)
        ) AS x (message, at)
        WHERE x.message IS NOT NULL ORDER BY x.at DESC NULLS LAST LIMIT 1) e ON true
    LEFT JOIN LATERAL (
        SELECT x.taken_at, x.done FROM ai._sample x
        WHERE g.vectorizer_id IS NOT NULL AND x.subject = 'vectorizer/' || v.id
          AND x.taken_at > clock_timestamp() - interval '1 minute'
        ORDER BY x.taken_at LIMIT 1) t ON true
    CROSS JOIN LATERAL (
        SELECT CASE WHEN t.taken_at IS NULL THEN 0 ELSE round((
            60 * greatest(g.success_count - t.done, 0) / greatest(
                extract(epoch FROM clock_timestamp() - t.taken_at)::float8, 1))::numeric, 1) END
            AS rows_per_minute) r
    CROSS JOIN LATERAL (
        SELECT CASE
        WHEN n.pending IS NULL THEN ARRAY['locked', 'somebody is changing or dropping it']
        WHEN v.disabled THEN ARRAY['disabled', ai._vectorizer_disabled_reason(v)]
        WHEN v.restoring AND NOT ai._vectorizer_is_whole(v) THEN
            ARRAY['waiting', format('for the rest of its restore, which makes its triggers; if there '
                'is nothing more to restore, run ai.enable_vectorizer_schedule(%L)', v.name)]
        WHEN z.vectorizer_id IS NOT NULL THEN
            ARRAY['paused', format('%s; it goes on %s',
                coalesce(z.reason, format('%s paused it', z.paused_by)),
                coalesce('at ' || z.paused_until::timestamptz(0), 'after ai.resume_vectorizer'))]
        WHEN w.absent IS NOT NULL THEN ARRAY['no workers', w.absent]
        WHEN w.paused IS NOT NULL THEN ARRAY['paused', w.paused]
        WHEN n.pending + n.running + n.retrying = 0 THEN
            ARRAY['idle', CASE n.failed WHEN 0 THEN 'every row is embedded' ELSE
                format('every row is embedded but for %s that failed: see ai.vectorizer_errors, then '
                       'run ai.retry_failed(%L)', ai._rows(n.failed), v.name) END]
        WHEN p.state IN ('disabled', 'paused', 'open', 'cooling') THEN
            ARRAY['waiting', format('for provider %s: %s: %s', p.endpoint, CASE p.state
                WHEN 'open' THEN 'breaker open' WHEN 'cooling' THEN 'rate limited' ELSE p.state END,
                p.reason)]
        WHEN n.running > 0 THEN ARRAY['active', ai._rows(n.running) || ' with workers']
        WHEN n.pending = 0 THEN
            ARRAY['retrying', format('%s to try again, the first at %s', ai._rows(n.retrying),
                                     n.next_retry::timestamptz(0))]
        WHEN e.at > coalesce(g.last_success_at, '-infinity') THEN
            ARRAY['retrying', 'workers could not go on, and try again in some seconds: see last_error']
        ELSE ARRAY['queued', ai._rows(n.pending) || ' for the next worker that has time']
        END AS state) s
    WHERE (only_id IS NULL OR v.id = only_id)
      AND ai._vectorizer_visible(role, v.source, v.target);
END
$$;
COMMENT ON FUNCTION ai._figures(name, int4) IS
    'what changes by itself of the vectorizers that a role may see, or of one of them: the numbers '
    'of its rows, how fast it goes, its last error, its state and the reason for that';
REVOKE ALL ON FUNCTION ai._figures(name, int4) FROM PUBLIC;

-- No row for a vectorizer that was dropped since the caller read its number.
CREATE OR REPLACE FUNCTION ai.__vectorizer_figures(caller oid, vectorizer_id int4, OUT pending bigint,
        OUT running bigint, OUT retrying bigint, OUT failed bigint, OUT oldest_pending_age interval,
        OUT rows_per_minute numeric, OUT estimated_time_left interval, OUT last_error text,
        OUT last_error_at timestamptz, OUT state text, OUT state_reason text) RETURNS SETOF record
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
#variable_conflict use_column
BEGIN
    PERFORM ai._vectorizer_require_visible(caller, v) FROM ai.vectorizer v WHERE v.id = vectorizer_id;
    RETURN QUERY
    SELECT f.pending, f.running, f.retrying, f.failed, f.oldest_pending_age, f.rows_per_minute,
        f.estimated_time_left, f.last_error, f.last_error_at, f.state, f.state_reason
    FROM ai._figures(pg_get_userbyid(caller), vectorizer_id) f;
END
$$;
COMMENT ON FUNCTION ai.__vectorizer_figures(oid, int4) IS
    'what ai._vectorizer_figures does, for the role that called it';
REVOKE ALL ON FUNCTION ai.__vectorizer_figures(oid, int4) FROM PUBLIC;

CREATE OR REPLACE FUNCTION ai._vectorizer_figures(vectorizer_id int4, OUT pending bigint, OUT running bigint,
        OUT retrying bigint, OUT failed bigint, OUT oldest_pending_age interval,
        OUT rows_per_minute numeric, OUT estimated_time_left interval, OUT last_error text,
        OUT last_error_at timestamptz, OUT state text, OUT state_reason text) RETURNS SETOF record
    LANGUAGE c VOLATILE ROWS 1
    AS 'MODULE_PATHNAME', 'ai_call_as_owner';
COMMENT ON FUNCTION ai._vectorizer_figures(int4) IS
    'what ai.vectorizer_status shows of a vectorizer that changes by itself';

CREATE OR REPLACE FUNCTION ai.__all_vectorizer_figures(caller oid, OUT id int4, OUT pending bigint,
        OUT running bigint, OUT retrying bigint, OUT failed bigint, OUT oldest_pending_age interval,
        OUT rows_per_minute numeric, OUT estimated_time_left interval, OUT last_error text,
        OUT last_error_at timestamptz, OUT state text, OUT state_reason text) RETURNS SETOF record
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    RETURN QUERY SELECT f.* FROM ai._figures(pg_get_userbyid(caller), NULL) f;
END
$$;
COMMENT ON FUNCTION ai.__all_vectorizer_figures(oid) IS
    'what ai._all_vectorizer_figures does, for the role that called it';
REVOKE ALL ON FUNCTION ai.__all_vectorizer_figures(oid) FROM PUBLIC;

CREATE OR REPLACE FUNCTION ai._all_vectorizer_figures(OUT id int4, OUT pending bigint, OUT running bigint,
        OUT retrying bigint, OUT failed bigint, OUT oldest_pending_age interval,
        OUT rows_per_minute numeric, OUT estimated_time_left interval, OUT last_error text,
        OUT last_error_at timestamptz, OUT state text, OUT state_reason text) RETURNS SETOF record
    LANGUAGE c VOLATILE
    AS 'MODULE_PATHNAME', 'ai_call_as_owner';
COMMENT ON FUNCTION ai._all_vectorizer_figures() IS
    'the same for all vectorizers that the current role may see';
