-- The catalog of vectorizers. No role but the owner of the extension has rights on these tables:
-- a row decides where a table's text and a provider's key are sent.

CREATE SEQUENCE ai.vectorizer_id_seq AS int4;
COMMENT ON SEQUENCE ai.vectorizer_id_seq IS 'numbers of vectorizers';

-- Tables are kept by their OIDs, so that renames follow; a dump has their names. The event triggers
-- clear target and view when that table or view is dropped, so no OID is left to be used again.
CREATE TABLE ai.vectorizer (
    id           int4 PRIMARY KEY DEFAULT nextval('ai.vectorizer_id_seq'),
    name         text NOT NULL UNIQUE CHECK (name <> ''),
    source       regclass NOT NULL,
    source_pk    jsonb NOT NULL,
    target       regclass,
    view         regclass,
    queue        regclass NOT NULL,
    work         regclass NOT NULL,
    failed       regclass NOT NULL,
    trigger_name name NOT NULL,
    config       jsonb NOT NULL,
    owner_role   name NOT NULL,
    disabled     boolean NOT NULL DEFAULT false,
    created      timestamptz NOT NULL DEFAULT now(),
    restoring    boolean NOT NULL DEFAULT false
);
CREATE INDEX ON ai.vectorizer (source);
COMMENT ON TABLE ai.vectorizer IS 'vectorizers: which table is embedded, how, and where to';
COMMENT ON COLUMN ai.vectorizer.source_pk IS
    'columns of the key, in its order: attname in the source, queue_column and target_column in '
    'our tables, pknum, typname, basetype (without domain), collation, equals (the operator)';
COMMENT ON COLUMN ai.vectorizer.target IS
    'table of the embeddings; null for a column destination, or when it was dropped';
COMMENT ON COLUMN ai.vectorizer.view IS 'view that joins source and target, if there is one';
COMMENT ON COLUMN ai.vectorizer.queue IS 'table of changed rows that no worker has taken yet';
COMMENT ON COLUMN ai.vectorizer.work IS 'table of rows that workers have taken, or will try again';
COMMENT ON COLUMN ai.vectorizer.failed IS 'table of rows that were given up';
COMMENT ON COLUMN ai.vectorizer.trigger_name IS
    'name of the trigger for INSERT and DELETE; the others have a suffix';
COMMENT ON COLUMN ai.vectorizer.config IS 'what create_vectorizer was given, a section each';
COMMENT ON COLUMN ai.vectorizer.owner_role IS
    'owner of the source when last looked at; the truth is the owner in pg_class';
COMMENT ON COLUMN ai.vectorizer.restoring IS
    'the row came from a dump whose triggers are still to come: nothing is taken from its queue, and '
    'what happens to its tables is part of the restore';

CREATE SEQUENCE ai._vectorizer_errors_seq;
COMMENT ON SEQUENCE ai._vectorizer_errors_seq IS 'numbers of errors, in the order of their coming';

-- A ring for each vectorizer: an error takes the slot after that of the one before, and whatever had
-- it goes. So there are never many, however many rows fail, and no vectorizer's errors drive out
-- those of another.
CREATE TABLE ai._vectorizer_errors (
    id       int4 NOT NULL REFERENCES ai.vectorizer ON DELETE CASCADE,
    message  text NOT NULL,
    details  jsonb,
    recorded timestamptz NOT NULL DEFAULT now(),
    number   bigint NOT NULL DEFAULT nextval('ai._vectorizer_errors_seq'),
    slot     int2 NOT NULL
);
CREATE INDEX ON ai._vectorizer_errors (id, recorded);
CREATE INDEX ON ai._vectorizer_errors (id, number);
CREATE INDEX ON ai._vectorizer_errors (id, slot);
-- In a publication of all tables, what has no key cannot be deleted otherwise.
ALTER TABLE ai._vectorizer_errors REPLICA IDENTITY FULL;
COMMENT ON TABLE ai._vectorizer_errors IS
    'errors of vectorizers, the newest thousand of each; details has the key of the row, the step and '
    'the class of the error';

-- One lookup for the last error and one for the slot, also for the rows of one statement, of which
-- each sees those before. A row of a dump has its slot already. Rows that two transactions write at a
-- time may share one, until it is taken again; a row that somebody has locked is just being removed.
-- Plans are made while the table is small, and must be good when it is not.
CREATE FUNCTION ai._vectorizer_errors_keep_newest() RETURNS trigger
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
CREATE TRIGGER keep_newest BEFORE INSERT ON ai._vectorizer_errors
    FOR EACH ROW EXECUTE FUNCTION ai._vectorizer_errors_keep_newest();

-- The queues with their tables of work and of failed rows inherit from this one, which has neither
-- columns nor rows: so that DROP EXTENSION knows what belongs to it, though they have to be in a dump.
CREATE TABLE ai._vectorizer_queue ();
COMMENT ON TABLE ai._vectorizer_queue IS 'parent of all queues, tables of work and tables of failed rows';

CREATE VIEW ai._vectorizer_detail AS
    SELECT v.id, v.name, v.disabled, v.source, s.relowner AS owner,
        sn.nspname AS source_schema, s.relname AS source_table, s.relkind AS source_kind,
        v.source_pk,
        tn.nspname AS target_schema, t.relname AS target_table,
        wn.nspname AS view_schema, w.relname AS view_name,
        qn.nspname AS queue_schema, q.relname AS queue_table,
        kn.nspname AS work_schema, k.relname AS work_table,
        fn.nspname AS failed_schema, f.relname AS failed_table,
        v.config
    FROM ai.vectorizer v
    JOIN pg_catalog.pg_class s ON s.oid = v.source
    JOIN pg_catalog.pg_namespace sn ON sn.oid = s.relnamespace
    JOIN pg_catalog.pg_class q ON q.oid = v.queue
    JOIN pg_catalog.pg_namespace qn ON qn.oid = q.relnamespace
    JOIN pg_catalog.pg_class k ON k.oid = v.work
    JOIN pg_catalog.pg_namespace kn ON kn.oid = k.relnamespace
    JOIN pg_catalog.pg_class f ON f.oid = v.failed
    JOIN pg_catalog.pg_namespace fn ON fn.oid = f.relnamespace
    LEFT JOIN pg_catalog.pg_class t ON t.oid = v.target
    LEFT JOIN pg_catalog.pg_namespace tn ON tn.oid = t.relnamespace
    LEFT JOIN pg_catalog.pg_class w ON w.oid = v.view
    LEFT JOIN pg_catalog.pg_namespace wn ON wn.oid = w.relnamespace;
COMMENT ON VIEW ai._vectorizer_detail IS
    'vectorizers with the names of their tables and the owner their work is done as';

SELECT pg_catalog.pg_extension_config_dump('ai.vectorizer_id_seq', '');
SELECT pg_catalog.pg_extension_config_dump('ai.vectorizer', '');
SELECT pg_catalog.pg_extension_config_dump('ai._vectorizer_errors_seq', '');
SELECT pg_catalog.pg_extension_config_dump('ai._vectorizer_errors', '');
