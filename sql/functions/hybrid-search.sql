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
