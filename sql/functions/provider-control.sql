-- What can be decided about providers: limits, pauses, whether they are asked at all.

CREATE OR REPLACE FUNCTION ai._embedding_endpoint(config jsonb) RETURNS text
    LANGUAGE c STABLE STRICT
    AS 'MODULE_PATHNAME', 'ai_embedding_endpoint';
COMMENT ON FUNCTION ai._embedding_endpoint(jsonb) IS
    'where the requests of an embedding configuration go; null for the embedded model';

CREATE OR REPLACE FUNCTION ai._provider_endpoint(provider text) RETURNS text
    LANGUAGE c STABLE STRICT
    AS 'MODULE_PATHNAME', 'ai_provider_endpoint';
COMMENT ON FUNCTION ai._provider_endpoint(text) IS
    'endpoint that is meant: the name of a provider stands for its usual one';

CREATE OR REPLACE FUNCTION ai._provider_key_name(provider text) RETURNS text
    LANGUAGE c IMMUTABLE STRICT
    AS 'MODULE_PATHNAME', 'ai_provider_key_name';
COMMENT ON FUNCTION ai._provider_key_name(text) IS
    'name of the key that a provider''s configurations have by default; null if there is none';

CREATE OR REPLACE FUNCTION ai._require_provider_admin(caller oid) RETURNS void
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM pg_extension e
                   WHERE e.extname = 'ai' AND pg_has_role(caller, e.extowner, 'USAGE')) THEN
        RAISE EXCEPTION 'permission denied to govern providers'
            USING ERRCODE = 'insufficient_privilege',
                  HINT = 'A superuser or the owner of the extension "ai" may do so.';
    END IF;
END
$$;
COMMENT ON FUNCTION ai._require_provider_admin(oid) IS
    'raises an error unless a role may decide about providers';

-- The rows that somebody means. One that no worker has written yet is made, if it is clear that it
-- will be used: by a vectorizer's configuration, or because a name cannot be a slip of the pen.
CREATE OR REPLACE FUNCTION ai._provider_rows(provider text, key_name text) RETURNS ai.provider[]
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    wanted text := ai._provider_endpoint(provider);
    meant ai.provider[];
BEGIN
    IF wanted IS NULL THEN
        RAISE EXCEPTION 'provider must not be null' USING ERRCODE = 'null_value_not_allowed';
    END IF;
    INSERT INTO ai.provider (endpoint, api_key_name)
    SELECT DISTINCT e.endpoint, coalesce(v.config #>> '{embedding,api_key_name}', '')
    FROM ai.vectorizer v, ai._embedding_endpoint(v.config -> 'embedding') AS e (endpoint)
    WHERE e.endpoint = wanted
    ON CONFLICT DO NOTHING;
    IF position('://' IN provider) = 0 AND NOT EXISTS (
        SELECT FROM ai.provider p WHERE p.endpoint = wanted) THEN
        INSERT INTO ai.provider (endpoint, api_key_name)
        VALUES (wanted, coalesce(ai._provider_key_name(provider), '')) ON CONFLICT DO NOTHING;
    END IF;
    meant := ARRAY(SELECT p FROM ai.provider p
        WHERE p.endpoint = wanted AND p.api_key_name = coalesce(key_name, p.api_key_name));
    IF cardinality(meant) = 0 THEN
        RAISE EXCEPTION '%', CASE WHEN key_name IS NULL THEN format('no vectorizer uses %s', wanted)
            ELSE format('key "%s" is not used with %s', key_name, wanted) END
            USING ERRCODE = 'undefined_object',
                  HINT = 'ai.provider_status lists endpoints and the names of their keys.';
    END IF;
    RETURN meant;
END
$$;
COMMENT ON FUNCTION ai._provider_rows(text, text) IS
    'rows of ai.provider that are meant by an endpoint or the name of a provider; null is any key';

CREATE OR REPLACE FUNCTION ai._check_provider_limit(name text, value bigint, most bigint) RETURNS void
    LANGUAGE plpgsql IMMUTABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    IF value NOT BETWEEN 1 AND most THEN
        RAISE EXCEPTION '% must be between 1 and %', name, most
            USING ERRCODE = 'invalid_parameter_value',
                  HINT = 'NULL is no limit; ai.pause_provider stops all requests.';
    END IF;
END
$$;
COMMENT ON FUNCTION ai._check_provider_limit(text, bigint, bigint) IS
    'raises an error if something cannot be a limit';

CREATE OR REPLACE FUNCTION ai._set_provider_limits(caller oid, provider text, requests_per_minute bigint,
        tokens_per_minute bigint, api_key_name text) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
#variable_conflict use_variable
DECLARE
    meant ai.provider[];
BEGIN
    PERFORM ai._require_provider_admin(caller);
    PERFORM ai._check_provider_limit('requests_per_minute', requests_per_minute, 1000000000);
    PERFORM ai._check_provider_limit('tokens_per_minute', tokens_per_minute, 1000000000000);
    meant := ai._provider_rows(provider, api_key_name);
    IF cardinality(meant) > 1 THEN
        RAISE EXCEPTION 'several keys are used with %', meant[1].endpoint
            USING ERRCODE = 'ambiguous_parameter',
                  DETAIL = format('They are: %s.', (
                      SELECT string_agg(quote_literal(m.api_key_name), ', ' ORDER BY m.api_key_name)
                      FROM unnest(meant) m)),
                  HINT = 'Each has limits of its own: name one in api_key_name.';
    END IF;
    UPDATE ai.provider p
    SET requests_per_minute = requests_per_minute, tokens_per_minute = tokens_per_minute
    WHERE p.endpoint = meant[1].endpoint AND p.api_key_name = meant[1].api_key_name;
END
$$;
COMMENT ON FUNCTION ai._set_provider_limits(oid, text, bigint, bigint, text) IS
    'what ai.set_provider_limits does, for the role that called it';

CREATE OR REPLACE FUNCTION ai.set_provider_limits(provider text, requests_per_minute bigint DEFAULT NULL,
        tokens_per_minute bigint DEFAULT NULL, api_key_name text DEFAULT NULL) RETURNS void
    LANGUAGE c VOLATILE
    AS 'MODULE_PATHNAME', 'ai_call_as_owner';
COMMENT ON FUNCTION ai.set_provider_limits(text, bigint, bigint, text) IS
    'how much all workers together may ask of a provider in a minute; null is no limit. It is given '
    'by its name or the base URL, and by the name of the key if several are used';

CREATE OR REPLACE FUNCTION ai._pause_provider(caller oid, provider text, until timestamptz, api_key_name text)
    RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
#variable_conflict use_variable
DECLARE
    meant ai.provider[];
BEGIN
    PERFORM ai._require_provider_admin(caller);
    IF until IS NULL OR until <= clock_timestamp() THEN
        RAISE EXCEPTION 'the time until which a provider is paused must be in the future'
            USING ERRCODE = 'invalid_parameter_value',
                  HINT = 'Without a time it is paused until ai.resume_provider is called.';
    END IF;
    meant := ai._provider_rows(provider, api_key_name);
    UPDATE ai.provider p SET paused_until = until FROM unnest(meant) r
    WHERE p.endpoint = r.endpoint AND p.api_key_name = r.api_key_name;
END
$$;
COMMENT ON FUNCTION ai._pause_provider(oid, text, timestamptz, text) IS
    'what ai.pause_provider does, for the role that called it';

CREATE OR REPLACE FUNCTION ai.pause_provider(provider text, until timestamptz DEFAULT 'infinity',
        api_key_name text DEFAULT NULL) RETURNS void
    LANGUAGE c VOLATILE
    AS 'MODULE_PATHNAME', 'ai_call_as_owner';
COMMENT ON FUNCTION ai.pause_provider(text, timestamptz, text) IS
    'lets vectorizers of this database ask a provider no more, until a time or until it is resumed; '
    'requests that are under way are finished';

-- The table is told at once, so that nobody restores what is over.
CREATE OR REPLACE FUNCTION ai._resume_provider(caller oid, provider text, api_key_name text) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
#variable_conflict use_variable
DECLARE
    meant ai.provider[];
BEGIN
    PERFORM ai._require_provider_admin(caller);
    meant := ai._provider_rows(provider, api_key_name);
    UPDATE ai.provider p
    SET paused_until = NULL, resumed_at = clock_timestamp(), breaker = 'closed',
        failure_streak = 0, opened_at = NULL, next_probe = NULL, cooldown_until = NULL
    FROM unnest(meant) r
    WHERE p.endpoint = r.endpoint AND p.api_key_name = r.api_key_name;
END
$$;
COMMENT ON FUNCTION ai._resume_provider(oid, text, text) IS
    'what ai.resume_provider does, for the role that called it';

CREATE OR REPLACE FUNCTION ai.resume_provider(provider text, api_key_name text DEFAULT NULL) RETURNS void
    LANGUAGE c VOLATILE
    AS 'MODULE_PATHNAME', 'ai_call_as_owner';
COMMENT ON FUNCTION ai.resume_provider(text, text) IS
    'lets a provider be asked again at once, be it paused, left alone after failures, or resting';

CREATE OR REPLACE FUNCTION ai._provider_set_enabled(caller oid, provider text, key_name text, enable boolean)
    RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    meant ai.provider[];
BEGIN
    PERFORM ai._require_provider_admin(caller);
    meant := ai._provider_rows(provider, key_name);
    UPDATE ai.provider p SET enabled = enable FROM unnest(meant) r
    WHERE p.endpoint = r.endpoint AND p.api_key_name = r.api_key_name;
END
$$;
COMMENT ON FUNCTION ai._provider_set_enabled(oid, text, text, boolean) IS
    'turns a provider off or on, for the role that called';

CREATE OR REPLACE FUNCTION ai._enable_provider(caller oid, provider text, api_key_name text) RETURNS void
    LANGUAGE sql
    SET search_path = pg_catalog, pg_temp
    AS $$SELECT ai._provider_set_enabled(caller, provider, api_key_name, true)$$;
CREATE OR REPLACE FUNCTION ai._disable_provider(caller oid, provider text, api_key_name text) RETURNS void
    LANGUAGE sql
    SET search_path = pg_catalog, pg_temp
    AS $$SELECT ai._provider_set_enabled(caller, provider, api_key_name, false)$$;
COMMENT ON FUNCTION ai._enable_provider(oid, text, text) IS
    'what ai.enable_provider does, for the role that called it';
COMMENT ON FUNCTION ai._disable_provider(oid, text, text) IS
    'what ai.disable_provider does, for the role that called it';

CREATE OR REPLACE FUNCTION ai.enable_provider(provider text, api_key_name text DEFAULT NULL) RETURNS void
    LANGUAGE c VOLATILE
    AS 'MODULE_PATHNAME', 'ai_call_as_owner';
CREATE OR REPLACE FUNCTION ai.disable_provider(provider text, api_key_name text DEFAULT NULL) RETURNS void
    LANGUAGE c VOLATILE
    AS 'MODULE_PATHNAME', 'ai_call_as_owner';
COMMENT ON FUNCTION ai.enable_provider(text, text) IS 'takes back what ai.disable_provider did';
COMMENT ON FUNCTION ai.disable_provider(text, text) IS
    'lets vectorizers of this database ask a provider no more; their changes stay queued';

REVOKE ALL ON FUNCTION ai._embedding_endpoint(jsonb), ai._provider_endpoint(text),
    ai._provider_rows(text, text), ai._set_provider_limits(oid, text, bigint, bigint, text),
    ai._pause_provider(oid, text, timestamptz, text), ai._resume_provider(oid, text, text),
    ai._provider_set_enabled(oid, text, text, boolean), ai._enable_provider(oid, text, text),
    ai._disable_provider(oid, text, text)
FROM PUBLIC;
