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
