-- Partitioned sources. PostgreSQL copies row triggers to partitions, but TRUNCATE of a partition
-- fires only what is on that partition, and rows come and go with ATTACH, DETACH and DROP.
--
-- So each leaf has a trigger for TRUNCATE. It is a mark, too: a leaf without it is new, and a table
-- that has it and is no leaf any more was detached. Marks are known by what they do, not by their
-- names, which the owner of the table can change.

CREATE OR REPLACE FUNCTION ai._vectorizer_leaves(v ai.vectorizer) RETURNS SETOF regclass
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT t.relid FROM pg_partition_tree(v.source) t
    JOIN pg_class c ON c.oid = t.relid AND c.relkind = 'r'
    WHERE t.isleaf AND t.relid <> v.source
    $$;
COMMENT ON FUNCTION ai._vectorizer_leaves(ai.vectorizer) IS
    'partitions of a vectorizer''s source that have rows';

-- pg_trigger has arguments one after the other, with a zero at the end of each.
CREATE OR REPLACE FUNCTION ai._id_argument(vectorizer_id int4) RETURNS bytea
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $$SELECT vectorizer_id::text::bytea || decode('00', 'hex')$$;
COMMENT ON FUNCTION ai._id_argument(int4) IS
    'the number of a vectorizer as the only argument of a trigger';

CREATE OR REPLACE FUNCTION ai._vectorizer_marked(v ai.vectorizer) RETURNS SETOF regclass
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT DISTINCT t.tgrelid::regclass FROM pg_trigger t
    WHERE t.tgfoid = 'ai._vectorizer_truncate()'::regprocedure
      AND t.tgargs = ai._id_argument(v.id) AND t.tgrelid <> v.source
    $$;
COMMENT ON FUNCTION ai._vectorizer_marked(ai.vectorizer) IS
    'tables that are or were partitions of a vectorizer''s source';

CREATE OR REPLACE FUNCTION ai._vectorizer_mark_leaf(v ai.vectorizer, leaf regclass) RETURNS void
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

CREATE OR REPLACE FUNCTION ai._vectorizer_unmark_leaf(v ai.vectorizer, leaf regclass) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    mark name;
BEGIN
    FOR mark IN SELECT t.tgname FROM pg_trigger t
                WHERE t.tgrelid = leaf AND t.tgfoid = 'ai._vectorizer_truncate()'::regprocedure
                  AND t.tgargs = ai._id_argument(v.id) LOOP
        EXECUTE format('DROP TRIGGER %I ON %s', mark, ai._qualified_name(leaf));
    END LOOP;
END
$$;
COMMENT ON FUNCTION ai._vectorizer_unmark_leaf(ai.vectorizer, regclass) IS
    'drops the trigger for TRUNCATE from a partition, or from what was one';

-- What the owner of the source cannot read directly is reached through the source. The rows come
-- first and the mark then, which is the lock that keeps writers out: it is had for a moment only.
-- What changes meanwhile the row triggers queue, and TRUNCATE waits for who reads.
CREATE OR REPLACE FUNCTION ai._vectorizer_follow_attached(v ai.vectorizer, leaf regclass) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    IF has_table_privilege(ai._vectorizer_owner(v), leaf, 'SELECT') THEN
        PERFORM ai._vectorizer_enqueue_rows(v, ai._qualified_name(leaf));
    ELSE
        PERFORM ai._vectorizer_enqueue_rows(v, ai._qualified_name(v.source),
                                            format('WHERE tableoid = %s', leaf::oid));
    END IF;
    PERFORM ai._vectorizer_mark_leaf(v, leaf);
END
$$;
COMMENT ON FUNCTION ai._vectorizer_follow_attached(ai.vectorizer, regclass) IS
    'queues the rows of a partition that was attached, and marks it';

CREATE OR REPLACE FUNCTION ai._vectorizer_follow_detached(v ai.vectorizer, leaf regclass) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    IF has_table_privilege(ai._vectorizer_owner(v), leaf, 'SELECT') THEN
        PERFORM ai._vectorizer_enqueue_rows(v, ai._qualified_name(leaf));
    ELSE
        PERFORM ai._vectorizer_enqueue_orphans(v);
    END IF;
    PERFORM ai._vectorizer_unmark_leaf(v, leaf);
END
$$;
COMMENT ON FUNCTION ai._vectorizer_follow_detached(ai.vectorizer, regclass) IS
    'queues the rows of a table that was a partition, and takes the mark from it';

-- While a dump is restored, it makes the marks itself.
CREATE OR REPLACE FUNCTION ai._vectorizer_follow_partitions(v ai.vectorizer) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    leaf regclass;
BEGIN
    IF v.restoring THEN
        RETURN;
    END IF;
    FOR leaf IN SELECT l FROM ai._vectorizer_leaves(v) l
                EXCEPT SELECT m FROM ai._vectorizer_marked(v) m LOOP
        PERFORM ai._vectorizer_follow_attached(v, leaf);
    END LOOP;
    FOR leaf IN SELECT m FROM ai._vectorizer_marked(v) m
                EXCEPT SELECT l FROM ai._vectorizer_leaves(v) l LOOP
        PERFORM ai._vectorizer_follow_detached(v, leaf);
    END LOOP;
END
$$;
COMMENT ON FUNCTION ai._vectorizer_follow_partitions(ai.vectorizer) IS
    'queues the rows of partitions that were attached or detached';
