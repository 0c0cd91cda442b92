-- See tables/pause.sql.

-- A pause tells nothing but that work stands still, which everybody sees anyway; the name of a
-- vectorizer only who may see that one.
CREATE OR REPLACE VIEW ai.pauses WITH (security_barrier) AS
    SELECT CASE p.component WHEN '*' THEN 'all workers' ELSE 'worker' END AS kind,
        nullif(p.component, '*') AS name, p.paused_at, p.paused_until, p.paused_by,
        NULL::text AS reason
    FROM ai._worker_pause p WHERE coalesce(p.paused_until, 'infinity') > clock_timestamp()
    UNION ALL
    SELECT 'vectorizer', v.name, p.paused_at, p.paused_until, p.paused_by, p.reason
    FROM ai._vectorizer_pause p JOIN ai.vectorizer v ON v.id = p.vectorizer_id
    WHERE coalesce(p.paused_until, 'infinity') > clock_timestamp()
      AND ai._vectorizer_visible(current_user, v.source, v.target);
COMMENT ON VIEW ai.pauses IS
    'what is paused now: all workers, single ones, vectorizers; until when, by whom, and why if it '
    'was no person';
GRANT SELECT ON ai.pauses TO PUBLIC;
