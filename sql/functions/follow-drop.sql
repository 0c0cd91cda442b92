-- When something that a vectorizer needs is dropped: the vectorizer goes with its source, is
-- disabled without its target or its triggers, and does not let go of its columns, key and queue.

CREATE OR REPLACE FUNCTION ai._vectorizer_disable(v ai.vectorizer, message text) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    UPDATE ai.vectorizer x SET disabled = true WHERE x.id = v.id;
    INSERT INTO ai._vectorizer_errors (id, message, details)
    VALUES (v.id, message, '{"step": "definition", "class": "permanent"}');
    RAISE NOTICE 'vectorizer "%" is disabled: %', v.name, message;
END
$$;
COMMENT ON FUNCTION ai._vectorizer_disable(ai.vectorizer, text) IS
    'disables a vectorizer that lacks something, and records why';

CREATE OR REPLACE FUNCTION ai._vectorizer_refuse(v ai.vectorizer, message text) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    RAISE EXCEPTION '%', message
        USING ERRCODE = 'dependent_objects_still_exist',
              DETAIL = format('Vectorizer "%s" needs it.', v.name),
              HINT = format('Drop the vectorizer first: SELECT ai.drop_vectorizer(%L);', v.name);
END
$$;
COMMENT ON FUNCTION ai._vectorizer_refuse(ai.vectorizer, text) IS
    'raises the error for a change that would break a vectorizer';

-- The target table goes, too, unless others depend on it.
CREATE OR REPLACE FUNCTION ai._vectorizer_forget(v ai.vectorizer) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    PERFORM ai._vectorizer_drop(v);
    BEGIN
        PERFORM ai._drop_if_exists('VIEW', v.view);
        PERFORM ai._drop_if_exists('TABLE', v.target);
    EXCEPTION WHEN dependent_objects_still_exist THEN
        RAISE NOTICE 'the embeddings of vectorizer "%" are kept in %, since others depend on it',
            v.name, ai._qualified_name(v.target);
    END;
END
$$;
COMMENT ON FUNCTION ai._vectorizer_forget(ai.vectorizer) IS
    'removes everything of a vectorizer whose source was dropped';

-- A vectorizer without triggers is broken already and stands in nobody's way. pg_restore --clean
-- drops triggers first, then keys and queues, then tables.
CREATE OR REPLACE FUNCTION ai._vectorizer_has_triggers(v ai.vectorizer) RETURNS boolean
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT EXISTS (
        SELECT FROM pg_trigger t
        WHERE t.tgrelid = v.source AND t.tgfoid = 'ai._vectorizer_enqueue()'::regprocedure
          AND t.tgname IN (v.trigger_name, (v.trigger_name || '_update')::name))
    $$;
COMMENT ON FUNCTION ai._vectorizer_has_triggers(ai.vectorizer) IS
    'whether the source of a vectorizer still fires a row trigger of it';

CREATE OR REPLACE FUNCTION ai._vectorizer_follow_dropped_relations(relations oid[]) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    v ai.vectorizer;
BEGIN
    FOR v IN SELECT * FROM ai.vectorizer x WHERE x.source = ANY (relations) LOOP
        PERFORM ai._vectorizer_forget(v);
    END LOOP;
    FOR v IN SELECT * FROM ai.vectorizer x
             WHERE ARRAY[x.queue, x.work, x.failed]::oid[] && relations LOOP
        IF ai._vectorizer_has_triggers(v) THEN
            PERFORM ai._vectorizer_refuse(v, 'cannot drop the queue of a vectorizer');
        END IF;
        PERFORM ai._vectorizer_drop(v);
        RAISE NOTICE 'vectorizer "%" is dropped with its queue', v.name;
    END LOOP;
    UPDATE ai.vectorizer x SET view = NULL WHERE x.view = ANY (relations);
    FOR v IN SELECT * FROM ai.vectorizer x WHERE x.target = ANY (relations) LOOP
        UPDATE ai.vectorizer x SET target = NULL WHERE x.id = v.id;
        PERFORM ai._vectorizer_disable(v, 'its target table was dropped');
    END LOOP;
END
$$;
COMMENT ON FUNCTION ai._vectorizer_follow_dropped_relations(oid[]) IS
    'what follows from dropping tables and views';

CREATE OR REPLACE FUNCTION ai._vectorizer_follow_dropped_columns() RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    lost record;
BEGIN
    FOR lost IN
        SELECT v, d.address_names[3] AS attname
        FROM pg_event_trigger_dropped_objects() d
        JOIN ai.vectorizer v ON v.source = d.objid
        WHERE d.classid = 'pg_class'::regclass AND d.objsubid > 0
    LOOP
        IF lost.attname = ANY (ai._vectorizer_columns((lost.v).source_pk, (lost.v).config)
                               || ai._priority_column((lost.v).config)) THEN
            PERFORM ai._vectorizer_refuse(lost.v, format('cannot drop column "%s" of table %s',
                lost.attname, ai._qualified_name((lost.v).source)));
        ELSIF lost.attname = (lost.v).config #>> '{destination,embedding_column}' THEN
            -- Remembered, or the next column to be renamed would be taken for it.
            UPDATE ai.vectorizer x SET config = jsonb_set(x.config, '{destination,dropped}', 'true')
            WHERE x.id = (lost.v).id;
            PERFORM ai._vectorizer_disable(lost.v, 'its embedding column was dropped');
        END IF;
    END LOOP;
END
$$;
COMMENT ON FUNCTION ai._vectorizer_follow_dropped_columns() IS
    'what follows from dropping columns of sources';

-- Another unique index on the same columns will do.
CREATE OR REPLACE FUNCTION ai._vectorizer_has_key(v ai.vectorizer) RETURNS boolean
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT EXISTS (
        SELECT FROM pg_index i
        WHERE i.indrelid = v.source AND (i.indisunique OR i.indisprimary) AND i.indpred IS NULL
          AND i.indexprs IS NULL
          AND (SELECT array_agg(a.attname::text ORDER BY a.attname::text)
               FROM generate_series(0, i.indnkeyatts - 1) k
               JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[k])
              = (SELECT array_agg(k ->> 'attname' ORDER BY k ->> 'attname')
                 FROM jsonb_array_elements(v.source_pk) k))
    $$;
COMMENT ON FUNCTION ai._vectorizer_has_key(ai.vectorizer) IS
    'whether the source still has a unique index on the key of a vectorizer';

-- An index is dropped under its own name, which does not tell the table; so this looks at all
-- sources in its schema.
CREATE OR REPLACE FUNCTION ai._vectorizer_follow_dropped_keys() RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    v ai.vectorizer;
BEGIN
    FOR v IN
        SELECT x.* FROM ai.vectorizer x
        JOIN pg_class c ON c.oid = x.source
        JOIN pg_namespace n ON n.oid = c.relnamespace
        WHERE EXISTS (
            SELECT FROM pg_event_trigger_dropped_objects() d
            WHERE d.object_type = 'table constraint'
                  AND d.address_names[1] = n.nspname AND d.address_names[2] = c.relname
               OR d.object_type = 'index' AND d.schema_name = n.nspname)
    LOOP
        IF NOT ai._vectorizer_has_key(v) AND ai._vectorizer_has_triggers(v) THEN
            PERFORM ai._vectorizer_refuse(v, format('cannot drop the key of table %s',
                                                    ai._qualified_name(v.source)));
        END IF;
    END LOOP;
END
$$;
COMMENT ON FUNCTION ai._vectorizer_follow_dropped_keys() IS
    'what follows from dropping constraints and indexes of sources';

-- The table of a dropped trigger is gone: a partition was dropped, with rows. It is a partition
-- that lacks the trigger for TRUNCATE now: that is made again. It is neither: it was detached, and
-- that is dealt with. (Row triggers of partitions come and go with that of the source.)
CREATE OR REPLACE FUNCTION ai._vectorizer_follow_dropped_triggers() RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    lost record;
BEGIN
    FOR lost IN
        SELECT DISTINCT v, to_regclass(format('%I.%I', d.address_names[1], d.address_names[2]))
            AS relation
        FROM pg_event_trigger_dropped_objects() d
        JOIN ai.vectorizer v ON d.address_names[3] IN (v.trigger_name, v.trigger_name || '_update',
            v.trigger_name || '_flush', v.trigger_name || '_truncate')
        WHERE d.object_type = 'trigger' AND NOT d.is_temporary
    LOOP
        IF lost.relation = (lost.v).source THEN
            PERFORM ai._vectorizer_disable(lost.v, 'a trigger on its source table was dropped');
        ELSIF lost.relation IS NULL THEN
            PERFORM ai._vectorizer_enqueue_orphans(lost.v);
        ELSIF lost.relation IN (SELECT l FROM ai._vectorizer_leaves(lost.v) l
                                EXCEPT SELECT m FROM ai._vectorizer_marked(lost.v) m) THEN
            PERFORM ai._vectorizer_mark_leaf(lost.v, lost.relation);
        END IF;
    END LOOP;
END
$$;
COMMENT ON FUNCTION ai._vectorizer_follow_dropped_triggers() IS
    'what follows from dropping the triggers of vectorizers';

-- SECURITY DEFINER: whoever drops a table has no rights on the catalog of vectorizers and on
-- queues. There are no arguments, and all that happens follows from what that role could drop.
CREATE OR REPLACE FUNCTION ai._on_sql_drop() RETURNS event_trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    relations oid[];
BEGIN
    -- Most of what is dropped is temporary, or there is no vectorizer at all.
    IF NOT EXISTS (SELECT FROM pg_event_trigger_dropped_objects() d WHERE NOT d.is_temporary)
       OR NOT EXISTS (SELECT FROM ai.vectorizer) THEN
        RETURN;
    END IF;
    relations := ARRAY(SELECT d.objid FROM pg_event_trigger_dropped_objects() d
                       WHERE d.classid = 'pg_class'::regclass AND d.objsubid = 0
                         AND NOT d.is_temporary);
    PERFORM ai._vectorizer_follow_dropped_relations(relations);
    PERFORM ai._vectorizer_follow_dropped_columns();
    PERFORM ai._vectorizer_follow_dropped_keys();
    PERFORM ai._vectorizer_follow_dropped_triggers();
END
$$;
COMMENT ON FUNCTION ai._on_sql_drop() IS
    'event trigger: keeps vectorizers in step with what is dropped';
REVOKE ALL ON FUNCTION ai._on_sql_drop() FROM PUBLIC;
