-- What is installed and what is running.

CREATE OR REPLACE FUNCTION ai.version() RETURNS text
    LANGUAGE c STABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'ai_version';
COMMENT ON FUNCTION ai.version() IS 'version of the loaded library';

CREATE OR REPLACE FUNCTION ai._preloaded() RETURNS boolean
    LANGUAGE c STABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'ai_preloaded';
COMMENT ON FUNCTION ai._preloaded() IS
    'whether the server loaded the library at start, so that background workers can run';

CREATE OR REPLACE FUNCTION ai._token_tables() RETURNS boolean
    LANGUAGE c STABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'ai_token_tables';
COMMENT ON FUNCTION ai._token_tables() IS
    'whether the tables for exact token counts are installed';

CREATE OR REPLACE FUNCTION ai._local_model() RETURNS jsonb
    LANGUAGE c STABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'ai_local_model';
COMMENT ON FUNCTION ai._local_model() IS
    'name, dimensions and max_tokens of the embedded model; or the problem with it';

-- SECURITY DEFINER: pg_stat_activity hides the type of background processes from ordinary roles.
-- It shows no more than type and pid of our own processes.
CREATE OR REPLACE FUNCTION ai._processes(OUT process text, OUT pid integer) RETURNS SETOF record
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT backend_type, a.pid
    FROM pg_catalog.pg_stat_activity a
    WHERE backend_type LIKE 'ai %' AND (datname = current_database() OR datname IS NULL)
    ORDER BY backend_type, backend_start
    $$;
COMMENT ON FUNCTION ai._processes() IS
    'background processes of the extension that serve this database';

-- States: served; idle (the coordinator is there, workers are not needed); dormant (nobody is there,
-- nobody is needed); waiting (for its turn); starting; unknown (nobody has looked here, or is to).
CREATE OR REPLACE FUNCTION ai._pool() RETURNS jsonb
    LANGUAGE c STABLE STRICT
    AS 'MODULE_PATHNAME', 'ai_pool';
COMMENT ON FUNCTION ai._pool() IS
    'the pool of background processes: its size, how many there are (processes), databases that wait for '
    'a place (waiting_databases), whether the server has lately had no slot for a process (refused); of '
    'this database its state, how many workers it may have (workers), whether it had to wait within the '
    'last minute (waited). Null if nobody serves this server';

CREATE OR REPLACE FUNCTION ai._pool_advice() RETURNS text
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT CASE
        WHEN p.state = 'waiting' OR p.waited THEN
            format('This database waits for its turn now and then: all of the %s background processes '
                   'serve others. %s', p.size, a.action)
        WHEN p.refused THEN
            'The server has no slot for another background process. Raise max_worker_processes (now '
            || current_setting('max_worker_processes') || ') and restart it.'
        WHEN p.state = 'served' AND p.workers < current_setting('ai.workers', true)::int THEN
            format('This database has %s of the %s workers that it could use. %s', p.workers,
                   current_setting('ai.workers', true), a.action) END
    FROM jsonb_to_record(ai._pool())
            AS p (size int, state text, waited boolean, refused boolean, workers int),
        format('Raise ai.max_processes, and max_worker_processes (now %s) with it; or lower ai.workers.',
               current_setting('max_worker_processes')) AS a (action)
    $$;
COMMENT ON FUNCTION ai._pool_advice() IS
    'what to set so that this database has all workers that it could use; null if it has';

-- SECURITY DEFINER: the catalog of vectorizers is not for everybody. It tells a number, no more.
CREATE OR REPLACE FUNCTION ai._orphan_count() RETURNS bigint
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    RETURN (SELECT count(*) FROM ai._orphans());
END
$$;
COMMENT ON FUNCTION ai._orphan_count() IS
    'how many triggers, tables and restored rows of ours belong to no vectorizer';

CREATE OR REPLACE FUNCTION ai.status(OUT item text, OUT value text, OUT advice text) RETURNS SETOF record
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
    WITH installed AS (
        SELECT (SELECT extversion FROM pg_extension WHERE extname = 'ai') AS extension,
               (SELECT extversion FROM pg_extension WHERE extname = 'vector') AS pgvector,
               ai._local_model() AS model,
               (SELECT count(*) FROM ai._processes()) AS process_count,
               (SELECT string_agg(format('%s (pid %s)', process, pid), ', ') FROM ai._processes())
                   AS process_list,
               ai._orphan_count() AS orphans,
               ai._pool() AS pool
    )
    SELECT s.* FROM installed i, LATERAL (VALUES
        ('library version', ai.version(), NULL),
        ('extension version', i.extension,
         CASE WHEN i.extension <> ai.version() THEN
             'Run ALTER EXTENSION ai UPDATE; if the library is the older one, restart the server.'
         END),
        ('server version', current_setting('server_version'), NULL),
        ('pgvector version', i.pgvector, NULL),
        ('preloaded', CASE WHEN ai._preloaded() THEN 'yes' ELSE 'no' END,
         CASE WHEN NOT ai._preloaded() THEN
             'Add ai to shared_preload_libraries in postgresql.conf and restart the server: '
             'without it nothing is processed.'
         END),
        ('token tables', CASE WHEN ai._token_tables() THEN 'installed' ELSE 'not installed' END,
         CASE WHEN NOT ai._token_tables() THEN
             'Token counts are estimates (a quarter of the bytes). Run make token-tables and make '
             'install in the source tree for exact ones.'
         END),
        ('embedded model', coalesce(i.model ->> 'name',
             CASE WHEN i.model ->> 'problem' ~ '" is not installed\.' THEN 'not installed'
             ELSE 'not usable' END),
         CASE WHEN i.model ? 'problem' THEN
             'Texts are embedded by other providers only: ' || (i.model ->> 'problem')
             || ' Run make model and make install in the source tree, or set ai.model_path to '
             'another one.'
         END),
        ('processes', i.process_count::text, concat_ws('; ', i.process_list,
             CASE i.pool ->> 'state'
                 WHEN 'dormant' THEN 'there is nothing to do here: the next change starts others'
                 WHEN 'idle' THEN 'there is nothing to do here: the next change starts workers' END)),
        ('process pool', coalesce((i.pool ->> 'processes') || ' of ' || (i.pool ->> 'size'), 'none'),
         ai._pool_advice()),
        ('orphans', i.orphans::text,
         CASE WHEN i.orphans > 0 THEN
             'Triggers or tables belong to no vectorizer: ai.health() names them. If the rest of a '
             'dump is still to be restored, do that; else run ai.drop_orphans() as a superuser.'
         END)
    ) AS s (item, value, advice)
    $$;
COMMENT ON FUNCTION ai.status() IS
    'what is installed and running, one item a row, with advice where something is missing';
