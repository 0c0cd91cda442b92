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
