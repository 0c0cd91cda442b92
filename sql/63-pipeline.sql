-- What workers run: the statements of a vectorizer, made once from its names and its key. A row that
-- was taken is known by its place (ctid) in the table of work, together with the lease on it; so no
-- key ever leaves the database, whatever its type.

CREATE TABLE ai.usage (
    vectorizer_id int4 NOT NULL REFERENCES ai.vectorizer ON DELETE CASCADE,
    model         text NOT NULL,
    day           date NOT NULL,
    requests      bigint NOT NULL DEFAULT 0,
    input_tokens  bigint NOT NULL DEFAULT 0,
    rows          bigint NOT NULL DEFAULT 0,
    sent_chunks   bigint NOT NULL DEFAULT 0,
    reused_chunks bigint NOT NULL DEFAULT 0,
    truncated_chunks bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (vectorizer_id, model, day)
);
COMMENT ON TABLE ai.usage IS
    'what vectorizers have asked of their models, by day: requests, tokens as the provider counted '
    'them, rows, chunks sent, chunks that were there already, chunks that were cut to fit';
SELECT pg_catalog.pg_extension_config_dump('ai.usage', '');
CREATE TRIGGER restore BEFORE INSERT ON ai.usage FOR EACH ROW
    WHEN (ai._in_session())
    EXECUTE FUNCTION ai._restore_row('vectorizer_id');

CREATE FUNCTION ai._worker_usage(vectorizer_id int4, model text, requests bigint,
        input_tokens bigint, rows bigint, sent_chunks bigint, reused_chunks bigint,
        truncated_chunks bigint) RETURNS void
    LANGUAGE sql
    SET search_path = pg_catalog, pg_temp
    AS $$
    INSERT INTO ai.usage AS u VALUES (vectorizer_id, model, current_date, requests, input_tokens,
        rows, sent_chunks, reused_chunks, truncated_chunks)
    ON CONFLICT ON CONSTRAINT usage_pkey DO UPDATE SET
        requests = u.requests + excluded.requests,
        input_tokens = u.input_tokens + excluded.input_tokens,
        rows = u.rows + excluded.rows,
        sent_chunks = u.sent_chunks + excluded.sent_chunks,
        reused_chunks = u.reused_chunks + excluded.reused_chunks,
        truncated_chunks = u.truncated_chunks + excluded.truncated_chunks
    $$;
COMMENT ON FUNCTION ai._worker_usage(int4, text, bigint, bigint, bigint, bigint, bigint, bigint) IS
    'adds to the usage of a vectorizer''s model';

-- Every name in these statements has its schema, operators and types too: whatever the search_path of
-- the process is, no object of a user takes the place of one of the server's. test/t/068 checks.
--
-- All of these look rows up one by one, by place or by key, from the first table to the last. A plan
-- is made once, often while the tables are empty and the planner thinks nothing of reading them
-- whole for each row; the subqueries with OFFSET 0 leave it one way only.

-- Takes entries from one part of the queue: all that are in it and whose rows no worker has. $1 and
-- $2 are places in the queue, $3 is the most entries to look at, $4 the lease. A row that waited for
-- another try has changed since: it starts anew; but one that a process has died with is worked on by
-- itself first. Claimers come one by one, and nobody else adds to the table of work or deletes what
-- waits there.
--
-- If rows have priorities, the queue has an index by which they are taken, wherever they are: those
-- that workers have are passed over at once then, and $1 and $2 are not looked at.
CREATE FUNCTION ai._statement_claim(v ai.vectorizer) RETURNS text
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT format(
        'WITH seen AS MATERIALIZED (SELECT q.*, w._place, w._held '
        'FROM (SELECT q.ctid AS _entry, %1$s, q.queued_at, q.priority '
        'FROM %2$s q %7$s) q '
        'LEFT JOIN LATERAL (SELECT w.ctid AS _place, '
        'w.lease IS NOT NULL OR w.crashes OPERATOR(pg_catalog.>) 0 AS _held '
        'FROM %4$s w WHERE %5$s OFFSET 0) w ON true %8$s), '
        'gone AS (DELETE FROM %2$s q WHERE q.ctid OPERATOR(pg_catalog.=) ANY (ARRAY('
        'SELECT s._entry FROM seen s WHERE s._held IS NOT TRUE))), '
        'again AS (UPDATE %4$s w SET lease = $4, taken_at = pg_catalog.now(), attempts = 0, '
        'retry_at = NULL, error = NULL WHERE w.ctid OPERATOR(pg_catalog.=) ANY (ARRAY('
        'SELECT s._place FROM seen s WHERE NOT s._held)) RETURNING w.ctid AS place), '
        'new AS (INSERT INTO %4$s AS w (%6$s, queued_at, priority, lease, taken_at) '
        'SELECT %3$s, pg_catalog.min(s.queued_at), pg_catalog.max(s.priority), $4, '
        'pg_catalog.now() FROM seen s '
        'WHERE s._held IS NULL GROUP BY %3$s RETURNING w.ctid AS place) '
        'SELECT (SELECT pg_catalog.array_agg(t.place) FROM (SELECT place FROM again '
        'UNION ALL SELECT place FROM new) t), (SELECT pg_catalog.count(*) FROM seen), '
        '(SELECT pg_catalog.max(s._entry) FROM seen s), '
        '(SELECT pg_catalog.min(s.priority)::pg_catalog.int4 FROM seen s)',
        ai._key_list(v.source_pk, 'q.%2$s'), ai._qualified_name(v.queue),
        ai._key_list(v.source_pk, 's.%2$s'), ai._qualified_name(v.work),
        ai._key_list(v.source_pk, 'w.%2$s %4$s q.%2$s', ' AND '),
        ai._key_list(v.source_pk, '%2$s'),
        CASE WHEN ai._priority_column(v.config) IS NULL
             THEN 'WHERE q.ctid OPERATOR(pg_catalog.>=) $1 '
                  'AND q.ctid OPERATOR(pg_catalog.<) $2 LIMIT $3' END,
        CASE WHEN ai._priority_column(v.config) IS NOT NULL
             THEN 'WHERE w._held IS NOT TRUE ORDER BY q.priority DESC, q.queued_at LIMIT $3' END)
    $$;
COMMENT ON FUNCTION ai._statement_claim(ai.vectorizer) IS
    'statement by which a worker takes rows from the queue';

-- The columns that a worker reads, the loaded one first. Bytes stay bytes: whether they are a text is
-- for each row to tell. A type's own length is known without fetching the value.
CREATE FUNCTION ai._read_columns(v ai.vectorizer, OUT number bigint, OUT expression text)
    RETURNS SETOF record
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT c.n - 1, format('s.%I::%s', c.name, CASE WHEN c.n = 1 AND EXISTS (
        SELECT FROM pg_attribute a, ai._base_type(a.atttypid, a.atttypmod) b
        WHERE a.attrelid = v.source AND a.attname = c.name AND b.type = 'bytea'::regtype)
        THEN 'pg_catalog.bytea' ELSE 'pg_catalog.text' END)
    FROM unnest((v.config #>> '{loading,column_name}')
                || ai._formatting_columns(v.config -> 'formatting')) WITH ORDINALITY AS c (name, n)
    $$;
COMMENT ON FUNCTION ai._read_columns(ai.vectorizer) IS
    'expressions for the values that a worker reads of a row s of the source';

-- $1 places in the table of work, $2 the most bytes that are read of a row: of one with more, only
-- their number is.
CREATE FUNCTION ai._statement_read(v ai.vectorizer) RETURNS text
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT format('SELECT k.ctid, k.attempts, s.* FROM %4$s k LEFT JOIN LATERAL ('
                  'SELECT z.size, %3$s FROM (SELECT %1$s FROM %5$s s WHERE %6$s OFFSET 0) s, '
                  'LATERAL (SELECT %2$s AS size OFFSET 0) z) s ON true '
                  'WHERE k.ctid OPERATOR(pg_catalog.=) ANY ($1)',
        string_agg(format('%s AS c%s', c.expression, c.number), ', ' ORDER BY c.number),
        string_agg(format('coalesce(pg_catalog.octet_length(s.c%s), 0)::bigint', c.number),
                   ' OPERATOR(pg_catalog.+) '),
        string_agg(format('CASE WHEN z.size OPERATOR(pg_catalog.<=) $2 THEN s.c%s END', c.number),
                   ', ' ORDER BY c.number),
        ai._qualified_name(v.work), ai._from_source(v.source),
        ai._key_list(v.source_pk, 's.%1$s %4$s k.%2$s', ' AND '))
    FROM ai._read_columns(v) c
    $$;
COMMENT ON FUNCTION ai._statement_read(ai.vectorizer) IS
    'statement by which a worker reads the texts of rows it has taken';

-- For a table as destination: $1 places, of which each is joined to the rows of the target. Whether the
-- source still has the rows is looked at last (alive), so that it is locked for a moment only.
CREATE FUNCTION ai._statements_table(v ai.vectorizer) RETURNS jsonb
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT jsonb_build_object(
        'chunks', format('SELECT k.ctid, t.* FROM %s k, LATERAL (SELECT t.chunk_seq, t.content_hash '
                         'FROM %s t WHERE %s OFFSET 0) t '
                         'WHERE k.ctid OPERATOR(pg_catalog.=) ANY ($1)', work, target,
                         target_matches),
        'vectors', format('SELECT k.ctid, t.* FROM %s k, LATERAL (SELECT t.content_hash, '
                          't.embedding::%s FROM %s t WHERE %s OFFSET 0) t '
                          'WHERE k.ctid OPERATOR(pg_catalog.=) ANY ($1)', work, vector, target,
                          target_matches),
        'insert', insert_chunks,
        'upsert', insert_chunks || format(' ON CONFLICT (%s, chunk_seq) DO UPDATE SET '
            'chunk = excluded.chunk, embedding = excluded.embedding, '
            'content_hash = excluded.content_hash', ai._key_list(v.source_pk, '%3$s')),
        'trim', format('DELETE FROM %s t USING ROWS FROM (pg_catalog.unnest($1), '
                       'pg_catalog.unnest($2)) AS c (place, size), %s k '
                       'WHERE k.ctid OPERATOR(pg_catalog.=) c.place AND %s '
                       'AND t.chunk_seq OPERATOR(pg_catalog.>=) c.size',
                       target, work, target_matches),
        'alive', format('SELECT k.ctid FROM %s k, LATERAL (SELECT FROM %s s WHERE %s OFFSET 0) s '
                        'WHERE k.ctid OPERATOR(pg_catalog.=) ANY ($1)', work,
                        ai._from_source(v.source), source_matches),
        'reuse', format('SELECT DISTINCT ON (t.content_hash) t.content_hash, t.embedding::%s '
                        'FROM %s t WHERE t.content_hash OPERATOR(pg_catalog.=) ANY ($1)', vector,
                        target))
    FROM (SELECT ai._qualified_name(v.work) AS work, ai._qualified_name(v.target) AS target,
              format('%I.vector', n.nspname) AS vector,
              ai._key_list(v.source_pk, 't.%3$s %4$s k.%2$s', ' AND ') AS target_matches,
              ai._key_list(v.source_pk, 's.%1$s %4$s k.%2$s', ' AND ') AS source_matches
          FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace
          WHERE e.extname = 'vector') names,
        LATERAL (SELECT format(
            'INSERT INTO %s (%s, chunk_seq, chunk, embedding, content_hash) '
            'SELECT %s, c.seq, c.chunk, c.embedding, c.hash '
            'FROM (SELECT pg_catalog.unnest($1) AS place, pg_catalog.unnest($2) AS seq, '
            'pg_catalog.unnest($3) AS chunk, pg_catalog.unnest($4) AS embedding, '
            'pg_catalog.unnest($5) AS hash) c, LATERAL (SELECT * FROM %s k '
            'WHERE k.ctid OPERATOR(pg_catalog.=) c.place OFFSET 0) k', target,
            ai._key_list(v.source_pk, '%3$s'), ai._key_list(v.source_pk, 'k.%2$s'), work)
            AS insert_chunks) i
    $$;
COMMENT ON FUNCTION ai._statements_table(ai.vectorizer) IS
    'statements by which a worker writes to a target table';

-- For a column of the source: rows that somebody else has locked are passed over.
CREATE FUNCTION ai._statements_column(v ai.vectorizer) RETURNS jsonb
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT jsonb_build_object(
        'alive', format('SELECT k.ctid FROM %s k JOIN %s s ON %s '
                        'WHERE k.ctid OPERATOR(pg_catalog.=) ANY ($1)', work, source, matches),
        'lock', format('SELECT k.ctid FROM %s k JOIN %s s ON %s '
                       'WHERE k.ctid OPERATOR(pg_catalog.=) ANY ($1) '
                       'FOR NO KEY UPDATE OF s SKIP LOCKED', work, source, matches),
        'update', format('UPDATE %s s SET %I = c.embedding FROM ROWS FROM (pg_catalog.unnest($1), '
                         'pg_catalog.unnest($2)) AS c (place, embedding), %s k '
                         'WHERE k.ctid OPERATOR(pg_catalog.=) c.place AND %s', source,
                         v.config #>> '{destination,embedding_column}', work, matches))
    FROM (SELECT ai._qualified_name(v.work) AS work, ai._from_source(v.source) AS source,
              ai._key_list(v.source_pk, 's.%1$s %4$s k.%2$s', ' AND ') AS matches) names
    $$;
COMMENT ON FUNCTION ai._statements_column(ai.vectorizer) IS
    'statements by which a worker writes to a column of the source table';

-- Types of users may have casts to json, which are functions of users: these must not run here, and
-- the values of such types are shown as texts.
CREATE FUNCTION ai._key_as_jsonb(v ai.vectorizer, relation text) RETURNS text
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT 'pg_catalog.jsonb_build_object(' || string_agg(
        format(CASE WHEN a.atttypid < 16384 THEN '%L, %s.%I'
                    ELSE '%L, pg_catalog.format(''%%s'', %s.%I)' END,
               k ->> 'attname', relation, k ->> 'queue_column'), ', '
        ORDER BY (k ->> 'pknum')::int) || ')'
    FROM jsonb_array_elements(v.source_pk) k
    LEFT JOIN pg_attribute a ON a.attrelid = v.queue AND a.attname = k ->> 'queue_column'
    $$;
COMMENT ON FUNCTION ai._key_as_jsonb(ai.vectorizer, text) IS
    'expression for the key of a row of the queue, or of the tables of work and of failed rows';

-- On the table of work alone; $1 places, $2 the lease. Nothing happens to a row whose lease another
-- process has by now. As long as none has failed, none is looked for there. Who is released without
-- having been tried keeps its place in the line, which is retry_at: others that were tried, and failed,
-- come after it.
CREATE FUNCTION ai._statements_work(v ai.vectorizer) RETURNS jsonb
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT jsonb_build_object(
        'retry_due', format(
            'WITH claimed AS (UPDATE %1$s SET lease = $2, taken_at = pg_catalog.now() '
            'WHERE ctid OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT w.ctid FROM %1$s w '
            'WHERE w.lease IS NULL AND w.retry_at OPERATOR(pg_catalog.<=) pg_catalog.now() '
            'AND w.crashes OPERATOR(pg_catalog.=) 0 '
            'ORDER BY w.retry_at LIMIT $1 FOR UPDATE SKIP LOCKED)) RETURNING ctid, retry_at) '
            'SELECT c.ctid FROM claimed c ORDER BY c.retry_at', work),
        'suspects', format(
            'UPDATE %1$s SET lease = $3, taken_at = pg_catalog.now() '
            'WHERE ctid OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT w.ctid FROM %1$s w '
            'WHERE w.lease IS NULL AND w.retry_at OPERATOR(pg_catalog.<=) pg_catalog.now() '
            'AND w.crashes OPERATOR(pg_catalog.>) 0 '
            'AND (w.crashes OPERATOR(pg_catalog.>) 1) OPERATOR(pg_catalog.=) $1 '
            'ORDER BY w.retry_at LIMIT $2 FOR UPDATE SKIP LOCKED)) RETURNING ctid', work),
        'held', format('SELECT ctid FROM %s WHERE ctid OPERATOR(pg_catalog.=) ANY ($1) '
                       'AND lease OPERATOR(pg_catalog.=) $2', work),
        'done', format(
            'WITH gone AS (DELETE FROM %1$s WHERE ctid OPERATOR(pg_catalog.=) ANY ($1) '
            'AND lease OPERATOR(pg_catalog.=) $2 RETURNING *), '
            'mended AS (DELETE FROM %2$s f USING gone g '
            'WHERE (SELECT pg_catalog.pg_relation_size(%3$s)) OPERATOR(pg_catalog.>) 0 AND %4$s) '
            'SELECT extract(epoch FROM pg_catalog.clock_timestamp() OPERATOR(pg_catalog.-) '
            'g.queued_at)::pg_catalog.float8 FROM gone g', work,
            ai._qualified_name(v.failed), v.failed::oid,
            ai._key_list(v.source_pk, 'f.%2$s %4$s g.%2$s', ' AND ')),
        'give_back', format('UPDATE %s SET lease = NULL, '
                            'retry_at = pg_catalog.now() OPERATOR(pg_catalog.+) $3 '
                            'WHERE ctid OPERATOR(pg_catalog.=) ANY ($1) '
                            'AND lease OPERATOR(pg_catalog.=) $2', work),
        'give_back_all', format('UPDATE %s SET lease = NULL, '
                                'retry_at = coalesce(retry_at, pg_catalog.now()) '
                                'WHERE lease OPERATOR(pg_catalog.=) $1', work),
        'try_again', format(
            'UPDATE %s SET lease = NULL, attempts = attempts OPERATOR(pg_catalog.+) 1, '
            'retry_at = pg_catalog.now() OPERATOR(pg_catalog.+) least($3 OPERATOR(pg_catalog.*) '
            'pg_catalog.power(2, least(attempts, 20)), interval ''24 hours''), error = $4 '
            'WHERE ctid OPERATOR(pg_catalog.=) ANY ($1) AND lease OPERATOR(pg_catalog.=) $2',
            work),
        'fail', format(
            'WITH gone AS (DELETE FROM %1$s WHERE ctid OPERATOR(pg_catalog.=) ANY ($1) '
            'AND lease OPERATOR(pg_catalog.=) $2 RETURNING *), '
            'kept AS (INSERT INTO %2$s AS f (%3$s, step, error, class, attempts) '
            'SELECT %3$s, $3, $4, $5, g.attempts OPERATOR(pg_catalog.+) 1 FROM gone g '
            'ON CONFLICT (%3$s) DO UPDATE '
            'SET step = excluded.step, error = excluded.error, class = excluded.class, '
            'attempts = excluded.attempts, failed_at = pg_catalog.now()) '
            'INSERT INTO ai._vectorizer_errors (id, message, details) SELECT %4$s, $4, '
            'pg_catalog.jsonb_build_object(''step'', $3, ''class'', $5, ''key'', %5$s) '
            'FROM gone g', work, ai._qualified_name(v.failed), ai._key_list(v.source_pk, '%2$s'),
            v.id, ai._key_as_jsonb(v, 'g')))
    FROM ai._qualified_name(v.work) work
    $$;
COMMENT ON FUNCTION ai._statements_work(ai.vectorizer) IS
    'statements by which a worker ends its hold on rows';

CREATE FUNCTION ai._vectorizer_statements(v ai.vectorizer) RETURNS jsonb
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT jsonb_build_object('claim', ai._statement_claim(v), 'read', ai._statement_read(v))
        || ai._statements_work(v)
        || CASE WHEN v.config #>> '{destination,implementation}' = 'column'
           THEN ai._statements_column(v) ELSE ai._statements_table(v) END
    $$;
COMMENT ON FUNCTION ai._vectorizer_statements(ai.vectorizer) IS
    'all statements that a worker runs for a vectorizer, by their names';

-- What a vectorizer has to do: the first change in the queue, when the next row is to be tried again,
-- and if asked when the next of those that a process has died with. Changes are added at the end of the queue,
-- and until the next vacuum what was taken from its start has to be stepped over; so a look is at its
-- last pages only, unless it is to be whole.
-- One whose tables somebody has locked, to drop it perhaps, must not hold up the others: it is
-- looked at the next time. Nor must one that cannot be looked at: who tries to work on it finds out
-- why. The look ends with an error in any case, which gives its locks back: all vectorizers are looked
-- at in one transaction, and the server has not that many.
CREATE FUNCTION ai._vectorizer_has_work(v ai.vectorizer, INOUT whole boolean, suspects boolean,
        OUT first_change tid, OUT next_retry timestamptz, OUT next_suspect timestamptz,
        OUT priority int4, OUT granted int4)
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    last_pages CONSTANT bigint := 8;
    start bigint;
BEGIN
    priority := 0;
    granted := 0;
    IF ai._pages(v.queue) = 0 AND ai._pages(v.work) = 0 AND ai._pages(v.failed) IS NOT NULL THEN
        whole := true;
        RETURN;  -- as new, or after a vacuum: there is nothing to do, and no query needed to see that
    END IF;
    BEGIN
        granted := coalesce((v.config #>> '{processing,priority}')::int4, 0);
        priority := granted;
        EXECUTE format('LOCK TABLE %s, %s, %s IN ACCESS SHARE MODE NOWAIT',
                       ai._qualified_name(v.queue), ai._qualified_name(v.work),
                       ai._qualified_name(v.failed));
        start := pg_relation_size(v.queue) / current_setting('block_size')::bigint - last_pages;
        whole := whole OR start <= 0;
        EXECUTE format('SELECT (SELECT q.ctid FROM %1$s q '
                       'WHERE q.ctid OPERATOR(pg_catalog.>=) $1 LIMIT 1), '
                       '(SELECT pg_catalog.min(w.retry_at) FROM %2$s w '
                       'WHERE w.lease IS NULL AND w.crashes OPERATOR(pg_catalog.=) 0), '
                       || CASE WHEN suspects
                          THEN '(SELECT pg_catalog.min(w.retry_at) FROM %2$s w '
                               'WHERE w.lease IS NULL AND w.crashes OPERATOR(pg_catalog.>) 0)'
                          ELSE 'NULL' END,
                       ai._qualified_name(v.queue), ai._qualified_name(v.work))
        INTO first_change, next_retry, next_suspect
        USING format('(%s,0)', CASE WHEN whole THEN 0 ELSE start END)::tid;
        IF ai._priority_column(v.config) IS NOT NULL THEN
            EXECUTE format('SELECT coalesce((SELECT pg_catalog.max(q.priority) FROM %s q), $1)',
                           ai._qualified_name(v.queue)) INTO priority USING priority;
        END IF;
        RAISE SQLSTATE 'AI001';  -- that was all
    EXCEPTION
        WHEN SQLSTATE 'AI001' THEN
            NULL;
        WHEN lock_not_available THEN
            whole := true;
        WHEN undefined_table THEN
            whole := true;
            PERFORM ai._vectorizer_set_aside(v.id);
        WHEN OTHERS THEN
            whole := true;
            first_change := '(0,0)';
    END;
END
$$;
COMMENT ON FUNCTION ai._vectorizer_has_work(ai.vectorizer, boolean, boolean) IS
    'where the changes in the queue of a vectorizer begin, whether all of it was looked at, when the '
    'next rows are to be tried again, the priority of the first one, and the vectorizer''s own';

-- One query for a worker that looks around. The version changes with every change of the row.
CREATE FUNCTION ai._look_for_work(INOUT whole boolean, suspects boolean, component text,
        only_ids int4[] DEFAULT NULL, only_queues oid[] DEFAULT NULL, after int4 DEFAULT 0,
        most int4 DEFAULT NULL, OUT id int4, OUT version text, OUT priority int4, OUT first_change tid,
        OUT retry_in_ms float8, OUT suspect_in_ms float8, OUT pause_left_ms float8, OUT owner oid,
        OUT granted int4, OUT queue oid)
    RETURNS SETOF record
    LANGUAGE sql
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT w.whole, v.id, v.xmin::text || ' ' || coalesce(s.relowner::text, ''),
        w.priority, w.first_change,
        extract(epoch FROM w.next_retry - now()) * 1000,
        extract(epoch FROM w.next_suspect - now()) * 1000, ai._pause_left(component, v.id),
        s.relowner, w.granted, v.queue::oid
    FROM ai.vectorizer v
    LEFT JOIN pg_class s ON s.oid = v.source
    CROSS JOIN LATERAL ai._vectorizer_has_work(v, _look_for_work.whole, suspects) w
    WHERE v.id IN (
        SELECT p.id FROM ai.vectorizer p
        WHERE NOT p.disabled AND NOT p.restoring
          AND (p.id = ANY (only_ids) OR p.queue::oid = ANY (only_queues)
               OR only_ids IS NULL AND p.id > after)
        ORDER BY p.id LIMIT most)
    ORDER BY v.id
    $$;
COMMENT ON FUNCTION
    ai._look_for_work(boolean, boolean, text, int4[], oid[], int4, int4) IS
    'vectorizers that are neither disabled nor being restored, some of them, or all in slices, with '
    'what there is to do for each, how long a worker has to leave it alone, and in whose share of the '
    'work it is';

REVOKE ALL ON FUNCTION ai._worker_usage(int4, text, bigint, bigint, bigint, bigint, bigint, bigint),
    ai._look_for_work(boolean, boolean, text, int4[], oid[], int4, int4),
    ai._vectorizer_has_work(ai.vectorizer, boolean, boolean) FROM PUBLIC;
