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

CREATE TYPE ai._vectorizer_counts AS (
    pending bigint, running bigint, retrying bigint, failed bigint, oldest timestamptz,
    next_retry timestamptz, error text, error_at timestamptz
);
COMMENT ON TYPE ai._vectorizer_counts IS
    'rows of a vectorizer by state, the time of the oldest change among them, when the next one is '
    'tried again, and the error of the one that was tried last';

-- The queue is worked off from its start, so what is known of the first entries holds from the
-- place of the first one on.
CREATE FUNCTION ai._extrapolate(entries bigint, first_place tid, last_place tid, relation regclass)
    RETURNS bigint
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT greatest(entries, (entries::float8 / (last_page - first_page + 1)
        * (pages - first_page))::bigint)
    FROM (SELECT pg_relation_size(relation) / current_setting('block_size')::bigint AS pages,
              (first_place::text::point)[0] AS first_page,
              (last_place::text::point)[0] AS last_page) p
    $$;
COMMENT ON FUNCTION ai._extrapolate(bigint, tid, tid, regclass) IS
    'how many entries a table has, by the density of the pages that its first ones are in';

-- $1 is how many entries of each table to look at. A row may have several entries in the queue, and
-- be with a worker.
CREATE FUNCTION ai._vectorizer_count_query(v ai.vectorizer) RETURNS text
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT format(
        'WITH q AS MATERIALIZED (SELECT %1$s, q.ctid AS _place, q.queued_at FROM %2$s q LIMIT $1), '
        'w AS MATERIALIZED (SELECT w.ctid AS _place, w.lease IS NOT NULL AS is_held, '
        'w.lease IS NULL AND w.retry_at > now() AS is_waiting, w.retry_at, w.queued_at, w.error, '
        'w.taken_at FROM %3$s w LIMIT $1) '
        'SELECT q.entries, q.first_place, q.last_place, q.pending, w.entries AS taken, '
        'w.first_place AS first_taken, w.last_place AS last_taken, w.running, w.retrying, '
        'f.failed, f.first_place AS first_failed, f.last_place AS last_failed, '
        'least(q.oldest, w.oldest) AS oldest, w.next_retry, e.error, e.error_at '
        'FROM (SELECT count(*) AS entries, min(q._place) AS first_place, '
        'max(q._place) AS last_place, min(q.queued_at) AS oldest, '
        '(SELECT count(*) FROM (SELECT DISTINCT %1$s FROM q) q '
        'WHERE NOT EXISTS (SELECT FROM %3$s w WHERE %4$s)) AS pending FROM q) q, '
        '(SELECT count(*) AS entries, min(w._place) AS first_place, max(w._place) AS last_place, '
        'count(*) FILTER (WHERE w.is_held) AS running, '
        'count(*) FILTER (WHERE w.is_waiting) AS retrying, min(w.queued_at) AS oldest, '
        'min(w.retry_at) FILTER (WHERE w.is_waiting) AS next_retry FROM w) w '
        'LEFT JOIN (SELECT w.error, w.taken_at AS error_at FROM w WHERE w.error IS NOT NULL '
        'ORDER BY w.taken_at DESC NULLS LAST LIMIT 1) e ON true, '
        '(SELECT count(*) AS failed, min(f.place) AS first_place, max(f.place) AS last_place '
        'FROM (SELECT f.ctid AS place FROM %5$s f LIMIT $1) f) f',
        ai._key_list(v.source_pk, 'q.%2$s'), ai._qualified_name(v.queue),
        ai._qualified_name(v.work), ai._key_list(v.source_pk, 'w.%2$s %4$s q.%2$s', ' AND '),
        ai._qualified_name(v.failed))
    $$;
COMMENT ON FUNCTION ai._vectorizer_count_query(ai.vectorizer) IS
    'query for the numbers of a vectorizer, as far as a look at the first entries tells';

-- Costs little whatever the length of the queue, and waits for nobody. A scan begins at the first
-- page, not where another one is just now (synchronize_seqscans).
CREATE FUNCTION ai._vectorizer_count(v ai.vectorizer) RETURNS ai._vectorizer_counts
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp SET synchronize_seqscans = off
    AS $$
DECLARE
    most constant bigint := 10000;
    found record;
    n ai._vectorizer_counts;
    taken bigint;
BEGIN
    IF (SELECT count(*) FROM pg_class c WHERE c.oid IN (v.queue, v.work, v.failed)) < 3 THEN
        RETURN NULL;
    END IF;
    EXECUTE format('LOCK TABLE %s, %s, %s IN ACCESS SHARE MODE NOWAIT', ai._qualified_name(v.queue),
                   ai._qualified_name(v.work), ai._qualified_name(v.failed));
    IF pg_relation_size(v.queue) + pg_relation_size(v.work) + pg_relation_size(v.failed) = 0 THEN
        n := (0, 0, 0, 0, NULL, NULL, NULL, NULL);
        RETURN n;
    END IF;
    EXECUTE ai._vectorizer_count_query(v) INTO found USING most + 1;
    n := (found.pending, found.running, found.retrying, found.failed, found.oldest,
          found.next_retry, found.error, found.error_at);
    taken := found.taken;
    IF found.entries > most THEN
        n.pending := ai._extrapolate(found.entries, found.first_place, found.last_place, v.queue);
    END IF;
    IF taken > most THEN
        taken := ai._extrapolate(taken, found.first_taken, found.last_taken, v.work);
        n.running := found.running::float8 / found.taken * taken;
        n.retrying := found.retrying::float8 / found.taken * taken;
    END IF;
    IF n.failed > most THEN
        n.failed := ai._extrapolate(n.failed, found.first_failed, found.last_failed, v.failed);
    END IF;
    n.pending := n.pending + greatest(taken - n.running - n.retrying, 0);
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
COMMENT ON FUNCTION ai._vectorizer_count(ai.vectorizer) IS
    'the numbers of a vectorizer, estimates where a table has more than 10,000 entries; null if '
    'its tables are locked, or gone by now';

CREATE FUNCTION ai._vectorizer_count_exactly(v ai.vectorizer) RETURNS bigint
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

CREATE FUNCTION ai._vectorizer_count_pending(v ai.vectorizer, exact_count boolean) RETURNS bigint
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
CREATE VIEW ai.vectorizer_errors WITH (security_barrier) AS
    SELECT e.id, v.name, e.message, e.details, e.recorded
    FROM ai._vectorizer_errors e JOIN ai.vectorizer v ON v.id = e.id
    WHERE ai._vectorizer_visible(current_user, v.source, v.target);
COMMENT ON VIEW ai.vectorizer_errors IS
    'errors of the vectorizers of the tables that one may read';
GRANT SELECT ON ai.vectorizer_errors TO PUBLIC;
