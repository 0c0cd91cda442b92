-- Embedding jobs as numbers for Prometheus (sql/views/metrics.sql says how columns become metrics), and for
-- ai.health. Only what is to be done is counted, each status by its index: those that are done may be
-- millions, and are counted in ai.embedding_job_usage.

CREATE OR REPLACE VIEW ai.metrics_jobs AS
    SELECT current_database()::text AS database, p.priority::text AS priority,
        count(*) FILTER (WHERE j.status = 'pending') AS pending,
        count(*) FILTER (WHERE j.status = 'processing') AS processing,
        count(*) FILTER (WHERE j.status = 'retrying') AS retrying,
        count(*) FILTER (WHERE j.status = 'failed') AS failed,
        coalesce(extract(epoch FROM clock_timestamp()
                                    - min(j.created_at) FILTER (WHERE j.status <> 'failed')),
                 0)::float8 AS oldest_seconds
    FROM unnest(enum_range(NULL::ai.job_priority)) AS p (priority)
    LEFT JOIN (
        SELECT x.status, x.priority, x.created_at FROM ai.embedding_jobs x WHERE x.status = 'pending'
        UNION ALL
        SELECT x.status, x.priority, x.created_at FROM ai.embedding_jobs x
        WHERE x.status = 'processing'
        UNION ALL
        SELECT x.status, x.priority, x.created_at FROM ai.embedding_jobs x WHERE x.status = 'retrying'
        UNION ALL
        SELECT x.status, x.priority, x.created_at
        FROM ai.embedding_job_failures f JOIN ai.embedding_jobs x ON x.id = f.job_id
        WHERE x.status = 'failed') j ON j.priority = p.priority
    GROUP BY p.priority;
COMMENT ON VIEW ai.metrics_jobs IS 'metrics of embedding jobs that are not done';
COMMENT ON COLUMN ai.metrics_jobs.pending IS 'embedding jobs that no worker has';
COMMENT ON COLUMN ai.metrics_jobs.processing IS 'embedding jobs that are with a worker';
COMMENT ON COLUMN ai.metrics_jobs.retrying IS 'embedding jobs that wait until they are tried again';
COMMENT ON COLUMN ai.metrics_jobs.failed IS 'embedding jobs that were given up';
COMMENT ON COLUMN ai.metrics_jobs.oldest_seconds IS
    'age of the oldest embedding job that has not come to an end';

CREATE OR REPLACE VIEW ai.metrics_job_usage AS
    SELECT current_database()::text AS database, u.created_by::text AS role, u.model,
        sum(u.requests)::bigint AS requests_total, sum(u.input_tokens)::bigint AS input_tokens_total,
        sum(u.jobs)::bigint AS jobs_total, sum(u.sent_texts)::bigint AS sent_texts_total,
        sum(u.reused_jobs)::bigint AS reused_jobs_total,
        sum(u.truncated_texts)::bigint AS truncated_texts_total
    FROM ai.embedding_job_usage u
    GROUP BY u.created_by, u.model;
COMMENT ON VIEW ai.metrics_job_usage IS 'metrics of what embedding jobs ask of their models';
COMMENT ON COLUMN ai.metrics_job_usage.requests_total IS 'requests to the model';
COMMENT ON COLUMN ai.metrics_job_usage.input_tokens_total IS 'tokens, as the provider counted them';
COMMENT ON COLUMN ai.metrics_job_usage.jobs_total IS 'embedding jobs that were completed by workers';
COMMENT ON COLUMN ai.metrics_job_usage.sent_texts_total IS 'texts that were sent';
COMMENT ON COLUMN ai.metrics_job_usage.reused_jobs_total IS
    'embedding jobs that workers gave the vector of another one';
COMMENT ON COLUMN ai.metrics_job_usage.truncated_texts_total IS 'texts that were cut to fit';

GRANT SELECT ON ai.metrics_jobs, ai.metrics_job_usage TO pg_monitor;
