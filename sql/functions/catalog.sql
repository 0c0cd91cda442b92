-- See tables/vectorizer.sql.

-- One lookup for the last error and one for the slot, also for the rows of one statement, of which
-- each sees those before. A row of a dump has its slot already. Rows that two transactions write at a
-- time may share one, until it is taken again; a row that somebody has locked is just being removed.
-- Plans are made while the table is small, and must be good when it is not.
CREATE OR REPLACE FUNCTION ai._vectorizer_errors_keep_newest() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET enable_bitmapscan = off
    AS $$
DECLARE
    slots constant int4 := 1000;
BEGIN
    IF NEW.slot IS NULL THEN
        NEW.slot := coalesce((SELECT (e.slot + 1) % slots FROM ai._vectorizer_errors e
                              WHERE e.id = NEW.id ORDER BY e.number DESC LIMIT 1), 0);
    END IF;
    DELETE FROM ai._vectorizer_errors x WHERE x.ctid = ANY (ARRAY(
        SELECT e.ctid FROM ai._vectorizer_errors e WHERE e.id = NEW.id AND e.slot = NEW.slot
        FOR UPDATE SKIP LOCKED));
    RETURN NEW;
END
$$;
COMMENT ON FUNCTION ai._vectorizer_errors_keep_newest() IS
    'trigger: gives an error the next slot of its vectorizer, and removes what was in it';
