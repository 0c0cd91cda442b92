-- The queue of a vectorizer, the table of the rows it gave up, and set-based ways into the queue.

-- The trigger relies on the order of columns: the key first, then columns with defaults that are
-- the same for all rows of a transaction. Domains are replaced by their base types: nothing that
-- a user wrote is evaluated for a row of the queue.
CREATE OR REPLACE FUNCTION ai._vectorizer_queue_keys(source_pk jsonb) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT string_agg(format('%I %s%s NOT NULL', k ->> 'queue_column', k ->> 'basetype',
                             coalesce(' COLLATE ' || (k ->> 'collation'), '')), ', '
                      ORDER BY (k ->> 'pknum')::int)
    FROM jsonb_array_elements(source_pk) k
    $$;
COMMENT ON FUNCTION ai._vectorizer_queue_keys(jsonb) IS
    'definitions of the columns for a key in a queue';

-- What changed, in the order of the changes, no more: this is written by users' transactions. There
-- is no index, because that costs them more than all the rest, and nothing by which an entry could
-- be told from another one of the same row. Workers read it by place (ctid).
-- REPLICA IDENTITY FULL: in a publication of all tables, entries can still be deleted.
CREATE OR REPLACE FUNCTION ai._vectorizer_create_queue_table(queue_schema name, queue_table name,
        source_pk jsonb, priority int4) RETURNS regclass
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    EXECUTE format(
        'CREATE TABLE %I.%I (%s, queued_at timestamptz NOT NULL DEFAULT now(), '
        'priority smallint NOT NULL DEFAULT %s) INHERITS (ai._vectorizer_queue)',
        queue_schema, queue_table, ai._vectorizer_queue_keys(source_pk), priority);
    EXECUTE format('ALTER TABLE %I.%I REPLICA IDENTITY FULL', queue_schema, queue_table);
    EXECUTE format('REVOKE ALL ON %I.%I FROM PUBLIC', queue_schema, queue_table);
    RETURN format('%I.%I', queue_schema, queue_table)::regclass;
END
$$;
COMMENT ON FUNCTION ai._vectorizer_create_queue_table(name, name, jsonb, int4) IS
    'makes the queue of a vectorizer';

-- What a row says of its priority, if the vectorizer has a column for that. Who has none pays nothing.
CREATE OR REPLACE FUNCTION ai._row_priority(value text) RETURNS int4
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'ai_row_priority';
COMMENT ON FUNCTION ai._row_priority(text) IS
    'a row''s priority as a number: critical or urgent 200, high 100, low -100, a number itself';

CREATE OR REPLACE FUNCTION ai._priority_column(config jsonb) RETURNS name
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $$SELECT (config #>> '{processing,priority_column}')::name$$;
COMMENT ON FUNCTION ai._priority_column(jsonb) IS
    'column of the source by which rows of a vectorizer come first; null if there is none';

-- Entries of such a queue are taken in this order.
CREATE OR REPLACE FUNCTION ai._vectorizer_create_queue_index(v ai.vectorizer) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    IF ai._priority_column(v.config) IS NOT NULL THEN
        EXECUTE format('CREATE INDEX ON %s (priority DESC, queued_at)', ai._qualified_name(v.queue));
    END IF;
END
$$;
COMMENT ON FUNCTION ai._vectorizer_create_queue_index(ai.vectorizer) IS
    'makes the index on the queue of a vectorizer whose rows have priorities';

-- Where a worker puts what it takes from the queue, one row for all entries of a source row, until
-- it is written. A row with a lease is with that worker process; one without waits for retry_at.
-- crashes is how many processes died while they had the row: it may be what kills them.
CREATE OR REPLACE FUNCTION ai._vectorizer_create_work_table(queue_schema name, work_table name,
        source_pk jsonb) RETURNS regclass
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    EXECUTE format(
        'CREATE TABLE %I.%I (%s, queued_at timestamptz NOT NULL, priority smallint NOT NULL, '
        'attempts int NOT NULL DEFAULT 0, retry_at timestamptz, lease uuid, taken_at timestamptz, '
        'error text, crashes smallint NOT NULL DEFAULT 0, PRIMARY KEY (%s)) '
        'INHERITS (ai._vectorizer_queue)', queue_schema, work_table,
        ai._vectorizer_queue_keys(source_pk), ai._key_list(source_pk, '%2$s'));
    EXECUTE format('CREATE INDEX ON %I.%I (crashes, retry_at) WHERE lease IS NULL',
                   queue_schema, work_table);
    EXECUTE format('REVOKE ALL ON %I.%I FROM PUBLIC', queue_schema, work_table);
    RETURN format('%I.%I', queue_schema, work_table)::regclass;
END
$$;
COMMENT ON FUNCTION ai._vectorizer_create_work_table(name, name, jsonb) IS
    'makes the table for the rows that workers have taken from a vectorizer''s queue';

CREATE OR REPLACE FUNCTION ai._vectorizer_create_queue_failed_table(queue_schema name, failed_table name,
        source_pk jsonb) RETURNS regclass
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    EXECUTE format(
        'CREATE TABLE %I.%I (%s, step text NOT NULL, error text NOT NULL, class text NOT NULL, '
        'attempts int NOT NULL DEFAULT 0, failed_at timestamptz NOT NULL DEFAULT now(), '
        'PRIMARY KEY (%s)) INHERITS (ai._vectorizer_queue)',
        queue_schema, failed_table, ai._vectorizer_queue_keys(source_pk),
        ai._key_list(source_pk, '%2$s'));
    EXECUTE format('REVOKE ALL ON %I.%I FROM PUBLIC', queue_schema, failed_table);
    RETURN format('%I.%I', queue_schema, failed_table)::regclass;
END
$$;
COMMENT ON FUNCTION ai._vectorizer_create_queue_failed_table(name, name, jsonb) IS
    'makes the table for the rows that a vectorizer gave up, with the last error of each';

-- The owner of the source may look into the queue and may put rows into it, no more.
CREATE OR REPLACE FUNCTION ai._vectorizer_grant_queue(v ai.vectorizer, role name) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    EXECUTE format('GRANT SELECT, INSERT (%s%s) ON %s TO %I', ai._key_list(v.source_pk, '%2$s'),
                   CASE WHEN ai._priority_column(v.config) IS NOT NULL THEN ', priority' END,
                   ai._qualified_name(v.queue), role);
    EXECUTE format('GRANT SELECT ON %s, %s TO %I', ai._qualified_name(v.work),
                   ai._qualified_name(v.failed), role);
END
$$;
COMMENT ON FUNCTION ai._vectorizer_grant_queue(ai.vectorizer, name) IS
    'gives the owner of a source its rights on the queue';

-- The event triggers see to it that there is; a superuser can turn them off.
CREATE OR REPLACE FUNCTION ai._vectorizer_has_queue(v ai.vectorizer) RETURNS boolean
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$SELECT count(*) = 3 FROM pg_class c WHERE c.oid IN (v.queue, v.work, v.failed)$$;
COMMENT ON FUNCTION ai._vectorizer_has_queue(ai.vectorizer) IS
    'whether the queue of a vectorizer and the tables that go with it are there';

CREATE OR REPLACE FUNCTION ai._vectorizer_owner(v ai.vectorizer) RETURNS oid
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$SELECT c.relowner FROM pg_class c WHERE c.oid = v.source$$;
COMMENT ON FUNCTION ai._vectorizer_owner(ai.vectorizer) IS
    'role that owns a vectorizer, which is the owner of its source table';

CREATE OR REPLACE FUNCTION ai._vectorizer_enqueue_rows(v ai.vectorizer, relation text,
                                            condition text DEFAULT '') RETURNS bigint
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    rows bigint;
    priority text;
BEGIN
    PERFORM ai._vectorizer_follow_owner(v);
    IF ai._priority_column(v.config) IS NOT NULL THEN
        priority := format(
            ', least(greatest(%s + coalesce(ai._row_priority(%I::text), 0), -32768), 32767)',
            coalesce((v.config #>> '{processing,priority}')::int, 0), ai._priority_column(v.config));
    END IF;
    rows := ai._run_as(ai._vectorizer_owner(v), format(
        'INSERT INTO %s (%s%s) SELECT %s%s FROM %s %s', ai._qualified_name(v.queue),
        ai._key_list(v.source_pk, '%2$s'), CASE WHEN priority IS NOT NULL THEN ', priority' END,
        ai._key_list(v.source_pk, '%1$s'), priority, relation, condition));
    IF rows > 0 THEN
        PERFORM ai._vectorizer_notify(v.queue);
    END IF;
    RETURN rows;
END
$$;
COMMENT ON FUNCTION ai._vectorizer_enqueue_rows(ai.vectorizer, text, text) IS
    'queues the rows of the source table, or of one of its partitions';

-- After rows went away without firing a row trigger.
CREATE OR REPLACE FUNCTION ai._vectorizer_enqueue_orphans(v ai.vectorizer) RETURNS bigint
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    rows bigint;
BEGIN
    IF NOT EXISTS (SELECT FROM pg_class c WHERE c.oid = v.target AND c.relkind = 'r') THEN
        RETURN 0;
    END IF;
    PERFORM ai._vectorizer_follow_owner(v);
    rows := ai._run_as(ai._vectorizer_owner(v), format(
        'INSERT INTO %s (%s) SELECT DISTINCT %s FROM ONLY %s t '
        'WHERE NOT EXISTS (SELECT FROM %s s WHERE %s)',
        ai._qualified_name(v.queue), ai._key_list(v.source_pk, '%2$s'),
        ai._key_list(v.source_pk, 't.%3$s'), ai._qualified_name(v.target),
        ai._from_source(v.source), ai._key_list(v.source_pk, 's.%1$s %4$s t.%3$s', ' AND ')));
    IF rows > 0 THEN
        PERFORM ai._vectorizer_notify(v.queue);
    END IF;
    RETURN rows;
END
$$;
COMMENT ON FUNCTION ai._vectorizer_enqueue_orphans(ai.vectorizer) IS
    'queues the keys that have embeddings but no row any more';
