-- Which worker process has how many rows of which vectorizer, and whether it still lives. Embedding jobs
-- count as rows of something that has a name and no number.

CREATE OR REPLACE FUNCTION ai.__job_activity(caller oid, vectorizer_id int4, OUT status text,
        OUT locked_by uuid, OUT rows bigint, OUT oldest timestamptz, OUT last_error text)
    RETURNS SETOF record
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    v ai.vectorizer;
BEGIN
    SELECT * INTO v FROM ai.vectorizer x WHERE x.id = vectorizer_id;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    PERFORM ai._vectorizer_require_visible(caller, v);
    RETURN QUERY EXECUTE format(
        'SELECT CASE WHEN w.lease IS NOT NULL THEN ''running'' WHEN w.retry_at > now() THEN '
        '''retryable'' ELSE ''pending'' END, w.lease, count(*), min(w.queued_at), '
        '(array_agg(w.error ORDER BY w.taken_at DESC NULLS LAST) '
        'FILTER (WHERE w.error IS NOT NULL))[1] FROM %s w GROUP BY 1, 2',
        ai._qualified_name(v.work));
END
$$;
COMMENT ON FUNCTION ai.__job_activity(oid, int4) IS
    'what ai._job_activity does, for the role that called it';
REVOKE ALL ON FUNCTION ai.__job_activity(oid, int4) FROM PUBLIC;

CREATE OR REPLACE FUNCTION ai._job_activity(vectorizer_id int4, OUT status text, OUT locked_by uuid,
        OUT rows bigint, OUT oldest timestamptz, OUT last_error text) RETURNS SETOF record
    LANGUAGE c VOLATILE ROWS 10
    AS 'MODULE_PATHNAME', 'ai_call_as_owner';
COMMENT ON FUNCTION ai._job_activity(int4) IS
    'rows of a vectorizer that a worker has taken at least once, by state and process';
