-- Pauses. Who is paused finishes the rows it has taken and takes no more, until somebody resumes it or
-- the pause is over. Workers look here before each claim, so this outlives them and the server.
--
-- A pause is not ai.disable_vectorizer_schedule: that one lets go of rows that are under way, and has
-- no end of its own.

CREATE TABLE ai._worker_pause (
    component    text PRIMARY KEY,
    paused_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
    paused_until timestamptz,
    paused_by    name NOT NULL
);
COMMENT ON TABLE ai._worker_pause IS
    'workers that are paused; the component * stands for all of them. Without paused_until there is '
    'no end; a row whose time has passed means nothing';

CREATE TABLE ai._vectorizer_pause (
    vectorizer_id int4 PRIMARY KEY REFERENCES ai.vectorizer ON DELETE CASCADE,
    paused_at     timestamptz NOT NULL DEFAULT clock_timestamp(),
    paused_until  timestamptz,
    paused_by     name,
    reason        text
);
COMMENT ON TABLE ai._vectorizer_pause IS
    'vectorizers that are paused, as ai._worker_pause; those that ended too many workers are paused '
    'by the coordinator, and have a reason instead of paused_by';

-- A restored database stays paused: nobody wants the provider's bill of a copy he did not start.
SELECT pg_catalog.pg_extension_config_dump('ai._worker_pause', '');
SELECT pg_catalog.pg_extension_config_dump('ai._vectorizer_pause', '');
