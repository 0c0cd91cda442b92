-- When a restore has ended: a vectorizer that came from a dump (tables/restore.sql) has all that belongs to it.

-- What turned triggers off on purpose (D) is in the dump as well. What has just been made is on, but
-- not always (O).
CREATE OR REPLACE FUNCTION ai._vectorizer_is_whole(v ai.vectorizer) RETURNS boolean
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT ai._vectorizer_has_queue(v)
        AND (SELECT count(*) >= 4 FROM ai._vectorizer_triggers(v) t WHERE t.relation = v.source)
        AND NOT EXISTS (SELECT FROM ai._vectorizer_triggers(v, true) t
                        WHERE t.enabled NOT IN ('A', 'D'))
        AND NOT EXISTS (SELECT l FROM ai._vectorizer_leaves(v) l
                        EXCEPT SELECT m FROM ai._vectorizer_marked(v) m)
    $$;
COMMENT ON FUNCTION ai._vectorizer_is_whole(ai.vectorizer) IS
    'whether a vectorizer has its queue, its triggers, and marks on all partitions';

-- A restore with several jobs makes triggers at the same time as it loads the vectorizer, and nobody sees
-- what is not committed: so the coordinator looks, too, and nobody waits here.
CREATE OR REPLACE FUNCTION ai._vectorizer_follow_restore(v ai.vectorizer) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    UPDATE ai.vectorizer x SET restoring = false WHERE x.id = (
        SELECT y.id FROM ai.vectorizer y
        WHERE y.id = v.id AND y.restoring AND ai._vectorizer_is_whole(y)
        FOR NO KEY UPDATE SKIP LOCKED);
END
$$;
COMMENT ON FUNCTION ai._vectorizer_follow_restore(ai.vectorizer) IS
    'ends the restore of a vectorizer, if all of it is there';

-- What comes after a restore is not part of it, also if nobody has seen yet that it has ended. Only for
-- the tables of whoever gives the command: the row is locked till the end of that transaction.
CREATE OR REPLACE FUNCTION ai._on_ddl_command_start() RETURNS event_trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    IF EXISTS (SELECT FROM ai.vectorizer v WHERE v.restoring) THEN
        PERFORM ai._vectorizer_follow_restore(v) FROM ai.vectorizer v
        WHERE v.restoring AND ai._is_owner(
            (SELECT r.oid FROM pg_roles r WHERE r.rolname = session_user), v.source);
    END IF;
END
$$;
COMMENT ON FUNCTION ai._on_ddl_command_start() IS
    'event trigger: ends restores of which all is there';
REVOKE ALL ON FUNCTION ai._on_ddl_command_start() FROM PUBLIC;
