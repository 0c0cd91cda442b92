-- See tables/restore.sql.

-- For rows that do not tell when they were made. Background workers restore nothing, and write often.
CREATE OR REPLACE FUNCTION ai._in_session() RETURNS boolean
    LANGUAGE c STABLE STRICT PARALLEL RESTRICTED
    AS 'MODULE_PATHNAME', 'ai_in_session';
COMMENT ON FUNCTION ai._in_session() IS
    'whether this is the session of a client, not a background worker';

-- The argument is the column that refers to the vectorizer. Where that does not come, because it was
-- dropped, somebody without rights on the rows that are put aside has the error of the foreign key.
CREATE OR REPLACE FUNCTION ai._restore_row() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    wanted int4 := to_jsonb(NEW) ->> TG_ARGV[0];
BEGIN
    IF NOT has_table_privilege('ai._restored_rows', 'INSERT')
       OR EXISTS (SELECT FROM ai.vectorizer v WHERE v.id = wanted) THEN
        RETURN NEW;
    END IF;
    LOCK TABLE ai._restored_rows IN EXCLUSIVE MODE;
    IF EXISTS (SELECT FROM ai.vectorizer v WHERE v.id = wanted) THEN
        RETURN NEW;
    END IF;
    INSERT INTO ai._restored_rows VALUES (TG_RELID, wanted, to_jsonb(NEW));
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION ai._restore_row() IS
    'trigger: puts a row aside if its vectorizer is not restored yet';

CREATE OR REPLACE FUNCTION ai._restore_rows() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    restored ai._restored_rows;
BEGIN
    LOCK TABLE ai._restored_rows IN EXCLUSIVE MODE;
    FOR restored IN DELETE FROM ai._restored_rows r WHERE r.vectorizer_id = NEW.id RETURNING r.* LOOP
        EXECUTE format('INSERT INTO %1$s SELECT * FROM jsonb_populate_record(NULL::%1$s, $1)',
                       restored.relation) USING restored.content;
    END LOOP;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION ai._restore_rows() IS
    'trigger: inserts the rows that waited for their vectorizer';

-- After pg_dump --schema-only and --data-only the triggers are there before the vectorizer.
CREATE OR REPLACE FUNCTION ai._restore_vectorizer() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    NEW.restoring := NOT ai._vectorizer_is_whole(NEW);
    RETURN NEW;
END
$$;
COMMENT ON FUNCTION ai._restore_vectorizer() IS
    'trigger: notes that a vectorizer is being restored, unless it has its triggers already';
