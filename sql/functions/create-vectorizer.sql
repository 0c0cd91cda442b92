-- create_vectorizer: everything is checked first, in functions/create-checks.sql; then everything is made.

-- A derived name may have a number, since the first one was taken: by the vectorizer itself, if it
-- has the same source and destination.
CREATE OR REPLACE FUNCTION ai._vectorizer_find(name text, derived boolean, source regclass, destination jsonb)
    RETURNS ai.vectorizer
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT v FROM ai.vectorizer v
    WHERE v.name = _vectorizer_find.name
       OR derived AND v.source = _vectorizer_find.source AND v.config -> 'destination' = destination
    ORDER BY v.name = _vectorizer_find.name DESC, v.id
    LIMIT 1
    $$;
COMMENT ON FUNCTION ai._vectorizer_find(text, boolean, regclass, jsonb) IS
    'vectorizer of a name, or with the same source and destination; null if there is none';

-- The embedded model needs neither a key nor a server, so it is what one gets without asking.
CREATE OR REPLACE FUNCTION ai._default_embedding() RETURNS jsonb
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    model jsonb := ai._local_model();
BEGIN
    IF model ? 'problem' THEN
        RAISE EXCEPTION 'embedding configuration is required'
            USING ERRCODE = 'null_value_not_allowed',
                  DETAIL = 'The default is the embedded model, but ' || (model ->> 'problem'),
                  HINT = 'Give one in the argument embedding; or run "make model" and "make '
                         'install" in the source directory of the extension.';
    END IF;
    RETURN ai.embedding_local(model ->> 'name', (model ->> 'dimensions')::int);
END
$$;
COMMENT ON FUNCTION ai._default_embedding() IS
    'embedding configuration of a vectorizer for which none is given';

CREATE OR REPLACE FUNCTION ai._vectorizer_config(source regclass, loading jsonb, parsing jsonb,
        embedding jsonb, chunking jsonb, indexing jsonb, formatting jsonb, scheduling jsonb,
        processing jsonb, destination jsonb) RETURNS jsonb
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    dimensions int4 := embedding ->> 'dimensions';
BEGIN
    loading := ai._validate_loading(ai._config_object(loading));
    parsing := ai._validate_parsing(ai._config_object(parsing));
    PERFORM ai._validate_loading_source(source, loading, parsing);
    chunking := ai._validate_chunking(ai._config_object(chunking));
    IF destination ->> 'implementation' = 'column' AND chunking ->> 'implementation' <> 'none' THEN
        RAISE EXCEPTION 'chunking must be none for column destination'
            USING ERRCODE = 'invalid_parameter_value',
                  HINT = 'Give chunking => ai.chunking_none().';
    END IF;
    indexing := ai._validate_indexing(ai._config_object(indexing), dimensions);
    formatting := ai._validate_formatting(ai._config_object(formatting));
    PERFORM ai._validate_formatting_source(source, formatting);
    processing := ai._validate_processing(ai._config_object(processing));
    PERFORM ai._validate_priority_column(source, processing);
    RETURN jsonb_build_object('version', ai.version(), 'loading', loading, 'parsing', parsing,
        'embedding', embedding, 'chunking', chunking,
        'indexing', ai._resolve_indexing(indexing, dimensions), 'formatting', formatting,
        'scheduling', ai._validate_scheduling(ai._config_object(scheduling)),
        'processing', processing,
        'destination', destination);
END
$$;
COMMENT ON FUNCTION ai._vectorizer_config(regclass, jsonb, jsonb, jsonb, jsonb, jsonb, jsonb,
                                          jsonb, jsonb, jsonb) IS
    'configuration of a vectorizer, if every section of it is valid';

-- The names of what create_vectorizer is going to make; given ones come first.
CREATE OR REPLACE FUNCTION ai._vectorizer_names(source regclass, destination jsonb, OUT vectorizer text,
        OUT target_schema name, OUT target_table name, OUT view_schema name, OUT view_name name)
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    source_schema name;
    source_table name;
    base name := destination ->> 'destination';
BEGIN
    SELECT n.nspname, c.relname INTO source_schema, source_table
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.oid = source;
    IF destination ->> 'implementation' = 'column' THEN
        vectorizer := source_schema || '_' || source_table || '_'
            || (destination ->> 'embedding_column');
        RETURN;
    END IF;
    target_schema := coalesce(destination ->> 'target_schema', source_schema);
    target_table := coalesce(destination ->> 'target_table',
        ai._derived_name(target_schema, base, '_store'),
        ai._derived_name(target_schema, source_table, '_embedding_store'));
    view_schema := coalesce(destination ->> 'view_schema', source_schema);
    view_name := coalesce(destination ->> 'view_name', base,
        ai._derived_name(view_schema, source_table, '_embedding'));
    vectorizer := target_schema || '_' || target_table;
END
$$;
COMMENT ON FUNCTION ai._vectorizer_names(regclass, jsonb) IS
    'name of a vectorizer, of its target table and of its view, if they are not given';

CREATE OR REPLACE FUNCTION ai._vectorizer_if_exists(existing ai.vectorizer, source regclass, config jsonb,
                                         if_not_exists boolean) RETURNS int4
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    different text;
BEGIN
    IF existing.id IS NULL THEN
        RETURN NULL;
    END IF;
    IF NOT if_not_exists OR existing.source <> source THEN
        RAISE EXCEPTION 'a vectorizer named % already exists.', existing.name
            USING ERRCODE = 'duplicate_object',
                  DETAIL = CASE WHEN existing.source <> source
                           THEN 'It is on another table.' ELSE 'It is on the same table.' END,
                  HINT = 'Give another one in the argument name.';
    END IF;
    SELECT string_agg(c.key, ', ' ORDER BY c.key) INTO different
    FROM jsonb_each(config) c
    WHERE c.key <> 'version' AND c.value IS DISTINCT FROM existing.config -> c.key;
    IF different IS NULL THEN
        RAISE NOTICE 'a vectorizer named % already exists, skipping', existing.name;
    ELSE
        RAISE NOTICE 'a vectorizer named % already exists, skipping', existing.name
            USING DETAIL = format('It has another configuration: %s.', different),
                  HINT = 'To use the new one, drop the vectorizer and create it again.';
    END IF;
    RETURN existing.id;
END
$$;
COMMENT ON FUNCTION ai._vectorizer_if_exists(ai.vectorizer, regclass, jsonb, boolean) IS
    'id of a vectorizer that exists already, if that is no error; says how it differs';

CREATE OR REPLACE FUNCTION ai._vectorizer_grant_to(caller oid, v ai.vectorizer, grantees name[]) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    relation record;
BEGIN
    FOR relation IN
        SELECT g AS grantee, ai._qualified_name(c.oid) AS name, n.nspname
        FROM unnest(grantees) g
        JOIN pg_class c ON c.oid IN (v.target, v.view) OR v.target IS NULL AND c.oid = v.source
        JOIN pg_namespace n ON n.oid = c.relnamespace
    LOOP
        EXECUTE format('GRANT SELECT ON %s TO %I', relation.name, relation.grantee);
        -- The extension's owner could grant more than the caller may.
        IF NOT has_schema_privilege(relation.grantee, relation.nspname, 'USAGE')
           AND has_schema_privilege(caller, relation.nspname, 'USAGE WITH GRANT OPTION') THEN
            EXECUTE format('GRANT USAGE ON SCHEMA %I TO %I', relation.nspname, relation.grantee);
        END IF;
    END LOOP;
END
$$;
COMMENT ON FUNCTION ai._vectorizer_grant_to(oid, ai.vectorizer, name[]) IS
    'lets roles read the embeddings of a vectorizer';

CREATE OR REPLACE FUNCTION ai._vectorizer_build(v ai.vectorizer, names record, queue_schema name,
        queue_table name, enqueue_existing boolean) RETURNS ai.vectorizer
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    owner oid := ai._vectorizer_owner(v);
    dimensions int4 := v.config #>> '{embedding,dimensions}';
    embedding_column name := v.config #>> '{destination,embedding_column}';
BEGIN
    IF embedding_column IS NULL THEN
        v.target := ai._vectorizer_create_target_table(owner, names.target_schema,
            names.target_table, v.source_pk, dimensions);
        IF (v.config #>> '{processing,reuse}')::boolean THEN
            PERFORM ai._run_as(owner, format('CREATE INDEX ON %s (content_hash)',
                                             ai._qualified_name(v.target)));
        END IF;
        v.view := ai._vectorizer_create_view(owner, names.view_schema, names.view_name,
            v.source, v.target, v.source_pk);
    ELSIF NOT ai._vectorizer_check_embedding_column(v.source, embedding_column, dimensions) THEN
        PERFORM ai._run_as(owner, format('ALTER TABLE %s ADD COLUMN %I %s',
            ai._qualified_name(v.source), embedding_column, ai._vector_type(dimensions)));
    END IF;
    v.queue := ai._vectorizer_create_queue_table(queue_schema, queue_table, v.source_pk,
        coalesce((v.config #>> '{processing,priority}')::int, 0));
    PERFORM ai._vectorizer_create_queue_index(v);
    v.work := ai._vectorizer_create_work_table(queue_schema,
        ('_vectorizer_q_work_' || v.id)::name, v.source_pk);
    v.failed := ai._vectorizer_create_queue_failed_table(queue_schema,
        ('_vectorizer_q_failed_' || v.id)::name, v.source_pk);
    PERFORM ai._vectorizer_grant_queue(v, pg_get_userbyid(owner));
    PERFORM ai._vectorizer_drop_orphans(v);
    PERFORM ai._vectorizer_create_source_trigger(v);
    PERFORM ai._vectorizer_mark_leaf(v, leaf) FROM ai._vectorizer_leaves(v) leaf;
    IF enqueue_existing THEN
        PERFORM ai._vectorizer_enqueue_rows(v, ai._from_source(v.source));
    END IF;
    RETURN v;
END
$$;
COMMENT ON FUNCTION ai._vectorizer_build(ai.vectorizer, record, name, name, boolean) IS
    'makes the tables and triggers of a vectorizer';

CREATE OR REPLACE FUNCTION ai._create_vectorizer(caller oid, source regclass, name text, destination jsonb,
        loading jsonb, parsing jsonb, embedding jsonb, chunking jsonb, indexing jsonb,
        formatting jsonb, scheduling jsonb, processing jsonb, queue_schema name, queue_table name,
        grant_to name[], enqueue_existing boolean, if_not_exists boolean) RETURNS int4
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    grantees name[] := ai._vectorizer_check_grantees(grant_to);
    v ai.vectorizer;
    names record;
    existing ai.vectorizer;
    is_default constant boolean := embedding IS NULL;
BEGIN
    IF name = '' THEN
        RAISE EXCEPTION 'name must not be empty' USING ERRCODE = 'invalid_parameter_value';
    END IF;
    IF loading IS NULL THEN
        RAISE EXCEPTION 'loading configuration is required'
            USING ERRCODE = 'null_value_not_allowed';
    END IF;
    PERFORM ai._vectorizer_check_source(caller, source, destination ->> 'embedding_column');
    embedding := CASE WHEN is_default THEN ai._default_embedding()
                      ELSE ai._validate_embedding(ai._config_object(embedding)) END;
    destination := ai._validate_destination(ai._config_object(destination));
    v.source := source;
    v.source_pk := ai._vectorizer_source_pk(source);
    IF v.source_pk IS NULL THEN
        RAISE EXCEPTION 'source table must have a primary key constraint'
            USING ERRCODE = 'invalid_table_definition',
                  HINT = 'A unique index on columns that are NOT NULL will do as well.';
    END IF;
    PERFORM ai._vectorizer_check_key(source);
    names := ai._vectorizer_names(source, destination);
    v.name := coalesce(name, names.vectorizer);
    if_not_exists := coalesce(if_not_exists, false);
    existing := ai._vectorizer_find(v.name, if_not_exists AND name IS NULL, source, destination);
    IF existing.id IS NULL OR NOT if_not_exists THEN
        v.id := nextval('ai.vectorizer_id_seq');
        v.trigger_name := '_vectorizer_src_trg_' || v.id;
        PERFORM ai._vectorizer_check_names(caller, ai._vectorizer_owner(v), v.id, names,
                                           queue_schema, queue_table);
    END IF;
    v.config := ai._vectorizer_config(source, loading, parsing, embedding, chunking, indexing,
                                      formatting, scheduling, processing, destination);
    PERFORM ai._check_priority(caller, (v.config #>> '{processing,priority}')::int4);
    IF destination ->> 'implementation' = 'column' THEN
        PERFORM ai._vectorizer_check_column(source, v.source_pk, v.config);
    END IF;
    IF existing.id IS NOT NULL THEN
        RETURN ai._vectorizer_if_exists(existing, source, v.config, if_not_exists);
    END IF;
    IF is_default THEN
        RAISE NOTICE 'embeddings are made by the embedded model "%"', embedding ->> 'model'
            USING HINT = 'For another one, give the argument embedding.';
    END IF;
    PERFORM ai._vectorizer_check_row_security(source);
    v := ai._vectorizer_build(v, names, coalesce(queue_schema, 'ai'),
        coalesce(queue_table, ('_vectorizer_q_' || v.id)::name), coalesce(enqueue_existing, true));
    INSERT INTO ai.vectorizer (id, name, source, source_pk, target, view, queue, work,
                               failed, trigger_name, config, owner_role)
    VALUES (v.id, v.name, v.source, v.source_pk, v.target, v.view, v.queue, v.work,
            v.failed, v.trigger_name, v.config, pg_get_userbyid(ai._vectorizer_owner(v)));
    PERFORM ai._vectorizer_grant_to(caller, v, grantees);
    RETURN v.id;
END
$$;
COMMENT ON FUNCTION ai._create_vectorizer(oid, regclass, text, jsonb, jsonb, jsonb, jsonb, jsonb,
        jsonb, jsonb, jsonb, jsonb, name, name, name[], boolean, boolean) IS
    'what ai.create_vectorizer does, for the role that called it';

CREATE OR REPLACE FUNCTION ai.create_vectorizer(source regclass, name text DEFAULT NULL,
        destination jsonb DEFAULT ai.destination_table(), loading jsonb DEFAULT NULL,
        parsing jsonb DEFAULT ai.parsing_auto(), embedding jsonb DEFAULT NULL,
        chunking jsonb DEFAULT ai.chunking_recursive_character_text_splitter(),
        indexing jsonb DEFAULT ai.indexing_default(),
        formatting jsonb DEFAULT ai.formatting_python_template(),
        scheduling jsonb DEFAULT ai.scheduling_default(),
        processing jsonb DEFAULT ai.processing_default(), queue_schema name DEFAULT NULL,
        queue_table name DEFAULT NULL, grant_to name[] DEFAULT ai.grant_to(),
        enqueue_existing boolean DEFAULT true, if_not_exists boolean DEFAULT false) RETURNS int4
    LANGUAGE c VOLATILE
    AS 'MODULE_PATHNAME', 'ai_call_as_owner';
COMMENT ON FUNCTION ai.create_vectorizer(regclass, text, jsonb, jsonb, jsonb, jsonb, jsonb, jsonb,
        jsonb, jsonb, jsonb, name, name, name[], boolean, boolean) IS
    'keeps embeddings of a table from now on; returns the id of the vectorizer';
