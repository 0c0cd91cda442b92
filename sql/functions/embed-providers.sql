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
