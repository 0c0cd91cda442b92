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
