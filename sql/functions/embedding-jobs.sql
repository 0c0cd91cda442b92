-- See tables/embedding-jobs.sql.

-- The scale of a vectorizer's priority, which is 0 unless it says otherwise.
CREATE OR REPLACE FUNCTION ai._priority_number(priority ai.job_priority) RETURNS int4
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT CASE priority WHEN 'low' THEN -100 WHEN 'normal' THEN 0 WHEN 'high' THEN 100 ELSE 200 END
    $$;
COMMENT ON FUNCTION ai._priority_number(ai.job_priority) IS
    'a priority as a number that compares with the priorities of vectorizers';

CREATE OR REPLACE FUNCTION ai._new_job_id() RETURNS uuid
    LANGUAGE c VOLATILE PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'ai_new_job_id';
COMMENT ON FUNCTION ai._new_job_id() IS 'a new uuid of version 7: in the order of time, then random';

CREATE OR REPLACE FUNCTION ai._first_job_id(at timestamptz) RETURNS uuid
    LANGUAGE sql STABLE STRICT PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT (lpad(to_hex(floor(extract(epoch FROM t.at) * 1000)::bigint), 12, '0')
            || '00000000000000000000')::uuid
    FROM least(greatest(_first_job_id.at, 'epoch'), '9999-01-01') AS t (at)
    $$;
COMMENT ON FUNCTION ai._first_job_id(timestamptz) IS
    'uuid that comes before those of all jobs that were made from a time on; times before 1970 and after '
    '9998, which no job can have, are as good as these';

-- An expression without settings of its own, so that it becomes part of the statement that calls it;
-- its names are looked up here and now.
CREATE OR REPLACE FUNCTION ai._job_key(text_hash text, config_key uuid, created_by oid) RETURNS int8
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN pg_catalog.hashtextextended(text_hash,
        pg_catalog.uuid_hash_extended(config_key, created_by::pg_catalog.int8));
COMMENT ON FUNCTION ai._job_key(text, uuid, oid) IS
    'number by which equal texts of a role with one configuration are found; others may have it too';

CREATE OR REPLACE FUNCTION ai._embedding_job_tell(channel text, id uuid, status ai.job_status) RETURNS uuid
    LANGUAGE sql STRICT
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT pg_notify(channel, json_build_object('id', id, 'status', status)::text);
    SELECT id
    $$;
COMMENT ON FUNCTION ai._embedding_job_tell(text, uuid, ai.job_status) IS
    'tells those who listen on a channel that a job has ended, and returns its id; no channel, no word';
REVOKE ALL ON FUNCTION ai._embedding_job_tell(text, uuid, ai.job_status) FROM PUBLIC;
