-- See tables/worker.sql.

-- Who may do what. An outside worker is run by somebody else, and registers by itself; an operator
-- is a person. An empty state is that of a component without a row.
CREATE OR REPLACE FUNCTION ai._worker_transitions(OUT actor text, OUT old_status text, OUT new_status text)
    RETURNS SETOF record
    LANGUAGE sql IMMUTABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT a.actor, nullif(t.old_status, ''), nullif(t.new_status, '') FROM (VALUES
        ('',         'starting', '{worker,outside,coordinator}'::text[]),
        ('starting', 'starting', '{worker,outside,coordinator,operator}'),
        ('starting', 'healthy',  '{worker,outside}'),
        ('starting', 'stopping', '{worker,outside}'),
        ('starting', 'crashed',  '{coordinator}'),
        ('healthy',  'healthy',  '{worker,outside,coordinator,operator}'),
        ('healthy',  'stopping', '{worker,outside}'),
        ('healthy',  'crashed',  '{coordinator}'),
        ('stopping', 'stopping', '{worker,outside,operator}'),
        ('stopping', 'crashed',  '{coordinator}'),
        ('stopping', '',         '{worker,outside,coordinator}'),
        ('crashed',  'crashed',  '{coordinator,operator}'),
        ('crashed',  'starting', '{outside,coordinator}'),
        ('crashed',  'failed',   '{coordinator}'),
        ('crashed',  '',         '{outside,coordinator}'),
        ('failed',   'failed',   '{coordinator}'),
        ('failed',   'crashed',  '{operator}'),
        ('failed',   '',         '{coordinator}')
    ) AS t (old_status, new_status, actors), unnest(t.actors) AS a (actor)
    $$;
COMMENT ON FUNCTION ai._worker_transitions() IS
    'the state machine of workers: who may take one from which state to which';

-- What this process is cannot be forged in SQL: the library knows.
CREATE OR REPLACE FUNCTION ai._process_role() RETURNS text
    LANGUAGE c STABLE STRICT
    AS 'MODULE_PATHNAME', 'ai_process_role';
COMMENT ON FUNCTION ai._process_role() IS
    'the component that this process is; api inside a function of the extension, else null';

CREATE OR REPLACE FUNCTION ai._is_supervised(component text) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $$SELECT component ~ '^(coordinator|worker:vectorizer:.*)$'$$;
COMMENT ON FUNCTION ai._is_supervised(text) IS 'whether this server runs a component itself';

CREATE OR REPLACE FUNCTION ai._worker_actors(component text) RETURNS text[]
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT CASE
        WHEN me = 'coordinator' AND component = me THEN '{coordinator,worker}'::text[]
        WHEN me = 'coordinator' THEN '{coordinator}'
        WHEN me = component THEN '{worker}'
        WHEN me = 'api' AND ai._is_supervised(component) THEN '{operator}'
        WHEN me = 'api' THEN '{outside}'
        ELSE '{}' END
    FROM ai._process_role() me
    $$;
COMMENT ON FUNCTION ai._worker_actors(text) IS
    'as whom this process may write the row of a component';

-- The one place where the state machine is enforced; nobody writes past it.
CREATE OR REPLACE FUNCTION ai._worker_guard() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    name text := CASE TG_OP WHEN 'DELETE' THEN OLD.component ELSE NEW.component END;
    before text := CASE WHEN TG_OP <> 'INSERT' THEN OLD.status END;
    after text := CASE WHEN TG_OP <> 'DELETE' THEN NEW.status END;
    actors text[];
    able text[];
BEGIN
    IF TG_OP = 'UPDATE' AND (OLD.status, NEW.status) = ('healthy', 'healthy')
       AND ai._process_role() = OLD.component AND (NEW.component, NEW.created_at, NEW.restart_count)
           = (OLD.component, OLD.created_at, OLD.restart_count)
       AND NEW.last_restart IS NOT DISTINCT FROM OLD.last_restart THEN
        RETURN NEW;  -- a heartbeat, as most of what comes here
    END IF;
    actors := ai._worker_actors(name);
    SELECT array_agg(t.actor ORDER BY t.actor) INTO able FROM ai._worker_transitions() t
    WHERE t.old_status IS NOT DISTINCT FROM before AND t.new_status IS NOT DISTINCT FROM after;
    IF able IS NULL THEN
        RAISE EXCEPTION 'worker "%" cannot go from % to %', name, coalesce(before, 'no row'),
            coalesce(after, 'no row')
            USING ERRCODE = 'object_not_in_prerequisite_state',
                  DETAIL = 'Next may be: ' || (
                      SELECT string_agg(DISTINCT coalesce(t.new_status, 'no row'), ', ')
                      FROM ai._worker_transitions() t
                      WHERE t.old_status IS NOT DISTINCT FROM before) || '.';
    ELSIF NOT able && actors THEN
        RAISE EXCEPTION 'worker "%" may be taken from % to % only by: %', name,
            coalesce(before, 'no row'), coalesce(after, 'no row'), array_to_string(able, ', ')
            USING ERRCODE = 'insufficient_privilege',
                  HINT = 'Use ai.restart_worker, ai.pause_worker or ai.resume_worker.';
    END IF;
    IF TG_OP = 'DELETE' THEN
        RETURN OLD;
    END IF;
    IF TG_OP = 'UPDATE' AND (NEW.component, NEW.created_at) <> (OLD.component, OLD.created_at) THEN
        RAISE EXCEPTION 'component and created_at of worker "%" cannot be changed', OLD.component
            USING ERRCODE = 'object_not_in_prerequisite_state';
    END IF;
    -- OLD is a row of nulls on INSERT.
    IF (NEW.restart_count, NEW.last_restart)
           IS DISTINCT FROM (coalesce(OLD.restart_count, 0), OLD.last_restart)
       AND NOT (actors && '{coordinator}'
                OR actors = '{operator}' AND NEW.restart_count = 0 AND NEW.last_restart IS NULL) THEN
        RAISE EXCEPTION 'restarts of worker "%" are counted by the coordinator', name
            USING ERRCODE = 'insufficient_privilege',
                  HINT = 'ai.restart_worker sets them to zero.';
    END IF;
    RETURN NEW;
END
$$;
COMMENT ON FUNCTION ai._worker_guard() IS
    'trigger: refuses what the state machine of workers does not allow, or not to this process';

CREATE OR REPLACE FUNCTION ai._worker_guard_all() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    RAISE EXCEPTION 'the table of workers cannot be truncated'
        USING ERRCODE = 'object_not_in_prerequisite_state',
              HINT = 'ai.restart_workers() restarts all of them.';
END
$$;
COMMENT ON FUNCTION ai._worker_guard_all() IS 'trigger: refuses to take all workers past their guard';

REVOKE ALL ON FUNCTION ai._worker_guard(), ai._worker_guard_all(), ai._worker_actors(text)
FROM PUBLIC;
