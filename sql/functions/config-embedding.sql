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
