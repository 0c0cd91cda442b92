-- Embeddings at once, in the caller's own statement. It waits for the provider with its transaction
-- open, which is right for a query and wrong for a table: that is what vectorizers are for.
--
-- IMMUTABLE, though a provider is asked: a model gives the same vector for the same text, and a
-- search that names its query once (ORDER BY embedding <=> ai.openai_embed(...)) has to ask once, not
-- for every row.

-- As the role that calls, or for ai._embed_as as another one: whose keys may be used.
CREATE FUNCTION ai._embed(config jsonb, inputs text[], api_key text) RETURNS vector[]
    LANGUAGE c IMMUTABLE
    AS 'MODULE_PATHNAME', 'ai_embed';
COMMENT ON FUNCTION ai._embed(jsonb, text[], text) IS
    'embeddings of texts, in their order, by the model of a configuration; null for null';

CREATE FUNCTION ai._embed_as(role oid, config jsonb, inputs text[]) RETURNS vector[]
    LANGUAGE c IMMUTABLE STRICT
    AS 'MODULE_PATHNAME', 'ai_embed_as';
COMMENT ON FUNCTION ai._embed_as(oid, jsonb, text[]) IS
    'the same as ai._embed, with the keys that another role may use';
REVOKE ALL ON FUNCTION ai._embed_as(oid, jsonb, text[]) FROM PUBLIC;

CREATE FUNCTION ai._embed_tokens(config jsonb, input_tokens int4[], api_key text) RETURNS vector
    LANGUAGE c IMMUTABLE
    AS 'MODULE_PATHNAME', 'ai_embed_tokens';
COMMENT ON FUNCTION ai._embed_tokens(jsonb, int4[], text) IS
    'embedding of a text that is given as tokens, by a model of OpenAI';

CREATE FUNCTION ai._embedding_rows(embeddings vector[])
    RETURNS TABLE ("index" int4, embedding vector)
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT (u.position - 1)::int4, u.embedding
    FROM unnest(embeddings) WITH ORDINALITY AS u (embedding, position)
    $$;
COMMENT ON FUNCTION ai._embedding_rows(vector[]) IS
    'embeddings as rows, numbered from 0 as their texts are';

CREATE FUNCTION ai.embed(config jsonb, input text) RETURNS vector
    LANGUAGE sql IMMUTABLE
    SET search_path = pg_catalog, pg_temp
    AS $$SELECT (ai._embed(ai._validate_embedding(config), ARRAY[input], NULL))[1]$$;
COMMENT ON FUNCTION ai.embed(jsonb, text) IS
    'embedding of a text by the model of an embedding configuration, e.g. ai.embedding_openai(...)';

CREATE FUNCTION ai.embed(config jsonb, inputs text[])
    RETURNS TABLE ("index" int4, embedding vector)
    LANGUAGE sql IMMUTABLE
    SET search_path = pg_catalog, pg_temp
    AS $$SELECT * FROM ai._embedding_rows(ai._embed(ai._validate_embedding(config), inputs, NULL))$$;
COMMENT ON FUNCTION ai.embed(jsonb, text[]) IS
    'embeddings of texts by the model of an embedding configuration; the index counts from 0';

-- OpenAI.

CREATE FUNCTION ai.openai_client_config(base_url text DEFAULT NULL,
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

CREATE FUNCTION ai._check_client_config(client_config jsonb) RETURNS void
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

CREATE FUNCTION ai._openai_config(model text, api_key_name text, dimensions int4, openai_user text,
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

CREATE FUNCTION ai.openai_embed(model text, input_text text, api_key text DEFAULT NULL,
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

CREATE FUNCTION ai.openai_embed(model text, input_texts text[], api_key text DEFAULT NULL,
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

CREATE FUNCTION ai.openai_embed(model text, input_tokens int4[], api_key text DEFAULT NULL,
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

CREATE FUNCTION ai._list_models(config jsonb, api_key text) RETURNS jsonb
    LANGUAGE c VOLATILE
    AS 'MODULE_PATHNAME', 'ai_list_models';
COMMENT ON FUNCTION ai._list_models(jsonb, text) IS
    'models that the provider of a configuration has, an object each';

CREATE FUNCTION ai.openai_list_models(api_key text DEFAULT NULL, api_key_name text DEFAULT NULL,
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

-- Ollama. Its address has two names: host, as in pgai, and base_url, as in configurations.

CREATE FUNCTION ai._ollama_config(model text, host text, keep_alive text, options jsonb,
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

CREATE FUNCTION ai.ollama_embed(model text, input_text text, host text DEFAULT NULL,
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

CREATE FUNCTION ai.ollama_embed(model text, input_texts text[], host text DEFAULT NULL,
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

CREATE FUNCTION ai.ollama_list_models(host text DEFAULT NULL, verbose boolean DEFAULT false)
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

CREATE FUNCTION ai._keyed_config(implementation text, model text, input_type text,
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

CREATE FUNCTION ai.voyageai_embed(model text, input_text text, input_type text DEFAULT NULL,
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

CREATE FUNCTION ai.voyageai_embed(model text, input_texts text[], input_type text DEFAULT NULL,
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

CREATE FUNCTION ai.cohere_embed(model text, input_text text, api_key text DEFAULT NULL,
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

CREATE FUNCTION ai.cohere_embed(model text, input_texts text[], api_key text DEFAULT NULL,
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

-- The embedded model: no provider, no key, no network. PARALLEL SAFE and IMMUTABLE: what it gives
-- depends on nothing but the text and the file of the model.

CREATE FUNCTION ai._local_embed(model text, inputs text[]) RETURNS vector[]
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'ai_local_embed';
COMMENT ON FUNCTION ai._local_embed(text, text[]) IS
    'embeddings of texts, in their order, by the embedded model; null for null';

-- COST: a text takes milliseconds. The planner is to check cheaper conditions first, and to use
-- parallel workers sooner.
CREATE FUNCTION ai.local_embed(input_text text, model text DEFAULT 'all-MiniLM-L6-v2')
    RETURNS vector
    LANGUAGE sql IMMUTABLE PARALLEL SAFE COST 100000
    SET search_path = pg_catalog, pg_temp
    AS $$SELECT (ai._local_embed(model, ARRAY[input_text]))[1]$$;
COMMENT ON FUNCTION ai.local_embed(text, text) IS
    'embedding of a text by the model that runs inside the server';

CREATE FUNCTION ai.local_embed(input_texts text[], model text DEFAULT 'all-MiniLM-L6-v2')
    RETURNS TABLE ("index" int4, embedding vector)
    LANGUAGE sql IMMUTABLE PARALLEL SAFE COST 100000
    SET search_path = pg_catalog, pg_temp
    AS $$SELECT * FROM ai._embedding_rows(ai._local_embed(model, input_texts))$$;
COMMENT ON FUNCTION ai.local_embed(text[], text) IS
    'embeddings of texts by the model that runs inside the server; the index counts from 0';

-- By the model of a vectorizer: for the query side of a search.

-- Providers that tell documents from queries get a query, unless another input_type is given.
CREATE FUNCTION ai._query_config(config jsonb, input_type text) RETURNS jsonb
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

CREATE FUNCTION ai.vectorizer_embed(embedding_config jsonb, input_text text,
                                    input_type text DEFAULT NULL) RETURNS vector
    LANGUAGE sql IMMUTABLE
    SET search_path = pg_catalog, pg_temp
    AS $$SELECT ai.embed(ai._query_config(embedding_config, input_type), input_text)$$;
COMMENT ON FUNCTION ai.vectorizer_embed(jsonb, text, text) IS
    'embedding of a query by the model of an embedding configuration';

-- Whoever may read the embeddings may search them: the key is used with the rights of the
-- vectorizer's owner.
CREATE FUNCTION ai._vectorizer_embed(caller oid, vectorizer_id int4, input_text text,
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

CREATE FUNCTION ai._vectorizer_embed(caller oid, name text, input_text text, input_type text)
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

CREATE FUNCTION ai.vectorizer_embed(vectorizer_id int4, input_text text,
                                    input_type text DEFAULT NULL) RETURNS vector
    LANGUAGE c IMMUTABLE
    AS 'MODULE_PATHNAME', 'ai_call_as_owner';
COMMENT ON FUNCTION ai.vectorizer_embed(int4, text, text) IS
    'embedding of a query by the model of a vectorizer, for a search in its embeddings';

CREATE FUNCTION ai.vectorizer_embed(name text, input_text text, input_type text DEFAULT NULL)
    RETURNS vector
    LANGUAGE c IMMUTABLE
    AS 'MODULE_PATHNAME', 'ai_call_as_owner';
COMMENT ON FUNCTION ai.vectorizer_embed(text, text, text) IS
    'embedding of a query by the model of a vectorizer, for a search in its embeddings';
