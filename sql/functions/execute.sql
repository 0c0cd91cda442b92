-- Waiting for a vectorizer: ai.execute_vectorizer returns when what was queued is done.

-- Done is what was written, given up, or waits for another attempt. Entries tell when the transaction
-- that made them began, so some that come after the call are waited for, too, and none is missed.
-- STABLE: it sees the snapshot of its caller, who takes a new one for each look.
CREATE OR REPLACE FUNCTION ai._vectorizer_progress(caller oid, vectorizer_id int4, since timestamptz,
        OUT name text, OUT state text, OUT unfinished boolean, OUT retryable bigint,
        OUT failed bigint, OUT trouble text)
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    v ai.vectorizer := ai._vectorizer_get(vectorizer_id);
BEGIN
    PERFORM ai._vectorizer_require_owner(caller, v, 'execute');
    name := v.name;
    state := CASE WHEN v.disabled OR v.restoring THEN 'disabled'
        WHEN ai._pause_left('*', v.id) IS NOT NULL THEN 'paused' ELSE 'enabled' END;
    EXECUTE format(
        'SELECT EXISTS (SELECT FROM %1$s q WHERE q.queued_at <= $1) OR EXISTS (SELECT FROM %2$s w '
        'WHERE w.queued_at <= $1 AND (w.lease IS NOT NULL OR w.retry_at <= clock_timestamp())), '
        '(SELECT count(*) FROM %2$s w WHERE w.queued_at <= $1), '
        '(SELECT count(*) FROM %3$s f WHERE f.failed_at >= $1)',
        ai._qualified_name(v.queue), ai._qualified_name(v.work), ai._qualified_name(v.failed))
    INTO unfinished, retryable, failed USING since;
    -- An error is told once: of one that is older, and that nothing went well after, it shows in a
    -- while whether it still holds.
    SELECT e.message INTO trouble
    FROM ai._vectorizer_errors e LEFT JOIN ai.vectorizer_worker_progress p ON p.vectorizer_id = e.id
    WHERE e.id = v.id AND NOT e.details ? 'key'
      AND (e.recorded >= since OR (e.recorded <= p.last_success_at) IS NOT TRUE
                                  AND clock_timestamp() > since + interval '3 seconds')
    ORDER BY e.recorded DESC LIMIT 1;
END
$$;
COMMENT ON FUNCTION ai._vectorizer_progress(oid, int4, timestamptz) IS
    'whether a vectorizer is enabled, disabled or paused, whether something that was queued before a '
    'time is still to be done, how many rows of it wait for another attempt, how many were given up '
    'since, and the latest trouble';
REVOKE ALL ON FUNCTION ai._vectorizer_progress(oid, int4, timestamptz) FROM PUBLIC;

CREATE OR REPLACE FUNCTION ai.execute_vectorizer(vectorizer_id int4) RETURNS void
    LANGUAGE c VOLATILE
    AS 'MODULE_PATHNAME', 'ai_execute_vectorizer_by_id';
COMMENT ON FUNCTION ai.execute_vectorizer(int4) IS
    'has a vectorizer work now, and waits until all rows that were queued before the call are done';

CREATE OR REPLACE FUNCTION ai.execute_vectorizer(vectorizer_name text) RETURNS void
    LANGUAGE c VOLATILE
    AS 'MODULE_PATHNAME', 'ai_execute_vectorizer_by_name';
COMMENT ON FUNCTION ai.execute_vectorizer(text) IS
    'has a vectorizer work now, and waits until all rows that were queued before the call are done';
