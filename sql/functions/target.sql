-- Where embeddings go: a table with a view over it, or a column of the source table.

CREATE OR REPLACE FUNCTION ai._vector_type(dimensions int4) RETURNS text
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT format('%I.vector(%s)', n.nspname, dimensions)
    FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'vector'
    $$;
COMMENT ON FUNCTION ai._vector_type(int4) IS
    'the type vector with a number of dimensions, in whichever schema pgvector is';

-- Made by the owner where that role may create in the schema, so that its default privileges apply;
-- otherwise made for it, without anybody else's.
CREATE OR REPLACE FUNCTION ai._create_for_owner(owner oid, schema_name name, kind text, relation name,
                                     definition text) RETURNS regclass
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    statement text := format('CREATE %s %I.%I %s', kind, schema_name, relation, definition);
    made regclass;
    grantee oid;
BEGIN
    IF has_schema_privilege(owner, schema_name, 'CREATE') THEN
        PERFORM ai._run_as(owner, statement);
        RETURN format('%I.%I', schema_name, relation)::regclass;
    END IF;
    EXECUTE statement;
    made := format('%I.%I', schema_name, relation)::regclass;
    EXECUTE format('ALTER TABLE %I.%I OWNER TO %I', schema_name, relation, pg_get_userbyid(owner));
    FOR grantee IN
        SELECT DISTINCT acl.grantee FROM pg_class c, aclexplode(c.relacl) acl
        WHERE c.oid = made AND acl.grantee <> owner
    LOOP
        EXECUTE format('REVOKE ALL ON %I.%I FROM %s', schema_name, relation,
            CASE grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(grantee)) END);
    END LOOP;
    RETURN made;
END
$$;
COMMENT ON FUNCTION ai._create_for_owner(oid, name, text, name, text) IS
    'makes a table or view that belongs to a role';

CREATE OR REPLACE FUNCTION ai._vectorizer_create_target_table(owner oid, target_schema name,
        target_table name, source_pk jsonb, dimensions int4) RETURNS regclass
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    target regclass;
    keys text := (
        SELECT string_agg(format('%I %s%s NOT NULL, ', k ->> 'target_column', k ->> 'typname',
                                 coalesce(' COLLATE ' || (k ->> 'collation'), '')), ''
                          ORDER BY (k ->> 'pknum')::int)
        FROM jsonb_array_elements(source_pk) k);
BEGIN
    target := ai._create_for_owner(owner, target_schema, 'TABLE', target_table,
        format('(embedding_uuid uuid PRIMARY KEY DEFAULT gen_random_uuid(), %s'
               'chunk_seq int NOT NULL, chunk text NOT NULL, embedding %s NOT NULL, '
               'content_hash bytea, UNIQUE (%s, chunk_seq))',
               keys, ai._vector_type(dimensions), ai._key_list(source_pk, '%3$s')));
    -- Vectors hardly compress, and reading them from a second table is slow.
    PERFORM ai._run_as(owner, format('ALTER TABLE %s ALTER COLUMN embedding SET STORAGE MAIN',
                                     ai._qualified_name(target)));
    RETURN target;
END
$$;
COMMENT ON FUNCTION ai._vectorizer_create_target_table(oid, name, name, jsonb, int4) IS
    'makes the table for a vectorizer''s embeddings';

-- Columns of the source that are called as ours get a prefix.
CREATE OR REPLACE FUNCTION ai._vectorizer_view_columns(source regclass) RETURNS text
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    source_column name;
    shown name;
    taken name[] := ARRAY(SELECT a.attname FROM pg_attribute a
                          WHERE a.attrelid = source AND a.attnum > 0 AND NOT a.attisdropped);
    result text := '';
BEGIN
    FOR source_column IN
        SELECT a.attname FROM pg_attribute a
        WHERE a.attrelid = source AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum
    LOOP
        shown := source_column;
        IF source_column IN ('embedding_uuid', 'chunk_seq', 'chunk', 'embedding') THEN
            shown := ai._free_name(ai._clipped_name('source_' || source_column, ''), taken, '_');
            taken := taken || shown;
        END IF;
        result := result || format(', s.%I AS %I', source_column, shown);
    END LOOP;
    RETURN result;
END
$$;
COMMENT ON FUNCTION ai._vectorizer_view_columns(regclass) IS
    'columns of a source table as a vectorizer''s view shows them';

-- The view reads with the rights of its owner. Row security of the source would be void that way,
-- so where there is any, the view reads with the rights of its user.
CREATE OR REPLACE FUNCTION ai._vectorizer_create_view(owner oid, view_schema name, view_name name,
        source regclass, target regclass, source_pk jsonb) RETURNS regclass
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    RETURN ai._create_for_owner(owner, view_schema, 'VIEW', view_name,
        format('%sAS SELECT t.embedding_uuid, t.chunk_seq, t.chunk, t.embedding%s '
               'FROM %s t JOIN %s s ON %s',
               (SELECT CASE WHEN c.relrowsecurity THEN 'WITH (security_invoker = true) ' ELSE '' END
                FROM pg_class c WHERE c.oid = source),
               ai._vectorizer_view_columns(source),
               ai._qualified_name(target), ai._from_source(source),
               ai._key_list(source_pk, 's.%1$s %4$s t.%3$s', ' AND ')));
END
$$;
COMMENT ON FUNCTION ai._vectorizer_create_view(oid, name, name, regclass, regclass, jsonb) IS
    'makes the view that joins a vectorizer''s source and target';

-- Row security may come later. Who wants the rights of the owner nevertheless says so in the view.
CREATE OR REPLACE FUNCTION ai._vectorizer_follow_row_security(v ai.vectorizer) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    IF NOT EXISTS (
        SELECT FROM pg_class s JOIN pg_class w ON w.oid = v.view
        WHERE s.oid = v.source AND s.relrowsecurity AND NOT EXISTS (
            SELECT FROM pg_options_to_table(w.reloptions) o
            WHERE o.option_name = 'security_invoker')) THEN
        RETURN;
    END IF;
    EXECUTE format('ALTER VIEW %s SET (security_invoker = true)', ai._qualified_name(v.view));
    RAISE NOTICE 'view % reads with the rights of its user from now on', ai._qualified_name(v.view)
        USING DETAIL = format('Table %s has row security, which would be void with the rights of '
                              'the view''s owner.', ai._qualified_name(v.source)),
              HINT = 'Who uses the view needs the right to read the source and the target table.';
END
$$;
COMMENT ON FUNCTION ai._vectorizer_follow_row_security(ai.vectorizer) IS
    'has the view of a vectorizer respect the row security of its source';

CREATE OR REPLACE FUNCTION ai._vectorizer_check_embedding_column(source regclass, embedding_column name,
                                                      dimensions int4) RETURNS boolean
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    found_type text;
BEGIN
    SELECT format_type(a.atttypid, a.atttypmod) INTO found_type FROM pg_attribute a
    WHERE a.attrelid = source AND a.attname = embedding_column AND NOT a.attisdropped;
    IF found_type IS NULL THEN
        RETURN false;
    END IF;
    IF found_type <> (SELECT format_type(t.oid, dimensions) FROM pg_type t
                      JOIN pg_extension e ON e.extnamespace = t.typnamespace
                      WHERE e.extname = 'vector' AND t.typname = 'vector') THEN
        RAISE EXCEPTION 'column "%" of the source table is of type %, not vector(%)',
            embedding_column, found_type, dimensions
            USING ERRCODE = 'datatype_mismatch',
                  HINT = 'Name a column that does not exist yet, or one of that type.';
    END IF;
    RETURN true;
END
$$;
COMMENT ON FUNCTION ai._vectorizer_check_embedding_column(regclass, name, int4) IS
    'whether the source has the embedding column already; raises an error if it is of another type';
