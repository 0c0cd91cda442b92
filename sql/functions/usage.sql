-- See tables/usage.sql.

CREATE OR REPLACE FUNCTION ai._worker_usage(vectorizer_id int4, model text, requests bigint,
        input_tokens bigint, rows bigint, sent_chunks bigint, reused_chunks bigint,
        truncated_chunks bigint) RETURNS void
    LANGUAGE sql
    SET search_path = pg_catalog, pg_temp
    AS $$
    INSERT INTO ai.usage AS u VALUES (vectorizer_id, model, current_date, requests, input_tokens,
        rows, sent_chunks, reused_chunks, truncated_chunks)
    ON CONFLICT ON CONSTRAINT usage_pkey DO UPDATE SET
        requests = u.requests + excluded.requests,
        input_tokens = u.input_tokens + excluded.input_tokens,
        rows = u.rows + excluded.rows,
        sent_chunks = u.sent_chunks + excluded.sent_chunks,
        reused_chunks = u.reused_chunks + excluded.reused_chunks,
        truncated_chunks = u.truncated_chunks + excluded.truncated_chunks
    $$;
COMMENT ON FUNCTION ai._worker_usage(int4, text, bigint, bigint, bigint, bigint, bigint, bigint) IS
    'adds to the usage of a vectorizer''s model';

-- The statements themselves are in src/worker/statements.
CREATE OR REPLACE FUNCTION ai._worker_statements(vectorizer_id int4) RETURNS text[]
    LANGUAGE c STRICT
    AS 'MODULE_PATHNAME', 'ai_worker_statements';
COMMENT ON FUNCTION ai._worker_statements(int4) IS
    'all statements that workers run for a vectorizer, for those who look at their plans or check them';

REVOKE ALL ON FUNCTION ai._worker_usage(int4, text, bigint, bigint, bigint, bigint, bigint, bigint),
    ai._worker_statements(int4) FROM PUBLIC;
