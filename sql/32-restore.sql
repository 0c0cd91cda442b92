-- Restoring a dump with several jobs. The rows of two tables are then loaded in any order, foreign
-- key or not: a row may come before the vectorizer it belongs to. It is put aside, and inserted
-- with the vectorizer. Both sides hold the same lock till the end of their transactions, so that
-- one of them sees what the other did.
--
-- A session that restores is known by check_function_bodies, which pg_dump turns off; for others
-- the triggers below do not even fire.

CREATE TABLE ai._restored_rows (
    relation      regclass NOT NULL,
    vectorizer_id int4 NOT NULL,
    content       jsonb NOT NULL
);
ALTER TABLE ai._restored_rows REPLICA IDENTITY FULL;
COMMENT ON TABLE ai._restored_rows IS
    'rows that were restored before their vectorizer; empty at the end of a restore';

CREATE FUNCTION ai._lock_restored_rows() RETURNS void
    LANGUAGE sql
    SET search_path = pg_catalog, pg_temp
    AS $$SELECT pg_advisory_xact_lock('ai._restored_rows'::regclass::oid::int8)$$;
COMMENT ON FUNCTION ai._lock_restored_rows() IS 'lets one session at a time restore';

-- The argument is the column that refers to the vectorizer.
CREATE FUNCTION ai._restore_row() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    wanted int4 := to_jsonb(NEW) ->> TG_ARGV[0];
BEGIN
    PERFORM ai._lock_restored_rows();
    IF EXISTS (SELECT FROM ai.vectorizer v WHERE v.id = wanted) THEN
        RETURN NEW;
    END IF;
    INSERT INTO ai._restored_rows VALUES (TG_RELID, wanted, to_jsonb(NEW));
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION ai._restore_row() IS
    'trigger: puts a row aside if its vectorizer is not restored yet';

CREATE FUNCTION ai._restore_rows() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    restored ai._restored_rows;
BEGIN
    PERFORM ai._lock_restored_rows();
    FOR restored IN DELETE FROM ai._restored_rows r USING ai.vectorizer v
                    WHERE v.id = r.vectorizer_id RETURNING r.* LOOP
        EXECUTE format('INSERT INTO %1$s SELECT * FROM jsonb_populate_record(NULL::%1$s, $1)',
                       restored.relation) USING restored.content;
    END LOOP;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION ai._restore_rows() IS
    'trigger: inserts the rows that waited for their vectorizers';

CREATE TRIGGER restore AFTER INSERT ON ai.vectorizer FOR EACH STATEMENT
    WHEN (NOT current_setting('check_function_bodies')::boolean)
    EXECUTE FUNCTION ai._restore_rows();
CREATE TRIGGER restore BEFORE INSERT ON ai._vectorizer_errors FOR EACH ROW
    WHEN (NOT current_setting('check_function_bodies')::boolean)
    EXECUTE FUNCTION ai._restore_row('id');
CREATE TRIGGER restore BEFORE INSERT ON ai.vectorizer_worker_progress FOR EACH ROW
    WHEN (NOT current_setting('check_function_bodies')::boolean)
    EXECUTE FUNCTION ai._restore_row('vectorizer_id');
