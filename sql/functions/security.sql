-- Steps from one role's rights to another's.
--
-- A SECURITY DEFINER function cannot know who called it: inside another such function, an index
-- expression or a trigger that is not the session's role, and an argument can be forged. So the
-- entries of the API are one C function under many names, ai_call_as_owner: ai.f(arguments) notes
-- who calls, becomes the owner of ai.f, and calls ai._f(caller, arguments), which nobody else may.
--
-- Nor may statements that read a user's table run with the rights of the extension's owner: already
-- planning them runs functions that this user chose, in the predicate of an index for example.

CREATE OR REPLACE FUNCTION ai._run_as(role oid, statement text) RETURNS bigint
    LANGUAGE c VOLATILE STRICT
    AS 'MODULE_PATHNAME', 'ai_run_as';
COMMENT ON FUNCTION ai._run_as(oid, text) IS
    'runs a statement with the rights of a role, as a security-restricted operation, on all that '
    'is committed by now; returns the number of rows';
REVOKE ALL ON FUNCTION ai._run_as(oid, text) FROM PUBLIC;

CREATE OR REPLACE FUNCTION ai._is_owner(role oid, relation regclass) RETURNS boolean
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT coalesce((SELECT pg_has_role(role, c.relowner, 'USAGE')
                     FROM pg_class c WHERE c.oid = relation), false)
    $$;
COMMENT ON FUNCTION ai._is_owner(oid, regclass) IS
    'whether a role is the owner of a relation, a member of the owner, or a superuser';

-- What a priority is worth is bounded, whoever has it; but it is at the cost of others, so a high one is
-- a superuser's to give. The setting is the session's, and nobody else can have raised it.
CREATE OR REPLACE FUNCTION ai._check_priority(caller oid, priority int4, word text DEFAULT NULL) RETURNS void
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    most int4 := current_setting('ai.max_priority');
    role text := pg_get_userbyid(caller);
BEGIN
    IF coalesce(priority, 0) <= most
       OR EXISTS (SELECT FROM pg_roles r WHERE r.oid = caller AND r.rolsuper)
       OR EXISTS (SELECT FROM pg_extension e WHERE e.extname = 'ai' AND e.extowner = caller) THEN
        RETURN;
    END IF;
    RAISE EXCEPTION 'permission denied to use priority %', priority
        USING ERRCODE = 'insufficient_privilege',
              DETAIL = CASE WHEN word IS NULL THEN ''
                            ELSE format('Priority "%s" is %s. ', word, priority) END
                  || format('Role "%s" may use priorities up to %s.', role, most),
              HINT = format('Use a lower one, or have a superuser run ALTER ROLE %1$I SET '
                            'ai.max_priority = %2$s, or GRANT SET ON PARAMETER ai.max_priority TO %1$I.',
                            role, priority);
END
$$;
COMMENT ON FUNCTION ai._check_priority(oid, int4, text) IS
    'raises an error unless a role may use a priority: see the setting ai.max_priority';
REVOKE ALL ON FUNCTION ai._check_priority(oid, int4, text) FROM PUBLIC;

-- Statements that run with the rights of the extension's owner name tables and operators with their
-- schemas. The owner of a schema can give it another name, and make one with things of his own in its
-- place; so such statements keep to schemas of superusers.
CREATE OR REPLACE FUNCTION ai._untrusted_owner(schema_name name) RETURNS name
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT r.rolname FROM pg_namespace n JOIN pg_roles r ON r.oid = n.nspowner
    WHERE n.nspname = schema_name AND NOT r.rolsuper
      AND NOT EXISTS (SELECT FROM pg_extension e WHERE e.extname = 'ai' AND e.extowner = r.oid)
      AND NOT (r.rolname = 'pg_database_owner' AND EXISTS (
          SELECT FROM pg_database d JOIN pg_roles o ON o.oid = d.datdba
          WHERE d.datname = current_database() AND o.rolsuper))
    $$;
COMMENT ON FUNCTION ai._untrusted_owner(name) IS
    'owner of a schema; null if that is a superuser or the owner of the extension';
