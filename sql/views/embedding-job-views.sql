-- How jobs are getting on: of those that one may see. The views read with the rights of who asks, so
-- row security holds in them.

CREATE OR REPLACE VIEW ai.embedding_job_health WITH (security_invoker) AS
    SELECT j.status, j.priority, count(*) AS count, avg(j.processing_time_ms) AS avg_time_ms,
        max(j.created_at) AS newest, min(j.created_at) AS oldest
    FROM ai.embedding_jobs j
    GROUP BY j.status, j.priority
    ORDER BY j.priority DESC, j.status;
COMMENT ON VIEW ai.embedding_job_health IS
    'embedding jobs by status and priority: how many, how long they took, the newest and the oldest';

CREATE OR REPLACE VIEW ai.embedding_worker_performance WITH (security_invoker) AS
    SELECT j.worker_id, count(*) FILTER (WHERE j.status = 'completed') AS jobs_completed,
        avg(j.processing_time_ms) AS avg_time,
        count(*) FILTER (WHERE j.status = 'failed') AS failures
    FROM ai.embedding_jobs j
    WHERE j.completed_at > now() - interval '24 hours' AND j.worker_id IS NOT NULL
      AND j.status IN ('completed', 'failed')
    GROUP BY j.worker_id;
COMMENT ON VIEW ai.embedding_worker_performance IS
    'embedding jobs that each worker process ended in the last 24 hours, and their average time in '
    'milliseconds';

GRANT SELECT ON ai.embedding_job_health, ai.embedding_worker_performance TO PUBLIC;
