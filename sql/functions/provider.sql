-- See tables/provider.sql.

CREATE OR REPLACE FUNCTION ai._provider_changed() RETURNS trigger
    LANGUAGE c
    AS 'MODULE_PATHNAME', 'ai_provider_changed';
COMMENT ON FUNCTION ai._provider_changed() IS
    'trigger: lets the commit of this transaction tell the workers that there are other decisions';
REVOKE ALL ON FUNCTION ai._provider_changed() FROM PUBLIC;

-- What a worker has to tell. Nobody waits here: a row that somebody is changing is told later.
CREATE OR REPLACE FUNCTION ai._provider_note(endpoint text, api_key_name text, fingerprint text, breaker text,
        failure_streak int4, opened_at timestamptz, next_probe timestamptz, cooldown_until timestamptz,
        last_success_at timestamptz, last_failure_at timestamptz, last_error text) RETURNS boolean
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
#variable_conflict use_variable
BEGIN
    UPDATE ai.provider p
    SET fingerprint = fingerprint, breaker = breaker, failure_streak = failure_streak,
        opened_at = opened_at, next_probe = next_probe, cooldown_until = cooldown_until,
        last_success_at = coalesce(last_success_at, p.last_success_at),
        last_failure_at = coalesce(last_failure_at, p.last_failure_at),
        last_error = coalesce(last_error, p.last_error)
    WHERE p.ctid = ANY (ARRAY(
        SELECT x.ctid FROM ai.provider x
        WHERE x.endpoint = endpoint AND x.api_key_name = api_key_name
        FOR NO KEY UPDATE SKIP LOCKED));
    IF FOUND THEN
        RETURN true;
    END IF;
    IF EXISTS (SELECT FROM ai.provider x
               WHERE x.endpoint = endpoint AND x.api_key_name = api_key_name) THEN
        RETURN false;
    END IF;
    INSERT INTO ai.provider AS p (endpoint, api_key_name, fingerprint, breaker, failure_streak,
        opened_at, next_probe, cooldown_until, last_success_at, last_failure_at, last_error)
    VALUES (endpoint, api_key_name, fingerprint, breaker, failure_streak, opened_at, next_probe,
        cooldown_until, last_success_at, last_failure_at, last_error)
    ON CONFLICT DO NOTHING;
    RETURN FOUND;
END
$$;
COMMENT ON FUNCTION ai._provider_note(text, text, text, text, int4, timestamptz, timestamptz,
        timestamptz, timestamptz, timestamptz, text) IS
    'writes what a worker knows of an endpoint; false if somebody else is changing the row';
REVOKE ALL ON FUNCTION ai._provider_note(text, text, text, text, int4, timestamptz, timestamptz,
    timestamptz, timestamptz, timestamptz, text) FROM PUBLIC;
