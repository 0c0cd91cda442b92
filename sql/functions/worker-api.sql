-- Workers for people: what each is doing, restarts by hand, and workers that run outside.

CREATE OR REPLACE FUNCTION ai._coordinator_notify() RETURNS void
    LANGUAGE c VOLATILE STRICT
    AS 'MODULE_PATHNAME', 'ai_coordinator_notify';
COMMENT ON FUNCTION ai._coordinator_notify() IS
    'lets the commit of this transaction have the coordinator look at the workers';

-- One that is just being started again has no row for a moment, but a name that is known.
CREATE OR REPLACE FUNCTION ai._worker_require(component text) RETURNS void
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    IF NOT EXISTS (
        SELECT FROM ai.worker w WHERE w.component = _worker_require.component
        UNION ALL
        SELECT FROM generate_series(0, current_setting('ai.workers')::int4 - 1) n
        WHERE ai._preloaded() AND _worker_require.component = 'worker:vectorizer:' || n)
    THEN
        RAISE EXCEPTION 'worker "%" does not exist', coalesce(component, 'null')
            USING ERRCODE = 'undefined_object',
                  HINT = 'The view ai.worker_status lists the workers.';
    END IF;
END
$$;
COMMENT ON FUNCTION ai._worker_require(text) IS 'raises an error unless there is such a worker';

-- The coordinator does what is to be done: it sees the mark at the commit.
CREATE OR REPLACE FUNCTION ai._restart_worker(caller oid, component text) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    PERFORM ai._worker_require(component);
    IF NOT ai._is_supervised(component) THEN
        RAISE EXCEPTION 'worker "%" is not run by this server', component
            USING ERRCODE = 'feature_not_supported', HINT = 'Restart it where it runs.';
    END IF;
    UPDATE ai.worker w
    SET status = CASE w.status WHEN 'failed' THEN 'crashed' ELSE w.status END, restart_count = 0,
        last_restart = NULL, details = w.details - 'crashes' || jsonb_build_object('restart', true)
    WHERE w.component = _restart_worker.component;
    PERFORM ai._coordinator_notify();
END
$$;
COMMENT ON FUNCTION ai._restart_worker(oid, text) IS
    'what ai.restart_worker does, for the role that called it';

CREATE OR REPLACE FUNCTION ai._restart_workers(caller oid) RETURNS bigint
    LANGUAGE sql
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT count(*) FROM (
        SELECT ai._restart_worker(caller, w.component) FROM ai.worker w
        WHERE ai._is_supervised(w.component) AND w.component <> 'coordinator' OFFSET 0) restarted
    $$;
COMMENT ON FUNCTION ai._restart_workers(oid) IS
    'what ai.restart_workers does, for the role that called it';

CREATE OR REPLACE FUNCTION ai.restart_worker(component text) RETURNS void
    LANGUAGE c VOLATILE AS 'MODULE_PATHNAME', 'ai_call_as_owner';
CREATE OR REPLACE FUNCTION ai.restart_workers() RETURNS bigint
    LANGUAGE c VOLATILE AS 'MODULE_PATHNAME', 'ai_call_as_owner';
COMMENT ON FUNCTION ai.restart_worker(text) IS
    'starts a worker that has failed, or ends and starts one that runs; its restarts are counted '
    'from zero again';
COMMENT ON FUNCTION ai.restart_workers() IS
    'the same for all workers of this database; returns how many there are';

-- Workers that somebody else runs, and that want to be seen here: they register, beat, and leave.

CREATE OR REPLACE FUNCTION ai._worker_require_outside(component text, details jsonb) RETURNS void
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    IF component IS NULL OR component !~ '^worker:[a-z][a-z0-9_]*:[0-9]{1,9}$' THEN
        RAISE EXCEPTION 'invalid name of a worker: "%"', coalesce(component, 'null')
            USING ERRCODE = 'invalid_parameter_value',
                  HINT = 'A name is worker:<kind>:<number>, such as worker:outside:0.';
    ELSIF ai._is_supervised(component) THEN
        RAISE EXCEPTION 'worker "%" is run by the server itself', component
            USING ERRCODE = 'invalid_parameter_value',
                  HINT = 'Use another kind, such as worker:outside:0.';
    ELSIF jsonb_typeof(details) <> 'object' THEN
        RAISE EXCEPTION 'details of a worker must be a JSON object'
            USING ERRCODE = 'invalid_parameter_value', HINT = 'Leave them out, or write {...}.';
    END IF;
END
$$;
COMMENT ON FUNCTION ai._worker_require_outside(text, jsonb) IS
    'raises an error unless a worker of that name may register, with these details';

CREATE OR REPLACE FUNCTION ai._register_worker(caller oid, component text, pid int4, details jsonb) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    PERFORM ai._worker_require_outside(component, details);
    -- A new process for the same name: the old one is gone.
    DELETE FROM ai.worker w
    WHERE w.component = _register_worker.component AND w.status IN ('stopping', 'crashed');
    IF NOT ai._worker_register(component, pid, coalesce(details, '{}')) THEN
        RAISE EXCEPTION 'worker "%" is registered already, and alive', component
            USING ERRCODE = 'duplicate_object',
                  HINT = 'Use another number, or call ai.unregister_worker first.';
    END IF;
END
$$;
COMMENT ON FUNCTION ai._register_worker(oid, text, int4, jsonb) IS
    'what ai.register_worker does, for the role that called it';

CREATE OR REPLACE FUNCTION ai._heartbeat_worker(caller oid, component text, current_job text, details jsonb)
    RETURNS boolean
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    PERFORM ai._worker_require_outside(component, details);
    UPDATE ai.worker w
    SET status = 'healthy', last_seen = clock_timestamp(),
        current_job = _heartbeat_worker.current_job,
        details = w.details || coalesce(_heartbeat_worker.details, '{}')
    WHERE w.component = _heartbeat_worker.component AND w.status IN ('starting', 'healthy');
    IF NOT FOUND THEN
        RAISE EXCEPTION 'worker "%" is not registered, or was taken for crashed', component
            USING ERRCODE = 'object_not_in_prerequisite_state',
                  HINT = 'Call ai.register_worker, then go on.';
    END IF;
    RETURN ai._pause_left(component, NULL) IS NOT NULL;
END
$$;
COMMENT ON FUNCTION ai._heartbeat_worker(oid, text, text, jsonb) IS
    'what ai.heartbeat_worker does, for the role that called it';

CREATE OR REPLACE FUNCTION ai._unregister_worker(caller oid, component text) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    PERFORM ai._worker_require_outside(component, NULL);
    PERFORM ai._worker_require(component);
    UPDATE ai.worker w SET status = 'stopping'
    WHERE w.component = _unregister_worker.component AND w.status IN ('starting', 'healthy');
    DELETE FROM ai.worker w WHERE w.component = _unregister_worker.component;
END
$$;
COMMENT ON FUNCTION ai._unregister_worker(oid, text) IS
    'what ai.unregister_worker does, for the role that called it';

CREATE OR REPLACE FUNCTION ai.register_worker(component text, pid int4 DEFAULT NULL, details jsonb DEFAULT '{}')
    RETURNS void
    LANGUAGE c VOLATILE AS 'MODULE_PATHNAME', 'ai_call_as_owner';
CREATE OR REPLACE FUNCTION ai.heartbeat_worker(component text, current_job text DEFAULT NULL,
        details jsonb DEFAULT '{}') RETURNS boolean
    LANGUAGE c VOLATILE AS 'MODULE_PATHNAME', 'ai_call_as_owner';
CREATE OR REPLACE FUNCTION ai.unregister_worker(component text) RETURNS void
    LANGUAGE c VOLATILE AS 'MODULE_PATHNAME', 'ai_call_as_owner';
COMMENT ON FUNCTION ai.register_worker(text, int4, jsonb) IS
    'makes a worker that runs outside of this server known: worker:<kind>:<number>';
COMMENT ON FUNCTION ai.heartbeat_worker(text, text, jsonb) IS
    'notes that a worker outside is alive, every few seconds; returns whether it is paused, and '
    'should take no more';
COMMENT ON FUNCTION ai.unregister_worker(text) IS 'a worker outside has ended in order';

CREATE OR REPLACE FUNCTION ai.list_workers() RETURNS SETOF ai.worker_status
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$SELECT s.* FROM ai.worker_status s ORDER BY s.component$$;
COMMENT ON FUNCTION ai.list_workers() IS 'the view ai.worker_status, as a function';

-- As for pauses: these are for the owner of the extension, superusers, and roles that these have
-- given EXECUTE to.
REVOKE ALL ON FUNCTION ai.restart_worker(text), ai.restart_workers(),
    ai.register_worker(text, int4, jsonb), ai.heartbeat_worker(text, text, jsonb),
    ai.unregister_worker(text), ai._coordinator_notify(), ai._restart_worker(oid, text),
    ai._restart_workers(oid), ai._register_worker(oid, text, int4, jsonb),
    ai._heartbeat_worker(oid, text, text, jsonb), ai._unregister_worker(oid, text),
    ai._worker_require(text) FROM PUBLIC;
