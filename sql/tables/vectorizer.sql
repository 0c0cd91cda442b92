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
CREATE INDEX ON ai.vectorizer (queue);
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

-- The queues with their tables of work and of failed rows inherit from this one, which has neither
-- columns nor rows: so that DROP EXTENSION knows what belongs to it, though they have to be in a dump.
CREATE TABLE ai._vectorizer_queue ();
COMMENT ON TABLE ai._vectorizer_queue IS 'parent of all queues, tables of work and tables of failed rows';

SELECT pg_catalog.pg_extension_config_dump('ai.vectorizer_id_seq', '');
SELECT pg_catalog.pg_extension_config_dump('ai.vectorizer', '');
SELECT pg_catalog.pg_extension_config_dump('ai._vectorizer_errors_seq', '');
SELECT pg_catalog.pg_extension_config_dump('ai._vectorizer_errors', '');

-- What follows is DDL itself, and comes here again. Unlogged, so that no publication minds it.
CREATE UNLOGGED TABLE ai._vectorizer_followed (vectorizer_id int4 NOT NULL);
COMMENT ON TABLE ai._vectorizer_followed IS
    'vectorizers that are being brought in step by a transaction; empty at the end of it';

-- Turning triggers on is quick and must not be undone by what comes then.
CREATE TABLE ai._vectorizer_missed (
    vectorizer_id int4 PRIMARY KEY REFERENCES ai.vectorizer ON DELETE CASCADE
);
COMMENT ON TABLE ai._vectorizer_missed IS
    'vectorizers that changes were missed of: all their rows are to be queued';
