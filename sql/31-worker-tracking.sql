-- Which worker processes there are, and how far each vectorizer is.

-- One row per worker process (alive or dead)
CREATE TABLE ai.vectorizer_worker_process (
    id                          uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    version                     text NOT NULL,
    started                     timestamptz NOT NULL DEFAULT now(),
    expected_heartbeat_interval interval NOT NULL,
    last_heartbeat              timestamptz NOT NULL DEFAULT now(),
    heartbeat_count             bigint NOT NULL DEFAULT 0,
    success_count               bigint NOT NULL DEFAULT 0,
    error_count                 bigint NOT NULL DEFAULT 0,
    last_error_at               timestamptz,
    last_error_message          text
);
CREATE INDEX ON ai.vectorizer_worker_process (last_heartbeat);
COMMENT ON TABLE ai.vectorizer_worker_process IS
    'worker processes, alive or dead; a heartbeat older than expected_heartbeat_interval is late';

-- One row per vectorizer, shared by all workers. No foreign key to the process: that table may be
-- cleaned up on its own, and nothing may stop progress from being recorded.
CREATE TABLE ai.vectorizer_worker_progress (
    vectorizer_id           int4 PRIMARY KEY NOT NULL
                            REFERENCES ai.vectorizer (id) ON DELETE CASCADE,
    success_count           bigint NOT NULL DEFAULT 0,
    error_count             bigint NOT NULL DEFAULT 0,
    last_success_at         timestamptz,
    last_success_process_id uuid,
    last_error_at           timestamptz,
    last_error_message      text,
    last_error_process_id   uuid,
    updated_at              timestamptz NOT NULL DEFAULT now()
);
COMMENT ON TABLE ai.vectorizer_worker_progress IS
    'how many rows of each vectorizer succeeded and failed, and what happened last';

SELECT pg_catalog.pg_extension_config_dump('ai.vectorizer_worker_process', '');
SELECT pg_catalog.pg_extension_config_dump('ai.vectorizer_worker_progress', '');

CREATE FUNCTION ai._worker_start(version text, expected_heartbeat_interval interval) RETURNS uuid
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

CREATE FUNCTION ai._worker_heartbeat(worker_id uuid, num_successes_since_last_heartbeat bigint,
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

CREATE FUNCTION ai._worker_progress(worker_id uuid, worker_vectorizer_id int4,
        num_successes bigint, error_message text) RETURNS void
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
        CASE WHEN error_message IS NULL THEN progress_timestamp END,
        CASE WHEN error_message IS NULL THEN worker_id END,
        CASE WHEN error_message IS NOT NULL THEN progress_timestamp END,
        error_message,
        CASE WHEN error_message IS NOT NULL THEN worker_id END,
        progress_timestamp
    )
    ON CONFLICT (vectorizer_id) DO UPDATE SET
        success_count = ai.vectorizer_worker_progress.success_count + EXCLUDED.success_count,
        error_count = ai.vectorizer_worker_progress.error_count + EXCLUDED.error_count,
        last_success_at = COALESCE(EXCLUDED.last_success_at,
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
COMMENT ON FUNCTION ai._worker_progress(uuid, int4, bigint, text) IS
    'adds to the progress of a vectorizer: successes, or one error if there is a message';
