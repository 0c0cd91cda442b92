-- In which state a vectorizer is, in a word and with the reason; and the view of all that is known.
--
--   idle      there is nothing to do            queued      rows wait for a worker that has time
--   active    rows are with workers             waiting     its provider is not to be asked now, or
--                                                           it is being restored
--   retrying  something failed, is tried again  no workers  nobody is there who could take rows
--   paused, disabled  by somebody's decision    locked      somebody is changing it

CREATE FUNCTION ai._vectorizer_state(v ai.vectorizer, n ai._vectorizer_counts, p ai.provider,
        error_at timestamptz, OUT state text, OUT reason text)
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    provider record;
BEGIN
    IF n.pending IS NULL THEN
        state := 'locked';
        reason := 'somebody is changing or dropping it';
    ELSIF v.disabled THEN
        state := 'disabled';
        reason := ai._vectorizer_disabled_reason(v);
    ELSIF v.restoring AND NOT ai._vectorizer_is_whole(v) THEN
        state := 'waiting';
        reason := format('for the rest of its restore, which makes its triggers; if there is nothing '
                         'more to restore, run ai.enable_vectorizer_schedule(%L)', v.name);
    ELSE
        reason := ai._vectorizer_paused_reason(v.id);
        state := CASE WHEN reason IS NOT NULL THEN 'paused' END;
    END IF;
    IF state IS NULL THEN
        reason := ai._workers_absent();
        state := CASE WHEN reason IS NOT NULL THEN 'no workers' END;
    END IF;
    IF state IS NULL THEN
        reason := ai._workers_paused_reason();
        state := CASE WHEN reason IS NOT NULL THEN 'paused' END;
    END IF;
    IF state IS NOT NULL THEN
        RETURN;
    END IF;
    provider := ai._provider_state(p);
    IF n.pending + n.running + n.retrying = 0 THEN
        state := 'idle';
        reason := CASE n.failed WHEN 0 THEN 'every row is embedded' ELSE
            format('every row is embedded but for %s that failed: see ai.vectorizer_errors, then '
                   'run ai.retry_failed(%L)', ai._rows(n.failed), v.name) END;
    ELSIF provider.state IN ('disabled', 'paused', 'open', 'cooling') THEN
        state := 'waiting';
        reason := format('for provider %s: %s: %s', p.endpoint, CASE provider.state
            WHEN 'open' THEN 'breaker open' WHEN 'cooling' THEN 'rate limited'
            ELSE provider.state END, provider.reason);
    ELSIF n.running > 0 THEN
        state := 'active';
        reason := ai._rows(n.running) || ' with workers';
    ELSIF n.pending = 0 THEN
        state := 'retrying';
        reason := format('%s to try again, the first at %s', ai._rows(n.retrying),
                         n.next_retry::timestamptz(0));
    ELSIF error_at > coalesce((SELECT x.last_success_at FROM ai.vectorizer_worker_progress x
                               WHERE x.vectorizer_id = v.id), '-infinity') THEN
        state := 'retrying';
        reason := 'workers could not go on, and try again in some seconds: see last_error';
    ELSE
        state := 'queued';
        reason := ai._rows(n.pending) || ' for the next worker that has time';
    END IF;
END
$$;
COMMENT ON FUNCTION ai._vectorizer_state(ai.vectorizer, ai._vectorizer_counts, ai.provider,
        timestamptz) IS
    'state of a vectorizer and the reason for it';

-- No row for a vectorizer that was dropped since the caller read its number.
CREATE FUNCTION ai.__vectorizer_figures(caller oid, vectorizer_id int4, OUT pending bigint,
        OUT running bigint, OUT retrying bigint, OUT failed bigint, OUT oldest_pending_age interval,
        OUT rows_per_minute numeric, OUT estimated_time_left interval, OUT last_error text,
        OUT last_error_at timestamptz, OUT state text, OUT state_reason text) RETURNS SETOF record
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    v ai.vectorizer;
    n ai._vectorizer_counts;
    p ai.provider;
BEGIN
    SELECT * INTO v FROM ai.vectorizer x WHERE x.id = vectorizer_id;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    PERFORM ai._vectorizer_require_visible(caller, v);
    PERFORM ai._vectorizer_flush_pending();
    n := ai._vectorizer_count(v);
    p := ai._vectorizer_provider(v);
    pending := n.pending;
    running := n.running;
    retrying := n.retrying;
    failed := n.failed;
    oldest_pending_age := CASE WHEN n.oldest IS NOT NULL
        THEN greatest(clock_timestamp() - n.oldest, '0') END;
    rows_per_minute := ai._vectorizer_rows_per_minute(v.id);
    SELECT e.message, e.at INTO last_error, last_error_at
    FROM ai._vectorizer_last_error(v, n, p) e;
    SELECT s.state, s.reason INTO state, state_reason
    FROM ai._vectorizer_state(v, n, p, last_error_at) s;
    IF state IN ('queued', 'active') THEN
        estimated_time_left := make_interval(secs => round(60 * (pending + running + retrying)
            / nullif(rows_per_minute, 0))::float8);
    END IF;
    RETURN NEXT;
END
$$;
COMMENT ON FUNCTION ai.__vectorizer_figures(oid, int4) IS
    'what ai._vectorizer_figures does, for the role that called it';
REVOKE ALL ON FUNCTION ai.__vectorizer_figures(oid, int4) FROM PUBLIC;

CREATE FUNCTION ai._vectorizer_figures(vectorizer_id int4, OUT pending bigint, OUT running bigint,
        OUT retrying bigint, OUT failed bigint, OUT oldest_pending_age interval,
        OUT rows_per_minute numeric, OUT estimated_time_left interval, OUT last_error text,
        OUT last_error_at timestamptz, OUT state text, OUT state_reason text) RETURNS SETOF record
    LANGUAGE c VOLATILE ROWS 1
    AS 'MODULE_PATHNAME', 'ai_call_as_owner';
COMMENT ON FUNCTION ai._vectorizer_figures(int4) IS
    'what ai.vectorizer_status shows of a vectorizer that changes by itself';

-- security_barrier: a function in a query's condition must not see what the view hides.
CREATE VIEW ai.vectorizer_status WITH (security_barrier) AS
    SELECT v.id, v.name, ai._qualified_name(v.source) AS source_table,
        ai._qualified_name(v.target) AS target_table, ai._qualified_name(v.view) AS view,
        v.config #>> '{destination,embedding_column}' AS embedding_column,
        f.pending + f.running + f.retrying AS pending_items, v.disabled, f.failed AS failed_items,
        f.*
    FROM ai.vectorizer v CROSS JOIN LATERAL ai._vectorizer_figures(v.id) f
    WHERE ai._vectorizer_visible(current_user, v.source, v.target);
COMMENT ON VIEW ai.vectorizer_status IS
    'vectorizers of the tables that one may read: how many rows are to do, how fast it goes, and '
    'in which state each is. Above 10,000 numbers of rows are estimates; they are null while '
    'somebody has the vectorizer locked';
COMMENT ON COLUMN ai.vectorizer_status.pending_items IS
    'rows that are not up to date: pending, running and retrying';
COMMENT ON COLUMN ai.vectorizer_status.failed_items IS 'rows that were given up, as in failed';
COMMENT ON COLUMN ai.vectorizer_status.pending IS 'changed rows that no worker has';
COMMENT ON COLUMN ai.vectorizer_status.running IS 'rows that are with a worker';
COMMENT ON COLUMN ai.vectorizer_status.retrying IS 'rows that wait until they are tried again';
COMMENT ON COLUMN ai.vectorizer_status.oldest_pending_age IS
    'how long ago the oldest change was made that is not embedded yet, whatever its state';
COMMENT ON COLUMN ai.vectorizer_status.rows_per_minute IS 'rows embedded in the last minute';
COMMENT ON COLUMN ai.vectorizer_status.estimated_time_left IS
    'when all would be done at this rate; null if nothing is being done';
COMMENT ON COLUMN ai.vectorizer_status.last_error IS
    'the last error of a row, of the vectorizer, or of its provider while that is failing';
COMMENT ON COLUMN ai.vectorizer_status.state IS
    'idle, queued, active, waiting, retrying, paused, disabled, no workers or locked';
GRANT SELECT ON ai.vectorizer_status TO PUBLIC;
