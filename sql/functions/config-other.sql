-- The remaining sections: destination, processing, scheduling; and who may read the result.

CREATE OR REPLACE FUNCTION ai._validate_destination(config jsonb) RETURNS jsonb
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    PERFORM ai._check_section('destination', config, '{
        "table": {"destination": {"type": "string"}, "target_schema": {"type": "string"},
                  "target_table": {"type": "string"}, "view_schema": {"type": "string"},
                  "view_name": {"type": "string"}},
        "column": {"embedding_column": {"type": "string", "required": true}}}');
    RETURN config;
END
$$;
COMMENT ON FUNCTION ai._validate_destination(jsonb) IS
    'the given destination configuration, if it is a valid one';

CREATE OR REPLACE FUNCTION ai.destination_table(destination name DEFAULT NULL,
        target_schema name DEFAULT NULL, target_table name DEFAULT NULL,
        view_schema name DEFAULT NULL, view_name name DEFAULT NULL) RETURNS jsonb
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT ai._validate_destination(ai._config('destination', 'table',
        jsonb_build_object('destination', destination, 'target_schema', target_schema,
            'target_table', target_table, 'view_schema', view_schema, 'view_name', view_name)))
    $$;
COMMENT ON FUNCTION ai.destination_table(name, name, name, name, name) IS
    'vectorizer configuration: embeddings go to a table of their own, with a view that joins both';

CREATE OR REPLACE FUNCTION ai.destination_column(embedding_column name) RETURNS jsonb
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT ai._validate_destination(ai._config('destination', 'column',
        jsonb_build_object('embedding_column', embedding_column)))
    $$;
COMMENT ON FUNCTION ai.destination_column(name) IS
    'vectorizer configuration: the embedding of a row goes to a column of the source table';

CREATE OR REPLACE FUNCTION ai._validate_processing(config jsonb) RETURNS jsonb
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    PERFORM ai._check_section('processing', config, '{"default": {
        "batch_size": {"type": "integer", "min": 1, "max": 2048},
        "concurrency": {"type": "integer", "min": 1, "max": 50},
        "priority": {"type": "integer", "min": -32768, "max": 32767},
        "max_attempts": {"type": "integer", "min": 1, "max": 1000},
        "reuse": {"type": "boolean"},
        "priority_column": {"type": "string"}}}');
    RETURN config;
END
$$;
COMMENT ON FUNCTION ai._validate_processing(jsonb) IS
    'the given processing configuration, if it is a valid one';

CREATE OR REPLACE FUNCTION ai.processing_default(batch_size int4 DEFAULT NULL, concurrency int4 DEFAULT NULL,
        priority int4 DEFAULT NULL, max_attempts int4 DEFAULT NULL, reuse boolean DEFAULT NULL,
        priority_column name DEFAULT NULL) RETURNS jsonb
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT ai._validate_processing(ai._config('processing', 'default',
        jsonb_build_object('batch_size', batch_size, 'concurrency', concurrency,
            'priority', priority, 'max_attempts', max_attempts, 'reuse', reuse,
            'priority_column', priority_column)))
    $$;
COMMENT ON FUNCTION ai.processing_default(int4, int4, int4, int4, boolean, name) IS
    'vectorizer configuration: rows at a time, requests at a time, weight among vectorizers, tries, '
    'use of other rows'' vectors, column by which rows come first';

CREATE OR REPLACE FUNCTION ai._validate_scheduling(config jsonb) RETURNS jsonb
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    PERFORM ai._check_section('scheduling', config, '{"none": {}, "default": {}}');
    RETURN config;
END
$$;
COMMENT ON FUNCTION ai._validate_scheduling(jsonb) IS
    'the given scheduling configuration, if it is a valid one';

CREATE OR REPLACE FUNCTION ai.scheduling_none() RETURNS jsonb
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $$SELECT ai._config('scheduling', 'none')$$;
COMMENT ON FUNCTION ai.scheduling_none() IS
    'vectorizer configuration: no schedule; workers take changes as they come';

CREATE OR REPLACE FUNCTION ai.scheduling_default() RETURNS jsonb
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $$SELECT ai._config('scheduling', 'default')$$;
COMMENT ON FUNCTION ai.scheduling_default() IS
    'vectorizer configuration: workers take changes as they come';

CREATE OR REPLACE FUNCTION ai.scheduling_timescaledb(schedule_interval interval DEFAULT interval '5m',
        initial_start timestamptz DEFAULT NULL, fixed_schedule boolean DEFAULT NULL,
        timezone text DEFAULT NULL) RETURNS jsonb
    LANGUAGE sql
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT ai._not_supported('scheduling with TimescaleDB',
        'Use ai.scheduling_default(): workers take changes as they come.')
    $$;
COMMENT ON FUNCTION ai.scheduling_timescaledb(interval, timestamptz, boolean, text) IS
    'not supported: raises an error that says what to do';

CREATE OR REPLACE FUNCTION ai.grant_to(VARIADIC grantees name[]) RETURNS name[]
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $$SELECT grantees$$;
COMMENT ON FUNCTION ai.grant_to(name[]) IS
    'vectorizer configuration: roles that may read the target table and the view';

CREATE OR REPLACE FUNCTION ai.grant_to() RETURNS name[]
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $$SELECT '{}'::name[]$$;
COMMENT ON FUNCTION ai.grant_to() IS
    'vectorizer configuration: nobody but the owner may read the target table and the view';
