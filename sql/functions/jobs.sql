-- The rows of a vectorizer as jobs: in which state each is, and a way back for those given up.
--
--   pending    changed, and no worker has it            running  with a worker
--   retryable  waits until it is tried again            failed   given up
--
-- A row that is up to date is no job any more. A row that changed while it was in one of the other
-- states is still in that one, but for a failed one: it is pending again.

CREATE OR REPLACE FUNCTION ai._jobs_of(v ai.vectorizer) RETURNS text
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT format(
        'SELECT %1$s AS key, CASE WHEN w.lease IS NOT NULL THEN ''running'' '
        'WHEN w.retry_at > now() THEN ''retryable'' ELSE ''pending'' END AS status, w.attempts, '
        'w.queued_at AS queued, CASE WHEN w.lease IS NULL THEN w.retry_at END AS next_retry, '
        'w.lease AS worker, w.error AS last_error FROM %2$s w '
        'UNION ALL SELECT %3$s, ''pending'', 0, min(q.queued_at), NULL, NULL, NULL FROM %4$s q '
        'WHERE NOT EXISTS (SELECT FROM %2$s w WHERE %5$s) GROUP BY %6$s '
        'UNION ALL SELECT %7$s, ''failed'', f.attempts, f.failed_at, NULL, NULL, f.error '
        'FROM %8$s f WHERE NOT EXISTS (SELECT FROM %2$s w WHERE %9$s) '
        'AND NOT EXISTS (SELECT FROM %4$s q WHERE %10$s)',
        ai._key_as_jsonb(v, 'w'), ai._qualified_name(v.work), ai._key_as_jsonb(v, 'q'),
        ai._qualified_name(v.queue), ai._key_list(v.source_pk, 'w.%2$s %4$s q.%2$s', ' AND '),
        ai._key_list(v.source_pk, 'q.%2$s'), ai._key_as_jsonb(v, 'f'),
        ai._qualified_name(v.failed), ai._key_list(v.source_pk, 'w.%2$s %4$s f.%2$s', ' AND '),
        ai._key_list(v.source_pk, 'q.%2$s %4$s f.%2$s', ' AND '))
    $$;
COMMENT ON FUNCTION ai._jobs_of(ai.vectorizer) IS 'query for the jobs of a vectorizer';

CREATE OR REPLACE FUNCTION ai._jobs(caller oid, vectorizer_id int4, OUT key jsonb, OUT status text,
        OUT attempts int4, OUT queued timestamptz, OUT next_retry timestamptz, OUT worker uuid,
        OUT last_error text) RETURNS SETOF record
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    v ai.vectorizer := ai._vectorizer_get(vectorizer_id);
BEGIN
    PERFORM ai._vectorizer_require_readable(caller, v);
    PERFORM ai._vectorizer_flush_pending();
    RETURN QUERY EXECUTE ai._jobs_of(v);
END
$$;
COMMENT ON FUNCTION ai._jobs(oid, int4) IS 'what ai.jobs does, for the role that called it';

CREATE OR REPLACE FUNCTION ai.jobs(vectorizer_id int4, OUT key jsonb, OUT status text, OUT attempts int4,
        OUT queued timestamptz, OUT next_retry timestamptz, OUT worker uuid, OUT last_error text)
    RETURNS SETOF record
    LANGUAGE c VOLATILE
    AS 'MODULE_PATHNAME', 'ai_call_as_owner';
COMMENT ON FUNCTION ai.jobs(int4) IS
    'rows of a vectorizer that are not up to date: pending, running, retryable or failed. For a '
    'failed one, queued is when it was given up';

CREATE OR REPLACE FUNCTION ai.jobs(name text, OUT key jsonb, OUT status text, OUT attempts int4,
        OUT queued timestamptz, OUT next_retry timestamptz, OUT worker uuid, OUT last_error text)
    RETURNS SETOF record
    LANGUAGE c VOLATILE
    AS 'MODULE_PATHNAME', 'ai_call_as_owner';
COMMENT ON FUNCTION ai.jobs(text) IS
    'rows of a vectorizer that are not up to date: pending, running, retryable or failed. For a '
    'failed one, queued is when it was given up';

-- Numbers tell nothing of what is in a table, so whoever may see how far it is may see them.
CREATE OR REPLACE FUNCTION ai._job_counts(caller oid, vectorizer_id int4, OUT pending bigint,
        OUT running bigint, OUT retryable bigint, OUT failed bigint) RETURNS SETOF record
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    v ai.vectorizer := ai._vectorizer_get(vectorizer_id);
BEGIN
    PERFORM ai._vectorizer_require_visible(caller, v);
    IF NOT ai._vectorizer_has_queue(v) THEN
        RETURN;
    END IF;
    PERFORM ai._vectorizer_flush_pending();
    RETURN QUERY EXECUTE format(
        'SELECT count(*) FILTER (WHERE j.status = ''pending''), '
        'count(*) FILTER (WHERE j.status = ''running''), '
        'count(*) FILTER (WHERE j.status = ''retryable''), '
        'count(*) FILTER (WHERE j.status = ''failed'') FROM (%s) j', ai._jobs_of(v));
EXCEPTION WHEN ambiguous_function THEN
    -- As in ai._vectorizer_count.
    RETURN QUERY SELECT ai._vectorizer_count_exactly(v), 0::bigint, 0::bigint, 0::bigint;
END
$$;
COMMENT ON FUNCTION ai._job_counts(oid, int4) IS
    'what ai.job_counts does, for the role that called it';

CREATE OR REPLACE FUNCTION ai.job_counts(vectorizer_id int4, OUT pending bigint, OUT running bigint,
        OUT retryable bigint, OUT failed bigint) RETURNS SETOF record
    LANGUAGE c VOLATILE ROWS 1
    AS 'MODULE_PATHNAME', 'ai_call_as_owner';
COMMENT ON FUNCTION ai.job_counts(int4) IS 'how many jobs of a vectorizer are in each state';

CREATE OR REPLACE FUNCTION ai._retry_failed(caller oid, vectorizer_id int4, key jsonb) RETURNS bigint
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    v ai.vectorizer := ai._vectorizer_get(vectorizer_id);
    columns text := ai._key_list(v.source_pk, '%2$s');
    rows bigint;
BEGIN
    PERFORM ai._vectorizer_require_owner(caller, v, 'retry the failed rows of');
    EXECUTE format(
        'WITH gone AS (DELETE FROM %s f WHERE $1 IS NULL OR %s = $1 RETURNING %s) '
        'INSERT INTO %s (%s) SELECT %s FROM gone', ai._qualified_name(v.failed),
        ai._key_as_jsonb(v, 'f'), ai._key_list(v.source_pk, 'f.%2$s'),
        ai._qualified_name(v.queue), columns, columns) USING key;
    GET DIAGNOSTICS rows = ROW_COUNT;
    PERFORM ai._vectorizer_notify(v.queue);
    RETURN rows;
END
$$;
COMMENT ON FUNCTION ai._retry_failed(oid, int4, jsonb) IS
    'what ai.retry_failed does, for the role that called it';

CREATE OR REPLACE FUNCTION ai.retry_failed(vectorizer_id int4, key jsonb DEFAULT NULL) RETURNS bigint
    LANGUAGE c VOLATILE
    AS 'MODULE_PATHNAME', 'ai_call_as_owner';
COMMENT ON FUNCTION ai.retry_failed(int4, jsonb) IS
    'queues rows again that were given up, all of them or the one with this key as ai.jobs shows '
    'it; returns how many';

CREATE OR REPLACE FUNCTION ai.retry_failed(name text, key jsonb DEFAULT NULL) RETURNS bigint
    LANGUAGE c VOLATILE
    AS 'MODULE_PATHNAME', 'ai_call_as_owner';
COMMENT ON FUNCTION ai.retry_failed(text, jsonb) IS
    'queues rows again that were given up, all of them or the one with this key as ai.jobs shows '
    'it; returns how many';

-- Called through the functions of the same names without the underscore, by nobody else.
REVOKE ALL ON FUNCTION ai._jobs_of(ai.vectorizer), ai._jobs(oid, int4),
    ai._job_counts(oid, int4), ai._retry_failed(oid, int4, jsonb) FROM PUBLIC;
