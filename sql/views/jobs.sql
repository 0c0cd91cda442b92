-- See functions/jobs.sql.

CREATE OR REPLACE VIEW ai.job_counts WITH (security_barrier) AS
    SELECT v.id, v.name, c.pending, c.running, c.retryable, c.failed
    FROM ai.vectorizer v CROSS JOIN LATERAL ai.job_counts(v.id) c
    WHERE ai._vectorizer_visible(current_user, v.source, v.target);
COMMENT ON VIEW ai.job_counts IS
    'how many jobs are in each state, for the vectorizers of the tables that one may read';
GRANT SELECT ON ai.job_counts TO PUBLIC;
