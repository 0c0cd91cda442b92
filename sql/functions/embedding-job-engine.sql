-- What the background processes do to jobs as a whole. Only they call these; what a worker does to
-- single jobs is in src/worker/job_statements.cpp.

-- What there is to do, one row for each role and configuration: a few steps through two indexes for
-- each, whatever the number of jobs. Jobs of roles that are gone stay where they are. PL/pgSQL keeps the
-- plan, which takes longer to make than to run.
CREATE OR REPLACE FUNCTION ai._poll_jobs(suspects boolean, OUT created_by oid, OUT config_key uuid,
        OUT priority int4, OUT retry_in_ms float8, OUT suspect_in_ms float8) RETURNS SETOF record
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    IF pg_relation_size('ai.embedding_jobs') = 0 THEN
        RETURN;  -- nobody uses jobs here
    END IF;
    RETURN QUERY
    WITH RECURSIVE pending AS (
        (SELECT j.created_by::oid, j.config_key, j.priority FROM ai.embedding_jobs j
         WHERE j.status = 'pending' ORDER BY j.created_by, j.config_key, j.priority DESC LIMIT 1)
        UNION ALL
        SELECT n.* FROM pending p CROSS JOIN LATERAL (
            SELECT j.created_by::oid, j.config_key, j.priority FROM ai.embedding_jobs j
            WHERE j.status = 'pending'
              AND (j.created_by::oid, j.config_key) > (p.created_by, p.config_key)
            ORDER BY j.created_by, j.config_key, j.priority DESC LIMIT 1) n
    ), retrying AS (
        (SELECT j.created_by::oid, j.config_key, j.retry_at FROM ai.embedding_jobs j
         WHERE j.status = 'retrying' AND j.crashes = 0
         ORDER BY j.created_by, j.config_key, j.crashes, j.retry_at LIMIT 1)
        UNION ALL
        SELECT n.* FROM retrying p CROSS JOIN LATERAL (
            SELECT j.created_by::oid, j.config_key, j.retry_at FROM ai.embedding_jobs j
            WHERE j.status = 'retrying' AND j.crashes = 0
              AND (j.created_by::oid, j.config_key) > (p.created_by, p.config_key)
            ORDER BY j.created_by, j.config_key, j.crashes, j.retry_at LIMIT 1) n
    )
    SELECT g.created_by, g.config_key, max(g.priority),
        (extract(epoch FROM min(g.retry_at) - now()) * 1000)::float8,
        (extract(epoch FROM min(g.suspect_at) - now()) * 1000)::float8
    FROM (SELECT p.created_by, p.config_key, ai._priority_number(p.priority) AS priority,
              NULL AS retry_at, NULL::timestamptz AS suspect_at FROM pending p
          UNION ALL
          SELECT r.created_by, r.config_key, NULL, r.retry_at, NULL FROM retrying r
          UNION ALL
          SELECT j.created_by::oid, j.config_key, NULL, NULL, j.retry_at FROM ai.embedding_jobs j
          WHERE suspects AND j.status = 'retrying' AND j.crashes > 0) g
    WHERE EXISTS (SELECT FROM pg_authid a WHERE a.oid = g.created_by)
    GROUP BY g.created_by, g.config_key;
END
$$;
COMMENT ON FUNCTION ai._poll_jobs(boolean) IS
    'roles and configurations that have jobs to do: the highest priority among them, null if none is '
    'pending, when the next one is to be tried again, and if asked when the next of those that a '
    'process has died with';

-- In PL/pgSQL for the plan again; each status has its index.
CREATE OR REPLACE FUNCTION ai._embedding_job_configs(role oid) RETURNS SETOF jsonb
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    RETURN QUERY
    SELECT c.config FROM ai._poll_jobs(true) g, LATERAL (
        SELECT j.embedding_config AS config FROM ai.embedding_jobs j
        WHERE j.created_by = g.created_by AND j.config_key = g.config_key AND j.status = 'pending'
        UNION ALL
        SELECT j.embedding_config FROM ai.embedding_jobs j
        WHERE j.created_by = g.created_by AND j.config_key = g.config_key AND j.status = 'retrying'
        LIMIT 1) c
    WHERE pg_has_role(role, g.created_by, 'USAGE');
END
$$;
COMMENT ON FUNCTION ai._embedding_job_configs(oid) IS
    'configurations of the jobs that wait, of a role and of those it is a member of';

-- The jobs of worker processes that are gone; dead are those that died by themselves. The attempt was
-- charged when it began. As rows of vectorizers (ai._vectorizer_reclaim), jobs that a process died with
-- come in small groups next time, and alone when that one dies too; one that was alone with a process
-- that died is to blame.
CREATE OR REPLACE FUNCTION ai._embedding_jobs_reclaim(live uuid[], lock_timeout interval,
        dead uuid[] DEFAULT '{}', OUT lease uuid, OUT released bigint, OUT dead_letters bigint)
    RETURNS SETOF record
    LANGUAGE sql
    SET search_path = pg_catalog, pg_temp
    AS $$
    WITH lost AS (
        SELECT j.id, j.crashes >= 2 AND j.worker_id = ANY (dead) AS is_to_blame,
            j.attempts >= j.max_attempts OR j.crashes >= 2 AND j.worker_id = ANY (dead) AS is_over
        FROM ai.embedding_jobs j
        WHERE j.status = 'processing' AND (j.worker_id <> ALL (live) OR EXISTS (
            SELECT FROM ai.vectorizer_worker_process p
            WHERE p.id = j.worker_id AND p.last_heartbeat < clock_timestamp() - lock_timeout))
        FOR UPDATE SKIP LOCKED
    ), ended AS (
        UPDATE ai.embedding_jobs j
        SET status = CASE WHEN l.is_over THEN 'failed'::ai.job_status ELSE 'retrying' END,
            completed_at = CASE WHEN l.is_over THEN now() END,
            retry_at = CASE WHEN NOT l.is_over THEN now() END,
            crashes = least(j.crashes + 1, 32767),
            error_message = CASE WHEN l.is_to_blame
                THEN 'worker processes end unexpectedly when they have it, the last one had nothing else'
                ELSE 'the worker process that had claimed it is gone' END
        FROM lost l WHERE j.id = l.id
        RETURNING j.*
    ), letters AS (
        INSERT INTO ai.embedding_job_failures
        SELECT e.id, e.embedding_model, e.text_hash, 'worker', 'reclaimed', e.error_message,
            e.attempts, e.worker_id, e.created_by, now()
        FROM ended e WHERE e.status = 'failed'
    ), told AS (
        SELECT count(ai._embedding_job_tell(e.notify_channel, e.id, e.status)) FROM ended e
        WHERE e.status = 'failed'
    )
    SELECT e.worker_id, count(*) FILTER (WHERE e.status = 'retrying'),
        count(*) FILTER (WHERE e.status = 'failed')
    FROM ended e, told GROUP BY e.worker_id
    $$;
COMMENT ON FUNCTION ai._embedding_jobs_reclaim(uuid[], interval, uuid[]) IS
    'releases the jobs of worker processes that are gone; a row for each of these processes';

-- A process died with jobs and nothing else. When jobs were to blame too often, the others that a process
-- has died with are left alone for a while; those that nothing is held against go on.
CREATE OR REPLACE FUNCTION ai._embedding_jobs_blame(most int4, span interval) RETURNS bigint
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    jobs bigint;
BEGIN
    IF most > (SELECT count(DISTINCT f.worker_id) FROM ai.embedding_job_failures f
               WHERE f.class = 'reclaimed' AND f.failed_at > now() - span) THEN
        RETURN 0;
    END IF;
    UPDATE ai.embedding_jobs j SET retry_at = now() + span
    WHERE j.id = ANY (ARRAY(
        SELECT s.id FROM ai.embedding_jobs s
        WHERE s.status = 'retrying' AND s.crashes > 0 AND s.retry_at <= now()
        FOR UPDATE SKIP LOCKED));
    GET DIAGNOSTICS jobs = ROW_COUNT;
    RETURN jobs;
END
$$;
COMMENT ON FUNCTION ai._embedding_jobs_blame(int4, interval) IS
    'sets jobs aside that a process has died with, if such jobs have ended so many of them within that '
    'time; returns how many';

-- Some at a time, so that nobody waits for it.
CREATE OR REPLACE FUNCTION ai._embedding_jobs_prune(retention interval, most int4) RETURNS bigint
    LANGUAGE sql
    SET search_path = pg_catalog, pg_temp
    AS $$
    WITH gone AS (
        DELETE FROM ai.embedding_jobs WHERE ctid = ANY (ARRAY(
            SELECT j.ctid FROM ai.embedding_jobs j
            WHERE j.status IN ('completed', 'cancelled') AND j.completed_at < now() - retention
            ORDER BY j.completed_at LIMIT most FOR UPDATE SKIP LOCKED))
        RETURNING 1)
    SELECT count(*) FROM gone
    $$;
COMMENT ON FUNCTION ai._embedding_jobs_prune(interval, int4) IS
    'removes jobs that were completed or cancelled longer ago than this; returns how many';

CREATE OR REPLACE FUNCTION ai._embedding_job_count(created_by oid, model text, jobs bigint, requests bigint,
        input_tokens bigint, sent_texts bigint, reused_jobs bigint, truncated_texts bigint)
    RETURNS void
    LANGUAGE sql
    SET search_path = pg_catalog, pg_temp
    AS $$
    INSERT INTO ai.embedding_job_usage AS u VALUES (created_by, model, current_date, requests,
        input_tokens, jobs, sent_texts, reused_jobs, truncated_texts)
    ON CONFLICT ON CONSTRAINT embedding_job_usage_pkey DO UPDATE SET
        requests = u.requests + excluded.requests,
        input_tokens = u.input_tokens + excluded.input_tokens,
        jobs = u.jobs + excluded.jobs,
        sent_texts = u.sent_texts + excluded.sent_texts,
        reused_jobs = u.reused_jobs + excluded.reused_jobs,
        truncated_texts = u.truncated_texts + excluded.truncated_texts
    $$;
COMMENT ON FUNCTION ai._embedding_job_count(oid, text, bigint, bigint, bigint, bigint, bigint,
                                            bigint) IS
    'adds to the usage of a role''s jobs';

REVOKE ALL ON FUNCTION ai._poll_jobs(boolean),
    ai._embedding_jobs_reclaim(uuid[], interval, uuid[]),
    ai._embedding_job_configs(oid), ai._embedding_jobs_blame(int4, interval),
    ai._embedding_jobs_prune(interval, int4),
    ai._embedding_job_count(oid, text, bigint, bigint, bigint, bigint, bigint, bigint) FROM PUBLIC;
