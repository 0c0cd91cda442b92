-- Which worker process has how many rows of which vectorizer, and whether it still lives. Embedding jobs
-- count as rows of something that has a name and no number.

CREATE FUNCTION ai.__job_activity(caller oid, vectorizer_id int4, OUT status text,
        OUT locked_by uuid, OUT rows bigint, OUT oldest timestamptz, OUT last_error text)
    RETURNS SETOF record
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    v ai.vectorizer;
BEGIN
    SELECT * INTO v FROM ai.vectorizer x WHERE x.id = vectorizer_id;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    PERFORM ai._vectorizer_require_visible(caller, v);
    RETURN QUERY EXECUTE format(
        'SELECT CASE WHEN w.lease IS NOT NULL THEN ''running'' WHEN w.retry_at > now() THEN '
        '''retryable'' ELSE ''pending'' END, w.lease, count(*), min(w.queued_at), '
        '(array_agg(w.error ORDER BY w.taken_at DESC NULLS LAST) '
        'FILTER (WHERE w.error IS NOT NULL))[1] FROM %s w GROUP BY 1, 2',
        ai._qualified_name(v.work));
END
$$;
COMMENT ON FUNCTION ai.__job_activity(oid, int4) IS
    'what ai._job_activity does, for the role that called it';
REVOKE ALL ON FUNCTION ai.__job_activity(oid, int4) FROM PUBLIC;

CREATE FUNCTION ai._job_activity(vectorizer_id int4, OUT status text, OUT locked_by uuid,
        OUT rows bigint, OUT oldest timestamptz, OUT last_error text) RETURNS SETOF record
    LANGUAGE c VOLATILE ROWS 10
    AS 'MODULE_PATHNAME', 'ai_call_as_owner';
COMMENT ON FUNCTION ai._job_activity(int4) IS
    'rows of a vectorizer that a worker has taken at least once, by state and process';

CREATE VIEW ai.job_activity WITH (security_barrier) AS
    SELECT a.id, a.name, a.status, a.locked_by, p.last_heartbeat AS heartbeat_at,
        clock_timestamp() - p.last_heartbeat AS time_since_heartbeat, a.rows, a.oldest, a.last_error
    FROM (
        SELECT v.id, v.name, w.* FROM ai.vectorizer v CROSS JOIN LATERAL ai._job_activity(v.id) w
        WHERE ai._vectorizer_visible(current_user, v.source, v.target)
        UNION ALL
        SELECT NULL, 'embedding jobs', 'running', j.worker_id, count(*), min(j.created_at),
            (array_agg(j.error_message ORDER BY j.started_at DESC)
             FILTER (WHERE j.error_message IS NOT NULL))[1]
        FROM ai.embedding_jobs j
        WHERE j.status = 'processing'
          AND (pg_has_role(j.created_by, 'USAGE') OR pg_has_role('pg_monitor', 'USAGE'))
        GROUP BY j.worker_id
        UNION ALL
        SELECT NULL, 'embedding jobs',
            CASE WHEN j.retry_at > now() THEN 'retryable' ELSE 'pending' END, NULL, count(*),
            min(j.created_at), (array_agg(j.error_message ORDER BY j.started_at DESC)
                                FILTER (WHERE j.error_message IS NOT NULL))[1]
        FROM ai.embedding_jobs j
        WHERE j.status = 'retrying'
          AND (pg_has_role(j.created_by, 'USAGE') OR pg_has_role('pg_monitor', 'USAGE'))
        GROUP BY 3) a
    LEFT JOIN ai.vectorizer_worker_process p ON p.id = a.locked_by;
COMMENT ON VIEW ai.job_activity IS
    'rows that are with worker processes, or that have been and are to be tried again: how many of '
    'each vectorizer and state each process has, and when it was last heard of; embedding jobs, too, '
    'which have no id';
GRANT SELECT ON ai.job_activity TO PUBLIC;

CREATE VIEW ai.stuck_jobs WITH (security_barrier) AS
    SELECT a.* FROM ai.job_activity a
    WHERE a.status = 'running' AND (a.heartbeat_at IS NULL OR a.heartbeat_at < clock_timestamp()
        - coalesce(current_setting('ai.job_lock_timeout', true), '300s')::interval);
COMMENT ON VIEW ai.stuck_jobs IS
    'rows with a process that has not been heard of for ai.job_lock_timeout; the coordinator gives '
    'them back within a minute';
GRANT SELECT ON ai.stuck_jobs TO PUBLIC;
