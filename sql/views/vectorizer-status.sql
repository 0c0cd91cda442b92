-- See functions/vectorizer-status.sql.

-- security_barrier: a function in a query's condition must not see what the view hides.
CREATE OR REPLACE VIEW ai.vectorizer_errors WITH (security_barrier) AS
    SELECT e.id, v.name, e.message, e.details, e.recorded
    FROM ai._vectorizer_errors e JOIN ai.vectorizer v ON v.id = e.id
    WHERE ai._vectorizer_visible(current_user, v.source, v.target);
COMMENT ON VIEW ai.vectorizer_errors IS
    'errors of the vectorizers of the tables that one may read';
GRANT SELECT ON ai.vectorizer_errors TO PUBLIC;
