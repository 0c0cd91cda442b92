-- What event triggers did not see: a superuser can turn them off, and a trigger that was renamed is
-- dropped unnoticed. The coordinator finds it by the catalogs, and a process of its own brings the
-- vectorizer in step again, in steps that are transactions: each finds by the state what comes next, so
-- that nothing is forgotten when it is broken off.
--
-- Nobody is kept waiting: locks that are in the way of writers are had for a moment, at the end of a step,
-- and waited for a moment. Who does not get one comes again.

-- One query for all, which reads pg_trigger once and joins by hashes: functions that have a search_path are
-- not inlined, and cost more than all the rest. Triggers that somebody has turned off (D) are left alone:
-- all rows are queued when they are turned on.
CREATE OR REPLACE FUNCTION ai._vectorizers_out_of_step() RETURNS SETOF int4
    LANGUAGE sql STABLE ROWS 10
    SET search_path = pg_catalog, pg_temp
    AS $$
    WITH RECURSIVE trigger AS MATERIALIZED (
        SELECT t.tgrelid, t.tgfoid, t.tgargs, t.tgenabled, t.tgparentid FROM pg_trigger t
        WHERE t.tgfoid IN ('ai._vectorizer_enqueue()'::regprocedure,
                           'ai._vectorizer_flush()'::regprocedure,
                           'ai._vectorizer_truncate()'::regprocedure)
    ), subject AS MATERIALIZED (
        SELECT v.id, v.source, v.disabled, s.relkind, v.id::text::bytea || zero AS id_argument,
            convert_to(n.nspname, getdatabaseencoding()) || zero
            || convert_to(q.relname, getdatabaseencoding()) || zero AS enqueue_arguments,
            s.oid IS NULL OR q.oid IS NULL OR w.oid IS NULL OR f.oid IS NULL AS is_over,
            v.target IS NOT NULL AND t.oid IS NULL OR v.view IS NOT NULL AND i.oid IS NULL AS is_less
        FROM ai.vectorizer v
        LEFT JOIN pg_class s ON s.oid = v.source
        LEFT JOIN pg_class q ON q.oid = v.queue
        LEFT JOIN pg_class w ON w.oid = v.work
        LEFT JOIN pg_class f ON f.oid = v.failed
        LEFT JOIN pg_class t ON t.oid = v.target
        LEFT JOIN pg_class i ON i.oid = v.view
        LEFT JOIN pg_namespace n ON n.oid = q.relnamespace
        CROSS JOIN decode('00', 'hex') zero
        WHERE NOT v.restoring
    ), tree AS (
        SELECT s.id, s.source AS relation FROM subject s WHERE s.relkind = 'p'
        UNION ALL
        SELECT t.id, i.inhrelid FROM tree t
        JOIN pg_inherits i ON i.inhparent = t.relation AND NOT i.inhdetachpending
    ), leaf AS MATERIALIZED (
        SELECT t.id, t.relation::oid FROM tree t JOIN pg_class c ON c.oid = t.relation
        WHERE c.relkind = 'r'
    ), mark AS MATERIALIZED (
        SELECT s.id, t.tgrelid AS relation FROM subject s JOIN trigger t ON t.tgargs = s.id_argument
        WHERE s.relkind = 'p' AND t.tgfoid = 'ai._vectorizer_truncate()'::regprocedure
          AND t.tgrelid <> s.source
    ), own AS (
        SELECT s.id, t.tgenabled, t.tgrelid = s.source AND t.tgparentid = 0 AS is_on_source
        FROM (SELECT x.id, x.source::oid AS relation FROM subject x
              UNION ALL SELECT l.id, l.relation FROM leaf l) r
        JOIN subject s ON s.id = r.id
        JOIN trigger t ON t.tgrelid = r.relation
        WHERE CASE WHEN t.tgfoid = 'ai._vectorizer_enqueue()'::regprocedure
              THEN substring(t.tgargs FROM 1 FOR length(s.enqueue_arguments)) = s.enqueue_arguments
              ELSE t.tgargs = s.id_argument END
    ), triggers AS (
        SELECT o.id, bool_or(o.tgenabled NOT IN ('A', 'D')) AS is_half_on,
            count(*) FILTER (WHERE o.is_on_source) AS number FROM own o GROUP BY o.id
    )
    SELECT s.id FROM subject s LEFT JOIN triggers t ON t.id = s.id
    WHERE s.is_less OR t.is_half_on OR NOT s.disabled AND (s.is_over OR coalesce(t.number, 0) < 4)
    UNION SELECT d.id FROM (SELECT * FROM leaf EXCEPT SELECT * FROM mark) d
    UNION SELECT d.id FROM (SELECT * FROM mark EXCEPT SELECT * FROM leaf) d
    UNION SELECT m.vectorizer_id FROM ai._vectorizer_missed m
    UNION SELECT v.id FROM ai.vectorizer v WHERE v.restoring AND ai._vectorizer_is_whole(v)
    $$;
COMMENT ON FUNCTION ai._vectorizers_out_of_step() IS
    'vectorizers whose tables, triggers or partitions were changed without their noticing';

-- A table that is gone is as in ai._vectorizer_follow_dropped_relations, but for the source: what
-- depends on that is not dropped by a process in the background.
CREATE OR REPLACE FUNCTION ai._reconcile_tables(v ai.vectorizer) RETURNS text
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    trouble text;
BEGIN
    UPDATE ai.vectorizer x SET view = NULL WHERE x.id = v.id
      AND x.view IS NOT NULL AND NOT EXISTS (SELECT FROM pg_class c WHERE c.oid = x.view);
    UPDATE ai.vectorizer x SET target = NULL WHERE x.id = v.id
      AND x.target IS NOT NULL AND NOT EXISTS (SELECT FROM pg_class c WHERE c.oid = x.target);
    trouble := CASE WHEN FOUND THEN 'its target table was dropped' END;
    IF NOT v.disabled THEN
        trouble := CASE
            WHEN NOT EXISTS (SELECT FROM pg_class c WHERE c.oid = v.source) THEN
                'its source table was dropped; ai.drop_orphans() removes what is left of it'
            WHEN NOT ai._vectorizer_has_queue(v) THEN
                'the queue of the vectorizer, or a table that goes with it, was dropped; drop the '
                'vectorizer with ai.drop_vectorizer and create it again'
            ELSE trouble END;
    END IF;
    IF trouble IS NOT NULL THEN
        PERFORM ai._vectorizer_disable(v, trouble);
    END IF;
    RETURN 'it is disabled: ' || trouble;
END
$$;
COMMENT ON FUNCTION ai._reconcile_tables(ai.vectorizer) IS
    'disables a vectorizer that has lost a table unnoticed; says so';

CREATE OR REPLACE FUNCTION ai._reconcile_triggers(v ai.vectorizer) RETURNS text
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    trouble constant text := 'a trigger on its source table was dropped';
    t record;
    is_changed boolean := false;
BEGIN
    -- The queue has another name than in the triggers.
    IF NOT EXISTS (SELECT FROM ai._vectorizer_triggers(v) x WHERE x.kind = '_vectorizer_enqueue')
       AND ai._vectorizer_has_triggers(v) THEN
        PERFORM ai._vectorizer_create_source_trigger(v);
        is_changed := true;
    END IF;
    IF (SELECT count(*) FROM ai._vectorizer_triggers(v) x WHERE x.relation = v.source) < 4 THEN
        IF v.disabled THEN
            RETURN NULL;
        END IF;
        PERFORM ai._vectorizer_disable(v, trouble);
        RETURN 'it is disabled: ' || trouble;
    END IF;
    FOR t IN SELECT * FROM ai._vectorizer_triggers(v, true) x WHERE x.enabled NOT IN ('A', 'D') LOOP
        EXECUTE format('ALTER TABLE %s ENABLE ALWAYS TRIGGER %I', ai._qualified_name(t.relation),
                       t.trigger_name);
        is_changed := true;
    END LOOP;
    IF NOT is_changed THEN
        RETURN NULL;
    END IF;
    INSERT INTO ai._vectorizer_missed VALUES (v.id) ON CONFLICT DO NOTHING;
    RETURN 'its triggers did not always fire, and do again';
END
$$;
COMMENT ON FUNCTION ai._reconcile_triggers(ai.vectorizer) IS
    'turns triggers of a vectorizer on, or disables it without them; says so, or returns null if '
    'there was nothing to do';

CREATE OR REPLACE FUNCTION ai._reconcile_rows(v ai.vectorizer) RETURNS text
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    rows bigint;
    leaf regclass;
BEGIN
    DELETE FROM ai._vectorizer_missed m WHERE m.vectorizer_id = v.id;
    IF FOUND THEN
        rows := ai._vectorizer_enqueue_rows(v, ai._from_source(v.source));
        rows := rows + ai._vectorizer_enqueue_orphans(v);
        RETURN format('all its rows are queued: %s', rows);
    END IF;
    SELECT l INTO leaf FROM ai._vectorizer_leaves(v) l
    WHERE l NOT IN (SELECT m FROM ai._vectorizer_marked(v) m) LIMIT 1;
    IF FOUND THEN
        PERFORM ai._vectorizer_follow_attached(v, leaf);
        RETURN format('partition %s was attached, its rows are queued', ai._qualified_name(leaf));
    END IF;
    SELECT m INTO leaf FROM ai._vectorizer_marked(v) m
    WHERE m NOT IN (SELECT l FROM ai._vectorizer_leaves(v) l) LIMIT 1;
    IF FOUND THEN
        PERFORM ai._vectorizer_follow_detached(v, leaf);
        RETURN format('table %s is no partition any more, its rows are queued',
                      ai._qualified_name(leaf));
    END IF;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION ai._reconcile_rows(ai.vectorizer) IS
    'queues rows that were missed, those of one partition at a time; says so, or returns null if '
    'there were none';

CREATE OR REPLACE FUNCTION ai._vectorizer_reconcile_step(vectorizer_id int4) RETURNS text
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp SET lock_timeout = '100ms'
    AS $$
DECLARE
    v ai.vectorizer;
    done text;
BEGIN
    SELECT x.* INTO v FROM ai.vectorizer x WHERE x.id = vectorizer_id;
    IF NOT FOUND THEN
        RETURN NULL;
    ELSIF v.restoring THEN
        PERFORM ai._vectorizer_follow_restore(v);
        RETURN NULL;
    END IF;
    INSERT INTO ai._vectorizer_followed VALUES (v.id);
    done := ai._reconcile_tables(v);
    IF done IS NULL AND ai._vectorizer_has_queue(v)
       AND EXISTS (SELECT FROM pg_class c WHERE c.oid = v.source) THEN
        done := coalesce(ai._reconcile_triggers(v), ai._reconcile_rows(v));
    END IF;
    DELETE FROM ai._vectorizer_followed f WHERE f.vectorizer_id = v.id;
    RETURN done;
END
$$;
COMMENT ON FUNCTION ai._vectorizer_reconcile_step(int4) IS
    'does the next thing that brings a vectorizer in step with its tables; says what it was, or '
    'returns null if there was none';

-- Unlogged tables are empty after a crash of the server, and after a failover. A coordinator starts
-- after either.
CREATE OR REPLACE FUNCTION ai._vectorizer_is_unlogged(v ai.vectorizer) RETURNS boolean
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT EXISTS (SELECT FROM pg_class c
                   WHERE c.oid IN (v.source, v.target) AND c.relpersistence = 'u')
        OR EXISTS (SELECT FROM ai._vectorizer_leaves(v) l JOIN pg_class c ON c.oid = l
                   WHERE c.relpersistence = 'u')
    $$;
COMMENT ON FUNCTION ai._vectorizer_is_unlogged(ai.vectorizer) IS
    'whether the source of a vectorizer, a partition of it or the target does not survive a crash';

CREATE OR REPLACE FUNCTION ai._vectorizers_unlogged() RETURNS SETOF int4
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
    WITH RECURSIVE above AS (
        SELECT c.oid FROM pg_class c WHERE c.relpersistence = 'u' AND c.relkind = 'r'
        UNION
        SELECT i.inhparent FROM above a JOIN pg_inherits i ON i.inhrelid = a.oid
        JOIN pg_class p ON p.oid = i.inhparent AND p.relkind = 'p'
    )
    SELECT v.id FROM ai.vectorizer v WHERE v.source::oid IN (SELECT a.oid FROM above a)
    UNION
    SELECT v.id FROM ai.vectorizer v WHERE v.target::oid IN (SELECT a.oid FROM above a)
    $$;
COMMENT ON FUNCTION ai._vectorizers_unlogged() IS
    'vectorizers that a crash of the server may have taken rows or embeddings of';

CREATE OR REPLACE FUNCTION ai._vectorizer_queue_lost(vectorizer_id int4) RETURNS bigint
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    v ai.vectorizer;
    rows bigint;
BEGIN
    SELECT x.* INTO v FROM ai.vectorizer x
    WHERE x.id = vectorizer_id AND NOT x.restoring AND ai._vectorizer_has_queue(x)
      AND ai._vectorizer_is_unlogged(x);
    IF NOT FOUND THEN
        RETURN 0;
    END IF;
    rows := ai._vectorizer_enqueue_orphans(v);
    IF EXISTS (SELECT FROM pg_class c WHERE c.oid = v.target AND c.relpersistence = 'u') THEN
        rows := rows + ai._vectorizer_enqueue_rows(v, ai._from_source(v.source) || ' s', format(
            'WHERE NOT EXISTS (SELECT FROM ONLY %s t WHERE %s)', ai._qualified_name(v.target),
            ai._key_list(v.source_pk, 's.%1$s %4$s t.%3$s', ' AND ')));
    END IF;
    RETURN rows;
END
$$;
COMMENT ON FUNCTION ai._vectorizer_queue_lost(int4) IS
    'after a crash: queues the keys whose rows or embeddings were in an unlogged table; returns how '
    'many';

REVOKE ALL ON FUNCTION ai._vectorizers_out_of_step(), ai._reconcile_tables(ai.vectorizer),
    ai._reconcile_triggers(ai.vectorizer), ai._reconcile_rows(ai.vectorizer),
    ai._vectorizer_reconcile_step(int4), ai._vectorizers_unlogged(),
    ai._vectorizer_queue_lost(int4) FROM PUBLIC;
