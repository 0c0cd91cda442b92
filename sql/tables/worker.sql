-- The health of workers: a row for each component, written by the component itself and by the
-- coordinator that looks after it.
--
--              .-------------------- restarted --------------------.
--              v                                                   |
--   (no row) -> starting -> healthy -> stopping -> (no row)        |
--                  |           |          |                        |
--                  '-----------+----------+----------> crashed ----+
--                                                        ^         |
--                                     ai.restart_worker  '- failed <' too often
--
-- A worker that ends in order takes its row with it, so there are as many rows as there are workers
-- wanted, and the coordinator's. The rows of components that are not wanted any more are removed.
-- This is what is so now, not what somebody decided: it is in no dump.

-- Rows are rewritten every few seconds: half of each page is left for that.
CREATE TABLE ai.worker (
    component     text PRIMARY KEY
                  CHECK (component ~ '^(coordinator|worker:[a-z][a-z0-9_]*:[0-9]{1,9})$'),
    last_seen     timestamptz NOT NULL DEFAULT clock_timestamp(),
    status        text NOT NULL
                  CHECK (status IN ('starting', 'healthy', 'stopping', 'crashed', 'failed')),
    pid           int4,
    current_job   text,
    details       jsonb NOT NULL DEFAULT '{}' CHECK (jsonb_typeof(details) = 'object'),
    restart_count int4 NOT NULL DEFAULT 0 CHECK (restart_count >= 0),
    last_restart  timestamptz,
    created_at    timestamptz NOT NULL DEFAULT clock_timestamp()
) WITH (fillfactor = 50);
COMMENT ON TABLE ai.worker IS 'workers of this database and their coordinator, with their health';
COMMENT ON COLUMN ai.worker.component IS
    'coordinator, or worker:<kind>:<number>; those of the kind vectorizer are run by this server';
COMMENT ON COLUMN ai.worker.last_seen IS 'last heartbeat';
COMMENT ON COLUMN ai.worker.status IS 'starting, healthy, stopping, crashed or failed';
COMMENT ON COLUMN ai.worker.pid IS 'its process, as long as there is one';
COMMENT ON COLUMN ai.worker.current_job IS
    'what it had most of at its last heartbeat, such as vectorizer/7, or embedding jobs; null if it was '
    'idle';
COMMENT ON COLUMN ai.worker.details IS
    'queue_type, paused, process (its id in ai.vectorizer_worker_process), rows and requests in '
    'hand, error_message (why it crashed last), crashes (when, as seconds since 1970)';
COMMENT ON COLUMN ai.worker.restart_count IS 'restarts after crashes, since a person restarted it';
