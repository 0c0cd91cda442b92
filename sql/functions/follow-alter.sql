-- When a table that a vectorizer needs is altered: renames and a new owner are followed, what would
-- break the vectorizer is refused. Source and target are known by their OIDs, so only names of
-- columns, and the queue's name in the triggers, have to be looked after.

CREATE OR REPLACE FUNCTION ai._vectorizer_missing_columns(v ai.vectorizer) RETURNS name[]
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT ARRAY(
        SELECT c FROM unnest(ai._vectorizer_columns(v.source_pk, v.config)
            || array_remove(ARRAY[ai._priority_column(v.config),
                CASE WHEN NOT v.config -> 'destination' ? 'dropped'
                     THEN (v.config #>> '{destination,embedding_column}')::name END], NULL)) c
        EXCEPT
        SELECT a.attname FROM pg_attribute a WHERE a.attrelid = v.source AND NOT a.attisdropped)
    $$;
COMMENT ON FUNCTION ai._vectorizer_missing_columns(ai.vectorizer) IS
    'columns that a vectorizer''s configuration names and the source does not have, but for an '
    'embedding column that was dropped';

CREATE OR REPLACE FUNCTION ai._vectorizer_rename_column(v ai.vectorizer, old_name name, new_name name)
    RETURNS ai.vectorizer
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    paths constant text[] := '{{loading,column_name},{destination,embedding_column},'
                             '{processing,priority_column}}';
    path text[];
BEGIN
    v.source_pk := (
        SELECT jsonb_agg(CASE WHEN k ->> 'attname' = old_name
                         THEN k || jsonb_build_object('attname', new_name) ELSE k END
                         ORDER BY (k ->> 'pknum')::int)
        FROM jsonb_array_elements(v.source_pk) k);
    FOREACH path SLICE 1 IN ARRAY paths LOOP
        IF v.config #>> path = old_name THEN
            v.config := jsonb_set(v.config, path, to_jsonb(new_name));
        END IF;
    END LOOP;
    IF old_name = ANY (ai._formatting_columns(v.config -> 'formatting')) THEN
        IF new_name ~ '}' OR new_name = 'chunk' THEN
            RAISE EXCEPTION 'cannot rename column "%" to "%"', old_name, new_name
                USING ERRCODE = 'dependent_objects_still_exist',
                      DETAIL = format('The template of vectorizer "%s" uses it.', v.name),
                      HINT = 'In a template, $chunk has another meaning, and "}" ends a name.';
        END IF;
        v.config := jsonb_set(v.config, '{formatting,template}', to_jsonb(
            ai._template_rename(v.config #>> '{formatting,template}', old_name, new_name)));
    END IF;
    UPDATE ai.vectorizer x SET source_pk = v.source_pk, config = v.config WHERE x.id = v.id;
    RETURN v;
END
$$;
COMMENT ON FUNCTION ai._vectorizer_rename_column(ai.vectorizer, name, name) IS
    'a vectorizer after a column of its source was renamed';

-- Each RENAME of a column comes here, so at most one name is missing, and it is the old one. An
-- embedding column that was dropped is no more missed until there is one again.
CREATE OR REPLACE FUNCTION ai._vectorizer_follow_columns(v ai.vectorizer, renamed name) RETURNS ai.vectorizer
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    missing name[];
BEGIN
    IF v.config -> 'destination' ? 'dropped' AND EXISTS (
        SELECT FROM pg_attribute a WHERE a.attrelid = v.source AND NOT a.attisdropped
          AND a.attname = v.config #>> '{destination,embedding_column}') THEN
        v.config := v.config #- '{destination,dropped}';
        UPDATE ai.vectorizer x SET config = v.config WHERE x.id = v.id;
    END IF;
    missing := ai._vectorizer_missing_columns(v);
    IF cardinality(missing) = 1 AND renamed IS NOT NULL THEN
        v := ai._vectorizer_rename_column(v, missing[1], renamed);
        PERFORM ai._vectorizer_create_source_trigger(v);
    END IF;
    RETURN v;
END
$$;
COMMENT ON FUNCTION ai._vectorizer_follow_columns(ai.vectorizer, name) IS
    'what follows from renaming a column of a source';

CREATE OR REPLACE FUNCTION ai._vectorizer_follow_layout(v ai.vectorizer) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    relation regclass;
    lost name;
BEGIN
    SELECT r.relation, c INTO relation, lost
    FROM (VALUES
        (v.target, '{embedding_uuid,chunk_seq,chunk,embedding,content_hash}'::name[],
         'target_column'),
        (v.queue, '{queued_at,priority}', 'queue_column'),
        (v.work, '{queued_at,priority,attempts,retry_at,lease,taken_at,error}', 'queue_column'),
        (v.failed, '{step,error,class,attempts,failed_at}', 'queue_column')
    ) AS r (relation, columns, key)
    CROSS JOIN LATERAL unnest(r.columns || ARRAY(
        SELECT (k ->> r.key)::name FROM jsonb_array_elements(v.source_pk) k)) c
    WHERE r.relation IS NOT NULL AND NOT EXISTS (
        SELECT FROM pg_attribute a
        WHERE a.attrelid = r.relation AND a.attname = c AND NOT a.attisdropped)
    LIMIT 1;
    IF FOUND THEN
        PERFORM ai._vectorizer_refuse(v, format('cannot drop or rename column "%s" of table %s',
                                                lost, ai._qualified_name(relation)));
    END IF;
    SELECT a.attname INTO lost
    FROM jsonb_array_elements(v.source_pk) k
    JOIN pg_attribute a ON a.attrelid = v.source AND a.attname = k ->> 'attname'
    WHERE NOT a.attnotnull
    LIMIT 1;
    IF FOUND THEN
        PERFORM ai._vectorizer_refuse(v, format('column "%s" of table %s must stay NOT NULL', lost,
                                                ai._qualified_name(v.source)));
    END IF;
END
$$;
COMMENT ON FUNCTION ai._vectorizer_follow_layout(ai.vectorizer) IS
    'raises an error if a table lacks a column that a vectorizer needs, or a key may be null';

-- Vectors of another length, or no vectors, could not be stored any more. With halfvec they can.
CREATE OR REPLACE FUNCTION ai._vectorizer_follow_embedding(v ai.vectorizer) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    relation regclass := coalesce(v.target, v.source);
    embedding_column name := coalesce(v.config #>> '{destination,embedding_column}', 'embedding');
    dimensions int4 := v.config #>> '{embedding,dimensions}';
BEGIN
    IF v.target IS NULL AND v.config #>> '{destination,implementation}' <> 'column' THEN
        RETURN;
    END IF;
    IF EXISTS (
        SELECT FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid
        WHERE a.attrelid = relation AND a.attname = embedding_column AND NOT a.attisdropped
          AND (t.typname NOT IN ('vector', 'halfvec') OR a.atttypmod NOT IN (-1, dimensions))) THEN
        PERFORM ai._vectorizer_refuse(v, format('column "%s" of table %s must stay %s',
            embedding_column, ai._qualified_name(relation), ai._vector_type(dimensions)));
    END IF;
END
$$;
COMMENT ON FUNCTION ai._vectorizer_follow_embedding(ai.vectorizer) IS
    'raises an error if the embeddings of a vectorizer do not fit into their column any more';

-- Target and view go with the source, as far as they belonged to the same role. REASSIGN OWNED
-- fires no event trigger, so this is also called before the owner's rights on the queue are needed.
CREATE OR REPLACE FUNCTION ai._vectorizer_follow_owner(v ai.vectorizer) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    new_owner name := pg_get_userbyid(ai._vectorizer_owner(v));
    old_owner oid := (SELECT r.oid FROM pg_roles r WHERE r.rolname = v.owner_role);
    relation regclass;
BEGIN
    IF new_owner = v.owner_role THEN
        RETURN;
    END IF;
    UPDATE ai.vectorizer x SET owner_role = new_owner WHERE x.id = v.id;
    FOR relation IN SELECT c.oid FROM pg_class c
                    WHERE c.oid IN (v.target, v.view) AND c.relowner = old_owner LOOP
        EXECUTE format('ALTER TABLE %s OWNER TO %I', ai._qualified_name(relation), new_owner);
    END LOOP;
    IF old_owner IS NOT NULL THEN
        EXECUTE format('REVOKE ALL ON %s, %s, %s FROM %I', ai._qualified_name(v.queue),
                       ai._qualified_name(v.work), ai._qualified_name(v.failed), v.owner_role);
    END IF;
    PERFORM ai._vectorizer_grant_queue(v, new_owner);
END
$$;
COMMENT ON FUNCTION ai._vectorizer_follow_owner(ai.vectorizer) IS
    'what follows from a new owner of a source';

-- Triggers name the queue; and what turns them off and on again forgets ALWAYS. What was changed
-- meanwhile nobody knows, so all rows are queued then. A restore makes triggers and turns them on in
-- two steps, and has the queue in the dump.
CREATE OR REPLACE FUNCTION ai._vectorizer_follow_triggers(v ai.vectorizer) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    t record;
    was_off boolean := false;
    is_off boolean := false;
BEGIN
    IF NOT EXISTS (SELECT FROM ai._vectorizer_triggers(v) x WHERE x.kind = '_vectorizer_enqueue')
       AND EXISTS (SELECT FROM pg_trigger x
                   WHERE x.tgrelid = v.source AND x.tgname = v.trigger_name) THEN
        PERFORM ai._vectorizer_create_source_trigger(v);
    END IF;
    FOR t IN SELECT * FROM ai._vectorizer_triggers(v, true) x WHERE x.enabled <> 'A' LOOP
        is_off := is_off OR t.enabled = 'D';
        CONTINUE WHEN t.enabled = 'D';
        was_off := true;
        EXECUTE format('ALTER TABLE %s ENABLE ALWAYS TRIGGER %I', ai._qualified_name(t.relation),
                       t.trigger_name);
    END LOOP;
    IF was_off AND NOT v.restoring THEN
        RAISE NOTICE 'all rows of % are queued for vectorizer "%"', ai._qualified_name(v.source),
            v.name
            USING DETAIL = 'Its triggers were turned off, and changes may have been missed.';
        PERFORM ai._vectorizer_enqueue_rows(v, ai._from_source(v.source));
        PERFORM ai._vectorizer_enqueue_orphans(v);
    END IF;
    IF is_off THEN
        RAISE WARNING 'changes of % are not queued for vectorizer "%" while its triggers are off',
            ai._qualified_name(v.source), v.name
            USING HINT = 'All rows are queued when they are turned on again.';
    END IF;
END
$$;
COMMENT ON FUNCTION ai._vectorizer_follow_triggers(ai.vectorizer) IS
    'what follows from renaming a queue or its schema, and from turning triggers off and on';

CREATE OR REPLACE FUNCTION ai._vectorizer_follow(v ai.vectorizer, renamed name) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    IF EXISTS (SELECT FROM ai._vectorizer_followed f WHERE f.vectorizer_id = v.id) THEN
        RETURN;
    END IF;
    INSERT INTO ai._vectorizer_followed VALUES (v.id);
    v := ai._vectorizer_follow_columns(v, renamed);
    PERFORM ai._vectorizer_follow_layout(v);
    PERFORM ai._vectorizer_follow_embedding(v);
    PERFORM ai._vectorizer_check_queue_schema(n.nspname)
    FROM pg_class q JOIN pg_namespace n ON n.oid = q.relnamespace WHERE q.oid = v.queue;
    PERFORM ai._vectorizer_follow_owner(v);
    PERFORM ai._vectorizer_follow_row_security(v);
    PERFORM ai._vectorizer_follow_triggers(v);
    IF (SELECT c.relkind = 'p' FROM pg_class c WHERE c.oid = v.source) THEN
        PERFORM ai._vectorizer_follow_partitions(v);
    END IF;
    IF v.restoring THEN
        PERFORM ai._vectorizer_follow_restore(v);
    END IF;
    DELETE FROM ai._vectorizer_followed f WHERE f.vectorizer_id = v.id;
END
$$;
COMMENT ON FUNCTION ai._vectorizer_follow(ai.vectorizer, name) IS
    'brings a vectorizer in step with its tables; one column of the source may have been renamed';

-- A column can be renamed through a parent, or through the composite type that a table was made of;
-- and partitions come and go below a source.
CREATE OR REPLACE FUNCTION ai._vectorizers_of(relation oid) RETURNS SETOF ai.vectorizer
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
    WITH RECURSIVE above AS (
        SELECT relation AS oid
        UNION SELECT i.inhparent FROM above JOIN pg_inherits i ON i.inhrelid = above.oid
    ), made_of AS (
        SELECT i.inhparent AS oid, i.inhrelid AS child FROM pg_inherits i
        UNION ALL SELECT t.typrelid, c.oid FROM pg_class c JOIN pg_type t ON t.oid = c.reloftype
    ), below AS (
        SELECT relation AS oid
        UNION SELECT m.child FROM below JOIN made_of m ON m.oid = below.oid
    )
    SELECT v.* FROM ai.vectorizer v
    WHERE relation IN (v.target, v.queue, v.work, v.failed)
       OR v.source IN (SELECT oid FROM above UNION SELECT oid FROM below)
    $$;
COMMENT ON FUNCTION ai._vectorizers_of(oid) IS
    'vectorizers that have to do with a table, or with a composite type';

-- SECURITY DEFINER for the same reason as ai._on_sql_drop.
CREATE OR REPLACE FUNCTION ai._on_ddl_command_end() RETURNS event_trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM pg_event_trigger_ddl_commands() d WHERE d.schema_name <> 'pg_temp'
                                                                    OR TG_TAG = 'ALTER SCHEMA')
       OR NOT EXISTS (SELECT FROM ai.vectorizer) THEN
        RETURN;
    END IF;
    IF TG_TAG = 'ALTER SCHEMA' THEN
        PERFORM ai._vectorizer_follow(v, NULL) FROM ai.vectorizer v;
        RETURN;
    END IF;
    PERFORM ai._vectorizer_follow(v, (SELECT a.attname FROM pg_attribute a
        WHERE a.attrelid = c.objid AND a.attnum = c.objsubid AND c.objsubid > 0))
    FROM (SELECT DISTINCT d.objid, d.objsubid FROM pg_event_trigger_ddl_commands() d
          WHERE d.classid = 'pg_class'::regclass AND d.schema_name <> 'pg_temp') c,
         ai._vectorizers_of(c.objid) v;
END
$$;
COMMENT ON FUNCTION ai._on_ddl_command_end() IS
    'event trigger: keeps vectorizers in step with what is altered';
REVOKE ALL ON FUNCTION ai._on_ddl_command_end() FROM PUBLIC;
