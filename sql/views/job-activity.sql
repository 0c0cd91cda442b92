-- See functions/job-activity.sql.

CREATE OR REPLACE VIEW ai.job_activity WITH (security_barrier) AS
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

CREATE OR REPLACE VIEW ai.stuck_jobs WITH (security_barrier) AS
    SELECT a.* FROM ai.job_activity a
    WHERE a.status = 'running' AND (a.heartbeat_at IS NULL OR a.heartbeat_at < clock_timestamp()
        - coalesce(current_setting('ai.job_lock_timeout', true), '300s')::interval);
COMMENT ON VIEW ai.stuck_jobs IS
    'rows with a process that has not been heard of for ai.job_lock_timeout; the coordinator gives '
    'them back within a minute';
GRANT SELECT ON ai.stuck_jobs TO PUBLIC;
