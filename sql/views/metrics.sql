-- See functions/metrics.sql.

CREATE OR REPLACE VIEW ai.metrics_database AS
    SELECT m.* FROM ai._metrics_database(ARRAY(SELECT s FROM ai.vectorizer_status s)) m;
COMMENT ON VIEW ai.metrics_database IS 'metrics of this database';
COMMENT ON COLUMN ai.metrics_database.healthy IS 'whether ai.health() has nothing to complain of';
COMMENT ON COLUMN ai.metrics_database.wanted_workers IS
    'workers that there should be: ai.workers, or 0 while there is nothing to do';
COMMENT ON COLUMN ai.metrics_database.lag_seconds IS 'time from a change to its embeddings';

CREATE OR REPLACE VIEW ai.metrics_workers AS
    SELECT current_database()::text AS database, s.status, count(w.component) AS in_status
    FROM unnest('{starting,healthy,stopping,crashed,failed}'::text[]) AS s (status)
    LEFT JOIN ai.worker w ON w.status = s.status AND w.component <> 'coordinator'
        AND ai._is_supervised(w.component)
    GROUP BY s.status;
COMMENT ON VIEW ai.metrics_workers IS 'metrics of all workers of the server together';
COMMENT ON COLUMN ai.metrics_workers.in_status IS 'number of workers in each state';

-- Crashes are counted by the restarts that follow them. What the details of a worker outside say is
-- up to that one.
CREATE OR REPLACE VIEW ai.metrics_worker AS
    SELECT current_database()::text AS database, w.component,
        (w.status = 'healthy')::int AS healthy, w.restart_count AS restarts,
        w.restart_count + (w.status IN ('crashed', 'failed'))::int AS crashes_total,
        extract(epoch FROM clock_timestamp() - w.last_seen)::float8 AS heartbeat_age_seconds,
        extract(epoch FROM clock_timestamp() - greatest(w.last_restart, c.last))::float8
            AS last_crash_age_seconds
    FROM ai.worker w, LATERAL (
        SELECT to_timestamp(max(c.at::float8)) AS last
        FROM jsonb_array_elements_text(CASE WHEN ai._is_supervised(w.component)
                                       THEN w.details -> 'crashes' END) AS c (at)) c;
COMMENT ON VIEW ai.metrics_worker IS 'metrics of each worker, and of the coordinator';
COMMENT ON COLUMN ai.metrics_worker.healthy IS 'whether it is healthy';
COMMENT ON COLUMN ai.metrics_worker.restarts IS
    'restarts after crashes, since a person restarted it';
COMMENT ON COLUMN ai.metrics_worker.crashes_total IS 'crashes, since a person restarted it';
COMMENT ON COLUMN ai.metrics_worker.heartbeat_age_seconds IS 'time since its last heartbeat';
COMMENT ON COLUMN ai.metrics_worker.last_crash_age_seconds IS
    'time since its last crash; NaN if there was none';

CREATE OR REPLACE VIEW ai.metrics_vectorizer AS
    SELECT m.* FROM ai._metrics_vectorizer(ARRAY(SELECT s FROM ai.vectorizer_status s)) m;
COMMENT ON VIEW ai.metrics_vectorizer IS 'metrics of each vectorizer';
COMMENT ON COLUMN ai.metrics_vectorizer.pending_rows IS 'changed rows that no worker has';
COMMENT ON COLUMN ai.metrics_vectorizer.running_rows IS 'rows that are with a worker';
COMMENT ON COLUMN ai.metrics_vectorizer.retrying_rows IS
    'rows that wait until they are tried again';
COMMENT ON COLUMN ai.metrics_vectorizer.failed_rows IS 'rows that were given up';
COMMENT ON COLUMN ai.metrics_vectorizer.oldest_pending_seconds IS
    'age of the oldest change that is not embedded yet';
COMMENT ON COLUMN ai.metrics_vectorizer.rows_per_second IS 'rows embedded in the last minute';
COMMENT ON COLUMN ai.metrics_vectorizer.disabled IS 'whether it is disabled';
COMMENT ON COLUMN ai.metrics_vectorizer.paused IS 'whether it is paused, or all workers are';
COMMENT ON COLUMN ai.metrics_vectorizer.embedded_rows_total IS 'rows that were embedded';
COMMENT ON COLUMN ai.metrics_vectorizer.errors_total IS 'errors that kept all of its rows waiting';

CREATE OR REPLACE VIEW ai.metrics_usage AS
    SELECT current_database()::text AS database, v.name AS vectorizer, u.model,
        sum(u.requests)::bigint AS requests_total,
        sum(u.input_tokens)::bigint AS input_tokens_total, sum(u.rows)::bigint AS rows_total,
        sum(u.sent_chunks)::bigint AS sent_chunks_total,
        sum(u.reused_chunks)::bigint AS reused_chunks_total,
        sum(u.truncated_chunks)::bigint AS truncated_chunks_total
    FROM ai.usage u JOIN ai.vectorizer v ON v.id = u.vectorizer_id
    GROUP BY v.name, u.model;
COMMENT ON VIEW ai.metrics_usage IS 'metrics of what vectorizers ask of their models';
COMMENT ON COLUMN ai.metrics_usage.requests_total IS 'requests to the model';
COMMENT ON COLUMN ai.metrics_usage.input_tokens_total IS 'tokens, as the provider counted them';
COMMENT ON COLUMN ai.metrics_usage.rows_total IS 'rows that were embedded';
COMMENT ON COLUMN ai.metrics_usage.sent_chunks_total IS 'chunks that were sent';
COMMENT ON COLUMN ai.metrics_usage.reused_chunks_total IS
    'chunks whose embeddings were there already';
COMMENT ON COLUMN ai.metrics_usage.truncated_chunks_total IS 'chunks that were cut to fit';

-- What two databases share is counted once, and shown in both.
CREATE OR REPLACE VIEW ai.metrics_provider AS
    SELECT current_database()::text AS database, p.endpoint, p.api_key_name,
        p.enabled::int AS enabled, (s.state IN ('open', 'half-open'))::int AS breaker_open,
        (s.state = 'paused')::int AS paused, (s.state = 'cooling')::int AS rate_limited,
        p.failure_streak,
        coalesce(c.input_tokens, 0) AS input_tokens_total,
        coalesce(c.latency_bounds, '{}') AS request_seconds,
        ai._cumulative(c.latency_counts) AS request_seconds_bucket,
        coalesce(c.latency_sum, 0) AS request_seconds_sum,
        ai._sum_of(c.latency_counts) AS request_seconds_count
    FROM ai.provider p CROSS JOIN LATERAL ai._provider_state(p) s
    LEFT JOIN ai._provider_counters() c ON c.fingerprint = p.fingerprint;
COMMENT ON VIEW ai.metrics_provider IS 'metrics of each endpoint and key';
COMMENT ON COLUMN ai.metrics_provider.enabled IS 'whether it is asked at all';
COMMENT ON COLUMN ai.metrics_provider.breaker_open IS 'whether it is left alone after failures';
COMMENT ON COLUMN ai.metrics_provider.paused IS 'whether somebody paused it';
COMMENT ON COLUMN ai.metrics_provider.rate_limited IS
    'whether it asked to be left alone for a while';
COMMENT ON COLUMN ai.metrics_provider.failure_streak IS 'failures since the last success';
COMMENT ON COLUMN ai.metrics_provider.input_tokens_total IS
    'tokens, since the start of the server';
COMMENT ON COLUMN ai.metrics_provider.request_seconds IS
    'time from a request to its reply, since the start of the server';

CREATE OR REPLACE VIEW ai.metrics_provider_requests AS
    SELECT current_database()::text AS database, p.endpoint, p.api_key_name, o.outcome, o.total
    FROM ai.provider p
    JOIN ai._provider_counters() c ON c.fingerprint = p.fingerprint,
        LATERAL (VALUES ('succeeded', c.succeeded), ('deferred', c.deferred),
            ('transient', c.transient), ('suspect', c.suspect),
            ('configuration', c.configuration), ('invalid_reply', c.invalid_reply)
        ) AS o (outcome, total);
COMMENT ON VIEW ai.metrics_provider_requests IS 'metrics of the requests to each endpoint and key';
COMMENT ON COLUMN ai.metrics_provider_requests.total IS
    'requests by outcome, since the start of the server';

-- What the views are made from has no more in it than they show.
GRANT SELECT ON ai.usage, ai.provider, ai.vectorizer_worker_process, ai.vectorizer_worker_progress
    TO pg_monitor;
GRANT SELECT ON ai.metrics_database, ai.metrics_workers, ai.metrics_worker, ai.metrics_vectorizer,
    ai.metrics_usage, ai.metrics_provider, ai.metrics_provider_requests TO pg_monitor;
