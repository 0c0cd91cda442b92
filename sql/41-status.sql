-- How far vectorizers are, for everybody who may read what they make.

-- With pg_has_role for the owner: has_table_privilege is false for an owner who revoked it.
CREATE FUNCTION ai._vectorizer_readable(role name, source regclass, target regclass)
    RETURNS boolean
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT coalesce(has_table_privilege(role, source, 'SELECT'), false)
        OR coalesce(has_table_privilege(role, target, 'SELECT'), false)
        OR EXISTS (SELECT FROM pg_class c
                   WHERE c.oid = source AND pg_has_role(role, c.relowner, 'USAGE'))
    $$;
COMMENT ON FUNCTION ai._vectorizer_readable(name, regclass, regclass) IS
    'whether a role may read what a vectorizer embeds, or the embeddings';

CREATE FUNCTION ai._vectorizer_visible(role name, source regclass, target regclass) RETURNS boolean
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT ai._vectorizer_readable(role, source, target) OR pg_has_role(role, 'pg_monitor', 'USAGE')
    $$;
COMMENT ON FUNCTION ai._vectorizer_visible(name, regclass, regclass) IS
    'whether a role may see how far a vectorizer is';

CREATE FUNCTION ai._require_permission(permitted boolean, v ai.vectorizer) RETURNS void
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    IF NOT permitted THEN
        RAISE EXCEPTION 'permission denied for vectorizer "%"', v.name
            USING ERRCODE = 'insufficient_privilege',
                  HINT = 'It takes the right to read the source or the target table.';
    END IF;
END
$$;
COMMENT ON FUNCTION ai._require_permission(boolean, ai.vectorizer) IS
    'raises an error unless something is permitted';

CREATE FUNCTION ai._vectorizer_require_visible(caller oid, v ai.vectorizer) RETURNS void
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT ai._require_permission(
        ai._vectorizer_visible(pg_get_userbyid(caller), v.source, v.target), v)
    $$;
COMMENT ON FUNCTION ai._vectorizer_require_visible(oid, ai.vectorizer) IS
    'raises an error unless the caller may see how far a vectorizer is';

CREATE FUNCTION ai._vectorizer_require_readable(caller oid, v ai.vectorizer) RETURNS void
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT ai._require_permission(
        ai._vectorizer_readable(pg_get_userbyid(caller), v.source, v.target), v)
    $$;
COMMENT ON FUNCTION ai._vectorizer_require_readable(oid, ai.vectorizer) IS
    'raises an error unless the caller may read what a vectorizer embeds';

-- A row may have several entries in the queue, and be with a worker. Counting rows takes a look at all entries, so beyond
-- the first ten thousand entries their number is estimated, as the planner does.
CREATE FUNCTION ai._vectorizer_count_pending(v ai.vectorizer, exact_count boolean) RETURNS bigint
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    most constant bigint := 10000;
    key text := ai._key_list(v.source_pk, '%2$s');
    entries_of text := format('SELECT %1$s FROM %2$s UNION ALL SELECT %1$s FROM %3$s', key,
        ai._qualified_name(v.work), ai._qualified_name(v.queue));
    entries bigint;
    result bigint;
    plan json;
BEGIN
    IF NOT ai._vectorizer_has_queue(v) THEN
        RETURN NULL;
    END IF;
    PERFORM ai._vectorizer_flush_pending();
    EXECUTE format(
        'SELECT count(*) FROM (SELECT DISTINCT %s FROM (%s%s) e) r',
        key, entries_of, CASE WHEN exact_count THEN '' ELSE ' LIMIT ' || most + 1 END) INTO result;
    IF exact_count THEN
        RETURN result;
    END IF;
    EXECUTE format('SELECT count(*) FROM (%s LIMIT %s) e', entries_of, most + 1) INTO entries;
    IF entries > most THEN
        EXECUTE 'EXPLAIN (FORMAT JSON) ' || entries_of INTO plan;
        result := greatest(entries, (plan #>> '{0,Plan,Plan Rows}')::bigint);
    END IF;
    RETURN result;
END
$$;
COMMENT ON FUNCTION ai._vectorizer_count_pending(ai.vectorizer, boolean) IS
    'number of rows in the queue of a vectorizer, those in flight included; null if it was dropped';

CREATE FUNCTION ai._vectorizer_queue_pending(caller oid, vectorizer_id int4, exact_count boolean)
    RETURNS bigint
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    v ai.vectorizer := ai._vectorizer_get(vectorizer_id);
BEGIN
    PERFORM ai._vectorizer_require_visible(caller, v);
    RETURN ai._vectorizer_count_pending(v, coalesce(exact_count, false));
END
$$;
COMMENT ON FUNCTION ai._vectorizer_queue_pending(oid, int4, boolean) IS
    'what ai.vectorizer_queue_pending does, for the role that called it';

CREATE FUNCTION ai._vectorizer_queue_pending(caller oid, name text, exact_count boolean)
    RETURNS bigint
    LANGUAGE sql
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT ai._vectorizer_queue_pending(caller, (ai._vectorizer_get(name)).id, exact_count)
    $$;
COMMENT ON FUNCTION ai._vectorizer_queue_pending(oid, text, boolean) IS
    'what ai.vectorizer_queue_pending does, for the role that called it';

CREATE FUNCTION ai.vectorizer_queue_pending(vectorizer_id int4, exact_count boolean DEFAULT false)
    RETURNS bigint
    LANGUAGE c VOLATILE
    AS 'MODULE_PATHNAME', 'ai_call_as_owner';
COMMENT ON FUNCTION ai.vectorizer_queue_pending(int4, boolean) IS
    'number of rows that are not up to date yet, those in flight included; 0 means done. Above '
    '10,000 it is an estimate unless exact_count is true';

CREATE FUNCTION ai.vectorizer_queue_pending(name text, exact_count boolean DEFAULT false)
    RETURNS bigint
    LANGUAGE c VOLATILE
    AS 'MODULE_PATHNAME', 'ai_call_as_owner';
COMMENT ON FUNCTION ai.vectorizer_queue_pending(text, boolean) IS
    'number of rows that are not up to date yet, those in flight included; 0 means done. Above '
    '10,000 it is an estimate unless exact_count is true';

CREATE FUNCTION ai._vectorizer_queue_failed(caller oid, vectorizer_id int4) RETURNS bigint
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    v ai.vectorizer := ai._vectorizer_get(vectorizer_id);
    result bigint;
BEGIN
    PERFORM ai._vectorizer_require_visible(caller, v);
    IF ai._vectorizer_has_queue(v) THEN
        EXECUTE format('SELECT count(*) FROM %s', ai._qualified_name(v.failed)) INTO result;
    END IF;
    RETURN result;
END
$$;
COMMENT ON FUNCTION ai._vectorizer_queue_failed(oid, int4) IS
    'what ai.vectorizer_queue_failed does, for the role that called it';

CREATE FUNCTION ai.vectorizer_queue_failed(vectorizer_id int4) RETURNS bigint
    LANGUAGE c VOLATILE
    AS 'MODULE_PATHNAME', 'ai_call_as_owner';
COMMENT ON FUNCTION ai.vectorizer_queue_failed(int4) IS
    'number of rows that were given up after the last attempt';

-- security_barrier: a function in a query's condition must not see what the view hides.
CREATE VIEW ai.vectorizer_status WITH (security_barrier) AS
    SELECT v.id, v.name, ai._qualified_name(v.source) AS source_table,
        ai._qualified_name(v.target) AS target_table, ai._qualified_name(v.view) AS view,
        v.config #>> '{destination,embedding_column}' AS embedding_column,
        ai.vectorizer_queue_pending(v.id) AS pending_items, v.disabled,
        ai.vectorizer_queue_failed(v.id) AS failed_items
    FROM ai.vectorizer v
    WHERE ai._vectorizer_visible(current_user, v.source, v.target);
COMMENT ON VIEW ai.vectorizer_status IS
    'vectorizers of the tables that one may read, and how many rows each has to do';
GRANT SELECT ON ai.vectorizer_status TO PUBLIC;

CREATE VIEW ai.vectorizer_errors WITH (security_barrier) AS
    SELECT e.id, v.name, e.message, e.details, e.recorded
    FROM ai._vectorizer_errors e JOIN ai.vectorizer v ON v.id = e.id
    WHERE ai._vectorizer_visible(current_user, v.source, v.target);
COMMENT ON VIEW ai.vectorizer_errors IS
    'errors of the vectorizers of the tables that one may read';
GRANT SELECT ON ai.vectorizer_errors TO PUBLIC;
