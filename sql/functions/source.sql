-- What a source table is like: its key, and the names that our tables can give to its columns.

CREATE OR REPLACE FUNCTION ai._qualified_name(relation regclass) RETURNS text
    LANGUAGE c STABLE STRICT
    AS 'MODULE_PATHNAME', 'ai_qualified_name';
COMMENT ON FUNCTION ai._qualified_name(regclass) IS
    'name of a relation with its schema, quoted where necessary; for one that is gone, a name that '
    'says so';

-- Names have at most 63 bytes. Cut between characters, never inside of one.
CREATE OR REPLACE FUNCTION ai._clipped_name(base text, suffix text) RETURNS name
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT (left(base, n) || suffix)::name
    FROM generate_series(length(base), 0, -1) n
    WHERE octet_length(left(base, n)) + octet_length(suffix) <= 63
    ORDER BY n DESC LIMIT 1
    $$;
COMMENT ON FUNCTION ai._clipped_name(text, text) IS
    'a name made of two parts, the first one clipped so that it fits';

CREATE OR REPLACE FUNCTION ai._free_name(wanted name, taken name[], suffix text) RETURNS name
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    candidate name := wanted;
    tries int := 1;
BEGIN
    WHILE candidate = ANY (taken) LOOP
        candidate := ai._clipped_name(wanted, suffix || coalesce(nullif(tries, 1)::text, ''));
        tries := tries + 1;
    END LOOP;
    RETURN candidate;
END
$$;
COMMENT ON FUNCTION ai._free_name(name, name[], text) IS
    'the wanted name, or if it is taken that name with a suffix and perhaps a number';

CREATE OR REPLACE FUNCTION ai._base_type(INOUT type oid, INOUT typmod int4)
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    base record;
BEGIN
    LOOP
        SELECT t.typbasetype, t.typtypmod INTO base FROM pg_type t
        WHERE t.oid = type AND t.typtype = 'd';
        EXIT WHEN NOT FOUND;
        type := base.typbasetype;
        typmod := base.typtypmod;
    END LOOP;
END
$$;
COMMENT ON FUNCTION ai._base_type(oid, int4) IS 'the type below a domain, or the type itself';

-- The primary key, or else the smallest unique index on columns that are not null.
CREATE OR REPLACE FUNCTION ai._vectorizer_key_index(source_table regclass) RETURNS regclass
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT i.indexrelid::regclass
    FROM pg_index i
    WHERE i.indrelid = source_table AND i.indisvalid AND i.indpred IS NULL AND i.indexprs IS NULL
      AND (i.indisprimary OR i.indisunique AND i.indimmediate AND NOT EXISTS (
          SELECT FROM generate_series(0, i.indnkeyatts - 1) k
          JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[k]
          WHERE NOT a.attnotnull))
    ORDER BY i.indisprimary DESC, i.indnkeyatts, i.indexrelid
    LIMIT 1
    $$;
COMMENT ON FUNCTION ai._vectorizer_key_index(regclass) IS
    'index whose columns identify the rows of a table; null if there is none';

-- Equality is that of the key's own index: names like = are not found by the search_path for types
-- of other extensions. A key of ranges that must not overlap has an index without it.
CREATE OR REPLACE FUNCTION ai._vectorizer_key_columns(source_table regclass,
        OUT pknum int4, OUT attname name, OUT typname text, OUT basetype text,
        OUT collation_name text, OUT equals text) RETURNS SETOF record
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT k + 1, a.attname, format_type(a.atttypid, a.atttypmod),
        format_type(b.type, b.typmod),
        CASE WHEN a.attcollation <> (SELECT t.typcollation FROM pg_type t WHERE t.oid = b.type) THEN
            (SELECT format('%I.%I', n.nspname, c.collname)
             FROM pg_collation c JOIN pg_namespace n ON n.oid = c.collnamespace
             WHERE c.oid = a.attcollation) END,
        coalesce(
            (SELECT format('OPERATOR(%I.%s)', n.nspname, o.oprname)
             FROM pg_opclass oc
             JOIN pg_am m ON m.oid = oc.opcmethod AND m.amname = 'btree'
             JOIN pg_amop ao ON ao.amopfamily = oc.opcfamily AND ao.amopstrategy = 3
                  AND ao.amoplefttype = oc.opcintype AND ao.amoprighttype = oc.opcintype
             JOIN pg_operator o ON o.oid = ao.amopopr
             JOIN pg_namespace n ON n.oid = o.oprnamespace
             WHERE oc.oid = i.indclass[k]),
            'OPERATOR(pg_catalog.=)')
    FROM pg_index i
    CROSS JOIN generate_series(0, i.indnkeyatts - 1) k
    JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[k]
    CROSS JOIN LATERAL ai._base_type(a.atttypid, a.atttypmod) b
    WHERE i.indexrelid = ai._vectorizer_key_index(source_table)
    ORDER BY k
    $$;
COMMENT ON FUNCTION ai._vectorizer_key_columns(regclass) IS
    'columns that identify a row of a table, in the order of the key';

CREATE OR REPLACE FUNCTION ai._vectorizer_source_pk(source_table regclass) RETURNS jsonb
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    key record;
    keys name[] := ARRAY(SELECT k.attname FROM ai._vectorizer_key_columns(source_table) k);
    -- Columns of the queue, of its tables of work and of failed rows, then those of the target.
    queue_taken name[] := '{queued_at,priority,attempts,retry_at,lease,taken_at,step,error,class,'
                          'failed_at}';
    target_taken name[] := '{embedding_uuid,chunk_seq,chunk,embedding,content_hash}';
    queue_column name;
    target_column name;
    result jsonb := '[]';
BEGIN
    FOR key IN SELECT * FROM ai._vectorizer_key_columns(source_table) LOOP
        queue_column := ai._free_name(key.attname, queue_taken || array_remove(keys, key.attname),
                                      '_key');
        target_column := ai._free_name(key.attname, target_taken || array_remove(keys, key.attname),
                                       '_key');
        queue_taken := queue_taken || queue_column;
        target_taken := target_taken || target_column;
        result := result || ai._config_object(jsonb_build_object(
            'attname', key.attname, 'pknum', key.pknum, 'typname', key.typname,
            'basetype', key.basetype, 'collation', key.collation_name, 'equals', key.equals,
            'queue_column', queue_column, 'target_column', target_column));
    END LOOP;
    RETURN nullif(result, '[]');
END
$$;
COMMENT ON FUNCTION ai._vectorizer_source_pk(regclass) IS
    'description of the key of a table, as in ai.vectorizer.source_pk; null if it has none';

-- The columns of a key in one form, joined: the templates know %1$s source, %2$s queue, %3$s target
-- column, %4$s equality operator, all quoted.
CREATE OR REPLACE FUNCTION ai._key_list(source_pk jsonb, template text, separator text DEFAULT ', ')
    RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT string_agg(
        format(template, quote_ident(k ->> 'attname'), quote_ident(k ->> 'queue_column'),
               quote_ident(k ->> 'target_column'), k ->> 'equals'),
        separator ORDER BY (k ->> 'pknum')::int)
    FROM jsonb_array_elements(source_pk) k
    $$;
COMMENT ON FUNCTION ai._key_list(jsonb, text, text) IS
    'columns of a key for a statement, each formatted with a template';

-- Rows of children are not in the key's index, so a table is read without them. A partitioned
-- table has no rows but those.
CREATE OR REPLACE FUNCTION ai._from_source(source regclass) RETURNS text
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT CASE WHEN c.relkind = 'p' THEN '' ELSE 'ONLY ' END || ai._qualified_name(source)
    FROM pg_class c WHERE c.oid = source
    $$;
COMMENT ON FUNCTION ai._from_source(regclass) IS 'a source table as it is written after FROM';

-- Types of users may have casts to json, which are functions of users: these must not run here, and
-- the values of such types are shown as texts.
CREATE OR REPLACE FUNCTION ai._key_as_jsonb(v ai.vectorizer, relation text) RETURNS text
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT 'pg_catalog.jsonb_build_object(' || string_agg(
        format(CASE WHEN a.atttypid < 16384 THEN '%L, %s.%I'
                    ELSE '%L, pg_catalog.format(''%%s'', %s.%I)' END,
               k ->> 'attname', relation, k ->> 'queue_column'), ', '
        ORDER BY (k ->> 'pknum')::int) || ')'
    FROM jsonb_array_elements(v.source_pk) k
    LEFT JOIN pg_attribute a ON a.attrelid = v.queue AND a.attname = k ->> 'queue_column'
    $$;
COMMENT ON FUNCTION ai._key_as_jsonb(ai.vectorizer, text) IS
    'expression for the key of a row of the queue, or of the tables of work and of failed rows';
