-- Restoring a dump. A restore is known by what only a restore does: it inserts rows into the catalog
-- that were not made in its own transaction. Only superusers and the owner of the extension can; others
-- reach these tables through functions alone. No setting of a session plays a part.
--
-- A dump has first the tables, with partitions attached, then the rows of all tables, those of the
-- catalog too, then indexes and triggers. So a vectorizer comes before its triggers and before the
-- marks on its partitions, which the dump makes itself: it is restoring until they are there
-- (ai._vectorizer_is_whole).
--
-- With several jobs the rows of two tables are loaded in any order, foreign key or not: a row may come
-- before the vectorizer it belongs to. It is put aside, and inserted with the vectorizer. Both sides
-- lock the table of such rows till the end of their transactions, so that one of them sees what the
-- other did.

-- For rows that do not tell when they were made. Background workers restore nothing, and write often.
CREATE FUNCTION ai._in_session() RETURNS boolean
    LANGUAGE c STABLE STRICT PARALLEL RESTRICTED
    AS 'MODULE_PATHNAME', 'ai_in_session';
COMMENT ON FUNCTION ai._in_session() IS
    'whether this is the session of a client, not a background worker';

CREATE TABLE ai._restored_rows (
    relation      regclass NOT NULL,
    vectorizer_id int4 NOT NULL,
    content       jsonb NOT NULL
);
ALTER TABLE ai._restored_rows REPLICA IDENTITY FULL;
COMMENT ON TABLE ai._restored_rows IS
    'rows that were restored before their vectorizer; empty at the end of a restore';

-- The argument is the column that refers to the vectorizer. Where that does not come, because it was
-- dropped, somebody without rights on the rows that are put aside has the error of the foreign key.
CREATE FUNCTION ai._restore_row() RETURNS trigger
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

CREATE FUNCTION ai._restore_rows() RETURNS trigger
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
CREATE FUNCTION ai._restore_vectorizer() RETURNS trigger
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

-- create_vectorizer inserts what is created in its own transaction.
CREATE TRIGGER begin_restore BEFORE INSERT ON ai.vectorizer FOR EACH ROW
    WHEN (NEW.created <> now()) EXECUTE FUNCTION ai._restore_vectorizer();
CREATE TRIGGER restore AFTER INSERT ON ai.vectorizer FOR EACH ROW
    WHEN (NEW.created <> now()) EXECUTE FUNCTION ai._restore_rows();
-- The others tell the time as well; for what is written now, the triggers do not even fire.
CREATE TRIGGER restore BEFORE INSERT ON ai._vectorizer_errors FOR EACH ROW
    WHEN (NEW.recorded NOT BETWEEN now() AND clock_timestamp())
    EXECUTE FUNCTION ai._restore_row('id');
CREATE TRIGGER restore BEFORE INSERT ON ai.vectorizer_worker_progress FOR EACH ROW
    WHEN (NEW.updated_at NOT BETWEEN now() AND clock_timestamp())
    EXECUTE FUNCTION ai._restore_row('vectorizer_id');
