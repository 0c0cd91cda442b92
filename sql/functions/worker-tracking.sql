-- See tables/worker-tracking.sql.

CREATE OR REPLACE FUNCTION ai._worker_start(version text, expected_heartbeat_interval interval) RETURNS uuid
    LANGUAGE plpgsql SECURITY INVOKER
    SET search_path TO pg_catalog, pg_temp
    AS $$
DECLARE
    worker_id uuid;
BEGIN
    INSERT INTO ai.vectorizer_worker_process (version, expected_heartbeat_interval)
    VALUES (version, expected_heartbeat_interval)
    RETURNING id INTO worker_id;
    RETURN worker_id;
END
$$;
COMMENT ON FUNCTION ai._worker_start(text, interval) IS
    'registers a worker process and returns its id';

CREATE OR REPLACE FUNCTION ai._worker_heartbeat(worker_id uuid, num_successes_since_last_heartbeat bigint,
        num_errors_since_last_heartbeat bigint, error_message text) RETURNS void
    LANGUAGE plpgsql SECURITY INVOKER
    SET search_path TO pg_catalog, pg_temp
    AS $$
DECLARE
    heartbeat_timestamp timestamptz = clock_timestamp();
BEGIN
    UPDATE ai.vectorizer_worker_process SET
        last_heartbeat = heartbeat_timestamp,
        heartbeat_count = heartbeat_count + 1,
        success_count = success_count + num_successes_since_last_heartbeat,
        error_count = error_count + num_errors_since_last_heartbeat,
        last_error_message = CASE WHEN error_message IS NOT NULL
            THEN error_message ELSE last_error_message END,
        last_error_at = CASE WHEN error_message IS NOT NULL
            THEN heartbeat_timestamp ELSE last_error_at END
    WHERE id = worker_id;
END
$$;
COMMENT ON FUNCTION ai._worker_heartbeat(uuid, bigint, bigint, text) IS
    'notes that a worker process is alive; the numbers are added to its totals';

-- Workers report successes now and then, so these may be older than an error that is known already.
CREATE OR REPLACE FUNCTION ai._worker_progress(worker_id uuid, worker_vectorizer_id int4,
        num_successes bigint, error_message text, succeeded_at timestamptz DEFAULT NULL)
    RETURNS void
    LANGUAGE plpgsql SECURITY INVOKER
    SET search_path TO pg_catalog, pg_temp
    AS $$
DECLARE
    progress_timestamp timestamptz = clock_timestamp();
BEGIN
    INSERT INTO ai.vectorizer_worker_progress (
        vectorizer_id, success_count, error_count,
        last_success_at, last_success_process_id,
        last_error_at, last_error_message, last_error_process_id,
        updated_at
    ) VALUES (
        worker_vectorizer_id, num_successes,
        CASE WHEN error_message IS NULL THEN 0 ELSE 1 END,
        CASE WHEN error_message IS NULL THEN coalesce(succeeded_at, progress_timestamp) END,
        CASE WHEN error_message IS NULL THEN worker_id END,
        CASE WHEN error_message IS NOT NULL THEN progress_timestamp END,
        error_message,
        CASE WHEN error_message IS NOT NULL THEN worker_id END,
        progress_timestamp
    )
    ON CONFLICT (vectorizer_id) DO UPDATE SET
        success_count = ai.vectorizer_worker_progress.success_count + EXCLUDED.success_count,
        error_count = ai.vectorizer_worker_progress.error_count + EXCLUDED.error_count,
        last_success_at = GREATEST(EXCLUDED.last_success_at,
            ai.vectorizer_worker_progress.last_success_at),
        last_success_process_id = COALESCE(EXCLUDED.last_success_process_id,
            ai.vectorizer_worker_progress.last_success_process_id),
        last_error_at = COALESCE(EXCLUDED.last_error_at,
            ai.vectorizer_worker_progress.last_error_at),
        last_error_message = COALESCE(EXCLUDED.last_error_message,
            ai.vectorizer_worker_progress.last_error_message),
        last_error_process_id = COALESCE(EXCLUDED.last_error_process_id,
            ai.vectorizer_worker_progress.last_error_process_id),
        updated_at = progress_timestamp;
END
$$;
COMMENT ON FUNCTION ai._worker_progress(uuid, int4, bigint, text, timestamptz) IS
    'adds to the progress of a vectorizer: successes, or one error if there is a message';
