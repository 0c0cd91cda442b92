-- The triggers on source tables. A user's transaction only ever inserts into a queue.
--
-- CREATE TRIGGER needs EXECUTE on the function, and so does who makes or attaches a partition: PostgreSQL
-- copies row triggers there. So everybody has it, and the function checks that its table may fill the queue.

-- The arguments are the queue's schema and name, then the key columns of the source, then, if rows have
-- priorities, an empty one and the column of these.
CREATE OR REPLACE FUNCTION ai._vectorizer_enqueue() RETURNS trigger
    LANGUAGE c
    AS 'MODULE_PATHNAME', 'ai_vectorizer_enqueue';
COMMENT ON FUNCTION ai._vectorizer_enqueue() IS
    'row trigger of a vectorizer''s source: collects the key of the row for the queue';

CREATE OR REPLACE FUNCTION ai._vectorizer_flush() RETURNS trigger
    LANGUAGE c
    AS 'MODULE_PATHNAME', 'ai_vectorizer_flush';
COMMENT ON FUNCTION ai._vectorizer_flush() IS
    'statement trigger of a vectorizer''s source: writes the collected keys to the queue';
REVOKE ALL ON FUNCTION ai._vectorizer_flush() FROM PUBLIC;

CREATE OR REPLACE FUNCTION ai._vectorizer_flush_pending() RETURNS void
    LANGUAGE c VOLATILE
    AS 'MODULE_PATHNAME', 'ai_vectorizer_flush_pending';
COMMENT ON FUNCTION ai._vectorizer_flush_pending() IS
    'writes the keys that this transaction has collected so far to the queues';

-- What workers are told at the commit of a transaction: see doc/architecture.md.
CREATE OR REPLACE FUNCTION ai._vectorizer_notify() RETURNS void
    LANGUAGE c VOLATILE STRICT
    AS 'MODULE_PATHNAME', 'ai_vectorizer_notify';
COMMENT ON FUNCTION ai._vectorizer_notify() IS
    'lets the commit of this transaction wake the workers, which then look at everything';

CREATE OR REPLACE FUNCTION ai._vectorizer_notify(queue oid) RETURNS void
    LANGUAGE c VOLATILE STRICT
    AS 'MODULE_PATHNAME', 'ai_vectorizer_notify';
COMMENT ON FUNCTION ai._vectorizer_notify(oid) IS
    'lets the commit of this transaction wake the workers for a queue, as the triggers do';

CREATE OR REPLACE FUNCTION ai._embedding_jobs_notify() RETURNS void
    LANGUAGE c VOLATILE STRICT
    AS 'MODULE_PATHNAME', 'ai_embedding_jobs_notify';
COMMENT ON FUNCTION ai._embedding_jobs_notify() IS
    'lets the commit of this transaction wake the workers for embedding jobs';

CREATE OR REPLACE FUNCTION ai._vectorizers_changed() RETURNS trigger
    LANGUAGE c
    AS 'MODULE_PATHNAME', 'ai_vectorizers_changed';
COMMENT ON FUNCTION ai._vectorizers_changed() IS
    'trigger: workers look at all vectorizers when this transaction has committed';

REVOKE ALL ON FUNCTION ai._vectorizer_notify(), ai._vectorizer_notify(oid),
    ai._embedding_jobs_notify(), ai._vectorizers_changed() FROM PUBLIC;

CREATE OR REPLACE FUNCTION ai._changed(anyelement, anyelement) RETURNS boolean
    LANGUAGE c IMMUTABLE PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'ai_changed';
COMMENT ON FUNCTION ai._changed(anyelement, anyelement) IS
    'whether two values differ, byte by byte; works for types that have no equality, too';

-- TRUNCATE of a partitioned table fires this for the table and for each partition: the first one
-- does the work, and leaves a mark that ends with the transaction. Nothing can have been added
-- since, because TRUNCATE keeps everybody out of the table.
--
-- SECURITY DEFINER: whoever may truncate the source has no rights on the catalog and the queue. The
-- function has no arguments but the vectorizer's number, and acts only for its own source.
CREATE OR REPLACE FUNCTION ai._vectorizer_truncate() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    v ai.vectorizer;
    mark text := 'ai_vectorizer.truncated_' || TG_ARGV[0];
BEGIN
    SELECT * INTO v FROM ai.vectorizer WHERE id = TG_ARGV[0]::int;
    IF v.source = TG_RELID THEN
        PERFORM ai._vectorizer_enqueue_orphans(v);
        PERFORM set_config(mark, pg_current_xact_id()::text, true);
    ELSIF v.source IN (SELECT relid FROM pg_partition_ancestors(TG_RELID))
          AND current_setting(mark, true) IS DISTINCT FROM pg_current_xact_id()::text THEN
        PERFORM ai._vectorizer_enqueue_orphans(v);
    END IF;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION ai._vectorizer_truncate() IS
    'trigger of a vectorizer''s source for TRUNCATE: queues every key that has embeddings';
REVOKE ALL ON FUNCTION ai._vectorizer_truncate() FROM PUBLIC;

-- Only these columns enqueue when they change.
CREATE OR REPLACE FUNCTION ai._vectorizer_columns(source_pk jsonb, config jsonb) RETURNS name[]
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT array_agg(c.name ORDER BY c.first)
    FROM (
        SELECT n.name::name, min(n.position) AS first
        FROM unnest(ARRAY(SELECT k ->> 'attname' FROM jsonb_array_elements(source_pk) k)
                    || ARRAY[config #>> '{loading,column_name}']
                    || ai._formatting_columns(config -> 'formatting'))
             WITH ORDINALITY AS n (name, position)
        GROUP BY 1) c
    $$;
COMMENT ON FUNCTION ai._vectorizer_columns(jsonb, jsonb) IS
    'columns of the source that a vectorizer reads: key, loaded column, columns of the template';

CREATE OR REPLACE FUNCTION ai._vectorizer_build_trigger_definition(v ai.vectorizer) RETURNS text[]
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT ARRAY[
        format('%I AFTER INSERT OR DELETE ON %s FOR EACH ROW %s', v.trigger_name, source, enqueue),
        format('%I AFTER UPDATE ON %s FOR EACH ROW WHEN (%s) %s',
               v.trigger_name || '_update', source,
               (SELECT string_agg(format('ai._changed(OLD.%1$I, NEW.%1$I)', c), ' OR ')
                FROM unnest(ai._vectorizer_columns(v.source_pk, v.config)) c), enqueue),
        format('%I AFTER INSERT OR UPDATE OR DELETE ON %s FOR EACH STATEMENT '
               'EXECUTE FUNCTION ai._vectorizer_flush(%L)',
               v.trigger_name || '_flush', source, v.id),
        format('%I AFTER TRUNCATE ON %s FOR EACH STATEMENT '
               'EXECUTE FUNCTION ai._vectorizer_truncate(%L)',
               v.trigger_name || '_truncate', source, v.id)]
    FROM pg_class q
    JOIN pg_namespace n ON n.oid = q.relnamespace
    CROSS JOIN LATERAL (
        SELECT ai._qualified_name(v.source) AS source,
            format('EXECUTE FUNCTION ai._vectorizer_enqueue(%L, %L, %s%s)', n.nspname, q.relname,
                   (SELECT string_agg(quote_literal(k ->> 'attname'), ', '
                                      ORDER BY (k ->> 'pknum')::int)
                    FROM jsonb_array_elements(v.source_pk) k),
                   ', '''', ' || quote_literal(ai._priority_column(v.config))) AS enqueue) s
    WHERE q.oid = v.queue
    $$;
COMMENT ON FUNCTION ai._vectorizer_build_trigger_definition(ai.vectorizer) IS
    'definitions of the triggers on a vectorizer''s source';

-- ENABLE ALWAYS: rows that logical replication brings have to be embedded as well. A trigger that
-- the owner of the table renamed is dropped, or there would be two.
CREATE OR REPLACE FUNCTION ai._vectorizer_create_source_trigger(v ai.vectorizer) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    suffixes constant text[] := ARRAY['', '_update', '_flush', '_truncate'];
    definition text;
    renamed name;
BEGIN
    FOR renamed IN SELECT t.trigger_name FROM ai._vectorizer_triggers(v) t
                   WHERE t.relation = v.source
                   EXCEPT SELECT (v.trigger_name || s)::name FROM unnest(suffixes) s LOOP
        EXECUTE format('DROP TRIGGER %I ON %s', renamed, ai._qualified_name(v.source));
    END LOOP;
    FOREACH definition IN ARRAY ai._vectorizer_build_trigger_definition(v) LOOP
        EXECUTE 'CREATE OR REPLACE TRIGGER ' || definition;
    END LOOP;
    EXECUTE format('ALTER TABLE %s %s', ai._qualified_name(v.source),
        (SELECT string_agg(format('ENABLE ALWAYS TRIGGER %I', v.trigger_name || s), ', ')
         FROM unnest(suffixes) s));
END
$$;
COMMENT ON FUNCTION ai._vectorizer_create_source_trigger(ai.vectorizer) IS
    'makes the triggers on a vectorizer''s source, or makes them again';

-- A dump of a table alone (pg_dump --table) has the triggers of its vectorizers and nothing else of
-- them. Where it is restored they would write to a queue that is not there, or to somebody else's.
CREATE OR REPLACE FUNCTION ai._vectorizer_drop_orphans(v ai.vectorizer) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    orphan record;
BEGIN
    FOR orphan IN
        SELECT t.tgrelid::regclass AS relation, t.tgname
        FROM pg_trigger t
        JOIN pg_proc p ON p.oid = t.tgfoid AND p.pronamespace = 'ai'::regnamespace
             AND p.proname IN ('_vectorizer_enqueue', '_vectorizer_flush', '_vectorizer_truncate')
        WHERE t.tgparentid = 0
          AND (t.tgrelid = v.source OR t.tgrelid IN (SELECT l FROM ai._vectorizer_leaves(v) l))
        EXCEPT
        SELECT x.relation, x.trigger_name
        FROM ai._vectorizers_of(v.source) o, ai._vectorizer_triggers(o) x
        ORDER BY 2, 1
    LOOP
        EXECUTE format('DROP TRIGGER %I ON %s', orphan.tgname, ai._qualified_name(orphan.relation));
        RAISE NOTICE 'trigger "%" is dropped from %, since its vectorizer is not in this database',
            orphan.tgname, ai._qualified_name(orphan.relation);
    END LOOP;
END
$$;
COMMENT ON FUNCTION ai._vectorizer_drop_orphans(ai.vectorizer) IS
    'drops triggers of vectorizers that are not in this database from the source of a new one';
