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
