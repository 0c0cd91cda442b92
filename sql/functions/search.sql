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
