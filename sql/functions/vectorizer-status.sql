-- How far vectorizers are, for everybody who may read what they make.

CREATE OR REPLACE FUNCTION ai._vectorizer_readable(role name, source regclass, target regclass)
    RETURNS boolean
    LANGUAGE c STABLE
    AS 'MODULE_PATHNAME', 'ai_vectorizer_readable';
COMMENT ON FUNCTION ai._vectorizer_readable(name, regclass, regclass) IS
    'whether a role may read what a vectorizer embeds, or the embeddings';

CREATE OR REPLACE FUNCTION ai._vectorizer_visible(role name, source regclass, target regclass) RETURNS boolean
    LANGUAGE c STABLE
    AS 'MODULE_PATHNAME', 'ai_vectorizer_visible';
COMMENT ON FUNCTION ai._vectorizer_visible(name, regclass, regclass) IS
    'whether a role may see how far a vectorizer is';

CREATE OR REPLACE FUNCTION ai._require_permission(permitted boolean, v ai.vectorizer) RETURNS void
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

CREATE OR REPLACE FUNCTION ai._vectorizer_require_visible(caller oid, v ai.vectorizer) RETURNS void
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT ai._require_permission(
        ai._vectorizer_visible(pg_get_userbyid(caller), v.source, v.target), v)
    $$;
COMMENT ON FUNCTION ai._vectorizer_require_visible(oid, ai.vectorizer) IS
    'raises an error unless the caller may see how far a vectorizer is';

CREATE OR REPLACE FUNCTION ai._vectorizer_require_readable(caller oid, v ai.vectorizer) RETURNS void
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT ai._require_permission(
        ai._vectorizer_readable(pg_get_userbyid(caller), v.source, v.target), v)
    $$;
COMMENT ON FUNCTION ai._vectorizer_require_readable(oid, ai.vectorizer) IS
    'raises an error unless the caller may read what a vectorizer embeds';

-- Costs little whatever the length of the queue, and waits for nobody. Reads tables that only their
-- owner may read, whoever calls it.
CREATE OR REPLACE FUNCTION ai._vectorizer_count_entries(queue regclass, work regclass, failed regclass, key_columns int4)
    RETURNS ai._vectorizer_counts
    LANGUAGE c VOLATILE STRICT
    AS 'MODULE_PATHNAME', 'ai_vectorizer_count_entries';
COMMENT ON FUNCTION ai._vectorizer_count_entries(regclass, regclass, regclass, int4) IS
    'the numbers of a vectorizer by a look at its tables, estimates where one has more than 10,000 '
    'entries; pending is null if it takes a query to compare the keys, all if a table is locked or '
    'gone';
REVOKE ALL ON FUNCTION ai._vectorizer_count_entries(regclass, regclass, regclass, int4) FROM PUBLIC;

CREATE OR REPLACE FUNCTION ai._vectorizer_count_keys(v ai.vectorizer, looked ai._vectorizer_counts)
    RETURNS ai._vectorizer_counts
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp SET synchronize_seqscans = off
    AS $$
DECLARE
    n ai._vectorizer_counts := looked;
BEGIN
    EXECUTE format('LOCK TABLE %s, %s IN ACCESS SHARE MODE NOWAIT', ai._qualified_name(v.queue),
                   ai._qualified_name(v.work));
    EXECUTE format(
        'SELECT count(*) + (SELECT count(*) FROM %3$s w '
        'WHERE w.lease IS NULL AND (w.retry_at > now()) IS NOT TRUE) '
        'FROM (SELECT DISTINCT %1$s FROM (SELECT %1$s FROM %2$s q LIMIT 10000) q) q '
        'WHERE NOT EXISTS (SELECT FROM %3$s w WHERE %4$s)',
        ai._key_list(v.source_pk, 'q.%2$s'), ai._qualified_name(v.queue),
        ai._qualified_name(v.work), ai._key_list(v.source_pk, 'w.%2$s %4$s q.%2$s', ' AND '))
    INTO n.pending;
    RETURN n;
EXCEPTION
    WHEN lock_not_available OR undefined_table THEN
        RETURN NULL;
    WHEN ambiguous_function THEN
        -- Casts of its own keep the key from being compared. It must not hide the others.
        n := (ai._vectorizer_count_exactly(v), 0, 0, 0, NULL, NULL, SQLERRM, NULL);
        RETURN n;
END
$$;
COMMENT ON FUNCTION ai._vectorizer_count_keys(ai.vectorizer, ai._vectorizer_counts) IS
    'what ai._vectorizer_count_entries has found, with the number of pending rows by a query';

CREATE OR REPLACE FUNCTION ai._vectorizer_count(v ai.vectorizer) RETURNS ai._vectorizer_counts
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    n ai._vectorizer_counts := ai._vectorizer_count_entries(v.queue, v.work, v.failed,
                                                   jsonb_array_length(v.source_pk));
BEGIN
    IF n.pending IS NULL AND n.running IS NOT NULL THEN
        n := ai._vectorizer_count_keys(v, n);
    END IF;
    RETURN n;
END
$$;
COMMENT ON FUNCTION ai._vectorizer_count(ai.vectorizer) IS
    'the numbers of a vectorizer, estimates where a table has more than 10,000 entries; null if '
    'its tables are locked, or gone by now';

CREATE OR REPLACE FUNCTION ai._vectorizer_count_exactly(v ai.vectorizer) RETURNS bigint
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    result bigint;
BEGIN
    EXECUTE format('SELECT count(*) FROM (SELECT %1$s FROM %2$s UNION SELECT %1$s FROM %3$s) r',
        ai._key_list(v.source_pk, '%2$s'), ai._qualified_name(v.work), ai._qualified_name(v.queue))
    INTO result;
    RETURN result;
END
$$;
COMMENT ON FUNCTION ai._vectorizer_count_exactly(ai.vectorizer) IS
    'number of rows that are not up to date, by counting all entries';

CREATE OR REPLACE FUNCTION ai._vectorizer_count_pending(v ai.vectorizer, exact_count boolean) RETURNS bigint
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    n ai._vectorizer_counts;
BEGIN
    IF NOT ai._vectorizer_has_queue(v) THEN
        RETURN NULL;
    END IF;
    PERFORM ai._vectorizer_flush_pending();
    IF NOT exact_count THEN
        n := ai._vectorizer_count(v);
    END IF;
    RETURN coalesce(n.pending + n.running + n.retrying, ai._vectorizer_count_exactly(v));
END
$$;
COMMENT ON FUNCTION ai._vectorizer_count_pending(ai.vectorizer, boolean) IS
    'number of rows in the queue of a vectorizer, those in flight included; null if it was dropped';

CREATE OR REPLACE FUNCTION ai._vectorizer_queue_pending(caller oid, vectorizer_id int4, exact_count boolean)
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

CREATE OR REPLACE FUNCTION ai._vectorizer_queue_pending(caller oid, name text, exact_count boolean)
    RETURNS bigint
    LANGUAGE sql
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT ai._vectorizer_queue_pending(caller, (ai._vectorizer_get(name)).id, exact_count)
    $$;
COMMENT ON FUNCTION ai._vectorizer_queue_pending(oid, text, boolean) IS
    'what ai.vectorizer_queue_pending does, for the role that called it';

CREATE OR REPLACE FUNCTION ai.vectorizer_queue_pending(vectorizer_id int4, exact_count boolean DEFAULT false)
    RETURNS bigint
    LANGUAGE c VOLATILE
    AS 'MODULE_PATHNAME', 'ai_call_as_owner';
COMMENT ON FUNCTION ai.vectorizer_queue_pending(int4, boolean) IS
    'number of rows that are not up to date yet, those in flight included; 0 means done. Above '
    '10,000 it is an estimate unless exact_count is true';

CREATE OR REPLACE FUNCTION ai.vectorizer_queue_pending(name text, exact_count boolean DEFAULT false)
    RETURNS bigint
    LANGUAGE c VOLATILE
    AS 'MODULE_PATHNAME', 'ai_call_as_owner';
COMMENT ON FUNCTION ai.vectorizer_queue_pending(text, boolean) IS
    'number of rows that are not up to date yet, those in flight included; 0 means done. Above '
    '10,000 it is an estimate unless exact_count is true';

CREATE OR REPLACE FUNCTION ai._vectorizer_queue_failed(caller oid, vectorizer_id int4) RETURNS bigint
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

CREATE OR REPLACE FUNCTION ai.vectorizer_queue_failed(vectorizer_id int4) RETURNS bigint
    LANGUAGE c VOLATILE
    AS 'MODULE_PATHNAME', 'ai_call_as_owner';
COMMENT ON FUNCTION ai.vectorizer_queue_failed(int4) IS
    'number of rows that were given up after the last attempt';
