-- Partitioned sources. PostgreSQL copies row triggers to partitions, but TRUNCATE of a partition
-- fires only what is on that partition, and rows come and go with ATTACH, DETACH and DROP.
--
-- So each leaf has a trigger for TRUNCATE. It is a mark, too: a leaf without it is new, and a table
-- that has it and is no leaf any more was detached.

CREATE FUNCTION ai._vectorizer_leaves(v ai.vectorizer) RETURNS SETOF regclass
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT t.relid FROM pg_partition_tree(v.source) t
    JOIN pg_class c ON c.oid = t.relid AND c.relkind = 'r'
    WHERE t.isleaf AND t.relid <> v.source
    $$;
COMMENT ON FUNCTION ai._vectorizer_leaves(ai.vectorizer) IS
    'partitions of a vectorizer''s source that have rows';

CREATE FUNCTION ai._vectorizer_marked(v ai.vectorizer) RETURNS SETOF regclass
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT t.tgrelid::regclass FROM pg_trigger t
    WHERE t.tgname = (v.trigger_name || '_truncate')::name
      AND t.tgfoid = 'ai._vectorizer_truncate()'::regprocedure AND t.tgrelid <> v.source
    $$;
COMMENT ON FUNCTION ai._vectorizer_marked(ai.vectorizer) IS
    'tables that are or were partitions of a vectorizer''s source';

CREATE FUNCTION ai._vectorizer_mark_leaf(v ai.vectorizer, leaf regclass) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    EXECUTE format('CREATE TRIGGER %I AFTER TRUNCATE ON %s FOR EACH STATEMENT '
                   'EXECUTE FUNCTION ai._vectorizer_truncate(%L)',
                   v.trigger_name || '_truncate', ai._qualified_name(leaf), v.id);
    EXECUTE format('ALTER TABLE %s ENABLE ALWAYS TRIGGER %I', ai._qualified_name(leaf),
                   v.trigger_name || '_truncate');
END
$$;
COMMENT ON FUNCTION ai._vectorizer_mark_leaf(ai.vectorizer, regclass) IS
    'makes the trigger for TRUNCATE on a partition';

CREATE FUNCTION ai._vectorizer_unmark_leaf(v ai.vectorizer, leaf regclass) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    EXECUTE format('DROP TRIGGER %I ON %s', v.trigger_name || '_truncate',
                   ai._qualified_name(leaf));
END
$$;
COMMENT ON FUNCTION ai._vectorizer_unmark_leaf(ai.vectorizer, regclass) IS
    'drops the trigger for TRUNCATE from a partition, or from what was one';

-- What the owner of the source cannot read directly is reached through the source. Sessions that
-- restore a dump turn check_function_bodies off: the dump has the marks, and makes them itself. A
-- partition that is passed over is found the next time.
CREATE FUNCTION ai._vectorizer_follow_partitions(v ai.vectorizer) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    owner oid := ai._vectorizer_owner(v);
    leaf regclass;
BEGIN
    IF NOT current_setting('check_function_bodies')::boolean THEN
        RETURN;
    END IF;
    FOR leaf IN SELECT l FROM ai._vectorizer_leaves(v) l
                EXCEPT SELECT m FROM ai._vectorizer_marked(v) m LOOP
        PERFORM ai._vectorizer_mark_leaf(v, leaf);
        IF has_table_privilege(owner, leaf, 'SELECT') THEN
            PERFORM ai._vectorizer_enqueue_rows(v, ai._qualified_name(leaf));
        ELSE
            PERFORM ai._vectorizer_enqueue_rows(v, ai._qualified_name(v.source),
                                                format('WHERE tableoid = %s', leaf::oid));
        END IF;
    END LOOP;
    FOR leaf IN SELECT m FROM ai._vectorizer_marked(v) m
                EXCEPT SELECT l FROM ai._vectorizer_leaves(v) l LOOP
        IF has_table_privilege(owner, leaf, 'SELECT') THEN
            PERFORM ai._vectorizer_enqueue_rows(v, ai._qualified_name(leaf));
        ELSE
            PERFORM ai._vectorizer_enqueue_orphans(v);
        END IF;
        PERFORM ai._vectorizer_unmark_leaf(v, leaf);
    END LOOP;
END
$$;
COMMENT ON FUNCTION ai._vectorizer_follow_partitions(ai.vectorizer) IS
    'queues the rows of partitions that were attached or detached';
