-- Embedding jobs: single texts that are embedded without a table of the user's own. A role sees its
-- own jobs, and makes and changes them through the functions of functions/embedding-job-api.sql; workers
-- claim them (src/worker/jobs/job_source.cpp).
--
--   pending --claim--> processing ---> completed
--      ^                   |  '------> failed ----> retried by a hand, or cancelled
--      |                   v
--      '--when due---- retrying            pending, processing, retrying, failed ---> cancelled

-- The primary key is in the order of time, too: so there is no index on created_at, which would cost
-- each change of a job.
--
-- INVARIANT: only the owner of the extension and workers write here. A job that is processing is
-- with the worker process worker_id; nobody else's writes count.
CREATE TABLE ai.embedding_jobs (
    id                   uuid PRIMARY KEY DEFAULT ai._new_job_id(),
    status               ai.job_status NOT NULL DEFAULT 'pending',
    priority             ai.job_priority NOT NULL DEFAULT 'normal',
    embedding_model      text NOT NULL,
    embedding_config     jsonb NOT NULL,
    config_key           uuid NOT NULL,
    input_text           text NOT NULL,
    text_hash            text COLLATE "C" NOT NULL,
    attempts             int4 NOT NULL DEFAULT 0,
    max_attempts         int4 NOT NULL DEFAULT 3,
    crashes              int2 NOT NULL DEFAULT 0,
    created_at           timestamptz NOT NULL DEFAULT now(),
    started_at           timestamptz,
    retry_at             timestamptz,
    completed_at         timestamptz,
    embedding_vector     vector,
    embedding_dimensions int4,
    embedded_at          timestamptz,
    reused_from          uuid,
    error_message        text,
    processing_time_ms   int4,
    worker_id            uuid,
    worker_version       text,
    metadata             jsonb,
    notify_channel       text,
    created_by           regrole NOT NULL,
    CONSTRAINT valid_attempts CHECK (attempts >= 0 AND attempts <= max_attempts),
    CONSTRAINT completed_jobs_have_embedding
        CHECK (status <> 'completed' OR embedding_vector IS NOT NULL),
    CONSTRAINT processing_jobs_have_worker CHECK (status <> 'processing' OR worker_id IS NOT NULL),
    CONSTRAINT retrying_jobs_have_time CHECK ((status = 'retrying') = (retry_at IS NOT NULL))
);
COMMENT ON TABLE ai.embedding_jobs IS
    'texts that are embedded, or have been; a role sees its own, pg_monitor all';
COMMENT ON COLUMN ai.embedding_jobs.config_key IS
    'hash of embedding_config: jobs of one role and one configuration go together into requests';
COMMENT ON COLUMN ai.embedding_jobs.text_hash IS 'half of the SHA-256 of input_text in UTF-8';
COMMENT ON COLUMN ai.embedding_jobs.attempts IS
    'how often a worker began with it, without the times it was released through no fault of it';
COMMENT ON COLUMN ai.embedding_jobs.crashes IS
    'how many processes died while they had it: it may be what kills them';
COMMENT ON COLUMN ai.embedding_jobs.retry_at IS 'when a job that is retrying becomes pending again';
COMMENT ON COLUMN ai.embedding_jobs.completed_at IS 'when it was completed, given up or cancelled';
COMMENT ON COLUMN ai.embedding_jobs.embedded_at IS
    'when the model made the vector, which is earlier than the job if that was reused';
COMMENT ON COLUMN ai.embedding_jobs.reused_from IS 'job whose vector this one has';
COMMENT ON COLUMN ai.embedding_jobs.error_message IS
    'the last error; null once it is completed';
COMMENT ON COLUMN ai.embedding_jobs.worker_id IS
    'process in ai.vectorizer_worker_process that has it, or had it last';
COMMENT ON COLUMN ai.embedding_jobs.notify_channel IS
    'channel of NOTIFY that is told when the job has ended';
COMMENT ON COLUMN ai.embedding_jobs.created_by IS 'role whose rights and keys it is done with';

-- What waits, in the order it is claimed: jobs of one role and configuration by priority and age.
CREATE INDEX embedding_jobs_pending ON ai.embedding_jobs
    (created_by, config_key, priority DESC, created_at) WHERE status = 'pending';
CREATE INDEX embedding_jobs_retrying ON ai.embedding_jobs
    (created_by, config_key, crashes, retry_at) WHERE status = 'retrying';
-- What workers have, and the same text that one has; then the same text that is done, the newest first.
-- By a number, not by hash, configuration and role: every job goes through both, and keys of 80 bytes
-- in no order cost more than all else that is written of it.
CREATE INDEX embedding_jobs_processing ON ai.embedding_jobs
    (ai._job_key(text_hash, config_key, created_by)) WHERE status = 'processing';
CREATE INDEX embedding_jobs_completed ON ai.embedding_jobs
    (ai._job_key(text_hash, config_key, created_by), embedded_at DESC) WHERE status = 'completed';
-- What is removed in time.
CREATE INDEX embedding_jobs_ended ON ai.embedding_jobs
    (completed_at) WHERE status IN ('completed', 'cancelled');

CREATE TABLE ai.embedding_job_failures (
    job_id          uuid PRIMARY KEY,
    embedding_model text NOT NULL,
    text_hash       text NOT NULL,
    step            text NOT NULL,
    class           text NOT NULL,
    error_message   text NOT NULL,
    attempts        int4 NOT NULL,
    worker_id       uuid,
    created_by      regrole NOT NULL,
    failed_at       timestamptz NOT NULL DEFAULT now()
);
COMMENT ON TABLE ai.embedding_job_failures IS
    'jobs that were given up, with what went wrong; ai.retry_embedding_job brings one back, '
    'ai.cancel_embedding_job forgets it';

CREATE TABLE ai.embedding_job_usage (
    created_by     regrole NOT NULL,
    model          text NOT NULL,
    day            date NOT NULL,
    requests       bigint NOT NULL DEFAULT 0,
    input_tokens   bigint NOT NULL DEFAULT 0,
    jobs           bigint NOT NULL DEFAULT 0,
    sent_texts     bigint NOT NULL DEFAULT 0,
    reused_jobs    bigint NOT NULL DEFAULT 0,
    truncated_texts bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (created_by, model, day)
);
COMMENT ON TABLE ai.embedding_job_usage IS
    'what jobs have asked of their models, by role and day: requests, tokens as the provider counted '
    'them, jobs that workers completed, texts sent, jobs that they gave the vector of another one, '
    'texts cut to fit; what was completed when it was made is not counted';
GRANT SELECT ON ai.embedding_jobs, ai.embedding_job_failures, ai.embedding_job_usage TO PUBLIC;

-- Without those of dropped roles, whose numbers others may get where the dump is restored.
SELECT pg_catalog.pg_extension_config_dump('ai.embedding_jobs',
    'WHERE EXISTS (SELECT FROM pg_catalog.pg_roles r WHERE r.oid = created_by)');
SELECT pg_catalog.pg_extension_config_dump('ai.embedding_job_failures',
    'WHERE EXISTS (SELECT FROM pg_catalog.pg_roles r WHERE r.oid = created_by)');
SELECT pg_catalog.pg_extension_config_dump('ai.embedding_job_usage',
    'WHERE EXISTS (SELECT FROM pg_catalog.pg_roles r WHERE r.oid = created_by)');
