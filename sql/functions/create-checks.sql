-- What create_vectorizer checks before it makes anything.

CREATE OR REPLACE FUNCTION ai._vectorizer_check_grantees(grantees name[]) RETURNS name[]
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    missing name[] := ARRAY(SELECT g FROM unnest(grantees) g
                            WHERE NOT EXISTS (SELECT FROM pg_roles r WHERE r.rolname = g));
BEGIN
    IF missing <> '{}' THEN
        RAISE WARNING 'one or more grant_to roles do not exist: %', missing;
    END IF;
    RETURN ARRAY(SELECT g FROM unnest(grantees) g EXCEPT SELECT unnest(missing));
END
$$;
COMMENT ON FUNCTION ai._vectorizer_check_grantees(name[]) IS
    'the roles that exist; warns of the others';

CREATE OR REPLACE FUNCTION ai._vectorizer_check_source_kind(source regclass) RETURNS void
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    relation pg_class;
    reason text;
BEGIN
    SELECT * INTO relation FROM pg_class c WHERE c.oid = source;
    reason := CASE
        WHEN relation.relkind IN ('v', 'm') THEN 'Changes of a view fire no row triggers.'
        WHEN relation.relkind = 'f' THEN 'Changes made on the foreign server fire no triggers here.'
        WHEN relation.relkind NOT IN ('r', 'p') THEN 'It is not a table.'
        WHEN relation.relpersistence = 't' THEN
            'Background workers cannot see the temporary tables of a session.'
        WHEN relation.relnamespace IN ('pg_catalog'::regnamespace, 'ai'::regnamespace)
            THEN 'It belongs to the system.'
        WHEN EXISTS (SELECT FROM pg_partition_tree(source) t JOIN pg_class c ON c.oid = t.relid
                     WHERE c.relkind = 'f') THEN
            'One of its partitions is a foreign table, whose changes fire no triggers here.' END;
    IF reason IS NOT NULL THEN
        RAISE EXCEPTION 'cannot create a vectorizer on "%"', relation.relname
            USING ERRCODE = 'wrong_object_type', DETAIL = reason;
    END IF;
END
$$;
COMMENT ON FUNCTION ai._vectorizer_check_source_kind(regclass) IS
    'raises an error unless a relation is a table whose changes triggers can follow';

-- The lock is the one of CREATE TRIGGER: from here on nobody writes, until the triggers are there. Where
-- a column is added, it is at once the one of that: taken later, it would wait for readers that by then
-- wait to write.
CREATE OR REPLACE FUNCTION ai._vectorizer_check_source(caller oid, source regclass, embedding_column name)
    RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    IF source IS NULL THEN
        RAISE EXCEPTION 'source table is required' USING ERRCODE = 'null_value_not_allowed';
    END IF;
    IF NOT EXISTS (SELECT FROM pg_class c WHERE c.oid = source) THEN
        RAISE EXCEPTION 'source table with OID % does not exist', source::oid
            USING ERRCODE = 'undefined_table';
    END IF;
    IF NOT ai._is_owner(caller, source) THEN
        RAISE EXCEPTION
            'only a superuser or the owner of the source table may create a vectorizer on it'
            USING ERRCODE = 'insufficient_privilege';
    END IF;
    PERFORM ai._vectorizer_check_source_kind(source);
    EXECUTE format('LOCK TABLE %s IN %s MODE', ai._qualified_name(source),
        CASE WHEN embedding_column IS NULL OR EXISTS (
            SELECT FROM pg_attribute a WHERE a.attrelid = source AND a.attname = embedding_column)
        THEN 'SHARE ROW EXCLUSIVE' ELSE 'ACCESS EXCLUSIVE' END);
    IF NOT ai._is_owner(caller, source) THEN
        RAISE EXCEPTION 'source table was changed by another session'
            USING ERRCODE = 'object_not_in_prerequisite_state';
    END IF;
END
$$;
COMMENT ON FUNCTION ai._vectorizer_check_source(oid, regclass, name) IS
    'raises an error unless the caller may create a vectorizer on a table; then locks the table';

-- Work is done as the owner, for whom rows that a policy hides are not there.
CREATE OR REPLACE FUNCTION ai._vectorizer_check_row_security(source regclass) RETURNS void
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    IF EXISTS (SELECT FROM pg_class c JOIN pg_roles r ON r.oid = c.relowner
               WHERE c.oid = source AND c.relrowsecurity AND c.relforcerowsecurity
                 AND NOT r.rolsuper AND NOT r.rolbypassrls) THEN
        RAISE WARNING 'row security of % holds for its owner, too', ai._qualified_name(source)
            USING DETAIL = 'Rows that the owner cannot see are not embedded.',
                  HINT = 'Give the owner a policy that shows all rows, or the attribute BYPASSRLS.';
    END IF;
END
$$;
COMMENT ON FUNCTION ai._vectorizer_check_row_security(regclass) IS
    'warns if the owner of a table may not see all of its rows';

-- A name derived from a long one is clipped, and numbered if it is taken; a name that was given, or
-- fits, is used as it is.
CREATE OR REPLACE FUNCTION ai._derived_name(schema_name name, base name, suffix text) RETURNS name
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    candidate name := ai._clipped_name(base, suffix);
    tries int := 1;
BEGIN
    IF candidate = base || suffix THEN
        RETURN candidate;
    END IF;
    WHILE ai._relation_exists(schema_name, candidate) LOOP
        tries := tries + 1;
        candidate := ai._clipped_name(base, '_' || tries || suffix);
    END LOOP;
    RETURN candidate;
END
$$;
COMMENT ON FUNCTION ai._derived_name(name, name, text) IS
    'a name with a suffix, clipped and made unique where it would be too long';

-- A table or view has a type of its name.
CREATE OR REPLACE FUNCTION ai._relation_exists(schema_name name, relation name) RETURNS boolean
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT EXISTS (SELECT FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
                   WHERE n.nspname = schema_name AND c.relname = relation)
        OR EXISTS (SELECT FROM pg_type t JOIN pg_namespace n ON n.oid = t.typnamespace
                   WHERE n.nspname = schema_name AND t.typname = relation AND t.typelem = 0)
    $$;
COMMENT ON FUNCTION ai._relation_exists(name, name) IS
    'whether a name for a table or view is taken';

-- Work is done as the owner of the source, who therefore has to reach the schema.
CREATE OR REPLACE FUNCTION ai._vectorizer_check_name(caller oid, owner oid, schema_name name, relation name,
                                          argument text) RETURNS void
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM pg_namespace n WHERE n.nspname = schema_name) THEN
        RAISE EXCEPTION 'schema "%" does not exist', schema_name
            USING ERRCODE = 'invalid_schema_name';
    END IF;
    IF NOT has_schema_privilege(caller, schema_name, 'CREATE') THEN
        RAISE EXCEPTION 'permission denied for schema %', schema_name
            USING ERRCODE = 'insufficient_privilege',
                  DETAIL = format('%s is to be created there.', argument),
                  HINT = 'Choose a schema in which you may create tables, with an argument of '
                         'ai.destination_table or with queue_schema.';
    END IF;
    IF NOT has_schema_privilege(owner, schema_name, 'USAGE') THEN
        RAISE EXCEPTION 'the owner of the source table, "%", has no access to schema %',
            pg_get_userbyid(owner), schema_name
            USING ERRCODE = 'insufficient_privilege',
                  HINT = format('GRANT USAGE ON SCHEMA %I TO %I;', schema_name,
                                pg_get_userbyid(owner));
    END IF;
    IF ai._relation_exists(schema_name, relation) THEN
        RAISE EXCEPTION 'an object named %.% already exists. specify an alternate % explicitly',
            schema_name, relation, argument
            USING ERRCODE = 'duplicate_object';
    END IF;
END
$$;
COMMENT ON FUNCTION ai._vectorizer_check_name(oid, oid, name, name, text) IS
    'raises an error unless the caller may create a relation of that name';

CREATE OR REPLACE FUNCTION ai._vectorizer_check_queue_schema(schema_name name) RETURNS void
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    IF ai._untrusted_owner(schema_name) IS NOT NULL THEN
        RAISE EXCEPTION 'schema "%" is not for queues, since it belongs to "%"', schema_name,
            ai._untrusted_owner(schema_name)
            USING ERRCODE = 'insufficient_privilege',
                  DETAIL = 'The owner of a schema could put other tables in the place of a queue.',
                  HINT = 'Leave queue_schema out, or name a schema that belongs to a superuser.';
    END IF;
END
$$;
COMMENT ON FUNCTION ai._vectorizer_check_queue_schema(name) IS
    'raises an error if a schema belongs to somebody who could exchange the queues in it';

-- A queue in the schema ai under a name of its own could stand in the way of another vectorizer, so
-- it takes the right to create there.
CREATE OR REPLACE FUNCTION ai._vectorizer_check_names(caller oid, owner oid, id int4, names record,
                                           queue_schema name, queue_table name) RETURNS void
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    PERFORM ai._vectorizer_check_name(
        CASE WHEN queue_table IS NULL AND coalesce(queue_schema, 'ai') = 'ai'
             THEN (SELECT oid FROM pg_roles WHERE rolname = current_user) ELSE caller END,
        owner, coalesce(queue_schema, 'ai'), coalesce(queue_table, ('_vectorizer_q_' || id)::name),
        'queue_table');
    PERFORM ai._vectorizer_check_queue_schema(coalesce(queue_schema, 'ai'));
    IF names.target_table IS NOT NULL THEN
        PERFORM ai._vectorizer_check_name(caller, owner, names.target_schema,
                                          names.target_table, 'target_table');
        PERFORM ai._vectorizer_check_name(caller, owner, names.view_schema, names.view_name,
                                          'view_name');
        IF (names.target_schema, names.target_table) = (names.view_schema, names.view_name) THEN
            RAISE EXCEPTION 'target table and view must not have the same name'
                USING ERRCODE = 'duplicate_object', HINT = 'Give another view_name.';
        END IF;
    END IF;
END
$$;
COMMENT ON FUNCTION ai._vectorizer_check_names(oid, oid, int4, record, name, name) IS
    'raises an error unless the caller may create queue, target and view under these names';

-- Keys are compared by the operator of their index, with the rights of the extension's owner.
CREATE OR REPLACE FUNCTION ai._vectorizer_check_key(source regclass) RETURNS void
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    found_schema name;
    type text;
BEGIN
    SELECT n.nspname, format_type(c.opcintype, NULL) INTO found_schema, type
    FROM pg_index i, unnest(i.indclass) opclass JOIN pg_opclass c ON c.oid = opclass
    JOIN pg_amop a ON a.amopfamily = c.opcfamily AND a.amopstrategy = 3
         AND a.amoplefttype = c.opcintype AND a.amoprighttype = c.opcintype
    JOIN pg_operator o ON o.oid = a.amopopr JOIN pg_namespace n ON n.oid = o.oprnamespace
    WHERE i.indexrelid = ai._vectorizer_key_index(source)
      AND ai._untrusted_owner(n.nspname) IS NOT NULL;
    IF FOUND THEN
        RAISE EXCEPTION 'type % is not for keys, since schema "%" belongs to "%"', type,
            found_schema, ai._untrusted_owner(found_schema)
            USING ERRCODE = 'insufficient_privilege',
                  DETAIL = 'The owner of a schema could put other operators in the place of its own.',
                  HINT = 'Use a unique key of another type, or have a superuser own that schema.';
    END IF;
END
$$;
COMMENT ON FUNCTION ai._vectorizer_check_key(regclass) IS
    'raises an error if somebody could exchange the operators by which keys are compared';

CREATE OR REPLACE FUNCTION ai._vectorizer_check_column(source regclass, source_pk jsonb, config jsonb)
    RETURNS void
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    embedding_column name := config #>> '{destination,embedding_column}';
BEGIN
    IF embedding_column = ANY (ai._vectorizer_columns(source_pk, config)) THEN
        RAISE EXCEPTION 'embedding column "%" is read by the vectorizer itself', embedding_column
            USING ERRCODE = 'invalid_parameter_value',
                  HINT = 'It must be neither in the key, nor loaded, nor used in the template.';
    END IF;
    PERFORM ai._vectorizer_check_embedding_column(source, embedding_column,
                                                  (config #>> '{embedding,dimensions}')::int);
END
$$;
COMMENT ON FUNCTION ai._vectorizer_check_column(regclass, jsonb, jsonb) IS
    'raises an error unless a column destination fits the rest of the configuration';

CREATE OR REPLACE FUNCTION ai._validate_priority_column(source regclass, processing jsonb) RETURNS void
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    wanted name := processing ->> 'priority_column';
    base oid;
BEGIN
    IF wanted IS NULL THEN
        RETURN;
    END IF;
    WITH RECURSIVE below AS (
        SELECT a.atttypid AS type FROM pg_attribute a
        WHERE a.attrelid = source AND a.attname = wanted AND a.attnum > 0 AND NOT a.attisdropped
        UNION ALL
        SELECT t.typbasetype FROM below b JOIN pg_type t ON t.oid = b.type AND t.typtype = 'd'
    )
    SELECT b.type INTO base FROM below b JOIN pg_type t ON t.oid = b.type AND t.typtype <> 'd';
    IF base IS NULL THEN
        RAISE EXCEPTION 'priority_column "%" does not exist in table %', wanted,
            ai._qualified_name(source)
            USING ERRCODE = 'undefined_column';
    END IF;
    -- PostgreSQL 18: such a column has no value in the rows that a trigger sees.
    IF EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = source AND a.attname = wanted
                 AND a.attgenerated = 'v') THEN
        RAISE EXCEPTION 'priority_column "%" is a virtual generated column', wanted
            USING ERRCODE = 'invalid_parameter_value',
                  HINT = 'Declare it as STORED.';
    END IF;
    IF base NOT IN ('int2'::regtype, 'int4'::regtype, 'int8'::regtype, 'text'::regtype,
                    'varchar'::regtype, 'bpchar'::regtype, 'name'::regtype)
       AND NOT EXISTS (SELECT FROM pg_type t WHERE t.oid = base AND t.typtype = 'e') THEN
        RAISE EXCEPTION 'priority_column "%" must be an integer, a text or an enum', wanted
            USING ERRCODE = 'datatype_mismatch',
                  DETAIL = format('It is of type %s.', format_type(base, NULL)),
                  HINT = 'A stored generated column can make it of other columns.';
    END IF;
END
$$;
COMMENT ON FUNCTION ai._validate_priority_column(regclass, jsonb) IS
    'raises an error unless the column by which rows shall come first tells a priority';
