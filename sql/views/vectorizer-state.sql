-- See functions/vectorizer-state.sql.

-- security_barrier: a function in a query's condition must not see what the view hides.
CREATE OR REPLACE VIEW ai.vectorizer_status WITH (security_barrier) AS
    SELECT v.id, v.name, ai._qualified_name(v.source) AS source_table,
        ai._qualified_name(v.target) AS target_table, ai._qualified_name(v.view) AS view,
        v.config #>> '{destination,embedding_column}' AS embedding_column,
        f.pending + f.running + f.retrying AS pending_items, v.disabled, f.failed AS failed_items,
        f.pending, f.running, f.retrying, f.failed, f.oldest_pending_age, f.rows_per_minute,
        f.estimated_time_left, f.last_error, f.last_error_at, f.state, f.state_reason
    FROM ai.vectorizer v JOIN ai._all_vectorizer_figures() f ON f.id = v.id;
COMMENT ON VIEW ai.vectorizer_status IS
    'vectorizers of the tables that one may read: how many rows are to do, how fast it goes, and '
    'in which state each is. Above 10,000 numbers of rows are estimates; they are null while '
    'somebody has the vectorizer locked';
COMMENT ON COLUMN ai.vectorizer_status.pending_items IS
    'rows that are not up to date: pending, running and retrying';
COMMENT ON COLUMN ai.vectorizer_status.failed_items IS 'rows that were given up, as in failed';
COMMENT ON COLUMN ai.vectorizer_status.pending IS 'changed rows that no worker has';
COMMENT ON COLUMN ai.vectorizer_status.running IS 'rows that are with a worker';
COMMENT ON COLUMN ai.vectorizer_status.retrying IS 'rows that wait until they are tried again';
COMMENT ON COLUMN ai.vectorizer_status.oldest_pending_age IS
    'how long ago the oldest change was made that is not embedded yet, whatever its state';
COMMENT ON COLUMN ai.vectorizer_status.rows_per_minute IS 'rows embedded in the last minute';
COMMENT ON COLUMN ai.vectorizer_status.estimated_time_left IS
    'when all would be done at this rate; null if nothing is being done';
COMMENT ON COLUMN ai.vectorizer_status.last_error IS
    'the last error of a row, of the vectorizer, or of its provider while that is failing';
COMMENT ON COLUMN ai.vectorizer_status.state IS
    'idle, queued, active, waiting, retrying, paused, disabled, no workers or locked';
GRANT SELECT ON ai.vectorizer_status TO PUBLIC;
