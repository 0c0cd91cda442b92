-- What the statements of a search are made of: which tables, columns, operators and conditions.

-- As the index of a vectorizer has it, so that it is used. An index of bits finds candidates only,
-- many times as many as are wanted, which are then put in order by their cosine distance.
CREATE FUNCTION ai._search_distance(config jsonb, embedding text, OUT ordering text,
        OUT distance text, OUT score text, OUT oversampling int4)
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    opclass text := coalesce(config #>> '{indexing,opclass}', 'vector_cosine_ops');
    type text := split_part(opclass, '_', 1);
    metric text := split_part(opclass, '_', 2);
    dimensions text := config #>> '{embedding,dimensions}';
    pgvector text;
BEGIN
    SELECT quote_ident(n.nspname) INTO pgvector
    FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'vector';
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
COMMENT ON FUNCTION ai._search_distance(jsonb, text) IS
    'how far an embedding is from the query $1, by the operator of the vectorizer''s index: what '
    'to order by, the distance, the score of a hit h, and how many candidates a hit takes';

-- Who may read the target but not the source gets what is in the target. With a filter, or with row
-- security on the source, it takes the right to read the source, too.
CREATE FUNCTION ai._search_require_readable(caller oid, v ai.vectorizer, relations regclass[])
    RETURNS void
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    relation regclass;
BEGIN
    FOREACH relation IN ARRAY relations LOOP
        IF NOT has_any_column_privilege(caller, relation, 'SELECT') THEN
            RAISE EXCEPTION 'permission denied for vectorizer "%"', v.name
                USING ERRCODE = 'insufficient_privilege',
                      HINT = format('This search takes the right to read table %s.',
                                    ai._qualified_name(relation));
        END IF;
    END LOOP;
END
$$;
COMMENT ON FUNCTION ai._search_require_readable(oid, ai.vectorizer, regclass[]) IS
    'raises an error unless the caller of a search may read tables';

CREATE FUNCTION ai._search_require_embeddings(v ai.vectorizer) RETURNS void
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    embedding_column name := v.config #>> '{destination,embedding_column}';
BEGIN
    IF v.target IS NULL AND NOT EXISTS (
        SELECT FROM pg_attribute a
        WHERE a.attrelid = v.source AND a.attname = embedding_column AND NOT a.attisdropped) THEN
        RAISE EXCEPTION 'vectorizer "%" has no embeddings any more', v.name
            USING ERRCODE = 'object_not_in_prerequisite_state',
                  DETAIL = CASE WHEN embedding_column IS NULL THEN 'Its target table was dropped.'
                           ELSE 'Its embedding column was dropped.' END,
                  HINT = 'Drop the vectorizer with ai.drop_vectorizer and create it again.';
    END IF;
END
$$;
COMMENT ON FUNCTION ai._search_require_embeddings(ai.vectorizer) IS
    'raises an error if the target table or the embedding column of a vectorizer was dropped';

-- What the statements of a search are made of: t has the embeddings, s is the source, and if the
-- embedding is in a column of the source, that is both. k1, k2, ... are the columns of the key.

-- Bytes that are no text must not end a search, so they are shown with escapes. A type of a user
-- may have a cast to text or to json, which is a function of that user and must not run here.
CREATE FUNCTION ai._search_source_text(v ai.vectorizer) RETURNS text
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

CREATE FUNCTION ai._search_keys(v ai.vectorizer, OUT columns text, OUT names text[],
        OUT equals text[], OUT as_jsonb text, OUT matches text, OUT existence text)
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
    INTO columns, names, equals, as_jsonb, matches, existence
    FROM jsonb_to_recordset(v.source_pk) AS k (pknum int4, attname name, queue_column name,
                                                target_column name, equals text)
    JOIN pg_attribute a ON a.attrelid = v.queue AND a.attname = k.queue_column;
END
$$;
COMMENT ON FUNCTION ai._search_keys(ai.vectorizer) IS
    'the key of a vectorizer''s source in the statement of a search: columns to select, their '
    'names and operators, the key of a hit h, what joins source and target, and source and hit';

-- The source is joined so that only rows that still exist are found, and only those that the caller
-- may see and the filter lets through. The first alone can be asked of the hits (join_last).
CREATE FUNCTION ai._search_parts(caller oid, v ai.vectorizer, filter jsonb, join_last boolean,
        OUT relations text, OUT condition text, OUT last_condition text, OUT columns text,
        OUT embedding text, OUT chunk text, OUT key_names text[], OUT key_equals text[],
        OUT key_as_jsonb text, OUT ordering text, OUT distance text, OUT score text,
        OUT oversampling int4)
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    key record := ai._search_keys(v);
    source record;
    joined boolean;
BEGIN
    PERFORM ai._search_require_embeddings(v);
    key_names := key.names;
    key_equals := key.equals;
    key_as_jsonb := key.as_jsonb;
    SELECT c.relrowsecurity AS secured,
        format(CASE c.relkind WHEN 'p' THEN '%I.%I' ELSE 'ONLY %I.%I' END, n.nspname, c.relname)
            AS name
    INTO source
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.oid = v.source;
    joined := v.target IS NOT NULL AND (filter IS NOT NULL OR source.secured
                                        OR has_table_privilege(caller, v.source, 'SELECT'));
    PERFORM ai._search_require_readable(caller, v, array_remove(
        ARRAY[v.target, CASE WHEN joined OR v.target IS NULL THEN v.source END], NULL));
    IF filter IS NOT NULL THEN
        condition := 'WHERE ' || ai._filter_condition(v.source, filter);
    END IF;
    IF v.target IS NULL THEN
        embedding := format('s.%I', v.config #>> '{destination,embedding_column}');
        chunk := ai._search_source_text(v);
        columns := format('%s, 0 AS chunk_seq, NULL::uuid AS embedding_uuid', key.columns);
        relations := source.name || ' s';
        condition := format('%s %s IS NOT NULL', coalesce(condition || ' AND', 'WHERE'), embedding);
    ELSE
        embedding := 't.embedding';
        chunk := 't.chunk';
        columns := key.columns || ', t.chunk_seq, t.embedding_uuid';
        SELECT format('%I.%I t', n.nspname, c.relname) INTO relations
        FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.oid = v.target;
        IF joined AND join_last AND filter IS NULL AND NOT source.secured THEN
            last_condition := format('EXISTS (SELECT FROM %s s WHERE %s)', source.name,
                                     key.existence);
        ELSIF joined THEN
            relations := format('%s JOIN %s s ON %s', relations, source.name, key.matches);
        END IF;
    END IF;
    SELECT d.* INTO ordering, distance, score, oversampling
    FROM ai._search_distance(v.config, embedding) d;
END
$$;
COMMENT ON FUNCTION ai._search_parts(oid, ai.vectorizer, jsonb, boolean) IS
    'what the statement of a search is made of, for the role that called it';

CREATE FUNCTION ai._search_is_approximate(v ai.vectorizer) RETURNS boolean
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    RETURN EXISTS (
        SELECT FROM pg_index i
        JOIN pg_class c ON c.oid = i.indexrelid
        JOIN pg_am m ON m.oid = c.relam
        WHERE i.indrelid = coalesce(v.target, v.source) AND m.amname IN ('hnsw', 'ivfflat'));
END
$$;
COMMENT ON FUNCTION ai._search_is_approximate(ai.vectorizer) IS
    'whether a search may use an index that does not find everything';
