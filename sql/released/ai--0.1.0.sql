-- The extension script begins here. Its parts are joined in the order of sql/order.

\echo Use "CREATE EXTENSION ai CASCADE" to load this file. \quit

-- Functions may come before what their bodies name; test/sql/catalog.sql checks all of them.
SET LOCAL check_function_bodies = off;

-- Whoever owns the schema can replace what is in it. One that was there before must belong to the
-- creator of the extension or to a superuser (so it is after a restore). pgai has the same schema, and
-- those who come from it shall not have to guess why a table exists already.
DO $$
BEGIN
    IF EXISTS (
        SELECT FROM pg_catalog.pg_namespace n JOIN pg_catalog.pg_roles r ON r.oid = n.nspowner
        WHERE n.nspname = 'ai' AND r.rolname <> current_user AND NOT r.rolsuper)
    THEN
        RAISE EXCEPTION 'schema "ai" exists and belongs to another role'
            USING ERRCODE = 'insufficient_privilege',
                  HINT = 'Rename or drop that schema, then run CREATE EXTENSION ai CASCADE again.';
    END IF;
    IF pg_catalog.to_regclass('ai.vectorizer') IS NOT NULL THEN
        RAISE EXCEPTION 'schema "ai" has a table "vectorizer" already'
            USING ERRCODE = 'duplicate_table',
                  DETAIL = 'So it is where pgai was installed, which uses the same schema.',
                  HINT = 'Drop the vectorizers of pgai, then that schema; doc/migrating.md says how, '
                         'and how to keep the embeddings until there are new ones.';
    END IF;
END
$$;

COMMENT ON SCHEMA ai IS 'embeddings kept in step with tables';

-- Everybody may call the functions; each table and each function guards itself.
GRANT USAGE ON SCHEMA ai TO PUBLIC;
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
-- What the sections of a vectorizer's configuration have in common.
--
-- A section is a jsonb object: config_type, implementation, and the arguments that are not null. A
-- helper function builds it and checks it at once; create_vectorizer checks it again, because users
-- may write the jsonb by hand.

CREATE OR REPLACE FUNCTION ai._config_object(arguments jsonb) RETURNS jsonb
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT CASE jsonb_typeof(arguments) WHEN 'object' THEN
        (SELECT coalesce(jsonb_object_agg(a.key, a.value), '{}')
         FROM jsonb_each(arguments) a WHERE a.value <> 'null')
        ELSE arguments END
    $$;
COMMENT ON FUNCTION ai._config_object(jsonb) IS
    'an object without those of its members that are null; what is inside of them stays';

CREATE OR REPLACE FUNCTION ai._config(config_type text, implementation text, arguments jsonb DEFAULT '{}')
    RETURNS jsonb
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT jsonb_build_object('config_type', config_type, 'implementation', implementation)
        || ai._config_object(arguments)
    $$;
COMMENT ON FUNCTION ai._config(text, text, jsonb) IS
    'section of a vectorizer''s configuration; null arguments are left out';

CREATE OR REPLACE FUNCTION ai._check_argument(argument text, value jsonb, rule jsonb) RETURNS void
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    kind text := rule ->> 'type';
    lowest numeric := coalesce((rule ->> 'min')::numeric, -2147483648);
    highest numeric := coalesce((rule ->> 'max')::numeric, 2147483647);
    fits boolean;
BEGIN
    fits := CASE kind
        WHEN 'integer' THEN jsonb_typeof(value) = 'number'
        WHEN 'strings' THEN jsonb_typeof(value) = 'array'
            AND NOT EXISTS (SELECT FROM jsonb_array_elements(value) e
                            WHERE jsonb_typeof(e) <> 'string')
        ELSE jsonb_typeof(value) = kind END;
    IF kind = 'integer' AND fits THEN
        fits := value::numeric = trunc(value::numeric);
    END IF;
    IF NOT fits THEN
        RAISE EXCEPTION '% must be %, not %', argument,
            CASE kind WHEN 'integer' THEN 'an integer' WHEN 'object' THEN 'a jsonb object'
                WHEN 'strings' THEN 'an array of strings' ELSE 'a ' || kind END, value
            USING ERRCODE = 'invalid_parameter_value';
    END IF;
    IF kind = 'integer' AND NOT value::numeric BETWEEN lowest AND highest THEN
        RAISE EXCEPTION '% must be %, not %', argument,
            CASE WHEN highest < 2147483647 THEN format('between %s and %s', lowest, highest)
                WHEN value::numeric < lowest THEN 'at least ' || lowest
                ELSE 'at most ' || highest END, value
            USING ERRCODE = 'invalid_parameter_value';
    END IF;
    IF kind = 'string' AND value #>> '{}' = '' AND NOT coalesce((rule ->> 'empty')::boolean, false)
       OR kind = 'strings' AND jsonb_array_length(value) = 0 THEN
        RAISE EXCEPTION '% must not be empty', argument
            USING ERRCODE = 'invalid_parameter_value';
    END IF;
    IF rule ? 'one_of' AND NOT rule -> 'one_of' ? (value #>> '{}') THEN
        RAISE EXCEPTION '% must not be %', argument, value
            USING ERRCODE = 'invalid_parameter_value',
                  HINT = format('Known are: %s.', (SELECT string_agg(o, ', ')
                                FROM jsonb_array_elements_text(rule -> 'one_of') o));
    END IF;
END
$$;
COMMENT ON FUNCTION ai._check_argument(text, jsonb, jsonb) IS
    'raises an error unless the value of an argument is of the type and in the range of its rule';

-- The rules are an object with an entry for each implementation, whose value has an entry for each
-- argument: type (integer, boolean, string, strings, object) and, where they apply, min, max,
-- one_of, required, empty.
CREATE OR REPLACE FUNCTION ai._check_section(section text, config jsonb, rules jsonb) RETURNS void
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    arguments jsonb;
    argument text;
BEGIN
    IF config IS NULL THEN
        RAISE EXCEPTION '% configuration is required', section
            USING ERRCODE = 'null_value_not_allowed';
    END IF;
    IF jsonb_typeof(config) <> 'object' THEN
        RAISE EXCEPTION '% config is not a jsonb object', section
            USING ERRCODE = 'invalid_parameter_value';
    END IF;
    IF config ->> 'config_type' IS DISTINCT FROM section THEN
        RAISE EXCEPTION 'invalid config_type for % config', section
            USING ERRCODE = 'invalid_parameter_value',
                  DETAIL = format('It is %s.', coalesce(config ->> 'config_type', 'missing')),
                  HINT = format('Use one of the functions whose names begin with ai.%s_.', section);
    END IF;
    IF NOT rules ? coalesce(config ->> 'implementation', '') THEN
        RAISE EXCEPTION 'invalid % implementation', section
            USING ERRCODE = 'invalid_parameter_value',
                  DETAIL = format('It is %s.', coalesce(config ->> 'implementation', 'missing')),
                  HINT = format('Known are: %s.', (SELECT string_agg(r, ', ')
                                                   FROM jsonb_object_keys(rules) r));
    END IF;
    arguments := rules -> (config ->> 'implementation');
    FOR argument IN
        SELECT k FROM jsonb_object_keys(config) k
        WHERE k NOT IN ('config_type', 'implementation') AND NOT arguments ? k
    LOOP
        RAISE EXCEPTION 'unrecognized argument "%" in % config', argument, section
            USING ERRCODE = 'invalid_parameter_value',
                  HINT = coalesce((SELECT format('Known are: %s.', string_agg(a, ', '))
                                   FROM jsonb_object_keys(arguments) a HAVING count(*) > 0),
                                  'It has no arguments.');
    END LOOP;
    FOR argument IN SELECT k FROM jsonb_object_keys(arguments) k LOOP
        IF coalesce(config -> argument, 'null') <> 'null' THEN
            PERFORM ai._check_argument(argument, config -> argument, arguments -> argument);
        ELSIF (arguments -> argument ->> 'required')::boolean THEN
            RAISE EXCEPTION '% argument is required', argument
                USING ERRCODE = 'null_value_not_allowed';
        END IF;
    END LOOP;
END
$$;
COMMENT ON FUNCTION ai._check_section(text, jsonb, jsonb) IS
    'raises an error unless a section of a configuration keeps the rules of its implementation';

CREATE OR REPLACE FUNCTION ai._not_supported(what text, instead text) RETURNS jsonb
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    RAISE EXCEPTION '% is not supported', what
        USING ERRCODE = 'feature_not_supported', HINT = instead;
END
$$;
COMMENT ON FUNCTION ai._not_supported(text, text) IS
    'raises the error of a function that exists only to say what to use in its place';
-- Where a vectorizer's text comes from (loading) and how it is read (parsing).

CREATE OR REPLACE FUNCTION ai._validate_loading(config jsonb) RETURNS jsonb
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    PERFORM ai._check_section('loading', config, '{
        "column": {"column_name": {"type": "string", "required": true},
                   "retries": {"type": "integer", "min": 0}},
        "uri": {"column_name": {"type": "string", "required": true},
                "retries": {"type": "integer", "min": 0},
                "aws_role_arn": {"type": "string"}}}');
    RETURN config;
END
$$;
COMMENT ON FUNCTION ai._validate_loading(jsonb) IS
    'the given loading configuration, if it is a valid one';

CREATE OR REPLACE FUNCTION ai.loading_column(column_name name, retries int4 DEFAULT 6) RETURNS jsonb
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT ai._validate_loading(ai._config('loading', 'column',
        jsonb_build_object('column_name', column_name, 'retries', retries)))
    $$;
COMMENT ON FUNCTION ai.loading_column(name, int4) IS
    'vectorizer configuration: the text is in a column of the source table';

CREATE OR REPLACE FUNCTION ai.loading_uri(column_name name, retries int4 DEFAULT 6,
                               aws_role_arn text DEFAULT NULL) RETURNS jsonb
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT ai._validate_loading(ai._config('loading', 'uri',
        jsonb_build_object('column_name', column_name, 'retries', retries,
                           'aws_role_arn', aws_role_arn)))
    $$;
COMMENT ON FUNCTION ai.loading_uri(name, int4, text) IS
    'vectorizer configuration: the text is behind a URI in a column; create_vectorizer refuses it';

CREATE OR REPLACE FUNCTION ai._validate_parsing(config jsonb) RETURNS jsonb
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    PERFORM ai._check_section('parsing', config, '{"none": {}, "auto": {}}');
    RETURN config;
END
$$;
COMMENT ON FUNCTION ai._validate_parsing(jsonb) IS
    'the given parsing configuration, if it is a valid one';

CREATE OR REPLACE FUNCTION ai.parsing_auto() RETURNS jsonb
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $$SELECT ai._config('parsing', 'auto')$$;
COMMENT ON FUNCTION ai.parsing_auto() IS
    'vectorizer configuration: text is taken as it is, bytes as UTF-8 text';

CREATE OR REPLACE FUNCTION ai.parsing_none() RETURNS jsonb
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $$SELECT ai._config('parsing', 'none')$$;
COMMENT ON FUNCTION ai.parsing_none() IS 'vectorizer configuration: text is taken as it is';

CREATE OR REPLACE FUNCTION ai.parsing_pymupdf() RETURNS jsonb
    LANGUAGE sql
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT ai._not_supported('parsing with PyMuPDF',
        'Store the text of the documents in a column, and use ai.parsing_auto().')
    $$;
COMMENT ON FUNCTION ai.parsing_pymupdf() IS 'not supported: raises an error that says what to do';

CREATE OR REPLACE FUNCTION ai.parsing_docling() RETURNS jsonb
    LANGUAGE sql
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT ai._not_supported('parsing with Docling',
        'Store the text of the documents in a column, and use ai.parsing_auto().')
    $$;
COMMENT ON FUNCTION ai.parsing_docling() IS 'not supported: raises an error that says what to do';

-- What only the source table can tell about loading and parsing.
CREATE OR REPLACE FUNCTION ai._validate_loading_source(source regclass, loading jsonb, parsing jsonb)
    RETURNS void
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    column_name name := loading ->> 'column_name';
    type oid;
BEGIN
    IF loading ->> 'implementation' = 'uri' THEN
        PERFORM ai._not_supported('loading from a URI',
            'Store the text itself in a column of the source table, and use ai.loading_column.');
    END IF;
    SELECT a.atttypid INTO type FROM pg_attribute a
    WHERE a.attrelid = source AND a.attname = column_name AND a.attnum > 0 AND NOT a.attisdropped;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'loading column_name "%" does not exist in the source table', column_name
            USING ERRCODE = 'undefined_column';
    END IF;
    SELECT b.type INTO type FROM ai._base_type(type, -1) b;
    IF type = 'bytea'::regtype THEN
        IF parsing ->> 'implementation' = 'none' THEN
            RAISE EXCEPTION 'cannot use parsing_none with bytea columns'
                USING ERRCODE = 'invalid_parameter_value',
                      HINT = 'Use ai.parsing_auto(), which takes the bytes as UTF-8 text.';
        END IF;
    ELSIF (SELECT t.typcategory FROM pg_type t WHERE t.oid = type) <> 'S' THEN
        RAISE EXCEPTION 'unsupported data type for loading column "%": %', column_name,
            format_type(type, NULL)
            USING ERRCODE = 'datatype_mismatch',
                  HINT = 'It must be text, varchar, char or bytea. '
                         'A generated column can convert another type to text.';
    END IF;
END
$$;
COMMENT ON FUNCTION ai._validate_loading_source(regclass, jsonb, jsonb) IS
    'raises an error unless the loaded column is in the source table and can be read as text';
-- Which model makes the embeddings.

-- A key never belongs into a configuration, which others may read: neither in the place of its name
-- nor in a URL.
CREATE OR REPLACE FUNCTION ai._validate_endpoint(config jsonb) RETURNS void
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    IF config ->> 'base_url' !~* '^https?://[^/?#[:space:]]+'
       OR config ->> 'base_url' ~ '[[:space:][:cntrl:]]' THEN
        RAISE EXCEPTION 'base_url must begin with http:// or https:// and a host name'
            USING ERRCODE = 'invalid_parameter_value';
    END IF;
    IF config ->> 'base_url' ~ '^[^/]*//[^/?#]*@' OR config ->> 'base_url' ~ '[?#]' THEN
        RAISE EXCEPTION 'base_url must have neither a user name nor a query'
            USING ERRCODE = 'invalid_parameter_value',
                  HINT = 'Configurations can be read by others; give the name of a key in '
                         'api_key_name.';
    END IF;
    IF config ->> 'api_key_name' !~ '^[A-Za-z0-9_.-]{1,128}$'
       OR config ->> 'api_key_name' ~ '^(sk|pa)-' THEN
        RAISE EXCEPTION 'api_key_name must be the name of a key, not the key itself'
            USING ERRCODE = 'invalid_parameter_value',
                  HINT = 'A name is made of letters, digits, "_", "." and "-".';
    END IF;
END
$$;
COMMENT ON FUNCTION ai._validate_endpoint(jsonb) IS
    'raises an error if base_url or api_key_name of an embedding configuration is not acceptable';

CREATE OR REPLACE FUNCTION ai._validate_embedding(config jsonb) RETURNS jsonb
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    -- pgvector's type vector has at most 16000 dimensions.
    model constant jsonb := '{"model": {"type": "string", "required": true},
        "dimensions": {"type": "integer", "min": 1, "max": 16000, "required": true}}';
    endpoint constant jsonb := '{"base_url": {"type": "string"},
        "api_key_name": {"type": "string"}}';
BEGIN
    PERFORM ai._check_section('embedding', config, jsonb_build_object(
        'openai', model || endpoint || '{"chat_user": {"type": "string"},
            "send_dimensions": {"type": "boolean"}}',
        'ollama', model || '{"base_url": {"type": "string"}, "options": {"type": "object"},
            "keep_alive": {"type": "string"}}',
        'voyageai', model || endpoint || '{"input_type": {"type": "string",
            "one_of": ["document", "query"]}}',
        'cohere', model || endpoint || '{"input_type": {"type": "string", "one_of":
            ["search_document", "search_query", "classification", "clustering"]}}',
        'local', model || '{"input_type": {"type": "string", "one_of": ["document", "query"]}}'));
    PERFORM ai._validate_endpoint(config);
    IF config ->> 'implementation' = 'local' AND config ->> 'model' = 'all-MiniLM-L6-v2'
       AND (config ->> 'dimensions')::int <> 384 THEN
        RAISE EXCEPTION 'model "all-MiniLM-L6-v2" has 384 dimensions, not %',
            config ->> 'dimensions'
            USING ERRCODE = 'invalid_parameter_value';
    END IF;
    RETURN config;
END
$$;
COMMENT ON FUNCTION ai._validate_embedding(jsonb) IS
    'the given embedding configuration, if it is a valid one';

-- send_dimensions: whether the server is told the dimensions. Not told are models that are known to
-- have vectors of one length; others are, unless it is false.
CREATE OR REPLACE FUNCTION ai.embedding_openai(model text, dimensions int4, chat_user text DEFAULT NULL,
        api_key_name text DEFAULT 'OPENAI_API_KEY', base_url text DEFAULT NULL,
        send_dimensions boolean DEFAULT NULL) RETURNS jsonb
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT ai._validate_embedding(ai._config('embedding', 'openai',
        jsonb_build_object('model', model, 'dimensions', dimensions, 'chat_user', chat_user,
                           'api_key_name', api_key_name, 'base_url', base_url,
                           'send_dimensions', send_dimensions)))
    $$;
COMMENT ON FUNCTION ai.embedding_openai(text, int4, text, text, text, boolean) IS
    'vectorizer configuration: a model of OpenAI, or of a server with the same API at base_url';

CREATE OR REPLACE FUNCTION ai.embedding_ollama(model text, dimensions int4, base_url text DEFAULT NULL,
        options jsonb DEFAULT NULL, keep_alive text DEFAULT NULL) RETURNS jsonb
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT ai._validate_embedding(ai._config('embedding', 'ollama',
        jsonb_build_object('model', model, 'dimensions', dimensions, 'base_url', base_url,
                           'options', options, 'keep_alive', keep_alive)))
    $$;
COMMENT ON FUNCTION ai.embedding_ollama(text, int4, text, jsonb, text) IS
    'vectorizer configuration: a model that an Ollama server runs';

CREATE OR REPLACE FUNCTION ai.embedding_voyageai(model text, dimensions int4,
        input_type text DEFAULT 'document', api_key_name text DEFAULT 'VOYAGE_API_KEY',
        base_url text DEFAULT NULL) RETURNS jsonb
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT ai._validate_embedding(ai._config('embedding', 'voyageai',
        jsonb_build_object('model', model, 'dimensions', dimensions, 'input_type', input_type,
                           'api_key_name', api_key_name, 'base_url', base_url)))
    $$;
COMMENT ON FUNCTION ai.embedding_voyageai(text, int4, text, text, text) IS
    'vectorizer configuration: a model of Voyage AI';

CREATE OR REPLACE FUNCTION ai.embedding_cohere(model text, dimensions int4,
        input_type text DEFAULT 'search_document', api_key_name text DEFAULT 'COHERE_API_KEY',
        base_url text DEFAULT NULL) RETURNS jsonb
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT ai._validate_embedding(ai._config('embedding', 'cohere',
        jsonb_build_object('model', model, 'dimensions', dimensions, 'input_type', input_type,
                           'api_key_name', api_key_name, 'base_url', base_url)))
    $$;
COMMENT ON FUNCTION ai.embedding_cohere(text, int4, text, text, text) IS
    'vectorizer configuration: a model of Cohere';

CREATE OR REPLACE FUNCTION ai.embedding_local(model text DEFAULT 'all-MiniLM-L6-v2',
                                   dimensions int4 DEFAULT 384) RETURNS jsonb
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT ai._validate_embedding(ai._config('embedding', 'local',
        jsonb_build_object('model', model, 'dimensions', dimensions)))
    $$;
COMMENT ON FUNCTION ai.embedding_local(text, int4) IS
    'vectorizer configuration: the embedded model, which needs neither a network nor a key';

CREATE OR REPLACE FUNCTION ai.embedding_litellm(model text, dimensions int4, api_key_name text DEFAULT NULL,
                                     extra_options jsonb DEFAULT NULL) RETURNS jsonb
    LANGUAGE sql
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT ai._not_supported('embedding through LiteLLM',
        'Use ai.embedding_openai with the base_url of a server with the API of OpenAI (a LiteLLM '
        'proxy is one), or ai.embedding_cohere, ai.embedding_voyageai, ai.embedding_ollama.')
    $$;
COMMENT ON FUNCTION ai.embedding_litellm(text, int4, text, jsonb) IS
    'not supported: raises an error that says what to do';
-- How a text is cut into chunks.

-- STABLE: the library knows the rest of the rules, those of regular expressions for one, and reads
-- the tables of token encodings.
CREATE OR REPLACE FUNCTION ai._validate_chunking(config jsonb) RETURNS jsonb
    LANGUAGE plpgsql STABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    size int;
    overlap int;
    whole_pieces boolean := config ->> 'implementation' IN ('sentence', 'semantic');
    sizes constant jsonb := '{
        "chunk_size": {"type": "integer", "min": 1},
        "chunk_overlap": {"type": "integer", "min": 0},
        "strip_whitespace": {"type": "boolean"},
        "length": {"type": "string"}}';
    separators constant jsonb := sizes || '{
        "is_separator_regex": {"type": "boolean"},
        "keep_separator": {"type": "string", "one_of": ["none", "start", "end"]}}';
BEGIN
    PERFORM ai._check_section('chunking', config, jsonb_build_object(
        'none', '{}'::jsonb,
        'character_text_splitter',
            separators || '{"separator": {"type": "string", "empty": true}}',
        'recursive_character_text_splitter', separators || '{"separators": {"type": "strings"}}',
        'sentence', sizes || '{
            "min_sentences_per_chunk": {"type": "integer", "min": 1},
            "min_characters_per_sentence": {"type": "integer", "min": 1},
            "delimiters": {"type": "strings"},
            "include_delimiter": {"type": "string", "one_of": ["previous", "next"]},
            "cjk_terminators": {"type": "boolean"}}',
        'semantic', sizes));
    size := config ->> 'chunk_size';
    overlap := config ->> 'chunk_overlap';
    IF overlap > size OR overlap = size AND whole_pieces THEN
        RAISE EXCEPTION 'chunk_overlap (%) must % chunk_size (%)', overlap,
            CASE WHEN whole_pieces THEN 'be smaller than' ELSE 'not be larger than' END, size
            USING ERRCODE = 'invalid_parameter_value',
                  HINT = 'Give both chunk_size and chunk_overlap.';
    END IF;
    PERFORM ai.chunk(config, '');
    RETURN config;
END
$$;
COMMENT ON FUNCTION ai._validate_chunking(jsonb) IS
    'the given chunking configuration, if it is a valid one';

CREATE OR REPLACE FUNCTION ai.chunking_none() RETURNS jsonb
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $$SELECT ai._config('chunking', 'none')$$;
COMMENT ON FUNCTION ai.chunking_none() IS 'vectorizer configuration: a text is one chunk';

CREATE OR REPLACE FUNCTION ai.chunking_character_text_splitter(chunk_size int4 DEFAULT 800,
        chunk_overlap int4 DEFAULT 400, separator text DEFAULT E'\n\n',
        is_separator_regex boolean DEFAULT false, keep_separator text DEFAULT NULL,
        strip_whitespace boolean DEFAULT NULL, length text DEFAULT NULL) RETURNS jsonb
    LANGUAGE sql STABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT ai._validate_chunking(ai._config('chunking', 'character_text_splitter',
        jsonb_build_object('chunk_size', chunk_size, 'chunk_overlap', chunk_overlap,
            'separator', separator, 'is_separator_regex', is_separator_regex,
            'keep_separator', keep_separator, 'strip_whitespace', strip_whitespace,
            'length', length)))
    $$;
COMMENT ON FUNCTION
    ai.chunking_character_text_splitter(int4, int4, text, boolean, text, boolean, text) IS
    'vectorizer configuration: chunks are cut at one separator';

CREATE OR REPLACE FUNCTION ai.chunking_recursive_character_text_splitter(chunk_size int4 DEFAULT 800,
        chunk_overlap int4 DEFAULT 400,
        separators text[] DEFAULT ARRAY[E'\n\n', E'\n', '.', '?', '!', ' ', ''],
        is_separator_regex boolean DEFAULT false, keep_separator text DEFAULT NULL,
        strip_whitespace boolean DEFAULT NULL, length text DEFAULT NULL) RETURNS jsonb
    LANGUAGE sql STABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT ai._validate_chunking(ai._config('chunking', 'recursive_character_text_splitter',
        jsonb_build_object('chunk_size', chunk_size, 'chunk_overlap', chunk_overlap,
            'separators', separators, 'is_separator_regex', is_separator_regex,
            'keep_separator', keep_separator, 'strip_whitespace', strip_whitespace,
            'length', length)))
    $$;
COMMENT ON FUNCTION
    ai.chunking_recursive_character_text_splitter(int4, int4, text[], boolean, text, boolean,
                                                  text) IS
    'vectorizer configuration: chunks are cut at the first of several separators that helps';

CREATE OR REPLACE FUNCTION ai.chunking_sentence(chunk_size int4 DEFAULT 800, chunk_overlap int4 DEFAULT 0,
        min_sentences_per_chunk int4 DEFAULT 1, min_characters_per_sentence int4 DEFAULT 12,
        delimiters text[] DEFAULT ARRAY['. ', '! ', '? ', E'\n'],
        include_delimiter text DEFAULT 'previous', cjk_terminators boolean DEFAULT false,
        strip_whitespace boolean DEFAULT NULL, length text DEFAULT NULL) RETURNS jsonb
    LANGUAGE sql STABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT ai._validate_chunking(ai._config('chunking', 'sentence',
        jsonb_build_object('chunk_size', chunk_size, 'chunk_overlap', chunk_overlap,
            'min_sentences_per_chunk', min_sentences_per_chunk,
            'min_characters_per_sentence', min_characters_per_sentence,
            'delimiters', delimiters, 'include_delimiter', include_delimiter,
            'cjk_terminators', cjk_terminators, 'strip_whitespace', strip_whitespace,
            'length', length)))
    $$;
COMMENT ON FUNCTION
    ai.chunking_sentence(int4, int4, int4, int4, text[], text, boolean, boolean, text) IS
    'vectorizer configuration: chunks are whole sentences';

CREATE OR REPLACE FUNCTION ai.chunking_semantic(chunk_size int4 DEFAULT 800, chunk_overlap int4 DEFAULT 0,
                                     strip_whitespace boolean DEFAULT NULL,
                                     length text DEFAULT NULL) RETURNS jsonb
    LANGUAGE sql STABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT ai._validate_chunking(ai._config('chunking', 'semantic',
        jsonb_build_object('chunk_size', chunk_size, 'chunk_overlap', chunk_overlap,
                           'strip_whitespace', strip_whitespace, 'length', length)))
    $$;
COMMENT ON FUNCTION ai.chunking_semantic(int4, int4, boolean, text) IS
    'vectorizer configuration: chunks are cut where the text parts most strongly';
-- How a chunk and the columns of its row become the text that is embedded.

-- Templates are those of Python's string.Template: $name, ${name}, and $$ for a dollar sign.
-- Between braces any name will do.
CREATE OR REPLACE FUNCTION ai._template_placeholders(template text) RETURNS text[]
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $body$
DECLARE
    match text[];
    placeholder text;
    found_names text[] := '{}';
BEGIN
    FOR match IN
        SELECT regexp_matches(template,
            '[$](?:([$])|([_a-zA-Z][_a-zA-Z0-9]*)|[{]([^}]+)[}]|())', 'g')
    LOOP
        placeholder := coalesce(match[2], match[3]);
        IF match[1] IS NULL AND placeholder IS NULL THEN
            RAISE EXCEPTION 'invalid placeholder in template'
                USING ERRCODE = 'invalid_parameter_value',
                      DETAIL = 'A "$" is followed neither by a name nor by "{name}".',
                      HINT = 'Write "$$" for a dollar sign.';
        END IF;
        IF placeholder IS NOT NULL AND placeholder <> ALL (found_names) THEN
            found_names := found_names || placeholder;
        END IF;
    END LOOP;
    RETURN found_names;
END
$body$;
COMMENT ON FUNCTION ai._template_placeholders(text) IS
    'names of the placeholders in a template, in the order of their first appearance';

CREATE OR REPLACE FUNCTION ai._template_rename(template text, old_name text, new_name text) RETURNS text
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $body$
DECLARE
    piece text;
    result text := '';
BEGIN
    -- Cuts after a dollar sign and what belongs to it, so that "$$name" is not taken for "$name".
    FOR piece IN
        SELECT m[1] FROM regexp_matches(template,
            '((?:[$][$]|[$][_a-zA-Z][_a-zA-Z0-9]*|[$][{][^}]+[}]|[^$]+))', 'g') m
    LOOP
        result := result || CASE WHEN piece IN ('$' || old_name, '${' || old_name || '}')
                                 THEN '${' || new_name || '}' ELSE piece END;
    END LOOP;
    RETURN result;
END
$body$;
COMMENT ON FUNCTION ai._template_rename(text, text, text) IS
    'a template with the placeholders of one name replaced by those of another';

CREATE OR REPLACE FUNCTION ai._validate_formatting(config jsonb) RETURNS jsonb
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $body$
BEGIN
    PERFORM ai._check_section('formatting', config, '{
        "python_template": {"template": {"type": "string", "required": true, "empty": true}},
        "chunk_value": {}}');
    IF config ->> 'implementation' = 'python_template'
       AND 'chunk' <> ALL (ai._template_placeholders(config ->> 'template')) THEN
        RAISE EXCEPTION 'template must contain $chunk placeholder'
            USING ERRCODE = 'invalid_parameter_value';
    END IF;
    RETURN config;
END
$body$;
COMMENT ON FUNCTION ai._validate_formatting(jsonb) IS
    'the given formatting configuration, if it is a valid one';

CREATE OR REPLACE FUNCTION ai.formatting_python_template(template text DEFAULT '$chunk') RETURNS jsonb
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $body$
    SELECT ai._validate_formatting(ai._config('formatting', 'python_template',
        jsonb_build_object('template', template)))
    $body$;
COMMENT ON FUNCTION ai.formatting_python_template(text) IS
    'vectorizer configuration: $chunk and $column are replaced in a template';

CREATE OR REPLACE FUNCTION ai.formatting_chunk_value() RETURNS jsonb
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $body$SELECT ai._config('formatting', 'chunk_value')$body$;
COMMENT ON FUNCTION ai.formatting_chunk_value() IS
    'vectorizer configuration: the chunk is embedded as it is';

CREATE OR REPLACE FUNCTION ai._formatting_columns(formatting jsonb) RETURNS text[]
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $body$
    SELECT array_remove(coalesce(ai._template_placeholders(formatting ->> 'template'), '{}'),
                        'chunk')
    $body$;
COMMENT ON FUNCTION ai._formatting_columns(jsonb) IS
    'columns of the source table that a formatting configuration uses';

-- What only the source table can tell about formatting.
CREATE OR REPLACE FUNCTION ai._validate_formatting_source(source regclass, formatting jsonb) RETURNS void
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $body$
DECLARE
    placeholder text;
BEGIN
    FOREACH placeholder IN ARRAY ai._formatting_columns(formatting) LOOP
        IF NOT EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = source
                       AND a.attname = placeholder AND a.attnum > 0 AND NOT a.attisdropped) THEN
            RAISE EXCEPTION 'template refers to column "%", which the source table does not have',
                placeholder
                USING ERRCODE = 'undefined_column', HINT = 'Write "$$" for a dollar sign.';
        END IF;
    END LOOP;
END
$body$;
COMMENT ON FUNCTION ai._validate_formatting_source(regclass, jsonb) IS
    'raises an error unless the source table has every column that the template uses';
-- Whether and how the embeddings get a vector index.

-- Embeddings are stored as vector. An operator class for halfvec or bit means an index on an
-- expression: embedding::halfvec(n), or binary_quantize(embedding)::bit(n). The dimensions are the
-- limits of pgvector's hnsw.
CREATE OR REPLACE FUNCTION ai._hnsw_max_dimensions(opclass text) RETURNS int4
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT CASE
        WHEN opclass IN ('vector_cosine_ops', 'vector_l2_ops', 'vector_ip_ops', 'vector_l1_ops')
            THEN 2000
        WHEN opclass IN ('halfvec_cosine_ops', 'halfvec_l2_ops', 'halfvec_ip_ops', 'halfvec_l1_ops')
            THEN 4000
        WHEN opclass IN ('bit_hamming_ops', 'bit_jaccard_ops') THEN 64000
    END
    $$;
COMMENT ON FUNCTION ai._hnsw_max_dimensions(text) IS
    'most dimensions that hnsw indexes with an operator class; null for one that does not fit';

CREATE OR REPLACE FUNCTION ai._hnsw_has_opclass(opclass text) RETURNS boolean
    LANGUAGE sql STABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT EXISTS (
        SELECT FROM pg_opclass o
        JOIN pg_am m ON m.oid = o.opcmethod AND m.amname = 'hnsw'
        JOIN pg_extension e ON e.extnamespace = o.opcnamespace AND e.extname = 'vector'
        WHERE o.opcname = opclass)
    $$;
COMMENT ON FUNCTION ai._hnsw_has_opclass(text) IS
    'whether the installed pgvector has an operator class for hnsw';

CREATE OR REPLACE FUNCTION ai._validate_indexing(config jsonb, dimensions int4 DEFAULT NULL) RETURNS jsonb
    LANGUAGE plpgsql STABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    opclass text;
BEGIN
    PERFORM ai._check_section('indexing', config, '{"none": {}, "default": {}, "hnsw": {
        "min_rows": {"type": "integer", "min": 0},
        "opclass": {"type": "string"},
        "m": {"type": "integer", "min": 2, "max": 100},
        "ef_construction": {"type": "integer", "min": 4, "max": 1000},
        "create_when_queue_empty": {"type": "boolean"}}}');
    IF config ->> 'implementation' <> 'hnsw' THEN
        RETURN config;
    END IF;
    opclass := coalesce(config ->> 'opclass', 'vector_cosine_ops');
    IF ai._hnsw_max_dimensions(opclass) IS NULL THEN
        RAISE EXCEPTION 'operator class "%" does not fit embeddings of type vector', opclass
            USING ERRCODE = 'invalid_parameter_value',
                  HINT = 'Use one of vector_cosine_ops, vector_l2_ops, vector_ip_ops, '
                         'vector_l1_ops, the same with halfvec, bit_hamming_ops, bit_jaccard_ops.';
    END IF;
    IF NOT ai._hnsw_has_opclass(opclass) THEN
        RAISE EXCEPTION 'the installed pgvector has no operator class "%" for hnsw', opclass
            USING ERRCODE = 'undefined_object', HINT = 'Install pgvector 0.7 or later.';
    END IF;
    IF dimensions > ai._hnsw_max_dimensions(opclass) THEN
        RAISE EXCEPTION 'hnsw with % cannot index % dimensions, only up to %', opclass, dimensions,
            ai._hnsw_max_dimensions(opclass)
            USING ERRCODE = 'invalid_parameter_value',
                  HINT = 'halfvec operator classes go up to 4000 dimensions, bit ones up to 64000.';
    END IF;
    IF coalesce((config ->> 'ef_construction')::int, 64)
       < 2 * coalesce((config ->> 'm')::int, 16) THEN
        RAISE EXCEPTION 'ef_construction must be greater than or equal to 2 * m'
            USING ERRCODE = 'invalid_parameter_value',
                  DETAIL = 'The default of ef_construction is 64, that of m is 16.';
    END IF;
    RETURN config;
END
$$;
COMMENT ON FUNCTION ai._validate_indexing(jsonb, int4) IS
    'the given indexing configuration, if it is a valid one, and fits the number of dimensions';

CREATE OR REPLACE FUNCTION ai.indexing_none() RETURNS jsonb
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $$SELECT ai._config('indexing', 'none')$$;
COMMENT ON FUNCTION ai.indexing_none() IS 'vectorizer configuration: no vector index is made';

CREATE OR REPLACE FUNCTION ai.indexing_default() RETURNS jsonb
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $$SELECT ai._config('indexing', 'default')$$;
COMMENT ON FUNCTION ai.indexing_default() IS
    'vectorizer configuration: hnsw, if the dimensions allow it';

CREATE OR REPLACE FUNCTION ai.indexing_hnsw(min_rows int4 DEFAULT 100000,
        opclass text DEFAULT 'vector_cosine_ops', m int4 DEFAULT NULL,
        ef_construction int4 DEFAULT NULL, create_when_queue_empty boolean DEFAULT true)
    RETURNS jsonb
    LANGUAGE sql STABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT ai._validate_indexing(ai._config('indexing', 'hnsw',
        jsonb_build_object('min_rows', min_rows, 'opclass', opclass, 'm', m,
            'ef_construction', ef_construction,
            'create_when_queue_empty', create_when_queue_empty)))
    $$;
COMMENT ON FUNCTION ai.indexing_hnsw(int4, text, int4, int4, boolean) IS
    'vectorizer configuration: an hnsw index is made once there are min_rows embeddings';

CREATE OR REPLACE FUNCTION ai.indexing_diskann(min_rows int4 DEFAULT 100000, storage_layout text DEFAULT NULL,
        num_neighbors int4 DEFAULT NULL, search_list_size int4 DEFAULT NULL,
        max_alpha float8 DEFAULT NULL, num_dimensions int4 DEFAULT NULL,
        num_bits_per_dimension int4 DEFAULT NULL, create_when_queue_empty boolean DEFAULT true)
    RETURNS jsonb
    LANGUAGE sql
    SET search_path = pg_catalog, pg_temp
    AS $$SELECT ai._not_supported('indexing with diskann', 'Use ai.indexing_hnsw().')$$;
COMMENT ON FUNCTION
    ai.indexing_diskann(int4, text, int4, int4, float8, int4, int4, boolean) IS
    'not supported: raises an error that says what to do';

CREATE OR REPLACE FUNCTION ai._resolve_indexing(config jsonb, dimensions int4) RETURNS jsonb
    LANGUAGE sql STABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT CASE
        WHEN config ->> 'implementation' <> 'default' THEN config
        WHEN dimensions <= 2000 THEN ai.indexing_hnsw()
        WHEN dimensions <= 4000 AND ai._hnsw_has_opclass('halfvec_cosine_ops')
            THEN ai.indexing_hnsw(opclass => 'halfvec_cosine_ops')
        ELSE ai.indexing_none() END
    $$;
COMMENT ON FUNCTION ai._resolve_indexing(jsonb, int4) IS
    'what ai.indexing_default() means for a number of dimensions';
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
-- The catalog of vectorizers. No role but the owner of the extension has rights on these tables:
-- a row decides where a table's text and a provider's key are sent.

CREATE SEQUENCE ai.vectorizer_id_seq AS int4;
COMMENT ON SEQUENCE ai.vectorizer_id_seq IS 'numbers of vectorizers';

-- Tables are kept by their OIDs, so that renames follow; a dump has their names. The event triggers
-- clear target and view when that table or view is dropped, so no OID is left to be used again.
CREATE TABLE ai.vectorizer (
    id           int4 PRIMARY KEY DEFAULT nextval('ai.vectorizer_id_seq'),
    name         text NOT NULL UNIQUE CHECK (name <> ''),
    source       regclass NOT NULL,
    source_pk    jsonb NOT NULL,
    target       regclass,
    view         regclass,
    queue        regclass NOT NULL,
    work         regclass NOT NULL,
    failed       regclass NOT NULL,
    trigger_name name NOT NULL,
    config       jsonb NOT NULL,
    owner_role   name NOT NULL,
    disabled     boolean NOT NULL DEFAULT false,
    created      timestamptz NOT NULL DEFAULT now(),
    restoring    boolean NOT NULL DEFAULT false
);
CREATE INDEX ON ai.vectorizer (source);
CREATE INDEX ON ai.vectorizer (queue);
COMMENT ON TABLE ai.vectorizer IS 'vectorizers: which table is embedded, how, and where to';
COMMENT ON COLUMN ai.vectorizer.source_pk IS
    'columns of the key, in its order: attname in the source, queue_column and target_column in '
    'our tables, pknum, typname, basetype (without domain), collation, equals (the operator)';
COMMENT ON COLUMN ai.vectorizer.target IS
    'table of the embeddings; null for a column destination, or when it was dropped';
COMMENT ON COLUMN ai.vectorizer.view IS 'view that joins source and target, if there is one';
COMMENT ON COLUMN ai.vectorizer.queue IS 'table of changed rows that no worker has taken yet';
COMMENT ON COLUMN ai.vectorizer.work IS 'table of rows that workers have taken, or will try again';
COMMENT ON COLUMN ai.vectorizer.failed IS 'table of rows that were given up';
COMMENT ON COLUMN ai.vectorizer.trigger_name IS
    'name of the trigger for INSERT and DELETE; the others have a suffix';
COMMENT ON COLUMN ai.vectorizer.config IS 'what create_vectorizer was given, a section each';
COMMENT ON COLUMN ai.vectorizer.owner_role IS
    'owner of the source when last looked at; the truth is the owner in pg_class';
COMMENT ON COLUMN ai.vectorizer.restoring IS
    'the row came from a dump whose triggers are still to come: nothing is taken from its queue, and '
    'what happens to its tables is part of the restore';

CREATE SEQUENCE ai._vectorizer_errors_seq;
COMMENT ON SEQUENCE ai._vectorizer_errors_seq IS 'numbers of errors, in the order of their coming';

-- A ring for each vectorizer: an error takes the slot after that of the one before, and whatever had
-- it goes. So there are never many, however many rows fail, and no vectorizer's errors drive out
-- those of another.
CREATE TABLE ai._vectorizer_errors (
    id       int4 NOT NULL REFERENCES ai.vectorizer ON DELETE CASCADE,
    message  text NOT NULL,
    details  jsonb,
    recorded timestamptz NOT NULL DEFAULT now(),
    number   bigint NOT NULL DEFAULT nextval('ai._vectorizer_errors_seq'),
    slot     int2 NOT NULL
);
CREATE INDEX ON ai._vectorizer_errors (id, recorded);
CREATE INDEX ON ai._vectorizer_errors (id, number);
CREATE INDEX ON ai._vectorizer_errors (id, slot);
-- In a publication of all tables, what has no key cannot be deleted otherwise.
ALTER TABLE ai._vectorizer_errors REPLICA IDENTITY FULL;
COMMENT ON TABLE ai._vectorizer_errors IS
    'errors of vectorizers, the newest thousand of each; details has the key of the row, the step and '
    'the class of the error';

-- The queues with their tables of work and of failed rows inherit from this one, which has neither
-- columns nor rows: so that DROP EXTENSION knows what belongs to it, though they have to be in a dump.
CREATE TABLE ai._vectorizer_queue ();
COMMENT ON TABLE ai._vectorizer_queue IS 'parent of all queues, tables of work and tables of failed rows';

SELECT pg_catalog.pg_extension_config_dump('ai.vectorizer_id_seq', '');
SELECT pg_catalog.pg_extension_config_dump('ai.vectorizer', '');
SELECT pg_catalog.pg_extension_config_dump('ai._vectorizer_errors_seq', '');
SELECT pg_catalog.pg_extension_config_dump('ai._vectorizer_errors', '');

-- What follows is DDL itself, and comes here again. Unlogged, so that no publication minds it.
CREATE UNLOGGED TABLE ai._vectorizer_followed (vectorizer_id int4 NOT NULL);
COMMENT ON TABLE ai._vectorizer_followed IS
    'vectorizers that are being brought in step by a transaction; empty at the end of it';

-- Turning triggers on is quick and must not be undone by what comes then.
CREATE TABLE ai._vectorizer_missed (
    vectorizer_id int4 PRIMARY KEY REFERENCES ai.vectorizer ON DELETE CASCADE
);
COMMENT ON TABLE ai._vectorizer_missed IS
    'vectorizers that changes were missed of: all their rows are to be queued';
-- Composite types of functions.

CREATE TYPE ai._vectorizer_counts AS (
    pending bigint, running bigint, retrying bigint, failed bigint, oldest timestamptz,
    next_retry timestamptz, error text, error_at timestamptz
);
COMMENT ON TYPE ai._vectorizer_counts IS
    'rows of a vectorizer by state, the time of the oldest change among them, when the next one is '
    'tried again, and the error of the one that was tried last';

CREATE TYPE ai._search_parts AS (
    approximate    boolean,
    relations      text,
    condition      text,
    last_condition text,
    columns        text,
    chunk          text,
    embedding      text,
    ordering       text,
    distance       text,
    score          text,
    oversampling   int4,
    key_names      text[],
    key_equals     text[],
    key_as_jsonb   text
);
COMMENT ON TYPE ai._search_parts IS
    'what the statement of a search is made of; last_condition is one on hits, named h';

CREATE TYPE ai._search_statement AS (
    vectorizer_id int4,
    dimensions    int4,
    statement     text,
    approximate   boolean,
    oversampling  int4,
    query_vector  vector
);
COMMENT ON TYPE ai._search_statement IS
    'a search as a statement: $1 is the vector of the query, $2 the number of candidates, $3 that '
    'of hits; if it is approximate, it may miss some; a hit takes oversampling candidates';

CREATE TYPE ai.search_hit AS (
    key            jsonb,
    chunk_seq      int4,
    chunk          text,
    distance       float8,
    score          float8,
    embedding_uuid uuid
);
COMMENT ON TYPE ai.search_hit IS
    'what ai.search found: the key of the row in the source, the chunk of its text, the distance '
    'from the query and the score, higher for what is nearer; embedding_uuid is the key of the '
    'chunk in the target table, null if the embedding is in a column of the source';

CREATE TYPE ai.hybrid_hit AS (
    key            jsonb,
    chunk_seq      int4,
    chunk          text,
    distance       float8,
    score          float8,
    embedding_uuid uuid,
    vector_rank    int4,
    text_rank      int4
);
COMMENT ON TYPE ai.hybrid_hit IS
    'what ai.hybrid_search found: as ai.search_hit, with the ranks by meaning and by words, each '
    'null if the chunk is not among the first ones there; the score is what both ranks give';

CREATE TYPE ai._hybrid_statement AS (
    vectorizer_id int4,
    dimensions    int4,
    statement     text,
    approximate   boolean,
    oversampling  int4,
    query_vector  vector,
    language      regconfig
);
COMMENT ON TYPE ai._hybrid_statement IS
    'a hybrid search as a statement: $1 to $3 as in ai._search_statement, $4 is the query by '
    'words, $5 and $6 are the weights of meaning and of words, $7 is rrf_k';

CREATE TYPE ai.job_status AS ENUM
    ('pending', 'processing', 'completed', 'failed', 'retrying', 'cancelled');
COMMENT ON TYPE ai.job_status IS 'what became of an embedding job so far';

CREATE TYPE ai.job_priority AS ENUM ('low', 'normal', 'high', 'urgent');
COMMENT ON TYPE ai.job_priority IS 'what is done first';
-- See tables/vectorizer.sql.

-- One lookup for the last error and one for the slot, also for the rows of one statement, of which
-- each sees those before. A row of a dump has its slot already. Rows that two transactions write at a
-- time may share one, until it is taken again; a row that somebody has locked is just being removed.
-- Plans are made while the table is small, and must be good when it is not.
CREATE OR REPLACE FUNCTION ai._vectorizer_errors_keep_newest() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET enable_bitmapscan = off
    AS $$
DECLARE
    slots constant int4 := 1000;
BEGIN
    IF NEW.slot IS NULL THEN
        NEW.slot := coalesce((SELECT (e.slot + 1) % slots FROM ai._vectorizer_errors e
                              WHERE e.id = NEW.id ORDER BY e.number DESC LIMIT 1), 0);
    END IF;
    DELETE FROM ai._vectorizer_errors x WHERE x.ctid = ANY (ARRAY(
        SELECT e.ctid FROM ai._vectorizer_errors e WHERE e.id = NEW.id AND e.slot = NEW.slot
        FOR UPDATE SKIP LOCKED));
    RETURN NEW;
END
$$;
COMMENT ON FUNCTION ai._vectorizer_errors_keep_newest() IS
    'trigger: gives an error the next slot of its vectorizer, and removes what was in it';
-- See tables/vectorizer.sql.

CREATE OR REPLACE VIEW ai._vectorizer_detail AS
    SELECT v.id, v.name, v.disabled, v.source, s.relowner AS owner,
        sn.nspname AS source_schema, s.relname AS source_table, s.relkind AS source_kind,
        v.source_pk,
        tn.nspname AS target_schema, t.relname AS target_table,
        wn.nspname AS view_schema, w.relname AS view_name,
        qn.nspname AS queue_schema, q.relname AS queue_table,
        kn.nspname AS work_schema, k.relname AS work_table,
        fn.nspname AS failed_schema, f.relname AS failed_table,
        v.config
    FROM ai.vectorizer v
    JOIN pg_catalog.pg_class s ON s.oid = v.source
    JOIN pg_catalog.pg_namespace sn ON sn.oid = s.relnamespace
    JOIN pg_catalog.pg_class q ON q.oid = v.queue
    JOIN pg_catalog.pg_namespace qn ON qn.oid = q.relnamespace
    JOIN pg_catalog.pg_class k ON k.oid = v.work
    JOIN pg_catalog.pg_namespace kn ON kn.oid = k.relnamespace
    JOIN pg_catalog.pg_class f ON f.oid = v.failed
    JOIN pg_catalog.pg_namespace fn ON fn.oid = f.relnamespace
    LEFT JOIN pg_catalog.pg_class t ON t.oid = v.target
    LEFT JOIN pg_catalog.pg_namespace tn ON tn.oid = t.relnamespace
    LEFT JOIN pg_catalog.pg_class w ON w.oid = v.view
    LEFT JOIN pg_catalog.pg_namespace wn ON wn.oid = w.relnamespace;
COMMENT ON VIEW ai._vectorizer_detail IS
    'vectorizers with the names of their tables and the owner their work is done as';
-- Which worker processes there are, and how far each vectorizer is.

-- One row per worker process (alive or dead)
CREATE TABLE ai.vectorizer_worker_process (
    id                          uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    version                     text NOT NULL,
    started                     timestamptz NOT NULL DEFAULT now(),
    expected_heartbeat_interval interval NOT NULL,
    last_heartbeat              timestamptz NOT NULL DEFAULT now(),
    heartbeat_count             bigint NOT NULL DEFAULT 0,
    success_count               bigint NOT NULL DEFAULT 0,
    error_count                 bigint NOT NULL DEFAULT 0,
    last_error_at               timestamptz,
    last_error_message          text
);
CREATE INDEX ON ai.vectorizer_worker_process (last_heartbeat);
COMMENT ON TABLE ai.vectorizer_worker_process IS
    'worker processes, alive or dead; a heartbeat older than expected_heartbeat_interval is late';

-- One row per vectorizer, shared by all workers. No foreign key to the process: that table may be
-- cleaned up on its own, and nothing may stop progress from being recorded.
CREATE TABLE ai.vectorizer_worker_progress (
    vectorizer_id           int4 PRIMARY KEY NOT NULL
                            REFERENCES ai.vectorizer (id) ON DELETE CASCADE,
    success_count           bigint NOT NULL DEFAULT 0,
    error_count             bigint NOT NULL DEFAULT 0,
    last_success_at         timestamptz,
    last_success_process_id uuid,
    last_error_at           timestamptz,
    last_error_message      text,
    last_error_process_id   uuid,
    updated_at              timestamptz NOT NULL DEFAULT now()
);
COMMENT ON TABLE ai.vectorizer_worker_progress IS
    'how many rows of each vectorizer succeeded and failed, and what happened last';

SELECT pg_catalog.pg_extension_config_dump('ai.vectorizer_worker_process', '');
SELECT pg_catalog.pg_extension_config_dump('ai.vectorizer_worker_progress', '');
-- See tables/worker-tracking.sql.

CREATE OR REPLACE FUNCTION ai._worker_start(version text, expected_heartbeat_interval interval) RETURNS uuid
    LANGUAGE plpgsql SECURITY INVOKER
    SET search_path TO pg_catalog, pg_temp
    AS $$
DECLARE
    worker_id uuid;
BEGIN
    INSERT INTO ai.vectorizer_worker_process (version, expected_heartbeat_interval)
    VALUES (version, expected_heartbeat_interval)
    RETURNING id INTO worker_id;
    RETURN worker_id;
END
$$;
COMMENT ON FUNCTION ai._worker_start(text, interval) IS
    'registers a worker process and returns its id';

CREATE OR REPLACE FUNCTION ai._worker_heartbeat(worker_id uuid, num_successes_since_last_heartbeat bigint,
        num_errors_since_last_heartbeat bigint, error_message text) RETURNS void
    LANGUAGE plpgsql SECURITY INVOKER
    SET search_path TO pg_catalog, pg_temp
    AS $$
DECLARE
    heartbeat_timestamp timestamptz = clock_timestamp();
BEGIN
    UPDATE ai.vectorizer_worker_process SET
        last_heartbeat = heartbeat_timestamp,
        heartbeat_count = heartbeat_count + 1,
        success_count = success_count + num_successes_since_last_heartbeat,
        error_count = error_count + num_errors_since_last_heartbeat,
        last_error_message = CASE WHEN error_message IS NOT NULL
            THEN error_message ELSE last_error_message END,
        last_error_at = CASE WHEN error_message IS NOT NULL
            THEN heartbeat_timestamp ELSE last_error_at END
    WHERE id = worker_id;
END
$$;
COMMENT ON FUNCTION ai._worker_heartbeat(uuid, bigint, bigint, text) IS
    'notes that a worker process is alive; the numbers are added to its totals';

CREATE OR REPLACE FUNCTION ai._worker_progress(worker_id uuid, worker_vectorizer_id int4,
        num_successes bigint, error_message text) RETURNS void
    LANGUAGE plpgsql SECURITY INVOKER
    SET search_path TO pg_catalog, pg_temp
    AS $$
DECLARE
    progress_timestamp timestamptz = clock_timestamp();
BEGIN
    INSERT INTO ai.vectorizer_worker_progress (
        vectorizer_id, success_count, error_count,
        last_success_at, last_success_process_id,
        last_error_at, last_error_message, last_error_process_id,
        updated_at
    ) VALUES (
        worker_vectorizer_id, num_successes,
        CASE WHEN error_message IS NULL THEN 0 ELSE 1 END,
        CASE WHEN error_message IS NULL THEN progress_timestamp END,
        CASE WHEN error_message IS NULL THEN worker_id END,
        CASE WHEN error_message IS NOT NULL THEN progress_timestamp END,
        error_message,
        CASE WHEN error_message IS NOT NULL THEN worker_id END,
        progress_timestamp
    )
    ON CONFLICT (vectorizer_id) DO UPDATE SET
        success_count = ai.vectorizer_worker_progress.success_count + EXCLUDED.success_count,
        error_count = ai.vectorizer_worker_progress.error_count + EXCLUDED.error_count,
        last_success_at = COALESCE(EXCLUDED.last_success_at,
            ai.vectorizer_worker_progress.last_success_at),
        last_success_process_id = COALESCE(EXCLUDED.last_success_process_id,
            ai.vectorizer_worker_progress.last_success_process_id),
        last_error_at = COALESCE(EXCLUDED.last_error_at,
            ai.vectorizer_worker_progress.last_error_at),
        last_error_message = COALESCE(EXCLUDED.last_error_message,
            ai.vectorizer_worker_progress.last_error_message),
        last_error_process_id = COALESCE(EXCLUDED.last_error_process_id,
            ai.vectorizer_worker_progress.last_error_process_id),
        updated_at = progress_timestamp;
END
$$;
COMMENT ON FUNCTION ai._worker_progress(uuid, int4, bigint, text) IS
    'adds to the progress of a vectorizer: successes, or one error if there is a message';
-- Restoring a dump. A restore is known by what only a restore does: it inserts rows into the catalog
-- that were not made in its own transaction. Only superusers and the owner of the extension can; others
-- reach these tables through functions alone. No setting of a session plays a part.
--
-- A dump has first the tables, with partitions attached, then the rows of all tables, those of the
-- catalog too, then indexes and triggers. So a vectorizer comes before its triggers and before the
-- marks on its partitions, which the dump makes itself: it is restoring until they are there
-- (ai._vectorizer_is_whole).
--
-- With several jobs the rows of two tables are loaded in any order, foreign key or not: a row may come
-- before the vectorizer it belongs to. It is put aside, and inserted with the vectorizer. Both sides
-- lock the table of such rows till the end of their transactions, so that one of them sees what the
-- other did.

CREATE TABLE ai._restored_rows (
    relation      regclass NOT NULL,
    vectorizer_id int4 NOT NULL,
    content       jsonb NOT NULL
);
ALTER TABLE ai._restored_rows REPLICA IDENTITY FULL;
COMMENT ON TABLE ai._restored_rows IS
    'rows that were restored before their vectorizer; empty at the end of a restore';
-- See tables/restore.sql.

-- For rows that do not tell when they were made. Background workers restore nothing, and write often.
CREATE OR REPLACE FUNCTION ai._in_session() RETURNS boolean
    LANGUAGE c STABLE STRICT PARALLEL RESTRICTED
    AS 'MODULE_PATHNAME', 'ai_in_session';
COMMENT ON FUNCTION ai._in_session() IS
    'whether this is the session of a client, not a background worker';

-- The argument is the column that refers to the vectorizer. Where that does not come, because it was
-- dropped, somebody without rights on the rows that are put aside has the error of the foreign key.
CREATE OR REPLACE FUNCTION ai._restore_row() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    wanted int4 := to_jsonb(NEW) ->> TG_ARGV[0];
BEGIN
    IF NOT has_table_privilege('ai._restored_rows', 'INSERT')
       OR EXISTS (SELECT FROM ai.vectorizer v WHERE v.id = wanted) THEN
        RETURN NEW;
    END IF;
    LOCK TABLE ai._restored_rows IN EXCLUSIVE MODE;
    IF EXISTS (SELECT FROM ai.vectorizer v WHERE v.id = wanted) THEN
        RETURN NEW;
    END IF;
    INSERT INTO ai._restored_rows VALUES (TG_RELID, wanted, to_jsonb(NEW));
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION ai._restore_row() IS
    'trigger: puts a row aside if its vectorizer is not restored yet';

CREATE OR REPLACE FUNCTION ai._restore_rows() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    restored ai._restored_rows;
BEGIN
    LOCK TABLE ai._restored_rows IN EXCLUSIVE MODE;
    FOR restored IN DELETE FROM ai._restored_rows r WHERE r.vectorizer_id = NEW.id RETURNING r.* LOOP
        EXECUTE format('INSERT INTO %1$s SELECT * FROM jsonb_populate_record(NULL::%1$s, $1)',
                       restored.relation) USING restored.content;
    END LOOP;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION ai._restore_rows() IS
    'trigger: inserts the rows that waited for their vectorizer';

-- After pg_dump --schema-only and --data-only the triggers are there before the vectorizer.
CREATE OR REPLACE FUNCTION ai._restore_vectorizer() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    NEW.restoring := NOT ai._vectorizer_is_whole(NEW);
    RETURN NEW;
END
$$;
COMMENT ON FUNCTION ai._restore_vectorizer() IS
    'trigger: notes that a vectorizer is being restored, unless it has its triggers already';
-- What a source table is like: its key, and the names that our tables can give to its columns.

CREATE OR REPLACE FUNCTION ai._qualified_name(relation regclass) RETURNS text
    LANGUAGE c STABLE STRICT
    AS 'MODULE_PATHNAME', 'ai_qualified_name';
COMMENT ON FUNCTION ai._qualified_name(regclass) IS
    'name of a relation with its schema, quoted where necessary; for one that is gone, a name that '
    'says so';

-- Names have at most 63 bytes. Cut between characters, never inside of one.
CREATE OR REPLACE FUNCTION ai._clipped_name(base text, suffix text) RETURNS name
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT (left(base, n) || suffix)::name
    FROM generate_series(length(base), 0, -1) n
    WHERE octet_length(left(base, n)) + octet_length(suffix) <= 63
    ORDER BY n DESC LIMIT 1
    $$;
COMMENT ON FUNCTION ai._clipped_name(text, text) IS
    'a name made of two parts, the first one clipped so that it fits';

CREATE OR REPLACE FUNCTION ai._free_name(wanted name, taken name[], suffix text) RETURNS name
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    candidate name := wanted;
    tries int := 1;
BEGIN
    WHILE candidate = ANY (taken) LOOP
        candidate := ai._clipped_name(wanted, suffix || coalesce(nullif(tries, 1)::text, ''));
        tries := tries + 1;
    END LOOP;
    RETURN candidate;
END
$$;
COMMENT ON FUNCTION ai._free_name(name, name[], text) IS
    'the wanted name, or if it is taken that name with a suffix and perhaps a number';

CREATE OR REPLACE FUNCTION ai._base_type(INOUT type oid, INOUT typmod int4)
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    base record;
BEGIN
    LOOP
        SELECT t.typbasetype, t.typtypmod INTO base FROM pg_type t
        WHERE t.oid = type AND t.typtype = 'd';
        EXIT WHEN NOT FOUND;
        type := base.typbasetype;
        typmod := base.typtypmod;
    END LOOP;
END
$$;
COMMENT ON FUNCTION ai._base_type(oid, int4) IS 'the type below a domain, or the type itself';

-- The primary key, or else the smallest unique index on columns that are not null.
CREATE OR REPLACE FUNCTION ai._vectorizer_key_index(source_table regclass) RETURNS regclass
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT i.indexrelid::regclass
    FROM pg_index i
    WHERE i.indrelid = source_table AND i.indisvalid AND i.indpred IS NULL AND i.indexprs IS NULL
      AND (i.indisprimary OR i.indisunique AND i.indimmediate AND NOT EXISTS (
          SELECT FROM generate_series(0, i.indnkeyatts - 1) k
          JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[k]
          WHERE NOT a.attnotnull))
    ORDER BY i.indisprimary DESC, i.indnkeyatts, i.indexrelid
    LIMIT 1
    $$;
COMMENT ON FUNCTION ai._vectorizer_key_index(regclass) IS
    'index whose columns identify the rows of a table; null if there is none';

-- Equality is that of the key's own index: names like = are not found by the search_path for types
-- of other extensions. A key of ranges that must not overlap has an index without it.
CREATE OR REPLACE FUNCTION ai._vectorizer_key_columns(source_table regclass,
        OUT pknum int4, OUT attname name, OUT typname text, OUT basetype text,
        OUT collation_name text, OUT equals text) RETURNS SETOF record
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT k + 1, a.attname, format_type(a.atttypid, a.atttypmod),
        format_type(b.type, b.typmod),
        CASE WHEN a.attcollation <> (SELECT t.typcollation FROM pg_type t WHERE t.oid = b.type) THEN
            (SELECT format('%I.%I', n.nspname, c.collname)
             FROM pg_collation c JOIN pg_namespace n ON n.oid = c.collnamespace
             WHERE c.oid = a.attcollation) END,
        coalesce(
            (SELECT format('OPERATOR(%I.%s)', n.nspname, o.oprname)
             FROM pg_opclass oc
             JOIN pg_am m ON m.oid = oc.opcmethod AND m.amname = 'btree'
             JOIN pg_amop ao ON ao.amopfamily = oc.opcfamily AND ao.amopstrategy = 3
                  AND ao.amoplefttype = oc.opcintype AND ao.amoprighttype = oc.opcintype
             JOIN pg_operator o ON o.oid = ao.amopopr
             JOIN pg_namespace n ON n.oid = o.oprnamespace
             WHERE oc.oid = i.indclass[k]),
            'OPERATOR(pg_catalog.=)')
    FROM pg_index i
    CROSS JOIN generate_series(0, i.indnkeyatts - 1) k
    JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[k]
    CROSS JOIN LATERAL ai._base_type(a.atttypid, a.atttypmod) b
    WHERE i.indexrelid = ai._vectorizer_key_index(source_table)
    ORDER BY k
    $$;
COMMENT ON FUNCTION ai._vectorizer_key_columns(regclass) IS
    'columns that identify a row of a table, in the order of the key';

CREATE OR REPLACE FUNCTION ai._vectorizer_source_pk(source_table regclass) RETURNS jsonb
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    key record;
    keys name[] := ARRAY(SELECT k.attname FROM ai._vectorizer_key_columns(source_table) k);
    -- Columns of the queue, of its tables of work and of failed rows, then those of the target.
    queue_taken name[] := '{queued_at,priority,attempts,retry_at,lease,taken_at,step,error,class,'
                          'failed_at}';
    target_taken name[] := '{embedding_uuid,chunk_seq,chunk,embedding,content_hash}';
    queue_column name;
    target_column name;
    result jsonb := '[]';
BEGIN
    FOR key IN SELECT * FROM ai._vectorizer_key_columns(source_table) LOOP
        queue_column := ai._free_name(key.attname, queue_taken || array_remove(keys, key.attname),
                                      '_key');
        target_column := ai._free_name(key.attname, target_taken || array_remove(keys, key.attname),
                                       '_key');
        queue_taken := queue_taken || queue_column;
        target_taken := target_taken || target_column;
        result := result || ai._config_object(jsonb_build_object(
            'attname', key.attname, 'pknum', key.pknum, 'typname', key.typname,
            'basetype', key.basetype, 'collation', key.collation_name, 'equals', key.equals,
            'queue_column', queue_column, 'target_column', target_column));
    END LOOP;
    RETURN nullif(result, '[]');
END
$$;
COMMENT ON FUNCTION ai._vectorizer_source_pk(regclass) IS
    'description of the key of a table, as in ai.vectorizer.source_pk; null if it has none';

-- The columns of a key in one form, joined: the templates know %1$s source, %2$s queue, %3$s target
-- column, %4$s equality operator, all quoted.
CREATE OR REPLACE FUNCTION ai._key_list(source_pk jsonb, template text, separator text DEFAULT ', ')
    RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT string_agg(
        format(template, quote_ident(k ->> 'attname'), quote_ident(k ->> 'queue_column'),
               quote_ident(k ->> 'target_column'), k ->> 'equals'),
        separator ORDER BY (k ->> 'pknum')::int)
    FROM jsonb_array_elements(source_pk) k
    $$;
COMMENT ON FUNCTION ai._key_list(jsonb, text, text) IS
    'columns of a key for a statement, each formatted with a template';

-- Rows of children are not in the key's index, so a table is read without them. A partitioned
-- table has no rows but those.
CREATE OR REPLACE FUNCTION ai._from_source(source regclass) RETURNS text
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT CASE WHEN c.relkind = 'p' THEN '' ELSE 'ONLY ' END || ai._qualified_name(source)
    FROM pg_class c WHERE c.oid = source
    $$;
COMMENT ON FUNCTION ai._from_source(regclass) IS 'a source table as it is written after FROM';

-- Types of users may have casts to json, which are functions of users: these must not run here, and
-- the values of such types are shown as texts.
CREATE OR REPLACE FUNCTION ai._key_as_jsonb(v ai.vectorizer, relation text) RETURNS text
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT 'pg_catalog.jsonb_build_object(' || string_agg(
        format(CASE WHEN a.atttypid < 16384 THEN '%L, %s.%I'
                    ELSE '%L, pg_catalog.format(''%%s'', %s.%I)' END,
               k ->> 'attname', relation, k ->> 'queue_column'), ', '
        ORDER BY (k ->> 'pknum')::int) || ')'
    FROM jsonb_array_elements(v.source_pk) k
    LEFT JOIN pg_attribute a ON a.attrelid = v.queue AND a.attname = k ->> 'queue_column'
    $$;
COMMENT ON FUNCTION ai._key_as_jsonb(ai.vectorizer, text) IS
    'expression for the key of a row of the queue, or of the tables of work and of failed rows';
-- Where embeddings go: a table with a view over it, or a column of the source table.

CREATE OR REPLACE FUNCTION ai._vector_type(dimensions int4) RETURNS text
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT format('%I.vector(%s)', n.nspname, dimensions)
    FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'vector'
    $$;
COMMENT ON FUNCTION ai._vector_type(int4) IS
    'the type vector with a number of dimensions, in whichever schema pgvector is';

-- Made by the owner where that role may create in the schema, so that its default privileges apply;
-- otherwise made for it, without anybody else's.
CREATE OR REPLACE FUNCTION ai._create_for_owner(owner oid, schema_name name, kind text, relation name,
                                     definition text) RETURNS regclass
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    statement text := format('CREATE %s %I.%I %s', kind, schema_name, relation, definition);
    made regclass;
    grantee oid;
BEGIN
    IF has_schema_privilege(owner, schema_name, 'CREATE') THEN
        PERFORM ai._run_as(owner, statement);
        RETURN format('%I.%I', schema_name, relation)::regclass;
    END IF;
    EXECUTE statement;
    made := format('%I.%I', schema_name, relation)::regclass;
    EXECUTE format('ALTER TABLE %I.%I OWNER TO %I', schema_name, relation, pg_get_userbyid(owner));
    FOR grantee IN
        SELECT DISTINCT acl.grantee FROM pg_class c, aclexplode(c.relacl) acl
        WHERE c.oid = made AND acl.grantee <> owner
    LOOP
        EXECUTE format('REVOKE ALL ON %I.%I FROM %s', schema_name, relation,
            CASE grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(grantee)) END);
    END LOOP;
    RETURN made;
END
$$;
COMMENT ON FUNCTION ai._create_for_owner(oid, name, text, name, text) IS
    'makes a table or view that belongs to a role';

CREATE OR REPLACE FUNCTION ai._vectorizer_create_target_table(owner oid, target_schema name,
        target_table name, source_pk jsonb, dimensions int4) RETURNS regclass
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    target regclass;
    keys text := (
        SELECT string_agg(format('%I %s%s NOT NULL, ', k ->> 'target_column', k ->> 'typname',
                                 coalesce(' COLLATE ' || (k ->> 'collation'), '')), ''
                          ORDER BY (k ->> 'pknum')::int)
        FROM jsonb_array_elements(source_pk) k);
BEGIN
    target := ai._create_for_owner(owner, target_schema, 'TABLE', target_table,
        format('(embedding_uuid uuid PRIMARY KEY DEFAULT gen_random_uuid(), %s'
               'chunk_seq int NOT NULL, chunk text NOT NULL, embedding %s NOT NULL, '
               'content_hash bytea, UNIQUE (%s, chunk_seq))',
               keys, ai._vector_type(dimensions), ai._key_list(source_pk, '%3$s')));
    -- Vectors hardly compress, and reading them from a second table is slow.
    PERFORM ai._run_as(owner, format('ALTER TABLE %s ALTER COLUMN embedding SET STORAGE MAIN',
                                     ai._qualified_name(target)));
    RETURN target;
END
$$;
COMMENT ON FUNCTION ai._vectorizer_create_target_table(oid, name, name, jsonb, int4) IS
    'makes the table for a vectorizer''s embeddings';

-- Columns of the source that are called as ours get a prefix.
CREATE OR REPLACE FUNCTION ai._vectorizer_view_columns(source regclass) RETURNS text
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    source_column name;
    shown name;
    taken name[] := ARRAY(SELECT a.attname FROM pg_attribute a
                          WHERE a.attrelid = source AND a.attnum > 0 AND NOT a.attisdropped);
    result text := '';
BEGIN
    FOR source_column IN
        SELECT a.attname FROM pg_attribute a
        WHERE a.attrelid = source AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum
    LOOP
        shown := source_column;
        IF source_column IN ('embedding_uuid', 'chunk_seq', 'chunk', 'embedding') THEN
            shown := ai._free_name(ai._clipped_name('source_' || source_column, ''), taken, '_');
            taken := taken || shown;
        END IF;
        result := result || format(', s.%I AS %I', source_column, shown);
    END LOOP;
    RETURN result;
END
$$;
COMMENT ON FUNCTION ai._vectorizer_view_columns(regclass) IS
    'columns of a source table as a vectorizer''s view shows them';

-- The view reads with the rights of its owner. Row security of the source would be void that way,
-- so where there is any, the view reads with the rights of its user.
CREATE OR REPLACE FUNCTION ai._vectorizer_create_view(owner oid, view_schema name, view_name name,
        source regclass, target regclass, source_pk jsonb) RETURNS regclass
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    RETURN ai._create_for_owner(owner, view_schema, 'VIEW', view_name,
        format('%sAS SELECT t.embedding_uuid, t.chunk_seq, t.chunk, t.embedding%s '
               'FROM %s t JOIN %s s ON %s',
               (SELECT CASE WHEN c.relrowsecurity THEN 'WITH (security_invoker = true) ' ELSE '' END
                FROM pg_class c WHERE c.oid = source),
               ai._vectorizer_view_columns(source),
               ai._qualified_name(target), ai._from_source(source),
               ai._key_list(source_pk, 's.%1$s %4$s t.%3$s', ' AND ')));
END
$$;
COMMENT ON FUNCTION ai._vectorizer_create_view(oid, name, name, regclass, regclass, jsonb) IS
    'makes the view that joins a vectorizer''s source and target';

-- Row security may come later. Who wants the rights of the owner nevertheless says so in the view.
CREATE OR REPLACE FUNCTION ai._vectorizer_follow_row_security(v ai.vectorizer) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    IF NOT EXISTS (
        SELECT FROM pg_class s JOIN pg_class w ON w.oid = v.view
        WHERE s.oid = v.source AND s.relrowsecurity AND NOT EXISTS (
            SELECT FROM pg_options_to_table(w.reloptions) o
            WHERE o.option_name = 'security_invoker')) THEN
        RETURN;
    END IF;
    EXECUTE format('ALTER VIEW %s SET (security_invoker = true)', ai._qualified_name(v.view));
    RAISE NOTICE 'view % reads with the rights of its user from now on', ai._qualified_name(v.view)
        USING DETAIL = format('Table %s has row security, which would be void with the rights of '
                              'the view''s owner.', ai._qualified_name(v.source)),
              HINT = 'Who uses the view needs the right to read the source and the target table.';
END
$$;
COMMENT ON FUNCTION ai._vectorizer_follow_row_security(ai.vectorizer) IS
    'has the view of a vectorizer respect the row security of its source';

CREATE OR REPLACE FUNCTION ai._vectorizer_check_embedding_column(source regclass, embedding_column name,
                                                      dimensions int4) RETURNS boolean
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    found_type text;
BEGIN
    SELECT format_type(a.atttypid, a.atttypmod) INTO found_type FROM pg_attribute a
    WHERE a.attrelid = source AND a.attname = embedding_column AND NOT a.attisdropped;
    IF found_type IS NULL THEN
        RETURN false;
    END IF;
    IF found_type <> (SELECT format_type(t.oid, dimensions) FROM pg_type t
                      JOIN pg_extension e ON e.extnamespace = t.typnamespace
                      WHERE e.extname = 'vector' AND t.typname = 'vector') THEN
        RAISE EXCEPTION 'column "%" of the source table is of type %, not vector(%)',
            embedding_column, found_type, dimensions
            USING ERRCODE = 'datatype_mismatch',
                  HINT = 'Name a column that does not exist yet, or one of that type.';
    END IF;
    RETURN true;
END
$$;
COMMENT ON FUNCTION ai._vectorizer_check_embedding_column(regclass, name, int4) IS
    'whether the source has the embedding column already; raises an error if it is of another type';
-- The queue of a vectorizer, the table of the rows it gave up, and set-based ways into the queue.

-- The trigger relies on the order of columns: the key first, then columns with defaults that are
-- the same for all rows of a transaction. Domains are replaced by their base types: nothing that
-- a user wrote is evaluated for a row of the queue.
CREATE OR REPLACE FUNCTION ai._vectorizer_queue_keys(source_pk jsonb) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT string_agg(format('%I %s%s NOT NULL', k ->> 'queue_column', k ->> 'basetype',
                             coalesce(' COLLATE ' || (k ->> 'collation'), '')), ', '
                      ORDER BY (k ->> 'pknum')::int)
    FROM jsonb_array_elements(source_pk) k
    $$;
COMMENT ON FUNCTION ai._vectorizer_queue_keys(jsonb) IS
    'definitions of the columns for a key in a queue';

-- What changed, in the order of the changes, no more: this is written by users' transactions. There
-- is no index, because that costs them more than all the rest, and nothing by which an entry could
-- be told from another one of the same row. Workers read it by place (ctid).
-- REPLICA IDENTITY FULL: in a publication of all tables, entries can still be deleted.
CREATE OR REPLACE FUNCTION ai._vectorizer_create_queue_table(queue_schema name, queue_table name,
        source_pk jsonb, priority int4) RETURNS regclass
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    EXECUTE format(
        'CREATE TABLE %I.%I (%s, queued_at timestamptz NOT NULL DEFAULT now(), '
        'priority smallint NOT NULL DEFAULT %s) INHERITS (ai._vectorizer_queue)',
        queue_schema, queue_table, ai._vectorizer_queue_keys(source_pk), priority);
    EXECUTE format('ALTER TABLE %I.%I REPLICA IDENTITY FULL', queue_schema, queue_table);
    EXECUTE format('REVOKE ALL ON %I.%I FROM PUBLIC', queue_schema, queue_table);
    RETURN format('%I.%I', queue_schema, queue_table)::regclass;
END
$$;
COMMENT ON FUNCTION ai._vectorizer_create_queue_table(name, name, jsonb, int4) IS
    'makes the queue of a vectorizer';

-- What a row says of its priority, if the vectorizer has a column for that. Who has none pays nothing.
CREATE OR REPLACE FUNCTION ai._row_priority(value text) RETURNS int4
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'ai_row_priority';
COMMENT ON FUNCTION ai._row_priority(text) IS
    'a row''s priority as a number: critical or urgent 200, high 100, low -100, a number itself';

CREATE OR REPLACE FUNCTION ai._priority_column(config jsonb) RETURNS name
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $$SELECT (config #>> '{processing,priority_column}')::name$$;
COMMENT ON FUNCTION ai._priority_column(jsonb) IS
    'column of the source by which rows of a vectorizer come first; null if there is none';

-- Entries of such a queue are taken in this order.
CREATE OR REPLACE FUNCTION ai._vectorizer_create_queue_index(v ai.vectorizer) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    IF ai._priority_column(v.config) IS NOT NULL THEN
        EXECUTE format('CREATE INDEX ON %s (priority DESC, queued_at)', ai._qualified_name(v.queue));
    END IF;
END
$$;
COMMENT ON FUNCTION ai._vectorizer_create_queue_index(ai.vectorizer) IS
    'makes the index on the queue of a vectorizer whose rows have priorities';

-- Where a worker puts what it takes from the queue, one row for all entries of a source row, until
-- it is written. A row with a lease is with that worker process; one without waits for retry_at.
-- crashes is how many processes died while they had the row: it may be what kills them.
CREATE OR REPLACE FUNCTION ai._vectorizer_create_work_table(queue_schema name, work_table name,
        source_pk jsonb) RETURNS regclass
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    EXECUTE format(
        'CREATE TABLE %I.%I (%s, queued_at timestamptz NOT NULL, priority smallint NOT NULL, '
        'attempts int NOT NULL DEFAULT 0, retry_at timestamptz, lease uuid, taken_at timestamptz, '
        'error text, crashes smallint NOT NULL DEFAULT 0, PRIMARY KEY (%s)) '
        'INHERITS (ai._vectorizer_queue)', queue_schema, work_table,
        ai._vectorizer_queue_keys(source_pk), ai._key_list(source_pk, '%2$s'));
    EXECUTE format('CREATE INDEX ON %I.%I (crashes, retry_at) WHERE lease IS NULL',
                   queue_schema, work_table);
    EXECUTE format('REVOKE ALL ON %I.%I FROM PUBLIC', queue_schema, work_table);
    RETURN format('%I.%I', queue_schema, work_table)::regclass;
END
$$;
COMMENT ON FUNCTION ai._vectorizer_create_work_table(name, name, jsonb) IS
    'makes the table for the rows that workers have taken from a vectorizer''s queue';

CREATE OR REPLACE FUNCTION ai._vectorizer_create_queue_failed_table(queue_schema name, failed_table name,
        source_pk jsonb) RETURNS regclass
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    EXECUTE format(
        'CREATE TABLE %I.%I (%s, step text NOT NULL, error text NOT NULL, class text NOT NULL, '
        'attempts int NOT NULL DEFAULT 0, failed_at timestamptz NOT NULL DEFAULT now(), '
        'PRIMARY KEY (%s)) INHERITS (ai._vectorizer_queue)',
        queue_schema, failed_table, ai._vectorizer_queue_keys(source_pk),
        ai._key_list(source_pk, '%2$s'));
    EXECUTE format('REVOKE ALL ON %I.%I FROM PUBLIC', queue_schema, failed_table);
    RETURN format('%I.%I', queue_schema, failed_table)::regclass;
END
$$;
COMMENT ON FUNCTION ai._vectorizer_create_queue_failed_table(name, name, jsonb) IS
    'makes the table for the rows that a vectorizer gave up, with the last error of each';

-- The owner of the source may look into the queue and may put rows into it, no more.
CREATE OR REPLACE FUNCTION ai._vectorizer_grant_queue(v ai.vectorizer, role name) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    EXECUTE format('GRANT SELECT, INSERT (%s%s) ON %s TO %I', ai._key_list(v.source_pk, '%2$s'),
                   CASE WHEN ai._priority_column(v.config) IS NOT NULL THEN ', priority' END,
                   ai._qualified_name(v.queue), role);
    EXECUTE format('GRANT SELECT ON %s, %s TO %I', ai._qualified_name(v.work),
                   ai._qualified_name(v.failed), role);
END
$$;
COMMENT ON FUNCTION ai._vectorizer_grant_queue(ai.vectorizer, name) IS
    'gives the owner of a source its rights on the queue';

-- The event triggers see to it that there is; a superuser can turn them off.
CREATE OR REPLACE FUNCTION ai._vectorizer_has_queue(v ai.vectorizer) RETURNS boolean
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$SELECT count(*) = 3 FROM pg_class c WHERE c.oid IN (v.queue, v.work, v.failed)$$;
COMMENT ON FUNCTION ai._vectorizer_has_queue(ai.vectorizer) IS
    'whether the queue of a vectorizer and the tables that go with it are there';

CREATE OR REPLACE FUNCTION ai._vectorizer_owner(v ai.vectorizer) RETURNS oid
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$SELECT c.relowner FROM pg_class c WHERE c.oid = v.source$$;
COMMENT ON FUNCTION ai._vectorizer_owner(ai.vectorizer) IS
    'role that owns a vectorizer, which is the owner of its source table';

CREATE OR REPLACE FUNCTION ai._vectorizer_enqueue_rows(v ai.vectorizer, relation text,
                                            condition text DEFAULT '') RETURNS bigint
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    rows bigint;
    priority text;
BEGIN
    PERFORM ai._vectorizer_follow_owner(v);
    IF ai._priority_column(v.config) IS NOT NULL THEN
        priority := format(
            ', least(greatest(%s + coalesce(ai._row_priority(%I::text), 0), -32768), 32767)',
            coalesce((v.config #>> '{processing,priority}')::int, 0), ai._priority_column(v.config));
    END IF;
    rows := ai._run_as(ai._vectorizer_owner(v), format(
        'INSERT INTO %s (%s%s) SELECT %s%s FROM %s %s', ai._qualified_name(v.queue),
        ai._key_list(v.source_pk, '%2$s'), CASE WHEN priority IS NOT NULL THEN ', priority' END,
        ai._key_list(v.source_pk, '%1$s'), priority, relation, condition));
    IF rows > 0 THEN
        PERFORM ai._vectorizer_notify(v.queue);
    END IF;
    RETURN rows;
END
$$;
COMMENT ON FUNCTION ai._vectorizer_enqueue_rows(ai.vectorizer, text, text) IS
    'queues the rows of the source table, or of one of its partitions';

-- After rows went away without firing a row trigger.
CREATE OR REPLACE FUNCTION ai._vectorizer_enqueue_orphans(v ai.vectorizer) RETURNS bigint
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    rows bigint;
BEGIN
    IF NOT EXISTS (SELECT FROM pg_class c WHERE c.oid = v.target AND c.relkind = 'r') THEN
        RETURN 0;
    END IF;
    PERFORM ai._vectorizer_follow_owner(v);
    rows := ai._run_as(ai._vectorizer_owner(v), format(
        'INSERT INTO %s (%s) SELECT DISTINCT %s FROM ONLY %s t '
        'WHERE NOT EXISTS (SELECT FROM %s s WHERE %s)',
        ai._qualified_name(v.queue), ai._key_list(v.source_pk, '%2$s'),
        ai._key_list(v.source_pk, 't.%3$s'), ai._qualified_name(v.target),
        ai._from_source(v.source), ai._key_list(v.source_pk, 's.%1$s %4$s t.%3$s', ' AND ')));
    IF rows > 0 THEN
        PERFORM ai._vectorizer_notify(v.queue);
    END IF;
    RETURN rows;
END
$$;
COMMENT ON FUNCTION ai._vectorizer_enqueue_orphans(ai.vectorizer) IS
    'queues the keys that have embeddings but no row any more';
-- The triggers on source tables. A user's transaction only ever inserts into a queue.
--
-- CREATE TRIGGER needs EXECUTE on the function, and so does who makes or attaches a partition: PostgreSQL
-- copies row triggers there. So everybody has it, and the function checks that its table may fill the queue.

-- The arguments are the queue's schema and name, then the key columns of the source, then, if rows have
-- priorities, an empty one and the column of these.
CREATE OR REPLACE FUNCTION ai._vectorizer_enqueue() RETURNS trigger
    LANGUAGE c
    AS 'MODULE_PATHNAME', 'ai_vectorizer_enqueue';
COMMENT ON FUNCTION ai._vectorizer_enqueue() IS
    'row trigger of a vectorizer''s source: collects the key of the row for the queue';

CREATE OR REPLACE FUNCTION ai._vectorizer_flush() RETURNS trigger
    LANGUAGE c
    AS 'MODULE_PATHNAME', 'ai_vectorizer_flush';
COMMENT ON FUNCTION ai._vectorizer_flush() IS
    'statement trigger of a vectorizer''s source: writes the collected keys to the queue';
REVOKE ALL ON FUNCTION ai._vectorizer_flush() FROM PUBLIC;

CREATE OR REPLACE FUNCTION ai._vectorizer_flush_pending() RETURNS void
    LANGUAGE c VOLATILE
    AS 'MODULE_PATHNAME', 'ai_vectorizer_flush_pending';
COMMENT ON FUNCTION ai._vectorizer_flush_pending() IS
    'writes the keys that this transaction has collected so far to the queues';

-- What workers are told at the commit of a transaction: see doc/architecture.md.
CREATE OR REPLACE FUNCTION ai._vectorizer_notify() RETURNS void
    LANGUAGE c VOLATILE STRICT
    AS 'MODULE_PATHNAME', 'ai_vectorizer_notify';
COMMENT ON FUNCTION ai._vectorizer_notify() IS
    'lets the commit of this transaction wake the workers, which then look at everything';

CREATE OR REPLACE FUNCTION ai._vectorizer_notify(queue oid) RETURNS void
    LANGUAGE c VOLATILE STRICT
    AS 'MODULE_PATHNAME', 'ai_vectorizer_notify';
COMMENT ON FUNCTION ai._vectorizer_notify(oid) IS
    'lets the commit of this transaction wake the workers for a queue, as the triggers do';

CREATE OR REPLACE FUNCTION ai._embedding_jobs_notify() RETURNS void
    LANGUAGE c VOLATILE STRICT
    AS 'MODULE_PATHNAME', 'ai_embedding_jobs_notify';
COMMENT ON FUNCTION ai._embedding_jobs_notify() IS
    'lets the commit of this transaction wake the workers for embedding jobs';

CREATE OR REPLACE FUNCTION ai._vectorizers_changed() RETURNS trigger
    LANGUAGE c
    AS 'MODULE_PATHNAME', 'ai_vectorizers_changed';
COMMENT ON FUNCTION ai._vectorizers_changed() IS
    'trigger: workers look at all vectorizers when this transaction has committed';

REVOKE ALL ON FUNCTION ai._vectorizer_notify(), ai._vectorizer_notify(oid),
    ai._embedding_jobs_notify(), ai._vectorizers_changed() FROM PUBLIC;

CREATE OR REPLACE FUNCTION ai._changed(anyelement, anyelement) RETURNS boolean
    LANGUAGE c IMMUTABLE PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'ai_changed';
COMMENT ON FUNCTION ai._changed(anyelement, anyelement) IS
    'whether two values differ, byte by byte; works for types that have no equality, too';

-- TRUNCATE of a partitioned table fires this for the table and for each partition: the first one
-- does the work, and leaves a mark that ends with the transaction. Nothing can have been added
-- since, because TRUNCATE keeps everybody out of the table.
--
-- SECURITY DEFINER: whoever may truncate the source has no rights on the catalog and the queue. The
-- function has no arguments but the vectorizer's number, and acts only for its own source.
CREATE OR REPLACE FUNCTION ai._vectorizer_truncate() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    v ai.vectorizer;
    mark text := 'ai_vectorizer.truncated_' || TG_ARGV[0];
BEGIN
    SELECT * INTO v FROM ai.vectorizer WHERE id = TG_ARGV[0]::int;
    IF v.source = TG_RELID THEN
        PERFORM ai._vectorizer_enqueue_orphans(v);
        PERFORM set_config(mark, pg_current_xact_id()::text, true);
    ELSIF v.source IN (SELECT relid FROM pg_partition_ancestors(TG_RELID))
          AND current_setting(mark, true) IS DISTINCT FROM pg_current_xact_id()::text THEN
        PERFORM ai._vectorizer_enqueue_orphans(v);
    END IF;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION ai._vectorizer_truncate() IS
    'trigger of a vectorizer''s source for TRUNCATE: queues every key that has embeddings';
REVOKE ALL ON FUNCTION ai._vectorizer_truncate() FROM PUBLIC;

-- Only these columns enqueue when they change.
CREATE OR REPLACE FUNCTION ai._vectorizer_columns(source_pk jsonb, config jsonb) RETURNS name[]
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT array_agg(c.name ORDER BY c.first)
    FROM (
        SELECT n.name::name, min(n.position) AS first
        FROM unnest(ARRAY(SELECT k ->> 'attname' FROM jsonb_array_elements(source_pk) k)
                    || ARRAY[config #>> '{loading,column_name}']
                    || ai._formatting_columns(config -> 'formatting'))
             WITH ORDINALITY AS n (name, position)
        GROUP BY 1) c
    $$;
COMMENT ON FUNCTION ai._vectorizer_columns(jsonb, jsonb) IS
    'columns of the source that a vectorizer reads: key, loaded column, columns of the template';

CREATE OR REPLACE FUNCTION ai._vectorizer_build_trigger_definition(v ai.vectorizer) RETURNS text[]
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT ARRAY[
        format('%I AFTER INSERT OR DELETE ON %s FOR EACH ROW %s', v.trigger_name, source, enqueue),
        format('%I AFTER UPDATE ON %s FOR EACH ROW WHEN (%s) %s',
               v.trigger_name || '_update', source,
               (SELECT string_agg(format('ai._changed(OLD.%1$I, NEW.%1$I)', c), ' OR ')
                FROM unnest(ai._vectorizer_columns(v.source_pk, v.config)) c), enqueue),
        format('%I AFTER INSERT OR UPDATE OR DELETE ON %s FOR EACH STATEMENT '
               'EXECUTE FUNCTION ai._vectorizer_flush(%L)',
               v.trigger_name || '_flush', source, v.id),
        format('%I AFTER TRUNCATE ON %s FOR EACH STATEMENT '
               'EXECUTE FUNCTION ai._vectorizer_truncate(%L)',
               v.trigger_name || '_truncate', source, v.id)]
    FROM pg_class q
    JOIN pg_namespace n ON n.oid = q.relnamespace
    CROSS JOIN LATERAL (
        SELECT ai._qualified_name(v.source) AS source,
            format('EXECUTE FUNCTION ai._vectorizer_enqueue(%L, %L, %s%s)', n.nspname, q.relname,
                   (SELECT string_agg(quote_literal(k ->> 'attname'), ', '
                                      ORDER BY (k ->> 'pknum')::int)
                    FROM jsonb_array_elements(v.source_pk) k),
                   ', '''', ' || quote_literal(ai._priority_column(v.config))) AS enqueue) s
    WHERE q.oid = v.queue
    $$;
COMMENT ON FUNCTION ai._vectorizer_build_trigger_definition(ai.vectorizer) IS
    'definitions of the triggers on a vectorizer''s source';

-- ENABLE ALWAYS: rows that logical replication brings have to be embedded as well. A trigger that
-- the owner of the table renamed is dropped, or there would be two.
CREATE OR REPLACE FUNCTION ai._vectorizer_create_source_trigger(v ai.vectorizer) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    suffixes constant text[] := ARRAY['', '_update', '_flush', '_truncate'];
    definition text;
    renamed name;
BEGIN
    FOR renamed IN SELECT t.trigger_name FROM ai._vectorizer_triggers(v) t
                   WHERE t.relation = v.source
                   EXCEPT SELECT (v.trigger_name || s)::name FROM unnest(suffixes) s LOOP
        EXECUTE format('DROP TRIGGER %I ON %s', renamed, ai._qualified_name(v.source));
    END LOOP;
    FOREACH definition IN ARRAY ai._vectorizer_build_trigger_definition(v) LOOP
        EXECUTE 'CREATE OR REPLACE TRIGGER ' || definition;
    END LOOP;
    EXECUTE format('ALTER TABLE %s %s', ai._qualified_name(v.source),
        (SELECT string_agg(format('ENABLE ALWAYS TRIGGER %I', v.trigger_name || s), ', ')
         FROM unnest(suffixes) s));
END
$$;
COMMENT ON FUNCTION ai._vectorizer_create_source_trigger(ai.vectorizer) IS
    'makes the triggers on a vectorizer''s source, or makes them again';

-- A dump of a table alone (pg_dump --table) has the triggers of its vectorizers and nothing else of
-- them. Where it is restored they would write to a queue that is not there, or to somebody else's.
CREATE OR REPLACE FUNCTION ai._vectorizer_drop_orphans(v ai.vectorizer) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    orphan record;
BEGIN
    FOR orphan IN
        SELECT t.tgrelid::regclass AS relation, t.tgname
        FROM pg_trigger t
        JOIN pg_proc p ON p.oid = t.tgfoid AND p.pronamespace = 'ai'::regnamespace
             AND p.proname IN ('_vectorizer_enqueue', '_vectorizer_flush', '_vectorizer_truncate')
        WHERE t.tgparentid = 0
          AND (t.tgrelid = v.source OR t.tgrelid IN (SELECT l FROM ai._vectorizer_leaves(v) l))
        EXCEPT
        SELECT x.relation, x.trigger_name
        FROM ai._vectorizers_of(v.source) o, ai._vectorizer_triggers(o) x
        ORDER BY 2, 1
    LOOP
        EXECUTE format('DROP TRIGGER %I ON %s', orphan.tgname, ai._qualified_name(orphan.relation));
        RAISE NOTICE 'trigger "%" is dropped from %, since its vectorizer is not in this database',
            orphan.tgname, ai._qualified_name(orphan.relation);
    END LOOP;
END
$$;
COMMENT ON FUNCTION ai._vectorizer_drop_orphans(ai.vectorizer) IS
    'drops triggers of vectorizers that are not in this database from the source of a new one';
-- Partitioned sources. PostgreSQL copies row triggers to partitions, but TRUNCATE of a partition
-- fires only what is on that partition, and rows come and go with ATTACH, DETACH and DROP.
--
-- So each leaf has a trigger for TRUNCATE. It is a mark, too: a leaf without it is new, and a table
-- that has it and is no leaf any more was detached. Marks are known by what they do, not by their
-- names, which the owner of the table can change.

CREATE OR REPLACE FUNCTION ai._vectorizer_leaves(v ai.vectorizer) RETURNS SETOF regclass
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT t.relid FROM pg_partition_tree(v.source) t
    JOIN pg_class c ON c.oid = t.relid AND c.relkind = 'r'
    WHERE t.isleaf AND t.relid <> v.source
    $$;
COMMENT ON FUNCTION ai._vectorizer_leaves(ai.vectorizer) IS
    'partitions of a vectorizer''s source that have rows';

-- pg_trigger has arguments one after the other, with a zero at the end of each.
CREATE OR REPLACE FUNCTION ai._id_argument(vectorizer_id int4) RETURNS bytea
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $$SELECT vectorizer_id::text::bytea || decode('00', 'hex')$$;
COMMENT ON FUNCTION ai._id_argument(int4) IS
    'the number of a vectorizer as the only argument of a trigger';

CREATE OR REPLACE FUNCTION ai._vectorizer_marked(v ai.vectorizer) RETURNS SETOF regclass
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT DISTINCT t.tgrelid::regclass FROM pg_trigger t
    WHERE t.tgfoid = 'ai._vectorizer_truncate()'::regprocedure
      AND t.tgargs = ai._id_argument(v.id) AND t.tgrelid <> v.source
    $$;
COMMENT ON FUNCTION ai._vectorizer_marked(ai.vectorizer) IS
    'tables that are or were partitions of a vectorizer''s source';

CREATE OR REPLACE FUNCTION ai._vectorizer_mark_leaf(v ai.vectorizer, leaf regclass) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    EXECUTE format('CREATE TRIGGER %I AFTER TRUNCATE ON %s FOR EACH STATEMENT '
                   'EXECUTE FUNCTION ai._vectorizer_truncate(%L)',
                   v.trigger_name || '_truncate', ai._qualified_name(leaf), v.id);
    EXECUTE format('ALTER TABLE %s ENABLE ALWAYS TRIGGER %I', ai._qualified_name(leaf),
                   v.trigger_name || '_truncate');
END
$$;
COMMENT ON FUNCTION ai._vectorizer_mark_leaf(ai.vectorizer, regclass) IS
    'makes the trigger for TRUNCATE on a partition';

CREATE OR REPLACE FUNCTION ai._vectorizer_unmark_leaf(v ai.vectorizer, leaf regclass) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    mark name;
BEGIN
    FOR mark IN SELECT t.tgname FROM pg_trigger t
                WHERE t.tgrelid = leaf AND t.tgfoid = 'ai._vectorizer_truncate()'::regprocedure
                  AND t.tgargs = ai._id_argument(v.id) LOOP
        EXECUTE format('DROP TRIGGER %I ON %s', mark, ai._qualified_name(leaf));
    END LOOP;
END
$$;
COMMENT ON FUNCTION ai._vectorizer_unmark_leaf(ai.vectorizer, regclass) IS
    'drops the trigger for TRUNCATE from a partition, or from what was one';

-- What the owner of the source cannot read directly is reached through the source. The rows come
-- first and the mark then, which is the lock that keeps writers out: it is had for a moment only.
-- What changes meanwhile the row triggers queue, and TRUNCATE waits for who reads.
CREATE OR REPLACE FUNCTION ai._vectorizer_follow_attached(v ai.vectorizer, leaf regclass) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    IF has_table_privilege(ai._vectorizer_owner(v), leaf, 'SELECT') THEN
        PERFORM ai._vectorizer_enqueue_rows(v, ai._qualified_name(leaf));
    ELSE
        PERFORM ai._vectorizer_enqueue_rows(v, ai._qualified_name(v.source),
                                            format('WHERE tableoid = %s', leaf::oid));
    END IF;
    PERFORM ai._vectorizer_mark_leaf(v, leaf);
END
$$;
COMMENT ON FUNCTION ai._vectorizer_follow_attached(ai.vectorizer, regclass) IS
    'queues the rows of a partition that was attached, and marks it';

CREATE OR REPLACE FUNCTION ai._vectorizer_follow_detached(v ai.vectorizer, leaf regclass) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    IF has_table_privilege(ai._vectorizer_owner(v), leaf, 'SELECT') THEN
        PERFORM ai._vectorizer_enqueue_rows(v, ai._qualified_name(leaf));
    ELSE
        PERFORM ai._vectorizer_enqueue_orphans(v);
    END IF;
    PERFORM ai._vectorizer_unmark_leaf(v, leaf);
END
$$;
COMMENT ON FUNCTION ai._vectorizer_follow_detached(ai.vectorizer, regclass) IS
    'queues the rows of a table that was a partition, and takes the mark from it';

-- While a dump is restored, it makes the marks itself.
CREATE OR REPLACE FUNCTION ai._vectorizer_follow_partitions(v ai.vectorizer) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    leaf regclass;
BEGIN
    IF v.restoring THEN
        RETURN;
    END IF;
    FOR leaf IN SELECT l FROM ai._vectorizer_leaves(v) l
                EXCEPT SELECT m FROM ai._vectorizer_marked(v) m LOOP
        PERFORM ai._vectorizer_follow_attached(v, leaf);
    END LOOP;
    FOR leaf IN SELECT m FROM ai._vectorizer_marked(v) m
                EXCEPT SELECT l FROM ai._vectorizer_leaves(v) l LOOP
        PERFORM ai._vectorizer_follow_detached(v, leaf);
    END LOOP;
END
$$;
COMMENT ON FUNCTION ai._vectorizer_follow_partitions(ai.vectorizer) IS
    'queues the rows of partitions that were attached or detached';
-- What create_vectorizer checks before it makes anything.

CREATE OR REPLACE FUNCTION ai._vectorizer_check_grantees(grantees name[]) RETURNS name[]
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    missing name[] := ARRAY(SELECT g FROM unnest(grantees) g
                            WHERE NOT EXISTS (SELECT FROM pg_roles r WHERE r.rolname = g));
BEGIN
    IF missing <> '{}' THEN
        RAISE WARNING 'one or more grant_to roles do not exist: %', missing;
    END IF;
    RETURN ARRAY(SELECT g FROM unnest(grantees) g EXCEPT SELECT unnest(missing));
END
$$;
COMMENT ON FUNCTION ai._vectorizer_check_grantees(name[]) IS
    'the roles that exist; warns of the others';

CREATE OR REPLACE FUNCTION ai._vectorizer_check_source_kind(source regclass) RETURNS void
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    relation pg_class;
    reason text;
BEGIN
    SELECT * INTO relation FROM pg_class c WHERE c.oid = source;
    reason := CASE
        WHEN relation.relkind IN ('v', 'm') THEN 'Changes of a view fire no row triggers.'
        WHEN relation.relkind = 'f' THEN 'Changes made on the foreign server fire no triggers here.'
        WHEN relation.relkind NOT IN ('r', 'p') THEN 'It is not a table.'
        WHEN relation.relpersistence = 't' THEN
            'Background workers cannot see the temporary tables of a session.'
        WHEN relation.relnamespace IN ('pg_catalog'::regnamespace, 'ai'::regnamespace)
            THEN 'It belongs to the system.'
        WHEN EXISTS (SELECT FROM pg_partition_tree(source) t JOIN pg_class c ON c.oid = t.relid
                     WHERE c.relkind = 'f') THEN
            'One of its partitions is a foreign table, whose changes fire no triggers here.' END;
    IF reason IS NOT NULL THEN
        RAISE EXCEPTION 'cannot create a vectorizer on "%"', relation.relname
            USING ERRCODE = 'wrong_object_type', DETAIL = reason;
    END IF;
END
$$;
COMMENT ON FUNCTION ai._vectorizer_check_source_kind(regclass) IS
    'raises an error unless a relation is a table whose changes triggers can follow';

-- The lock is the one of CREATE TRIGGER: from here on nobody writes, until the triggers are there. Where
-- a column is added, it is at once the one of that: taken later, it would wait for readers that by then
-- wait to write.
CREATE OR REPLACE FUNCTION ai._vectorizer_check_source(caller oid, source regclass, embedding_column name)
    RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    IF source IS NULL THEN
        RAISE EXCEPTION 'source table is required' USING ERRCODE = 'null_value_not_allowed';
    END IF;
    IF NOT EXISTS (SELECT FROM pg_class c WHERE c.oid = source) THEN
        RAISE EXCEPTION 'source table with OID % does not exist', source::oid
            USING ERRCODE = 'undefined_table';
    END IF;
    IF NOT ai._is_owner(caller, source) THEN
        RAISE EXCEPTION
            'only a superuser or the owner of the source table may create a vectorizer on it'
            USING ERRCODE = 'insufficient_privilege';
    END IF;
    PERFORM ai._vectorizer_check_source_kind(source);
    EXECUTE format('LOCK TABLE %s IN %s MODE', ai._qualified_name(source),
        CASE WHEN embedding_column IS NULL OR EXISTS (
            SELECT FROM pg_attribute a WHERE a.attrelid = source AND a.attname = embedding_column)
        THEN 'SHARE ROW EXCLUSIVE' ELSE 'ACCESS EXCLUSIVE' END);
    IF NOT ai._is_owner(caller, source) THEN
        RAISE EXCEPTION 'source table was changed by another session'
            USING ERRCODE = 'object_not_in_prerequisite_state';
    END IF;
END
$$;
COMMENT ON FUNCTION ai._vectorizer_check_source(oid, regclass, name) IS
    'raises an error unless the caller may create a vectorizer on a table; then locks the table';

-- Work is done as the owner, for whom rows that a policy hides are not there.
CREATE OR REPLACE FUNCTION ai._vectorizer_check_row_security(source regclass) RETURNS void
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    IF EXISTS (SELECT FROM pg_class c JOIN pg_roles r ON r.oid = c.relowner
               WHERE c.oid = source AND c.relrowsecurity AND c.relforcerowsecurity
                 AND NOT r.rolsuper AND NOT r.rolbypassrls) THEN
        RAISE WARNING 'row security of % holds for its owner, too', ai._qualified_name(source)
            USING DETAIL = 'Rows that the owner cannot see are not embedded.',
                  HINT = 'Give the owner a policy that shows all rows, or the attribute BYPASSRLS.';
    END IF;
END
$$;
COMMENT ON FUNCTION ai._vectorizer_check_row_security(regclass) IS
    'warns if the owner of a table may not see all of its rows';

-- A name derived from a long one is clipped, and numbered if it is taken; a name that was given, or
-- fits, is used as it is.
CREATE OR REPLACE FUNCTION ai._derived_name(schema_name name, base name, suffix text) RETURNS name
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    candidate name := ai._clipped_name(base, suffix);
    tries int := 1;
BEGIN
    IF candidate = base || suffix THEN
        RETURN candidate;
    END IF;
    WHILE ai._relation_exists(schema_name, candidate) LOOP
        tries := tries + 1;
        candidate := ai._clipped_name(base, '_' || tries || suffix);
    END LOOP;
    RETURN candidate;
END
$$;
COMMENT ON FUNCTION ai._derived_name(name, name, text) IS
    'a name with a suffix, clipped and made unique where it would be too long';

-- A table or view has a type of its name.
CREATE OR REPLACE FUNCTION ai._relation_exists(schema_name name, relation name) RETURNS boolean
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT EXISTS (SELECT FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
                   WHERE n.nspname = schema_name AND c.relname = relation)
        OR EXISTS (SELECT FROM pg_type t JOIN pg_namespace n ON n.oid = t.typnamespace
                   WHERE n.nspname = schema_name AND t.typname = relation AND t.typelem = 0)
    $$;
COMMENT ON FUNCTION ai._relation_exists(name, name) IS
    'whether a name for a table or view is taken';

-- Work is done as the owner of the source, who therefore has to reach the schema.
CREATE OR REPLACE FUNCTION ai._vectorizer_check_name(caller oid, owner oid, schema_name name, relation name,
                                          argument text) RETURNS void
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM pg_namespace n WHERE n.nspname = schema_name) THEN
        RAISE EXCEPTION 'schema "%" does not exist', schema_name
            USING ERRCODE = 'invalid_schema_name';
    END IF;
    IF NOT has_schema_privilege(caller, schema_name, 'CREATE') THEN
        RAISE EXCEPTION 'permission denied for schema %', schema_name
            USING ERRCODE = 'insufficient_privilege',
                  DETAIL = format('%s is to be created there.', argument),
                  HINT = 'Choose a schema in which you may create tables, with an argument of '
                         'ai.destination_table or with queue_schema.';
    END IF;
    IF NOT has_schema_privilege(owner, schema_name, 'USAGE') THEN
        RAISE EXCEPTION 'the owner of the source table, "%", has no access to schema %',
            pg_get_userbyid(owner), schema_name
            USING ERRCODE = 'insufficient_privilege',
                  HINT = format('GRANT USAGE ON SCHEMA %I TO %I;', schema_name,
                                pg_get_userbyid(owner));
    END IF;
    IF ai._relation_exists(schema_name, relation) THEN
        RAISE EXCEPTION 'an object named %.% already exists. specify an alternate % explicitly',
            schema_name, relation, argument
            USING ERRCODE = 'duplicate_object';
    END IF;
END
$$;
COMMENT ON FUNCTION ai._vectorizer_check_name(oid, oid, name, name, text) IS
    'raises an error unless the caller may create a relation of that name';

CREATE OR REPLACE FUNCTION ai._vectorizer_check_queue_schema(schema_name name) RETURNS void
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    IF ai._untrusted_owner(schema_name) IS NOT NULL THEN
        RAISE EXCEPTION 'schema "%" is not for queues, since it belongs to "%"', schema_name,
            ai._untrusted_owner(schema_name)
            USING ERRCODE = 'insufficient_privilege',
                  DETAIL = 'The owner of a schema could put other tables in the place of a queue.',
                  HINT = 'Leave queue_schema out, or name a schema that belongs to a superuser.';
    END IF;
END
$$;
COMMENT ON FUNCTION ai._vectorizer_check_queue_schema(name) IS
    'raises an error if a schema belongs to somebody who could exchange the queues in it';

-- A queue in the schema ai under a name of its own could stand in the way of another vectorizer, so
-- it takes the right to create there.
CREATE OR REPLACE FUNCTION ai._vectorizer_check_names(caller oid, owner oid, id int4, names record,
                                           queue_schema name, queue_table name) RETURNS void
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    PERFORM ai._vectorizer_check_name(
        CASE WHEN queue_table IS NULL AND coalesce(queue_schema, 'ai') = 'ai'
             THEN (SELECT oid FROM pg_roles WHERE rolname = current_user) ELSE caller END,
        owner, coalesce(queue_schema, 'ai'), coalesce(queue_table, ('_vectorizer_q_' || id)::name),
        'queue_table');
    PERFORM ai._vectorizer_check_queue_schema(coalesce(queue_schema, 'ai'));
    IF names.target_table IS NOT NULL THEN
        PERFORM ai._vectorizer_check_name(caller, owner, names.target_schema,
                                          names.target_table, 'target_table');
        PERFORM ai._vectorizer_check_name(caller, owner, names.view_schema, names.view_name,
                                          'view_name');
        IF (names.target_schema, names.target_table) = (names.view_schema, names.view_name) THEN
            RAISE EXCEPTION 'target table and view must not have the same name'
                USING ERRCODE = 'duplicate_object', HINT = 'Give another view_name.';
        END IF;
    END IF;
END
$$;
COMMENT ON FUNCTION ai._vectorizer_check_names(oid, oid, int4, record, name, name) IS
    'raises an error unless the caller may create queue, target and view under these names';

-- Keys are compared by the operator of their index, with the rights of the extension's owner.
CREATE OR REPLACE FUNCTION ai._vectorizer_check_key(source regclass) RETURNS void
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    found_schema name;
    type text;
BEGIN
    SELECT n.nspname, format_type(c.opcintype, NULL) INTO found_schema, type
    FROM pg_index i, unnest(i.indclass) opclass JOIN pg_opclass c ON c.oid = opclass
    JOIN pg_amop a ON a.amopfamily = c.opcfamily AND a.amopstrategy = 3
         AND a.amoplefttype = c.opcintype AND a.amoprighttype = c.opcintype
    JOIN pg_operator o ON o.oid = a.amopopr JOIN pg_namespace n ON n.oid = o.oprnamespace
    WHERE i.indexrelid = ai._vectorizer_key_index(source)
      AND ai._untrusted_owner(n.nspname) IS NOT NULL;
    IF FOUND THEN
        RAISE EXCEPTION 'type % is not for keys, since schema "%" belongs to "%"', type,
            found_schema, ai._untrusted_owner(found_schema)
            USING ERRCODE = 'insufficient_privilege',
                  DETAIL = 'The owner of a schema could put other operators in the place of its own.',
                  HINT = 'Use a unique key of another type, or have a superuser own that schema.';
    END IF;
END
$$;
COMMENT ON FUNCTION ai._vectorizer_check_key(regclass) IS
    'raises an error if somebody could exchange the operators by which keys are compared';

CREATE OR REPLACE FUNCTION ai._vectorizer_check_column(source regclass, source_pk jsonb, config jsonb)
    RETURNS void
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    embedding_column name := config #>> '{destination,embedding_column}';
BEGIN
    IF embedding_column = ANY (ai._vectorizer_columns(source_pk, config)) THEN
        RAISE EXCEPTION 'embedding column "%" is read by the vectorizer itself', embedding_column
            USING ERRCODE = 'invalid_parameter_value',
                  HINT = 'It must be neither in the key, nor loaded, nor used in the template.';
    END IF;
    PERFORM ai._vectorizer_check_embedding_column(source, embedding_column,
                                                  (config #>> '{embedding,dimensions}')::int);
END
$$;
COMMENT ON FUNCTION ai._vectorizer_check_column(regclass, jsonb, jsonb) IS
    'raises an error unless a column destination fits the rest of the configuration';

CREATE OR REPLACE FUNCTION ai._validate_priority_column(source regclass, processing jsonb) RETURNS void
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    wanted name := processing ->> 'priority_column';
    base oid;
BEGIN
    IF wanted IS NULL THEN
        RETURN;
    END IF;
    WITH RECURSIVE below AS (
        SELECT a.atttypid AS type FROM pg_attribute a
        WHERE a.attrelid = source AND a.attname = wanted AND a.attnum > 0 AND NOT a.attisdropped
        UNION ALL
        SELECT t.typbasetype FROM below b JOIN pg_type t ON t.oid = b.type AND t.typtype = 'd'
    )
    SELECT b.type INTO base FROM below b JOIN pg_type t ON t.oid = b.type AND t.typtype <> 'd';
    IF base IS NULL THEN
        RAISE EXCEPTION 'priority_column "%" does not exist in table %', wanted,
            ai._qualified_name(source)
            USING ERRCODE = 'undefined_column';
    END IF;
    -- PostgreSQL 18: such a column has no value in the rows that a trigger sees.
    IF EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = source AND a.attname = wanted
                 AND a.attgenerated = 'v') THEN
        RAISE EXCEPTION 'priority_column "%" is a virtual generated column', wanted
            USING ERRCODE = 'invalid_parameter_value',
                  HINT = 'Declare it as STORED.';
    END IF;
    IF base NOT IN ('int2'::regtype, 'int4'::regtype, 'int8'::regtype, 'text'::regtype,
                    'varchar'::regtype, 'bpchar'::regtype, 'name'::regtype)
       AND NOT EXISTS (SELECT FROM pg_type t WHERE t.oid = base AND t.typtype = 'e') THEN
        RAISE EXCEPTION 'priority_column "%" must be an integer, a text or an enum', wanted
            USING ERRCODE = 'datatype_mismatch',
                  DETAIL = format('It is of type %s.', format_type(base, NULL)),
                  HINT = 'A stored generated column can make it of other columns.';
    END IF;
END
$$;
COMMENT ON FUNCTION ai._validate_priority_column(regclass, jsonb) IS
    'raises an error unless the column by which rows shall come first tells a priority';
-- create_vectorizer: everything is checked first, in functions/create-checks.sql; then everything is made.

-- A derived name may have a number, since the first one was taken: by the vectorizer itself, if it
-- has the same source and destination.
CREATE OR REPLACE FUNCTION ai._vectorizer_find(name text, derived boolean, source regclass, destination jsonb)
    RETURNS ai.vectorizer
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT v FROM ai.vectorizer v
    WHERE v.name = _vectorizer_find.name
       OR derived AND v.source = _vectorizer_find.source AND v.config -> 'destination' = destination
    ORDER BY v.name = _vectorizer_find.name DESC, v.id
    LIMIT 1
    $$;
COMMENT ON FUNCTION ai._vectorizer_find(text, boolean, regclass, jsonb) IS
    'vectorizer of a name, or with the same source and destination; null if there is none';

-- The embedded model needs neither a key nor a server, so it is what one gets without asking.
CREATE OR REPLACE FUNCTION ai._default_embedding() RETURNS jsonb
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    model jsonb := ai._local_model();
BEGIN
    IF model ? 'problem' THEN
        RAISE EXCEPTION 'embedding configuration is required'
            USING ERRCODE = 'null_value_not_allowed',
                  DETAIL = 'The default is the embedded model, but ' || (model ->> 'problem'),
                  HINT = 'Give one in the argument embedding; or run "make model" and "make '
                         'install" in the source directory of the extension.';
    END IF;
    RETURN ai.embedding_local(model ->> 'name', (model ->> 'dimensions')::int);
END
$$;
COMMENT ON FUNCTION ai._default_embedding() IS
    'embedding configuration of a vectorizer for which none is given';

CREATE OR REPLACE FUNCTION ai._vectorizer_config(source regclass, loading jsonb, parsing jsonb,
        embedding jsonb, chunking jsonb, indexing jsonb, formatting jsonb, scheduling jsonb,
        processing jsonb, destination jsonb) RETURNS jsonb
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    dimensions int4 := embedding ->> 'dimensions';
BEGIN
    loading := ai._validate_loading(ai._config_object(loading));
    parsing := ai._validate_parsing(ai._config_object(parsing));
    PERFORM ai._validate_loading_source(source, loading, parsing);
    chunking := ai._validate_chunking(ai._config_object(chunking));
    IF destination ->> 'implementation' = 'column' AND chunking ->> 'implementation' <> 'none' THEN
        RAISE EXCEPTION 'chunking must be none for column destination'
            USING ERRCODE = 'invalid_parameter_value',
                  HINT = 'Give chunking => ai.chunking_none().';
    END IF;
    indexing := ai._validate_indexing(ai._config_object(indexing), dimensions);
    formatting := ai._validate_formatting(ai._config_object(formatting));
    PERFORM ai._validate_formatting_source(source, formatting);
    processing := ai._validate_processing(ai._config_object(processing));
    PERFORM ai._validate_priority_column(source, processing);
    RETURN jsonb_build_object('version', ai.version(), 'loading', loading, 'parsing', parsing,
        'embedding', embedding, 'chunking', chunking,
        'indexing', ai._resolve_indexing(indexing, dimensions), 'formatting', formatting,
        'scheduling', ai._validate_scheduling(ai._config_object(scheduling)),
        'processing', processing,
        'destination', destination);
END
$$;
COMMENT ON FUNCTION ai._vectorizer_config(regclass, jsonb, jsonb, jsonb, jsonb, jsonb, jsonb,
                                          jsonb, jsonb, jsonb) IS
    'configuration of a vectorizer, if every section of it is valid';

-- The names of what create_vectorizer is going to make; given ones come first.
CREATE OR REPLACE FUNCTION ai._vectorizer_names(source regclass, destination jsonb, OUT vectorizer text,
        OUT target_schema name, OUT target_table name, OUT view_schema name, OUT view_name name)
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    source_schema name;
    source_table name;
    base name := destination ->> 'destination';
BEGIN
    SELECT n.nspname, c.relname INTO source_schema, source_table
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.oid = source;
    IF destination ->> 'implementation' = 'column' THEN
        vectorizer := source_schema || '_' || source_table || '_'
            || (destination ->> 'embedding_column');
        RETURN;
    END IF;
    target_schema := coalesce(destination ->> 'target_schema', source_schema);
    target_table := coalesce(destination ->> 'target_table',
        ai._derived_name(target_schema, base, '_store'),
        ai._derived_name(target_schema, source_table, '_embedding_store'));
    view_schema := coalesce(destination ->> 'view_schema', source_schema);
    view_name := coalesce(destination ->> 'view_name', base,
        ai._derived_name(view_schema, source_table, '_embedding'));
    vectorizer := target_schema || '_' || target_table;
END
$$;
COMMENT ON FUNCTION ai._vectorizer_names(regclass, jsonb) IS
    'name of a vectorizer, of its target table and of its view, if they are not given';

CREATE OR REPLACE FUNCTION ai._vectorizer_if_exists(existing ai.vectorizer, source regclass, config jsonb,
                                         if_not_exists boolean) RETURNS int4
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    different text;
BEGIN
    IF existing.id IS NULL THEN
        RETURN NULL;
    END IF;
    IF NOT if_not_exists OR existing.source <> source THEN
        RAISE EXCEPTION 'a vectorizer named % already exists.', existing.name
            USING ERRCODE = 'duplicate_object',
                  DETAIL = CASE WHEN existing.source <> source
                           THEN 'It is on another table.' ELSE 'It is on the same table.' END,
                  HINT = 'Give another one in the argument name.';
    END IF;
    SELECT string_agg(c.key, ', ' ORDER BY c.key) INTO different
    FROM jsonb_each(config) c
    WHERE c.key <> 'version' AND c.value IS DISTINCT FROM existing.config -> c.key;
    IF different IS NULL THEN
        RAISE NOTICE 'a vectorizer named % already exists, skipping', existing.name;
    ELSE
        RAISE NOTICE 'a vectorizer named % already exists, skipping', existing.name
            USING DETAIL = format('It has another configuration: %s.', different),
                  HINT = 'To use the new one, drop the vectorizer and create it again.';
    END IF;
    RETURN existing.id;
END
$$;
COMMENT ON FUNCTION ai._vectorizer_if_exists(ai.vectorizer, regclass, jsonb, boolean) IS
    'id of a vectorizer that exists already, if that is no error; says how it differs';

CREATE OR REPLACE FUNCTION ai._vectorizer_grant_to(caller oid, v ai.vectorizer, grantees name[]) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    relation record;
BEGIN
    FOR relation IN
        SELECT g AS grantee, ai._qualified_name(c.oid) AS name, n.nspname
        FROM unnest(grantees) g
        JOIN pg_class c ON c.oid IN (v.target, v.view) OR v.target IS NULL AND c.oid = v.source
        JOIN pg_namespace n ON n.oid = c.relnamespace
    LOOP
        EXECUTE format('GRANT SELECT ON %s TO %I', relation.name, relation.grantee);
        -- The extension's owner could grant more than the caller may.
        IF NOT has_schema_privilege(relation.grantee, relation.nspname, 'USAGE')
           AND has_schema_privilege(caller, relation.nspname, 'USAGE WITH GRANT OPTION') THEN
            EXECUTE format('GRANT USAGE ON SCHEMA %I TO %I', relation.nspname, relation.grantee);
        END IF;
    END LOOP;
END
$$;
COMMENT ON FUNCTION ai._vectorizer_grant_to(oid, ai.vectorizer, name[]) IS
    'lets roles read the embeddings of a vectorizer';

CREATE OR REPLACE FUNCTION ai._vectorizer_build(v ai.vectorizer, names record, queue_schema name,
        queue_table name, enqueue_existing boolean) RETURNS ai.vectorizer
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    owner oid := ai._vectorizer_owner(v);
    dimensions int4 := v.config #>> '{embedding,dimensions}';
    embedding_column name := v.config #>> '{destination,embedding_column}';
BEGIN
    IF embedding_column IS NULL THEN
        v.target := ai._vectorizer_create_target_table(owner, names.target_schema,
            names.target_table, v.source_pk, dimensions);
        IF (v.config #>> '{processing,reuse}')::boolean THEN
            PERFORM ai._run_as(owner, format('CREATE INDEX ON %s (content_hash)',
                                             ai._qualified_name(v.target)));
        END IF;
        v.view := ai._vectorizer_create_view(owner, names.view_schema, names.view_name,
            v.source, v.target, v.source_pk);
    ELSIF NOT ai._vectorizer_check_embedding_column(v.source, embedding_column, dimensions) THEN
        PERFORM ai._run_as(owner, format('ALTER TABLE %s ADD COLUMN %I %s',
            ai._qualified_name(v.source), embedding_column, ai._vector_type(dimensions)));
    END IF;
    v.queue := ai._vectorizer_create_queue_table(queue_schema, queue_table, v.source_pk,
        coalesce((v.config #>> '{processing,priority}')::int, 0));
    PERFORM ai._vectorizer_create_queue_index(v);
    v.work := ai._vectorizer_create_work_table(queue_schema,
        ('_vectorizer_q_work_' || v.id)::name, v.source_pk);
    v.failed := ai._vectorizer_create_queue_failed_table(queue_schema,
        ('_vectorizer_q_failed_' || v.id)::name, v.source_pk);
    PERFORM ai._vectorizer_grant_queue(v, pg_get_userbyid(owner));
    PERFORM ai._vectorizer_drop_orphans(v);
    PERFORM ai._vectorizer_create_source_trigger(v);
    PERFORM ai._vectorizer_mark_leaf(v, leaf) FROM ai._vectorizer_leaves(v) leaf;
    IF enqueue_existing THEN
        PERFORM ai._vectorizer_enqueue_rows(v, ai._from_source(v.source));
    END IF;
    RETURN v;
END
$$;
COMMENT ON FUNCTION ai._vectorizer_build(ai.vectorizer, record, name, name, boolean) IS
    'makes the tables and triggers of a vectorizer';

CREATE OR REPLACE FUNCTION ai._create_vectorizer(caller oid, source regclass, name text, destination jsonb,
        loading jsonb, parsing jsonb, embedding jsonb, chunking jsonb, indexing jsonb,
        formatting jsonb, scheduling jsonb, processing jsonb, queue_schema name, queue_table name,
        grant_to name[], enqueue_existing boolean, if_not_exists boolean) RETURNS int4
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    grantees name[] := ai._vectorizer_check_grantees(grant_to);
    v ai.vectorizer;
    names record;
    existing ai.vectorizer;
    is_default constant boolean := embedding IS NULL;
BEGIN
    IF name = '' THEN
        RAISE EXCEPTION 'name must not be empty' USING ERRCODE = 'invalid_parameter_value';
    END IF;
    IF loading IS NULL THEN
        RAISE EXCEPTION 'loading configuration is required'
            USING ERRCODE = 'null_value_not_allowed';
    END IF;
    PERFORM ai._vectorizer_check_source(caller, source, destination ->> 'embedding_column');
    embedding := CASE WHEN is_default THEN ai._default_embedding()
                      ELSE ai._validate_embedding(ai._config_object(embedding)) END;
    destination := ai._validate_destination(ai._config_object(destination));
    v.source := source;
    v.source_pk := ai._vectorizer_source_pk(source);
    IF v.source_pk IS NULL THEN
        RAISE EXCEPTION 'source table must have a primary key constraint'
            USING ERRCODE = 'invalid_table_definition',
                  HINT = 'A unique index on columns that are NOT NULL will do as well.';
    END IF;
    PERFORM ai._vectorizer_check_key(source);
    names := ai._vectorizer_names(source, destination);
    v.name := coalesce(name, names.vectorizer);
    if_not_exists := coalesce(if_not_exists, false);
    existing := ai._vectorizer_find(v.name, if_not_exists AND name IS NULL, source, destination);
    IF existing.id IS NULL OR NOT if_not_exists THEN
        v.id := nextval('ai.vectorizer_id_seq');
        v.trigger_name := '_vectorizer_src_trg_' || v.id;
        PERFORM ai._vectorizer_check_names(caller, ai._vectorizer_owner(v), v.id, names,
                                           queue_schema, queue_table);
    END IF;
    v.config := ai._vectorizer_config(source, loading, parsing, embedding, chunking, indexing,
                                      formatting, scheduling, processing, destination);
    PERFORM ai._check_priority(caller, (v.config #>> '{processing,priority}')::int4);
    IF destination ->> 'implementation' = 'column' THEN
        PERFORM ai._vectorizer_check_column(source, v.source_pk, v.config);
    END IF;
    IF existing.id IS NOT NULL THEN
        RETURN ai._vectorizer_if_exists(existing, source, v.config, if_not_exists);
    END IF;
    IF is_default THEN
        RAISE NOTICE 'embeddings are made by the embedded model "%"', embedding ->> 'model'
            USING HINT = 'For another one, give the argument embedding.';
    END IF;
    PERFORM ai._vectorizer_check_row_security(source);
    v := ai._vectorizer_build(v, names, coalesce(queue_schema, 'ai'),
        coalesce(queue_table, ('_vectorizer_q_' || v.id)::name), coalesce(enqueue_existing, true));
    INSERT INTO ai.vectorizer (id, name, source, source_pk, target, view, queue, work,
                               failed, trigger_name, config, owner_role)
    VALUES (v.id, v.name, v.source, v.source_pk, v.target, v.view, v.queue, v.work,
            v.failed, v.trigger_name, v.config, pg_get_userbyid(ai._vectorizer_owner(v)));
    PERFORM ai._vectorizer_grant_to(caller, v, grantees);
    RETURN v.id;
END
$$;
COMMENT ON FUNCTION ai._create_vectorizer(oid, regclass, text, jsonb, jsonb, jsonb, jsonb, jsonb,
        jsonb, jsonb, jsonb, jsonb, name, name, name[], boolean, boolean) IS
    'what ai.create_vectorizer does, for the role that called it';

CREATE OR REPLACE FUNCTION ai.create_vectorizer(source regclass, name text DEFAULT NULL,
        destination jsonb DEFAULT ai.destination_table(), loading jsonb DEFAULT NULL,
        parsing jsonb DEFAULT ai.parsing_auto(), embedding jsonb DEFAULT NULL,
        chunking jsonb DEFAULT ai.chunking_recursive_character_text_splitter(),
        indexing jsonb DEFAULT ai.indexing_default(),
        formatting jsonb DEFAULT ai.formatting_python_template(),
        scheduling jsonb DEFAULT ai.scheduling_default(),
        processing jsonb DEFAULT ai.processing_default(), queue_schema name DEFAULT NULL,
        queue_table name DEFAULT NULL, grant_to name[] DEFAULT ai.grant_to(),
        enqueue_existing boolean DEFAULT true, if_not_exists boolean DEFAULT false) RETURNS int4
    LANGUAGE c VOLATILE
    AS 'MODULE_PATHNAME', 'ai_call_as_owner';
COMMENT ON FUNCTION ai.create_vectorizer(regclass, text, jsonb, jsonb, jsonb, jsonb, jsonb, jsonb,
        jsonb, jsonb, jsonb, name, name, name[], boolean, boolean) IS
    'keeps embeddings of a table from now on; returns the id of the vectorizer';
-- Finding, dropping and switching vectorizers.

CREATE OR REPLACE FUNCTION ai._vectorizer_get(vectorizer_id int4) RETURNS ai.vectorizer
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    v ai.vectorizer;
BEGIN
    SELECT * INTO v FROM ai.vectorizer x WHERE x.id = vectorizer_id;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'vectorizer with id % does not exist', coalesce(vectorizer_id::text, 'null')
            USING ERRCODE = 'undefined_object',
                  HINT = 'The view ai.vectorizer_status lists the vectorizers.';
    END IF;
    RETURN v;
END
$$;
COMMENT ON FUNCTION ai._vectorizer_get(int4) IS
    'vectorizer of an id; raises an error if there is none';

CREATE OR REPLACE FUNCTION ai._vectorizer_get(name text) RETURNS ai.vectorizer
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    v ai.vectorizer;
BEGIN
    SELECT * INTO v FROM ai.vectorizer x WHERE x.name = _vectorizer_get.name;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'vectorizer "%" does not exist', coalesce(_vectorizer_get.name, 'null')
            USING ERRCODE = 'undefined_object',
                  HINT = 'The view ai.vectorizer_status lists the vectorizers.';
    END IF;
    RETURN v;
END
$$;
COMMENT ON FUNCTION ai._vectorizer_get(text) IS
    'vectorizer of a name; raises an error if there is none';

CREATE OR REPLACE FUNCTION ai._vectorizer_require_owner(caller oid, v ai.vectorizer, action text) RETURNS void
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    IF NOT ai._is_owner(caller, v.source) THEN
        RAISE EXCEPTION 'only a superuser or the owner of the source table may % vectorizer "%"',
            action, v.name
            USING ERRCODE = 'insufficient_privilege';
    END IF;
END
$$;
COMMENT ON FUNCTION ai._vectorizer_require_owner(oid, ai.vectorizer, text) IS
    'raises an error unless the caller owns a vectorizer';

-- By what they do, not by their names, which the owner of the table can change. PostgreSQL makes
-- copies of row triggers on partitions.
CREATE OR REPLACE FUNCTION ai._vectorizer_triggers(v ai.vectorizer, copies boolean DEFAULT false,
        OUT relation regclass, OUT trigger_name name, OUT kind text, OUT enabled "char")
    RETURNS SETOF record
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
    WITH mine AS (
        SELECT convert_to(n.nspname, getdatabaseencoding()) || zero
               || convert_to(q.relname, getdatabaseencoding()) || zero AS enqueue_arguments,
            ai._id_argument(v.id) AS id_argument
        FROM pg_class q JOIN pg_namespace n ON n.oid = q.relnamespace, decode('00', 'hex') zero
        WHERE q.oid = v.queue
    )
    SELECT t.tgrelid::regclass, t.tgname, p.proname, t.tgenabled
    FROM mine CROSS JOIN pg_trigger t
    JOIN pg_proc p ON p.oid = t.tgfoid AND p.pronamespace = 'ai'::regnamespace
    WHERE (copies OR t.tgparentid = 0)
      AND (t.tgrelid = v.source OR t.tgrelid IN (SELECT m FROM ai._vectorizer_marked(v) m))
      AND (p.proname = '_vectorizer_enqueue'
               AND substring(t.tgargs FROM 1 FOR length(enqueue_arguments)) = enqueue_arguments
           OR p.proname IN ('_vectorizer_flush', '_vectorizer_truncate') AND t.tgargs = id_argument)
    $$;
COMMENT ON FUNCTION ai._vectorizer_triggers(ai.vectorizer, boolean) IS
    'triggers of a vectorizer, on its source and on the partitions of it';

CREATE OR REPLACE FUNCTION ai._drop_if_exists(kind text, relation regclass) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    IF EXISTS (SELECT FROM pg_class c WHERE c.oid = relation) THEN
        EXECUTE format('DROP %s %s', kind, ai._qualified_name(relation));
    END IF;
END
$$;
COMMENT ON FUNCTION ai._drop_if_exists(text, regclass) IS 'drops a table or view, if it is there';

-- The order of locks is that of every transaction that touches both: the source, then the queue.
CREATE OR REPLACE FUNCTION ai._vectorizer_drop(v ai.vectorizer) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    t record;
BEGIN
    -- Gone from the catalog first: what is dropped from now on is no surprise to event triggers.
    DELETE FROM ai.vectorizer x WHERE x.id = v.id;
    FOR t IN SELECT * FROM ai._vectorizer_triggers(v) LOOP
        EXECUTE format('DROP TRIGGER %I ON %s', t.trigger_name, ai._qualified_name(t.relation));
    END LOOP;
    PERFORM ai._vectorizer_flush_pending();
    PERFORM ai._drop_if_exists('TABLE', v.queue);
    PERFORM ai._drop_if_exists('TABLE', v.work);
    PERFORM ai._drop_if_exists('TABLE', v.failed);
END
$$;
COMMENT ON FUNCTION ai._vectorizer_drop(ai.vectorizer) IS
    'removes a vectorizer, its triggers and its queue; the embeddings stay';

CREATE OR REPLACE FUNCTION ai._vectorizer_drop_target(caller oid, v ai.vectorizer) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    relation regclass;
    embedding_column name := v.config #>> '{destination,embedding_column}';
BEGIN
    FOREACH relation IN ARRAY array_remove(ARRAY[v.view, v.target], NULL) LOOP
        IF NOT ai._is_owner(caller, relation) THEN
            RAISE EXCEPTION 'must be owner of %', ai._qualified_name(relation)
                USING ERRCODE = 'insufficient_privilege',
                      HINT = 'Without drop_all the target table and the view are kept.';
        END IF;
    END LOOP;
    PERFORM ai._drop_if_exists('VIEW', v.view);
    PERFORM ai._drop_if_exists('TABLE', v.target);
    IF embedding_column IS NOT NULL THEN
        PERFORM ai._run_as(ai._vectorizer_owner(v),
            format('ALTER TABLE %s DROP COLUMN IF EXISTS %I', ai._qualified_name(v.source),
                   embedding_column));
    END IF;
END
$$;
COMMENT ON FUNCTION ai._vectorizer_drop_target(oid, ai.vectorizer) IS
    'removes the embeddings of a vectorizer: target table and view, or the embedding column';

CREATE OR REPLACE FUNCTION ai._drop_vectorizer(caller oid, vectorizer_id int4, drop_all boolean) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    v ai.vectorizer := ai._vectorizer_get(vectorizer_id);
BEGIN
    PERFORM ai._vectorizer_require_owner(caller, v, 'drop');
    EXECUTE format('LOCK TABLE %s IN ACCESS EXCLUSIVE MODE', ai._qualified_name(v.source));
    PERFORM ai._vectorizer_drop(v);
    IF drop_all THEN
        PERFORM ai._vectorizer_drop_target(caller, v);
    END IF;
END
$$;
COMMENT ON FUNCTION ai._drop_vectorizer(oid, int4, boolean) IS
    'what ai.drop_vectorizer does, for the role that called it';

CREATE OR REPLACE FUNCTION ai._drop_vectorizer(caller oid, name text, drop_all boolean) RETURNS void
    LANGUAGE sql
    SET search_path = pg_catalog, pg_temp
    AS $$SELECT ai._drop_vectorizer(caller, (ai._vectorizer_get(name)).id, drop_all)$$;
COMMENT ON FUNCTION ai._drop_vectorizer(oid, text, boolean) IS
    'what ai.drop_vectorizer does, for the role that called it';

CREATE OR REPLACE FUNCTION ai.drop_vectorizer(vectorizer_id int4, drop_all boolean DEFAULT false) RETURNS void
    LANGUAGE c VOLATILE
    AS 'MODULE_PATHNAME', 'ai_call_as_owner';
COMMENT ON FUNCTION ai.drop_vectorizer(int4, boolean) IS
    'drops a vectorizer; with drop_all, the embeddings as well';

CREATE OR REPLACE FUNCTION ai.drop_vectorizer(name text, drop_all boolean DEFAULT false) RETURNS void
    LANGUAGE c VOLATILE
    AS 'MODULE_PATHNAME', 'ai_call_as_owner';
COMMENT ON FUNCTION ai.drop_vectorizer(text, boolean) IS
    'drops a vectorizer; with drop_all, the embeddings as well';
-- Turning vectorizers off and on, changing what can be changed, waking the workers.

-- Where triggers were dropped, changes were missed: they are made again, and all rows are queued.
-- An embedding column that was dropped and added again is empty. Who calls this expects no more of a
-- restore.
CREATE OR REPLACE FUNCTION ai._vectorizer_repair(v ai.vectorizer) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    embedding_column name := v.config #>> '{destination,embedding_column}';
BEGIN
    IF v.target IS NULL AND embedding_column IS NULL THEN
        RAISE EXCEPTION 'vectorizer "%" has no target table any more', v.name
            USING ERRCODE = 'object_not_in_prerequisite_state',
                  HINT = 'Drop the vectorizer with ai.drop_vectorizer and create it again.';
    END IF;
    IF embedding_column IS NOT NULL AND NOT ai._vectorizer_check_embedding_column(v.source,
           embedding_column, (v.config #>> '{embedding,dimensions}')::int) THEN
        RAISE EXCEPTION 'vectorizer "%" has no embedding column any more', v.name
            USING ERRCODE = 'object_not_in_prerequisite_state',
                  HINT = 'Add the column, or drop the vectorizer with ai.drop_vectorizer.';
    END IF;
    IF v.restoring THEN
        UPDATE ai.vectorizer x SET restoring = false WHERE x.id = v.id;
        v.restoring := false;
    END IF;
    IF (SELECT count(*) FROM ai._vectorizer_triggers(v) t WHERE t.relation = v.source) < 4 THEN
        EXECUTE format('LOCK TABLE %s IN SHARE ROW EXCLUSIVE MODE', ai._qualified_name(v.source));
        PERFORM ai._vectorizer_create_source_trigger(v);
        PERFORM ai._vectorizer_enqueue_rows(v, ai._from_source(v.source));
        PERFORM ai._vectorizer_enqueue_orphans(v);
    ELSIF embedding_column IS NOT NULL AND EXISTS (
        SELECT FROM ai._vectorizer_errors e
        WHERE e.id = v.id AND e.details ->> 'step' = 'definition') THEN
        PERFORM ai._vectorizer_enqueue_rows(v, ai._from_source(v.source),
                                            format('WHERE %I IS NULL', embedding_column));
    END IF;
    IF (SELECT c.relkind = 'p' FROM pg_class c WHERE c.oid = v.source) THEN
        PERFORM ai._vectorizer_follow_partitions(v);
    END IF;
END
$$;
COMMENT ON FUNCTION ai._vectorizer_repair(ai.vectorizer) IS
    'makes the triggers of a vectorizer again if they were dropped, or raises an error';

CREATE OR REPLACE FUNCTION ai._vectorizer_set_disabled(caller oid, v ai.vectorizer, disable boolean)
    RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    PERFORM ai._vectorizer_require_owner(caller, v,
        CASE WHEN disable THEN 'disable' ELSE 'enable' END);
    IF NOT disable THEN
        PERFORM ai._vectorizer_repair(v);
    END IF;
    UPDATE ai.vectorizer x SET disabled = disable WHERE x.id = v.id AND x.disabled <> disable;
END
$$;
COMMENT ON FUNCTION ai._vectorizer_set_disabled(oid, ai.vectorizer, boolean) IS
    'turns a vectorizer off or on, for the role that called';

CREATE OR REPLACE FUNCTION ai._disable_vectorizer_schedule(caller oid, vectorizer_id int4) RETURNS void
    LANGUAGE sql
    SET search_path = pg_catalog, pg_temp
    AS $$SELECT ai._vectorizer_set_disabled(caller, ai._vectorizer_get(vectorizer_id), true)$$;
CREATE OR REPLACE FUNCTION ai._disable_vectorizer_schedule(caller oid, name text) RETURNS void
    LANGUAGE sql
    SET search_path = pg_catalog, pg_temp
    AS $$SELECT ai._vectorizer_set_disabled(caller, ai._vectorizer_get(name), true)$$;
CREATE OR REPLACE FUNCTION ai._enable_vectorizer_schedule(caller oid, vectorizer_id int4) RETURNS void
    LANGUAGE sql
    SET search_path = pg_catalog, pg_temp
    AS $$SELECT ai._vectorizer_set_disabled(caller, ai._vectorizer_get(vectorizer_id), false)$$;
CREATE OR REPLACE FUNCTION ai._enable_vectorizer_schedule(caller oid, name text) RETURNS void
    LANGUAGE sql
    SET search_path = pg_catalog, pg_temp
    AS $$SELECT ai._vectorizer_set_disabled(caller, ai._vectorizer_get(name), false)$$;
COMMENT ON FUNCTION ai._disable_vectorizer_schedule(oid, int4) IS
    'what ai.disable_vectorizer_schedule does, for the role that called it';
COMMENT ON FUNCTION ai._disable_vectorizer_schedule(oid, text) IS
    'what ai.disable_vectorizer_schedule does, for the role that called it';
COMMENT ON FUNCTION ai._enable_vectorizer_schedule(oid, int4) IS
    'what ai.enable_vectorizer_schedule does, for the role that called it';
COMMENT ON FUNCTION ai._enable_vectorizer_schedule(oid, text) IS
    'what ai.enable_vectorizer_schedule does, for the role that called it';

CREATE OR REPLACE FUNCTION ai.disable_vectorizer_schedule(vectorizer_id int4) RETURNS void
    LANGUAGE c VOLATILE AS 'MODULE_PATHNAME', 'ai_call_as_owner';
CREATE OR REPLACE FUNCTION ai.disable_vectorizer_schedule(name text) RETURNS void
    LANGUAGE c VOLATILE AS 'MODULE_PATHNAME', 'ai_call_as_owner';
CREATE OR REPLACE FUNCTION ai.enable_vectorizer_schedule(vectorizer_id int4) RETURNS void
    LANGUAGE c VOLATILE AS 'MODULE_PATHNAME', 'ai_call_as_owner';
CREATE OR REPLACE FUNCTION ai.enable_vectorizer_schedule(name text) RETURNS void
    LANGUAGE c VOLATILE AS 'MODULE_PATHNAME', 'ai_call_as_owner';
COMMENT ON FUNCTION ai.disable_vectorizer_schedule(int4) IS
    'lets a vectorizer rest: changes are queued, not processed';
COMMENT ON FUNCTION ai.disable_vectorizer_schedule(text) IS
    'lets a vectorizer rest: changes are queued, not processed';
COMMENT ON FUNCTION ai.enable_vectorizer_schedule(int4) IS
    'lets a vectorizer work again, and makes its triggers again if they were dropped';
COMMENT ON FUNCTION ai.enable_vectorizer_schedule(text) IS
    'lets a vectorizer work again, and makes its triggers again if they were dropped';

CREATE OR REPLACE FUNCTION ai._set_scheduling(caller oid, vectorizer_id int4, scheduling jsonb, indexing jsonb)
    RETURNS jsonb
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    v ai.vectorizer := ai._vectorizer_get(vectorizer_id);
    dimensions int4 := v.config #>> '{embedding,dimensions}';
BEGIN
    PERFORM ai._vectorizer_require_owner(caller, v, 'change');
    scheduling := ai._validate_scheduling(ai._config_object(scheduling));
    indexing := ai._validate_indexing(ai._config_object(indexing), dimensions);
    UPDATE ai.vectorizer x
    SET config = x.config || jsonb_build_object('scheduling', scheduling,
        'indexing', ai._resolve_indexing(indexing, dimensions))
    WHERE x.id = v.id;
    RETURN scheduling;
END
$$;
COMMENT ON FUNCTION ai._set_scheduling(oid, int4, jsonb, jsonb) IS
    'what ai.set_scheduling does, for the role that called it';

CREATE OR REPLACE FUNCTION ai.set_scheduling(vectorizer_id int4,
        scheduling jsonb DEFAULT ai.scheduling_default(),
        indexing jsonb DEFAULT ai.indexing_default()) RETURNS jsonb
    LANGUAGE c VOLATILE
    AS 'MODULE_PATHNAME', 'ai_call_as_owner';
COMMENT ON FUNCTION ai.set_scheduling(int4, jsonb, jsonb) IS
    'changes the scheduling and the indexing of a vectorizer; returns the scheduling';
-- How far vectorizers are, for everybody who may read what they make.

CREATE OR REPLACE FUNCTION ai._vectorizer_readable(role name, source regclass, target regclass)
    RETURNS boolean
    LANGUAGE c STABLE
    AS 'MODULE_PATHNAME', 'ai_vectorizer_readable';
COMMENT ON FUNCTION ai._vectorizer_readable(name, regclass, regclass) IS
    'whether a role may read what a vectorizer embeds, or the embeddings';

CREATE OR REPLACE FUNCTION ai._vectorizer_visible(role name, source regclass, target regclass) RETURNS boolean
    LANGUAGE c STABLE
    AS 'MODULE_PATHNAME', 'ai_vectorizer_visible';
COMMENT ON FUNCTION ai._vectorizer_visible(name, regclass, regclass) IS
    'whether a role may see how far a vectorizer is';

CREATE OR REPLACE FUNCTION ai._require_permission(permitted boolean, v ai.vectorizer) RETURNS void
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    IF NOT permitted THEN
        RAISE EXCEPTION 'permission denied for vectorizer "%"', v.name
            USING ERRCODE = 'insufficient_privilege',
                  HINT = 'It takes the right to read the source or the target table.';
    END IF;
END
$$;
COMMENT ON FUNCTION ai._require_permission(boolean, ai.vectorizer) IS
    'raises an error unless something is permitted';

CREATE OR REPLACE FUNCTION ai._vectorizer_require_visible(caller oid, v ai.vectorizer) RETURNS void
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT ai._require_permission(
        ai._vectorizer_visible(pg_get_userbyid(caller), v.source, v.target), v)
    $$;
COMMENT ON FUNCTION ai._vectorizer_require_visible(oid, ai.vectorizer) IS
    'raises an error unless the caller may see how far a vectorizer is';

CREATE OR REPLACE FUNCTION ai._vectorizer_require_readable(caller oid, v ai.vectorizer) RETURNS void
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT ai._require_permission(
        ai._vectorizer_readable(pg_get_userbyid(caller), v.source, v.target), v)
    $$;
COMMENT ON FUNCTION ai._vectorizer_require_readable(oid, ai.vectorizer) IS
    'raises an error unless the caller may read what a vectorizer embeds';

-- Costs little whatever the length of the queue, and waits for nobody. Reads tables that only their
-- owner may read, whoever calls it.
CREATE OR REPLACE FUNCTION ai._vectorizer_count_entries(queue regclass, work regclass, failed regclass, key_columns int4)
    RETURNS ai._vectorizer_counts
    LANGUAGE c VOLATILE STRICT
    AS 'MODULE_PATHNAME', 'ai_vectorizer_count_entries';
COMMENT ON FUNCTION ai._vectorizer_count_entries(regclass, regclass, regclass, int4) IS
    'the numbers of a vectorizer by a look at its tables, estimates where one has more than 10,000 '
    'entries; pending is null if it takes a query to compare the keys, all if a table is locked or '
    'gone';
REVOKE ALL ON FUNCTION ai._vectorizer_count_entries(regclass, regclass, regclass, int4) FROM PUBLIC;

CREATE OR REPLACE FUNCTION ai._vectorizer_count_keys(v ai.vectorizer, looked ai._vectorizer_counts)
    RETURNS ai._vectorizer_counts
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp SET synchronize_seqscans = off
    AS $$
DECLARE
    n ai._vectorizer_counts := looked;
BEGIN
    EXECUTE format('LOCK TABLE %s, %s IN ACCESS SHARE MODE NOWAIT', ai._qualified_name(v.queue),
                   ai._qualified_name(v.work));
    EXECUTE format(
        'SELECT count(*) + (SELECT count(*) FROM %3$s w '
        'WHERE w.lease IS NULL AND (w.retry_at > now()) IS NOT TRUE) '
        'FROM (SELECT DISTINCT %1$s FROM (SELECT %1$s FROM %2$s q LIMIT 10000) q) q '
        'WHERE NOT EXISTS (SELECT FROM %3$s w WHERE %4$s)',
        ai._key_list(v.source_pk, 'q.%2$s'), ai._qualified_name(v.queue),
        ai._qualified_name(v.work), ai._key_list(v.source_pk, 'w.%2$s %4$s q.%2$s', ' AND '))
    INTO n.pending;
    RETURN n;
EXCEPTION
    WHEN lock_not_available OR undefined_table THEN
        RETURN NULL;
    WHEN ambiguous_function THEN
        -- Casts of its own keep the key from being compared. It must not hide the others.
        n := (ai._vectorizer_count_exactly(v), 0, 0, 0, NULL, NULL, SQLERRM, NULL);
        RETURN n;
END
$$;
COMMENT ON FUNCTION ai._vectorizer_count_keys(ai.vectorizer, ai._vectorizer_counts) IS
    'what ai._vectorizer_count_entries has found, with the number of pending rows by a query';

CREATE OR REPLACE FUNCTION ai._vectorizer_count(v ai.vectorizer) RETURNS ai._vectorizer_counts
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    n ai._vectorizer_counts := ai._vectorizer_count_entries(v.queue, v.work, v.failed,
                                                   jsonb_array_length(v.source_pk));
BEGIN
    IF n.pending IS NULL AND n.running IS NOT NULL THEN
        n := ai._vectorizer_count_keys(v, n);
    END IF;
    RETURN n;
END
$$;
COMMENT ON FUNCTION ai._vectorizer_count(ai.vectorizer) IS
    'the numbers of a vectorizer, estimates where a table has more than 10,000 entries; null if '
    'its tables are locked, or gone by now';

CREATE OR REPLACE FUNCTION ai._vectorizer_count_exactly(v ai.vectorizer) RETURNS bigint
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    result bigint;
BEGIN
    EXECUTE format('SELECT count(*) FROM (SELECT %1$s FROM %2$s UNION SELECT %1$s FROM %3$s) r',
        ai._key_list(v.source_pk, '%2$s'), ai._qualified_name(v.work), ai._qualified_name(v.queue))
    INTO result;
    RETURN result;
END
$$;
COMMENT ON FUNCTION ai._vectorizer_count_exactly(ai.vectorizer) IS
    'number of rows that are not up to date, by counting all entries';

CREATE OR REPLACE FUNCTION ai._vectorizer_count_pending(v ai.vectorizer, exact_count boolean) RETURNS bigint
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    n ai._vectorizer_counts;
BEGIN
    IF NOT ai._vectorizer_has_queue(v) THEN
        RETURN NULL;
    END IF;
    PERFORM ai._vectorizer_flush_pending();
    IF NOT exact_count THEN
        n := ai._vectorizer_count(v);
    END IF;
    RETURN coalesce(n.pending + n.running + n.retrying, ai._vectorizer_count_exactly(v));
END
$$;
COMMENT ON FUNCTION ai._vectorizer_count_pending(ai.vectorizer, boolean) IS
    'number of rows in the queue of a vectorizer, those in flight included; null if it was dropped';

CREATE OR REPLACE FUNCTION ai._vectorizer_queue_pending(caller oid, vectorizer_id int4, exact_count boolean)
    RETURNS bigint
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    v ai.vectorizer := ai._vectorizer_get(vectorizer_id);
BEGIN
    PERFORM ai._vectorizer_require_visible(caller, v);
    RETURN ai._vectorizer_count_pending(v, coalesce(exact_count, false));
END
$$;
COMMENT ON FUNCTION ai._vectorizer_queue_pending(oid, int4, boolean) IS
    'what ai.vectorizer_queue_pending does, for the role that called it';

CREATE OR REPLACE FUNCTION ai._vectorizer_queue_pending(caller oid, name text, exact_count boolean)
    RETURNS bigint
    LANGUAGE sql
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT ai._vectorizer_queue_pending(caller, (ai._vectorizer_get(name)).id, exact_count)
    $$;
COMMENT ON FUNCTION ai._vectorizer_queue_pending(oid, text, boolean) IS
    'what ai.vectorizer_queue_pending does, for the role that called it';

CREATE OR REPLACE FUNCTION ai.vectorizer_queue_pending(vectorizer_id int4, exact_count boolean DEFAULT false)
    RETURNS bigint
    LANGUAGE c VOLATILE
    AS 'MODULE_PATHNAME', 'ai_call_as_owner';
COMMENT ON FUNCTION ai.vectorizer_queue_pending(int4, boolean) IS
    'number of rows that are not up to date yet, those in flight included; 0 means done. Above '
    '10,000 it is an estimate unless exact_count is true';

CREATE OR REPLACE FUNCTION ai.vectorizer_queue_pending(name text, exact_count boolean DEFAULT false)
    RETURNS bigint
    LANGUAGE c VOLATILE
    AS 'MODULE_PATHNAME', 'ai_call_as_owner';
COMMENT ON FUNCTION ai.vectorizer_queue_pending(text, boolean) IS
    'number of rows that are not up to date yet, those in flight included; 0 means done. Above '
    '10,000 it is an estimate unless exact_count is true';

CREATE OR REPLACE FUNCTION ai._vectorizer_queue_failed(caller oid, vectorizer_id int4) RETURNS bigint
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    v ai.vectorizer := ai._vectorizer_get(vectorizer_id);
    result bigint;
BEGIN
    PERFORM ai._vectorizer_require_visible(caller, v);
    IF ai._vectorizer_has_queue(v) THEN
        EXECUTE format('SELECT count(*) FROM %s', ai._qualified_name(v.failed)) INTO result;
    END IF;
    RETURN result;
END
$$;
COMMENT ON FUNCTION ai._vectorizer_queue_failed(oid, int4) IS
    'what ai.vectorizer_queue_failed does, for the role that called it';

CREATE OR REPLACE FUNCTION ai.vectorizer_queue_failed(vectorizer_id int4) RETURNS bigint
    LANGUAGE c VOLATILE
    AS 'MODULE_PATHNAME', 'ai_call_as_owner';
COMMENT ON FUNCTION ai.vectorizer_queue_failed(int4) IS
    'number of rows that were given up after the last attempt';
-- See functions/vectorizer-status.sql.

-- security_barrier: a function in a query's condition must not see what the view hides.
CREATE OR REPLACE VIEW ai.vectorizer_errors WITH (security_barrier) AS
    SELECT e.id, v.name, e.message, e.details, e.recorded
    FROM ai._vectorizer_errors e JOIN ai.vectorizer v ON v.id = e.id
    WHERE ai._vectorizer_visible(current_user, v.source, v.target);
COMMENT ON VIEW ai.vectorizer_errors IS
    'errors of the vectorizers of the tables that one may read';
GRANT SELECT ON ai.vectorizer_errors TO PUBLIC;
-- When something that a vectorizer needs is dropped: the vectorizer goes with its source, is
-- disabled without its target or its triggers, and does not let go of its columns, key and queue.

CREATE OR REPLACE FUNCTION ai._vectorizer_disable(v ai.vectorizer, message text) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    UPDATE ai.vectorizer x SET disabled = true WHERE x.id = v.id;
    INSERT INTO ai._vectorizer_errors (id, message, details)
    VALUES (v.id, message, '{"step": "definition", "class": "permanent"}');
    RAISE NOTICE 'vectorizer "%" is disabled: %', v.name, message;
END
$$;
COMMENT ON FUNCTION ai._vectorizer_disable(ai.vectorizer, text) IS
    'disables a vectorizer that lacks something, and records why';

CREATE OR REPLACE FUNCTION ai._vectorizer_refuse(v ai.vectorizer, message text) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    RAISE EXCEPTION '%', message
        USING ERRCODE = 'dependent_objects_still_exist',
              DETAIL = format('Vectorizer "%s" needs it.', v.name),
              HINT = format('Drop the vectorizer first: SELECT ai.drop_vectorizer(%L);', v.name);
END
$$;
COMMENT ON FUNCTION ai._vectorizer_refuse(ai.vectorizer, text) IS
    'raises the error for a change that would break a vectorizer';

-- The target table goes, too, unless others depend on it.
CREATE OR REPLACE FUNCTION ai._vectorizer_forget(v ai.vectorizer) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    PERFORM ai._vectorizer_drop(v);
    BEGIN
        PERFORM ai._drop_if_exists('VIEW', v.view);
        PERFORM ai._drop_if_exists('TABLE', v.target);
    EXCEPTION WHEN dependent_objects_still_exist THEN
        RAISE NOTICE 'the embeddings of vectorizer "%" are kept in %, since others depend on it',
            v.name, ai._qualified_name(v.target);
    END;
END
$$;
COMMENT ON FUNCTION ai._vectorizer_forget(ai.vectorizer) IS
    'removes everything of a vectorizer whose source was dropped';

-- A vectorizer without triggers is broken already and stands in nobody's way. pg_restore --clean
-- drops triggers first, then keys and queues, then tables.
CREATE OR REPLACE FUNCTION ai._vectorizer_has_triggers(v ai.vectorizer) RETURNS boolean
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT EXISTS (
        SELECT FROM pg_trigger t
        WHERE t.tgrelid = v.source AND t.tgfoid = 'ai._vectorizer_enqueue()'::regprocedure
          AND t.tgname IN (v.trigger_name, (v.trigger_name || '_update')::name))
    $$;
COMMENT ON FUNCTION ai._vectorizer_has_triggers(ai.vectorizer) IS
    'whether the source of a vectorizer still fires a row trigger of it';

CREATE OR REPLACE FUNCTION ai._vectorizer_follow_dropped_relations(relations oid[]) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    v ai.vectorizer;
BEGIN
    FOR v IN SELECT * FROM ai.vectorizer x WHERE x.source = ANY (relations) LOOP
        PERFORM ai._vectorizer_forget(v);
    END LOOP;
    FOR v IN SELECT * FROM ai.vectorizer x
             WHERE ARRAY[x.queue, x.work, x.failed]::oid[] && relations LOOP
        IF ai._vectorizer_has_triggers(v) THEN
            PERFORM ai._vectorizer_refuse(v, 'cannot drop the queue of a vectorizer');
        END IF;
        PERFORM ai._vectorizer_drop(v);
        RAISE NOTICE 'vectorizer "%" is dropped with its queue', v.name;
    END LOOP;
    UPDATE ai.vectorizer x SET view = NULL WHERE x.view = ANY (relations);
    FOR v IN SELECT * FROM ai.vectorizer x WHERE x.target = ANY (relations) LOOP
        UPDATE ai.vectorizer x SET target = NULL WHERE x.id = v.id;
        PERFORM ai._vectorizer_disable(v, 'its target table was dropped');
    END LOOP;
END
$$;
COMMENT ON FUNCTION ai._vectorizer_follow_dropped_relations(oid[]) IS
    'what follows from dropping tables and views';

CREATE OR REPLACE FUNCTION ai._vectorizer_follow_dropped_columns() RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    lost record;
BEGIN
    FOR lost IN
        SELECT v, d.address_names[3] AS attname
        FROM pg_event_trigger_dropped_objects() d
        JOIN ai.vectorizer v ON v.source = d.objid
        WHERE d.classid = 'pg_class'::regclass AND d.objsubid > 0
    LOOP
        IF lost.attname = ANY (ai._vectorizer_columns((lost.v).source_pk, (lost.v).config)
                               || ai._priority_column((lost.v).config)) THEN
            PERFORM ai._vectorizer_refuse(lost.v, format('cannot drop column "%s" of table %s',
                lost.attname, ai._qualified_name((lost.v).source)));
        ELSIF lost.attname = (lost.v).config #>> '{destination,embedding_column}' THEN
            -- Remembered, or the next column to be renamed would be taken for it.
            UPDATE ai.vectorizer x SET config = jsonb_set(x.config, '{destination,dropped}', 'true')
            WHERE x.id = (lost.v).id;
            PERFORM ai._vectorizer_disable(lost.v, 'its embedding column was dropped');
        END IF;
    END LOOP;
END
$$;
COMMENT ON FUNCTION ai._vectorizer_follow_dropped_columns() IS
    'what follows from dropping columns of sources';

-- Another unique index on the same columns will do.
CREATE OR REPLACE FUNCTION ai._vectorizer_has_key(v ai.vectorizer) RETURNS boolean
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT EXISTS (
        SELECT FROM pg_index i
        WHERE i.indrelid = v.source AND (i.indisunique OR i.indisprimary) AND i.indpred IS NULL
          AND i.indexprs IS NULL
          AND (SELECT array_agg(a.attname::text ORDER BY a.attname::text)
               FROM generate_series(0, i.indnkeyatts - 1) k
               JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[k])
              = (SELECT array_agg(k ->> 'attname' ORDER BY k ->> 'attname')
                 FROM jsonb_array_elements(v.source_pk) k))
    $$;
COMMENT ON FUNCTION ai._vectorizer_has_key(ai.vectorizer) IS
    'whether the source still has a unique index on the key of a vectorizer';

-- An index is dropped under its own name, which does not tell the table; so this looks at all
-- sources in its schema.
CREATE OR REPLACE FUNCTION ai._vectorizer_follow_dropped_keys() RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    v ai.vectorizer;
BEGIN
    FOR v IN
        SELECT x.* FROM ai.vectorizer x
        JOIN pg_class c ON c.oid = x.source
        JOIN pg_namespace n ON n.oid = c.relnamespace
        WHERE EXISTS (
            SELECT FROM pg_event_trigger_dropped_objects() d
            WHERE d.object_type = 'table constraint'
                  AND d.address_names[1] = n.nspname AND d.address_names[2] = c.relname
               OR d.object_type = 'index' AND d.schema_name = n.nspname)
    LOOP
        IF NOT ai._vectorizer_has_key(v) AND ai._vectorizer_has_triggers(v) THEN
            PERFORM ai._vectorizer_refuse(v, format('cannot drop the key of table %s',
                                                    ai._qualified_name(v.source)));
        END IF;
    END LOOP;
END
$$;
COMMENT ON FUNCTION ai._vectorizer_follow_dropped_keys() IS
    'what follows from dropping constraints and indexes of sources';

-- The table of a dropped trigger is gone: a partition was dropped, with rows. It is a partition
-- that lacks the trigger for TRUNCATE now: that is made again. It is neither: it was detached, and
-- that is dealt with. (Row triggers of partitions come and go with that of the source.)
CREATE OR REPLACE FUNCTION ai._vectorizer_follow_dropped_triggers() RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    lost record;
BEGIN
    FOR lost IN
        SELECT DISTINCT v, to_regclass(format('%I.%I', d.address_names[1], d.address_names[2]))
            AS relation
        FROM pg_event_trigger_dropped_objects() d
        JOIN ai.vectorizer v ON d.address_names[3] IN (v.trigger_name, v.trigger_name || '_update',
            v.trigger_name || '_flush', v.trigger_name || '_truncate')
        WHERE d.object_type = 'trigger' AND NOT d.is_temporary
    LOOP
        IF lost.relation = (lost.v).source THEN
            PERFORM ai._vectorizer_disable(lost.v, 'a trigger on its source table was dropped');
        ELSIF lost.relation IS NULL THEN
            PERFORM ai._vectorizer_enqueue_orphans(lost.v);
        ELSIF lost.relation IN (SELECT l FROM ai._vectorizer_leaves(lost.v) l
                                EXCEPT SELECT m FROM ai._vectorizer_marked(lost.v) m) THEN
            PERFORM ai._vectorizer_mark_leaf(lost.v, lost.relation);
        END IF;
    END LOOP;
END
$$;
COMMENT ON FUNCTION ai._vectorizer_follow_dropped_triggers() IS
    'what follows from dropping the triggers of vectorizers';

-- SECURITY DEFINER: whoever drops a table has no rights on the catalog of vectorizers and on
-- queues. There are no arguments, and all that happens follows from what that role could drop.
CREATE OR REPLACE FUNCTION ai._on_sql_drop() RETURNS event_trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    relations oid[];
BEGIN
    -- Most of what is dropped is temporary, or there is no vectorizer at all.
    IF NOT EXISTS (SELECT FROM pg_event_trigger_dropped_objects() d WHERE NOT d.is_temporary)
       OR NOT EXISTS (SELECT FROM ai.vectorizer) THEN
        RETURN;
    END IF;
    relations := ARRAY(SELECT d.objid FROM pg_event_trigger_dropped_objects() d
                       WHERE d.classid = 'pg_class'::regclass AND d.objsubid = 0
                         AND NOT d.is_temporary);
    PERFORM ai._vectorizer_follow_dropped_relations(relations);
    PERFORM ai._vectorizer_follow_dropped_columns();
    PERFORM ai._vectorizer_follow_dropped_keys();
    PERFORM ai._vectorizer_follow_dropped_triggers();
END
$$;
COMMENT ON FUNCTION ai._on_sql_drop() IS
    'event trigger: keeps vectorizers in step with what is dropped';
REVOKE ALL ON FUNCTION ai._on_sql_drop() FROM PUBLIC;
-- When a table that a vectorizer needs is altered: renames and a new owner are followed, what would
-- break the vectorizer is refused. Source and target are known by their OIDs, so only names of
-- columns, and the queue's name in the triggers, have to be looked after.

CREATE OR REPLACE FUNCTION ai._vectorizer_missing_columns(v ai.vectorizer) RETURNS name[]
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT ARRAY(
        SELECT c FROM unnest(ai._vectorizer_columns(v.source_pk, v.config)
            || array_remove(ARRAY[ai._priority_column(v.config),
                CASE WHEN NOT v.config -> 'destination' ? 'dropped'
                     THEN (v.config #>> '{destination,embedding_column}')::name END], NULL)) c
        EXCEPT
        SELECT a.attname FROM pg_attribute a WHERE a.attrelid = v.source AND NOT a.attisdropped)
    $$;
COMMENT ON FUNCTION ai._vectorizer_missing_columns(ai.vectorizer) IS
    'columns that a vectorizer''s configuration names and the source does not have, but for an '
    'embedding column that was dropped';

CREATE OR REPLACE FUNCTION ai._vectorizer_rename_column(v ai.vectorizer, old_name name, new_name name)
    RETURNS ai.vectorizer
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    paths constant text[] := '{{loading,column_name},{destination,embedding_column},'
                             '{processing,priority_column}}';
    path text[];
BEGIN
    v.source_pk := (
        SELECT jsonb_agg(CASE WHEN k ->> 'attname' = old_name
                         THEN k || jsonb_build_object('attname', new_name) ELSE k END
                         ORDER BY (k ->> 'pknum')::int)
        FROM jsonb_array_elements(v.source_pk) k);
    FOREACH path SLICE 1 IN ARRAY paths LOOP
        IF v.config #>> path = old_name THEN
            v.config := jsonb_set(v.config, path, to_jsonb(new_name));
        END IF;
    END LOOP;
    IF old_name = ANY (ai._formatting_columns(v.config -> 'formatting')) THEN
        IF new_name ~ '}' OR new_name = 'chunk' THEN
            RAISE EXCEPTION 'cannot rename column "%" to "%"', old_name, new_name
                USING ERRCODE = 'dependent_objects_still_exist',
                      DETAIL = format('The template of vectorizer "%s" uses it.', v.name),
                      HINT = 'In a template, $chunk has another meaning, and "}" ends a name.';
        END IF;
        v.config := jsonb_set(v.config, '{formatting,template}', to_jsonb(
            ai._template_rename(v.config #>> '{formatting,template}', old_name, new_name)));
    END IF;
    UPDATE ai.vectorizer x SET source_pk = v.source_pk, config = v.config WHERE x.id = v.id;
    RETURN v;
END
$$;
COMMENT ON FUNCTION ai._vectorizer_rename_column(ai.vectorizer, name, name) IS
    'a vectorizer after a column of its source was renamed';

-- Each RENAME of a column comes here, so at most one name is missing, and it is the old one. An
-- embedding column that was dropped is no more missed until there is one again.
CREATE OR REPLACE FUNCTION ai._vectorizer_follow_columns(v ai.vectorizer, renamed name) RETURNS ai.vectorizer
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    missing name[];
BEGIN
    IF v.config -> 'destination' ? 'dropped' AND EXISTS (
        SELECT FROM pg_attribute a WHERE a.attrelid = v.source AND NOT a.attisdropped
          AND a.attname = v.config #>> '{destination,embedding_column}') THEN
        v.config := v.config #- '{destination,dropped}';
        UPDATE ai.vectorizer x SET config = v.config WHERE x.id = v.id;
    END IF;
    missing := ai._vectorizer_missing_columns(v);
    IF cardinality(missing) = 1 AND renamed IS NOT NULL THEN
        v := ai._vectorizer_rename_column(v, missing[1], renamed);
        PERFORM ai._vectorizer_create_source_trigger(v);
    END IF;
    RETURN v;
END
$$;
COMMENT ON FUNCTION ai._vectorizer_follow_columns(ai.vectorizer, name) IS
    'what follows from renaming a column of a source';

CREATE OR REPLACE FUNCTION ai._vectorizer_follow_layout(v ai.vectorizer) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    relation regclass;
    lost name;
BEGIN
    SELECT r.relation, c INTO relation, lost
    FROM (VALUES
        (v.target, '{embedding_uuid,chunk_seq,chunk,embedding,content_hash}'::name[],
         'target_column'),
        (v.queue, '{queued_at,priority}', 'queue_column'),
        (v.work, '{queued_at,priority,attempts,retry_at,lease,taken_at,error}', 'queue_column'),
        (v.failed, '{step,error,class,attempts,failed_at}', 'queue_column')
    ) AS r (relation, columns, key)
    CROSS JOIN LATERAL unnest(r.columns || ARRAY(
        SELECT (k ->> r.key)::name FROM jsonb_array_elements(v.source_pk) k)) c
    WHERE r.relation IS NOT NULL AND NOT EXISTS (
        SELECT FROM pg_attribute a
        WHERE a.attrelid = r.relation AND a.attname = c AND NOT a.attisdropped)
    LIMIT 1;
    IF FOUND THEN
        PERFORM ai._vectorizer_refuse(v, format('cannot drop or rename column "%s" of table %s',
                                                lost, ai._qualified_name(relation)));
    END IF;
    SELECT a.attname INTO lost
    FROM jsonb_array_elements(v.source_pk) k
    JOIN pg_attribute a ON a.attrelid = v.source AND a.attname = k ->> 'attname'
    WHERE NOT a.attnotnull
    LIMIT 1;
    IF FOUND THEN
        PERFORM ai._vectorizer_refuse(v, format('column "%s" of table %s must stay NOT NULL', lost,
                                                ai._qualified_name(v.source)));
    END IF;
END
$$;
COMMENT ON FUNCTION ai._vectorizer_follow_layout(ai.vectorizer) IS
    'raises an error if a table lacks a column that a vectorizer needs, or a key may be null';

-- Vectors of another length, or no vectors, could not be stored any more. With halfvec they can.
CREATE OR REPLACE FUNCTION ai._vectorizer_follow_embedding(v ai.vectorizer) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    relation regclass := coalesce(v.target, v.source);
    embedding_column name := coalesce(v.config #>> '{destination,embedding_column}', 'embedding');
    dimensions int4 := v.config #>> '{embedding,dimensions}';
BEGIN
    IF v.target IS NULL AND v.config #>> '{destination,implementation}' <> 'column' THEN
        RETURN;
    END IF;
    IF EXISTS (
        SELECT FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid
        WHERE a.attrelid = relation AND a.attname = embedding_column AND NOT a.attisdropped
          AND (t.typname NOT IN ('vector', 'halfvec') OR a.atttypmod NOT IN (-1, dimensions))) THEN
        PERFORM ai._vectorizer_refuse(v, format('column "%s" of table %s must stay %s',
            embedding_column, ai._qualified_name(relation), ai._vector_type(dimensions)));
    END IF;
END
$$;
COMMENT ON FUNCTION ai._vectorizer_follow_embedding(ai.vectorizer) IS
    'raises an error if the embeddings of a vectorizer do not fit into their column any more';

-- Target and view go with the source, as far as they belonged to the same role. REASSIGN OWNED
-- fires no event trigger, so this is also called before the owner's rights on the queue are needed.
CREATE OR REPLACE FUNCTION ai._vectorizer_follow_owner(v ai.vectorizer) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    new_owner name := pg_get_userbyid(ai._vectorizer_owner(v));
    old_owner oid := (SELECT r.oid FROM pg_roles r WHERE r.rolname = v.owner_role);
    relation regclass;
BEGIN
    IF new_owner = v.owner_role THEN
        RETURN;
    END IF;
    UPDATE ai.vectorizer x SET owner_role = new_owner WHERE x.id = v.id;
    FOR relation IN SELECT c.oid FROM pg_class c
                    WHERE c.oid IN (v.target, v.view) AND c.relowner = old_owner LOOP
        EXECUTE format('ALTER TABLE %s OWNER TO %I', ai._qualified_name(relation), new_owner);
    END LOOP;
    IF old_owner IS NOT NULL THEN
        EXECUTE format('REVOKE ALL ON %s, %s, %s FROM %I', ai._qualified_name(v.queue),
                       ai._qualified_name(v.work), ai._qualified_name(v.failed), v.owner_role);
    END IF;
    PERFORM ai._vectorizer_grant_queue(v, new_owner);
END
$$;
COMMENT ON FUNCTION ai._vectorizer_follow_owner(ai.vectorizer) IS
    'what follows from a new owner of a source';

-- Triggers name the queue; and what turns them off and on again forgets ALWAYS. What was changed
-- meanwhile nobody knows, so all rows are queued then. A restore makes triggers and turns them on in
-- two steps, and has the queue in the dump.
CREATE OR REPLACE FUNCTION ai._vectorizer_follow_triggers(v ai.vectorizer) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    t record;
    was_off boolean := false;
    is_off boolean := false;
BEGIN
    IF NOT EXISTS (SELECT FROM ai._vectorizer_triggers(v) x WHERE x.kind = '_vectorizer_enqueue')
       AND EXISTS (SELECT FROM pg_trigger x
                   WHERE x.tgrelid = v.source AND x.tgname = v.trigger_name) THEN
        PERFORM ai._vectorizer_create_source_trigger(v);
    END IF;
    FOR t IN SELECT * FROM ai._vectorizer_triggers(v, true) x WHERE x.enabled <> 'A' LOOP
        is_off := is_off OR t.enabled = 'D';
        CONTINUE WHEN t.enabled = 'D';
        was_off := true;
        EXECUTE format('ALTER TABLE %s ENABLE ALWAYS TRIGGER %I', ai._qualified_name(t.relation),
                       t.trigger_name);
    END LOOP;
    IF was_off AND NOT v.restoring THEN
        RAISE NOTICE 'all rows of % are queued for vectorizer "%"', ai._qualified_name(v.source),
            v.name
            USING DETAIL = 'Its triggers were turned off, and changes may have been missed.';
        PERFORM ai._vectorizer_enqueue_rows(v, ai._from_source(v.source));
        PERFORM ai._vectorizer_enqueue_orphans(v);
    END IF;
    IF is_off THEN
        RAISE WARNING 'changes of % are not queued for vectorizer "%" while its triggers are off',
            ai._qualified_name(v.source), v.name
            USING HINT = 'All rows are queued when they are turned on again.';
    END IF;
END
$$;
COMMENT ON FUNCTION ai._vectorizer_follow_triggers(ai.vectorizer) IS
    'what follows from renaming a queue or its schema, and from turning triggers off and on';

CREATE OR REPLACE FUNCTION ai._vectorizer_follow(v ai.vectorizer, renamed name) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    IF EXISTS (SELECT FROM ai._vectorizer_followed f WHERE f.vectorizer_id = v.id) THEN
        RETURN;
    END IF;
    INSERT INTO ai._vectorizer_followed VALUES (v.id);
    v := ai._vectorizer_follow_columns(v, renamed);
    PERFORM ai._vectorizer_follow_layout(v);
    PERFORM ai._vectorizer_follow_embedding(v);
    PERFORM ai._vectorizer_check_queue_schema(n.nspname)
    FROM pg_class q JOIN pg_namespace n ON n.oid = q.relnamespace WHERE q.oid = v.queue;
    PERFORM ai._vectorizer_follow_owner(v);
    PERFORM ai._vectorizer_follow_row_security(v);
    PERFORM ai._vectorizer_follow_triggers(v);
    IF (SELECT c.relkind = 'p' FROM pg_class c WHERE c.oid = v.source) THEN
        PERFORM ai._vectorizer_follow_partitions(v);
    END IF;
    IF v.restoring THEN
        PERFORM ai._vectorizer_follow_restore(v);
    END IF;
    DELETE FROM ai._vectorizer_followed f WHERE f.vectorizer_id = v.id;
END
$$;
COMMENT ON FUNCTION ai._vectorizer_follow(ai.vectorizer, name) IS
    'brings a vectorizer in step with its tables; one column of the source may have been renamed';

-- A column can be renamed through a parent, or through the composite type that a table was made of;
-- and partitions come and go below a source.
CREATE OR REPLACE FUNCTION ai._vectorizers_of(relation oid) RETURNS SETOF ai.vectorizer
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
    WITH RECURSIVE above AS (
        SELECT relation AS oid
        UNION SELECT i.inhparent FROM above JOIN pg_inherits i ON i.inhrelid = above.oid
    ), made_of AS (
        SELECT i.inhparent AS oid, i.inhrelid AS child FROM pg_inherits i
        UNION ALL SELECT t.typrelid, c.oid FROM pg_class c JOIN pg_type t ON t.oid = c.reloftype
    ), below AS (
        SELECT relation AS oid
        UNION SELECT m.child FROM below JOIN made_of m ON m.oid = below.oid
    )
    SELECT v.* FROM ai.vectorizer v
    WHERE relation IN (v.target, v.queue, v.work, v.failed)
       OR v.source IN (SELECT oid FROM above UNION SELECT oid FROM below)
    $$;
COMMENT ON FUNCTION ai._vectorizers_of(oid) IS
    'vectorizers that have to do with a table, or with a composite type';

-- SECURITY DEFINER for the same reason as ai._on_sql_drop.
CREATE OR REPLACE FUNCTION ai._on_ddl_command_end() RETURNS event_trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM pg_event_trigger_ddl_commands() d WHERE d.schema_name <> 'pg_temp'
                                                                    OR TG_TAG = 'ALTER SCHEMA')
       OR NOT EXISTS (SELECT FROM ai.vectorizer) THEN
        RETURN;
    END IF;
    IF TG_TAG = 'ALTER SCHEMA' THEN
        PERFORM ai._vectorizer_follow(v, NULL) FROM ai.vectorizer v;
        RETURN;
    END IF;
    PERFORM ai._vectorizer_follow(v, (SELECT a.attname FROM pg_attribute a
        WHERE a.attrelid = c.objid AND a.attnum = c.objsubid AND c.objsubid > 0))
    FROM (SELECT DISTINCT d.objid, d.objsubid FROM pg_event_trigger_ddl_commands() d
          WHERE d.classid = 'pg_class'::regclass AND d.schema_name <> 'pg_temp') c,
         ai._vectorizers_of(c.objid) v;
END
$$;
COMMENT ON FUNCTION ai._on_ddl_command_end() IS
    'event trigger: keeps vectorizers in step with what is altered';
REVOKE ALL ON FUNCTION ai._on_ddl_command_end() FROM PUBLIC;
-- When a restore has ended: a vectorizer that came from a dump (tables/restore.sql) has all that belongs to it.

-- What turned triggers off on purpose (D) is in the dump as well. What has just been made is on, but
-- not always (O).
CREATE OR REPLACE FUNCTION ai._vectorizer_is_whole(v ai.vectorizer) RETURNS boolean
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT ai._vectorizer_has_queue(v)
        AND (SELECT count(*) >= 4 FROM ai._vectorizer_triggers(v) t WHERE t.relation = v.source)
        AND NOT EXISTS (SELECT FROM ai._vectorizer_triggers(v, true) t
                        WHERE t.enabled NOT IN ('A', 'D'))
        AND NOT EXISTS (SELECT l FROM ai._vectorizer_leaves(v) l
                        EXCEPT SELECT m FROM ai._vectorizer_marked(v) m)
    $$;
COMMENT ON FUNCTION ai._vectorizer_is_whole(ai.vectorizer) IS
    'whether a vectorizer has its queue, its triggers, and marks on all partitions';

-- A restore with several jobs makes triggers at the same time as it loads the vectorizer, and nobody sees
-- what is not committed: so the coordinator looks, too, and nobody waits here.
CREATE OR REPLACE FUNCTION ai._vectorizer_follow_restore(v ai.vectorizer) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    UPDATE ai.vectorizer x SET restoring = false WHERE x.id = (
        SELECT y.id FROM ai.vectorizer y
        WHERE y.id = v.id AND y.restoring AND ai._vectorizer_is_whole(y)
        FOR NO KEY UPDATE SKIP LOCKED);
END
$$;
COMMENT ON FUNCTION ai._vectorizer_follow_restore(ai.vectorizer) IS
    'ends the restore of a vectorizer, if all of it is there';

-- What comes after a restore is not part of it, also if nobody has seen yet that it has ended. Only for
-- the tables of whoever gives the command: the row is locked till the end of that transaction.
CREATE OR REPLACE FUNCTION ai._on_ddl_command_start() RETURNS event_trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    IF EXISTS (SELECT FROM ai.vectorizer v WHERE v.restoring) THEN
        PERFORM ai._vectorizer_follow_restore(v) FROM ai.vectorizer v
        WHERE v.restoring AND ai._is_owner(
            (SELECT r.oid FROM pg_roles r WHERE r.rolname = session_user), v.source);
    END IF;
END
$$;
COMMENT ON FUNCTION ai._on_ddl_command_start() IS
    'event trigger: ends restores of which all is there';
REVOKE ALL ON FUNCTION ai._on_ddl_command_start() FROM PUBLIC;
-- What event triggers did not see: a superuser can turn them off, and a trigger that was renamed is
-- dropped unnoticed. The coordinator finds it by the catalogs, and a process of its own brings the
-- vectorizer in step again, in steps that are transactions: each finds by the state what comes next, so
-- that nothing is forgotten when it is broken off.
--
-- Nobody is kept waiting: locks that are in the way of writers are had for a moment, at the end of a step,
-- and waited for a moment. Who does not get one comes again.

-- One query for all, which reads pg_trigger once and joins by hashes: functions that have a search_path are
-- not inlined, and cost more than all the rest. Triggers that somebody has turned off (D) are left alone:
-- all rows are queued when they are turned on.
CREATE OR REPLACE FUNCTION ai._vectorizers_out_of_step() RETURNS SETOF int4
    LANGUAGE sql STABLE ROWS 10
    SET search_path = pg_catalog, pg_temp
    AS $$
    WITH RECURSIVE trigger AS MATERIALIZED (
        SELECT t.tgrelid, t.tgfoid, t.tgargs, t.tgenabled, t.tgparentid FROM pg_trigger t
        WHERE t.tgfoid IN ('ai._vectorizer_enqueue()'::regprocedure,
                           'ai._vectorizer_flush()'::regprocedure,
                           'ai._vectorizer_truncate()'::regprocedure)
    ), subject AS MATERIALIZED (
        SELECT v.id, v.source, v.disabled, s.relkind, v.id::text::bytea || zero AS id_argument,
            convert_to(n.nspname, getdatabaseencoding()) || zero
            || convert_to(q.relname, getdatabaseencoding()) || zero AS enqueue_arguments,
            s.oid IS NULL OR q.oid IS NULL OR w.oid IS NULL OR f.oid IS NULL AS is_over,
            v.target IS NOT NULL AND t.oid IS NULL OR v.view IS NOT NULL AND i.oid IS NULL AS is_less
        FROM ai.vectorizer v
        LEFT JOIN pg_class s ON s.oid = v.source
        LEFT JOIN pg_class q ON q.oid = v.queue
        LEFT JOIN pg_class w ON w.oid = v.work
        LEFT JOIN pg_class f ON f.oid = v.failed
        LEFT JOIN pg_class t ON t.oid = v.target
        LEFT JOIN pg_class i ON i.oid = v.view
        LEFT JOIN pg_namespace n ON n.oid = q.relnamespace
        CROSS JOIN decode('00', 'hex') zero
        WHERE NOT v.restoring
    ), tree AS (
        SELECT s.id, s.source AS relation FROM subject s WHERE s.relkind = 'p'
        UNION ALL
        SELECT t.id, i.inhrelid FROM tree t
        JOIN pg_inherits i ON i.inhparent = t.relation AND NOT i.inhdetachpending
    ), leaf AS MATERIALIZED (
        SELECT t.id, t.relation::oid FROM tree t JOIN pg_class c ON c.oid = t.relation
        WHERE c.relkind = 'r'
    ), mark AS MATERIALIZED (
        SELECT s.id, t.tgrelid AS relation FROM subject s JOIN trigger t ON t.tgargs = s.id_argument
        WHERE s.relkind = 'p' AND t.tgfoid = 'ai._vectorizer_truncate()'::regprocedure
          AND t.tgrelid <> s.source
    ), own AS (
        SELECT s.id, t.tgenabled, t.tgrelid = s.source AND t.tgparentid = 0 AS is_on_source
        FROM (SELECT x.id, x.source::oid AS relation FROM subject x
              UNION ALL SELECT l.id, l.relation FROM leaf l) r
        JOIN subject s ON s.id = r.id
        JOIN trigger t ON t.tgrelid = r.relation
        WHERE CASE WHEN t.tgfoid = 'ai._vectorizer_enqueue()'::regprocedure
              THEN substring(t.tgargs FROM 1 FOR length(s.enqueue_arguments)) = s.enqueue_arguments
              ELSE t.tgargs = s.id_argument END
    ), triggers AS (
        SELECT o.id, bool_or(o.tgenabled NOT IN ('A', 'D')) AS is_half_on,
            count(*) FILTER (WHERE o.is_on_source) AS number FROM own o GROUP BY o.id
    )
    SELECT s.id FROM subject s LEFT JOIN triggers t ON t.id = s.id
    WHERE s.is_less OR t.is_half_on OR NOT s.disabled AND (s.is_over OR coalesce(t.number, 0) < 4)
    UNION SELECT d.id FROM (SELECT * FROM leaf EXCEPT SELECT * FROM mark) d
    UNION SELECT d.id FROM (SELECT * FROM mark EXCEPT SELECT * FROM leaf) d
    UNION SELECT m.vectorizer_id FROM ai._vectorizer_missed m
    UNION SELECT v.id FROM ai.vectorizer v WHERE v.restoring AND ai._vectorizer_is_whole(v)
    $$;
COMMENT ON FUNCTION ai._vectorizers_out_of_step() IS
    'vectorizers whose tables, triggers or partitions were changed without their noticing';

-- A table that is gone is as in ai._vectorizer_follow_dropped_relations, but for the source: what
-- depends on that is not dropped by a process in the background.
CREATE OR REPLACE FUNCTION ai._reconcile_tables(v ai.vectorizer) RETURNS text
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    trouble text;
BEGIN
    UPDATE ai.vectorizer x SET view = NULL WHERE x.id = v.id
      AND x.view IS NOT NULL AND NOT EXISTS (SELECT FROM pg_class c WHERE c.oid = x.view);
    UPDATE ai.vectorizer x SET target = NULL WHERE x.id = v.id
      AND x.target IS NOT NULL AND NOT EXISTS (SELECT FROM pg_class c WHERE c.oid = x.target);
    trouble := CASE WHEN FOUND THEN 'its target table was dropped' END;
    IF NOT v.disabled THEN
        trouble := CASE
            WHEN NOT EXISTS (SELECT FROM pg_class c WHERE c.oid = v.source) THEN
                'its source table was dropped; ai.drop_orphans() removes what is left of it'
            WHEN NOT ai._vectorizer_has_queue(v) THEN
                'the queue of the vectorizer, or a table that goes with it, was dropped; drop the '
                'vectorizer with ai.drop_vectorizer and create it again'
            ELSE trouble END;
    END IF;
    IF trouble IS NOT NULL THEN
        PERFORM ai._vectorizer_disable(v, trouble);
    END IF;
    RETURN 'it is disabled: ' || trouble;
END
$$;
COMMENT ON FUNCTION ai._reconcile_tables(ai.vectorizer) IS
    'disables a vectorizer that has lost a table unnoticed; says so';

CREATE OR REPLACE FUNCTION ai._reconcile_triggers(v ai.vectorizer) RETURNS text
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    trouble constant text := 'a trigger on its source table was dropped';
    t record;
    is_changed boolean := false;
BEGIN
    -- The queue has another name than in the triggers.
    IF NOT EXISTS (SELECT FROM ai._vectorizer_triggers(v) x WHERE x.kind = '_vectorizer_enqueue')
       AND ai._vectorizer_has_triggers(v) THEN
        PERFORM ai._vectorizer_create_source_trigger(v);
        is_changed := true;
    END IF;
    IF (SELECT count(*) FROM ai._vectorizer_triggers(v) x WHERE x.relation = v.source) < 4 THEN
        IF v.disabled THEN
            RETURN NULL;
        END IF;
        PERFORM ai._vectorizer_disable(v, trouble);
        RETURN 'it is disabled: ' || trouble;
    END IF;
    FOR t IN SELECT * FROM ai._vectorizer_triggers(v, true) x WHERE x.enabled NOT IN ('A', 'D') LOOP
        EXECUTE format('ALTER TABLE %s ENABLE ALWAYS TRIGGER %I', ai._qualified_name(t.relation),
                       t.trigger_name);
        is_changed := true;
    END LOOP;
    IF NOT is_changed THEN
        RETURN NULL;
    END IF;
    INSERT INTO ai._vectorizer_missed VALUES (v.id) ON CONFLICT DO NOTHING;
    RETURN 'its triggers did not always fire, and do again';
END
$$;
COMMENT ON FUNCTION ai._reconcile_triggers(ai.vectorizer) IS
    'turns triggers of a vectorizer on, or disables it without them; says so, or returns null if '
    'there was nothing to do';

CREATE OR REPLACE FUNCTION ai._reconcile_rows(v ai.vectorizer) RETURNS text
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    rows bigint;
    leaf regclass;
BEGIN
    DELETE FROM ai._vectorizer_missed m WHERE m.vectorizer_id = v.id;
    IF FOUND THEN
        rows := ai._vectorizer_enqueue_rows(v, ai._from_source(v.source));
        rows := rows + ai._vectorizer_enqueue_orphans(v);
        RETURN format('all its rows are queued: %s', rows);
    END IF;
    SELECT l INTO leaf FROM ai._vectorizer_leaves(v) l
    WHERE l NOT IN (SELECT m FROM ai._vectorizer_marked(v) m) LIMIT 1;
    IF FOUND THEN
        PERFORM ai._vectorizer_follow_attached(v, leaf);
        RETURN format('partition %s was attached, its rows are queued', ai._qualified_name(leaf));
    END IF;
    SELECT m INTO leaf FROM ai._vectorizer_marked(v) m
    WHERE m NOT IN (SELECT l FROM ai._vectorizer_leaves(v) l) LIMIT 1;
    IF FOUND THEN
        PERFORM ai._vectorizer_follow_detached(v, leaf);
        RETURN format('table %s is no partition any more, its rows are queued',
                      ai._qualified_name(leaf));
    END IF;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION ai._reconcile_rows(ai.vectorizer) IS
    'queues rows that were missed, those of one partition at a time; says so, or returns null if '
    'there were none';

CREATE OR REPLACE FUNCTION ai._vectorizer_reconcile_step(vectorizer_id int4) RETURNS text
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp SET lock_timeout = '100ms'
    AS $$
DECLARE
    v ai.vectorizer;
    done text;
BEGIN
    SELECT x.* INTO v FROM ai.vectorizer x WHERE x.id = vectorizer_id;
    IF NOT FOUND THEN
        RETURN NULL;
    ELSIF v.restoring THEN
        PERFORM ai._vectorizer_follow_restore(v);
        RETURN NULL;
    END IF;
    INSERT INTO ai._vectorizer_followed VALUES (v.id);
    done := ai._reconcile_tables(v);
    IF done IS NULL AND ai._vectorizer_has_queue(v)
       AND EXISTS (SELECT FROM pg_class c WHERE c.oid = v.source) THEN
        done := coalesce(ai._reconcile_triggers(v), ai._reconcile_rows(v));
    END IF;
    DELETE FROM ai._vectorizer_followed f WHERE f.vectorizer_id = v.id;
    RETURN done;
END
$$;
COMMENT ON FUNCTION ai._vectorizer_reconcile_step(int4) IS
    'does the next thing that brings a vectorizer in step with its tables; says what it was, or '
    'returns null if there was none';

-- Unlogged tables are empty after a crash of the server, and after a failover. A coordinator starts
-- after either.
CREATE OR REPLACE FUNCTION ai._vectorizer_is_unlogged(v ai.vectorizer) RETURNS boolean
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT EXISTS (SELECT FROM pg_class c
                   WHERE c.oid IN (v.source, v.target) AND c.relpersistence = 'u')
        OR EXISTS (SELECT FROM ai._vectorizer_leaves(v) l JOIN pg_class c ON c.oid = l
                   WHERE c.relpersistence = 'u')
    $$;
COMMENT ON FUNCTION ai._vectorizer_is_unlogged(ai.vectorizer) IS
    'whether the source of a vectorizer, a partition of it or the target does not survive a crash';

CREATE OR REPLACE FUNCTION ai._vectorizers_unlogged() RETURNS SETOF int4
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
    WITH RECURSIVE above AS (
        SELECT c.oid FROM pg_class c WHERE c.relpersistence = 'u' AND c.relkind = 'r'
        UNION
        SELECT i.inhparent FROM above a JOIN pg_inherits i ON i.inhrelid = a.oid
        JOIN pg_class p ON p.oid = i.inhparent AND p.relkind = 'p'
    )
    SELECT v.id FROM ai.vectorizer v WHERE v.source::oid IN (SELECT a.oid FROM above a)
    UNION
    SELECT v.id FROM ai.vectorizer v WHERE v.target::oid IN (SELECT a.oid FROM above a)
    $$;
COMMENT ON FUNCTION ai._vectorizers_unlogged() IS
    'vectorizers that a crash of the server may have taken rows or embeddings of';

CREATE OR REPLACE FUNCTION ai._vectorizer_queue_lost(vectorizer_id int4) RETURNS bigint
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    v ai.vectorizer;
    rows bigint;
BEGIN
    SELECT x.* INTO v FROM ai.vectorizer x
    WHERE x.id = vectorizer_id AND NOT x.restoring AND ai._vectorizer_has_queue(x)
      AND ai._vectorizer_is_unlogged(x);
    IF NOT FOUND THEN
        RETURN 0;
    END IF;
    rows := ai._vectorizer_enqueue_orphans(v);
    IF EXISTS (SELECT FROM pg_class c WHERE c.oid = v.target AND c.relpersistence = 'u') THEN
        rows := rows + ai._vectorizer_enqueue_rows(v, ai._from_source(v.source) || ' s', format(
            'WHERE NOT EXISTS (SELECT FROM ONLY %s t WHERE %s)', ai._qualified_name(v.target),
            ai._key_list(v.source_pk, 's.%1$s %4$s t.%3$s', ' AND ')));
    END IF;
    RETURN rows;
END
$$;
COMMENT ON FUNCTION ai._vectorizer_queue_lost(int4) IS
    'after a crash: queues the keys whose rows or embeddings were in an unlogged table; returns how '
    'many';

REVOKE ALL ON FUNCTION ai._vectorizers_out_of_step(), ai._reconcile_tables(ai.vectorizer),
    ai._reconcile_triggers(ai.vectorizer), ai._reconcile_rows(ai.vectorizer),
    ai._vectorizer_reconcile_step(int4), ai._vectorizers_unlogged(),
    ai._vectorizer_queue_lost(int4) FROM PUBLIC;
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
-- Pauses. Who is paused finishes the rows it has taken and takes no more, until somebody resumes it or
-- the pause is over. Workers look here before each claim, so this outlives them and the server.
--
-- A pause is not ai.disable_vectorizer_schedule: that one lets go of rows that are under way, and has
-- no end of its own.

CREATE TABLE ai._worker_pause (
    component    text PRIMARY KEY,
    paused_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
    paused_until timestamptz,
    paused_by    name NOT NULL
);
COMMENT ON TABLE ai._worker_pause IS
    'workers that are paused; the component * stands for all of them. Without paused_until there is '
    'no end; a row whose time has passed means nothing';

CREATE TABLE ai._vectorizer_pause (
    vectorizer_id int4 PRIMARY KEY REFERENCES ai.vectorizer ON DELETE CASCADE,
    paused_at     timestamptz NOT NULL DEFAULT clock_timestamp(),
    paused_until  timestamptz,
    paused_by     name,
    reason        text
);
COMMENT ON TABLE ai._vectorizer_pause IS
    'vectorizers that are paused, as ai._worker_pause; those that ended too many workers are paused '
    'by the coordinator, and have a reason instead of paused_by';

-- A restored database stays paused: nobody wants the provider's bill of a copy he did not start.
SELECT pg_catalog.pg_extension_config_dump('ai._worker_pause', '');
SELECT pg_catalog.pg_extension_config_dump('ai._vectorizer_pause', '');
-- See tables/pause.sql.

-- By the clock of now, not of the transaction: the end of a pause may come while one is open. In
-- PL/pgSQL because a worker calls it often, and so plans it once.
CREATE OR REPLACE FUNCTION ai._pause_left(component text, vectorizer_id int4) RETURNS float8
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    RETURN (
        SELECT max(coalesce(extract(epoch FROM p.paused_until - clock_timestamp()) * 1000,
                            'infinity'))
        FROM (SELECT w.paused_until FROM ai._worker_pause w
              WHERE w.component = ANY (ARRAY['*', _pause_left.component])
              UNION ALL
              SELECT v.paused_until FROM ai._vectorizer_pause v
              WHERE v.vectorizer_id = _pause_left.vectorizer_id) p
        WHERE coalesce(p.paused_until, 'infinity') > clock_timestamp());
END
$$;
COMMENT ON FUNCTION ai._pause_left(text, int4) IS
    'for how many milliseconds a worker may take no rows of a vectorizer; null if it may, infinity '
    'if somebody has to resume it';

CREATE OR REPLACE FUNCTION ai._pause_end(until timestamptz) RETURNS timestamptz
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    IF until <= clock_timestamp() THEN
        RAISE EXCEPTION 'cannot pause until %, which is in the past', until
            USING ERRCODE = 'invalid_parameter_value',
                  HINT = 'Give a time to come, or none for a pause without end.';
    END IF;
    RETURN nullif(until, 'infinity');
END
$$;
COMMENT ON FUNCTION ai._pause_end(timestamptz) IS
    'end of a pause, null if there is none; raises an error for a time in the past';

CREATE OR REPLACE FUNCTION ai._pause_prune() RETURNS void
    LANGUAGE sql
    SET search_path = pg_catalog, pg_temp
    AS $$
    DELETE FROM ai._worker_pause WHERE paused_until <= clock_timestamp();
    DELETE FROM ai._vectorizer_pause WHERE paused_until <= clock_timestamp();
    $$;
COMMENT ON FUNCTION ai._pause_prune() IS 'removes pauses that are over';

-- Workers.

CREATE OR REPLACE FUNCTION ai._pause_component(caller oid, component text, until timestamptz) RETURNS void
    LANGUAGE sql
    SET search_path = pg_catalog, pg_temp
    AS $$
    INSERT INTO ai._worker_pause AS p (component, paused_until, paused_by)
    VALUES (component, ai._pause_end(until), pg_get_userbyid(caller))
    ON CONFLICT ON CONSTRAINT _worker_pause_pkey DO UPDATE
    SET paused_at = excluded.paused_at, paused_until = excluded.paused_until,
        paused_by = excluded.paused_by;
    SELECT ai._vectorizer_notify()
    $$;
COMMENT ON FUNCTION ai._pause_component(oid, text, timestamptz) IS 'pauses a worker, or all: *';

CREATE OR REPLACE FUNCTION ai._pause_workers(caller oid, until timestamptz) RETURNS void
    LANGUAGE sql
    SET search_path = pg_catalog, pg_temp
    AS $$SELECT ai._pause_component(caller, '*', until)$$;
COMMENT ON FUNCTION ai._pause_workers(oid, timestamptz) IS
    'what ai.pause_workers does, for the role that called it';

CREATE OR REPLACE FUNCTION ai._pause_worker(caller oid, component text, until timestamptz) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    IF component = 'coordinator' THEN
        RAISE EXCEPTION 'the coordinator cannot be paused'
            USING ERRCODE = 'feature_not_supported',
                  HINT = 'It takes no rows itself. ai.pause_workers() pauses all workers.';
    END IF;
    PERFORM ai._worker_require(component);
    PERFORM ai._pause_component(caller, component, until);
END
$$;
COMMENT ON FUNCTION ai._pause_worker(oid, text, timestamptz) IS
    'what ai.pause_worker does, for the role that called it';

CREATE OR REPLACE FUNCTION ai._resume_workers(caller oid) RETURNS boolean
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    was_paused boolean;
BEGIN
    WITH gone AS (DELETE FROM ai._worker_pause p RETURNING p.paused_until)
    SELECT bool_or(coalesce(g.paused_until, 'infinity') > clock_timestamp()) INTO was_paused
    FROM gone g;
    PERFORM ai._vectorizer_notify();
    RETURN coalesce(was_paused, false);
END
$$;
COMMENT ON FUNCTION ai._resume_workers(oid) IS
    'what ai.resume_workers does, for the role that called it';

CREATE OR REPLACE FUNCTION ai._resume_worker(caller oid, component text) RETURNS boolean
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    until timestamptz;
BEGIN
    PERFORM ai._worker_require(component);
    IF EXISTS (SELECT FROM ai._worker_pause p WHERE p.component = '*'
               AND coalesce(p.paused_until, 'infinity') > clock_timestamp()) THEN
        RAISE EXCEPTION 'all workers are paused, not only "%"', component
            USING ERRCODE = 'object_not_in_prerequisite_state',
                  HINT = 'Run ai.resume_workers(), then pause those that are to rest.';
    END IF;
    DELETE FROM ai._worker_pause p WHERE p.component = _resume_worker.component
    RETURNING coalesce(p.paused_until, 'infinity') INTO until;
    PERFORM ai._vectorizer_notify();
    RETURN coalesce(until > clock_timestamp(), false);
END
$$;
COMMENT ON FUNCTION ai._resume_worker(oid, text) IS
    'what ai.resume_worker does, for the role that called it';

CREATE OR REPLACE FUNCTION ai.pause_workers(until timestamptz DEFAULT NULL) RETURNS void
    LANGUAGE c VOLATILE AS 'MODULE_PATHNAME', 'ai_call_as_owner';
CREATE OR REPLACE FUNCTION ai.pause_worker(component text, until timestamptz DEFAULT NULL) RETURNS void
    LANGUAGE c VOLATILE AS 'MODULE_PATHNAME', 'ai_call_as_owner';
CREATE OR REPLACE FUNCTION ai.resume_workers() RETURNS boolean
    LANGUAGE c VOLATILE AS 'MODULE_PATHNAME', 'ai_call_as_owner';
CREATE OR REPLACE FUNCTION ai.resume_worker(component text) RETURNS boolean
    LANGUAGE c VOLATILE AS 'MODULE_PATHNAME', 'ai_call_as_owner';
COMMENT ON FUNCTION ai.pause_workers(timestamptz) IS
    'has all workers of this database finish what they have taken and take no more';
COMMENT ON FUNCTION ai.pause_worker(text, timestamptz) IS
    'has one worker finish what it has taken and take no more';
COMMENT ON FUNCTION ai.resume_workers() IS
    'ends all pauses of workers; returns whether there was one';
COMMENT ON FUNCTION ai.resume_worker(text) IS
    'ends the pause of one worker; returns whether it was paused';

-- Vectorizers, by their owners.

CREATE OR REPLACE FUNCTION ai._vectorizer_pause_by(caller oid, v ai.vectorizer, until timestamptz) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    PERFORM ai._vectorizer_require_owner(caller, v, 'pause');
    INSERT INTO ai._vectorizer_pause AS p (vectorizer_id, paused_until, paused_by)
    VALUES (v.id, ai._pause_end(until), pg_get_userbyid(caller))
    ON CONFLICT (vectorizer_id) DO UPDATE
    SET paused_at = excluded.paused_at, paused_until = excluded.paused_until,
        paused_by = excluded.paused_by, reason = NULL;
    PERFORM ai._vectorizer_notify();
END
$$;
COMMENT ON FUNCTION ai._vectorizer_pause_by(oid, ai.vectorizer, timestamptz) IS
    'pauses a vectorizer, for the role that called';

CREATE OR REPLACE FUNCTION ai._vectorizer_resume_by(caller oid, v ai.vectorizer) RETURNS boolean
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    until timestamptz;
BEGIN
    PERFORM ai._vectorizer_require_owner(caller, v, 'resume');
    DELETE FROM ai._vectorizer_pause p WHERE p.vectorizer_id = v.id
    RETURNING coalesce(p.paused_until, 'infinity') INTO until;
    PERFORM ai._vectorizer_notify();
    RETURN coalesce(until > clock_timestamp(), false);
END
$$;
COMMENT ON FUNCTION ai._vectorizer_resume_by(oid, ai.vectorizer) IS
    'ends the pause of a vectorizer, for the role that called';

CREATE OR REPLACE FUNCTION ai._pause_vectorizer(caller oid, vectorizer_id int4, until timestamptz) RETURNS void
    LANGUAGE sql SET search_path = pg_catalog, pg_temp
    AS $$SELECT ai._vectorizer_pause_by(caller, ai._vectorizer_get(vectorizer_id), until)$$;
CREATE OR REPLACE FUNCTION ai._pause_vectorizer(caller oid, name text, until timestamptz) RETURNS void
    LANGUAGE sql SET search_path = pg_catalog, pg_temp
    AS $$SELECT ai._vectorizer_pause_by(caller, ai._vectorizer_get(name), until)$$;
CREATE OR REPLACE FUNCTION ai._resume_vectorizer(caller oid, vectorizer_id int4) RETURNS boolean
    LANGUAGE sql SET search_path = pg_catalog, pg_temp
    AS $$SELECT ai._vectorizer_resume_by(caller, ai._vectorizer_get(vectorizer_id))$$;
CREATE OR REPLACE FUNCTION ai._resume_vectorizer(caller oid, name text) RETURNS boolean
    LANGUAGE sql SET search_path = pg_catalog, pg_temp
    AS $$SELECT ai._vectorizer_resume_by(caller, ai._vectorizer_get(name))$$;
COMMENT ON FUNCTION ai._pause_vectorizer(oid, int4, timestamptz) IS
    'what ai.pause_vectorizer does, for the role that called it';
COMMENT ON FUNCTION ai._pause_vectorizer(oid, text, timestamptz) IS
    'what ai.pause_vectorizer does, for the role that called it';
COMMENT ON FUNCTION ai._resume_vectorizer(oid, int4) IS
    'what ai.resume_vectorizer does, for the role that called it';
COMMENT ON FUNCTION ai._resume_vectorizer(oid, text) IS
    'what ai.resume_vectorizer does, for the role that called it';

CREATE OR REPLACE FUNCTION ai.pause_vectorizer(vectorizer_id int4, until timestamptz DEFAULT NULL) RETURNS void
    LANGUAGE c VOLATILE AS 'MODULE_PATHNAME', 'ai_call_as_owner';
CREATE OR REPLACE FUNCTION ai.pause_vectorizer(name text, until timestamptz DEFAULT NULL) RETURNS void
    LANGUAGE c VOLATILE AS 'MODULE_PATHNAME', 'ai_call_as_owner';
CREATE OR REPLACE FUNCTION ai.resume_vectorizer(vectorizer_id int4) RETURNS boolean
    LANGUAGE c VOLATILE AS 'MODULE_PATHNAME', 'ai_call_as_owner';
CREATE OR REPLACE FUNCTION ai.resume_vectorizer(name text) RETURNS boolean
    LANGUAGE c VOLATILE AS 'MODULE_PATHNAME', 'ai_call_as_owner';
COMMENT ON FUNCTION ai.pause_vectorizer(int4, timestamptz) IS
    'has workers finish the rows of a vectorizer that they have taken, and take no more of them';
COMMENT ON FUNCTION ai.pause_vectorizer(text, timestamptz) IS
    'has workers finish the rows of a vectorizer that they have taken, and take no more of them';
COMMENT ON FUNCTION ai.resume_vectorizer(int4) IS
    'ends the pause of a vectorizer; returns whether it was paused';
COMMENT ON FUNCTION ai.resume_vectorizer(text) IS
    'ends the pause of a vectorizer; returns whether it was paused';

-- Workers are the server's: their pauses are for the owner of the extension, superusers, and roles
-- that these have given EXECUTE to. The others are called through the functions of the same names
-- without the underscore, by nobody else.
REVOKE ALL ON FUNCTION ai.pause_workers(timestamptz), ai.pause_worker(text, timestamptz),
    ai.resume_workers(), ai.resume_worker(text), ai._pause_prune(),
    ai._pause_component(oid, text, timestamptz), ai._pause_workers(oid, timestamptz),
    ai._pause_worker(oid, text, timestamptz), ai._resume_workers(oid), ai._resume_worker(oid, text),
    ai._vectorizer_pause_by(oid, ai.vectorizer, timestamptz),
    ai._vectorizer_resume_by(oid, ai.vectorizer), ai._pause_vectorizer(oid, int4, timestamptz),
    ai._pause_vectorizer(oid, text, timestamptz), ai._resume_vectorizer(oid, int4),
    ai._resume_vectorizer(oid, text), ai._pause_left(text, int4) FROM PUBLIC;
-- See tables/pause.sql.

-- A pause tells nothing but that work stands still, which everybody sees anyway; the name of a
-- vectorizer only who may see that one.
CREATE OR REPLACE VIEW ai.pauses WITH (security_barrier) AS
    SELECT CASE p.component WHEN '*' THEN 'all workers' ELSE 'worker' END AS kind,
        nullif(p.component, '*') AS name, p.paused_at, p.paused_until, p.paused_by,
        NULL::text AS reason
    FROM ai._worker_pause p WHERE coalesce(p.paused_until, 'infinity') > clock_timestamp()
    UNION ALL
    SELECT 'vectorizer', v.name, p.paused_at, p.paused_until, p.paused_by, p.reason
    FROM ai._vectorizer_pause p JOIN ai.vectorizer v ON v.id = p.vectorizer_id
    WHERE coalesce(p.paused_until, 'infinity') > clock_timestamp()
      AND ai._vectorizer_visible(current_user, v.source, v.target);
COMMENT ON VIEW ai.pauses IS
    'what is paused now: all workers, single ones, vectorizers; until when, by whom, and why if it '
    'was no person';
GRANT SELECT ON ai.pauses TO PUBLIC;
-- What the filter of a search means in SQL.
--
--   {"category": "news", "year": {">=": 2020, "<": 2024}, "lang": ["en", "de"], "deleted": null}
--
-- All of it holds. Names are looked up and quoted, operators come from a list, values become
-- literals of the column's type: nothing of a filter gets into a statement as it is. Operators are
-- written with their schemas, and so found whatever the search_path is.

-- Those of the type's default operator class for btree: its own, that for all arrays or enums, or
-- that of a type it is the same as, such as text for varchar. Only a superuser can make one.
CREATE OR REPLACE FUNCTION ai._comparison_operators(compared oid) RETURNS text[]
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    family record;
BEGIN
    SELECT c.opcfamily, c.opcintype INTO family
    FROM pg_am m JOIN pg_opclass c ON c.opcmethod = m.oid
    JOIN (SELECT compared AS type, 1 AS preference
          UNION ALL
          SELECT CASE WHEN t.typcategory = 'A' THEN 'anyarray'::regtype ELSE CASE t.typtype
                     WHEN 'e' THEN 'anyenum'::regtype WHEN 'r' THEN 'anyrange'::regtype
                     WHEN 'm' THEN 'anymultirange'::regtype END END, 2
          FROM pg_type t WHERE t.oid = compared
          UNION ALL
          SELECT b.casttarget, CASE WHEN t.typispreferred THEN 3 ELSE 4 END
          FROM pg_cast b JOIN pg_type t ON t.oid = b.casttarget
          WHERE b.castsource = compared AND b.castmethod = 'b' AND b.castcontext = 'i'
    ) same ON same.type = c.opcintype
    WHERE m.amname = 'btree' AND c.opcdefault
    ORDER BY same.preference LIMIT 1;
    RETURN (
        SELECT array_agg(format('OPERATOR(%I.%s)', n.nspname, o.oprname) ORDER BY p.amopstrategy)
        FROM pg_amop p
        JOIN pg_operator o ON o.oid = p.amopopr
        JOIN pg_namespace n ON n.oid = o.oprnamespace
        WHERE p.amopfamily = family.opcfamily AND p.amoplefttype = family.opcintype
          AND p.amoprighttype = family.opcintype AND p.amoppurpose = 's');
END
$$;
COMMENT ON FUNCTION ai._comparison_operators(oid) IS
    'operators <, <=, =, >= and > of a type, as in a statement; null if it has none';

-- Without a modifier: one of a varchar(3) would cut the value to compare with.
CREATE OR REPLACE FUNCTION ai._filter_literal(column_name text, type oid, value jsonb) RETURNS text
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    type_name text := format_type(type, -1);
    element oid;
BEGIN
    IF type = 'jsonb'::regtype THEN
        RETURN format('%L::jsonb', value);
    END IF;
    SELECT t.typelem INTO element FROM pg_type t WHERE t.oid = type AND t.typcategory = 'A';
    IF FOUND AND jsonb_typeof(value) = 'array' THEN
        RETURN format('ARRAY[%s]::%s', (
            SELECT string_agg(CASE e WHEN 'null' THEN 'NULL'
                              ELSE ai._filter_literal(column_name, element, e) END, ', ' ORDER BY n)
            FROM jsonb_array_elements(value) WITH ORDINALITY AS a (e, n)), type_name);
    END IF;
    IF element IS NOT NULL OR jsonb_typeof(value) NOT IN ('string', 'number', 'boolean') THEN
        RAISE EXCEPTION 'column "%" of type % cannot be compared with %', column_name, type_name,
            value
            USING ERRCODE = 'invalid_parameter_value',
                  HINT = CASE WHEN element IS NULL THEN 'Give a string, a number or a boolean.'
                         ELSE 'Give an array, as in {"=": ["a", "b"]} or {"@>": ["a"]}.' END;
    END IF;
    RETURN format('%L::%s', value #>> '{}', type_name);
END
$$;
COMMENT ON FUNCTION ai._filter_literal(text, oid, jsonb) IS
    'a value of a filter as a literal of the type of the column it is compared with';

CREATE OR REPLACE FUNCTION ai._filter_in(column_name text, type oid, equals text, list jsonb) RETURNS text
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    expression text := format('s.%I', column_name);
    literals text;
BEGIN
    IF jsonb_typeof(list) <> 'array' THEN
        RAISE EXCEPTION 'what column "%" is to be in must be an array, not %', column_name, list
            USING ERRCODE = 'invalid_parameter_value';
    END IF;
    SELECT string_agg(ai._filter_literal(column_name, type, e), ', ') INTO literals
    FROM jsonb_array_elements(list) e WHERE e <> 'null';
    RETURN CASE WHEN literals IS NULL THEN 'false'
           ELSE format('%s %s ANY (ARRAY[%s])', expression, equals, literals) END
        || CASE WHEN list @> '[null]' THEN format(' OR %s IS NULL', expression) ELSE '' END;
END
$$;
COMMENT ON FUNCTION ai._filter_in(text, oid, text, jsonb) IS
    'condition for a column whose value is to be in a list';

-- One operator of a filter and its operand.
CREATE OR REPLACE FUNCTION ai._filter_test(column_name text, type oid, operators text[], operator text,
                                operand jsonb) RETURNS text
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    comparisons constant text[] := '{<,<=,=,>=,>}';
    expression text := format('s.%I', column_name);
    category "char" := (SELECT t.typcategory FROM pg_type t WHERE t.oid = type);
BEGIN
    IF operator IN ('<>', '!=', 'not in', 'not like', 'not ilike') THEN
        IF operator IN ('<>', '!=') AND operand = 'null' THEN
            RETURN format('%s IS NOT NULL', expression);
        END IF;
        RETURN format('NOT (%s)', ai._filter_test(column_name, type, operators,
            CASE WHEN operator IN ('<>', '!=') THEN '=' ELSE substr(operator, 5) END, operand));
    ELSIF operator = '=' AND operand = 'null' THEN
        RETURN format('%s IS NULL', expression);
    ELSIF operator = ANY (comparisons) AND operators IS NOT NULL THEN
        RETURN format('%s %s %s', expression,
            operators[array_position(comparisons, operator)],
            ai._filter_literal(column_name, type, operand));
    ELSIF operator = 'in' AND category <> 'A' AND operators IS NOT NULL THEN
        RETURN ai._filter_in(column_name, type, operators[3], operand);
    ELSIF operator IN ('like', 'ilike') AND category = 'S' AND type < 16384 THEN
        RETURN format('%s::text OPERATOR(pg_catalog.%s) %s', expression,
            CASE operator WHEN 'like' THEN '~~' ELSE '~~*' END,
            ai._filter_literal(column_name, 'text'::regtype, operand));
    ELSIF operator IN ('@>', '<@', '&&') AND category = 'A'
          OR operator IN ('@>', '<@') AND type = 'jsonb'::regtype THEN
        RETURN format('%s OPERATOR(pg_catalog.%s) %s', expression, operator,
            ai._filter_literal(column_name, type, operand));
    END IF;
    RAISE EXCEPTION 'filter operator "%" cannot be used for column "%" of type %', operator,
        column_name, format_type(type, -1)
        USING ERRCODE = 'invalid_parameter_value',
              HINT = 'Known are =, <>, <, <=, >, >=, in, not in; for texts like, ilike, not like, '
                     'not ilike; for arrays @>, <@, &&; for jsonb @>, <@.';
END
$$;
COMMENT ON FUNCTION ai._filter_test(text, oid, text[], text, jsonb) IS
    'condition for a column of the source, named s, that an operator of a filter stands for';

CREATE OR REPLACE FUNCTION ai._filter_column(source regclass, column_name text, tests jsonb) RETURNS text
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    type oid;
    operators text[];
BEGIN
    SELECT b.type INTO type FROM pg_attribute a, ai._base_type(a.atttypid, -1) b
    WHERE a.attrelid = source AND a.attname = column_name AND a.attnum > 0 AND NOT a.attisdropped;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'column "%" of the filter does not exist in table %', column_name,
            ai._qualified_name(source)
            USING ERRCODE = 'undefined_column',
                  HINT = format('Known are: %s.', (
                      SELECT string_agg(a.attname, ', ' ORDER BY a.attnum) FROM pg_attribute a
                      WHERE a.attrelid = source AND a.attnum > 0 AND NOT a.attisdropped));
    END IF;
    IF tests = '{}' THEN
        RAISE EXCEPTION 'filter for column "%" has no operator', column_name
            USING ERRCODE = 'invalid_parameter_value',
                  HINT = 'Write it as in {"year": 2020}, {"year": [2020, 2021]} or '
                         '{"year": {">=": 2020}}.';
    END IF;
    operators := ai._comparison_operators(type);
    RETURN (
        SELECT string_agg(format('(%s)', ai._filter_test(column_name, type, operators, o.key,
                                                         o.value)), ' AND ' ORDER BY o.key)
        FROM jsonb_each(CASE jsonb_typeof(tests) WHEN 'object' THEN tests
            WHEN 'array' THEN jsonb_build_object('in', tests)
            ELSE jsonb_build_object('=', tests) END) o);
END
$$;
COMMENT ON FUNCTION ai._filter_column(regclass, text, jsonb) IS
    'condition that a filter has for a column of the source';

-- $and and $or have an array of filters, $not has a filter; all other members are columns.
CREATE OR REPLACE FUNCTION ai._filter_condition(source regclass, filter jsonb) RETURNS text
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    part record;
    parts text[] := '{}';
BEGIN
    IF filter IS NULL THEN
        RETURN NULL;
    END IF;
    IF jsonb_typeof(filter) <> 'object' THEN
        RAISE EXCEPTION 'a filter must be a jsonb object, not %', filter
            USING ERRCODE = 'invalid_parameter_value',
                  HINT = 'Write it as in {"category": "news", "year": {">=": 2020}}.';
    END IF;
    FOR part IN SELECT f.key, f.value FROM jsonb_each(filter) f ORDER BY f.key LOOP
        IF part.key IN ('$and', '$or') THEN
            IF jsonb_typeof(part.value) <> 'array' OR part.value = '[]' THEN
                RAISE EXCEPTION '% in a filter must be an array of filters, not %', part.key,
                    part.value
                    USING ERRCODE = 'invalid_parameter_value';
            END IF;
            parts := parts || (
                SELECT format('(%s)', string_agg(ai._filter_condition(source, e),
                    CASE part.key WHEN '$or' THEN ' OR ' ELSE ' AND ' END))
                FROM jsonb_array_elements(part.value) e);
        ELSIF part.key = '$not' THEN
            parts := parts || format('NOT %s', ai._filter_condition(source, part.value));
        ELSE
            parts := parts || ai._filter_column(source, part.key, part.value);
        END IF;
    END LOOP;
    RETURN coalesce('(' || nullif(array_to_string(parts, ' AND '), '') || ')', 'true');
END
$$;
COMMENT ON FUNCTION ai._filter_condition(regclass, jsonb) IS
    'condition on a source, named s, that a filter stands for; null for none';
-- What the statements of a search are made of: which tables, columns, operators and conditions.

-- As the index of a vectorizer has it, so that it is used. An index of bits finds candidates only,
-- many times as many as are wanted, which are then put in order by their cosine distance.
CREATE OR REPLACE FUNCTION ai._search_distance(config jsonb, embedding text, pgvector text,
        OUT ordering text, OUT distance text, OUT score text, OUT oversampling int4)
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    opclass text := coalesce(config #>> '{indexing,opclass}', 'vector_cosine_ops');
    type text := split_part(opclass, '_', 1);
    metric text := split_part(opclass, '_', 2);
    dimensions text := config #>> '{embedding,dimensions}';
BEGIN
    distance := format(
        CASE type WHEN 'halfvec'
        THEN '%1$s::%2$s.halfvec(%3$s) OPERATOR(%2$s.%4$s) $1::%2$s.halfvec(%3$s)'
        ELSE '%1$s OPERATOR(%2$s.%4$s) $1' END, embedding, pgvector, dimensions,
        CASE metric WHEN 'l2' THEN '<->' WHEN 'l1' THEN '<+>' WHEN 'ip' THEN '<#>' ELSE '<=>' END);
    ordering := distance;
    oversampling := 1;
    IF type = 'bit' THEN
        ordering := format(
            '%2$s.binary_quantize(%1$s)::bit(%3$s) OPERATOR(%2$s.%4$s) '
            '%2$s.binary_quantize($1)::bit(%3$s)', embedding, pgvector, dimensions,
            CASE metric WHEN 'jaccard' THEN '<%>' ELSE '<~>' END);
        oversampling := 8;
    END IF;
    score := CASE WHEN metric IN ('l2', 'l1') THEN '1 / (1 + h.distance)' WHEN metric = 'ip'
        THEN '- h.distance' ELSE '1 - h.distance' END;
END
$$;
COMMENT ON FUNCTION ai._search_distance(jsonb, text, text) IS
    'how far an embedding is from the query $1, by the operator of the vectorizer''s index: what '
    'to order by, the distance, the score of a hit h, and how many candidates a hit takes; given '
    'the schema of pgvector';

CREATE OR REPLACE FUNCTION ai._search_require_readable(caller oid, v ai.vectorizer, relation regclass)
    RETURNS void
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    IF NOT has_any_column_privilege(caller, relation, 'SELECT') THEN
        RAISE EXCEPTION 'permission denied for vectorizer "%"', v.name
            USING ERRCODE = 'insufficient_privilege',
                  HINT = format('This search takes the right to read table %s.',
                                ai._qualified_name(relation));
    END IF;
END
$$;
COMMENT ON FUNCTION ai._search_require_readable(oid, ai.vectorizer, regclass) IS
    'raises an error unless the caller of a search may read a table';

CREATE OR REPLACE FUNCTION ai._search_no_embeddings(v ai.vectorizer, reason text) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    RAISE EXCEPTION 'vectorizer "%" has no embeddings any more', v.name
        USING ERRCODE = 'object_not_in_prerequisite_state', DETAIL = reason,
              HINT = 'Drop the vectorizer with ai.drop_vectorizer and create it again.';
END
$$;
COMMENT ON FUNCTION ai._search_no_embeddings(ai.vectorizer, text) IS
    'raises the error for a vectorizer whose embeddings were dropped';

CREATE OR REPLACE FUNCTION ai._search_require_embeddings(v ai.vectorizer) RETURNS void
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    IF v.config #>> '{destination,implementation}' <> 'column' THEN
        IF v.target IS NULL THEN
            PERFORM ai._search_no_embeddings(v, 'Its target table was dropped.');
        END IF;
        RETURN;
    END IF;
    IF NOT EXISTS (SELECT FROM pg_attribute a
                   WHERE a.attrelid = v.source AND NOT a.attisdropped
                     AND a.attname = v.config #>> '{destination,embedding_column}') THEN
        PERFORM ai._search_no_embeddings(v, 'Its embedding column was dropped.');
    END IF;
END
$$;
COMMENT ON FUNCTION ai._search_require_embeddings(ai.vectorizer) IS
    'raises an error if the target table or the embedding column of a vectorizer was dropped';

-- What the statements of a search are made of: t has the embeddings, s is the source, and if the
-- embedding is in a column of the source, that is both. k1, k2, ... are the columns of the key.

-- Bytes that are no text must not end a search, so they are shown with escapes. A type of a user
-- may have a cast to text or to json, which is a function of that user and must not run here.
CREATE OR REPLACE FUNCTION ai._search_source_text(v ai.vectorizer) RETURNS text
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    RETURN (
        SELECT format(CASE WHEN b.type = 'bytea'::regtype THEN 'encode(s.%I, ''escape'')'
                      WHEN b.type < 16384 THEN 's.%I::text' ELSE 'format(''%%s'', s.%I)' END,
                      a.attname)
        FROM pg_attribute a, ai._base_type(a.atttypid, -1) b
        WHERE a.attrelid = v.source AND a.attname = v.config #>> '{loading,column_name}');
END
$$;
COMMENT ON FUNCTION ai._search_source_text(ai.vectorizer) IS
    'expression for the text of a row, if the embedding is in a column of the source';

CREATE OR REPLACE FUNCTION ai._search_keys(v ai.vectorizer, OUT columns text, OUT names text[],
        OUT equals text[], OUT as_jsonb text, OUT of_target text, OUT of_hit text)
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    SELECT string_agg(
            CASE WHEN v.target IS NULL THEN format('s.%I AS k%s', k.attname, k.pknum)
            ELSE format('t.%I AS k%s', k.target_column, k.pknum) END, ', ' ORDER BY k.pknum),
        array_agg(format('k%s', k.pknum) ORDER BY k.pknum),
        array_agg(k.equals ORDER BY k.pknum),
        'jsonb_build_object(' || string_agg(
            format(CASE WHEN a.atttypid < 16384 THEN '%L, h.k%s'
                   ELSE '%L, format(''%%s'', h.k%s)' END, k.attname, k.pknum), ', '
            ORDER BY k.pknum) || ')',
        string_agg(format('s.%I %s t.%I', k.attname, k.equals, k.target_column), ' AND '
                   ORDER BY k.pknum),
        string_agg(format('s.%I %s h.k%s', k.attname, k.equals, k.pknum), ' AND ' ORDER BY k.pknum)
    INTO columns, names, equals, as_jsonb, of_target, of_hit
    FROM jsonb_to_recordset(v.source_pk) AS k (pknum int4, attname name, queue_column name,
                                                target_column name, equals text)
    JOIN pg_attribute a ON a.attrelid = v.queue AND a.attname = k.queue_column;
END
$$;
COMMENT ON FUNCTION ai._search_keys(ai.vectorizer) IS
    'the key of a vectorizer''s source in the statement of a search: columns to select, their '
    'names and operators, the key of a hit h, the source of a row of the target, the source of h';

-- All that has to be looked up, in one query: a search is short.
CREATE OR REPLACE FUNCTION ai._search_tables(caller oid, v ai.vectorizer, OUT source text,
        OUT secured boolean, OUT readable boolean, OUT target text, OUT pgvector text,
        OUT approximate boolean)
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    SELECT format(CASE c.relkind WHEN 'p' THEN '%I.%I' ELSE 'ONLY %I.%I' END, n.nspname, c.relname),
        c.relrowsecurity,
        has_table_privilege(caller, c.oid, 'SELECT')
            AND has_schema_privilege(caller, n.oid, 'USAGE'),
        (SELECT format('%I.%I', tn.nspname, t.relname)
         FROM pg_class t JOIN pg_namespace tn ON tn.oid = t.relnamespace WHERE t.oid = v.target),
        (SELECT e.extnamespace::regnamespace::text FROM pg_extension e WHERE e.extname = 'vector'),
        EXISTS (SELECT FROM pg_index i JOIN pg_class x ON x.oid = i.indexrelid
                JOIN pg_am m ON m.oid = x.relam
                WHERE i.indrelid = ANY (coalesce(v.target, v.source)::oid || ARRAY(
                          SELECT p.relid FROM pg_partition_tree(coalesce(v.target, v.source)) p))
                  AND m.amname IN ('hnsw', 'ivfflat'))
    INTO source, secured, readable, target, pgvector, approximate
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.oid = v.source;
END
$$;
COMMENT ON FUNCTION ai._search_tables(oid, ai.vectorizer) IS
    'the tables of a vectorizer in the statement of a search, whether the source has row security '
    'and is readable for the caller, the schema of pgvector, and whether there is an index that '
    'does not find everything';

-- The embedding is in a column of the source.
CREATE OR REPLACE FUNCTION ai._search_in_source(caller oid, v ai.vectorizer, tables record, keys record,
                                     filter jsonb) RETURNS ai._search_parts
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    part ai._search_parts;
BEGIN
    PERFORM ai._search_require_readable(caller, v, v.source);
    part.relations := tables.source || ' s';
    part.embedding := format('s.%I', v.config #>> '{destination,embedding_column}');
    part.chunk := ai._search_source_text(v);
    part.columns := keys.columns || ', 0 AS chunk_seq, NULL::uuid AS embedding_uuid';
    part.condition := format('WHERE %s IS NOT NULL', part.embedding)
        || coalesce(' AND ' || ai._filter_condition(v.source, filter), '');
    RETURN part;
END
$$;
COMMENT ON FUNCTION ai._search_in_source(oid, ai.vectorizer, record, record, jsonb) IS
    'tables and columns of a search, if the embedding is in a column of the source';

-- Only rows that still exist are found, of those that the caller may see and the filter lets
-- through. For the first alone no join is needed: that a row exists is asked for each candidate
-- that an index gives, or in the end for the hits. Who may read the target but not the source gets
-- what is in the target; for a filter, or if the source has row security, it takes both.
CREATE OR REPLACE FUNCTION ai._search_in_target(caller oid, v ai.vectorizer, tables record, keys record,
        filter jsonb, existence text) RETURNS ai._search_parts
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    part ai._search_parts;
BEGIN
    PERFORM ai._search_require_readable(caller, v, v.target);
    part.relations := tables.target || ' t';
    part.embedding := 't.embedding';
    part.chunk := 't.chunk';
    part.columns := keys.columns || ', t.chunk_seq, t.embedding_uuid';
    IF filter IS NOT NULL OR tables.secured THEN
        PERFORM ai._search_require_readable(caller, v, v.source);
        existence := 'join';
        part.condition := 'WHERE ' || ai._filter_condition(v.source, filter);
    ELSIF NOT tables.readable THEN
        existence := 'unknown';
    END IF;
    IF existence = 'join' THEN
        part.relations := format('%s JOIN %s s ON %s', part.relations, tables.source,
                                 keys.of_target);
    ELSIF existence = 'of candidates' THEN
        part.condition := format('WHERE EXISTS (SELECT FROM %s s WHERE %s OFFSET 0)', tables.source,
                                 keys.of_target);
    ELSIF existence = 'of hits' THEN
        part.last_condition := format('EXISTS (SELECT FROM %s s WHERE %s)', tables.source,
                                      keys.of_hit);
    END IF;
    RETURN part;
END
$$;
COMMENT ON FUNCTION ai._search_in_target(oid, ai.vectorizer, record, record, jsonb, text) IS
    'tables and columns of a search, if the embeddings are in a target table; existence says where '
    'rows that are gone are left out: by a join, of candidates or of hits';

CREATE OR REPLACE FUNCTION ai._search_parts(caller oid, v ai.vectorizer, filter jsonb, exact boolean,
                                 hybrid boolean) RETURNS ai._search_parts
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    tables record := ai._search_tables(caller, v);
    keys record := ai._search_keys(v);
    measure record;
    part ai._search_parts;
    approximate boolean := tables.approximate AND NOT coalesce(exact, false);
BEGIN
    PERFORM ai._search_require_embeddings(v);
    filter := nullif(filter, '{}');
    IF v.config #>> '{destination,implementation}' = 'column' THEN
        part := ai._search_in_source(caller, v, tables, keys, filter);
    ELSE
        part := ai._search_in_target(caller, v, tables, keys, filter, CASE
            WHEN NOT approximate THEN 'join' WHEN hybrid THEN 'of hits' ELSE 'of candidates' END);
    END IF;
    measure := ai._search_distance(v.config, part.embedding, tables.pgvector);
    part.approximate := approximate;
    part.ordering := measure.ordering;
    part.distance := measure.distance;
    part.score := measure.score;
    part.oversampling := measure.oversampling;
    part.key_names := keys.names;
    part.key_equals := keys.equals;
    part.key_as_jsonb := keys.as_jsonb;
    RETURN part;
END
$$;
COMMENT ON FUNCTION ai._search_parts(oid, ai.vectorizer, jsonb, boolean, boolean) IS
    'what the statement of a search is made of, for the role that called it';
-- The statement that a search in the embeddings of a vectorizer runs.
--
-- Two steps with different rights. ai.search_plan, with those of the extension's owner, looks up
-- the vectorizer and makes a statement of it. ai.search runs that statement with the rights of its
-- caller, so that privileges and row security of source and target hold as in any query of that
-- role. The search_path is fixed all the time: what is not in pg_catalog is written with a schema.

-- An index gives candidates in an order that may be a bit off (iterative scans do so, and bits):
-- who uses them sorts them by their distance. Adding 0 hides an order from the planner, so that an
-- exact search does not use the index, and a sort is not left out.
CREATE OR REPLACE FUNCTION ai._search_candidates(part ai._search_parts, grouped boolean) RETURNS text
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    RETURN format('SELECT %s, %s AS chunk, %s AS distance FROM %s %s', part.columns, part.chunk,
                  part.distance, part.relations, part.condition)
        || CASE WHEN part.approximate THEN format(' ORDER BY %s LIMIT $2', part.ordering)
           WHEN NOT grouped THEN format(' ORDER BY (%s) + 0 LIMIT $2', part.distance) ELSE '' END;
END
$$;
COMMENT ON FUNCTION ai._search_candidates(ai._search_parts, boolean) IS
    'a query for the chunks that are nearest to the query $1: $2 of them, or all of them if they '
    'are to be grouped and no index helps';

-- The key is used with the rights of the vectorizer's owner. Everything else is checked before a
-- provider is asked.
CREATE OR REPLACE FUNCTION ai._search_embed(v ai.vectorizer, query text) RETURNS vector
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    IF query IS NULL THEN
        RETURN NULL;
    END IF;
    RETURN (ai._embed_as((SELECT c.relowner FROM pg_class c WHERE c.oid = v.source),
        ai._query_config(v.config -> 'embedding', NULL), ARRAY[query]))[1];
END
$$;
COMMENT ON FUNCTION ai._search_embed(ai.vectorizer, text) IS
    'embedding of a query by the model of a vectorizer';

CREATE OR REPLACE FUNCTION ai._search_make_statement(caller oid, v ai.vectorizer, query text, filter jsonb,
        group_by_row boolean, exact boolean) RETURNS ai._search_statement
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    part ai._search_parts := ai._search_parts(caller, v, filter, exact, false);
    grouped boolean := coalesce(group_by_row, false) AND v.target IS NOT NULL;
    result ai._search_statement;
    hits text := ai._search_candidates(part, grouped);
BEGIN
    IF grouped THEN
        hits := format('SELECT DISTINCT ON (%1$s) * FROM (%2$s) c ORDER BY %1$s, distance',
                       array_to_string(part.key_names, ', '), hits);
    END IF;
    result.statement := format(
        'SELECT %s AS key, h.chunk_seq, h.chunk, h.distance, %s AS score, h.embedding_uuid '
        'FROM (SELECT * FROM (%s) c ORDER BY distance + 0 LIMIT $3) h', part.key_as_jsonb,
        part.score, hits);
    result.vectorizer_id := v.id;
    result.dimensions := v.config #>> '{embedding,dimensions}';
    result.approximate := part.approximate;
    result.oversampling := part.oversampling * CASE WHEN grouped THEN 4 ELSE 1 END;
    result.query_vector := ai._search_embed(v, query);
    RETURN result;
END
$$;
COMMENT ON FUNCTION
    ai._search_make_statement(oid, ai.vectorizer, text, jsonb, boolean, boolean) IS
    'the statement of a search, for the role that called it, and the embedding of its query';

CREATE OR REPLACE FUNCTION ai._search_plan(caller oid, vectorizer int4, query text, filter jsonb,
        group_by_row boolean, exact boolean) RETURNS ai._search_statement
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    RETURN ai._search_make_statement(caller, ai._vectorizer_get(vectorizer), query, filter,
                                     group_by_row, exact);
END
$$;
COMMENT ON FUNCTION ai._search_plan(oid, int4, text, jsonb, boolean, boolean) IS
    'what ai.search_plan does, for the role that called it';

CREATE OR REPLACE FUNCTION ai._search_plan(caller oid, vectorizer text, query text, filter jsonb,
        group_by_row boolean, exact boolean) RETURNS ai._search_statement
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    RETURN ai._search_make_statement(caller, ai._vectorizer_get(vectorizer), query, filter,
                                     group_by_row, exact);
END
$$;
COMMENT ON FUNCTION ai._search_plan(oid, text, text, jsonb, boolean, boolean) IS
    'what ai.search_plan does, for the role that called it';

REVOKE ALL ON FUNCTION ai._search_embed(ai.vectorizer, text),
    ai._search_make_statement(oid, ai.vectorizer, text, jsonb, boolean, boolean),
    ai._search_plan(oid, int4, text, jsonb, boolean, boolean),
    ai._search_plan(oid, text, text, jsonb, boolean, boolean) FROM PUBLIC;

CREATE OR REPLACE FUNCTION ai.search_plan(vectorizer int4, query text DEFAULT NULL,
        filter jsonb DEFAULT NULL, group_by_row boolean DEFAULT false,
        exact boolean DEFAULT false) RETURNS ai._search_statement
    LANGUAGE c STABLE
    AS 'MODULE_PATHNAME', 'ai_call_as_owner';
COMMENT ON FUNCTION ai.search_plan(int4, text, jsonb, boolean, boolean) IS
    'the statement that ai.search runs, and the embedding of the query if there is one';

CREATE OR REPLACE FUNCTION ai.search_plan(vectorizer text, query text DEFAULT NULL,
        filter jsonb DEFAULT NULL, group_by_row boolean DEFAULT false,
        exact boolean DEFAULT false) RETURNS ai._search_statement
    LANGUAGE c STABLE
    AS 'MODULE_PATHNAME', 'ai_call_as_owner';
COMMENT ON FUNCTION ai.search_plan(text, text, jsonb, boolean, boolean) IS
    'the statement that ai.search runs, and the embedding of the query if there is one';
-- Search in the embeddings of a vectorizer: the statement of functions/search-plan.sql, run.

-- pgvector's own settings, for one statement: as many candidates as are wanted, and if rows are
-- left out by a filter, by row security or because they are deleted, as many more as it takes.
-- Before 0.8 pgvector does not know the second one. The caller restores what they were.
CREATE OR REPLACE FUNCTION ai._search_settings(candidates int4) RETURNS jsonb
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    ef_search int4 := current_setting('hnsw.ef_search', true);
    iterative_scan text := current_setting('hnsw.iterative_scan', true);
BEGIN
    IF ef_search < candidates THEN
        PERFORM set_config('hnsw.ef_search', least(candidates, 1000)::text, true);
    END IF;
    IF iterative_scan = 'off' THEN
        PERFORM set_config('hnsw.iterative_scan', 'relaxed_order', true);
    END IF;
    RETURN jsonb_build_object('hnsw.ef_search', ef_search, 'hnsw.iterative_scan', iterative_scan);
END
$$;
COMMENT ON FUNCTION ai._search_settings(int4) IS
    'sets what pgvector needs to know for a search, and returns what was set before';

CREATE OR REPLACE FUNCTION ai._search_restore_settings(settings jsonb) RETURNS void
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    PERFORM set_config(s.key, s.value, true) FROM jsonb_each_text(settings) s
    WHERE s.value IS DISTINCT FROM current_setting(s.key, true);
END
$$;
COMMENT ON FUNCTION ai._search_restore_settings(jsonb) IS
    'restores what ai._search_settings changed; an error does so, too, with its rollback';

CREATE OR REPLACE FUNCTION ai._search_check_k(k int4) RETURNS void
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    IF k BETWEEN 1 AND 10000 THEN
        RETURN;
    END IF;
    RAISE EXCEPTION 'k must be between 1 and 10000, not %', coalesce(k::text, 'null')
        USING ERRCODE = 'invalid_parameter_value';
END
$$;
COMMENT ON FUNCTION ai._search_check_k(int4) IS
    'raises an error unless a number of hits can be asked for';

-- The cast is a function of pgvector, which loads its library: its settings are known from here on.
CREATE OR REPLACE FUNCTION ai._search_check_dimensions(query vector, dimensions int4) RETURNS void
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    found int4 := cardinality(query::float4[]);
BEGIN
    IF found <> dimensions THEN
        RAISE EXCEPTION 'the query has % dimensions, the embeddings have %', found, dimensions
            USING ERRCODE = 'invalid_parameter_value',
                  HINT = 'ai.vectorizer_embed makes vectors with the model of a vectorizer.';
    END IF;
END
$$;
COMMENT ON FUNCTION ai._search_check_dimensions(vector, int4) IS
    'raises an error if the vector of a query does not have as many dimensions as the embeddings';

-- Where the index gives too few hits, all embeddings are looked at: a rare filter, row security
-- that leaves little, many chunks of few rows. More candidates are tried first for the last one.
-- jit: a search is too short to gain from it.
CREATE OR REPLACE FUNCTION ai._search_hits(plan ai._search_statement, query vector, k int4, filter jsonb,
                                group_by_row boolean) RETURNS ai.search_hit[]
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
    SET jit = off
    SET enable_memoize = off
    AS $$
DECLARE
    hits ai.search_hit[] := '{}';
    candidates int4 := k * plan.oversampling;
    settings jsonb;
BEGIN
    IF query IS NULL THEN
        RETURN hits;
    END IF;
    PERFORM ai._search_check_dimensions(query, plan.dimensions);
    LOOP
        settings := ai._search_settings(candidates);
        EXECUTE format('SELECT ARRAY(SELECT ROW(h.*)::ai.search_hit FROM (%s) h)', plan.statement)
        INTO hits USING query, candidates, k;
        PERFORM ai._search_restore_settings(settings);
        EXIT WHEN cardinality(hits) = k OR NOT plan.approximate;
        IF group_by_row AND candidates < k * plan.oversampling * 8 THEN
            candidates := candidates * 8;
        ELSE
            plan := ai.search_plan(plan.vectorizer_id, NULL, filter, group_by_row, true);
        END IF;
    END LOOP;
    RETURN hits;
END
$$;
COMMENT ON FUNCTION ai._search_hits(ai._search_statement, vector, int4, jsonb, boolean) IS
    'what a search finds, the nearest first';

CREATE OR REPLACE FUNCTION ai.search(vectorizer text, query text, k int4 DEFAULT 10,
        filter jsonb DEFAULT NULL, group_by_row boolean DEFAULT false) RETURNS SETOF ai.search_hit
    LANGUAGE plpgsql STABLE ROWS 10 COST 1000
    SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    PERFORM ai._search_check_k(k);
    RETURN QUERY SELECT h.* FROM ai.search_plan(vectorizer, query, filter, group_by_row) plan,
        unnest(ai._search_hits(plan, plan.query_vector, k, filter, group_by_row)) h;
END
$$;
COMMENT ON FUNCTION ai.search(text, text, int4, jsonb, boolean) IS
    'chunks of a vectorizer that are nearest in meaning to a text, of those the caller may read';

CREATE OR REPLACE FUNCTION ai.search(vectorizer int4, query text, k int4 DEFAULT 10,
        filter jsonb DEFAULT NULL, group_by_row boolean DEFAULT false) RETURNS SETOF ai.search_hit
    LANGUAGE plpgsql STABLE ROWS 10 COST 1000
    SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    PERFORM ai._search_check_k(k);
    RETURN QUERY SELECT h.* FROM ai.search_plan(vectorizer, query, filter, group_by_row) plan,
        unnest(ai._search_hits(plan, plan.query_vector, k, filter, group_by_row)) h;
END
$$;
COMMENT ON FUNCTION ai.search(int4, text, int4, jsonb, boolean) IS
    'chunks of a vectorizer that are nearest in meaning to a text, of those the caller may read';

CREATE OR REPLACE FUNCTION ai.search(vectorizer text, query vector, k int4 DEFAULT 10,
        filter jsonb DEFAULT NULL, group_by_row boolean DEFAULT false) RETURNS SETOF ai.search_hit
    LANGUAGE plpgsql STABLE ROWS 10 COST 1000
    SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    PERFORM ai._search_check_k(k);
    RETURN QUERY SELECT h.* FROM ai.search_plan(vectorizer, NULL, filter, group_by_row) plan,
        unnest(ai._search_hits(plan, query, k, filter, group_by_row)) h;
END
$$;
COMMENT ON FUNCTION ai.search(text, vector, int4, jsonb, boolean) IS
    'chunks of a vectorizer that are nearest to a vector, of those the caller may read';

CREATE OR REPLACE FUNCTION ai.search(vectorizer int4, query vector, k int4 DEFAULT 10,
        filter jsonb DEFAULT NULL, group_by_row boolean DEFAULT false) RETURNS SETOF ai.search_hit
    LANGUAGE plpgsql STABLE ROWS 10 COST 1000
    SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    PERFORM ai._search_check_k(k);
    RETURN QUERY SELECT h.* FROM ai.search_plan(vectorizer, NULL, filter, group_by_row) plan,
        unnest(ai._search_hits(plan, query, k, filter, group_by_row)) h;
END
$$;
COMMENT ON FUNCTION ai.search(int4, vector, int4, jsonb, boolean) IS
    'chunks of a vectorizer that are nearest to a vector, of those the caller may read';
-- The words of a vectorizer's chunks, kept in a generated column for hybrid search.

-- A generated column is known by what it is made of: it may be renamed, or be made by hand.
CREATE OR REPLACE FUNCTION ai._search_text_column(relation regclass, text_column name,
        INOUT language regconfig, OUT column_name name)
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    wanted regconfig := language;
BEGIN
    SELECT a.attname, m.language INTO column_name, language
    FROM pg_attribute a
    JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum,
    LATERAL (SELECT regexp_match(pg_get_expr(d.adbin, d.adrelid),
        '^to_tsvector\(''((?:[^'']|'''')*)''::regconfig, (.*)\)$')) e (parts),
    LATERAL (SELECT replace(e.parts[1], '''''', '''')::regconfig) m (language)
    WHERE a.attrelid = relation AND a.attgenerated = 's' AND NOT a.attisdropped
      AND a.atttypid = 'tsvector'::regtype AND e.parts IS NOT NULL
      AND e.parts[2] IN (quote_ident(text_column), format('(%I)::text', text_column))
      AND m.language = coalesce(wanted, m.language)
    ORDER BY a.attnum LIMIT 1;
    language := coalesce(language, wanted, get_current_ts_config());
END
$$;
COMMENT ON FUNCTION ai._search_text_column(regclass, name, regconfig) IS
    'the generated column of a table that has the words of a text column in a language, or in any; '
    'without one, only the language: the given one, or the session''s default';

CREATE OR REPLACE FUNCTION ai._vectorizer_text_column(v ai.vectorizer) RETURNS name
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    RETURN CASE WHEN v.target IS NULL THEN v.config #>> '{loading,column_name}' ELSE 'chunk' END;
END
$$;
COMMENT ON FUNCTION ai._vectorizer_text_column(ai.vectorizer) IS
    'column with the texts that a vectorizer embeds, of its target or else of its source';

CREATE OR REPLACE FUNCTION ai._enable_hybrid_search(caller oid, vectorizer int4, language regconfig)
    RETURNS text
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    v ai.vectorizer := ai._vectorizer_get(vectorizer);
    relation regclass := coalesce(v.target, v.source);
    text_column name := ai._vectorizer_text_column(v);
    kept record;
    made name;
BEGIN
    PERFORM ai._vectorizer_require_owner(caller, v, 'enable hybrid search for');
    PERFORM ai._search_require_embeddings(v);
    EXECUTE format('LOCK TABLE %s IN ACCESS EXCLUSIVE MODE', ai._qualified_name(relation));
    kept := ai._search_text_column(relation, text_column,
                                   coalesce(language, get_current_ts_config()));
    IF kept.column_name IS NOT NULL THEN
        RAISE NOTICE 'column "%" of table % has the words already, skipping', kept.column_name,
            ai._qualified_name(relation);
        RETURN kept.column_name;
    END IF;
    IF (SELECT b.type FROM pg_attribute a, ai._base_type(a.atttypid, -1) b
        WHERE a.attrelid = relation AND a.attname = text_column)
       <> ALL ('{text,varchar,bpchar}'::regtype[]) THEN
        RAISE EXCEPTION 'column "%" is not of type text, varchar or char', text_column
            USING ERRCODE = 'datatype_mismatch',
                  HINT = 'ai.hybrid_search works without this, and computes the words each time.';
    END IF;
    made := ai._free_name(ai._clipped_name(text_column, '_' || (
            SELECT c.cfgname FROM pg_ts_config c WHERE c.oid = kept.language)),
        ARRAY(SELECT a.attname FROM pg_attribute a WHERE a.attrelid = relation), '_words');
    PERFORM ai._run_as(ai._vectorizer_owner(v), format(
        'ALTER TABLE %s ADD COLUMN %I tsvector '
        'GENERATED ALWAYS AS (to_tsvector(%L::regconfig, %I::text)) STORED',
        ai._qualified_name(relation), made, kept.language, text_column));
    PERFORM ai._run_as(ai._vectorizer_owner(v), format('CREATE INDEX ON %s USING gin (%I)',
        ai._qualified_name(relation), made));
    RETURN made;
END
$$;
COMMENT ON FUNCTION ai._enable_hybrid_search(oid, int4, regconfig) IS
    'what ai.enable_hybrid_search does, for the role that called it';

CREATE OR REPLACE FUNCTION ai._enable_hybrid_search(caller oid, vectorizer text, language regconfig)
    RETURNS text
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    RETURN ai._enable_hybrid_search(caller, (ai._vectorizer_get(vectorizer)).id, language);
END
$$;
COMMENT ON FUNCTION ai._enable_hybrid_search(oid, text, regconfig) IS
    'what ai.enable_hybrid_search does, for the role that called it';
REVOKE ALL ON FUNCTION ai._enable_hybrid_search(oid, int4, regconfig),
    ai._enable_hybrid_search(oid, text, regconfig) FROM PUBLIC;

CREATE OR REPLACE FUNCTION ai.enable_hybrid_search(vectorizer int4, language regconfig DEFAULT NULL)
    RETURNS text
    LANGUAGE c VOLATILE
    AS 'MODULE_PATHNAME', 'ai_call_as_owner';
COMMENT ON FUNCTION ai.enable_hybrid_search(int4, regconfig) IS
    'keeps the words of a vectorizer''s chunks in a generated column of the target, with an index, '
    'so that hybrid searches in that language are fast; rewrites the table, returns the column';

CREATE OR REPLACE FUNCTION ai.enable_hybrid_search(vectorizer text, language regconfig DEFAULT NULL)
    RETURNS text
    LANGUAGE c VOLATILE
    AS 'MODULE_PATHNAME', 'ai_call_as_owner';
COMMENT ON FUNCTION ai.enable_hybrid_search(text, regconfig) IS
    'keeps the words of a vectorizer''s chunks in a generated column of the target, with an index, '
    'so that hybrid searches in that language are fast; rewrites the table, returns the column';
-- Hybrid search: the ranks that words and meaning give to the same chunks, fused. A chunk's score
-- is the sum of weight / (rrf_k + rank) over the lists that it is in (reciprocal rank fusion).

-- A list of candidates with their ranks; if rows are wanted, the best chunk of each. A list that
-- does not count is empty, and not made.
CREATE OR REPLACE FUNCTION ai._hybrid_ranked(hits text, ordering text, group_by text, weight text)
    RETURNS text
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    IF group_by IS NOT NULL THEN
        hits := format('SELECT DISTINCT ON (%1$s) * FROM (%2$s) c ORDER BY %1$s, %3$s', group_by,
                       hits, ordering);
    END IF;
    RETURN format('SELECT *, (row_number() OVER (ORDER BY %s))::int4 AS rank FROM (%s) c '
                  'WHERE %s > 0', ordering, hits, weight);
END
$$;
COMMENT ON FUNCTION ai._hybrid_ranked(text, text, text, text) IS
    'a query that ranks the hits of another one, in an order, one for each group, if its weight '
    'is greater than 0';

-- Short texts often fit the words equally well: the nearer one is better then.
CREATE OR REPLACE FUNCTION ai._hybrid_text_hits(part ai._search_parts, words text) RETURNS text
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    RETURN format(
        'SELECT %s, %s AS chunk, %s AS distance, ts_rank_cd(%s, $4, 1) AS relevance '
        'FROM %s %s %4$s @@ $4 ORDER BY relevance DESC, distance LIMIT $2', part.columns,
        part.chunk, part.distance, words, part.relations,
        coalesce(part.condition || ' AND', 'WHERE'));
END
$$;
COMMENT ON FUNCTION ai._hybrid_text_hits(ai._search_parts, text) IS
    'a query for the $2 chunks whose words fit the query $4 best';

CREATE OR REPLACE FUNCTION ai._hybrid_fused(part ai._search_parts, by_vector text, by_words text,
                                 same text) RETURNS text
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    RETURN format(
        'WITH v AS MATERIALIZED (%s), t AS MATERIALIZED (%s) SELECT %s AS key, h.chunk_seq, '
        'h.chunk, h.distance, h.score, h.embedding_uuid, h.vector_rank, h.text_rank '
        'FROM (SELECT %s, v.rank AS vector_rank, t.rank AS text_rank, '
        'coalesce($5 / ($7 + v.rank), 0) + coalesce($6 / ($7 + t.rank), 0) AS score '
        'FROM v FULL JOIN t ON %s) h WHERE %s ORDER BY h.score DESC, h.distance LIMIT $3',
        by_vector, by_words, part.key_as_jsonb,
        (SELECT string_agg(format('coalesce(v.%1$s, t.%1$s) AS %1$s', c), ', ')
         FROM unnest(part.key_names || '{chunk_seq,chunk,distance,embedding_uuid}'::text[]) c),
        same, concat_ws(' AND ', 'h.score > 0', part.last_condition));
END
$$;
COMMENT ON FUNCTION ai._hybrid_fused(ai._search_parts, text, text, text) IS
    'a query that fuses the ranks of two others, given when two of their rows are the same';

CREATE OR REPLACE FUNCTION ai._hybrid_make_statement(caller oid, v ai.vectorizer, query text, filter jsonb,
        group_by_row boolean, language regconfig, exact boolean) RETURNS ai._hybrid_statement
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    part ai._search_parts := ai._search_parts(caller, v, filter, exact, true);
    kept record := ai._search_text_column(coalesce(v.target, v.source),
                                          ai._vectorizer_text_column(v), language);
    words text := coalesce(
        CASE WHEN v.target IS NULL THEN 's.' ELSE 't.' END || quote_ident(kept.column_name),
        format('to_tsvector(%L::regconfig, %s)', kept.language, part.chunk));
    grouped boolean := coalesce(group_by_row, false) AND v.target IS NOT NULL;
    group_by text := CASE WHEN grouped THEN array_to_string(part.key_names, ', ') END;
    result ai._hybrid_statement;
BEGIN
    result.statement := ai._hybrid_fused(part,
        ai._hybrid_ranked(ai._search_candidates(part, grouped), 'distance', group_by, '$5'),
        ai._hybrid_ranked(ai._hybrid_text_hits(part, words), 'relevance DESC, distance', group_by,
                          '$6'),
        CASE WHEN v.target IS NOT NULL AND NOT grouped THEN 'v.embedding_uuid = t.embedding_uuid'
        ELSE (SELECT string_agg(format('v.%1$s %2$s t.%1$s', k.name, k.equals), ' AND ')
              FROM unnest(part.key_names, part.key_equals) AS k (name, equals)) END);
    result.vectorizer_id := v.id;
    result.dimensions := v.config #>> '{embedding,dimensions}';
    result.approximate := part.approximate;
    result.oversampling := part.oversampling * CASE WHEN grouped THEN 4 ELSE 1 END;
    result.language := kept.language;
    result.query_vector := ai._search_embed(v, query);
    RETURN result;
END
$$;
COMMENT ON FUNCTION
    ai._hybrid_make_statement(oid, ai.vectorizer, text, jsonb, boolean, regconfig, boolean) IS
    'the statement of a hybrid search, for the role that called it, and the embedding of its query';

CREATE OR REPLACE FUNCTION ai._hybrid_search_plan(caller oid, vectorizer int4, query text, filter jsonb,
        group_by_row boolean, language regconfig, exact boolean) RETURNS ai._hybrid_statement
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    RETURN ai._hybrid_make_statement(caller, ai._vectorizer_get(vectorizer), query, filter,
                                     group_by_row, language, exact);
END
$$;
COMMENT ON FUNCTION
    ai._hybrid_search_plan(oid, int4, text, jsonb, boolean, regconfig, boolean) IS
    'what ai.hybrid_search_plan does, for the role that called it';

CREATE OR REPLACE FUNCTION ai._hybrid_search_plan(caller oid, vectorizer text, query text, filter jsonb,
        group_by_row boolean, language regconfig, exact boolean) RETURNS ai._hybrid_statement
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    RETURN ai._hybrid_make_statement(caller, ai._vectorizer_get(vectorizer), query, filter,
                                     group_by_row, language, exact);
END
$$;
COMMENT ON FUNCTION
    ai._hybrid_search_plan(oid, text, text, jsonb, boolean, regconfig, boolean) IS
    'what ai.hybrid_search_plan does, for the role that called it';

REVOKE ALL ON FUNCTION
    ai._hybrid_make_statement(oid, ai.vectorizer, text, jsonb, boolean, regconfig, boolean),
    ai._hybrid_search_plan(oid, int4, text, jsonb, boolean, regconfig, boolean),
    ai._hybrid_search_plan(oid, text, text, jsonb, boolean, regconfig, boolean) FROM PUBLIC;

CREATE OR REPLACE FUNCTION ai.hybrid_search_plan(vectorizer int4, query text DEFAULT NULL,
        filter jsonb DEFAULT NULL, group_by_row boolean DEFAULT false,
        language regconfig DEFAULT NULL, exact boolean DEFAULT false) RETURNS ai._hybrid_statement
    LANGUAGE c STABLE
    AS 'MODULE_PATHNAME', 'ai_call_as_owner';
COMMENT ON FUNCTION ai.hybrid_search_plan(int4, text, jsonb, boolean, regconfig, boolean) IS
    'the statement that ai.hybrid_search runs, and the embedding of the query if there is one';

CREATE OR REPLACE FUNCTION ai.hybrid_search_plan(vectorizer text, query text DEFAULT NULL,
        filter jsonb DEFAULT NULL, group_by_row boolean DEFAULT false,
        language regconfig DEFAULT NULL, exact boolean DEFAULT false) RETURNS ai._hybrid_statement
    LANGUAGE c STABLE
    AS 'MODULE_PATHNAME', 'ai_call_as_owner';
COMMENT ON FUNCTION ai.hybrid_search_plan(text, text, jsonb, boolean, regconfig, boolean) IS
    'the statement that ai.hybrid_search runs, and the embedding of the query if there is one';

-- As in a web search: all words, unless there is an "or" between them; "quoted phrases"; no -word.
-- To match any word is to put an "or" between them, if the query has no such operators itself.
CREATE OR REPLACE FUNCTION ai._hybrid_words(language regconfig, query text, match text) RETURNS tsquery
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    words tsquery := websearch_to_tsquery(language, query);
    operators text := regexp_replace(words::text, '''(?:[^'']|'''')*''', '', 'g');
BEGIN
    IF match = 'any' AND operators !~ '[|!<]' THEN
        RETURN replace(words::text, ''' & ''', ''' | ''')::tsquery;
    END IF;
    RETURN words;
END
$$;
COMMENT ON FUNCTION ai._hybrid_words(regconfig, text, text) IS
    'the text of a hybrid search as a query by words';

CREATE OR REPLACE FUNCTION ai._hybrid_check(match text, vector_weight float8, text_weight float8, rrf_k int4)
    RETURNS void
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    IF (match IN ('all', 'any')) IS NOT TRUE THEN
        RAISE EXCEPTION 'match must be "all" or "any", not %', coalesce('"' || match || '"', 'null')
            USING ERRCODE = 'invalid_parameter_value';
    END IF;
    IF (vector_weight >= 0 AND text_weight >= 0 AND vector_weight + text_weight > 0
        AND vector_weight + text_weight < 'Infinity') IS NOT TRUE THEN
        RAISE EXCEPTION 'weights must not be negative, and one of them must be greater than 0'
            USING ERRCODE = 'invalid_parameter_value',
                  DETAIL = format('They are %s and %s.', coalesce(vector_weight::text, 'null'),
                                  coalesce(text_weight::text, 'null'));
    END IF;
    IF (rrf_k BETWEEN 1 AND 1000000) IS NOT TRUE THEN
        RAISE EXCEPTION 'rrf_k must be between 1 and 1000000, not %', coalesce(rrf_k::text, 'null')
            USING ERRCODE = 'invalid_parameter_value', HINT = 'The usual value is 60.';
    END IF;
END
$$;
COMMENT ON FUNCTION ai._hybrid_check(text, float8, float8, int4) IS
    'raises an error unless words can be matched and ranks be fused like this';

-- Of each list, enough candidates that what is good in both is found. For the rest, see
-- ai._search_hits.
CREATE OR REPLACE FUNCTION ai._hybrid_hits(plan ai._hybrid_statement, query text, query_vector vector, k int4,
        filter jsonb, group_by_row boolean, match text, vector_weight float8, text_weight float8,
        rrf_k int4) RETURNS ai.hybrid_hit[]
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
    SET jit = off
    SET enable_memoize = off
    AS $$
DECLARE
    hits ai.hybrid_hit[] := '{}';
    candidates int4 := (k + greatest(30, least(3 * k, 1000))) * plan.oversampling;
    words tsquery := ai._hybrid_words(plan.language, query, match);
    settings jsonb;
BEGIN
    IF query IS NULL THEN
        RETURN hits;
    END IF;
    PERFORM ai._search_check_dimensions(query_vector, plan.dimensions);
    LOOP
        settings := ai._search_settings(candidates);
        EXECUTE format('SELECT ARRAY(SELECT ROW(h.*)::ai.hybrid_hit FROM (%s) h)', plan.statement)
        INTO hits USING query_vector, candidates, k, words, vector_weight, text_weight, rrf_k;
        PERFORM ai._search_restore_settings(settings);
        EXIT WHEN cardinality(hits) = k OR NOT plan.approximate;
        plan := ai.hybrid_search_plan(plan.vectorizer_id, NULL, filter, group_by_row,
                                      plan.language, true);
    END LOOP;
    RETURN hits;
END
$$;
COMMENT ON FUNCTION ai._hybrid_hits(ai._hybrid_statement, text, vector, int4, jsonb, boolean, text,
                                    float8, float8, int4) IS
    'what a hybrid search finds, the highest score first';

CREATE OR REPLACE FUNCTION ai.hybrid_search(vectorizer text, query text, k int4 DEFAULT 10,
        filter jsonb DEFAULT NULL, group_by_row boolean DEFAULT false,
        language regconfig DEFAULT NULL, match text DEFAULT 'all', vector_weight float8 DEFAULT 1,
        text_weight float8 DEFAULT 1, rrf_k int4 DEFAULT 60, query_vector vector DEFAULT NULL)
    RETURNS SETOF ai.hybrid_hit
    LANGUAGE plpgsql STABLE ROWS 10 COST 1000
    SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    PERFORM ai._search_check_k(k), ai._hybrid_check(match, vector_weight, text_weight, rrf_k);
    RETURN QUERY SELECT h.* FROM ai.hybrid_search_plan(
            vectorizer, CASE WHEN hybrid_search.query_vector IS NULL THEN query END, filter,
            group_by_row, hybrid_search.language) plan,
        unnest(ai._hybrid_hits(plan, query, coalesce(hybrid_search.query_vector, plan.query_vector),
                               k, filter, group_by_row, match, vector_weight, text_weight, rrf_k)) h;
END
$$;
COMMENT ON FUNCTION ai.hybrid_search(text, text, int4, jsonb, boolean, regconfig, text, float8,
                                     float8, int4, vector) IS
    'chunks of a vectorizer that fit a text best in meaning and in words, of those that the caller '
    'may read';

CREATE OR REPLACE FUNCTION ai.hybrid_search(vectorizer int4, query text, k int4 DEFAULT 10,
        filter jsonb DEFAULT NULL, group_by_row boolean DEFAULT false,
        language regconfig DEFAULT NULL, match text DEFAULT 'all', vector_weight float8 DEFAULT 1,
        text_weight float8 DEFAULT 1, rrf_k int4 DEFAULT 60, query_vector vector DEFAULT NULL)
    RETURNS SETOF ai.hybrid_hit
    LANGUAGE plpgsql STABLE ROWS 10 COST 1000
    SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    PERFORM ai._search_check_k(k), ai._hybrid_check(match, vector_weight, text_weight, rrf_k);
    RETURN QUERY SELECT h.* FROM ai.hybrid_search_plan(
            vectorizer, CASE WHEN hybrid_search.query_vector IS NULL THEN query END, filter,
            group_by_row, hybrid_search.language) plan,
        unnest(ai._hybrid_hits(plan, query, coalesce(hybrid_search.query_vector, plan.query_vector),
                               k, filter, group_by_row, match, vector_weight, text_weight, rrf_k)) h;
END
$$;
COMMENT ON FUNCTION ai.hybrid_search(int4, text, int4, jsonb, boolean, regconfig, text, float8,
                                     float8, int4, vector) IS
    'chunks of a vectorizer that fit a text best in meaning and in words, of those that the caller '
    'may read';
-- Texts into chunks, and the counting of tokens.

CREATE OR REPLACE FUNCTION ai.chunk(config jsonb, input text, OUT seq bigint, OUT chunk text)
    RETURNS SETOF record
    LANGUAGE c STABLE PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'ai_chunk';
COMMENT ON FUNCTION ai.chunk(jsonb, text) IS
    'the chunks that a vectorizer with this chunking configuration makes of a text';

-- The functions below are nothing but a configuration, in which null means the default. Their bodies are
-- parsed here and need no search_path, so that the planner can put ai.chunk in their place: for short
-- texts, calling them would take several times as long as the work.

-- Where only a size is given, the default overlap is not allowed to be above it.
CREATE OR REPLACE FUNCTION ai._default_overlap(chunk_size integer, chunk_overlap integer) RETURNS integer
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN coalesce(chunk_overlap, CASE WHEN chunk_size < 200 THEN greatest(chunk_size, 0) END);
COMMENT ON FUNCTION ai._default_overlap(integer, integer) IS
    'the overlap, or if none is given a default that fits the chunk size';

CREATE OR REPLACE FUNCTION ai.chunk_text(
    input text, chunk_size integer DEFAULT NULL, chunk_overlap integer DEFAULT NULL,
    separator text DEFAULT NULL, is_separator_regex boolean DEFAULT false,
    keep_separator text DEFAULT NULL, strip_whitespace boolean DEFAULT NULL,
    length text DEFAULT NULL, OUT seq bigint, OUT chunk text)
    RETURNS SETOF record
    LANGUAGE sql STABLE PARALLEL SAFE
    BEGIN ATOMIC
    SELECT c.seq, c.chunk
    FROM ai.chunk(jsonb_build_object(
        'config_type', 'chunking', 'implementation', 'character_text_splitter',
        'chunk_size', chunk_size,
        'chunk_overlap', ai._default_overlap(chunk_size, chunk_overlap),
        'separator', separator, 'is_separator_regex', is_separator_regex,
        'keep_separator', keep_separator, 'strip_whitespace', strip_whitespace,
        'length', length), input) AS c;
    END;
COMMENT ON FUNCTION ai.chunk_text(text, integer, integer, text, boolean, text, boolean, text) IS
    'cuts a text at one separator and merges the pieces into chunks';

CREATE OR REPLACE FUNCTION ai.chunk_text_recursively(
    input text, chunk_size integer DEFAULT NULL, chunk_overlap integer DEFAULT NULL,
    separators text[] DEFAULT NULL, is_separator_regex boolean DEFAULT false,
    keep_separator text DEFAULT NULL, strip_whitespace boolean DEFAULT NULL,
    length text DEFAULT NULL, OUT seq bigint, OUT chunk text)
    RETURNS SETOF record
    LANGUAGE sql STABLE PARALLEL SAFE
    BEGIN ATOMIC
    SELECT c.seq, c.chunk
    FROM ai.chunk(jsonb_build_object(
        'config_type', 'chunking', 'implementation', 'recursive_character_text_splitter',
        'chunk_size', chunk_size,
        'chunk_overlap', ai._default_overlap(chunk_size, chunk_overlap),
        'separators', separators, 'is_separator_regex', is_separator_regex,
        'keep_separator', keep_separator, 'strip_whitespace', strip_whitespace,
        'length', length), input) AS c;
    END;
COMMENT ON FUNCTION ai.chunk_text_recursively(text, integer, integer, text[], boolean, text, boolean, text) IS
    'cuts a text at the first separator of a list that occurs, what is too long at the next ones';

CREATE OR REPLACE FUNCTION ai.chunk_sentences(
    input text, chunk_size integer DEFAULT NULL, chunk_overlap integer DEFAULT NULL,
    min_sentences_per_chunk integer DEFAULT NULL, min_characters_per_sentence integer DEFAULT NULL,
    delimiters text[] DEFAULT NULL, include_delimiter text DEFAULT NULL,
    cjk_terminators boolean DEFAULT NULL, strip_whitespace boolean DEFAULT NULL,
    length text DEFAULT NULL, OUT seq bigint, OUT chunk text)
    RETURNS SETOF record
    LANGUAGE sql STABLE PARALLEL SAFE
    BEGIN ATOMIC
    SELECT c.seq, c.chunk
    FROM ai.chunk(jsonb_build_object(
        'config_type', 'chunking', 'implementation', 'sentence',
        'chunk_size', chunk_size, 'chunk_overlap', chunk_overlap,
        'min_sentences_per_chunk', min_sentences_per_chunk,
        'min_characters_per_sentence', min_characters_per_sentence,
        'delimiters', delimiters, 'include_delimiter', include_delimiter,
        'cjk_terminators', cjk_terminators, 'strip_whitespace', strip_whitespace,
        'length', length), input) AS c;
    END;
COMMENT ON FUNCTION ai.chunk_sentences(text, integer, integer, integer, integer, text[], text, boolean, boolean, text) IS
    'packs whole sentences of a text into chunks';

CREATE OR REPLACE FUNCTION ai.chunk_semantic(
    input text, chunk_size integer DEFAULT NULL, chunk_overlap integer DEFAULT NULL,
    strip_whitespace boolean DEFAULT NULL, length text DEFAULT NULL,
    OUT seq bigint, OUT chunk text)
    RETURNS SETOF record
    LANGUAGE sql STABLE PARALLEL SAFE
    BEGIN ATOMIC
    SELECT c.seq, c.chunk
    FROM ai.chunk(jsonb_build_object(
        'config_type', 'chunking', 'implementation', 'semantic',
        'chunk_size', chunk_size, 'chunk_overlap', chunk_overlap,
        'strip_whitespace', strip_whitespace, 'length', length), input) AS c;
    END;
COMMENT ON FUNCTION ai.chunk_semantic(text, integer, integer, boolean, text) IS
    'cuts a text where it parts most strongly: lines, sentences, clauses, words';

CREATE OR REPLACE FUNCTION ai.count_tokens(input text, encoding text DEFAULT 'cl100k_base') RETURNS integer
    LANGUAGE c STABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'ai_count_tokens';
COMMENT ON FUNCTION ai.count_tokens(text, text) IS
    'number of tokens of a text in an encoding or for a model; an estimate if the token tables are not installed';

CREATE OR REPLACE FUNCTION ai.openai_tokenize(model text, text_input text) RETURNS integer[]
    LANGUAGE c STABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'ai_openai_tokenize';
COMMENT ON FUNCTION ai.openai_tokenize(text, text) IS
    'the tokens of a text, as an OpenAI model or an encoding of that name has them';

CREATE OR REPLACE FUNCTION ai.openai_detokenize(model text, tokens integer[]) RETURNS text
    LANGUAGE c STABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'ai_openai_detokenize';
COMMENT ON FUNCTION ai.openai_detokenize(text, integer[]) IS
    'the text of tokens, as an OpenAI model or an encoding of that name has them';
-- Keys of providers: kept here, in a setting or in the server's environment, used by the roles that
-- were permitted to, sent only to the hosts they belong to.

-- Nobody has rights on this table, and a dump has only those secrets that were marked for it.
CREATE TABLE ai._secret (
    name    text PRIMARY KEY CHECK (name ~ '^[A-Za-z0-9_.-]{1,128}$'),
    value   text NOT NULL CHECK (value <> ''),
    hosts   text[],
    in_dump boolean NOT NULL DEFAULT false,
    updated timestamptz NOT NULL DEFAULT now()
);
COMMENT ON TABLE ai._secret IS 'secrets that were set with ai.set_secret';
SELECT pg_catalog.pg_extension_config_dump('ai._secret', 'WHERE in_dump');

CREATE TABLE ai._secret_permission (
    name text NOT NULL,
    role regrole NOT NULL,
    PRIMARY KEY (name, role)
);
COMMENT ON TABLE ai._secret_permission IS
    'which roles may use which secrets; the name * stands for all of them';
-- Without those of dropped roles, whose numbers others may get where the dump is restored.
SELECT pg_catalog.pg_extension_config_dump('ai._secret_permission',
    'WHERE EXISTS (SELECT FROM pg_catalog.pg_roles r WHERE r.oid = role)');
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
-- See tables/secret.sql.

CREATE OR REPLACE VIEW ai.secret_permissions WITH (security_barrier) AS
    SELECT p.name, r.rolname AS role
    FROM ai._secret_permission p JOIN pg_catalog.pg_roles r ON r.oid = p.role
    WHERE pg_catalog.pg_has_role(current_user, r.oid, 'USAGE');
COMMENT ON VIEW ai.secret_permissions IS
    'secrets that the current role, and the roles it is a member of, may use; * stands for all';
GRANT SELECT ON ai.secret_permissions TO PUBLIC;
-- Embeddings at once, in the caller's own statement. It waits for the provider with its transaction
-- open, which is right for a query and wrong for a table: that is what vectorizers are for.
--
-- IMMUTABLE, though a provider is asked: a model gives the same vector for the same text, and a
-- search that names its query once (ORDER BY embedding <=> ai.openai_embed(...)) has to ask once, not
-- for every row.

-- As the role that calls, or for ai._embed_as as another one: whose keys may be used.
CREATE OR REPLACE FUNCTION ai._embed(config jsonb, inputs text[], api_key text) RETURNS vector[]
    LANGUAGE c IMMUTABLE
    AS 'MODULE_PATHNAME', 'ai_embed';
COMMENT ON FUNCTION ai._embed(jsonb, text[], text) IS
    'embeddings of texts, in their order, by the model of a configuration; null for null';

CREATE OR REPLACE FUNCTION ai._embed_as(role oid, config jsonb, inputs text[]) RETURNS vector[]
    LANGUAGE c IMMUTABLE STRICT
    AS 'MODULE_PATHNAME', 'ai_embed_as';
COMMENT ON FUNCTION ai._embed_as(oid, jsonb, text[]) IS
    'the same as ai._embed, with the keys that another role may use';
REVOKE ALL ON FUNCTION ai._embed_as(oid, jsonb, text[]) FROM PUBLIC;

CREATE OR REPLACE FUNCTION ai._embed_tokens(config jsonb, input_tokens int4[], api_key text) RETURNS vector
    LANGUAGE c IMMUTABLE
    AS 'MODULE_PATHNAME', 'ai_embed_tokens';
COMMENT ON FUNCTION ai._embed_tokens(jsonb, int4[], text) IS
    'embedding of a text that is given as tokens, by a model of OpenAI';

CREATE OR REPLACE FUNCTION ai._embedding_rows(embeddings vector[])
    RETURNS TABLE ("index" int4, embedding vector)
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT (u.position - 1)::int4, u.embedding
    FROM unnest(embeddings) WITH ORDINALITY AS u (embedding, position)
    $$;
COMMENT ON FUNCTION ai._embedding_rows(vector[]) IS
    'embeddings as rows, numbered from 0 as their texts are';

CREATE OR REPLACE FUNCTION ai.embed(config jsonb, input text) RETURNS vector
    LANGUAGE sql IMMUTABLE
    SET search_path = pg_catalog, pg_temp
    AS $$SELECT (ai._embed(ai._validate_embedding(config), ARRAY[input], NULL))[1]$$;
COMMENT ON FUNCTION ai.embed(jsonb, text) IS
    'embedding of a text by the model of an embedding configuration, e.g. ai.embedding_openai(...)';

CREATE OR REPLACE FUNCTION ai.embed(config jsonb, inputs text[])
    RETURNS TABLE ("index" int4, embedding vector)
    LANGUAGE sql IMMUTABLE
    SET search_path = pg_catalog, pg_temp
    AS $$SELECT * FROM ai._embedding_rows(ai._embed(ai._validate_embedding(config), inputs, NULL))$$;
COMMENT ON FUNCTION ai.embed(jsonb, text[]) IS
    'embeddings of texts by the model of an embedding configuration; the index counts from 0';

CREATE OR REPLACE FUNCTION ai._list_models(config jsonb, api_key text) RETURNS jsonb
    LANGUAGE c VOLATILE
    AS 'MODULE_PATHNAME', 'ai_list_models';
COMMENT ON FUNCTION ai._list_models(jsonb, text) IS
    'models that the provider of a configuration has, an object each';
-- Embeddings by OpenAI, or by a server with the same API, in the caller's own statement; its models.

CREATE OR REPLACE FUNCTION ai.openai_client_config(base_url text DEFAULT NULL,
        timeout_seconds float8 DEFAULT NULL, organization text DEFAULT NULL,
        project text DEFAULT NULL, max_retries int4 DEFAULT NULL,
        default_headers jsonb DEFAULT NULL, default_query jsonb DEFAULT NULL) RETURNS jsonb
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT jsonb_strip_nulls(jsonb_build_object('base_url', base_url,
        'timeout_seconds', timeout_seconds, 'organization', organization, 'project', project,
        'max_retries', max_retries, 'default_headers', default_headers,
        'default_query', default_query))
    $$;
COMMENT ON FUNCTION ai.openai_client_config(text, float8, text, text, int4, jsonb, jsonb) IS
    'for the argument client_config of functions that call OpenAI: another server, another '
    'timeout, headers and a query for all requests';

CREATE OR REPLACE FUNCTION ai._check_client_config(client_config jsonb) RETURNS void
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    unknown text;
BEGIN
    SELECT string_agg(k, ', ' ORDER BY k) INTO unknown
    FROM jsonb_object_keys(client_config) k
    WHERE k NOT IN ('base_url', 'timeout_seconds', 'organization', 'project', 'max_retries',
                    'default_headers', 'default_query');
    IF unknown IS NOT NULL THEN
        RAISE EXCEPTION 'client_config has unknown members: %', unknown
            USING ERRCODE = 'invalid_parameter_value',
                  HINT = 'Make it with ai.openai_client_config.';
    END IF;
    IF (client_config ->> 'max_retries')::int4 <> 0 THEN
        RAISE EXCEPTION 'max_retries must be 0: a request is tried once'
            USING ERRCODE = 'feature_not_supported',
                  HINT = 'Leave it out and call again after an error, or use a vectorizer or '
                         'ai.create_embedding_job, which try again.';
    END IF;
END
$$;
COMMENT ON FUNCTION ai._check_client_config(jsonb) IS
    'raises an error if a client_config has something that cannot be meant or done';

CREATE OR REPLACE FUNCTION ai._openai_config(model text, api_key_name text, dimensions int4, openai_user text,
        client_config jsonb, extra_headers jsonb, extra_query jsonb, extra_body jsonb,
        verbose boolean) RETURNS jsonb
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    client jsonb := coalesce(client_config, '{}');
    headers jsonb := coalesce(nullif(client -> 'default_headers', 'null'), '{}')
        || jsonb_strip_nulls(jsonb_build_object('OpenAI-Organization', client -> 'organization',
                                                'OpenAI-Project', client -> 'project'))
        || coalesce(extra_headers, '{}');
    query jsonb := coalesce(nullif(client -> 'default_query', 'null'), '{}')
        || coalesce(extra_query, '{}');
    config jsonb := ai._config('embedding', 'openai', jsonb_build_object(
        'model', model, 'dimensions', dimensions, 'chat_user', openai_user,
        'api_key_name', nullif(coalesce(api_key_name, 'OPENAI_API_KEY'), ''),
        'base_url', client ->> 'base_url',
        'timeout_seconds', (client ->> 'timeout_seconds')::float8,
        'extra_headers', nullif(headers, '{}'), 'extra_query', nullif(query, '{}'),
        'extra_body', extra_body, 'verbose', nullif("verbose", false)));
BEGIN
    PERFORM ai._check_client_config(client);
    PERFORM ai._validate_endpoint(config);
    RETURN config;
END
$$;
COMMENT ON FUNCTION ai._openai_config(text, text, int4, text, jsonb, jsonb, jsonb, jsonb,
                                      boolean) IS
    'configuration for a call of OpenAI';

CREATE OR REPLACE FUNCTION ai.openai_embed(model text, input_text text, api_key text DEFAULT NULL,
        dimensions int4 DEFAULT NULL, api_key_name text DEFAULT NULL,
        openai_user text DEFAULT NULL, extra_headers jsonb DEFAULT NULL,
        extra_query jsonb DEFAULT NULL, extra_body jsonb DEFAULT NULL,
        verbose boolean DEFAULT false, client_config jsonb DEFAULT NULL)
    RETURNS vector
    LANGUAGE sql IMMUTABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT (ai._embed(ai._openai_config(model, api_key_name, dimensions, openai_user,
        client_config, extra_headers, extra_query, extra_body, "verbose"),
        ARRAY[input_text], api_key))[1]
    $$;
COMMENT ON FUNCTION ai.openai_embed(text, text, text, int4, text, text, jsonb, jsonb, jsonb,
                                    boolean, jsonb) IS
    'embedding of a text by a model of OpenAI';

CREATE OR REPLACE FUNCTION ai.openai_embed(model text, input_texts text[], api_key text DEFAULT NULL,
        dimensions int4 DEFAULT NULL, api_key_name text DEFAULT NULL,
        openai_user text DEFAULT NULL, extra_headers jsonb DEFAULT NULL,
        extra_query jsonb DEFAULT NULL, extra_body jsonb DEFAULT NULL,
        verbose boolean DEFAULT false, client_config jsonb DEFAULT NULL)
    RETURNS TABLE ("index" int4, embedding vector)
    LANGUAGE sql IMMUTABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT * FROM ai._embedding_rows(ai._embed(ai._openai_config(model, api_key_name, dimensions,
        openai_user, client_config, extra_headers, extra_query, extra_body, "verbose"),
        input_texts, api_key))
    $$;
COMMENT ON FUNCTION ai.openai_embed(text, text[], text, int4, text, text, jsonb, jsonb, jsonb,
                                    boolean, jsonb) IS
    'embeddings of texts by a model of OpenAI; the index counts from 0';

CREATE OR REPLACE FUNCTION ai.openai_embed(model text, input_tokens int4[], api_key text DEFAULT NULL,
        dimensions int4 DEFAULT NULL, api_key_name text DEFAULT NULL,
        openai_user text DEFAULT NULL, extra_headers jsonb DEFAULT NULL,
        extra_query jsonb DEFAULT NULL, extra_body jsonb DEFAULT NULL,
        verbose boolean DEFAULT false, client_config jsonb DEFAULT NULL)
    RETURNS vector
    LANGUAGE sql IMMUTABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT ai._embed_tokens(ai._openai_config(model, api_key_name, dimensions, openai_user,
        client_config, extra_headers, extra_query, extra_body, "verbose"),
        input_tokens, api_key)
    $$;
COMMENT ON FUNCTION ai.openai_embed(text, int4[], text, int4, text, text, jsonb, jsonb, jsonb,
                                    boolean, jsonb) IS
    'embedding of a text that is given as tokens (see ai.openai_tokenize) by a model of OpenAI';

CREATE OR REPLACE FUNCTION ai.openai_list_models(api_key text DEFAULT NULL, api_key_name text DEFAULT NULL,
        extra_headers jsonb DEFAULT NULL, extra_query jsonb DEFAULT NULL,
        verbose boolean DEFAULT false, client_config jsonb DEFAULT NULL)
    RETURNS TABLE (id text, created timestamptz, owned_by text)
    LANGUAGE sql VOLATILE
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT m.id, to_timestamp(m.created), m.owned_by
    FROM jsonb_to_recordset(ai._list_models(
        ai._openai_config('', api_key_name, NULL, NULL, client_config, extra_headers, extra_query,
                          NULL, "verbose"), api_key))
        AS m (id text, created float8, owned_by text)
    $$;
COMMENT ON FUNCTION ai.openai_list_models(text, text, jsonb, jsonb, boolean, jsonb) IS
    'models that OpenAI, or a server with the same API, has';
-- Embeddings by Ollama, Voyage AI and Cohere in the caller's own statement; the models of Ollama.

-- Ollama. Its address has two names: host, as in pgai, and base_url, as in configurations.

CREATE OR REPLACE FUNCTION ai._ollama_config(model text, host text, keep_alive text, options jsonb,
                                  verbose boolean) RETURNS jsonb
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    config jsonb := ai._config('embedding', 'ollama', jsonb_build_object('model', model,
        'base_url', host, 'keep_alive', keep_alive, 'options', options,
        'verbose', nullif("verbose", false)));
BEGIN
    PERFORM ai._validate_endpoint(config);
    RETURN config;
END
$$;
COMMENT ON FUNCTION ai._ollama_config(text, text, text, jsonb, boolean) IS
    'configuration for a call of Ollama';

CREATE OR REPLACE FUNCTION ai.ollama_embed(model text, input_text text, host text DEFAULT NULL,
        keep_alive text DEFAULT NULL, embedding_options jsonb DEFAULT NULL,
        verbose boolean DEFAULT false, base_url text DEFAULT NULL) RETURNS vector
    LANGUAGE sql IMMUTABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT (ai._embed(ai._ollama_config(model, coalesce(host, base_url), keep_alive,
                                        embedding_options, "verbose"), ARRAY[input_text], NULL))[1]
    $$;
COMMENT ON FUNCTION ai.ollama_embed(text, text, text, text, jsonb, boolean, text) IS
    'embedding of a text by a model that an Ollama server runs';

CREATE OR REPLACE FUNCTION ai.ollama_embed(model text, input_texts text[], host text DEFAULT NULL,
        keep_alive text DEFAULT NULL, embedding_options jsonb DEFAULT NULL,
        verbose boolean DEFAULT false, base_url text DEFAULT NULL)
    RETURNS TABLE ("index" int4, embedding vector)
    LANGUAGE sql IMMUTABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT * FROM ai._embedding_rows(ai._embed(ai._ollama_config(model, coalesce(host, base_url),
        keep_alive, embedding_options, "verbose"), input_texts, NULL))
    $$;
COMMENT ON FUNCTION ai.ollama_embed(text, text[], text, text, jsonb, boolean, text) IS
    'embeddings of texts by a model that an Ollama server runs; the index counts from 0';

CREATE OR REPLACE FUNCTION ai.ollama_list_models(host text DEFAULT NULL, verbose boolean DEFAULT false)
    RETURNS TABLE ("name" text, model text, size bigint, digest text, family text, format text,
                   families jsonb, parent_model text, parameter_size text,
                   quantization_level text, modified_at timestamptz)
    LANGUAGE sql VOLATILE
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT m.* FROM jsonb_to_recordset(ai._list_models(
        ai._ollama_config('', host, NULL, NULL, "verbose"), NULL))
        AS m ("name" text, model text, size bigint, digest text, family text, format text,
              families jsonb, parent_model text, parameter_size text, quantization_level text,
              modified_at timestamptz)
    $$;
COMMENT ON FUNCTION ai.ollama_list_models(text, boolean) IS 'models that an Ollama server has';

-- Voyage AI and Cohere.

CREATE OR REPLACE FUNCTION ai._keyed_config(implementation text, model text, input_type text,
                                 api_key_name text, further jsonb DEFAULT '{}') RETURNS jsonb
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    config jsonb := jsonb_strip_nulls(jsonb_build_object('config_type', 'embedding',
        'implementation', implementation, 'model', model, 'input_type', input_type,
        'api_key_name', nullif(coalesce(api_key_name, CASE implementation
            WHEN 'voyageai' THEN 'VOYAGE_API_KEY' ELSE 'COHERE_API_KEY' END), '')) || further);
BEGIN
    PERFORM ai._validate_endpoint(config);
    RETURN config;
END
$$;
COMMENT ON FUNCTION ai._keyed_config(text, text, text, text, jsonb) IS
    'configuration for a call of Voyage AI or Cohere';

CREATE OR REPLACE FUNCTION ai.voyageai_embed(model text, input_text text, input_type text DEFAULT NULL,
        api_key text DEFAULT NULL, api_key_name text DEFAULT NULL, verbose boolean DEFAULT false,
        base_url text DEFAULT NULL)
    RETURNS vector
    LANGUAGE sql IMMUTABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT (ai._embed(ai._keyed_config('voyageai', model, input_type, api_key_name,
        jsonb_build_object('base_url', base_url, 'verbose', nullif("verbose", false))),
        ARRAY[input_text], api_key))[1]
    $$;
COMMENT ON FUNCTION ai.voyageai_embed(text, text, text, text, text, boolean, text) IS
    'embedding of a text by a model of Voyage AI';

CREATE OR REPLACE FUNCTION ai.voyageai_embed(model text, input_texts text[], input_type text DEFAULT NULL,
        api_key text DEFAULT NULL, api_key_name text DEFAULT NULL, verbose boolean DEFAULT false,
        base_url text DEFAULT NULL)
    RETURNS TABLE ("index" int4, embedding vector)
    LANGUAGE sql IMMUTABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT * FROM ai._embedding_rows(ai._embed(ai._keyed_config('voyageai', model, input_type,
        api_key_name, jsonb_build_object('base_url', base_url,
                                         'verbose', nullif("verbose", false))),
        input_texts, api_key))
    $$;
COMMENT ON FUNCTION ai.voyageai_embed(text, text[], text, text, text, boolean, text) IS
    'embeddings of texts by a model of Voyage AI; the index counts from 0';

CREATE OR REPLACE FUNCTION ai.cohere_embed(model text, input_text text, api_key text DEFAULT NULL,
        api_key_name text DEFAULT NULL, input_type text DEFAULT 'search_document',
        truncate_long_inputs text DEFAULT NULL, verbose boolean DEFAULT false,
        base_url text DEFAULT NULL) RETURNS vector
    LANGUAGE sql IMMUTABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT (ai._embed(ai._keyed_config('cohere', model, input_type, api_key_name,
        jsonb_build_object('truncate', truncate_long_inputs, 'base_url', base_url,
                           'verbose', nullif("verbose", false))), ARRAY[input_text], api_key))[1]
    $$;
COMMENT ON FUNCTION ai.cohere_embed(text, text, text, text, text, text, boolean, text) IS
    'embedding of a text by a model of Cohere';

CREATE OR REPLACE FUNCTION ai.cohere_embed(model text, input_texts text[], api_key text DEFAULT NULL,
        api_key_name text DEFAULT NULL, input_type text DEFAULT 'search_document',
        truncate_long_inputs text DEFAULT NULL, verbose boolean DEFAULT false,
        base_url text DEFAULT NULL)
    RETURNS TABLE ("index" int4, embedding vector)
    LANGUAGE sql IMMUTABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT * FROM ai._embedding_rows(ai._embed(ai._keyed_config('cohere', model, input_type,
        api_key_name, jsonb_build_object('truncate', truncate_long_inputs, 'base_url', base_url,
                                         'verbose', nullif("verbose", false))),
        input_texts, api_key))
    $$;
COMMENT ON FUNCTION ai.cohere_embed(text, text[], text, text, text, text, boolean, text) IS
    'embeddings of texts by a model of Cohere; the index counts from 0';
-- Embeddings by the embedded model and by the model of a vectorizer, in the caller's own statement.

-- The embedded model: no provider, no key, no network. PARALLEL SAFE and IMMUTABLE: what it gives
-- depends on nothing but the text and the file of the model.

CREATE OR REPLACE FUNCTION ai._local_embed(model text, inputs text[]) RETURNS vector[]
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'ai_local_embed';
COMMENT ON FUNCTION ai._local_embed(text, text[]) IS
    'embeddings of texts, in their order, by the embedded model; null for null';

-- COST: a text takes milliseconds. The planner is to check cheaper conditions first, and to use
-- parallel workers sooner.
CREATE OR REPLACE FUNCTION ai.local_embed(input_text text, model text DEFAULT 'all-MiniLM-L6-v2')
    RETURNS vector
    LANGUAGE sql IMMUTABLE PARALLEL SAFE COST 100000
    SET search_path = pg_catalog, pg_temp
    AS $$SELECT (ai._local_embed(model, ARRAY[input_text]))[1]$$;
COMMENT ON FUNCTION ai.local_embed(text, text) IS
    'embedding of a text by the model that runs inside the server';

CREATE OR REPLACE FUNCTION ai.local_embed(input_texts text[], model text DEFAULT 'all-MiniLM-L6-v2')
    RETURNS TABLE ("index" int4, embedding vector)
    LANGUAGE sql IMMUTABLE PARALLEL SAFE COST 100000
    SET search_path = pg_catalog, pg_temp
    AS $$SELECT * FROM ai._embedding_rows(ai._local_embed(model, input_texts))$$;
COMMENT ON FUNCTION ai.local_embed(text[], text) IS
    'embeddings of texts by the model that runs inside the server; the index counts from 0';

-- By the model of a vectorizer: for the query side of a search.

-- Providers that tell documents from queries get a query, unless another input_type is given.
CREATE OR REPLACE FUNCTION ai._query_config(config jsonb, input_type text) RETURNS jsonb
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT config || CASE config ->> 'implementation'
        WHEN 'voyageai' THEN jsonb_build_object('input_type', coalesce(input_type, 'query'))
        WHEN 'local' THEN jsonb_build_object('input_type', coalesce(input_type, 'query'))
        WHEN 'cohere' THEN jsonb_build_object('input_type', coalesce(input_type, 'search_query'))
        ELSE '{}' END
    $$;
COMMENT ON FUNCTION ai._query_config(jsonb, text) IS
    'an embedding configuration for queries instead of documents';

CREATE OR REPLACE FUNCTION ai.vectorizer_embed(embedding_config jsonb, input_text text,
                                    input_type text DEFAULT NULL) RETURNS vector
    LANGUAGE sql IMMUTABLE
    SET search_path = pg_catalog, pg_temp
    AS $$SELECT ai.embed(ai._query_config(embedding_config, input_type), input_text)$$;
COMMENT ON FUNCTION ai.vectorizer_embed(jsonb, text, text) IS
    'embedding of a query by the model of an embedding configuration';

-- Whoever may read the embeddings may search them: the key is used with the rights of the
-- vectorizer's owner.
CREATE OR REPLACE FUNCTION ai._vectorizer_embed(caller oid, vectorizer_id int4, input_text text,
                                     input_type text) RETURNS vector
    LANGUAGE plpgsql IMMUTABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    v ai.vectorizer := ai._vectorizer_get(vectorizer_id);
BEGIN
    PERFORM ai._vectorizer_require_readable(caller, v);
    RETURN (ai._embed_as(ai._vectorizer_owner(v),
        ai._query_config(v.config -> 'embedding', input_type), ARRAY[input_text]))[1];
END
$$;
COMMENT ON FUNCTION ai._vectorizer_embed(oid, int4, text, text) IS
    'what ai.vectorizer_embed does, for the role that called it';

CREATE OR REPLACE FUNCTION ai._vectorizer_embed(caller oid, name text, input_text text, input_type text)
    RETURNS vector
    LANGUAGE sql IMMUTABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT ai._vectorizer_embed(caller, (ai._vectorizer_get(name)).id, input_text, input_type)
    $$;
COMMENT ON FUNCTION ai._vectorizer_embed(oid, text, text, text) IS
    'what ai.vectorizer_embed does, for the role that called it';
REVOKE ALL ON FUNCTION ai._vectorizer_embed(oid, int4, text, text),
    ai._vectorizer_embed(oid, text, text, text) FROM PUBLIC;

CREATE OR REPLACE FUNCTION ai.vectorizer_embed(vectorizer_id int4, input_text text,
                                    input_type text DEFAULT NULL) RETURNS vector
    LANGUAGE c IMMUTABLE
    AS 'MODULE_PATHNAME', 'ai_call_as_owner';
COMMENT ON FUNCTION ai.vectorizer_embed(int4, text, text) IS
    'embedding of a query by the model of a vectorizer, for a search in its embeddings';

CREATE OR REPLACE FUNCTION ai.vectorizer_embed(name text, input_text text, input_type text DEFAULT NULL)
    RETURNS vector
    LANGUAGE c IMMUTABLE
    AS 'MODULE_PATHNAME', 'ai_call_as_owner';
COMMENT ON FUNCTION ai.vectorizer_embed(text, text, text) IS
    'embedding of a query by the model of a vectorizer, for a search in its embeddings';
-- What coordinators do to the tables: rows of worker processes that are gone go back, histories stay
-- short. Only the background processes call these.

CREATE OR REPLACE FUNCTION ai._pages(relation regclass) RETURNS bigint
    LANGUAGE c VOLATILE STRICT
    AS 'MODULE_PATHNAME', 'ai_pages';
COMMENT ON FUNCTION ai._pages(regclass) IS
    'how many pages a table has; null if it is gone or somebody has locked it. Waits for nobody and '
    'keeps no lock';

CREATE OR REPLACE FUNCTION ai._vectorizer_max_attempts(config jsonb) RETURNS int4
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $$SELECT coalesce((config #>> '{processing,max_attempts}')::int4, 6)$$;
COMMENT ON FUNCTION ai._vectorizer_max_attempts(jsonb) IS
    'after how many attempts a row of a vectorizer is given up';

-- The rows that are with a process that does not live, or lives but has not said so for too long.
-- An attempt is charged, so that a row that kills workers ends in the table of failed rows. A row
-- that somebody has locked is written just now, or comes next time.
--
-- Rows that a process died with come in small groups next time, and alone when that one dies too. A
-- process that died by itself (dead) with such a row and nothing else was killed by it: one more
-- attempt would only kill another. When all of the server went down, somebody else may be to blame.
CREATE OR REPLACE FUNCTION ai._vectorizer_reclaim(v ai.vectorizer, live uuid[], lock_timeout interval,
        dead uuid[] DEFAULT '{}', OUT lease uuid, OUT released bigint, OUT dead_letters bigint)
    RETURNS SETOF record
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    work text := ai._qualified_name(v.work);
    keys text := ai._key_list(v.source_pk, '%2$s');
BEGIN
    IF NOT ai._vectorizer_has_queue(v) THEN
        RETURN;  -- workers set it aside
    END IF;
    RETURN QUERY EXECUTE format($statement$
        WITH lost AS (
            SELECT ctid AS place, w.lease, w.crashes OPERATOR(pg_catalog.>=) 2
                    AND w.lease OPERATOR(pg_catalog.=) ANY ($5) AS is_to_blame,
                (w.attempts OPERATOR(pg_catalog.+) 1) OPERATOR(pg_catalog.>=) $3
                    OR w.crashes OPERATOR(pg_catalog.>=) 2
                    AND w.lease OPERATOR(pg_catalog.=) ANY ($5) AS is_over
            FROM ONLY %1$s w
            WHERE w.lease IS NOT NULL AND (w.lease OPERATOR(pg_catalog.<>) ALL ($1) OR EXISTS (
                SELECT FROM ai.vectorizer_worker_process p
                WHERE p.id OPERATOR(pg_catalog.=) w.lease
                  AND p.last_heartbeat OPERATOR(pg_catalog.<)
                      (pg_catalog.clock_timestamp() OPERATOR(pg_catalog.-) $2)))
            FOR UPDATE SKIP LOCKED
        ), back AS (
            UPDATE ONLY %1$s w
            SET lease = NULL, attempts = w.attempts OPERATOR(pg_catalog.+) 1,
                retry_at = pg_catalog.now(), error = $4,
                crashes = least(w.crashes OPERATOR(pg_catalog.+) 1, 32767)
            FROM lost l WHERE w.ctid OPERATOR(pg_catalog.=) l.place AND NOT l.is_over
            RETURNING l.lease
        ), up AS (
            DELETE FROM ONLY %1$s w USING lost l
            WHERE w.ctid OPERATOR(pg_catalog.=) l.place AND l.is_over
            RETURNING %3$s, w.attempts OPERATOR(pg_catalog.+) 1 AS attempts, l.lease,
                CASE WHEN l.is_to_blame THEN $7 ELSE $4 END AS error
        ), failed AS (
            INSERT INTO %2$s AS f (%4$s, step, error, class, attempts)
            SELECT %4$s, 'worker', u.error, 'reclaimed', u.attempts FROM up u
            ON CONFLICT (%4$s) DO UPDATE
            SET step = excluded.step, error = excluded.error, class = excluded.class,
                attempts = excluded.attempts, failed_at = excluded.failed_at
        ), noted AS (
            INSERT INTO ai._vectorizer_errors (id, message, details)
            SELECT $6, u.error,
                pg_catalog.jsonb_build_object('step', 'worker', 'class', 'reclaimed', 'key', %5$s)
            FROM up u
        )
        SELECT l.lease,
            (SELECT pg_catalog.count(*) FROM back b WHERE b.lease OPERATOR(pg_catalog.=) l.lease),
            (SELECT pg_catalog.count(*) FROM up u WHERE u.lease OPERATOR(pg_catalog.=) l.lease)
        FROM (SELECT DISTINCT d.lease FROM lost d) l
        $statement$, work, ai._qualified_name(v.failed), ai._key_list(v.source_pk, 'w.%2$s'), keys,
        ai._key_as_jsonb(v, 'u'))
    USING live, lock_timeout, ai._vectorizer_max_attempts(v.config),
        'the worker process that had claimed it is gone', dead, v.id,
        'worker processes end unexpectedly when they have it, the last one had nothing else';
END
$$;
COMMENT ON FUNCTION ai._vectorizer_reclaim(ai.vectorizer, uuid[], interval, uuid[]) IS
    'releases the rows of worker processes that are gone; a row for each of these processes';

-- A process died with rows of this vectorizer and no others. When that happens too often, the
-- vectorizer is set aside for a while, so that the workers are there for the others.
CREATE OR REPLACE FUNCTION ai._vectorizer_blame(vectorizer_id int4, worker text, most int4, span interval)
    RETURNS boolean
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    deaths bigint;
BEGIN
    INSERT INTO ai._vectorizer_errors (id, message, details, recorded)
    VALUES (vectorizer_id, 'a worker process ended unexpectedly while it had rows of this '
            'vectorizer and no others',
            jsonb_build_object('step', 'worker', 'class', 'crash', 'worker', worker),
            clock_timestamp());
    SELECT count(*) INTO deaths FROM ai._vectorizer_errors e
    WHERE e.id = vectorizer_id AND e.recorded > clock_timestamp() - span
      AND e.details ->> 'class' = 'crash';
    IF deaths < most THEN
        RETURN false;
    END IF;
    INSERT INTO ai._vectorizer_pause AS p (vectorizer_id, paused_until, reason)
    VALUES (vectorizer_id, clock_timestamp() + span,
            format('its rows ended %s worker processes within %s seconds', deaths,
                   round(extract(epoch FROM span))))
    ON CONFLICT ON CONSTRAINT _vectorizer_pause_pkey DO UPDATE
    SET paused_at = excluded.paused_at, paused_until = excluded.paused_until, paused_by = NULL,
        reason = excluded.reason
    WHERE p.paused_until < excluded.paused_until;
    RETURN true;
END
$$;
COMMENT ON FUNCTION ai._vectorizer_blame(int4, text, int4, interval) IS
    'notes that a vectorizer''s rows ended a worker process, and pauses it when there are too many; '
    'returns whether it is paused';

CREATE OR REPLACE FUNCTION ai._worker_prune(live uuid[]) RETURNS void
    LANGUAGE sql
    SET search_path = pg_catalog, pg_temp
    AS $$
    DELETE FROM ai.vectorizer_worker_process WHERE id IN (
        SELECT p.id FROM ai.vectorizer_worker_process p
        WHERE p.last_heartbeat < now() - interval '7 days' AND p.id <> ALL (live)
        ORDER BY p.last_heartbeat LIMIT 1000 FOR UPDATE SKIP LOCKED)
    $$;
COMMENT ON FUNCTION ai._worker_prune(uuid[]) IS
    'removes rows about worker processes that have been gone for a week, a thousand at most';

REVOKE ALL ON FUNCTION ai._pages(regclass),
    ai._vectorizer_reclaim(ai.vectorizer, uuid[], interval, uuid[]),
    ai._vectorizer_blame(int4, text, int4, interval),
    ai._worker_prune(uuid[]) FROM PUBLIC;
-- What vectorizers have used of their models, as workers count it; and the statements of workers, for
-- those who want to read them.

CREATE TABLE ai.usage (
    vectorizer_id int4 NOT NULL REFERENCES ai.vectorizer ON DELETE CASCADE,
    model         text NOT NULL,
    day           date NOT NULL,
    requests      bigint NOT NULL DEFAULT 0,
    input_tokens  bigint NOT NULL DEFAULT 0,
    rows          bigint NOT NULL DEFAULT 0,
    sent_chunks   bigint NOT NULL DEFAULT 0,
    reused_chunks bigint NOT NULL DEFAULT 0,
    truncated_chunks bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (vectorizer_id, model, day)
);
COMMENT ON TABLE ai.usage IS
    'what vectorizers have asked of their models, by day: requests, tokens as the provider counted '
    'them, rows, chunks sent, chunks that were there already, chunks that were cut to fit';
SELECT pg_catalog.pg_extension_config_dump('ai.usage', '');
-- See tables/usage.sql.

CREATE OR REPLACE FUNCTION ai._worker_usage(vectorizer_id int4, model text, requests bigint,
        input_tokens bigint, rows bigint, sent_chunks bigint, reused_chunks bigint,
        truncated_chunks bigint) RETURNS void
    LANGUAGE sql
    SET search_path = pg_catalog, pg_temp
    AS $$
    INSERT INTO ai.usage AS u VALUES (vectorizer_id, model, current_date, requests, input_tokens,
        rows, sent_chunks, reused_chunks, truncated_chunks)
    ON CONFLICT ON CONSTRAINT usage_pkey DO UPDATE SET
        requests = u.requests + excluded.requests,
        input_tokens = u.input_tokens + excluded.input_tokens,
        rows = u.rows + excluded.rows,
        sent_chunks = u.sent_chunks + excluded.sent_chunks,
        reused_chunks = u.reused_chunks + excluded.reused_chunks,
        truncated_chunks = u.truncated_chunks + excluded.truncated_chunks
    $$;
COMMENT ON FUNCTION ai._worker_usage(int4, text, bigint, bigint, bigint, bigint, bigint, bigint) IS
    'adds to the usage of a vectorizer''s model';

-- The statements themselves are in src/worker/statements.
CREATE OR REPLACE FUNCTION ai._worker_statements(vectorizer_id int4) RETURNS text[]
    LANGUAGE c STRICT
    AS 'MODULE_PATHNAME', 'ai_worker_statements';
COMMENT ON FUNCTION ai._worker_statements(int4) IS
    'all statements that workers run for a vectorizer, for those who look at their plans or check them';

REVOKE ALL ON FUNCTION ai._worker_usage(int4, text, bigint, bigint, bigint, bigint, bigint, bigint),
    ai._worker_statements(int4) FROM PUBLIC;
-- The rows of a vectorizer as jobs: in which state each is, and a way back for those given up.
--
--   pending    changed, and no worker has it            running  with a worker
--   retryable  waits until it is tried again            failed   given up
--
-- A row that is up to date is no job any more. A row that changed while it was in one of the other
-- states is still in that one, but for a failed one: it is pending again.

CREATE OR REPLACE FUNCTION ai._jobs_of(v ai.vectorizer) RETURNS text
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT format(
        'SELECT %1$s AS key, CASE WHEN w.lease IS NOT NULL THEN ''running'' '
        'WHEN w.retry_at > now() THEN ''retryable'' ELSE ''pending'' END AS status, w.attempts, '
        'w.queued_at AS queued, CASE WHEN w.lease IS NULL THEN w.retry_at END AS next_retry, '
        'w.lease AS worker, w.error AS last_error FROM %2$s w '
        'UNION ALL SELECT %3$s, ''pending'', 0, min(q.queued_at), NULL, NULL, NULL FROM %4$s q '
        'WHERE NOT EXISTS (SELECT FROM %2$s w WHERE %5$s) GROUP BY %6$s '
        'UNION ALL SELECT %7$s, ''failed'', f.attempts, f.failed_at, NULL, NULL, f.error '
        'FROM %8$s f WHERE NOT EXISTS (SELECT FROM %2$s w WHERE %9$s) '
        'AND NOT EXISTS (SELECT FROM %4$s q WHERE %10$s)',
        ai._key_as_jsonb(v, 'w'), ai._qualified_name(v.work), ai._key_as_jsonb(v, 'q'),
        ai._qualified_name(v.queue), ai._key_list(v.source_pk, 'w.%2$s %4$s q.%2$s', ' AND '),
        ai._key_list(v.source_pk, 'q.%2$s'), ai._key_as_jsonb(v, 'f'),
        ai._qualified_name(v.failed), ai._key_list(v.source_pk, 'w.%2$s %4$s f.%2$s', ' AND '),
        ai._key_list(v.source_pk, 'q.%2$s %4$s f.%2$s', ' AND '))
    $$;
COMMENT ON FUNCTION ai._jobs_of(ai.vectorizer) IS 'query for the jobs of a vectorizer';

CREATE OR REPLACE FUNCTION ai._jobs(caller oid, vectorizer_id int4, OUT key jsonb, OUT status text,
        OUT attempts int4, OUT queued timestamptz, OUT next_retry timestamptz, OUT worker uuid,
        OUT last_error text) RETURNS SETOF record
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    v ai.vectorizer := ai._vectorizer_get(vectorizer_id);
BEGIN
    PERFORM ai._vectorizer_require_readable(caller, v);
    PERFORM ai._vectorizer_flush_pending();
    RETURN QUERY EXECUTE ai._jobs_of(v);
END
$$;
COMMENT ON FUNCTION ai._jobs(oid, int4) IS 'what ai.jobs does, for the role that called it';

CREATE OR REPLACE FUNCTION ai._jobs(caller oid, name text, OUT key jsonb, OUT status text, OUT attempts int4,
        OUT queued timestamptz, OUT next_retry timestamptz, OUT worker uuid, OUT last_error text)
    RETURNS SETOF record
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    RETURN QUERY SELECT * FROM ai._jobs(caller, (ai._vectorizer_get(name)).id);
END
$$;
COMMENT ON FUNCTION ai._jobs(oid, text) IS 'what ai.jobs does, for the role that called it';

CREATE OR REPLACE FUNCTION ai.jobs(vectorizer_id int4, OUT key jsonb, OUT status text, OUT attempts int4,
        OUT queued timestamptz, OUT next_retry timestamptz, OUT worker uuid, OUT last_error text)
    RETURNS SETOF record
    LANGUAGE c VOLATILE
    AS 'MODULE_PATHNAME', 'ai_call_as_owner';
COMMENT ON FUNCTION ai.jobs(int4) IS
    'rows of a vectorizer that are not up to date: pending, running, retryable or failed. For a '
    'failed one, queued is when it was given up';

CREATE OR REPLACE FUNCTION ai.jobs(name text, OUT key jsonb, OUT status text, OUT attempts int4,
        OUT queued timestamptz, OUT next_retry timestamptz, OUT worker uuid, OUT last_error text)
    RETURNS SETOF record
    LANGUAGE c VOLATILE
    AS 'MODULE_PATHNAME', 'ai_call_as_owner';
COMMENT ON FUNCTION ai.jobs(text) IS
    'rows of a vectorizer that are not up to date: pending, running, retryable or failed. For a '
    'failed one, queued is when it was given up';

-- Numbers tell nothing of what is in a table, so whoever may see how far it is may see them.
CREATE OR REPLACE FUNCTION ai._job_counts(caller oid, vectorizer_id int4, OUT pending bigint,
        OUT running bigint, OUT retryable bigint, OUT failed bigint) RETURNS SETOF record
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    v ai.vectorizer := ai._vectorizer_get(vectorizer_id);
BEGIN
    PERFORM ai._vectorizer_require_visible(caller, v);
    IF NOT ai._vectorizer_has_queue(v) THEN
        RETURN;
    END IF;
    PERFORM ai._vectorizer_flush_pending();
    RETURN QUERY EXECUTE format(
        'SELECT count(*) FILTER (WHERE j.status = ''pending''), '
        'count(*) FILTER (WHERE j.status = ''running''), '
        'count(*) FILTER (WHERE j.status = ''retryable''), '
        'count(*) FILTER (WHERE j.status = ''failed'') FROM (%s) j', ai._jobs_of(v));
EXCEPTION WHEN ambiguous_function THEN
    -- As in ai._vectorizer_count.
    RETURN QUERY SELECT ai._vectorizer_count_exactly(v), 0::bigint, 0::bigint, 0::bigint;
END
$$;
COMMENT ON FUNCTION ai._job_counts(oid, int4) IS
    'what ai.job_counts does, for the role that called it';

CREATE OR REPLACE FUNCTION ai.job_counts(vectorizer_id int4, OUT pending bigint, OUT running bigint,
        OUT retryable bigint, OUT failed bigint) RETURNS SETOF record
    LANGUAGE c VOLATILE ROWS 1
    AS 'MODULE_PATHNAME', 'ai_call_as_owner';
COMMENT ON FUNCTION ai.job_counts(int4) IS 'how many jobs of a vectorizer are in each state';

CREATE OR REPLACE FUNCTION ai._retry_failed(caller oid, vectorizer_id int4, key jsonb) RETURNS bigint
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    v ai.vectorizer := ai._vectorizer_get(vectorizer_id);
    columns text := ai._key_list(v.source_pk, '%2$s');
    rows bigint;
BEGIN
    PERFORM ai._vectorizer_require_owner(caller, v, 'retry the failed rows of');
    EXECUTE format(
        'WITH gone AS (DELETE FROM %s f WHERE $1 IS NULL OR %s = $1 RETURNING %s) '
        'INSERT INTO %s (%s) SELECT %s FROM gone', ai._qualified_name(v.failed),
        ai._key_as_jsonb(v, 'f'), ai._key_list(v.source_pk, 'f.%2$s'),
        ai._qualified_name(v.queue), columns, columns) USING key;
    GET DIAGNOSTICS rows = ROW_COUNT;
    PERFORM ai._vectorizer_notify(v.queue);
    RETURN rows;
END
$$;
COMMENT ON FUNCTION ai._retry_failed(oid, int4, jsonb) IS
    'what ai.retry_failed does, for the role that called it';

CREATE OR REPLACE FUNCTION ai._retry_failed(caller oid, name text, key jsonb) RETURNS bigint
    LANGUAGE sql
    SET search_path = pg_catalog, pg_temp
    AS $$SELECT ai._retry_failed(caller, (ai._vectorizer_get(name)).id, key)$$;
COMMENT ON FUNCTION ai._retry_failed(oid, text, jsonb) IS
    'what ai.retry_failed does, for the role that called it';

CREATE OR REPLACE FUNCTION ai.retry_failed(vectorizer_id int4, key jsonb DEFAULT NULL) RETURNS bigint
    LANGUAGE c VOLATILE
    AS 'MODULE_PATHNAME', 'ai_call_as_owner';
COMMENT ON FUNCTION ai.retry_failed(int4, jsonb) IS
    'queues rows again that were given up, all of them or the one with this key as ai.jobs shows '
    'it; returns how many';

CREATE OR REPLACE FUNCTION ai.retry_failed(name text, key jsonb DEFAULT NULL) RETURNS bigint
    LANGUAGE c VOLATILE
    AS 'MODULE_PATHNAME', 'ai_call_as_owner';
COMMENT ON FUNCTION ai.retry_failed(text, jsonb) IS
    'queues rows again that were given up, all of them or the one with this key as ai.jobs shows '
    'it; returns how many';

-- Called through the functions of the same names without the underscore, by nobody else.
REVOKE ALL ON FUNCTION ai._jobs_of(ai.vectorizer), ai._jobs(oid, int4), ai._jobs(oid, text),
    ai._job_counts(oid, int4), ai._retry_failed(oid, int4, jsonb),
    ai._retry_failed(oid, text, jsonb) FROM PUBLIC;
-- See functions/jobs.sql.

CREATE OR REPLACE VIEW ai.job_counts WITH (security_barrier) AS
    SELECT v.id, v.name, c.pending, c.running, c.retryable, c.failed
    FROM ai.vectorizer v CROSS JOIN LATERAL ai.job_counts(v.id) c
    WHERE ai._vectorizer_visible(current_user, v.source, v.target);
COMMENT ON VIEW ai.job_counts IS
    'how many jobs are in each state, for the vectorizers of the tables that one may read';
GRANT SELECT ON ai.job_counts TO PUBLIC;
-- Vector indexes: which one a vectorizer is to have, whether it is there, and when to make it. The
-- coordinator asks, an index builder makes it; see src/worker/upkeep/index_keeper.hpp.

-- As the catalog shows the key of an index, so that one that a user has made is recognised. A target
-- may have become one of halfvec, for which the operator classes have other names.
CREATE OR REPLACE FUNCTION ai._index_key(relation regclass, column_name name, INOUT opclass text,
        OUT key text)
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    dimensions int4;
    type_name name;
    vector_schema name := (SELECT n.nspname FROM pg_extension e
        JOIN pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'vector');
BEGIN
    SELECT a.atttypmod, t.typname INTO dimensions, type_name
    FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid
    WHERE a.attrelid = relation AND a.attname = column_name AND NOT a.attisdropped;
    IF type_name = 'halfvec' THEN
        opclass := regexp_replace(opclass, '^vector_', 'halfvec_');
    END IF;
    key := CASE
        WHEN opclass LIKE 'bit_%' THEN
            format('((%I.binary_quantize(%I))::bit(%s))', vector_schema, column_name, dimensions)
        WHEN opclass LIKE 'halfvec_%' AND type_name <> 'halfvec' THEN
            format('((%I)::%I.halfvec(%s))', column_name, vector_schema, dimensions)
        ELSE quote_ident(column_name) END;
END
$$;
COMMENT ON FUNCTION ai._index_key(regclass, name, text) IS
    'what an index with an operator class of pgvector has as its key for a column of embeddings, '
    'and the operator class that fits the type of the column';

CREATE OR REPLACE FUNCTION ai._has_vector_index(relation regclass, key text, opclass text) RETURNS boolean
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT EXISTS (
        SELECT FROM pg_index i
        JOIN pg_class c ON c.oid = i.indexrelid
        JOIN pg_am m ON m.oid = c.relam AND m.amname = 'hnsw'
        JOIN pg_opclass o ON o.oid = i.indclass[0] AND o.opcname = opclass
        WHERE i.indrelid = relation AND i.indisvalid AND i.indpred IS NULL
          AND pg_get_indexdef(i.indexrelid, 1, false) = key)
    $$;
COMMENT ON FUNCTION ai._has_vector_index(regclass, text, text) IS
    'whether a table has a complete hnsw index with a key and an operator class';

CREATE OR REPLACE FUNCTION ai._leaf_tables(relation regclass) RETURNS SETOF regclass
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT relation FROM pg_class c WHERE c.oid = relation AND c.relkind = 'r'
    UNION
    SELECT p.relid FROM pg_partition_tree(relation) p JOIN pg_class c ON c.oid = p.relid
    WHERE c.relkind = 'r'
    $$;
COMMENT ON FUNCTION ai._leaf_tables(regclass) IS
    'a table, or the tables among the partitions of a partitioned one';

-- Indexes of partitions are made one by one: only so nobody has to wait for them. One that is not
-- valid and has our name is what is left of a build that was broken off.
CREATE OR REPLACE FUNCTION ai._vectorizer_indexes(v ai.vectorizer, OUT relation regclass, OUT index_name name,
        OUT key text, OUT opclass text, OUT present boolean, OUT leftover regclass)
    RETURNS SETOF record
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT c.oid, n.index_name, k.key, k.opclass, ai._has_vector_index(c.oid, k.key, k.opclass),
        (SELECT i.indexrelid FROM pg_index i JOIN pg_class x ON x.oid = i.indexrelid
         WHERE i.indrelid = c.oid AND NOT i.indisvalid
           AND x.relname ~ format('_%s_(vector|halfvec|bit)_[a-z0-9]+_ops$', v.id) LIMIT 1)
    FROM (SELECT coalesce(v.target, v.source) AS root,
              coalesce(v.config #>> '{destination,embedding_column}', 'embedding')::name AS col) t
    CROSS JOIN ai._leaf_tables(t.root) leaf
    JOIN pg_class c ON c.oid = leaf
    CROSS JOIN LATERAL ai._index_key(c.oid, t.col,
        coalesce(v.config #>> '{indexing,opclass}', 'vector_cosine_ops')) k
    CROSS JOIN LATERAL ai._clipped_name(c.relname, format('_%s_%s', v.id, k.opclass)) n (index_name)
    WHERE v.config #>> '{indexing,implementation}' = 'hnsw'
    $$;
COMMENT ON FUNCTION ai._vectorizer_indexes(ai.vectorizer) IS
    'vector indexes that a vectorizer is to have, one for each table or partition';

-- What the statistics tell of tables that were never looked at is nothing, and not that there is none.
CREATE OR REPLACE FUNCTION ai._may_have_rows(relation regclass, rows int4) RETURNS boolean
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT bool_or(e.estimate IS NULL) OR sum(e.estimate) >= 0.9 * rows
    FROM ai._leaf_tables(relation) leaf JOIN pg_class c ON c.oid = leaf
    CROSS JOIN LATERAL (SELECT CASE
        WHEN c.reltuples >= 0 OR pg_stat_get_live_tuples(c.oid) > 0
        THEN greatest(c.reltuples, pg_stat_get_live_tuples(c.oid)) END) e (estimate)
    $$;
COMMENT ON FUNCTION ai._may_have_rows(regclass, int4) IS
    'whether a table may have a number of rows, by a cheap estimate';

-- Rows that wait for another attempt are not waited for. Whoever has locked the queue is about to
-- change something, so it is looked at later.
CREATE OR REPLACE FUNCTION ai._vectorizer_is_idle(v ai.vectorizer) RETURNS boolean
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    result boolean;
BEGIN
    EXECUTE format('LOCK TABLE %s, %s IN ACCESS SHARE MODE NOWAIT',
                   ai._qualified_name(v.queue), ai._qualified_name(v.work));
    EXECUTE format('SELECT NOT EXISTS (SELECT FROM %s) AND NOT EXISTS (SELECT FROM %s w '
                   'WHERE w.lease IS NOT NULL '
                   'OR w.retry_at OPERATOR(pg_catalog.<=) pg_catalog.now())',
                   ai._qualified_name(v.queue), ai._qualified_name(v.work)) INTO result;
    RETURN result;
EXCEPTION WHEN lock_not_available OR undefined_table THEN
    RETURN false;
END
$$;
COMMENT ON FUNCTION ai._vectorizer_is_idle(ai.vectorizer) IS
    'whether a vectorizer has nothing to do at the moment';

CREATE OR REPLACE FUNCTION ai._missing_indexes(OUT id int4, OUT configuration text) RETURNS SETOF record
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    rows_of_a_page CONSTANT bigint := 300;  -- no more fit into one
    v ai.vectorizer;
    missing boolean;
    leftover boolean;
BEGIN
    FOR v IN
        SELECT x.* FROM ai.vectorizer x JOIN pg_class c ON c.oid = coalesce(x.target, x.source)
        WHERE x.config #>> '{indexing,implementation}' = 'hnsw' AND NOT x.disabled AND NOT x.restoring
          AND (c.relkind = 'p' OR ai._pages(c.oid) * rows_of_a_page >= coalesce(
                   (x.config #>> '{indexing,min_rows}')::int4, 100000)
               OR EXISTS (SELECT FROM pg_index i WHERE i.indrelid = c.oid AND NOT i.indisvalid))
        ORDER BY x.id
    LOOP
        SELECT bool_or(NOT i.present), bool_or(i.leftover IS NOT NULL) INTO missing, leftover
        FROM ai._vectorizer_indexes(v) i;
        IF leftover OR missing
           AND ai._may_have_rows(coalesce(v.target, v.source),
                                 coalesce((v.config #>> '{indexing,min_rows}')::int4, 100000))
           AND (NOT coalesce((v.config #>> '{indexing,create_when_queue_empty}')::boolean, true)
                OR ai._vectorizer_is_idle(v)) THEN
            id := v.id;
            configuration := v.config ->> 'indexing';
            RETURN NEXT;
        END IF;
    END LOOP;
END
$$;
COMMENT ON FUNCTION ai._missing_indexes() IS
    'vectorizers that lack a vector index, and have perhaps rows enough for it';

-- As the owner of the source, since counting plans a query on that role's table.
CREATE OR REPLACE FUNCTION ai._vectorizer_has_rows(v ai.vectorizer, rows int4) RETURNS boolean
    LANGUAGE sql
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT ai._run_as(ai._vectorizer_owner(v), format(
        'SELECT FROM (SELECT pg_catalog.count(*) FROM (SELECT FROM %s WHERE %I IS NOT NULL '
        'LIMIT %s) r) c (n) WHERE n OPERATOR(pg_catalog.>=) %3$s',
        ai._qualified_name(coalesce(v.target, v.source)),
        coalesce(v.config #>> '{destination,embedding_column}', 'embedding'), rows)) > 0
    $$;
COMMENT ON FUNCTION ai._vectorizer_has_rows(ai.vectorizer, int4) IS
    'whether a vectorizer has made a number of embeddings';

-- Who may not create in the schema has the index made for it, as its table was; an index belongs to
-- the owner of the table in any case, and expressions in it run as that role.
CREATE OR REPLACE FUNCTION ai._next_index_step(vectorizer_id int4, OUT role oid, OUT statement text)
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    v ai.vectorizer;
    i record;
    indexing jsonb;
    options text;
BEGIN
    SELECT * INTO v FROM ai.vectorizer x WHERE x.id = vectorizer_id;
    indexing := v.config -> 'indexing';
    options := concat_ws(', ', 'm = ' || (indexing ->> 'm'),
                         'ef_construction = ' || (indexing ->> 'ef_construction'));
    SELECT x.*, c.relnamespace INTO i FROM ai._vectorizer_indexes(v) x
    JOIN pg_class c ON c.oid = x.relation
    WHERE x.leftover IS NOT NULL OR NOT x.present
    ORDER BY x.leftover IS NULL, x.relation LIMIT 1;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    role := ai._vectorizer_owner(v);
    IF NOT has_schema_privilege(role, i.relnamespace, 'CREATE') THEN
        role := (SELECT e.extowner FROM pg_extension e WHERE e.extname = 'ai');
    END IF;
    IF i.leftover IS NOT NULL THEN
        statement := 'DROP INDEX CONCURRENTLY ' || ai._qualified_name(i.leftover);
    ELSIF ai._vectorizer_has_rows(v, coalesce((indexing ->> 'min_rows')::int4, 100000)) THEN
        statement := format('CREATE INDEX CONCURRENTLY %I ON ONLY %s USING hnsw (%s %I.%I)%s',
            i.index_name, ai._qualified_name(i.relation), i.key,
            (SELECT n.nspname FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace
             WHERE e.extname = 'vector'), i.opclass,
            CASE WHEN options <> '' THEN ' WITH (' || options || ')' ELSE '' END);
    END IF;
END
$$;
COMMENT ON FUNCTION ai._next_index_step(int4) IS
    'the next statement on the way to the indexes of a vectorizer, and the role that runs it';

CREATE OR REPLACE FUNCTION ai._record_index_error(vectorizer_id int4, message text) RETURNS void
    LANGUAGE sql
    SET search_path = pg_catalog, pg_temp
    AS $$
    INSERT INTO ai._vectorizer_errors (id, message, details)
    SELECT v.id, message, '{"step": "indexing", "class": "transient"}'
    FROM ai.vectorizer v WHERE v.id = vectorizer_id
    $$;
COMMENT ON FUNCTION ai._record_index_error(int4, text) IS
    'notes why an index of a vectorizer could not be made';

CREATE OR REPLACE FUNCTION ai._holds_up_others(pid int4) RETURNS boolean
    LANGUAGE sql
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT EXISTS (SELECT FROM pg_stat_get_activity(NULL) a WHERE CASE
        WHEN a.wait_event_type = 'Lock' THEN _holds_up_others.pid = ANY (pg_blocking_pids(a.pid)) END)
    $$;
COMMENT ON FUNCTION ai._holds_up_others(int4) IS
    'whether somebody waits for a lock of a process';

REVOKE ALL ON FUNCTION ai._vectorizer_is_idle(ai.vectorizer), ai._missing_indexes(),
    ai._vectorizer_has_rows(ai.vectorizer, int4), ai._next_index_step(int4),
    ai._record_index_error(int4, text), ai._holds_up_others(int4) FROM PUBLIC;
-- Waiting for a vectorizer: ai.execute_vectorizer returns when what was queued is done.

-- Done is what was written, given up, or waits for another attempt. Entries tell when the transaction
-- that made them began, so some that come after the call are waited for, too, and none is missed.
-- STABLE: it sees the snapshot of its caller, who takes a new one for each look.
CREATE OR REPLACE FUNCTION ai._vectorizer_progress(caller oid, vectorizer_id int4, since timestamptz,
        OUT name text, OUT state text, OUT unfinished boolean, OUT retryable bigint,
        OUT failed bigint, OUT trouble text)
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    v ai.vectorizer := ai._vectorizer_get(vectorizer_id);
BEGIN
    PERFORM ai._vectorizer_require_owner(caller, v, 'execute');
    name := v.name;
    state := CASE WHEN v.disabled OR v.restoring THEN 'disabled'
        WHEN ai._pause_left('*', v.id) IS NOT NULL THEN 'paused' ELSE 'enabled' END;
    EXECUTE format(
        'SELECT EXISTS (SELECT FROM %1$s q WHERE q.queued_at <= $1) OR EXISTS (SELECT FROM %2$s w '
        'WHERE w.queued_at <= $1 AND (w.lease IS NOT NULL OR w.retry_at <= clock_timestamp())), '
        '(SELECT count(*) FROM %2$s w WHERE w.queued_at <= $1), '
        '(SELECT count(*) FROM %3$s f WHERE f.failed_at >= $1)',
        ai._qualified_name(v.queue), ai._qualified_name(v.work), ai._qualified_name(v.failed))
    INTO unfinished, retryable, failed USING since;
    -- An error is told once: of one that is older, and that nothing went well after, it shows in a
    -- while whether it still holds.
    SELECT e.message INTO trouble
    FROM ai._vectorizer_errors e LEFT JOIN ai.vectorizer_worker_progress p ON p.vectorizer_id = e.id
    WHERE e.id = v.id AND NOT e.details ? 'key'
      AND (e.recorded >= since OR (e.recorded <= p.last_success_at) IS NOT TRUE
                                  AND clock_timestamp() > since + interval '3 seconds')
    ORDER BY e.recorded DESC LIMIT 1;
END
$$;
COMMENT ON FUNCTION ai._vectorizer_progress(oid, int4, timestamptz) IS
    'whether a vectorizer is enabled, disabled or paused, whether something that was queued before a '
    'time is still to be done, how many rows of it wait for another attempt, how many were given up '
    'since, and the latest trouble';
REVOKE ALL ON FUNCTION ai._vectorizer_progress(oid, int4, timestamptz) FROM PUBLIC;

CREATE OR REPLACE FUNCTION ai.execute_vectorizer(vectorizer_id int4) RETURNS void
    LANGUAGE c VOLATILE
    AS 'MODULE_PATHNAME', 'ai_execute_vectorizer_by_id';
COMMENT ON FUNCTION ai.execute_vectorizer(int4) IS
    'has a vectorizer work now, and waits until all rows that were queued before the call are done';

CREATE OR REPLACE FUNCTION ai.execute_vectorizer(vectorizer_name text) RETURNS void
    LANGUAGE c VOLATILE
    AS 'MODULE_PATHNAME', 'ai_execute_vectorizer_by_name';
COMMENT ON FUNCTION ai.execute_vectorizer(text) IS
    'has a vectorizer work now, and waits until all rows that were queued before the call are done';
-- See tables/embedding-jobs.sql.

-- The scale of a vectorizer's priority, which is 0 unless it says otherwise.
CREATE OR REPLACE FUNCTION ai._priority_number(priority ai.job_priority) RETURNS int4
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT CASE priority WHEN 'low' THEN -100 WHEN 'normal' THEN 0 WHEN 'high' THEN 100 ELSE 200 END
    $$;
COMMENT ON FUNCTION ai._priority_number(ai.job_priority) IS
    'a priority as a number that compares with the priorities of vectorizers';

CREATE OR REPLACE FUNCTION ai._new_job_id() RETURNS uuid
    LANGUAGE c VOLATILE PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'ai_new_job_id';
COMMENT ON FUNCTION ai._new_job_id() IS 'a new uuid of version 7: in the order of time, then random';

CREATE OR REPLACE FUNCTION ai._first_job_id(at timestamptz) RETURNS uuid
    LANGUAGE sql STABLE STRICT PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT (lpad(to_hex(floor(extract(epoch FROM t.at) * 1000)::bigint), 12, '0')
            || '00000000000000000000')::uuid
    FROM least(greatest(_first_job_id.at, 'epoch'), '9999-01-01') AS t (at)
    $$;
COMMENT ON FUNCTION ai._first_job_id(timestamptz) IS
    'uuid that comes before those of all jobs that were made from a time on; times before 1970 and after '
    '9998, which no job can have, are as good as these';

-- An expression without settings of its own, so that it becomes part of the statement that calls it;
-- its names are looked up here and now.
CREATE OR REPLACE FUNCTION ai._job_key(text_hash text, config_key uuid, created_by oid) RETURNS int8
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN pg_catalog.hashtextextended(text_hash,
        pg_catalog.uuid_hash_extended(config_key, created_by::pg_catalog.int8));
COMMENT ON FUNCTION ai._job_key(text, uuid, oid) IS
    'number by which equal texts of a role with one configuration are found; others may have it too';

CREATE OR REPLACE FUNCTION ai._embedding_job_tell(channel text, id uuid, status ai.job_status) RETURNS uuid
    LANGUAGE sql STRICT
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT pg_notify(channel, json_build_object('id', id, 'status', status)::text);
    SELECT id
    $$;
COMMENT ON FUNCTION ai._embedding_job_tell(text, uuid, ai.job_status) IS
    'tells those who listen on a channel that a job has ended, and returns its id; no channel, no word';
REVOKE ALL ON FUNCTION ai._embedding_job_tell(text, uuid, ai.job_status) FROM PUBLIC;
-- Embedding jobs: single texts that are embedded without a table of the user's own. A role sees its
-- own jobs, and makes and changes them through the functions of functions/embedding-job-api.sql; workers
-- claim them (src/worker/jobs/job_source.cpp).
--
--   pending --claim--> processing ---> completed
--      ^                   |  '------> failed ----> retried by a hand, or cancelled
--      |                   v
--      '--when due---- retrying            pending, processing, retrying, failed ---> cancelled

-- The primary key is in the order of time, too: so there is no index on created_at, which would cost
-- each change of a job.
--
-- INVARIANT: only the owner of the extension and workers write here. A job that is processing is
-- with the worker process worker_id; nobody else's writes count.
CREATE TABLE ai.embedding_jobs (
    id                   uuid PRIMARY KEY DEFAULT ai._new_job_id(),
    status               ai.job_status NOT NULL DEFAULT 'pending',
    priority             ai.job_priority NOT NULL DEFAULT 'normal',
    embedding_model      text NOT NULL,
    embedding_config     jsonb NOT NULL,
    config_key           uuid NOT NULL,
    input_text           text NOT NULL,
    text_hash            text COLLATE "C" NOT NULL,
    attempts             int4 NOT NULL DEFAULT 0,
    max_attempts         int4 NOT NULL DEFAULT 3,
    crashes              int2 NOT NULL DEFAULT 0,
    created_at           timestamptz NOT NULL DEFAULT now(),
    started_at           timestamptz,
    retry_at             timestamptz,
    completed_at         timestamptz,
    embedding_vector     vector,
    embedding_dimensions int4,
    embedded_at          timestamptz,
    reused_from          uuid,
    error_message        text,
    processing_time_ms   int4,
    worker_id            uuid,
    worker_version       text,
    metadata             jsonb,
    notify_channel       text,
    created_by           regrole NOT NULL,
    CONSTRAINT valid_attempts CHECK (attempts >= 0 AND attempts <= max_attempts),
    CONSTRAINT completed_jobs_have_embedding
        CHECK (status <> 'completed' OR embedding_vector IS NOT NULL),
    CONSTRAINT processing_jobs_have_worker CHECK (status <> 'processing' OR worker_id IS NOT NULL),
    CONSTRAINT retrying_jobs_have_time CHECK ((status = 'retrying') = (retry_at IS NOT NULL))
);
COMMENT ON TABLE ai.embedding_jobs IS
    'texts that are embedded, or have been; a role sees its own, pg_monitor all';
COMMENT ON COLUMN ai.embedding_jobs.config_key IS
    'hash of embedding_config: jobs of one role and one configuration go together into requests';
COMMENT ON COLUMN ai.embedding_jobs.text_hash IS 'half of the SHA-256 of input_text in UTF-8';
COMMENT ON COLUMN ai.embedding_jobs.attempts IS
    'how often a worker began with it, without the times it was released through no fault of it';
COMMENT ON COLUMN ai.embedding_jobs.crashes IS
    'how many processes died while they had it: it may be what kills them';
COMMENT ON COLUMN ai.embedding_jobs.retry_at IS 'when a job that is retrying becomes pending again';
COMMENT ON COLUMN ai.embedding_jobs.completed_at IS 'when it was completed, given up or cancelled';
COMMENT ON COLUMN ai.embedding_jobs.embedded_at IS
    'when the model made the vector, which is earlier than the job if that was reused';
COMMENT ON COLUMN ai.embedding_jobs.reused_from IS 'job whose vector this one has';
COMMENT ON COLUMN ai.embedding_jobs.error_message IS
    'the last error; null once it is completed';
COMMENT ON COLUMN ai.embedding_jobs.worker_id IS
    'process in ai.vectorizer_worker_process that has it, or had it last';
COMMENT ON COLUMN ai.embedding_jobs.notify_channel IS
    'channel of NOTIFY that is told when the job has ended';
COMMENT ON COLUMN ai.embedding_jobs.created_by IS 'role whose rights and keys it is done with';

-- What waits, in the order it is claimed: jobs of one role and configuration by priority and age.
CREATE INDEX embedding_jobs_pending ON ai.embedding_jobs
    (created_by, config_key, priority DESC, created_at) WHERE status = 'pending';
CREATE INDEX embedding_jobs_retrying ON ai.embedding_jobs
    (created_by, config_key, crashes, retry_at) WHERE status = 'retrying';
-- What workers have, and the same text that one has; then the same text that is done, the newest first.
-- By a number, not by hash, configuration and role: every job goes through both, and keys of 80 bytes
-- in no order cost more than all else that is written of it.
CREATE INDEX embedding_jobs_processing ON ai.embedding_jobs
    (ai._job_key(text_hash, config_key, created_by)) WHERE status = 'processing';
CREATE INDEX embedding_jobs_completed ON ai.embedding_jobs
    (ai._job_key(text_hash, config_key, created_by), embedded_at DESC) WHERE status = 'completed';
-- What is removed in time.
CREATE INDEX embedding_jobs_ended ON ai.embedding_jobs
    (completed_at) WHERE status IN ('completed', 'cancelled');

CREATE TABLE ai.embedding_job_failures (
    job_id          uuid PRIMARY KEY,
    embedding_model text NOT NULL,
    text_hash       text NOT NULL,
    step            text NOT NULL,
    class           text NOT NULL,
    error_message   text NOT NULL,
    attempts        int4 NOT NULL,
    worker_id       uuid,
    created_by      regrole NOT NULL,
    failed_at       timestamptz NOT NULL DEFAULT now()
);
COMMENT ON TABLE ai.embedding_job_failures IS
    'jobs that were given up, with what went wrong; ai.retry_embedding_job brings one back, '
    'ai.cancel_embedding_job forgets it';

CREATE TABLE ai.embedding_job_usage (
    created_by     regrole NOT NULL,
    model          text NOT NULL,
    day            date NOT NULL,
    requests       bigint NOT NULL DEFAULT 0,
    input_tokens   bigint NOT NULL DEFAULT 0,
    jobs           bigint NOT NULL DEFAULT 0,
    sent_texts     bigint NOT NULL DEFAULT 0,
    reused_jobs    bigint NOT NULL DEFAULT 0,
    truncated_texts bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (created_by, model, day)
);
COMMENT ON TABLE ai.embedding_job_usage IS
    'what jobs have asked of their models, by role and day: requests, tokens as the provider counted '
    'them, jobs that workers completed, texts sent, jobs that they gave the vector of another one, '
    'texts cut to fit; what was completed when it was made is not counted';
GRANT SELECT ON ai.embedding_jobs, ai.embedding_job_failures, ai.embedding_job_usage TO PUBLIC;

-- Without those of dropped roles, whose numbers others may get where the dump is restored.
SELECT pg_catalog.pg_extension_config_dump('ai.embedding_jobs',
    'WHERE EXISTS (SELECT FROM pg_catalog.pg_roles r WHERE r.oid = created_by)');
SELECT pg_catalog.pg_extension_config_dump('ai.embedding_job_failures',
    'WHERE EXISTS (SELECT FROM pg_catalog.pg_roles r WHERE r.oid = created_by)');
SELECT pg_catalog.pg_extension_config_dump('ai.embedding_job_usage',
    'WHERE EXISTS (SELECT FROM pg_catalog.pg_roles r WHERE r.oid = created_by)');
-- Vectorizers that cannot work: one error says why, and the others go on.

-- All workers meet the same trouble, and it is told once: again only when it is another one, or when
-- it comes back later, after a success. The row of progress is locked first, for workers that meet it
-- at the same moment. One that has met the open breaker may have told it before, with some words more.
CREATE OR REPLACE FUNCTION ai._record_error(vectorizer_id int4, message text, step text, class text,
        worker_id uuid, hint text) RETURNS text
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    v ai.vectorizer;
BEGIN
    SELECT x.* INTO v FROM ai.vectorizer x WHERE x.id = vectorizer_id;
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    PERFORM ai._worker_progress(worker_id, v.id, 0, message);
    INSERT INTO ai._vectorizer_errors (id, message, details, recorded)
    SELECT v.id, _record_error.message, jsonb_strip_nulls(jsonb_build_object(
        'step', _record_error.step, 'class', _record_error.class, 'hint', _record_error.hint)),
        clock_timestamp()
    FROM ai.vectorizer_worker_progress p
    LEFT JOIN LATERAL (
        SELECT e.message, e.details ->> 'step' AS step, e.recorded FROM ai._vectorizer_errors e
        WHERE e.id = v.id AND NOT e.details ? 'key' ORDER BY e.recorded DESC LIMIT 1) last ON true
    WHERE p.vectorizer_id = v.id
      AND (last.step IS DISTINCT FROM _record_error.step
           OR strpos(last.message, _record_error.message) = 0
           OR last.recorded < p.last_success_at
              AND last.recorded < clock_timestamp() - interval '1 minute');
    RETURN CASE WHEN FOUND THEN v.name END;
END
$$;
COMMENT ON FUNCTION ai._record_error(int4, text, text, text, uuid, text) IS
    'notes an error of a vectorizer as a whole; returns its name if the error was not known yet';

-- Once for each opening of a breaker, however many workers meet it and however often it is probed in
-- vain; and not where the error that opened it was recorded by itself. Nothing is returned, since
-- the log has a line for the provider already.
CREATE OR REPLACE FUNCTION ai._record_open_breaker(vectorizer_id int4, message text, class text, worker_id uuid,
        hint text, opened_at timestamptz) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM ai.vectorizer v WHERE v.id = vectorizer_id) THEN
        RETURN;
    END IF;
    PERFORM ai._worker_progress(worker_id, vectorizer_id, 0, message);
    INSERT INTO ai._vectorizer_errors (id, message, details, recorded)
    SELECT vectorizer_id, message, jsonb_build_object('step', 'embedding', 'class', class, 'hint', hint),
        clock_timestamp()
    WHERE NOT EXISTS (
        SELECT FROM ai._vectorizer_errors e
        WHERE e.id = vectorizer_id AND e.recorded >= opened_at AND e.details ->> 'step' = 'embedding'
          AND NOT e.details ? 'key');
END
$$;
COMMENT ON FUNCTION ai._record_open_breaker(int4, text, text, uuid, text, timestamptz) IS
    'notes that an open breaker keeps the requests of a vectorizer from going, once for each opening';

-- What is just dropped with its vectorizer is gone from both catalogs.
CREATE OR REPLACE FUNCTION ai._vectorizer_set_aside(vectorizer_id int4) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    v ai.vectorizer;
BEGIN
    SELECT x.* INTO v FROM ai.vectorizer x
    WHERE x.id = _vectorizer_set_aside.vectorizer_id AND NOT x.disabled
      AND NOT ai._vectorizer_has_queue(x)
    FOR NO KEY UPDATE SKIP LOCKED;
    IF FOUND THEN
        PERFORM ai._vectorizer_disable(v, 'the queue of the vectorizer, or a table that goes with '
            'it, was dropped; drop the vectorizer with ai.drop_vectorizer and create it again');
    END IF;
END
$$;
COMMENT ON FUNCTION ai._vectorizer_set_aside(int4) IS
    'disables a vectorizer whose queue was dropped in spite of all, and records why';

REVOKE ALL ON FUNCTION ai._record_error(int4, text, text, text, uuid, text),
    ai._record_open_breaker(int4, text, text, uuid, text, timestamptz),
    ai._vectorizer_set_aside(int4) FROM PUBLIC;
-- What users do with embedding jobs. Names of arguments are those of a JSON body, so that PostgREST
-- offers the functions as they are (doc/rest.md).

CREATE OR REPLACE FUNCTION ai._embedding_jobs_changing() RETURNS void
    LANGUAGE c VOLATILE
    AS 'MODULE_PATHNAME', 'ai_embedding_jobs_changing';
COMMENT ON FUNCTION ai._embedding_jobs_changing() IS
    'tells workers that this transaction locks jobs; its commit wakes those who wait for jobs';
REVOKE ALL ON FUNCTION ai._embedding_jobs_changing() FROM PUBLIC;

CREATE OR REPLACE FUNCTION ai._text_hash(input_text text) RETURNS text
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'ai_text_hash';
COMMENT ON FUNCTION ai._text_hash(text) IS
    'half of the SHA-256 of a text in UTF-8; raises an error if the text cannot be embedded';

CREATE OR REPLACE FUNCTION ai._embedding_job_check(input_texts text[], priority ai.job_priority,
        max_attempts int4, notify_channel text) RETURNS void
    LANGUAGE plpgsql IMMUTABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    IF input_texts IS NULL OR EXISTS (SELECT FROM unnest(input_texts) t WHERE t IS NULL) THEN
        RAISE EXCEPTION 'a text to embed must not be null'
            USING ERRCODE = 'null_value_not_allowed';
    END IF;
    IF priority IS NULL THEN
        RAISE EXCEPTION 'priority must not be null' USING ERRCODE = 'null_value_not_allowed';
    END IF;
    IF max_attempts IS NULL OR max_attempts NOT BETWEEN 1 AND 1000 THEN
        RAISE EXCEPTION 'max_attempts must be between 1 and 1000, not %',
            coalesce(max_attempts::text, 'null')
            USING ERRCODE = 'invalid_parameter_value';
    END IF;
    IF octet_length(notify_channel) NOT BETWEEN 1 AND 63 THEN
        RAISE EXCEPTION 'notify_channel must have 1 to 63 bytes'
            USING ERRCODE = 'invalid_parameter_value',
                  HINT = 'It is a channel of LISTEN; leave it out if nobody listens.';
    END IF;
END
$$;
COMMENT ON FUNCTION ai._embedding_job_check(text[], ai.job_priority, int4, text) IS
    'raises an error unless these can be the arguments of a new job';

CREATE OR REPLACE FUNCTION ai._oldest_reused() RETURNS timestamptz
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    ttl interval := current_setting('ai.cache_ttl');
BEGIN
    RETURN CASE WHEN ttl > '0' THEN now() - ttl WHEN ttl = '0' THEN 'infinity' ELSE '-infinity' END;
END
$$;
COMMENT ON FUNCTION ai._oldest_reused() IS 'vectors that are older than this are not used again';

-- A text that the same role had embedded with the same configuration has its vector at once. Not one
-- of another role: that would tell who has embedded what, and a configuration with a server of its own
-- could hand its vectors to others.
--
-- The plan is made once, perhaps while the table is empty: the lookup is by index, whatever the planner
-- thinks then. Nested loops keep the order of the texts, so no sort is needed for it.
CREATE OR REPLACE FUNCTION ai._create_embedding_job(caller oid, input_texts text[], embedding jsonb,
        priority ai.job_priority, max_attempts int4, metadata jsonb, notify_channel text)
    RETURNS SETOF uuid
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    SET jit = off
    SET enable_seqscan = off
    SET enable_bitmapscan = off
    SET enable_hashjoin = off
    SET enable_mergejoin = off
    AS $$
DECLARE
    config jsonb := ai._validate_embedding(ai._config_object(embedding));
    model text := config ->> 'model';
    key uuid := ai._text_hash(config::text);
    oldest timestamptz := ai._oldest_reused();
BEGIN
    PERFORM ai._embedding_job_check(input_texts, priority, max_attempts, notify_channel);
    PERFORM ai._check_priority(caller, ai._priority_number(priority), priority::text);
    RETURN QUERY
    INSERT INTO ai.embedding_jobs AS n (status, priority, embedding_model, embedding_config,
        config_key, input_text, text_hash, max_attempts, completed_at, embedding_vector,
        embedding_dimensions, embedded_at, reused_from, metadata, notify_channel, created_by)
    SELECT CASE WHEN d.id IS NULL THEN 'pending'::ai.job_status ELSE 'completed' END,
        _create_embedding_job.priority, model, config, key, t.input_text, t.hash,
        _create_embedding_job.max_attempts, CASE WHEN d.id IS NOT NULL THEN now() END,
        d.embedding_vector, d.embedding_dimensions, d.embedded_at, d.id,
        _create_embedding_job.metadata, _create_embedding_job.notify_channel, caller
    FROM (SELECT i.input_text, ai._text_hash(i.input_text) AS hash
          FROM unnest(input_texts) AS i (input_text) OFFSET 0) t
    LEFT JOIN LATERAL (
        SELECT j.id, j.embedding_vector, j.embedding_dimensions, j.embedded_at
        FROM ai.embedding_jobs j
        WHERE ai._job_key(j.text_hash, j.config_key, j.created_by) = ai._job_key(t.hash, key, caller)
          AND j.created_by = caller AND j.config_key = key AND j.text_hash = t.hash
          AND j.status = 'completed'
        ORDER BY j.embedded_at DESC LIMIT 1) d ON d.embedded_at > oldest
    RETURNING CASE WHEN n.status = 'completed' AND n.notify_channel IS NOT NULL
              THEN ai._embedding_job_tell(n.notify_channel, n.id, n.status) ELSE n.id END;
    PERFORM ai._embedding_jobs_notify();
END
$$;
COMMENT ON FUNCTION ai._create_embedding_job(oid, text[], jsonb, ai.job_priority, int4, jsonb,
                                             text) IS
    'what ai.create_embedding_job does with several texts, for the role that called it';

CREATE OR REPLACE FUNCTION ai._create_embedding_job(caller oid, input_text text, embedding jsonb,
        priority ai.job_priority, max_attempts int4, metadata jsonb, notify_channel text)
    RETURNS uuid
    LANGUAGE sql
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT ai._create_embedding_job(caller, ARRAY[input_text], embedding, priority, max_attempts,
                                    metadata, notify_channel)
    $$;
COMMENT ON FUNCTION ai._create_embedding_job(oid, text, jsonb, ai.job_priority, int4, jsonb, text) IS
    'what ai.create_embedding_job does, for the role that called it';

CREATE OR REPLACE FUNCTION ai.create_embedding_job(input_text text,
        embedding jsonb DEFAULT ai.embedding_ollama('nomic-embed-text', 768),
        priority ai.job_priority DEFAULT 'normal', max_attempts int4 DEFAULT 3,
        metadata jsonb DEFAULT NULL, notify_channel text DEFAULT NULL) RETURNS uuid
    LANGUAGE c VOLATILE
    AS 'MODULE_PATHNAME', 'ai_call_as_owner';
COMMENT ON FUNCTION ai.create_embedding_job(text, jsonb, ai.job_priority, int4, jsonb, text) IS
    'has a text embedded by a worker; returns the id of the job';

CREATE OR REPLACE FUNCTION ai.create_embedding_job(input_texts text[],
        embedding jsonb DEFAULT ai.embedding_ollama('nomic-embed-text', 768),
        priority ai.job_priority DEFAULT 'normal', max_attempts int4 DEFAULT 3,
        metadata jsonb DEFAULT NULL, notify_channel text DEFAULT NULL) RETURNS SETOF uuid
    LANGUAGE c VOLATILE
    AS 'MODULE_PATHNAME', 'ai_call_as_owner';
COMMENT ON FUNCTION ai.create_embedding_job(text[], jsonb, ai.job_priority, int4, jsonb, text) IS
    'has texts embedded by workers, a job each; returns the ids in the order of the texts';

CREATE OR REPLACE FUNCTION ai.embedding_job(id uuid) RETURNS SETOF ai.embedding_jobs
    LANGUAGE sql STABLE ROWS 1
    SET search_path = pg_catalog, pg_temp
    AS $$SELECT * FROM ai.embedding_jobs j WHERE j.id = embedding_job.id$$;
COMMENT ON FUNCTION ai.embedding_job(uuid) IS
    'the job of an id; no row if there is none that the caller may see';

-- One condition on the id, whatever is given: so a page far down the list is as near as the first.
CREATE OR REPLACE FUNCTION ai.list_embedding_jobs(status ai.job_status DEFAULT NULL,
        priority ai.job_priority DEFAULT NULL, max_rows int4 DEFAULT 100,
        before timestamptz DEFAULT NULL, before_id uuid DEFAULT NULL) RETURNS SETOF ai.embedding_jobs
    LANGUAGE sql STABLE ROWS 100
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT * FROM ai.embedding_jobs j
    WHERE (list_embedding_jobs.status IS NULL OR j.status = list_embedding_jobs.status)
      AND (list_embedding_jobs.priority IS NULL OR j.priority = list_embedding_jobs.priority)
      AND j.id < least(before_id, ai._first_job_id(before), 'ffffffff-ffff-ffff-ffff-ffffffffffff')
    ORDER BY j.id DESC
    LIMIT max_rows
    $$;
COMMENT ON FUNCTION ai.list_embedding_jobs(ai.job_status, ai.job_priority, int4, timestamptz, uuid) IS
    'jobs that the caller may see, the newest first: of a status, of a priority, made before a time, '
    'made before another job (the last one of the page before)';

-- Locked until the end of the transaction. Workers pass over jobs that are locked, so that neither
-- waits for the other for longer than a statement.
CREATE OR REPLACE FUNCTION ai._embedding_job_get(caller oid, job_id uuid, action text)
    RETURNS ai.embedding_jobs
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    job ai.embedding_jobs;
BEGIN
    PERFORM ai._embedding_jobs_changing();
    SELECT * INTO job FROM ai.embedding_jobs j WHERE j.id = job_id FOR UPDATE;
    IF FOUND AND pg_has_role(caller, job.created_by, 'USAGE') THEN
        RETURN job;
    END IF;
    IF FOUND AND pg_has_role(caller, 'pg_monitor', 'USAGE') THEN
        RAISE EXCEPTION 'permission denied to % embedding job "%"', action, job_id
            USING ERRCODE = 'insufficient_privilege',
                  HINT = format('It belongs to role "%s".', job.created_by);
    END IF;
    RAISE EXCEPTION 'embedding job "%" does not exist', coalesce(job_id::text, 'null')
        USING ERRCODE = 'undefined_object';
END
$$;
COMMENT ON FUNCTION ai._embedding_job_get(oid, uuid, text) IS
    'the job of an id, if the caller may change it; raises an error if not';

CREATE OR REPLACE FUNCTION ai._cancel_embedding_job(caller oid, id uuid) RETURNS boolean
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    job ai.embedding_jobs := ai._embedding_job_get(caller, id, 'cancel');
BEGIN
    IF job.status IN ('completed', 'cancelled') THEN
        RETURN false;
    END IF;
    UPDATE ai.embedding_jobs j SET status = 'cancelled', completed_at = now(), retry_at = NULL
    WHERE j.id = job.id;
    DELETE FROM ai.embedding_job_failures f WHERE f.job_id = job.id;
    PERFORM ai._embedding_job_tell(job.notify_channel, job.id, 'cancelled');
    RETURN true;
END
$$;
COMMENT ON FUNCTION ai._cancel_embedding_job(oid, uuid) IS
    'what ai.cancel_embedding_job does, for the role that called it';

CREATE OR REPLACE FUNCTION ai.cancel_embedding_job(id uuid) RETURNS boolean
    LANGUAGE c VOLATILE
    AS 'MODULE_PATHNAME', 'ai_call_as_owner';
COMMENT ON FUNCTION ai.cancel_embedding_job(uuid) IS
    'lets go of a job, also of one that was given up; false if it was completed or cancelled before. '
    'What a provider makes of it meanwhile is ignored';

CREATE OR REPLACE FUNCTION ai._retry_embedding_job(caller oid, id uuid) RETURNS boolean
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    job ai.embedding_jobs := ai._embedding_job_get(caller, id, 'retry');
BEGIN
    IF job.status NOT IN ('failed', 'cancelled') THEN
        RETURN false;
    END IF;
    UPDATE ai.embedding_jobs j
    SET status = 'pending', attempts = 0, crashes = 0, started_at = NULL, completed_at = NULL,
        processing_time_ms = NULL, error_message = NULL
    WHERE j.id = job.id;
    DELETE FROM ai.embedding_job_failures f WHERE f.job_id = job.id;
    PERFORM ai._embedding_jobs_notify();
    RETURN true;
END
$$;
COMMENT ON FUNCTION ai._retry_embedding_job(oid, uuid) IS
    'what ai.retry_embedding_job does, for the role that called it';

CREATE OR REPLACE FUNCTION ai.retry_embedding_job(id uuid) RETURNS boolean
    LANGUAGE c VOLATILE
    AS 'MODULE_PATHNAME', 'ai_call_as_owner';
COMMENT ON FUNCTION ai.retry_embedding_job(uuid) IS
    'begins anew with a job that was given up or cancelled; false if it is in another state';

CREATE OR REPLACE FUNCTION ai.wait_for_embedding_job(id uuid, timeout interval DEFAULT '30 seconds')
    RETURNS ai.embedding_jobs
    LANGUAGE c VOLATILE
    AS 'MODULE_PATHNAME', 'ai_wait_for_embedding_job';
COMMENT ON FUNCTION ai.wait_for_embedding_job(uuid, interval) IS
    'waits until a job is completed, given up or cancelled, or the time is over (null: for ever), and '
    'returns it as it is then, whatever the transaction sees';

-- Called through the functions of the same names without the underscore, by nobody else.
REVOKE ALL ON FUNCTION
    ai._create_embedding_job(oid, text[], jsonb, ai.job_priority, int4, jsonb, text),
    ai._create_embedding_job(oid, text, jsonb, ai.job_priority, int4, jsonb, text),
    ai._embedding_job_get(oid, uuid, text), ai._cancel_embedding_job(oid, uuid),
    ai._retry_embedding_job(oid, uuid)
FROM PUBLIC;
-- What the background processes do to jobs as a whole. Only they call these; what a worker does to
-- single jobs is in src/worker/job_statements.cpp.

-- What there is to do, one row for each role and configuration: a few steps through two indexes for
-- each, whatever the number of jobs. Jobs of roles that are gone stay where they are. PL/pgSQL keeps the
-- plan, which takes longer to make than to run.
CREATE OR REPLACE FUNCTION ai._poll_jobs(suspects boolean, OUT created_by oid, OUT config_key uuid,
        OUT priority int4, OUT retry_in_ms float8, OUT suspect_in_ms float8) RETURNS SETOF record
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    IF pg_relation_size('ai.embedding_jobs') = 0 THEN
        RETURN;  -- nobody uses jobs here
    END IF;
    RETURN QUERY
    WITH RECURSIVE pending AS (
        (SELECT j.created_by::oid, j.config_key, j.priority FROM ai.embedding_jobs j
         WHERE j.status = 'pending' ORDER BY j.created_by, j.config_key, j.priority DESC LIMIT 1)
        UNION ALL
        SELECT n.* FROM pending p CROSS JOIN LATERAL (
            SELECT j.created_by::oid, j.config_key, j.priority FROM ai.embedding_jobs j
            WHERE j.status = 'pending'
              AND (j.created_by::oid, j.config_key) > (p.created_by, p.config_key)
            ORDER BY j.created_by, j.config_key, j.priority DESC LIMIT 1) n
    ), retrying AS (
        (SELECT j.created_by::oid, j.config_key, j.retry_at FROM ai.embedding_jobs j
         WHERE j.status = 'retrying' AND j.crashes = 0
         ORDER BY j.created_by, j.config_key, j.crashes, j.retry_at LIMIT 1)
        UNION ALL
        SELECT n.* FROM retrying p CROSS JOIN LATERAL (
            SELECT j.created_by::oid, j.config_key, j.retry_at FROM ai.embedding_jobs j
            WHERE j.status = 'retrying' AND j.crashes = 0
              AND (j.created_by::oid, j.config_key) > (p.created_by, p.config_key)
            ORDER BY j.created_by, j.config_key, j.crashes, j.retry_at LIMIT 1) n
    )
    SELECT g.created_by, g.config_key, max(g.priority),
        (extract(epoch FROM min(g.retry_at) - now()) * 1000)::float8,
        (extract(epoch FROM min(g.suspect_at) - now()) * 1000)::float8
    FROM (SELECT p.created_by, p.config_key, ai._priority_number(p.priority) AS priority,
              NULL AS retry_at, NULL::timestamptz AS suspect_at FROM pending p
          UNION ALL
          SELECT r.created_by, r.config_key, NULL, r.retry_at, NULL FROM retrying r
          UNION ALL
          SELECT j.created_by::oid, j.config_key, NULL, NULL, j.retry_at FROM ai.embedding_jobs j
          WHERE suspects AND j.status = 'retrying' AND j.crashes > 0) g
    WHERE EXISTS (SELECT FROM pg_authid a WHERE a.oid = g.created_by)
    GROUP BY g.created_by, g.config_key;
END
$$;
COMMENT ON FUNCTION ai._poll_jobs(boolean) IS
    'roles and configurations that have jobs to do: the highest priority among them, null if none is '
    'pending, when the next one is to be tried again, and if asked when the next of those that a '
    'process has died with';

-- In PL/pgSQL for the plan again; each status has its index.
CREATE OR REPLACE FUNCTION ai._embedding_job_configs(role oid) RETURNS SETOF jsonb
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    RETURN QUERY
    SELECT c.config FROM ai._poll_jobs(true) g, LATERAL (
        SELECT j.embedding_config AS config FROM ai.embedding_jobs j
        WHERE j.created_by = g.created_by AND j.config_key = g.config_key AND j.status = 'pending'
        UNION ALL
        SELECT j.embedding_config FROM ai.embedding_jobs j
        WHERE j.created_by = g.created_by AND j.config_key = g.config_key AND j.status = 'retrying'
        LIMIT 1) c
    WHERE pg_has_role(role, g.created_by, 'USAGE');
END
$$;
COMMENT ON FUNCTION ai._embedding_job_configs(oid) IS
    'configurations of the jobs that wait, of a role and of those it is a member of';

-- The jobs of worker processes that are gone; dead are those that died by themselves. The attempt was
-- charged when it began. As rows of vectorizers (ai._vectorizer_reclaim), jobs that a process died with
-- come in small groups next time, and alone when that one dies too; one that was alone with a process
-- that died is to blame.
CREATE OR REPLACE FUNCTION ai._embedding_jobs_reclaim(live uuid[], lock_timeout interval,
        dead uuid[] DEFAULT '{}', OUT lease uuid, OUT released bigint, OUT dead_letters bigint)
    RETURNS SETOF record
    LANGUAGE sql
    SET search_path = pg_catalog, pg_temp
    AS $$
    WITH lost AS (
        SELECT j.id, j.crashes >= 2 AND j.worker_id = ANY (dead) AS is_to_blame,
            j.attempts >= j.max_attempts OR j.crashes >= 2 AND j.worker_id = ANY (dead) AS is_over
        FROM ai.embedding_jobs j
        WHERE j.status = 'processing' AND (j.worker_id <> ALL (live) OR EXISTS (
            SELECT FROM ai.vectorizer_worker_process p
            WHERE p.id = j.worker_id AND p.last_heartbeat < clock_timestamp() - lock_timeout))
        FOR UPDATE SKIP LOCKED
    ), ended AS (
        UPDATE ai.embedding_jobs j
        SET status = CASE WHEN l.is_over THEN 'failed'::ai.job_status ELSE 'retrying' END,
            completed_at = CASE WHEN l.is_over THEN now() END,
            retry_at = CASE WHEN NOT l.is_over THEN now() END,
            crashes = least(j.crashes + 1, 32767),
            error_message = CASE WHEN l.is_to_blame
                THEN 'worker processes end unexpectedly when they have it, the last one had nothing else'
                ELSE 'the worker process that had claimed it is gone' END
        FROM lost l WHERE j.id = l.id
        RETURNING j.*
    ), letters AS (
        INSERT INTO ai.embedding_job_failures
        SELECT e.id, e.embedding_model, e.text_hash, 'worker', 'reclaimed', e.error_message,
            e.attempts, e.worker_id, e.created_by, now()
        FROM ended e WHERE e.status = 'failed'
    ), told AS (
        SELECT count(ai._embedding_job_tell(e.notify_channel, e.id, e.status)) FROM ended e
        WHERE e.status = 'failed'
    )
    SELECT e.worker_id, count(*) FILTER (WHERE e.status = 'retrying'),
        count(*) FILTER (WHERE e.status = 'failed')
    FROM ended e, told GROUP BY e.worker_id
    $$;
COMMENT ON FUNCTION ai._embedding_jobs_reclaim(uuid[], interval, uuid[]) IS
    'releases the jobs of worker processes that are gone; a row for each of these processes';

-- A process died with jobs and nothing else. When jobs were to blame too often, the others that a process
-- has died with are left alone for a while; those that nothing is held against go on.
CREATE OR REPLACE FUNCTION ai._embedding_jobs_blame(most int4, span interval) RETURNS bigint
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    jobs bigint;
BEGIN
    IF most > (SELECT count(DISTINCT f.worker_id) FROM ai.embedding_job_failures f
               WHERE f.class = 'reclaimed' AND f.failed_at > now() - span) THEN
        RETURN 0;
    END IF;
    UPDATE ai.embedding_jobs j SET retry_at = now() + span
    WHERE j.id = ANY (ARRAY(
        SELECT s.id FROM ai.embedding_jobs s
        WHERE s.status = 'retrying' AND s.crashes > 0 AND s.retry_at <= now()
        FOR UPDATE SKIP LOCKED));
    GET DIAGNOSTICS jobs = ROW_COUNT;
    RETURN jobs;
END
$$;
COMMENT ON FUNCTION ai._embedding_jobs_blame(int4, interval) IS
    'sets jobs aside that a process has died with, if such jobs have ended so many of them within that '
    'time; returns how many';

-- Some at a time, so that nobody waits for it.
CREATE OR REPLACE FUNCTION ai._embedding_jobs_prune(retention interval, most int4) RETURNS bigint
    LANGUAGE sql
    SET search_path = pg_catalog, pg_temp
    AS $$
    WITH gone AS (
        DELETE FROM ai.embedding_jobs WHERE ctid = ANY (ARRAY(
            SELECT j.ctid FROM ai.embedding_jobs j
            WHERE j.status IN ('completed', 'cancelled') AND j.completed_at < now() - retention
            ORDER BY j.completed_at LIMIT most FOR UPDATE SKIP LOCKED))
        RETURNING 1)
    SELECT count(*) FROM gone
    $$;
COMMENT ON FUNCTION ai._embedding_jobs_prune(interval, int4) IS
    'removes jobs that were completed or cancelled longer ago than this; returns how many';

CREATE OR REPLACE FUNCTION ai._embedding_job_count(created_by oid, model text, jobs bigint, requests bigint,
        input_tokens bigint, sent_texts bigint, reused_jobs bigint, truncated_texts bigint)
    RETURNS void
    LANGUAGE sql
    SET search_path = pg_catalog, pg_temp
    AS $$
    INSERT INTO ai.embedding_job_usage AS u VALUES (created_by, model, current_date, requests,
        input_tokens, jobs, sent_texts, reused_jobs, truncated_texts)
    ON CONFLICT ON CONSTRAINT embedding_job_usage_pkey DO UPDATE SET
        requests = u.requests + excluded.requests,
        input_tokens = u.input_tokens + excluded.input_tokens,
        jobs = u.jobs + excluded.jobs,
        sent_texts = u.sent_texts + excluded.sent_texts,
        reused_jobs = u.reused_jobs + excluded.reused_jobs,
        truncated_texts = u.truncated_texts + excluded.truncated_texts
    $$;
COMMENT ON FUNCTION ai._embedding_job_count(oid, text, bigint, bigint, bigint, bigint, bigint,
                                            bigint) IS
    'adds to the usage of a role''s jobs';

REVOKE ALL ON FUNCTION ai._poll_jobs(boolean),
    ai._embedding_jobs_reclaim(uuid[], interval, uuid[]),
    ai._embedding_job_configs(oid), ai._embedding_jobs_blame(int4, interval),
    ai._embedding_jobs_prune(interval, int4),
    ai._embedding_job_count(oid, text, bigint, bigint, bigint, bigint, bigint, bigint) FROM PUBLIC;
-- Embedding jobs as numbers for Prometheus (sql/views/metrics.sql says how columns become metrics), and for
-- ai.health. Only what is to be done is counted, each status by its index: those that are done may be
-- millions, and are counted in ai.embedding_job_usage.

CREATE OR REPLACE VIEW ai.metrics_jobs AS
    SELECT current_database()::text AS database, p.priority::text AS priority,
        count(*) FILTER (WHERE j.status = 'pending') AS pending,
        count(*) FILTER (WHERE j.status = 'processing') AS processing,
        count(*) FILTER (WHERE j.status = 'retrying') AS retrying,
        count(*) FILTER (WHERE j.status = 'failed') AS failed,
        coalesce(extract(epoch FROM clock_timestamp()
                                    - min(j.created_at) FILTER (WHERE j.status <> 'failed')),
                 0)::float8 AS oldest_seconds
    FROM unnest(enum_range(NULL::ai.job_priority)) AS p (priority)
    LEFT JOIN (
        SELECT x.status, x.priority, x.created_at FROM ai.embedding_jobs x WHERE x.status = 'pending'
        UNION ALL
        SELECT x.status, x.priority, x.created_at FROM ai.embedding_jobs x
        WHERE x.status = 'processing'
        UNION ALL
        SELECT x.status, x.priority, x.created_at FROM ai.embedding_jobs x WHERE x.status = 'retrying'
        UNION ALL
        SELECT x.status, x.priority, x.created_at
        FROM ai.embedding_job_failures f JOIN ai.embedding_jobs x ON x.id = f.job_id
        WHERE x.status = 'failed') j ON j.priority = p.priority
    GROUP BY p.priority;
COMMENT ON VIEW ai.metrics_jobs IS 'metrics of embedding jobs that are not done';
COMMENT ON COLUMN ai.metrics_jobs.pending IS 'embedding jobs that no worker has';
COMMENT ON COLUMN ai.metrics_jobs.processing IS 'embedding jobs that are with a worker';
COMMENT ON COLUMN ai.metrics_jobs.retrying IS 'embedding jobs that wait until they are tried again';
COMMENT ON COLUMN ai.metrics_jobs.failed IS 'embedding jobs that were given up';
COMMENT ON COLUMN ai.metrics_jobs.oldest_seconds IS
    'age of the oldest embedding job that has not come to an end';

CREATE OR REPLACE VIEW ai.metrics_job_usage AS
    SELECT current_database()::text AS database, u.created_by::text AS role, u.model,
        sum(u.requests)::bigint AS requests_total, sum(u.input_tokens)::bigint AS input_tokens_total,
        sum(u.jobs)::bigint AS jobs_total, sum(u.sent_texts)::bigint AS sent_texts_total,
        sum(u.reused_jobs)::bigint AS reused_jobs_total,
        sum(u.truncated_texts)::bigint AS truncated_texts_total
    FROM ai.embedding_job_usage u
    GROUP BY u.created_by, u.model;
COMMENT ON VIEW ai.metrics_job_usage IS 'metrics of what embedding jobs ask of their models';
COMMENT ON COLUMN ai.metrics_job_usage.requests_total IS 'requests to the model';
COMMENT ON COLUMN ai.metrics_job_usage.input_tokens_total IS 'tokens, as the provider counted them';
COMMENT ON COLUMN ai.metrics_job_usage.jobs_total IS 'embedding jobs that were completed by workers';
COMMENT ON COLUMN ai.metrics_job_usage.sent_texts_total IS 'texts that were sent';
COMMENT ON COLUMN ai.metrics_job_usage.reused_jobs_total IS
    'embedding jobs that workers gave the vector of another one';
COMMENT ON COLUMN ai.metrics_job_usage.truncated_texts_total IS 'texts that were cut to fit';

GRANT SELECT ON ai.metrics_jobs, ai.metrics_job_usage TO pg_monitor;
-- How jobs are getting on: of those that one may see. The views read with the rights of who asks, so
-- row security holds in them.

CREATE OR REPLACE VIEW ai.embedding_job_health WITH (security_invoker) AS
    SELECT j.status, j.priority, count(*) AS count, avg(j.processing_time_ms) AS avg_time_ms,
        max(j.created_at) AS newest, min(j.created_at) AS oldest
    FROM ai.embedding_jobs j
    GROUP BY j.status, j.priority
    ORDER BY j.priority DESC, j.status;
COMMENT ON VIEW ai.embedding_job_health IS
    'embedding jobs by status and priority: how many, how long they took, the newest and the oldest';

CREATE OR REPLACE VIEW ai.embedding_worker_performance WITH (security_invoker) AS
    SELECT j.worker_id, count(*) FILTER (WHERE j.status = 'completed') AS jobs_completed,
        avg(j.processing_time_ms) AS avg_time,
        count(*) FILTER (WHERE j.status = 'failed') AS failures
    FROM ai.embedding_jobs j
    WHERE j.completed_at > now() - interval '24 hours' AND j.worker_id IS NOT NULL
      AND j.status IN ('completed', 'failed')
    GROUP BY j.worker_id;
COMMENT ON VIEW ai.embedding_worker_performance IS
    'embedding jobs that each worker process ended in the last 24 hours, and their average time in '
    'milliseconds';

GRANT SELECT ON ai.embedding_job_health, ai.embedding_worker_performance TO PUBLIC;
-- Which worker process has how many rows of which vectorizer, and whether it still lives. Embedding jobs
-- count as rows of something that has a name and no number.

CREATE OR REPLACE FUNCTION ai.__job_activity(caller oid, vectorizer_id int4, OUT status text,
        OUT locked_by uuid, OUT rows bigint, OUT oldest timestamptz, OUT last_error text)
    RETURNS SETOF record
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    v ai.vectorizer;
BEGIN
    SELECT * INTO v FROM ai.vectorizer x WHERE x.id = vectorizer_id;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    PERFORM ai._vectorizer_require_visible(caller, v);
    RETURN QUERY EXECUTE format(
        'SELECT CASE WHEN w.lease IS NOT NULL THEN ''running'' WHEN w.retry_at > now() THEN '
        '''retryable'' ELSE ''pending'' END, w.lease, count(*), min(w.queued_at), '
        '(array_agg(w.error ORDER BY w.taken_at DESC NULLS LAST) '
        'FILTER (WHERE w.error IS NOT NULL))[1] FROM %s w GROUP BY 1, 2',
        ai._qualified_name(v.work));
END
$$;
COMMENT ON FUNCTION ai.__job_activity(oid, int4) IS
    'what ai._job_activity does, for the role that called it';
REVOKE ALL ON FUNCTION ai.__job_activity(oid, int4) FROM PUBLIC;

CREATE OR REPLACE FUNCTION ai._job_activity(vectorizer_id int4, OUT status text, OUT locked_by uuid,
        OUT rows bigint, OUT oldest timestamptz, OUT last_error text) RETURNS SETOF record
    LANGUAGE c VOLATILE ROWS 10
    AS 'MODULE_PATHNAME', 'ai_call_as_owner';
COMMENT ON FUNCTION ai._job_activity(int4) IS
    'rows of a vectorizer that a worker has taken at least once, by state and process';
-- See functions/job-activity.sql.

CREATE OR REPLACE VIEW ai.job_activity WITH (security_barrier) AS
    SELECT a.id, a.name, a.status, a.locked_by, p.last_heartbeat AS heartbeat_at,
        clock_timestamp() - p.last_heartbeat AS time_since_heartbeat, a.rows, a.oldest, a.last_error
    FROM (
        SELECT v.id, v.name, w.* FROM ai.vectorizer v CROSS JOIN LATERAL ai._job_activity(v.id) w
        WHERE ai._vectorizer_visible(current_user, v.source, v.target)
        UNION ALL
        SELECT NULL, 'embedding jobs', 'running', j.worker_id, count(*), min(j.created_at),
            (array_agg(j.error_message ORDER BY j.started_at DESC)
             FILTER (WHERE j.error_message IS NOT NULL))[1]
        FROM ai.embedding_jobs j
        WHERE j.status = 'processing'
          AND (pg_has_role(j.created_by, 'USAGE') OR pg_has_role('pg_monitor', 'USAGE'))
        GROUP BY j.worker_id
        UNION ALL
        SELECT NULL, 'embedding jobs',
            CASE WHEN j.retry_at > now() THEN 'retryable' ELSE 'pending' END, NULL, count(*),
            min(j.created_at), (array_agg(j.error_message ORDER BY j.started_at DESC)
                                FILTER (WHERE j.error_message IS NOT NULL))[1]
        FROM ai.embedding_jobs j
        WHERE j.status = 'retrying'
          AND (pg_has_role(j.created_by, 'USAGE') OR pg_has_role('pg_monitor', 'USAGE'))
        GROUP BY 3) a
    LEFT JOIN ai.vectorizer_worker_process p ON p.id = a.locked_by;
COMMENT ON VIEW ai.job_activity IS
    'rows that are with worker processes, or that have been and are to be tried again: how many of '
    'each vectorizer and state each process has, and when it was last heard of; embedding jobs, too, '
    'which have no id';
GRANT SELECT ON ai.job_activity TO PUBLIC;

CREATE OR REPLACE VIEW ai.stuck_jobs WITH (security_barrier) AS
    SELECT a.* FROM ai.job_activity a
    WHERE a.status = 'running' AND (a.heartbeat_at IS NULL OR a.heartbeat_at < clock_timestamp()
        - coalesce(current_setting('ai.job_lock_timeout', true), '300s')::interval);
COMMENT ON VIEW ai.stuck_jobs IS
    'rows with a process that has not been heard of for ai.job_lock_timeout; the coordinator gives '
    'them back within a minute';
GRANT SELECT ON ai.stuck_jobs TO PUBLIC;
-- The health of workers: a row for each component, written by the component itself and by the
-- coordinator that looks after it.
--
--              .-------------------- restarted --------------------.
--              v                                                   |
--   (no row) -> starting -> healthy -> stopping -> (no row)        |
--                  |           |          |                        |
--                  '-----------+----------+----------> crashed ----+
--                                                        ^         |
--                                     ai.restart_worker  '- failed <' too often
--
-- A worker that ends in order takes its row with it, so there are as many rows as there are workers
-- wanted, and the coordinator's. The rows of components that are not wanted any more are removed.
-- This is what is so now, not what somebody decided: it is in no dump.

-- Rows are rewritten every few seconds: half of each page is left for that.
CREATE TABLE ai.worker (
    component     text PRIMARY KEY
                  CHECK (component ~ '^(coordinator|worker:[a-z][a-z0-9_]*:[0-9]{1,9})$'),
    last_seen     timestamptz NOT NULL DEFAULT clock_timestamp(),
    status        text NOT NULL
                  CHECK (status IN ('starting', 'healthy', 'stopping', 'crashed', 'failed')),
    pid           int4,
    current_job   text,
    details       jsonb NOT NULL DEFAULT '{}' CHECK (jsonb_typeof(details) = 'object'),
    restart_count int4 NOT NULL DEFAULT 0 CHECK (restart_count >= 0),
    last_restart  timestamptz,
    created_at    timestamptz NOT NULL DEFAULT clock_timestamp()
) WITH (fillfactor = 50);
COMMENT ON TABLE ai.worker IS 'workers of this database and their coordinator, with their health';
COMMENT ON COLUMN ai.worker.component IS
    'coordinator, or worker:<kind>:<number>; those of the kind vectorizer are run by this server';
COMMENT ON COLUMN ai.worker.last_seen IS 'last heartbeat';
COMMENT ON COLUMN ai.worker.status IS 'starting, healthy, stopping, crashed or failed';
COMMENT ON COLUMN ai.worker.pid IS 'its process, as long as there is one';
COMMENT ON COLUMN ai.worker.current_job IS
    'what it had most of at its last heartbeat, such as vectorizer/7, or embedding jobs; null if it was '
    'idle';
COMMENT ON COLUMN ai.worker.details IS
    'queue_type, paused, process (its id in ai.vectorizer_worker_process), rows and requests in '
    'hand, error_message (why it crashed last), crashes (when, as seconds since 1970)';
COMMENT ON COLUMN ai.worker.restart_count IS 'restarts after crashes, since a person restarted it';
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
-- What processes write to ai.worker: workers about themselves, the coordinator about them. A function
-- that finds the row in another state than it expects changes nothing and returns false: the process
-- has been dismissed, and ends.

CREATE OR REPLACE FUNCTION ai._worker_register(component text, pid int4, details jsonb) RETURNS boolean
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    INSERT INTO ai.worker AS w (component, status, pid, details)
    VALUES (component, 'starting', pid, details)
    ON CONFLICT ON CONSTRAINT worker_pkey DO UPDATE
    SET pid = excluded.pid, last_seen = clock_timestamp(), details = w.details || excluded.details
    WHERE w.status = 'starting';
    RETURN FOUND;
END
$$;
COMMENT ON FUNCTION ai._worker_register(text, int4, jsonb) IS
    'notes the process of a component that is starting';

CREATE OR REPLACE FUNCTION ai._worker_beat(component text, pid int4, current_job text, details jsonb,
        worker_id uuid, num_successes_since_last_heartbeat bigint,
        num_errors_since_last_heartbeat bigint, error_message text) RETURNS boolean
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    PERFORM ai._worker_heartbeat(worker_id, num_successes_since_last_heartbeat,
                                 num_errors_since_last_heartbeat, error_message);
    UPDATE ai.worker w
    SET status = 'healthy', last_seen = clock_timestamp(), current_job = _worker_beat.current_job,
        details = w.details || _worker_beat.details || jsonb_build_object('paused',
            ai._pause_left(_worker_beat.component, NULL) IS NOT NULL)
    WHERE w.component = _worker_beat.component AND w.pid = _worker_beat.pid
      AND w.status IN ('starting', 'healthy');
    RETURN FOUND;
END
$$;
COMMENT ON FUNCTION ai._worker_beat(text, int4, text, jsonb, uuid, bigint, bigint, text) IS
    'heartbeat of a worker, here and in ai.vectorizer_worker_process';

CREATE OR REPLACE FUNCTION ai._worker_stopping(component text, pid int4) RETURNS void
    LANGUAGE sql
    SET search_path = pg_catalog, pg_temp
    AS $$
    UPDATE ai.worker w SET status = 'stopping', last_seen = clock_timestamp()
    WHERE w.component = _worker_stopping.component AND w.pid = _worker_stopping.pid
      AND w.status IN ('starting', 'healthy')
    $$;
COMMENT ON FUNCTION ai._worker_stopping(text, int4) IS 'notes that a component ends in order';

CREATE OR REPLACE FUNCTION ai._worker_stopped(component text, pid int4) RETURNS void
    LANGUAGE sql
    SET search_path = pg_catalog, pg_temp
    AS $$
    DELETE FROM ai.worker w
    WHERE w.component = _worker_stopped.component AND w.pid = _worker_stopped.pid
      AND w.status = 'stopping'
    $$;
COMMENT ON FUNCTION ai._worker_stopped(text, int4) IS 'removes the row of a component that has ended';

-- What the coordinator does.

CREATE OR REPLACE FUNCTION ai._worker_crashed(component text, why text, crashes jsonb, process_is_gone boolean,
        failed boolean) RETURNS void
    LANGUAGE sql
    SET search_path = pg_catalog, pg_temp
    AS $$
    UPDATE ai.worker w
    SET status = 'crashed', current_job = NULL, pid = CASE WHEN NOT process_is_gone THEN w.pid END,
        details = w.details || jsonb_build_object('error_message', why, 'crashes', crashes)
    WHERE w.component = _worker_crashed.component AND w.status IN ('starting', 'healthy', 'stopping');
    UPDATE ai.worker w SET status = 'failed'
    WHERE w.component = _worker_crashed.component AND w.status = 'crashed' AND failed
    $$;
COMMENT ON FUNCTION ai._worker_crashed(text, text, jsonb, boolean, boolean) IS
    'notes that a component has crashed, and whether it is not to be started again';

CREATE OR REPLACE FUNCTION ai._worker_gone(component text) RETURNS void
    LANGUAGE sql
    SET search_path = pg_catalog, pg_temp
    AS $$
    UPDATE ai.worker w SET pid = NULL
    WHERE w.component = _worker_gone.component AND w.status IN ('crashed', 'failed')
    $$;
COMMENT ON FUNCTION ai._worker_gone(text) IS
    'notes that the process of a component that was taken for crashed has ended';

-- A row that says healthy or stopping is that of a process that could not remove it.
CREATE OR REPLACE FUNCTION ai._worker_starting(component text, restarted boolean) RETURNS void
    LANGUAGE sql
    SET search_path = pg_catalog, pg_temp
    AS $$
    UPDATE ai.worker w SET status = 'crashed'
    WHERE w.component = _worker_starting.component AND w.status IN ('healthy', 'stopping');
    INSERT INTO ai.worker AS w (component, status) VALUES (component, 'starting')
    ON CONFLICT ON CONSTRAINT worker_pkey DO UPDATE
    SET status = 'starting', pid = NULL, current_job = NULL, last_seen = clock_timestamp(),
        details = w.details - 'restart', restart_count = w.restart_count + restarted::int4,
        last_restart = CASE WHEN restarted THEN clock_timestamp() ELSE w.last_restart END
    $$;
COMMENT ON FUNCTION ai._worker_starting(text, boolean) IS
    'notes that a component is being started, after a crash or not';

CREATE OR REPLACE FUNCTION ai._worker_forget(component text) RETURNS void
    LANGUAGE sql
    SET search_path = pg_catalog, pg_temp
    AS $$
    UPDATE ai.worker w SET status = 'crashed'
    WHERE w.component = _worker_forget.component AND w.status IN ('starting', 'healthy', 'stopping');
    DELETE FROM ai.worker w WHERE w.component = _worker_forget.component
    $$;
COMMENT ON FUNCTION ai._worker_forget(text) IS 'removes a component that is not wanted any more';

-- The heartbeat of the coordinator, and what it wants to know then: which outside workers are silent,
-- and what the rows of its own workers say, where an operator may have asked for something. It looks
-- whether what they say they have is there.
CREATE OR REPLACE FUNCTION ai._coordinator_beat(coordinator_pid int4, worker_timeout interval,
        OUT component text, OUT status text, OUT details jsonb, OUT is_silent boolean)
    RETURNS SETOF record
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    UPDATE ai.worker w
    SET status = 'healthy', last_seen = clock_timestamp(), pid = coordinator_pid,
        details = w.details || '{"queue_type": "coordinator"}'::jsonb
    WHERE w.component = 'coordinator' AND w.status IN ('starting', 'healthy');
    PERFORM ai._take_samples(least(current_setting('ai.heartbeat_interval')::interval,
                                   worker_timeout / 2));
    -- What a worker had of a vectorizer that was dropped since, it has not any more.
    UPDATE ai.worker w SET current_job = NULL
    WHERE w.status = 'healthy' AND ai._is_supervised(w.component)
      AND w.current_job LIKE 'vectorizer/%' AND NOT EXISTS (
          SELECT FROM ai.vectorizer v WHERE w.current_job = 'vectorizer/' || v.id);
    RETURN QUERY
    UPDATE ai.worker w
    SET status = 'crashed', current_job = NULL,
        details = w.details || jsonb_build_object('error_message', 'no heartbeat')
    WHERE NOT ai._is_supervised(w.component) AND w.status IN ('starting', 'healthy', 'stopping')
      AND w.last_seen < clock_timestamp() - worker_timeout
    RETURNING w.component, w.status, w.details, true;
    RETURN QUERY
    SELECT w.component, w.status, w.details, false FROM ai.worker w
    WHERE ai._is_supervised(w.component);
END
$$;
COMMENT ON FUNCTION ai._coordinator_beat(int4, interval) IS
    'heartbeat of the coordinator: returns outside workers that are silent, and the server''s own';

REVOKE ALL ON FUNCTION ai._worker_register(text, int4, jsonb),
    ai._worker_beat(text, int4, text, jsonb, uuid, bigint, bigint, text),
    ai._worker_stopping(text, int4), ai._worker_stopped(text, int4),
    ai._worker_crashed(text, text, jsonb, boolean, boolean), ai._worker_gone(text),
    ai._worker_starting(text, boolean), ai._worker_forget(text),
    ai._coordinator_beat(int4, interval) FROM PUBLIC;
-- When there is something to do next, for a coordinator that may end when nothing is. What comes by an
-- event (a change, a job, a pause that is ended by hand) wakes somebody then.

-- Rows that wait, or that a process has, are due now. One whose tables somebody has locked may have
-- some, and so may one that cannot be looked at. The look ends with an error in any case, which gives its
-- locks back.
CREATE OR REPLACE FUNCTION ai._vectorizer_next_due(v ai.vectorizer) RETURNS timestamptz
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    due timestamptz;
BEGIN
    IF ai._pages(v.queue) = 0 AND ai._pages(v.work) = 0 THEN
        RETURN NULL;
    END IF;
    EXECUTE format('LOCK TABLE %s, %s IN ACCESS SHARE MODE NOWAIT', ai._qualified_name(v.queue),
                   ai._qualified_name(v.work));
    EXECUTE format('SELECT CASE WHEN EXISTS (SELECT FROM %1$s) OR EXISTS (SELECT FROM %2$s w '
                   'WHERE w.lease IS NOT NULL) THEN pg_catalog.now() ELSE '
                   '(SELECT pg_catalog.min(w.retry_at) FROM %2$s w) END',
                   ai._qualified_name(v.queue), ai._qualified_name(v.work)) INTO due;
    RAISE SQLSTATE 'AI001';  -- that was all
EXCEPTION
    WHEN SQLSTATE 'AI001' THEN
        RETURN due;
    WHEN OTHERS THEN
        RETURN now();
END
$$;
COMMENT ON FUNCTION ai._vectorizer_next_due(ai.vectorizer) IS
    'when the next row of a vectorizer is to be worked on; null if there is none';

CREATE OR REPLACE FUNCTION ai._jobs_next_due() RETURNS timestamptz
    LANGUAGE sql
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT CASE WHEN EXISTS (SELECT FROM ai.embedding_jobs j WHERE j.status = 'pending')
                  OR EXISTS (SELECT FROM ai.embedding_jobs j WHERE j.status = 'processing')
           THEN now()
           ELSE (SELECT min(j.retry_at) FROM ai.embedding_jobs j WHERE j.status = 'retrying') END
    $$;
COMMENT ON FUNCTION ai._jobs_next_due() IS
    'when the next embedding job is to be worked on; null if there is none';

-- What is paused is due at the end of the pause; without an end, by an event. A worker outside that is
-- not heard of in time is missed by the coordinator.
CREATE OR REPLACE FUNCTION ai._next_due(worker_timeout interval) RETURNS float8
    LANGUAGE sql
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT nullif(min(d.ms), 'infinity') FROM (
        SELECT (extract(epoch FROM ai._vectorizer_next_due(v) - now()) * 1000)::float8 AS ms,
            ai._pause_left('', v.id) AS pause_ms
        FROM ai.vectorizer v WHERE NOT v.disabled AND NOT v.restoring
        UNION ALL
        SELECT (extract(epoch FROM ai._jobs_next_due() - now()) * 1000)::float8,
            ai._pause_left('', NULL)
        UNION ALL
        SELECT (extract(epoch FROM w.last_seen + worker_timeout - now()) * 1000)::float8, NULL
        FROM ai.worker w
        WHERE NOT ai._is_supervised(w.component) AND w.status IN ('starting', 'healthy', 'stopping')
    ) x, LATERAL (SELECT greatest(x.ms, x.pause_ms, 0) AS ms WHERE x.ms IS NOT NULL) d
    $$;
COMMENT ON FUNCTION ai._next_due(interval) IS
    'in how many milliseconds there is something to do, if nothing happens until then; null if there is '
    'nothing';

-- A standby has the workers of its primary, and is not told why there are none.
CREATE OR REPLACE FUNCTION ai._is_idle() RETURNS boolean
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT coalesce(ai._pool() ->> 'state' IN ('idle', 'dormant'),
                    pg_is_in_recovery() AND NOT EXISTS (SELECT FROM ai.worker))
    $$;
COMMENT ON FUNCTION ai._is_idle() IS
    'whether there are no workers in this database because there is nothing to do';

REVOKE ALL ON FUNCTION ai._vectorizer_next_due(ai.vectorizer), ai._jobs_next_due(),
    ai._next_due(interval) FROM PUBLIC;
-- See functions/worker-api.sql.

-- What a worker is doing, in words. Vectorizers may have been dropped since its last heartbeat.
CREATE OR REPLACE VIEW ai.worker_status AS
    SELECT w.component, w.status, w.pid,
        CASE WHEN w.status NOT IN ('healthy', 'stopping') OR w.component = 'coordinator' THEN NULL
             WHEN w.current_job IS NULL THEN 'nothing'
             WHEN NOT ai._is_supervised(w.component) THEN w.current_job
             ELSE format('%s, %s rows and %s requests in hand',
                  coalesce((SELECT format('vectorizer "%s"', v.name) FROM ai.vectorizer v
                            WHERE w.current_job = 'vectorizer/' || v.id), w.current_job),
                  coalesce(w.details ->> 'rows', '?'), coalesce(w.details ->> 'requests', '?'))
        END AS doing,
        clock_timestamp() - w.last_seen AS last_seen_age, w.restart_count AS restarts,
        w.last_restart, pause.is_on AS paused,
        CASE w.status
            WHEN 'starting' THEN 'is started, and has not said yet that it is there'
            WHEN 'stopping' THEN 'ends'
            WHEN 'crashed' THEN 'crashed: ' || error.message
                || CASE WHEN NOT ai._is_supervised(w.component)
                            THEN '; start it again where it runs'
                        WHEN w.pid IS NOT NULL THEN '; its process is being ended'
                        ELSE '; is started again' END
            WHEN 'failed' THEN format(
                'crashed too often: %s. Find the reason in the server''s log, then run '
                'SELECT ai.restart_worker(%L)', error.message, w.component)
            ELSE CASE WHEN pause.is_on AND w.current_job IS NULL THEN 'paused'
                      WHEN pause.is_on THEN 'paused, and finishes what it has'
                      WHEN w.last_seen < clock_timestamp()
                               - current_setting('ai.worker_timeout', true)::interval
                          THEN 'has not been seen for long: a statement takes its time, or the '
                               'server does not run its workers any more'
                      WHEN w.component = 'coordinator' THEN 'looks after the workers'
                      WHEN w.current_job IS NULL THEN 'waits for changes'
                      ELSE 'works' END
        END AS words
    FROM ai.worker w,
        LATERAL (SELECT coalesce(w.details ->> 'error_message', 'for an unknown reason') AS message)
            error,
        LATERAL (SELECT EXISTS (
            SELECT FROM ai._worker_pause p
            WHERE p.component IN ('*', w.component) AND w.component <> 'coordinator'
              AND coalesce(p.paused_until, 'infinity') > clock_timestamp()) AS is_on) pause;
COMMENT ON VIEW ai.worker_status IS
    'workers of this database: their health, what each is doing, and what to do about it';

GRANT SELECT ON ai.worker, ai.worker_status TO pg_monitor;
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
-- The endpoints that workers ask, each with the keys that are used there: what was decided for them,
-- and how they fare. Decisions are here and nowhere else; workers read them before they take rows.
-- Between two requests workers go by shared memory, and write here what came of it: when a breaker
-- opens or closes, and otherwise with the heartbeat.

CREATE TABLE ai.provider (
    endpoint            text NOT NULL CHECK (endpoint <> ''),
    api_key_name        text NOT NULL DEFAULT '',
    enabled             boolean NOT NULL DEFAULT true,
    requests_per_minute bigint CHECK (requests_per_minute BETWEEN 1 AND 1000000000),
    tokens_per_minute   bigint CHECK (tokens_per_minute BETWEEN 1 AND 1000000000000),
    paused_until        timestamptz,
    resumed_at          timestamptz,
    fingerprint         text,
    breaker             text NOT NULL DEFAULT 'closed'
                        CHECK (breaker IN ('closed', 'open', 'half-open')),
    failure_streak      int4 NOT NULL DEFAULT 0 CHECK (failure_streak >= 0),
    opened_at           timestamptz,
    next_probe          timestamptz,
    cooldown_until      timestamptz,
    last_success_at     timestamptz,
    last_failure_at     timestamptz,
    last_error          text,
    created             timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (endpoint, api_key_name)
) WITH (fillfactor = 50);
COMMENT ON TABLE ai.provider IS
    'endpoints that are asked for embeddings, one row for each key: limits, pauses, and how they fare';
COMMENT ON COLUMN ai.provider.endpoint IS 'base URL';
COMMENT ON COLUMN ai.provider.api_key_name IS 'name of the secret; empty if there is none';
COMMENT ON COLUMN ai.provider.enabled IS 'whether it is asked at all';
COMMENT ON COLUMN ai.provider.requests_per_minute IS 'most requests in a minute; null is no limit';
COMMENT ON COLUMN ai.provider.tokens_per_minute IS 'most tokens in a minute; null is no limit';
COMMENT ON COLUMN ai.provider.paused_until IS 'not asked until then, by somebody''s decision';
COMMENT ON COLUMN ai.provider.resumed_at IS
    'when somebody said that it can be asked again, whatever happened before';
COMMENT ON COLUMN ai.provider.fingerprint IS
    'hash of endpoint and key: the same one in two databases means that they share limits';
COMMENT ON COLUMN ai.provider.breaker IS
    'circuit breaker. closed: it is asked; open: not before next_probe; half-open: one request is tried';
COMMENT ON COLUMN ai.provider.failure_streak IS 'failures since the last success';
COMMENT ON COLUMN ai.provider.opened_at IS 'when the breaker opened; null if it is closed';
COMMENT ON COLUMN ai.provider.next_probe IS
    'when an open breaker lets one request through, the probe; null if it is closed, or it is time';
COMMENT ON COLUMN ai.provider.cooldown_until IS 'until when the provider asked to be left alone';

-- What workers find out is found out again.
SELECT pg_catalog.pg_extension_config_dump('ai.provider',
    'WHERE requests_per_minute IS NOT NULL OR tokens_per_minute IS NOT NULL '
    'OR paused_until IS NOT NULL OR NOT enabled');
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
-- How providers fare, in words and in numbers.

CREATE OR REPLACE FUNCTION ai._provider_state(p ai.provider, OUT state text, OUT reason text,
                                   OUT paused_until timestamptz)
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT s.state, s.reason, s.until
    FROM (SELECT p.failure_streak || CASE p.failure_streak WHEN 1 THEN ' failure'
              ELSE ' failures in a row' END AS failures) f, LATERAL (VALUES
        (1, NOT p.enabled, 'disabled', 'ai.disable_provider was called; ai.enable_provider undoes it',
         'infinity'::timestamptz),
        (2, p.paused_until > now(), 'paused',
         CASE WHEN p.paused_until < 'infinity'
         THEN 'ai.pause_provider was called; requests go on at ' || p.paused_until::timestamptz(0)
         ELSE 'ai.pause_provider was called; requests go on after ai.resume_provider' END,
         p.paused_until),
        (3, p.breaker <> 'closed' AND p.next_probe > now(), 'open',
         format('%s; one request is tried at %s', f.failures, p.next_probe::timestamptz(0)),
         p.next_probe),
        (4, p.cooldown_until > now(), 'cooling',
         format('it asked to be left alone until %s', p.cooldown_until::timestamptz(0)),
         p.cooldown_until),
        (5, p.breaker <> 'closed', 'half-open',
         f.failures || '; the next request decides', NULL),
        (6, p.failure_streak > 0, 'failing', f.failures, NULL),
        (7, p.last_success_at IS NULL AND p.last_failure_at IS NULL, 'unused',
         'it has not been asked yet', NULL),
        (8, true, 'ok', 'requests go through' || coalesce(', at most '
            || concat_ws(' and ', p.requests_per_minute || ' requests', p.tokens_per_minute || ' tokens')
            || CASE WHEN coalesce(p.requests_per_minute, p.tokens_per_minute) IS NOT NULL
               THEN ' in a minute' END, ''), NULL)
    ) AS s (rank, holds, state, reason, until)
    WHERE s.holds
    ORDER BY s.rank LIMIT 1
    $$;
COMMENT ON FUNCTION ai._provider_state(ai.provider) IS
    'state of a provider with its reason, and until when it is not asked';

CREATE OR REPLACE FUNCTION ai.__provider_visible(caller oid, endpoint text, api_key_name text) RETURNS boolean
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT pg_has_role(caller, 'pg_monitor', 'USAGE') OR EXISTS (
        SELECT FROM ai.vectorizer v
        WHERE ai._vectorizer_visible(pg_get_userbyid(caller), v.source, v.target)
          AND coalesce(v.config #>> '{embedding,api_key_name}', '') = __provider_visible.api_key_name
          AND ai._embedding_endpoint(v.config -> 'embedding') = __provider_visible.endpoint)
        OR EXISTS (
        SELECT FROM ai._embedding_job_configs(caller) AS j (config)
        WHERE coalesce(j.config ->> 'api_key_name', '') = __provider_visible.api_key_name
          AND ai._embedding_endpoint(j.config) = __provider_visible.endpoint)
    $$;
COMMENT ON FUNCTION ai.__provider_visible(oid, text, text) IS
    'what ai._provider_visible does, for the role that called it';
REVOKE ALL ON FUNCTION ai.__provider_visible(oid, text, text) FROM PUBLIC;

CREATE OR REPLACE FUNCTION ai._provider_visible(endpoint text, api_key_name text) RETURNS boolean
    LANGUAGE c STABLE
    AS 'MODULE_PATHNAME', 'ai_call_as_owner';
COMMENT ON FUNCTION ai._provider_visible(text, text) IS
    'whether the current role may see how a provider fares';

-- Of the whole server since its start: what databases share is counted once.
CREATE OR REPLACE FUNCTION ai._provider_counters(OUT endpoint text, OUT api_key_name text,
        OUT fingerprint text, OUT breaker text, OUT pace_per_minute float8, OUT succeeded bigint,
        OUT deferred bigint, OUT transient bigint, OUT suspect bigint, OUT configuration bigint,
        OUT invalid_reply bigint, OUT input_tokens bigint, OUT latency_bounds float8[],
        OUT latency_counts bigint[], OUT latency_sum float8) RETURNS SETOF record
    LANGUAGE c VOLATILE
    AS 'MODULE_PATHNAME', 'ai_provider_counters';
COMMENT ON FUNCTION ai._provider_counters() IS
    'for each endpoint and key, since the start of the server: requests by outcome, tokens, seconds '
    'that requests took (counts up to each bound and above the last), the pace that was learned (0: '
    'none)';

CREATE OR REPLACE FUNCTION ai._lag_histogram(OUT bounds float8[], OUT counts bigint[], OUT sum float8)
    RETURNS SETOF record
    LANGUAGE c VOLATILE
    AS 'MODULE_PATHNAME', 'ai_lag_histogram';
COMMENT ON FUNCTION ai._lag_histogram() IS
    'seconds from a change to its vectors in this database, since the start of the server: counts up '
    'to each bound and above the last';
REVOKE ALL ON FUNCTION ai._provider_counters(), ai._lag_histogram() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ai._provider_counters(), ai._lag_histogram() TO pg_monitor;
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
-- How much was done lately, and what went wrong. The counters that workers keep only grow; here the
-- coordinator notes with its heartbeat where they stand, if they have moved, so that a rate is a
-- difference of two numbers. What happened more than some minutes ago is in the counters only.

-- No reference to ai.vectorizer: the coordinator would wait for whoever is dropping one.
CREATE TABLE ai._sample (
    subject  text NOT NULL,
    taken_at timestamptz NOT NULL,
    done     bigint NOT NULL,
    errors   bigint NOT NULL,
    PRIMARY KEY (subject, taken_at)
);
COMMENT ON TABLE ai._sample IS
    'where counters stood: rows and errors of vectorizer/<id>, requests of provider/<fingerprint>';
-- See tables/activity.sql.

CREATE OR REPLACE FUNCTION ai._counters(OUT subject text, OUT done bigint, OUT errors bigint)
    RETURNS SETOF record
    LANGUAGE sql ROWS 10
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT 'vectorizer/' || p.vectorizer_id, p.success_count, p.error_count
    FROM ai.vectorizer_worker_progress p
    UNION ALL
    SELECT 'provider/' || c.fingerprint, c.succeeded,
        c.transient + c.suspect + c.configuration + c.invalid_reply
    FROM ai._provider_counters() c
    $$;
COMMENT ON FUNCTION ai._counters() IS
    'where the counters stand that samples are taken of. A request that is to be sent again later, '
    'by the word of the provider, is no error';

-- A counter that had rested gets two samples: the one before says until when it rested, or the
-- first rows after an hour would seem to have taken that hour.
CREATE OR REPLACE FUNCTION ai._take_samples(span interval) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    at constant timestamptz := clock_timestamp();
BEGIN
    WITH last AS (
        SELECT DISTINCT ON (s.subject) s.* FROM ai._sample s ORDER BY s.subject, s.taken_at DESC
    ), moved AS (
        SELECT c.*, l.taken_at, l.done AS old_done, l.errors AS old_errors,
            c.done < l.done OR c.errors < l.errors AS is_new
        FROM ai._counters() c LEFT JOIN last l ON l.subject = c.subject
        WHERE (c.done, c.errors) IS DISTINCT FROM (l.done, l.errors)
    ), forgotten AS (
        DELETE FROM ai._sample s USING moved m
        WHERE s.subject = m.subject AND (m.is_new OR s.taken_at < at - interval '10 minutes')
    )
    INSERT INTO ai._sample (subject, taken_at, done, errors)
    SELECT m.subject, at, m.done, m.errors FROM moved m
    UNION ALL
    SELECT m.subject, at - span, m.old_done, m.old_errors FROM moved m
    WHERE m.taken_at < at - span AND NOT m.is_new
    ON CONFLICT DO NOTHING;
END
$$;
COMMENT ON FUNCTION ai._take_samples(interval) IS
    'notes where counters stand that have moved; span is the time since the last look';

CREATE OR REPLACE FUNCTION ai._prune_samples() RETURNS void
    LANGUAGE sql
    SET search_path = pg_catalog, pg_temp
    AS $$
    DELETE FROM ai._sample s
    WHERE s.taken_at < now() - interval '10 minutes'
      AND NOT EXISTS (SELECT FROM ai._counters() c WHERE c.subject = s.subject)
    $$;
COMMENT ON FUNCTION ai._prune_samples() IS 'removes samples of what is not there any more';

CREATE OR REPLACE FUNCTION ai._recent(subject text, span interval, done bigint, errors bigint,
        OUT seconds float8, OUT recent_done bigint, OUT recent_errors bigint)
    LANGUAGE sql
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT extract(epoch FROM clock_timestamp() - s.taken_at)::float8,
        greatest(_recent.done - s.done, 0), greatest(_recent.errors - s.errors, 0)
    FROM ai._sample s
    WHERE s.subject = _recent.subject AND s.taken_at > clock_timestamp() - span
    ORDER BY s.taken_at LIMIT 1
    $$;
COMMENT ON FUNCTION ai._recent(text, interval, bigint, bigint) IS
    'what was counted since the first sample within a span, and how long ago that was; nulls if '
    'nothing was';

REVOKE ALL ON FUNCTION ai._counters(), ai._take_samples(interval),
    ai._prune_samples(), ai._recent(text, interval, bigint, bigint) FROM PUBLIC;
-- What may be in the way of a vectorizer, in words.

CREATE OR REPLACE FUNCTION ai._rows(number bigint) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE number WHEN 1 THEN '1 row' ELSE number::text || ' rows' END;
COMMENT ON FUNCTION ai._rows(bigint) IS 'a number of rows in words';

-- A worker whose heartbeat is late is neither this nor that.
CREATE OR REPLACE FUNCTION ai._worker_summary(OUT coordinator boolean, OUT healthy bigint, OUT at_rest bigint,
        OUT crashed bigint, OUT failed bigint)
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT coalesce(bool_or(w.status IN ('starting', 'healthy') AND w.is_seen)
                        FILTER (WHERE w.component = 'coordinator'), false),
        count(*) FILTER (WHERE w.is_worker AND w.status = 'healthy' AND w.is_seen),
        count(*) FILTER (WHERE w.is_worker AND w.status = 'healthy' AND w.is_seen
                         AND ai._pause_left(w.component, NULL) IS NOT NULL),
        count(*) FILTER (WHERE w.is_worker AND w.status = 'crashed'),
        count(*) FILTER (WHERE w.is_worker AND w.status = 'failed')
    FROM (SELECT x.*, x.component <> 'coordinator' AND ai._is_supervised(x.component) AS is_worker,
              x.last_seen > clock_timestamp()
              - coalesce(current_setting('ai.worker_timeout', true), '30s')::interval AS is_seen
          FROM ai.worker x) w
    $$;
COMMENT ON FUNCTION ai._worker_summary() IS
    'whether a coordinator runs, and how many of the server''s own workers are healthy, at rest among '
    'those, crashed, failed';

-- Workers that run outside of the server take no rows. A standby has the workers of its primary.
CREATE OR REPLACE FUNCTION ai._workers_absent() RETURNS text
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT a.reason
    FROM ai._worker_summary() w,
        (SELECT x.extversion, NOT pg_is_in_recovery() AS is_primary
         FROM pg_extension x WHERE x.extname = 'ai') e,
        jsonb_to_record(coalesce(ai._pool(), '{}')) AS p (state text, refused boolean),
        LATERAL (VALUES
            (1, e.is_primary AND NOT ai._preloaded(), 'ai is not in shared_preload_libraries'),
            (2, e.is_primary AND e.extversion <> ai.version(),
             format('the library has version %s, the extension has version %s: run ALTER EXTENSION '
                    'ai UPDATE, or restart the server if the library is the older one',
                    ai.version(), e.extversion)),
            (3, current_setting('ai.workers', true) = '0', 'ai.workers is 0'),
            (4, ai._is_idle() AND w.failed < coalesce(current_setting('ai.workers', true), '1')::int,
             NULL),
            (5, p.state = 'waiting', 'this database waits for its turn, ai.max_processes is too low for '
                                     'all that have work'),
            (6, p.refused, 'the server has no slot for another background process, '
                           'max_worker_processes is too low'),
            (7, p.state = 'starting', 'a coordinator is being started'),
            (8, NOT w.coordinator, 'no coordinator runs in this database' || coalesce(
                '; ai.databases is ' || nullif(current_setting('ai.databases', true), ''),
                '; see the server''s log')),
            (9, w.failed > 0, 'workers have failed, and are not started any more: see '
                              'ai.worker_status, then run ai.restart_workers()'),
            (10, w.crashed > 0, 'workers have crashed, and are started again: see ai.worker_status'),
            (11, true, 'workers are being started')
        ) AS a (rank, holds, reason)
    WHERE w.healthy = 0 AND a.holds
    ORDER BY a.rank LIMIT 1
    $$;
COMMENT ON FUNCTION ai._workers_absent() IS
    'why no worker takes rows; null if one does, or would if there were some';

CREATE OR REPLACE FUNCTION ai._vectorizer_disabled_reason(v ai.vectorizer) RETURNS text
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT CASE
        WHEN v.target IS NULL AND embedding_column IS NULL THEN
            'its target table was dropped; ai.drop_vectorizer removes what is left'
        WHEN embedding_column IS NOT NULL AND NOT EXISTS (
            SELECT FROM pg_attribute a WHERE a.attrelid = v.source AND a.attname = embedding_column
            AND NOT a.attisdropped) THEN
            'its embedding column was dropped; add it, then run ai.enable_vectorizer_schedule'
        WHEN NOT ai._vectorizer_has_triggers(v) THEN
            'its triggers were dropped; ai.enable_vectorizer_schedule makes them again'
        ELSE 'changes are queued until ai.enable_vectorizer_schedule is called' END
    FROM (SELECT v.config #>> '{destination,embedding_column}') AS d (embedding_column)
    $$;
COMMENT ON FUNCTION ai._vectorizer_disabled_reason(ai.vectorizer) IS
    'why a vectorizer is disabled, and what to do about it';

CREATE OR REPLACE FUNCTION ai._workers_paused_reason() RETURNS text
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT coalesce((
        SELECT format('%s paused all workers; they go on %s', p.paused_by,
            coalesce('at ' || p.paused_until::timestamptz(0), 'after ai.resume_workers'))
        FROM ai._worker_pause p
        WHERE p.component = '*' AND coalesce(p.paused_until, 'infinity') > clock_timestamp()),
        'each worker is paused; they go on after ai.resume_workers')
    FROM ai._worker_summary() w
    WHERE w.healthy = w.at_rest AND (w.healthy > 0 OR ai._pause_left('', NULL) IS NOT NULL)
    $$;
COMMENT ON FUNCTION ai._workers_paused_reason() IS
    'who paused all workers, and until when; null if one of them takes rows';
-- Things of ours that belong to no vectorizer: after a dump without its data was restored, triggers fill
-- queues that nobody works off. They are reported, not removed: the data may still come.

CREATE OR REPLACE FUNCTION ai._orphans(OUT kind text, OUT relation regclass, OUT name text, OUT object text)
    RETURNS SETOF record
    LANGUAGE sql STABLE ROWS 10
    SET search_path = pg_catalog, pg_temp
    AS $$
    WITH subject AS MATERIALIZED (
        SELECT v.id, v.name, v.source::oid, v.trigger_name, s.relkind,
            v.id::text::bytea || zero AS id_argument,
            convert_to(n.nspname, getdatabaseencoding()) || zero
            || convert_to(q.relname, getdatabaseencoding()) || zero AS enqueue_arguments
        FROM ai.vectorizer v
        LEFT JOIN pg_class s ON s.oid = v.source
        LEFT JOIN pg_class q ON q.oid = v.queue
        LEFT JOIN pg_namespace n ON n.oid = q.relnamespace
        CROSS JOIN decode('00', 'hex') zero
    )
    SELECT 'trigger', t.tgrelid::regclass, t.tgname,
        format('trigger %I on %s', t.tgname, ai._qualified_name(t.tgrelid))
    FROM pg_trigger t
    WHERE t.tgparentid = 0
      AND t.tgfoid = 'ai._vectorizer_enqueue()'::regprocedure AND NOT EXISTS (
          SELECT FROM subject s WHERE s.source = t.tgrelid
            AND (substring(t.tgargs FROM 1 FOR length(s.enqueue_arguments)) = s.enqueue_arguments
                 OR t.tgname IN (s.trigger_name, (s.trigger_name || '_update')::name)))
    UNION ALL
    SELECT 'trigger', t.tgrelid::regclass, t.tgname,
        format('trigger %I on %s', t.tgname, ai._qualified_name(t.tgrelid))
    FROM pg_trigger t
    WHERE t.tgfoid IN ('ai._vectorizer_flush()'::regprocedure,
                       'ai._vectorizer_truncate()'::regprocedure) AND NOT EXISTS (
          SELECT FROM subject s WHERE s.id_argument = t.tgargs AND (s.source = t.tgrelid
              OR s.relkind = 'p' AND t.tgfoid = 'ai._vectorizer_truncate()'::regprocedure))
    UNION ALL
    SELECT 'table', i.inhrelid::regclass, NULL, format('table %s', ai._qualified_name(i.inhrelid))
    FROM pg_inherits i
    WHERE i.inhparent = 'ai._vectorizer_queue'::regclass AND NOT EXISTS (
        SELECT FROM (SELECT v.queue::oid AS used FROM ai.vectorizer v
                     UNION ALL SELECT v.work FROM ai.vectorizer v
                     UNION ALL SELECT v.failed FROM ai.vectorizer v) u WHERE u.used = i.inhrelid)
    UNION ALL
    SELECT 'vectorizer', NULL, s.name, format('vectorizer "%s"', s.name)
    FROM subject s WHERE s.relkind IS NULL
    UNION ALL
    SELECT 'restored rows', r.relation, r.vectorizer_id::text,
        format('%s of %s for vectorizer %s', ai._rows(count(*)), ai._qualified_name(r.relation),
               r.vectorizer_id)
    FROM ai._restored_rows r GROUP BY r.relation, r.vectorizer_id
    $$;
COMMENT ON FUNCTION ai._orphans() IS
    'triggers, queues and restored rows that belong to no vectorizer, and vectorizers without a source';

CREATE OR REPLACE FUNCTION ai._health_orphans() RETURNS SETOF text
    LANGUAGE sql STABLE ROWS 3
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT format(CASE s.kind
        WHEN 'vectorizer' THEN
            '%s: the source table is gone (%s): ai.drop_orphans() removes what is left'
        WHEN 'restored rows' THEN
            '%s: restored without their vectorizers (%s): restore the table ai.vectorizer, too, or run '
            'ai.drop_orphans()'
        ELSE '%s: no vectorizer has them (%s), as after a restore without data: restore that, or run '
             'ai.drop_orphans()' END,
        CASE WHEN count(*) = 1 THEN '1 orphan ' || s.kind
             ELSE count(*) || ' orphans of kind ' || s.kind END,
        min(s.object) || CASE WHEN count(*) > 1 THEN ', ...' ELSE '' END)
    FROM ai._orphans() s GROUP BY s.kind ORDER BY s.kind
    $$;
COMMENT ON FUNCTION ai._health_orphans() IS 'what is there that belongs to no vectorizer';

-- Triggers first: they write to the tables.
CREATE OR REPLACE FUNCTION ai.drop_orphans(OUT kind text, OUT object text) RETURNS SETOF record
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    orphan record;
BEGIN
    FOR orphan IN SELECT * FROM ai._orphans() s
                 ORDER BY array_position('{trigger,vectorizer,table}', s.kind), s.object LOOP
        CASE orphan.kind
            WHEN 'trigger' THEN
                EXECUTE format('DROP TRIGGER %I ON %s', orphan.name,
                               ai._qualified_name(orphan.relation));
            WHEN 'table' THEN
                PERFORM ai._drop_if_exists('TABLE', orphan.relation);
            WHEN 'vectorizer' THEN
                PERFORM ai._vectorizer_forget(ai._vectorizer_get(orphan.name));
            ELSE
                DELETE FROM ai._restored_rows r
                WHERE r.relation = orphan.relation AND r.vectorizer_id = orphan.name::int4;
        END CASE;
        kind := orphan.kind;
        object := orphan.object;
        RETURN NEXT;
    END LOOP;
    PERFORM ai._vectorizer_notify();
END
$$;
COMMENT ON FUNCTION ai.drop_orphans() IS
    'drops triggers, queues and restored rows that belong to no vectorizer, and vectorizers whose '
    'source table is gone; returns what it dropped. For superusers and the owner of the extension';

REVOKE ALL ON FUNCTION ai._orphans(), ai._health_orphans(), ai.drop_orphans() FROM PUBLIC;
-- In which state a vectorizer is, in a word and with the reason; and the view of all that is known.
--
--   idle      there is nothing to do            queued      rows wait for a worker that has time
--   active    rows are with workers             waiting     its provider is not to be asked now, or
--                                                           it is being restored
--   retrying  something failed, is tried again  no workers  nobody is there who could take rows
--   paused, disabled  by somebody's decision    locked      somebody is changing it

-- One query for all that a role may see, or for one: what is the same for all is found out once, and
-- nothing is planned for each. The last error is that of the row that was tried last, the last that
-- was recorded, or the provider's while that is failing: whatever was last.
CREATE OR REPLACE FUNCTION ai._figures(role name, only_id int4, OUT id int4, OUT pending bigint,
        OUT running bigint, OUT retrying bigint, OUT failed bigint, OUT oldest_pending_age interval,
        OUT rows_per_minute numeric, OUT estimated_time_left interval, OUT last_error text,
        OUT last_error_at timestamptz, OUT state text, OUT state_reason text) RETURNS SETOF record
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp SET plan_cache_mode = force_generic_plan SET jit = off
    AS $$
#variable_conflict use_column
BEGIN
    PERFORM ai._vectorizer_flush_pending();
    RETURN QUERY
    WITH w AS MATERIALIZED (
        SELECT ai._workers_absent() AS absent, ai._workers_paused_reason() AS paused
    ), p AS MATERIALIZED (
        SELECT c.embedding, x.*, s.state, s.reason
        FROM (SELECT DISTINCT v.config -> 'embedding' FROM ai.vectorizer v
              WHERE only_id IS NULL OR v.id = only_id) AS c (embedding)
        JOIN ai.provider x ON x.endpoint = ai._embedding_endpoint(c.embedding)
            AND x.api_key_name = coalesce(c.embedding ->> 'api_key_name', '')
        CROSS JOIN LATERAL ai._provider_state(x) s
    )
    SELECT v.id, n.pending, n.running, n.retrying, n.failed,
        greatest(clock_timestamp() - n.oldest, CASE WHEN n.oldest IS NOT NULL THEN interval '0' END),
        r.rows_per_minute,
        CASE WHEN s.state[1] IN ('queued', 'active') THEN make_interval(secs => round(
            60 * (n.pending + n.running + n.retrying) / nullif(r.rows_per_minute, 0))::float8) END,
        e.message, e.at, s.state[1], s.state[2]
    FROM w CROSS JOIN ai.vectorizer v
    LEFT JOIN p ON p.embedding = v.config -> 'embedding'
    LEFT JOIN ai.vectorizer_worker_progress g ON g.vectorizer_id = v.id
    LEFT JOIN ai._vectorizer_pause z ON z.vectorizer_id = v.id
        AND coalesce(z.paused_until, 'infinity') > clock_timestamp()
    CROSS JOIN LATERAL ai._vectorizer_count(v) n
    LEFT JOIN LATERAL (
        SELECT x.message, x.recorded FROM ai._vectorizer_errors x
        WHERE x.id = v.id ORDER BY x.recorded DESC LIMIT 1) l ON true
    LEFT JOIN LATERAL (
        SELECT x.message, x.at FROM (VALUES (l.message, l.recorded), (n.error, n.error_at),
            (CASE WHEN p.failure_streak > 0 THEN p.last_error END, p.last_failure_at)
        ) AS x (message, at)
        WHERE x.message IS NOT NULL ORDER BY x.at DESC NULLS LAST LIMIT 1) e ON true
    LEFT JOIN LATERAL (
        SELECT x.taken_at, x.done FROM ai._sample x
        WHERE g.vectorizer_id IS NOT NULL AND x.subject = 'vectorizer/' || v.id
          AND x.taken_at > clock_timestamp() - interval '1 minute'
        ORDER BY x.taken_at LIMIT 1) t ON true
    CROSS JOIN LATERAL (
        SELECT CASE WHEN t.taken_at IS NULL THEN 0 ELSE round((
            60 * greatest(g.success_count - t.done, 0) / greatest(
                extract(epoch FROM clock_timestamp() - t.taken_at)::float8, 1))::numeric, 1) END
            AS rows_per_minute) r
    CROSS JOIN LATERAL (
        SELECT CASE
        WHEN n.pending IS NULL THEN ARRAY['locked', 'somebody is changing or dropping it']
        WHEN v.disabled THEN ARRAY['disabled', ai._vectorizer_disabled_reason(v)]
        WHEN v.restoring AND NOT ai._vectorizer_is_whole(v) THEN
            ARRAY['waiting', format('for the rest of its restore, which makes its triggers; if there '
                'is nothing more to restore, run ai.enable_vectorizer_schedule(%L)', v.name)]
        WHEN z.vectorizer_id IS NOT NULL THEN
            ARRAY['paused', format('%s; it goes on %s',
                coalesce(z.reason, format('%s paused it', z.paused_by)),
                coalesce('at ' || z.paused_until::timestamptz(0), 'after ai.resume_vectorizer'))]
        WHEN w.absent IS NOT NULL THEN ARRAY['no workers', w.absent]
        WHEN w.paused IS NOT NULL THEN ARRAY['paused', w.paused]
        WHEN n.pending + n.running + n.retrying = 0 THEN
            ARRAY['idle', CASE n.failed WHEN 0 THEN 'every row is embedded' ELSE
                format('every row is embedded but for %s that failed: see ai.vectorizer_errors, then '
                       'run ai.retry_failed(%L)', ai._rows(n.failed), v.name) END]
        WHEN p.state IN ('disabled', 'paused', 'open', 'cooling') THEN
            ARRAY['waiting', format('for provider %s: %s: %s', p.endpoint, CASE p.state
                WHEN 'open' THEN 'breaker open' WHEN 'cooling' THEN 'rate limited' ELSE p.state END,
                p.reason)]
        WHEN n.running > 0 THEN ARRAY['active', ai._rows(n.running) || ' with workers']
        WHEN n.pending = 0 THEN
            ARRAY['retrying', format('%s to try again, the first at %s', ai._rows(n.retrying),
                                     n.next_retry::timestamptz(0))]
        WHEN e.at > coalesce(g.last_success_at, '-infinity') THEN
            ARRAY['retrying', 'workers could not go on, and try again in some seconds: see last_error']
        ELSE ARRAY['queued', ai._rows(n.pending) || ' for the next worker that has time']
        END AS state) s
    WHERE (only_id IS NULL OR v.id = only_id)
      AND ai._vectorizer_visible(role, v.source, v.target);
END
$$;
COMMENT ON FUNCTION ai._figures(name, int4) IS
    'what changes by itself of the vectorizers that a role may see, or of one of them: the numbers '
    'of its rows, how fast it goes, its last error, its state and the reason for that';
REVOKE ALL ON FUNCTION ai._figures(name, int4) FROM PUBLIC;

-- No row for a vectorizer that was dropped since the caller read its number.
CREATE OR REPLACE FUNCTION ai.__vectorizer_figures(caller oid, vectorizer_id int4, OUT pending bigint,
        OUT running bigint, OUT retrying bigint, OUT failed bigint, OUT oldest_pending_age interval,
        OUT rows_per_minute numeric, OUT estimated_time_left interval, OUT last_error text,
        OUT last_error_at timestamptz, OUT state text, OUT state_reason text) RETURNS SETOF record
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
#variable_conflict use_column
BEGIN
    PERFORM ai._vectorizer_require_visible(caller, v) FROM ai.vectorizer v WHERE v.id = vectorizer_id;
    RETURN QUERY
    SELECT f.pending, f.running, f.retrying, f.failed, f.oldest_pending_age, f.rows_per_minute,
        f.estimated_time_left, f.last_error, f.last_error_at, f.state, f.state_reason
    FROM ai._figures(pg_get_userbyid(caller), vectorizer_id) f;
END
$$;
COMMENT ON FUNCTION ai.__vectorizer_figures(oid, int4) IS
    'what ai._vectorizer_figures does, for the role that called it';
REVOKE ALL ON FUNCTION ai.__vectorizer_figures(oid, int4) FROM PUBLIC;

CREATE OR REPLACE FUNCTION ai._vectorizer_figures(vectorizer_id int4, OUT pending bigint, OUT running bigint,
        OUT retrying bigint, OUT failed bigint, OUT oldest_pending_age interval,
        OUT rows_per_minute numeric, OUT estimated_time_left interval, OUT last_error text,
        OUT last_error_at timestamptz, OUT state text, OUT state_reason text) RETURNS SETOF record
    LANGUAGE c VOLATILE ROWS 1
    AS 'MODULE_PATHNAME', 'ai_call_as_owner';
COMMENT ON FUNCTION ai._vectorizer_figures(int4) IS
    'what ai.vectorizer_status shows of a vectorizer that changes by itself';

CREATE OR REPLACE FUNCTION ai.__all_vectorizer_figures(caller oid, OUT id int4, OUT pending bigint,
        OUT running bigint, OUT retrying bigint, OUT failed bigint, OUT oldest_pending_age interval,
        OUT rows_per_minute numeric, OUT estimated_time_left interval, OUT last_error text,
        OUT last_error_at timestamptz, OUT state text, OUT state_reason text) RETURNS SETOF record
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    RETURN QUERY SELECT f.* FROM ai._figures(pg_get_userbyid(caller), NULL) f;
END
$$;
COMMENT ON FUNCTION ai.__all_vectorizer_figures(oid) IS
    'what ai._all_vectorizer_figures does, for the role that called it';
REVOKE ALL ON FUNCTION ai.__all_vectorizer_figures(oid) FROM PUBLIC;

CREATE OR REPLACE FUNCTION ai._all_vectorizer_figures(OUT id int4, OUT pending bigint, OUT running bigint,
        OUT retrying bigint, OUT failed bigint, OUT oldest_pending_age interval,
        OUT rows_per_minute numeric, OUT estimated_time_left interval, OUT last_error text,
        OUT last_error_at timestamptz, OUT state text, OUT state_reason text) RETURNS SETOF record
    LANGUAGE c VOLATILE
    AS 'MODULE_PATHNAME', 'ai_call_as_owner';
COMMENT ON FUNCTION ai._all_vectorizer_figures() IS
    'the same for all vectorizers that the current role may see';
-- See functions/vectorizer-state.sql.

-- security_barrier: a function in a query's condition must not see what the view hides.
CREATE OR REPLACE VIEW ai.vectorizer_status WITH (security_barrier) AS
    SELECT v.id, v.name, ai._qualified_name(v.source) AS source_table,
        ai._qualified_name(v.target) AS target_table, ai._qualified_name(v.view) AS view,
        v.config #>> '{destination,embedding_column}' AS embedding_column,
        f.pending + f.running + f.retrying AS pending_items, v.disabled, f.failed AS failed_items,
        f.pending, f.running, f.retrying, f.failed, f.oldest_pending_age, f.rows_per_minute,
        f.estimated_time_left, f.last_error, f.last_error_at, f.state, f.state_reason
    FROM ai.vectorizer v JOIN ai._all_vectorizer_figures() f ON f.id = v.id;
COMMENT ON VIEW ai.vectorizer_status IS
    'vectorizers of the tables that one may read: how many rows are to do, how fast it goes, and '
    'in which state each is. Above 10,000 numbers of rows are estimates; they are null while '
    'somebody has the vectorizer locked';
COMMENT ON COLUMN ai.vectorizer_status.pending_items IS
    'rows that are not up to date: pending, running and retrying';
COMMENT ON COLUMN ai.vectorizer_status.failed_items IS 'rows that were given up, as in failed';
COMMENT ON COLUMN ai.vectorizer_status.pending IS 'changed rows that no worker has';
COMMENT ON COLUMN ai.vectorizer_status.running IS 'rows that are with a worker';
COMMENT ON COLUMN ai.vectorizer_status.retrying IS 'rows that wait until they are tried again';
COMMENT ON COLUMN ai.vectorizer_status.oldest_pending_age IS
    'how long ago the oldest change was made that is not embedded yet, whatever its state';
COMMENT ON COLUMN ai.vectorizer_status.rows_per_minute IS 'rows embedded in the last minute';
COMMENT ON COLUMN ai.vectorizer_status.estimated_time_left IS
    'when all would be done at this rate; null if nothing is being done';
COMMENT ON COLUMN ai.vectorizer_status.last_error IS
    'the last error of a row, of the vectorizer, or of its provider while that is failing';
COMMENT ON COLUMN ai.vectorizer_status.state IS
    'idle, queued, active, waiting, retrying, paused, disabled, no workers or locked';
GRANT SELECT ON ai.vectorizer_status TO PUBLIC;
-- Whether all is well in this database, and what is not: for pg_monitor.

CREATE OR REPLACE FUNCTION ai.all_workers_healthy() RETURNS boolean
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$SELECT coalesce(bool_and(w.status = 'healthy'), ai._is_idle()) FROM ai.worker w$$;
COMMENT ON FUNCTION ai.all_workers_healthy() IS
    'whether each component in ai.worker is healthy; if there is none, whether none is needed';

CREATE OR REPLACE FUNCTION ai.get_crashed_workers() RETURNS text[]
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT coalesce(array_agg(w.component ORDER BY w.component), '{}')
    FROM ai.worker w WHERE w.status = 'crashed'
    $$;
COMMENT ON FUNCTION ai.get_crashed_workers() IS 'components that have crashed';

CREATE OR REPLACE FUNCTION ai.get_failed_workers() RETURNS text[]
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT coalesce(array_agg(w.component ORDER BY w.component), '{}')
    FROM ai.worker w WHERE w.status = 'failed'
    $$;
COMMENT ON FUNCTION ai.get_failed_workers() IS
    'components that have crashed too often, and are not started any more';

-- Each of these returns the complaints about one part.

CREATE OR REPLACE FUNCTION ai._health_workers() RETURNS SETOF text
    LANGUAGE sql STABLE ROWS 10
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT 'no worker takes rows: ' || reason FROM ai._workers_absent() AS a (reason)
    WHERE reason IS NOT NULL
    UNION ALL
    SELECT 'no coordinator runs: workers that end are not started again'
    FROM ai._worker_summary() s WHERE s.healthy > 0 AND NOT s.coordinator
    UNION ALL
    SELECT format('%s of %s workers are healthy', s.healthy, wanted)
    FROM ai._worker_summary() s, least(current_setting('ai.workers', true)::int,
                                       (ai._pool() ->> 'workers')::int) AS wanted
    WHERE s.healthy > 0 AND s.healthy < wanted
    UNION ALL
    SELECT 'background processes are short: ' || ai._pool_advice()
    FROM jsonb_to_record(ai._pool()) AS p (state text, waited boolean, refused boolean)
    WHERE p.state = 'waiting' OR p.waited OR p.refused
    UNION ALL
    (SELECT format('%s has %s: %s', w.component, w.status,
         coalesce(w.details ->> 'error_message', 'for an unknown reason'))
     FROM ai.worker w WHERE w.status IN ('crashed', 'failed') ORDER BY w.component)
    UNION ALL
    (SELECT CASE p.component WHEN '*' THEN 'all workers are' ELSE p.component || ' is' END
         || ' paused' || coalesce(' until ' || p.paused_until::timestamptz(0), '')
     FROM ai._worker_pause p WHERE coalesce(p.paused_until, 'infinity') > clock_timestamp()
     ORDER BY p.component)
    $$;
COMMENT ON FUNCTION ai._health_workers() IS 'what is not well with the workers';

-- Whoever pauses or disables something knows it; it is a complaint when rows wait for it.
CREATE OR REPLACE FUNCTION ai._health_vectorizers(statuses ai.vectorizer_status[], max_pending_age interval)
    RETURNS SETOF text
    LANGUAGE sql STABLE ROWS 10
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT format('vectorizer "%s": %s', s.name, c.complaint)
    FROM unnest(statuses) s, LATERAL (VALUES
        (1, CASE WHEN s.state IN ('disabled', 'paused') AND s.pending_items > 0 THEN
            format('%s with %s to do: %s', s.state, ai._rows(s.pending_items), s.state_reason) END),
        (2, CASE WHEN s.state = 'waiting' THEN 'waits ' || s.state_reason END),
        (3, CASE WHEN s.state = 'retrying' THEN
            format('something failed, and is tried again: %s', s.last_error) END),
        (4, CASE WHEN s.oldest_pending_age > max_pending_age THEN
            format('the oldest change has waited for %s',
                   date_trunc('second', s.oldest_pending_age)) END),
        (5, CASE WHEN s.failed > 0 THEN
            format('%s failed: see ai.vectorizer_errors', ai._rows(s.failed)) END)
    ) AS c (rank, complaint)
    WHERE c.complaint IS NOT NULL
    ORDER BY s.name, c.rank
    $$;
COMMENT ON FUNCTION ai._health_vectorizers(ai.vectorizer_status[], interval) IS
    'what is not well with the vectorizers';

CREATE OR REPLACE FUNCTION ai._health_jobs(max_pending_age interval) RETURNS SETOF text
    LANGUAGE sql ROWS 10
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT 'embedding jobs: ' || c.complaint
    FROM (SELECT max(m.oldest_seconds) * interval '1 second' AS oldest_age, sum(m.failed) AS failed
          FROM ai.metrics_jobs m) j, LATERAL (VALUES
        (1, j.oldest_age > max_pending_age,
         format('the oldest has waited for %s', date_trunc('second', j.oldest_age))),
        (2, j.failed > 0, format('%s failed: see ai.embedding_job_failures', j.failed))
    ) AS c (rank, holds, complaint)
    WHERE c.holds
    ORDER BY c.rank
    $$;
COMMENT ON FUNCTION ai._health_jobs(interval) IS 'what is not well with the embedding jobs';

-- Single failures are nothing: a provider complains when some of at least ten requests failed.
CREATE OR REPLACE FUNCTION ai._health_providers(max_error_rate float8) RETURNS SETOF text
    LANGUAGE sql ROWS 10
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT format('provider %s: %s', p.endpoint, c.complaint)
    FROM ai.provider p
    CROSS JOIN LATERAL ai._provider_state(p) s
    LEFT JOIN ai._counters() n ON n.subject = 'provider/' || p.fingerprint
    LEFT JOIN LATERAL ai._recent(n.subject, interval '5 minutes', n.done, n.errors) r ON true
    CROSS JOIN LATERAL (VALUES
        (1, s.state IN ('open', 'half-open'),
         format('breaker %s: %s: %s', s.state, s.reason, p.last_error)),
        (2, r.recent_done + r.recent_errors >= 10
            AND r.recent_errors > max_error_rate * (r.recent_done + r.recent_errors),
         format('%s of %s requests failed in the last five minutes: %s', r.recent_errors,
                r.recent_done + r.recent_errors, p.last_error))
    ) AS c (rank, holds, complaint)
    WHERE c.holds
    ORDER BY p.endpoint, p.api_key_name, c.rank
    $$;
COMMENT ON FUNCTION ai._health_providers(float8) IS 'what is not well with the providers';

CREATE OR REPLACE FUNCTION ai._health_reasons(statuses ai.vectorizer_status[], max_pending_age interval,
        max_error_rate float8) RETURNS text[]
    LANGUAGE sql
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT ARRAY(
        SELECT * FROM ai._health_workers()
        UNION ALL SELECT * FROM ai._health_providers(max_error_rate)
        UNION ALL SELECT * FROM ai._health_vectorizers(statuses, max_pending_age)
        UNION ALL SELECT * FROM ai._health_jobs(max_pending_age)
        UNION ALL SELECT * FROM ai._health_orphans())
    $$;
COMMENT ON FUNCTION ai._health_reasons(ai.vectorizer_status[], interval, float8) IS
    'what is not well in this database, where that is known of its vectorizers';

CREATE OR REPLACE FUNCTION ai._health(caller oid, max_pending_age interval, max_error_rate float8,
        OUT ok boolean, OUT reasons text[]) RETURNS SETOF record
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    IF max_pending_age IS NULL OR max_pending_age < '0' THEN
        RAISE EXCEPTION 'max_pending_age must not be negative or null'
            USING ERRCODE = 'invalid_parameter_value',
                  HINT = 'It is how long a change may wait, for example interval ''15 minutes''.';
    ELSIF max_error_rate IS NULL OR NOT max_error_rate BETWEEN 0 AND 1 THEN
        RAISE EXCEPTION 'max_error_rate must be between 0 and 1'
            USING ERRCODE = 'invalid_parameter_value',
                  HINT = 'It is the share of requests that may fail: 0.1 is one in ten.';
    END IF;
    reasons := ai._health_reasons(ARRAY(SELECT s FROM ai.vectorizer_status s), max_pending_age,
                                  max_error_rate);
    ok := cardinality(reasons) = 0;
    RETURN NEXT;
END
$$;
COMMENT ON FUNCTION ai._health(oid, interval, float8) IS
    'what ai.health does, for the role that called it';

CREATE OR REPLACE FUNCTION ai.health(max_pending_age interval DEFAULT '15 minutes',
        max_error_rate float8 DEFAULT 0.1, OUT ok boolean, OUT reasons text[]) RETURNS SETOF record
    LANGUAGE c VOLATILE ROWS 1
    AS 'MODULE_PATHNAME', 'ai_call_as_owner';
COMMENT ON FUNCTION ai.health(interval, float8) IS
    'one row: whether all is well in this database, and what is not. Changes and jobs may wait for '
    'max_pending_age; that share of the requests of the last five minutes may fail';

-- For the metrics, which have looked at the vectorizers already.
CREATE OR REPLACE FUNCTION ai.__healthy(caller oid, statuses ai.vectorizer_status[]) RETURNS boolean
    LANGUAGE sql
    SET search_path = pg_catalog, pg_temp
    AS $$SELECT cardinality(ai._health_reasons(statuses, '15 minutes', 0.1)) = 0$$;
COMMENT ON FUNCTION ai.__healthy(oid, ai.vectorizer_status[]) IS
    'what ai._healthy does, for the role that called it';

CREATE OR REPLACE FUNCTION ai._healthy(statuses ai.vectorizer_status[]) RETURNS boolean
    LANGUAGE c VOLATILE
    AS 'MODULE_PATHNAME', 'ai_call_as_owner';
COMMENT ON FUNCTION ai._healthy(ai.vectorizer_status[]) IS
    'what ai.health() says without arguments, where the state of all vectorizers is known';

REVOKE ALL ON FUNCTION ai.all_workers_healthy(), ai.get_crashed_workers(), ai.get_failed_workers(),
    ai.health(interval, float8), ai._health(oid, interval, float8), ai._health_workers(),
    ai._health_vectorizers(ai.vectorizer_status[], interval), ai._health_jobs(interval),
    ai._health_providers(float8), ai._health_reasons(ai.vectorizer_status[], interval, float8),
    ai._healthy(ai.vectorizer_status[]), ai.__healthy(oid, ai.vectorizer_status[])
FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ai.all_workers_healthy(), ai.get_crashed_workers(),
    ai.get_failed_workers(), ai.health(interval, float8), ai._healthy(ai.vectorizer_status[])
TO pg_monitor;
-- A line that says how far a vectorizer is, for psql's \watch.

-- Few rows are counted. Of many, a table says itself how dense its pages are; one that nobody has
-- analyzed yet is judged by its first pages.
CREATE OR REPLACE FUNCTION ai._estimate_source_rows(v ai.vectorizer, OUT rows bigint, OUT is_exact boolean)
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    most constant bigint := 10000;
    first_pages constant bigint := 100;
    owner oid := ai._vectorizer_owner(v);
    leaf record;
BEGIN
    PERFORM ai._run_as(owner, format('LOCK TABLE %s IN ACCESS SHARE MODE NOWAIT',
                                     ai._from_source(v.source)));
    rows := ai._run_as(owner, format('SELECT FROM %s LIMIT %s', ai._from_source(v.source),
                                     most + 1));
    is_exact := rows <= most;
    IF is_exact THEN
        RETURN;
    END IF;
    rows := 0;
    FOR leaf IN
        SELECT c.oid, c.relkind, c.reltuples, c.relpages, pg_relation_size(c.oid)
            / current_setting('block_size')::bigint AS pages
        FROM pg_class c
        WHERE c.oid = v.source AND c.relkind <> 'p'
           OR c.oid IN (SELECT t.relid FROM pg_partition_tree(v.source) t WHERE t.isleaf)
    LOOP
        IF leaf.reltuples >= 0 AND leaf.relpages > 0 THEN
            rows := rows + (leaf.reltuples::float8 / leaf.relpages * leaf.pages)::bigint;
        ELSIF leaf.pages > 0 AND leaf.relkind = 'r' THEN
            rows := rows + leaf.pages * ai._run_as(owner, format(
                'SELECT FROM ONLY %s WHERE ctid < ''(%s,0)''', ai._qualified_name(leaf.oid),
                first_pages)) / least(leaf.pages, first_pages);
        END IF;
    END LOOP;
    rows := greatest(rows, most + 1);
END
$$;
COMMENT ON FUNCTION ai._estimate_source_rows(ai.vectorizer) IS
    'number of rows in the source of a vectorizer; above 10,000 an estimate';

CREATE OR REPLACE FUNCTION ai._progress_line(done bigint, total bigint, is_exact boolean,
        rows_per_minute numeric, time_left interval, remark text) RETURNS text
    LANGUAGE sql IMMUTABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT format('[%s] %s%%  %s of %s rows  %s/s  %s  %s',
        rpad(repeat('#', floor(20 * p.share)::int), 20, '.'),
        lpad(to_char(floor(1000 * p.share) / 10, 'FM990.0'), 5),
        lpad(to_char(done, 'FM999,999,999,999'), length(p.total)), p.total,
        format('%7s', to_char(rows_per_minute / 60, 'FM99999990.0')),
        CASE WHEN done >= _progress_line.total THEN rpad('done', 13)
             WHEN time_left IS NULL THEN rpad('', 13)
             ELSE format('%8s left', to_char(make_interval(
                 secs => extract(epoch FROM time_left)::float8), 'HH24:MI:SS')) END,
        remark)
    FROM (SELECT CASE WHEN total > 0 THEN done::numeric / total ELSE 1 END,
              CASE WHEN NOT is_exact THEN '~' ELSE '' END || to_char(total, 'FM999,999,999,999'))
        AS p (share, total)
    $$;
COMMENT ON FUNCTION ai._progress_line(bigint, bigint, boolean, numeric, interval, text) IS
    'a line of the same width for the same total: bar, percent, rows, rows per second, time left';

CREATE OR REPLACE FUNCTION ai._vectorizer_progress_line(caller oid, v ai.vectorizer) RETURNS text
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    f record;
    source record;
    undone bigint;
BEGIN
    PERFORM ai._vectorizer_require_visible(caller, v);
    SELECT * INTO f FROM ai.__vectorizer_figures(caller, v.id);
    undone := f.pending + f.running + f.retrying + f.failed;
    BEGIN
        source := ai._estimate_source_rows(v);
    EXCEPTION WHEN lock_not_available OR undefined_table THEN
        undone := NULL;
    END;
    IF undone IS NULL THEN
        RETURN format('%s: somebody is changing or dropping it', v.name);
    END IF;
    RETURN ai._progress_line(greatest(source.rows - undone, 0), source.rows, source.is_exact,
        f.rows_per_minute, f.estimated_time_left,
        concat_ws(', ', f.state, CASE WHEN f.failed > 0 THEN format('%s failed', f.failed) END));
END
$$;
COMMENT ON FUNCTION ai._vectorizer_progress_line(oid, ai.vectorizer) IS
    'how far a vectorizer is, in a line, for the role that called';

CREATE OR REPLACE FUNCTION ai._vectorizer_progress(caller oid, vectorizer_id int4) RETURNS text
    LANGUAGE sql SET search_path = pg_catalog, pg_temp
    AS $$SELECT ai._vectorizer_progress_line(caller, ai._vectorizer_get(vectorizer_id))$$;
CREATE OR REPLACE FUNCTION ai._vectorizer_progress(caller oid, name text) RETURNS text
    LANGUAGE sql SET search_path = pg_catalog, pg_temp
    AS $$SELECT ai._vectorizer_progress_line(caller, ai._vectorizer_get(name))$$;
COMMENT ON FUNCTION ai._vectorizer_progress(oid, int4) IS
    'what ai.vectorizer_progress does, for the role that called it';
COMMENT ON FUNCTION ai._vectorizer_progress(oid, text) IS
    'what ai.vectorizer_progress does, for the role that called it';

CREATE OR REPLACE FUNCTION ai.vectorizer_progress(vectorizer_id int4) RETURNS text
    LANGUAGE c VOLATILE AS 'MODULE_PATHNAME', 'ai_call_as_owner';
CREATE OR REPLACE FUNCTION ai.vectorizer_progress(name text) RETURNS text
    LANGUAGE c VOLATILE AS 'MODULE_PATHNAME', 'ai_call_as_owner';
COMMENT ON FUNCTION ai.vectorizer_progress(int4) IS
    'how far a vectorizer is, in a line with a bar: for psql''s \watch';
COMMENT ON FUNCTION ai.vectorizer_progress(text) IS
    'how far a vectorizer is, in a line with a bar: for psql''s \watch';

REVOKE ALL ON FUNCTION ai._estimate_source_rows(ai.vectorizer),
    ai._vectorizer_progress_line(oid, ai.vectorizer), ai._vectorizer_progress(oid, int4),
    ai._vectorizer_progress(oid, text) FROM PUBLIC;
-- The metrics as text, in the format that Prometheus reads.

CREATE OR REPLACE FUNCTION ai._metric_label(name text, value text) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN name || '="' || replace(replace(replace(coalesce(value, ''),
        '\', '\\'), '"', '\"'), E'\n', '\n') || '"';
COMMENT ON FUNCTION ai._metric_label(text, text) IS
    'a label with its value, in which backslash, quote and line feed are escaped';

CREATE OR REPLACE FUNCTION ai._metric_number(value text) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE value WHEN 'Infinity' THEN '+Inf' WHEN '-Infinity' THEN '-Inf'
           ELSE coalesce(value, 'NaN') END;
COMMENT ON FUNCTION ai._metric_number(text) IS 'a number as Prometheus reads it; null is NaN';

CREATE OR REPLACE FUNCTION ai._metric_histogram(metric text, labels text, sample jsonb, name text) RETURNS text
    LANGUAGE sql IMMUTABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT coalesce(string_agg(format(E'%s_bucket{%s,le="%s"} %s\n', metric, labels, b.bound,
                                      b.count), '' ORDER BY b.n), '')
        || format(E'%1$s_bucket{%2$s,le="+Inf"} %3$s\n%1$s_sum{%2$s} %4$s\n%1$s_count{%2$s} %3$s\n',
                  metric, labels, sample ->> (name || '_count'),
                  ai._metric_number(sample ->> (name || '_sum')))
    FROM ROWS FROM (jsonb_array_elements_text(sample -> name),
                    jsonb_array_elements_text(sample -> (name || '_bucket')))
         WITH ORDINALITY AS b (bound, count, n)
    $$;
COMMENT ON FUNCTION ai._metric_histogram(text, text, jsonb, text) IS
    'the lines of a histogram, from a row of a view of metrics';

CREATE OR REPLACE FUNCTION ai._metric_columns(view regclass, OUT number int2, OUT name text, OUT kind text,
        OUT help text) RETURNS SETOF record
    LANGUAGE sql STABLE ROWS 10
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT a.attnum, a.attname,
        CASE WHEN a.atttypid = 'text'::regtype THEN 'label'
             WHEN a.atttypid = 'float8[]'::regtype THEN 'histogram'
             WHEN a.attname LIKE '%\_total' OR a.attname = 'total' THEN 'counter'
             ELSE 'gauge' END,
        col_description(view, a.attnum)
    FROM pg_attribute a
    WHERE a.attrelid = view AND a.attnum > 0
      AND NOT EXISTS (SELECT FROM pg_attribute h
                      WHERE h.attrelid = view AND h.atttypid = 'float8[]'::regtype
                        AND a.attname IN (h.attname || '_bucket', h.attname || '_sum',
                                          h.attname || '_count'))
    $$;
COMMENT ON FUNCTION ai._metric_columns(regclass) IS
    'what the columns of a view of metrics are: labels, counters, gauges and histograms';

-- The labels of a row are the same for all of its columns.
CREATE OR REPLACE FUNCTION ai._metric_lines(prefix text, view regclass, samples jsonb) RETURNS text
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
    WITH c AS MATERIALIZED (
        SELECT m.*, prefix || '_' || m.name AS metric FROM ai._metric_columns(view) m
    ), s AS MATERIALIZED (
        SELECT s.row, (SELECT string_agg(ai._metric_label(c.name, s.row ->> c.name), ','
                                         ORDER BY c.number)
                       FROM c WHERE c.kind = 'label') AS labels
        FROM jsonb_array_elements(samples) AS s (row) ORDER BY labels
    )
    SELECT string_agg(format(E'# HELP %1$s %2$s\n# TYPE %1$s %3$s\n%4$s', c.metric,
                             replace(replace(c.help, '\', '\\'), E'\n', '\n'), c.kind, m.lines),
                      '' ORDER BY c.number)
    FROM c, LATERAL (
        SELECT string_agg(CASE c.kind
            WHEN 'histogram' THEN ai._metric_histogram(c.metric, s.labels, s.row, c.name)
            ELSE c.metric || '{' || s.labels || '} ' || ai._metric_number(s.row ->> c.name) || E'\n'
            END, '') AS lines
        FROM s) m
    WHERE c.kind <> 'label'
    $$;
COMMENT ON FUNCTION ai._metric_lines(text, regclass, jsonb) IS
    'the rows of a view of metrics as text';

-- Numbers have the shortest digits that tell them from their neighbours, whatever the session is
-- set to.
CREATE OR REPLACE FUNCTION ai.metrics() RETURNS text
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp SET extra_float_digits = 1 SET jit = off
    AS $$
DECLARE
    things constant text[] := '{database,workers,worker,vectorizer,usage,jobs,job_usage,provider,
                                provider_requests}';
    statuses constant ai.vectorizer_status[] := ARRAY(SELECT s FROM ai.vectorizer_status s);
    thing text;
    samples jsonb;
    result text := '';
BEGIN
    FOREACH thing IN ARRAY things LOOP
        EXECUTE format(CASE WHEN thing IN ('database', 'vectorizer')
                       THEN 'SELECT jsonb_agg(m) FROM ai._metrics_%s($1) m'
                       ELSE 'SELECT jsonb_agg(m) FROM ai.metrics_%s m' END, thing)
            INTO samples USING statuses;
        IF samples IS NOT NULL THEN
            result := result || ai._metric_lines('ai_' || thing, ('ai.metrics_' || thing)::regclass,
                                                 samples);
        END IF;
    END LOOP;
    RETURN result;
END
$$;
COMMENT ON FUNCTION ai.metrics() IS
    'counters, gauges and histograms of this database in the text format of Prometheus';
REVOKE ALL ON FUNCTION ai.metrics() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ai.metrics() TO pg_monitor;
-- Numbers for Prometheus, for pg_monitor. Of a view ai.metrics_<thing>, columns of text are labels,
-- and each other column is the metric ai_<thing>_<column>: a counter if its name ends in _total, a
-- histogram if it has bounds (its counts, up to each bound, are in <column>_bucket, their sum and
-- number in <column>_sum and <column>_count), else a gauge. The comment on a column is its help.
--
-- ai.metrics() shows them as text; doc/monitoring has them for prometheus-postgres-exporter.

CREATE OR REPLACE FUNCTION ai._cumulative(counts bigint[]) RETURNS bigint[]
    LANGUAGE sql IMMUTABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT coalesce(array_agg(c.total ORDER BY c.n), '{}')
    FROM (SELECT u.n, (sum(u.count) OVER (ORDER BY u.n))::bigint AS total
          FROM unnest(counts) WITH ORDINALITY AS u (count, n)) c
    WHERE c.n < cardinality(counts)
    $$;
COMMENT ON FUNCTION ai._cumulative(bigint[]) IS
    'how many values were up to each bound, by how many were between two; the last is above all';

CREATE OR REPLACE FUNCTION ai._sum_of(counts bigint[]) RETURNS bigint
    LANGUAGE sql IMMUTABLE
    SET search_path = pg_catalog, pg_temp
    AS $$SELECT coalesce(sum(c), 0)::bigint FROM unnest(counts) c$$;
COMMENT ON FUNCTION ai._sum_of(bigint[]) IS 'how many values there were';

-- The views of the database and of the vectorizers are made of what these functions return, so that
-- ai.metrics() looks at all vectorizers once.
CREATE OR REPLACE FUNCTION ai._metrics_database(statuses ai.vectorizer_status[], OUT database text,
        OUT healthy int4, OUT wanted_workers int4, OUT lag_seconds float8[],
        OUT lag_seconds_bucket bigint[], OUT lag_seconds_sum float8, OUT lag_seconds_count bigint)
    LANGUAGE sql
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT current_database(), ai._healthy(statuses)::int,
        CASE WHEN ai._is_idle() THEN 0 ELSE current_setting('ai.workers', true)::int END,
        l.bounds, ai._cumulative(l.counts), l.sum, ai._sum_of(l.counts)
    FROM ai._lag_histogram() l
    $$;
COMMENT ON FUNCTION ai._metrics_database(ai.vectorizer_status[]) IS
    'metrics of this database, where the state of its vectorizers is known';

CREATE OR REPLACE FUNCTION ai._metrics_vectorizer(statuses ai.vectorizer_status[], OUT database text,
        OUT vectorizer text, OUT pending_rows bigint, OUT running_rows bigint,
        OUT retrying_rows bigint, OUT failed_rows bigint, OUT oldest_pending_seconds float8,
        OUT rows_per_second float8, OUT disabled int4, OUT paused int4,
        OUT embedded_rows_total bigint, OUT errors_total bigint) RETURNS SETOF record
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT current_database(), s.name, s.pending, s.running, s.retrying, s.failed,
        coalesce(extract(epoch FROM s.oldest_pending_age), 0)::float8,
        (s.rows_per_minute / 60)::float8, s.disabled::int, (s.state = 'paused')::int,
        coalesce(p.success_count, 0), coalesce(p.error_count, 0)
    FROM unnest(statuses) s
    LEFT JOIN ai.vectorizer_worker_progress p ON p.vectorizer_id = s.id
    $$;
COMMENT ON FUNCTION ai._metrics_vectorizer(ai.vectorizer_status[]) IS
    'metrics of vectorizers whose state is known';
REVOKE ALL ON FUNCTION ai._metrics_database(ai.vectorizer_status[]),
    ai._metrics_vectorizer(ai.vectorizer_status[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ai._metrics_database(ai.vectorizer_status[]),
    ai._metrics_vectorizer(ai.vectorizer_status[]) TO pg_monitor;
-- See functions/metrics.sql.

CREATE OR REPLACE VIEW ai.metrics_database AS
    SELECT m.* FROM ai._metrics_database(ARRAY(SELECT s FROM ai.vectorizer_status s)) m;
COMMENT ON VIEW ai.metrics_database IS 'metrics of this database';
COMMENT ON COLUMN ai.metrics_database.healthy IS 'whether ai.health() has nothing to complain of';
COMMENT ON COLUMN ai.metrics_database.wanted_workers IS
    'workers that there should be: ai.workers, or 0 while there is nothing to do';
COMMENT ON COLUMN ai.metrics_database.lag_seconds IS 'time from a change to its embeddings';

CREATE OR REPLACE VIEW ai.metrics_workers AS
    SELECT current_database()::text AS database, s.status, count(w.component) AS in_status
    FROM unnest('{starting,healthy,stopping,crashed,failed}'::text[]) AS s (status)
    LEFT JOIN ai.worker w ON w.status = s.status AND w.component <> 'coordinator'
        AND ai._is_supervised(w.component)
    GROUP BY s.status;
COMMENT ON VIEW ai.metrics_workers IS 'metrics of all workers of the server together';
COMMENT ON COLUMN ai.metrics_workers.in_status IS 'number of workers in each state';

-- Crashes are counted by the restarts that follow them. What the details of a worker outside say is
-- up to that one.
CREATE OR REPLACE VIEW ai.metrics_worker AS
    SELECT current_database()::text AS database, w.component,
        (w.status = 'healthy')::int AS healthy, w.restart_count AS restarts,
        w.restart_count + (w.status IN ('crashed', 'failed'))::int AS crashes_total,
        extract(epoch FROM clock_timestamp() - w.last_seen)::float8 AS heartbeat_age_seconds,
        extract(epoch FROM clock_timestamp() - greatest(w.last_restart, c.last))::float8
            AS last_crash_age_seconds
    FROM ai.worker w, LATERAL (
        SELECT to_timestamp(max(c.at::float8)) AS last
        FROM jsonb_array_elements_text(CASE WHEN ai._is_supervised(w.component)
                                       THEN w.details -> 'crashes' END) AS c (at)) c;
COMMENT ON VIEW ai.metrics_worker IS 'metrics of each worker, and of the coordinator';
COMMENT ON COLUMN ai.metrics_worker.healthy IS 'whether it is healthy';
COMMENT ON COLUMN ai.metrics_worker.restarts IS
    'restarts after crashes, since a person restarted it';
COMMENT ON COLUMN ai.metrics_worker.crashes_total IS 'crashes, since a person restarted it';
COMMENT ON COLUMN ai.metrics_worker.heartbeat_age_seconds IS 'time since its last heartbeat';
COMMENT ON COLUMN ai.metrics_worker.last_crash_age_seconds IS
    'time since its last crash; NaN if there was none';

CREATE OR REPLACE VIEW ai.metrics_vectorizer AS
    SELECT m.* FROM ai._metrics_vectorizer(ARRAY(SELECT s FROM ai.vectorizer_status s)) m;
COMMENT ON VIEW ai.metrics_vectorizer IS 'metrics of each vectorizer';
COMMENT ON COLUMN ai.metrics_vectorizer.pending_rows IS 'changed rows that no worker has';
COMMENT ON COLUMN ai.metrics_vectorizer.running_rows IS 'rows that are with a worker';
COMMENT ON COLUMN ai.metrics_vectorizer.retrying_rows IS
    'rows that wait until they are tried again';
COMMENT ON COLUMN ai.metrics_vectorizer.failed_rows IS 'rows that were given up';
COMMENT ON COLUMN ai.metrics_vectorizer.oldest_pending_seconds IS
    'age of the oldest change that is not embedded yet';
COMMENT ON COLUMN ai.metrics_vectorizer.rows_per_second IS 'rows embedded in the last minute';
COMMENT ON COLUMN ai.metrics_vectorizer.disabled IS 'whether it is disabled';
COMMENT ON COLUMN ai.metrics_vectorizer.paused IS 'whether it is paused, or all workers are';
COMMENT ON COLUMN ai.metrics_vectorizer.embedded_rows_total IS 'rows that were embedded';
COMMENT ON COLUMN ai.metrics_vectorizer.errors_total IS 'errors that kept all of its rows waiting';

CREATE OR REPLACE VIEW ai.metrics_usage AS
    SELECT current_database()::text AS database, v.name AS vectorizer, u.model,
        sum(u.requests)::bigint AS requests_total,
        sum(u.input_tokens)::bigint AS input_tokens_total, sum(u.rows)::bigint AS rows_total,
        sum(u.sent_chunks)::bigint AS sent_chunks_total,
        sum(u.reused_chunks)::bigint AS reused_chunks_total,
        sum(u.truncated_chunks)::bigint AS truncated_chunks_total
    FROM ai.usage u JOIN ai.vectorizer v ON v.id = u.vectorizer_id
    GROUP BY v.name, u.model;
COMMENT ON VIEW ai.metrics_usage IS 'metrics of what vectorizers ask of their models';
COMMENT ON COLUMN ai.metrics_usage.requests_total IS 'requests to the model';
COMMENT ON COLUMN ai.metrics_usage.input_tokens_total IS 'tokens, as the provider counted them';
COMMENT ON COLUMN ai.metrics_usage.rows_total IS 'rows that were embedded';
COMMENT ON COLUMN ai.metrics_usage.sent_chunks_total IS 'chunks that were sent';
COMMENT ON COLUMN ai.metrics_usage.reused_chunks_total IS
    'chunks whose embeddings were there already';
COMMENT ON COLUMN ai.metrics_usage.truncated_chunks_total IS 'chunks that were cut to fit';

-- What two databases share is counted once, and shown in both.
CREATE OR REPLACE VIEW ai.metrics_provider AS
    SELECT current_database()::text AS database, p.endpoint, p.api_key_name,
        p.enabled::int AS enabled, (s.state IN ('open', 'half-open'))::int AS breaker_open,
        (s.state = 'paused')::int AS paused, (s.state = 'cooling')::int AS rate_limited,
        p.failure_streak,
        coalesce(c.input_tokens, 0) AS input_tokens_total,
        coalesce(c.latency_bounds, '{}') AS request_seconds,
        ai._cumulative(c.latency_counts) AS request_seconds_bucket,
        coalesce(c.latency_sum, 0) AS request_seconds_sum,
        ai._sum_of(c.latency_counts) AS request_seconds_count
    FROM ai.provider p CROSS JOIN LATERAL ai._provider_state(p) s
    LEFT JOIN ai._provider_counters() c ON c.fingerprint = p.fingerprint;
COMMENT ON VIEW ai.metrics_provider IS 'metrics of each endpoint and key';
COMMENT ON COLUMN ai.metrics_provider.enabled IS 'whether it is asked at all';
COMMENT ON COLUMN ai.metrics_provider.breaker_open IS 'whether it is left alone after failures';
COMMENT ON COLUMN ai.metrics_provider.paused IS 'whether somebody paused it';
COMMENT ON COLUMN ai.metrics_provider.rate_limited IS
    'whether it asked to be left alone for a while';
COMMENT ON COLUMN ai.metrics_provider.failure_streak IS 'failures since the last success';
COMMENT ON COLUMN ai.metrics_provider.input_tokens_total IS
    'tokens, since the start of the server';
COMMENT ON COLUMN ai.metrics_provider.request_seconds IS
    'time from a request to its reply, since the start of the server';

CREATE OR REPLACE VIEW ai.metrics_provider_requests AS
    SELECT current_database()::text AS database, p.endpoint, p.api_key_name, o.outcome, o.total
    FROM ai.provider p
    JOIN ai._provider_counters() c ON c.fingerprint = p.fingerprint,
        LATERAL (VALUES ('succeeded', c.succeeded), ('deferred', c.deferred),
            ('transient', c.transient), ('suspect', c.suspect),
            ('configuration', c.configuration), ('invalid_reply', c.invalid_reply)
        ) AS o (outcome, total);
COMMENT ON VIEW ai.metrics_provider_requests IS 'metrics of the requests to each endpoint and key';
COMMENT ON COLUMN ai.metrics_provider_requests.total IS
    'requests by outcome, since the start of the server';

-- What the views are made from has no more in it than they show.
GRANT SELECT ON ai.usage, ai.provider, ai.vectorizer_worker_process, ai.vectorizer_worker_progress
    TO pg_monitor;
GRANT SELECT ON ai.metrics_database, ai.metrics_workers, ai.metrics_worker, ai.metrics_vectorizer,
    ai.metrics_usage, ai.metrics_provider, ai.metrics_provider_requests TO pg_monitor;
-- Triggers and policies of our own tables, and what follows the commands of users.

CREATE TRIGGER keep_newest BEFORE INSERT ON ai._vectorizer_errors
    FOR EACH ROW EXECUTE FUNCTION ai._vectorizer_errors_keep_newest();

-- create_vectorizer inserts what is created in its own transaction.
CREATE TRIGGER begin_restore BEFORE INSERT ON ai.vectorizer FOR EACH ROW
    WHEN (NEW.created <> now()) EXECUTE FUNCTION ai._restore_vectorizer();
CREATE TRIGGER restore AFTER INSERT ON ai.vectorizer FOR EACH ROW
    WHEN (NEW.created <> now()) EXECUTE FUNCTION ai._restore_rows();
-- The others tell the time as well; for what is written now, the triggers do not even fire.
CREATE TRIGGER restore BEFORE INSERT ON ai._vectorizer_errors FOR EACH ROW
    WHEN (NEW.recorded NOT BETWEEN now() AND clock_timestamp())
    EXECUTE FUNCTION ai._restore_row('id');
CREATE TRIGGER restore BEFORE INSERT ON ai.vectorizer_worker_progress FOR EACH ROW
    WHEN (NEW.updated_at NOT BETWEEN now() AND clock_timestamp())
    EXECUTE FUNCTION ai._restore_row('vectorizer_id');

CREATE TRIGGER notify AFTER INSERT OR UPDATE OR DELETE ON ai.vectorizer
    FOR EACH STATEMENT EXECUTE FUNCTION ai._vectorizers_changed();
ALTER TABLE ai.vectorizer ENABLE ALWAYS TRIGGER notify;

-- ALWAYS: a restore or a replica that turns triggers off must not leave half a vectorizer.
CREATE EVENT TRIGGER ai_on_sql_drop ON sql_drop EXECUTE FUNCTION ai._on_sql_drop();
ALTER EVENT TRIGGER ai_on_sql_drop ENABLE ALWAYS;
COMMENT ON EVENT TRIGGER ai_on_sql_drop IS 'keeps vectorizers in step with what is dropped';

-- ALTER VIEW and its like rename columns of tables, too.
CREATE EVENT TRIGGER ai_on_ddl_command_end ON ddl_command_end
    WHEN TAG IN ('ALTER TABLE', 'ALTER VIEW', 'ALTER MATERIALIZED VIEW', 'ALTER FOREIGN TABLE',
                 'ALTER TYPE', 'ALTER SCHEMA', 'CREATE TABLE', 'CREATE SCHEMA')
    EXECUTE FUNCTION ai._on_ddl_command_end();
ALTER EVENT TRIGGER ai_on_ddl_command_end ENABLE ALWAYS;
COMMENT ON EVENT TRIGGER ai_on_ddl_command_end IS 'keeps vectorizers in step with what is altered';

CREATE EVENT TRIGGER ai_on_ddl_command_start ON ddl_command_start
    WHEN TAG IN ('ALTER TABLE', 'CREATE TABLE') EXECUTE FUNCTION ai._on_ddl_command_start();
ALTER EVENT TRIGGER ai_on_ddl_command_start ENABLE ALWAYS;
COMMENT ON EVENT TRIGGER ai_on_ddl_command_start IS 'ends restores of which all is there';

CREATE TRIGGER restore BEFORE INSERT ON ai._vectorizer_pause FOR EACH ROW
    WHEN (NEW.paused_at NOT BETWEEN now() AND clock_timestamp())
    EXECUTE FUNCTION ai._restore_row('vectorizer_id');

CREATE TRIGGER restore BEFORE INSERT ON ai.usage FOR EACH ROW
    WHEN (ai._in_session())
    EXECUTE FUNCTION ai._restore_row('vectorizer_id');

-- Row security instead of views with a condition: so the tables can be given to PostgREST as they are.
ALTER TABLE ai.embedding_jobs ENABLE ROW LEVEL SECURITY;
ALTER TABLE ai.embedding_job_failures ENABLE ROW LEVEL SECURITY;
ALTER TABLE ai.embedding_job_usage ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_jobs ON ai.embedding_jobs FOR SELECT
    USING (pg_catalog.pg_has_role(created_by, 'USAGE')
           OR pg_catalog.pg_has_role('pg_monitor', 'USAGE'));
CREATE POLICY own_jobs ON ai.embedding_job_failures FOR SELECT
    USING (pg_catalog.pg_has_role(created_by, 'USAGE')
           OR pg_catalog.pg_has_role('pg_monitor', 'USAGE'));
CREATE POLICY own_jobs ON ai.embedding_job_usage FOR SELECT
    USING (pg_catalog.pg_has_role(created_by, 'USAGE')
           OR pg_catalog.pg_has_role('pg_monitor', 'USAGE'));

CREATE TRIGGER guard BEFORE INSERT OR UPDATE OR DELETE ON ai.worker FOR EACH ROW
    EXECUTE FUNCTION ai._worker_guard();
CREATE TRIGGER guard_all BEFORE TRUNCATE ON ai.worker EXECUTE FUNCTION ai._worker_guard_all();

CREATE TRIGGER decided AFTER DELETE OR TRUNCATE OR UPDATE OF
    endpoint, api_key_name, enabled, requests_per_minute, tokens_per_minute, paused_until, resumed_at
    ON ai.provider FOR EACH STATEMENT EXECUTE FUNCTION ai._provider_changed();
CREATE TRIGGER decided_anew AFTER INSERT ON ai.provider FOR EACH ROW
    WHEN (NEW.requests_per_minute IS NOT NULL OR NEW.tokens_per_minute IS NOT NULL
          OR NEW.paused_until IS NOT NULL OR NOT NEW.enabled)
    EXECUTE FUNCTION ai._provider_changed();
