-- Vector indexes: which one a vectorizer is to have, whether it is there, and when to make it. The
-- coordinator asks, an index builder makes it; see src/worker/upkeep/index_keeper.hpp.

-- As the catalog shows the key of an index, so that one that a user has made is recognised. A target
-- may have become one of halfvec, for which the operator classes have other names.
CREATE OR REPLACE FUNCTION ai._index_key(relation regclass, column_name name, INOUT opclass text,
        OUT key text)
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    dimensions int4;
    type_name name;
    vector_schema name := (SELECT n.nspname FROM pg_extension e
        JOIN pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'vector');
BEGIN
    SELECT a.atttypmod, t.typname INTO dimensions, type_name
    FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid
    WHERE a.attrelid = relation AND a.attname = column_name AND NOT a.attisdropped;
    IF type_name = 'halfvec' THEN
        opclass := regexp_replace(opclass, '^vector_', 'halfvec_');
    END IF;
    key := CASE
        WHEN opclass LIKE 'bit_%' THEN
            format('((%I.binary_quantize(%I))::bit(%s))', vector_schema, column_name, dimensions)
        WHEN opclass LIKE 'halfvec_%' AND type_name <> 'halfvec' THEN
            format('((%I)::%I.halfvec(%s))', column_name, vector_schema, dimensions)
        ELSE quote_ident(column_name) END;
END
$$;
COMMENT ON FUNCTION ai._index_key(regclass, name, text) IS
    'what an index with an operator class of pgvector has as its key for a column of embeddings, '
    'and the operator class that fits the type of the column';

CREATE OR REPLACE FUNCTION ai._has_vector_index(relation regclass, key text, opclass text) RETURNS boolean
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT EXISTS (
        SELECT FROM pg_index i
        JOIN pg_class c ON c.oid = i.indexrelid
        JOIN pg_am m ON m.oid = c.relam AND m.amname = 'hnsw'
        JOIN pg_opclass o ON o.oid = i.indclass[0] AND o.opcname = opclass
        WHERE i.indrelid = relation AND i.indisvalid AND i.indpred IS NULL
          AND pg_get_indexdef(i.indexrelid, 1, false) = key)
    $$;
COMMENT ON FUNCTION ai._has_vector_index(regclass, text, text) IS
    'whether a table has a complete hnsw index with a key and an operator class';

CREATE OR REPLACE FUNCTION ai._leaf_tables(relation regclass) RETURNS SETOF regclass
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT relation FROM pg_class c WHERE c.oid = relation AND c.relkind = 'r'
    UNION
    SELECT p.relid FROM pg_partition_tree(relation) p JOIN pg_class c ON c.oid = p.relid
    WHERE c.relkind = 'r'
    $$;
COMMENT ON FUNCTION ai._leaf_tables(regclass) IS
    'a table, or the tables among the partitions of a partitioned one';

-- Indexes of partitions are made one by one: only so nobody has to wait for them. One that is not
-- valid and has our name is what is left of a build that was broken off.
CREATE OR REPLACE FUNCTION ai._vectorizer_indexes(v ai.vectorizer, OUT relation regclass, OUT index_name name,
        OUT key text, OUT opclass text, OUT present boolean, OUT leftover regclass)
    RETURNS SETOF record
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT c.oid, n.index_name, k.key, k.opclass, ai._has_vector_index(c.oid, k.key, k.opclass),
        (SELECT i.indexrelid FROM pg_index i JOIN pg_class x ON x.oid = i.indexrelid
         WHERE i.indrelid = c.oid AND NOT i.indisvalid
           AND x.relname ~ format('_%s_(vector|halfvec|bit)_[a-z0-9]+_ops$', v.id) LIMIT 1)
    FROM (SELECT coalesce(v.target, v.source) AS root,
              coalesce(v.config #>> '{destination,embedding_column}', 'embedding')::name AS col) t
    CROSS JOIN ai._leaf_tables(t.root) leaf
    JOIN pg_class c ON c.oid = leaf
    CROSS JOIN LATERAL ai._index_key(c.oid, t.col,
        coalesce(v.config #>> '{indexing,opclass}', 'vector_cosine_ops')) k
    CROSS JOIN LATERAL ai._clipped_name(c.relname, format('_%s_%s', v.id, k.opclass)) n (index_name)
    WHERE v.config #>> '{indexing,implementation}' = 'hnsw'
    $$;
COMMENT ON FUNCTION ai._vectorizer_indexes(ai.vectorizer) IS
    'vector indexes that a vectorizer is to have, one for each table or partition';

-- What the statistics tell of tables that were never looked at is nothing, and not that there is none.
CREATE OR REPLACE FUNCTION ai._may_have_rows(relation regclass, rows int4) RETURNS boolean
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT bool_or(e.estimate IS NULL) OR sum(e.estimate) >= 0.9 * rows
    FROM ai._leaf_tables(relation) leaf JOIN pg_class c ON c.oid = leaf
    CROSS JOIN LATERAL (SELECT CASE
        WHEN c.reltuples >= 0 OR pg_stat_get_live_tuples(c.oid) > 0
        THEN greatest(c.reltuples, pg_stat_get_live_tuples(c.oid)) END) e (estimate)
    $$;
COMMENT ON FUNCTION ai._may_have_rows(regclass, int4) IS
    'whether a table may have a number of rows, by a cheap estimate';

-- Rows that wait for another attempt are not waited for. Whoever has locked the queue is about to
-- change something, so it is looked at later.
CREATE OR REPLACE FUNCTION ai._vectorizer_is_idle(v ai.vectorizer) RETURNS boolean
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    result boolean;
BEGIN
    EXECUTE format('LOCK TABLE %s, %s IN ACCESS SHARE MODE NOWAIT',
                   ai._qualified_name(v.queue), ai._qualified_name(v.work));
    EXECUTE format('SELECT NOT EXISTS (SELECT FROM %s) AND NOT EXISTS (SELECT FROM %s w '
                   'WHERE w.lease IS NOT NULL '
                   'OR w.retry_at OPERATOR(pg_catalog.<=) pg_catalog.now())',
                   ai._qualified_name(v.queue), ai._qualified_name(v.work)) INTO result;
    RETURN result;
EXCEPTION WHEN lock_not_available OR undefined_table THEN
    RETURN false;
END
$$;
COMMENT ON FUNCTION ai._vectorizer_is_idle(ai.vectorizer) IS
    'whether a vectorizer has nothing to do at the moment';

CREATE OR REPLACE FUNCTION ai._missing_indexes(OUT id int4, OUT configuration text) RETURNS SETOF record
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    rows_of_a_page CONSTANT bigint := 300;  -- no more fit into one
    v ai.vectorizer;
    missing boolean;
    leftover boolean;
BEGIN
    FOR v IN
        SELECT x.* FROM ai.vectorizer x JOIN pg_class c ON c.oid = coalesce(x.target, x.source)
        WHERE x.config #>> '{indexing,implementation}' = 'hnsw' AND NOT x.disabled AND NOT x.restoring
          AND (c.relkind = 'p' OR ai._pages(c.oid) * rows_of_a_page >= coalesce(
                   (x.config #>> '{indexing,min_rows}')::int4, 100000)
               OR EXISTS (SELECT FROM pg_index i WHERE i.indrelid = c.oid AND NOT i.indisvalid))
        ORDER BY x.id
    LOOP
        SELECT bool_or(NOT i.present), bool_or(i.leftover IS NOT NULL) INTO missing, leftover
        FROM ai._vectorizer_indexes(v) i;
        IF leftover OR missing
           AND ai._may_have_rows(coalesce(v.target, v.source),
                                 coalesce((v.config #>> '{indexing,min_rows}')::int4, 100000))
           AND (NOT coalesce((v.config #>> '{indexing,create_when_queue_empty}')::boolean, true)
                OR ai._vectorizer_is_idle(v)) THEN
            id := v.id;
            configuration := v.config ->> 'indexing';
            RETURN NEXT;
        END IF;
    END LOOP;
END
$$;
COMMENT ON FUNCTION ai._missing_indexes() IS
    'vectorizers that lack a vector index, and have perhaps rows enough for it';

-- As the owner of the source, since counting plans a query on that role's table.
CREATE OR REPLACE FUNCTION ai._vectorizer_has_rows(v ai.vectorizer, rows int4) RETURNS boolean
    LANGUAGE sql
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT ai._run_as(ai._vectorizer_owner(v), format(
        'SELECT FROM (SELECT pg_catalog.count(*) FROM (SELECT FROM %s WHERE %I IS NOT NULL '
        'LIMIT %s) r) c (n) WHERE n OPERATOR(pg_catalog.>=) %3$s',
        ai._qualified_name(coalesce(v.target, v.source)),
        coalesce(v.config #>> '{destination,embedding_column}', 'embedding'), rows)) > 0
    $$;
COMMENT ON FUNCTION ai._vectorizer_has_rows(ai.vectorizer, int4) IS
    'whether a vectorizer has made a number of embeddings';

-- Who may not create in the schema has the index made for it, as its table was; an index belongs to
-- the owner of the table in any case, and expressions in it run as that role.
CREATE OR REPLACE FUNCTION ai._next_index_step(vectorizer_id int4, OUT role oid, OUT statement text)
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    v ai.vectorizer;
    i record;
    indexing jsonb;
    options text;
BEGIN
    SELECT * INTO v FROM ai.vectorizer x WHERE x.id = vectorizer_id;
    indexing := v.config -> 'indexing';
    options := concat_ws(', ', 'm = ' || (indexing ->> 'm'),
                         'ef_construction = ' || (indexing ->> 'ef_construction'));
    SELECT x.*, c.relnamespace INTO i FROM ai._vectorizer_indexes(v) x
    JOIN pg_class c ON c.oid = x.relation
    WHERE x.leftover IS NOT NULL OR NOT x.present
    ORDER BY x.leftover IS NULL, x.relation LIMIT 1;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    role := ai._vectorizer_owner(v);
    IF NOT has_schema_privilege(role, i.relnamespace, 'CREATE') THEN
        role := (SELECT e.extowner FROM pg_extension e WHERE e.extname = 'ai');
    END IF;
    IF i.leftover IS NOT NULL THEN
        statement := 'DROP INDEX CONCURRENTLY ' || ai._qualified_name(i.leftover);
    ELSIF ai._vectorizer_has_rows(v, coalesce((indexing ->> 'min_rows')::int4, 100000)) THEN
        statement := format('CREATE INDEX CONCURRENTLY %I ON ONLY %s USING hnsw (%s %I.%I)%s',
            i.index_name, ai._qualified_name(i.relation), i.key,
            (SELECT n.nspname FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace
             WHERE e.extname = 'vector'), i.opclass,
            CASE WHEN options <> '' THEN ' WITH (' || options || ')' ELSE '' END);
    END IF;
END
$$;
COMMENT ON FUNCTION ai._next_index_step(int4) IS
    'the next statement on the way to the indexes of a vectorizer, and the role that runs it';

CREATE OR REPLACE FUNCTION ai._record_index_error(vectorizer_id int4, message text) RETURNS void
    LANGUAGE sql
    SET search_path = pg_catalog, pg_temp
    AS $$
    INSERT INTO ai._vectorizer_errors (id, message, details)
    SELECT v.id, message, '{"step": "indexing", "class": "transient"}'
    FROM ai.vectorizer v WHERE v.id = vectorizer_id
    $$;
COMMENT ON FUNCTION ai._record_index_error(int4, text) IS
    'notes why an index of a vectorizer could not be made';

CREATE OR REPLACE FUNCTION ai._holds_up_others(pid int4) RETURNS boolean
    LANGUAGE sql
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT EXISTS (SELECT FROM pg_stat_get_activity(NULL) a WHERE CASE
        WHEN a.wait_event_type = 'Lock' THEN _holds_up_others.pid = ANY (pg_blocking_pids(a.pid)) END)
    $$;
COMMENT ON FUNCTION ai._holds_up_others(int4) IS
    'whether somebody waits for a lock of a process';

REVOKE ALL ON FUNCTION ai._vectorizer_is_idle(ai.vectorizer), ai._missing_indexes(),
    ai._vectorizer_has_rows(ai.vectorizer, int4), ai._next_index_step(int4),
    ai._record_index_error(int4, text), ai._holds_up_others(int4) FROM PUBLIC;
