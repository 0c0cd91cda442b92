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
