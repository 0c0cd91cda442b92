-- Rights on the API as a whole. Everybody has them, unless somebody took them from PUBLIC.

-- Functions that were made without rights for PUBLIC are internal, and stay so.
CREATE OR REPLACE FUNCTION ai.grant_vectorizer_usage(to_user name, admin boolean DEFAULT false) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    routine regprocedure;
BEGIN
    IF NOT has_schema_privilege('ai', 'USAGE WITH GRANT OPTION') THEN
        RAISE EXCEPTION 'permission denied to grant the usage of vectorizers'
            USING ERRCODE = 'insufficient_privilege',
                  HINT = 'A superuser or the owner of the schema ai may do so.';
    END IF;
    EXECUTE format('GRANT USAGE ON SCHEMA ai TO %I', to_user);
    -- The triggers of all sources call it with the rights of whoever writes.
    GRANT EXECUTE ON FUNCTION ai._changed(anyelement, anyelement) TO PUBLIC;
    FOR routine IN
        SELECT p.oid FROM pg_proc p
        WHERE p.pronamespace = 'ai'::regnamespace AND NOT EXISTS (
            SELECT FROM pg_init_privs i
            WHERE i.classoid = 'pg_proc'::regclass AND i.objoid = p.oid)
    LOOP
        EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO %I', routine, to_user);
    END LOOP;
    EXECUTE format('GRANT SELECT ON ai.vectorizer_status, ai.vectorizer_errors, '
                   'ai.provider_status TO %I', to_user);
    IF admin THEN
        EXECUTE format('GRANT SELECT ON ai.vectorizer, ai._vectorizer_errors TO %I', to_user);
        EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON ai.vectorizer_worker_process, '
                       'ai.vectorizer_worker_progress TO %I', to_user);
        EXECUTE format('GRANT SELECT ON ai.worker, ai.worker_status TO %I', to_user);
        EXECUTE format('GRANT EXECUTE ON FUNCTION ai.register_worker(text, int4, jsonb), '
                       'ai.heartbeat_worker(text, text, jsonb), ai.unregister_worker(text) '
                       'TO %I', to_user);
    END IF;
END
$$;
COMMENT ON FUNCTION ai.grant_vectorizer_usage(name, boolean) IS
    'lets a role use vectorizers; an admin may also read all of them and track outside workers';

CREATE OR REPLACE FUNCTION ai.grant_ai_usage(to_user name, admin boolean DEFAULT false) RETURNS void
    LANGUAGE sql
    SET search_path = pg_catalog, pg_temp
    AS $$SELECT ai.grant_vectorizer_usage(to_user, admin)$$;
COMMENT ON FUNCTION ai.grant_ai_usage(name, boolean) IS
    'the same as ai.grant_vectorizer_usage, which covers all of the schema';

-- Called through the functions of the same names without the underscore, by nobody else.
REVOKE ALL ON FUNCTION
    ai._create_vectorizer(oid, regclass, text, jsonb, jsonb, jsonb, jsonb, jsonb, jsonb, jsonb,
                          jsonb, jsonb, name, name, name[], boolean, boolean),
    ai._drop_vectorizer(oid, int4, boolean), ai._drop_vectorizer(oid, text, boolean),
    ai._disable_vectorizer_schedule(oid, int4), ai._disable_vectorizer_schedule(oid, text),
    ai._enable_vectorizer_schedule(oid, int4), ai._enable_vectorizer_schedule(oid, text),
    ai._set_scheduling(oid, int4, jsonb, jsonb),
    ai._vectorizer_queue_pending(oid, int4, boolean),
    ai._vectorizer_queue_pending(oid, text, boolean), ai._vectorizer_queue_failed(oid, int4)
FROM PUBLIC;
