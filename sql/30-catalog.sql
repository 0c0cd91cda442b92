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
    created      timestamptz NOT NULL DEFAULT now()
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

CREATE TABLE ai._vectorizer_errors (
    id       int4 NOT NULL REFERENCES ai.vectorizer ON DELETE CASCADE,
    message  text NOT NULL,
    details  jsonb,
    recorded timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX ON ai._vectorizer_errors (id, recorded);
-- In a publication of all tables, what has no key cannot be deleted otherwise.
ALTER TABLE ai._vectorizer_errors REPLICA IDENTITY FULL;
COMMENT ON TABLE ai._vectorizer_errors IS
    'errors of vectorizers; details has the key of the row, the step and the class of the error';

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
SELECT pg_catalog.pg_extension_config_dump('ai._vectorizer_errors', '');
