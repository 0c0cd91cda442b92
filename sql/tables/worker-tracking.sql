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
