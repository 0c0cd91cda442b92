-- See functions/provider-status.sql.

-- security_barrier: a function in a query's condition must not see what the view hides.
CREATE OR REPLACE VIEW ai.provider_status WITH (security_barrier) AS
    SELECT p.endpoint, nullif(p.api_key_name, '') AS api_key_name, s.state, s.reason, p.enabled,
        p.failure_streak, p.last_success_at, p.last_failure_at, s.paused_until,
        CASE WHEN p.breaker <> 'closed' AND p.next_probe > now() THEN p.next_probe END AS next_probe,
        p.last_error, p.requests_per_minute, p.tokens_per_minute, p.fingerprint
    FROM ai.provider p, ai._provider_state(p) s
    WHERE ai._provider_visible(p.endpoint, p.api_key_name);
COMMENT ON VIEW ai.provider_status IS
    'how providers fare: all for pg_monitor, else those of the vectorizers that one may see, and of '
    'one''s embedding jobs that wait';
COMMENT ON COLUMN ai.provider_status.paused_until IS 'until when it is not asked, for any reason';
COMMENT ON COLUMN ai.provider_status.next_probe IS
    'when one request is tried; null unless its circuit breaker is open';
GRANT SELECT ON ai.provider_status TO PUBLIC;
