-- What processes write to ai.worker: workers about themselves, the coordinator about them. A function
-- that finds the row in another state than it expects changes nothing and returns false: the process
-- has been dismissed, and ends.

CREATE OR REPLACE FUNCTION ai._worker_register(component text, pid int4, details jsonb) RETURNS boolean
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    INSERT INTO ai.worker AS w (component, status, pid, details)
    VALUES (component, 'starting', pid, details)
    ON CONFLICT ON CONSTRAINT worker_pkey DO UPDATE
    SET pid = excluded.pid, last_seen = clock_timestamp(), details = w.details || excluded.details
    WHERE w.status = 'starting';
    RETURN FOUND;
END
$$;
COMMENT ON FUNCTION ai._worker_register(text, int4, jsonb) IS
    'notes the process of a component that is starting';

CREATE OR REPLACE FUNCTION ai._worker_beat(component text, pid int4, current_job text, details jsonb,
        worker_id uuid, num_successes_since_last_heartbeat bigint,
        num_errors_since_last_heartbeat bigint, error_message text) RETURNS boolean
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    PERFORM ai._worker_heartbeat(worker_id, num_successes_since_last_heartbeat,
                                 num_errors_since_last_heartbeat, error_message);
    UPDATE ai.worker w
    SET status = 'healthy', last_seen = clock_timestamp(), current_job = _worker_beat.current_job,
        details = w.details || _worker_beat.details || jsonb_build_object('paused',
            ai._pause_left(_worker_beat.component, NULL) IS NOT NULL)
    WHERE w.component = _worker_beat.component AND w.pid = _worker_beat.pid
      AND w.status IN ('starting', 'healthy');
    RETURN FOUND;
END
$$;
COMMENT ON FUNCTION ai._worker_beat(text, int4, text, jsonb, uuid, bigint, bigint, text) IS
    'heartbeat of a worker, here and in ai.vectorizer_worker_process';

-- The heartbeat of the coordinator, and what it wants to know then: which outside workers are silent,
-- and what the rows of its own workers say, where an operator may have asked for something. It looks
-- whether what they say they have is there.
CREATE OR REPLACE FUNCTION ai._coordinator_beat(coordinator_pid int4, worker_timeout interval,
        OUT component text, OUT status text, OUT details jsonb, OUT is_silent boolean)
    RETURNS SETOF record
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    UPDATE ai.worker w
    SET status = 'healthy', last_seen = clock_timestamp(), pid = coordinator_pid,
        details = w.details || '{"queue_type": "coordinator"}'::jsonb
    WHERE w.component = 'coordinator' AND w.status IN ('starting', 'healthy');
    PERFORM ai._take_samples(least(current_setting('ai.heartbeat_interval')::interval,
                                   worker_timeout / 2));
    -- What a worker had of a vectorizer that was dropped since, it has not any more.
    UPDATE ai.worker w SET current_job = NULL
    WHERE w.status = 'healthy' AND ai._is_supervised(w.component)
      AND w.current_job LIKE 'vectorizer/%' AND NOT EXISTS (
          SELECT FROM ai.vectorizer v WHERE w.current_job = 'vectorizer/' || v.id);
    RETURN QUERY
    UPDATE ai.worker w
    SET status = 'crashed', current_job = NULL,
        details = w.details || jsonb_build_object('error_message', 'no heartbeat')
    WHERE NOT ai._is_supervised(w.component) AND w.status IN ('starting', 'healthy', 'stopping')
      AND w.last_seen < clock_timestamp() - worker_timeout
    RETURNING w.component, w.status, w.details, true;
    RETURN QUERY
    SELECT w.component, w.status, w.details, false FROM ai.worker w
    WHERE ai._is_supervised(w.component);
END
$$;
COMMENT ON FUNCTION ai._coordinator_beat(int4, interval) IS
    'heartbeat of the coordinator: returns outside workers that are silent, and the server''s own';

REVOKE ALL ON FUNCTION ai._worker_register(text, int4, jsonb),
    ai._worker_beat(text, int4, text, jsonb, uuid, bigint, bigint, text),
    ai._coordinator_beat(int4, interval) FROM PUBLIC;
