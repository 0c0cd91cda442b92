-- See tables/secret.sql.

CREATE OR REPLACE FUNCTION ai._secret_setting(secret_name text) RETURNS text
    LANGUAGE c STABLE STRICT
    AS 'MODULE_PATHNAME', 'ai_secret_setting';
COMMENT ON FUNCTION ai._secret_setting(text) IS
    'value of the setting for a secret, for example ai.openai_api_key; null if there is none';
REVOKE ALL ON FUNCTION ai._secret_setting(text) FROM PUBLIC;

CREATE OR REPLACE FUNCTION ai._secret_environment(secret_name text) RETURNS text
    LANGUAGE c STABLE STRICT
    AS 'MODULE_PATHNAME', 'ai_secret_environment';
COMMENT ON FUNCTION ai._secret_environment(text) IS
    'value of a variable in the environment of the server; null if there is none';
REVOKE ALL ON FUNCTION ai._secret_environment(text) FROM PUBLIC;

CREATE OR REPLACE FUNCTION ai._may_use_secret(role oid, secret_name text) RETURNS boolean
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT EXISTS (SELECT FROM pg_roles r WHERE r.oid = role AND r.rolsuper)
        OR EXISTS (SELECT FROM ai._secret_permission p JOIN pg_roles r ON r.oid = p.role
                   WHERE p.name IN (secret_name, '*')
                     AND pg_has_role(_may_use_secret.role, r.oid, 'USAGE'))
    $$;
COMMENT ON FUNCTION ai._may_use_secret(oid, text) IS 'whether a role may use a secret';

-- The first of: the store, the setting, the environment.
CREATE OR REPLACE FUNCTION ai._resolve_secret(role oid, secret_name text, OUT value text, OUT hosts text[])
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    IF NOT ai._may_use_secret(role, secret_name) THEN
        RAISE EXCEPTION 'role "%" is not permitted to use secret "%"', pg_get_userbyid(role),
            secret_name
            USING ERRCODE = 'insufficient_privilege',
                  HINT = format('A superuser can permit it: SELECT ai.grant_secret(%L, %L);',
                                secret_name, pg_get_userbyid(role));
    END IF;
    SELECT s.value, s.hosts INTO value, hosts FROM ai._secret s WHERE s.name = secret_name;
    IF NOT FOUND THEN
        value := coalesce(nullif(ai._secret_setting(secret_name), ''),
                          nullif(ai._secret_environment(secret_name), ''));
    END IF;
END
$$;
COMMENT ON FUNCTION ai._resolve_secret(oid, text) IS
    'a secret as a role may use it, and the hosts it was given for; null if there is none';
REVOKE ALL ON FUNCTION ai._resolve_secret(oid, text) FROM PUBLIC;

CREATE OR REPLACE FUNCTION ai._reveal_secret(caller oid, secret_name text, use_cache boolean) RETURNS text
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$SELECT value FROM ai._resolve_secret(caller, secret_name)$$;
COMMENT ON FUNCTION ai._reveal_secret(oid, text, boolean) IS
    'what ai.reveal_secret does, for the role that called it';

CREATE OR REPLACE FUNCTION ai.reveal_secret(secret_name text, use_cache boolean DEFAULT true) RETURNS text
    LANGUAGE c STABLE
    AS 'MODULE_PATHNAME', 'ai_call_as_owner';
COMMENT ON FUNCTION ai.reveal_secret(text, boolean) IS
    'value of a secret: from the store, the setting ai.<name> or the server''s environment, in '
    'that order; null if it is nowhere. use_cache has no effect, there is no cache';

CREATE OR REPLACE FUNCTION ai._require_secret_admin(caller oid) RETURNS void
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM pg_extension e
                   WHERE e.extname = 'ai' AND pg_has_role(caller, e.extowner, 'USAGE')) THEN
        RAISE EXCEPTION 'permission denied to manage secrets'
            USING ERRCODE = 'insufficient_privilege',
                  HINT = 'A superuser or the owner of the extension "ai" may do so.';
    END IF;
END
$$;
COMMENT ON FUNCTION ai._require_secret_admin(oid) IS
    'raises an error unless a role may set, drop and grant secrets';

CREATE OR REPLACE FUNCTION ai._require_secret_name(secret_name text) RETURNS void
    LANGUAGE plpgsql IMMUTABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    IF coalesce(secret_name, '') !~ '^[A-Za-z0-9_.-]{1,128}$' THEN
        RAISE EXCEPTION 'invalid name of a secret'
            USING ERRCODE = 'invalid_parameter_value',
                  HINT = 'A name is made of 1 to 128 letters, digits, "_", "." and "-".';
    END IF;
END
$$;
COMMENT ON FUNCTION ai._require_secret_name(text) IS
    'raises an error, without telling it, if something cannot be the name of a secret';

-- No error below tells the value: it may be a mistake of one character.
CREATE OR REPLACE FUNCTION ai._set_secret(caller oid, name text, value text, hosts text[], in_dump boolean)
    RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    PERFORM ai._require_secret_admin(caller);
    PERFORM ai._require_secret_name(name);
    IF coalesce(value, '') = '' OR value ~ '[[:cntrl:]]' OR value <> btrim(value) THEN
        RAISE EXCEPTION 'invalid value of secret "%"', name
            USING ERRCODE = 'invalid_parameter_value',
                  DETAIL = 'It is empty, or has control characters or spaces around it.',
                  HINT = 'To remove a secret, call ai.drop_secret.';
    END IF;
    PERFORM ai._check_hosts(hosts);
    INSERT INTO ai._secret AS s (name, value, hosts, in_dump)
    VALUES (_set_secret.name, _set_secret.value, _set_secret.hosts, coalesce(_set_secret.in_dump, false))
    ON CONFLICT ON CONSTRAINT _secret_pkey DO UPDATE
    SET value = excluded.value, hosts = excluded.hosts, in_dump = excluded.in_dump, updated = now();
END
$$;
COMMENT ON FUNCTION ai._set_secret(oid, text, text, text[], boolean) IS
    'what ai.set_secret does, for the role that called it';

CREATE OR REPLACE FUNCTION ai._check_hosts(hosts text[]) RETURNS void
    LANGUAGE c STABLE
    AS 'MODULE_PATHNAME', 'ai_check_hosts';
COMMENT ON FUNCTION ai._check_hosts(text[]) IS
    'raises an error if one of the hosts cannot be a host; null is none';

CREATE OR REPLACE FUNCTION ai.set_secret(name text, value text, hosts text[] DEFAULT NULL,
                              in_dump boolean DEFAULT false) RETURNS void
    LANGUAGE c VOLATILE
    AS 'MODULE_PATHNAME', 'ai_set_secret';
COMMENT ON FUNCTION ai.set_secret(text, text, text[], boolean) IS
    'keeps a secret; it is sent to these hosts only, or to the provider''s own if none are given. '
    'pg_dump leaves it out unless in_dump is true';

CREATE OR REPLACE FUNCTION ai._drop_secret(caller oid, name text) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    PERFORM ai._require_secret_admin(caller);
    DELETE FROM ai._secret s WHERE s.name = _drop_secret.name;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'secret "%" is not in the store', name
            USING ERRCODE = 'undefined_object',
                  HINT = 'Secrets in settings and in the environment are removed there.';
    END IF;
END
$$;
COMMENT ON FUNCTION ai._drop_secret(oid, text) IS
    'what ai.drop_secret does, for the role that called it';

CREATE OR REPLACE FUNCTION ai.drop_secret(name text) RETURNS void
    LANGUAGE c VOLATILE
    AS 'MODULE_PATHNAME', 'ai_call_as_owner';
COMMENT ON FUNCTION ai.drop_secret(text) IS
    'forgets a secret that was set with ai.set_secret; permissions to use that name stay';

CREATE OR REPLACE FUNCTION ai._grant_secret(caller oid, secret_name text, grant_to_role text) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    PERFORM ai._require_secret_admin(caller);
    IF secret_name IS DISTINCT FROM '*' THEN
        PERFORM ai._require_secret_name(secret_name);
    END IF;
    INSERT INTO ai._secret_permission VALUES (secret_name, quote_ident(grant_to_role)::regrole)
    ON CONFLICT DO NOTHING;
END
$$;
COMMENT ON FUNCTION ai._grant_secret(oid, text, text) IS
    'what ai.grant_secret does, for the role that called it';

CREATE OR REPLACE FUNCTION ai.grant_secret(secret_name text, grant_to_role text) RETURNS void
    LANGUAGE c VOLATILE
    AS 'MODULE_PATHNAME', 'ai_call_as_owner';
COMMENT ON FUNCTION ai.grant_secret(text, text) IS
    'lets a role use a secret, in functions and vectorizers, and see it; * stands for all secrets';

CREATE OR REPLACE FUNCTION ai._revoke_secret(caller oid, secret_name text, revoke_from_role text)
    RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    PERFORM ai._require_secret_admin(caller);
    DELETE FROM ai._secret_permission p
    WHERE p.name = secret_name AND p.role = quote_ident(revoke_from_role)::regrole;
END
$$;
COMMENT ON FUNCTION ai._revoke_secret(oid, text, text) IS
    'what ai.revoke_secret does, for the role that called it';

CREATE OR REPLACE FUNCTION ai.revoke_secret(secret_name text, revoke_from_role text) RETURNS void
    LANGUAGE c VOLATILE
    AS 'MODULE_PATHNAME', 'ai_call_as_owner';
COMMENT ON FUNCTION ai.revoke_secret(text, text) IS 'takes back what ai.grant_secret gave';

REVOKE ALL ON FUNCTION ai._reveal_secret(oid, text, boolean),
    ai._set_secret(oid, text, text, text[], boolean), ai._drop_secret(oid, text),
    ai._grant_secret(oid, text, text), ai._revoke_secret(oid, text, text),
    ai._may_use_secret(oid, text)
FROM PUBLIC;
