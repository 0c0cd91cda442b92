-- What becomes of a vectorizer when its tables, columns, key or triggers are changed or dropped.
\set SHOW_CONTEXT never
SELECT setval('ai.vectorizer_id_seq', 1, false);
CREATE SCHEMA ddl;
SET search_path = ddl, public;
CREATE TABLE src (id int PRIMARY KEY, title text, body text, other int, spare text);
SELECT ai.create_vectorizer('src', name => 'v', loading => ai.loading_column('body'), embedding => ai.embedding_local('m', 3),
    formatting => ai.formatting_python_template('$title, $$title ${title}: $chunk'));
CREATE FUNCTION queued() RETURNS int[] LANGUAGE sql AS $$
    WITH d AS (DELETE FROM ai._vectorizer_q_1 RETURNING id) SELECT array_agg(id ORDER BY id) FROM d
$$;

-- Renames of the table, of its schema, of columns are followed.
ALTER TABLE src RENAME TO "Source";
ALTER SCHEMA ddl RENAME TO ddl2;
SET search_path = ddl2, public;
SELECT name, source_table, target_table, view FROM ai.vectorizer_status;
ALTER TABLE "Source" RENAME COLUMN body TO "The Body";
ALTER TABLE "Source" RENAME COLUMN title TO headline;
ALTER TABLE "Source" RENAME COLUMN id TO number;
ALTER TABLE "Source" RENAME COLUMN other TO body;
SELECT config #>> '{loading,column_name}' AS loaded, config #>> '{formatting,template}' AS template,
    source_pk #>> '{0,attname}' AS key, source_pk #>> '{0,queue_column}' AS in_queue, source_pk #>> '{0,target_column}' AS in_target
FROM ai.vectorizer;
INSERT INTO "Source" VALUES (1, 'a', 'b', 1);
SELECT queued();
UPDATE "Source" SET body = 2;
SELECT queued();
UPDATE "Source" SET "The Body" = 'c';
SELECT queued();
UPDATE "Source" SET headline = 'c';
SELECT queued();
UPDATE "Source" SET number = 2;
SELECT queued();
-- Two columns change their names with each other.
BEGIN;
ALTER TABLE "Source" RENAME COLUMN "The Body" TO tmp;
ALTER TABLE "Source" RENAME COLUMN spare TO "The Body";
ALTER TABLE "Source" RENAME COLUMN tmp TO spare;
COMMIT;
SELECT config #>> '{loading,column_name}' AS loaded FROM ai.vectorizer;
UPDATE "Source" SET spare = 'd';
SELECT queued();
-- Columns of tables can be renamed as if they were views.
ALTER VIEW "Source" RENAME COLUMN spare TO spare1;
ALTER MATERIALIZED VIEW "Source" RENAME COLUMN spare1 TO spare2;
ALTER FOREIGN TABLE "Source" RENAME COLUMN spare2 TO spare;
ALTER VIEW "Source" RENAME COLUMN number TO "Number";
SELECT config #>> '{loading,column_name}' AS loaded, source_pk #>> '{0,attname}' AS key FROM ai.vectorizer;
ALTER VIEW "Source" RENAME COLUMN "Number" TO number;
-- A rename that a template cannot follow is refused.
ALTER TABLE "Source" RENAME COLUMN headline TO "head } line";
ALTER TABLE "Source" RENAME COLUMN headline TO chunk;
-- A view and the target may be renamed, and moved to another schema.
ALTER VIEW src_embedding RENAME TO found;
ALTER TABLE src_embedding_store RENAME TO stored;
CREATE SCHEMA elsewhere;
ALTER TABLE stored SET SCHEMA elsewhere;
ALTER TABLE "Source" SET SCHEMA elsewhere;
ALTER TABLE elsewhere."Source" RENAME TO src;
SELECT source_table, target_table, view FROM ai.vectorizer_status;
INSERT INTO elsewhere.stored (id, chunk_seq, chunk, embedding) VALUES (2, 0, 'c', '[1,2,3]');
SELECT chunk, id FROM found;
SET search_path = elsewhere, ddl2, public;

-- What the vectorizer needs cannot be dropped or changed.
ALTER TABLE src DROP COLUMN spare;
ALTER TABLE src DROP COLUMN spare CASCADE;
ALTER TABLE src DROP COLUMN headline CASCADE;
ALTER TABLE src DROP COLUMN number CASCADE;
ALTER TABLE src ALTER COLUMN number TYPE bigint;
ALTER TABLE src DROP CONSTRAINT src_pkey;
DROP INDEX src_pkey;
ALTER TABLE stored DROP COLUMN content_hash;
ALTER TABLE stored RENAME COLUMN id TO number;
ALTER TABLE ai._vectorizer_q_1 DROP COLUMN priority;
ALTER TABLE ai._vectorizer_q_work_1 DROP COLUMN lease;
DROP TABLE ai._vectorizer_q_1;
DROP TABLE ai._vectorizer_q_work_1;
DROP TABLE ai._vectorizer_q_failed_1;
-- A unique index on the same columns can take the place of the key, and must stay then.
CREATE UNIQUE INDEX src_number ON src (number);
ALTER TABLE src DROP CONSTRAINT src_pkey;
DROP INDEX src_number;
ALTER TABLE src ALTER COLUMN number DROP NOT NULL;
ALTER TABLE src ADD PRIMARY KEY (number);
DROP INDEX src_number;
-- In one command.
CREATE UNIQUE INDEX src_number ON src (number);
ALTER TABLE src DROP CONSTRAINT src_pkey, ADD CONSTRAINT src_pkey PRIMARY KEY USING INDEX src_number;
SELECT disabled FROM ai.vectorizer_status;

-- Other columns can be dropped; the view shows them, so it goes along.
ALTER TABLE src DROP COLUMN "The Body";
ALTER TABLE src DROP COLUMN "The Body" CASCADE;
SELECT view, disabled FROM ai.vectorizer_status;
UPDATE src SET spare = 'e';
SELECT queued();

-- Embeddings stay vectors of that length; half the size will do.
ALTER TABLE stored ALTER COLUMN embedding TYPE vector(4) USING '[1,2,3,4]';
ALTER TABLE stored ALTER COLUMN embedding TYPE text;
ALTER TABLE stored ALTER COLUMN embedding TYPE halfvec(3);
ALTER TABLE stored ALTER COLUMN embedding TYPE vector(3);

-- Triggers keep ALWAYS when they are turned off and on, and what they missed is queued.
ALTER TABLE src DISABLE TRIGGER ALL;
INSERT INTO src (number) VALUES (30);
INSERT INTO stored (id, chunk_seq, chunk, embedding) VALUES (31, 0, 'lost', '[1,2,3]');
SELECT queued();
ALTER TABLE src ENABLE TRIGGER ALL;
SELECT queued();
SELECT tgname, tgenabled FROM pg_trigger WHERE tgrelid = 'src'::regclass ORDER BY 1;
DELETE FROM src WHERE number = 30;
DELETE FROM stored WHERE id = 31;
SELECT queued();
-- Renaming a column makes them again, which is no reason to queue anything.
ALTER TABLE src RENAME COLUMN spare TO body2;
ALTER TABLE src RENAME COLUMN body2 TO spare;
SELECT queued();
-- A renamed trigger does not come twice.
ALTER TRIGGER _vectorizer_src_trg_1 ON src RENAME TO mine;
ALTER TABLE src RENAME COLUMN spare TO body2;
SELECT tgname, tgenabled FROM pg_trigger WHERE tgrelid = 'src'::regclass ORDER BY 1;
INSERT INTO src (number) VALUES (3);
SELECT queued();

-- A dropped trigger disables the vectorizer. Enabling it makes the trigger again and queues all rows.
DROP TRIGGER _vectorizer_src_trg_1 ON src;
SELECT disabled FROM ai.vectorizer_status;
SELECT message, details FROM ai.vectorizer_errors;
INSERT INTO src (number) VALUES (4);
INSERT INTO stored (id, chunk_seq, chunk, embedding) VALUES (77, 0, 'lost', '[1,2,3]');
SELECT ai.enable_vectorizer_schedule('v');
SELECT queued();
SELECT disabled FROM ai.vectorizer_status;
-- Without triggers the key may go.
DROP TRIGGER _vectorizer_src_trg_1 ON src;
DROP TRIGGER _vectorizer_src_trg_1_update ON src;
ALTER TABLE src DROP CONSTRAINT src_pkey;
ALTER TABLE src ADD PRIMARY KEY (number);
SELECT ai.enable_vectorizer_schedule('v');
SELECT queued();

-- A dropped target disables it for good.
DROP TABLE stored;
SELECT target_table, disabled FROM ai.vectorizer_status;
SELECT message FROM ai.vectorizer_errors ORDER BY recorded;
SELECT ai.enable_vectorizer_schedule('v');
UPDATE src SET body2 = 'f';
SELECT queued();
TRUNCATE src;
SELECT queued();
SELECT ai.drop_vectorizer('v', drop_all => true);

-- A table of a composite type has its columns renamed and dropped with those of the type.
CREATE TYPE person AS (id int, body text);
CREATE TABLE people OF person (PRIMARY KEY (id));
SELECT ai.create_vectorizer('people', name => 'people', loading => ai.loading_column('body'), embedding => ai.embedding_local('m', 3)) > 0 AS made;
ALTER TYPE person RENAME ATTRIBUTE id TO number CASCADE;
ALTER TYPE person RENAME ATTRIBUTE body TO contents CASCADE;
SELECT source_pk #>> '{0,attname}' AS key, config #>> '{loading,column_name}' AS loaded FROM ai.vectorizer WHERE name = 'people';
INSERT INTO people VALUES (1, 'a');
UPDATE people SET contents = 'b';
SELECT key FROM ai.jobs('people');
ALTER TYPE person DROP ATTRIBUTE contents CASCADE;
DROP TABLE people CASCADE;

-- A queue in a schema of its own follows renames, and keeps the schema.
CREATE SCHEMA queues;
SELECT ai.create_vectorizer('src', name => 'v', loading => ai.loading_column('body2'), embedding => ai.embedding_local('m', 3),
    queue_schema => 'queues', queue_table => 'q') AS v \gset
ALTER SCHEMA queues RENAME TO queues2;
INSERT INTO src (number) VALUES (5);
ALTER TABLE queues2.q RENAME TO "Q";
INSERT INTO src (number) VALUES (6);
SELECT number FROM queues2."Q" ORDER BY 1;
SELECT ai.vectorizer_queue_pending('v', true);
-- Its schema cannot be given to somebody who could put other tables in its place.
CREATE ROLE regress_ai_other;
ALTER SCHEMA queues2 OWNER TO regress_ai_other;
DROP ROLE regress_ai_other;
\set VERBOSITY terse
DROP SCHEMA queues2 CASCADE;
\set VERBOSITY default

-- With the source everything goes.
SELECT name, source_table FROM ai.vectorizer_status;
DROP TABLE src;
BEGIN;
DROP TABLE src CASCADE;
SELECT count(*) FROM ai.vectorizer;
ROLLBACK;
SELECT count(*) FROM ai.vectorizer;
INSERT INTO src (number) VALUES (7);
SELECT ai.vectorizer_queue_pending('v', true);
-- In the transaction that has just written to it.
BEGIN;
INSERT INTO src (number) VALUES (8);
DROP TABLE src CASCADE;
COMMIT;
SELECT count(*) FROM ai.vectorizer;
SELECT relname FROM pg_class WHERE relname ~ 'src_emb' OR relnamespace = 'queues2'::regnamespace;

-- The target stays if others depend on it.
CREATE TABLE src (id int PRIMARY KEY, body text);
SELECT ai.create_vectorizer('src', name => 'v', loading => ai.loading_column('body'), embedding => ai.embedding_local('m', 3)) > 0 AS made;
CREATE VIEW mine AS SELECT * FROM src_embedding_store;
DROP TABLE src CASCADE;
SELECT count(*) FROM ai.vectorizer;
SELECT count(*) FROM mine;
-- So do changes of tables that have nothing to do with it.
CREATE TABLE unrelated (id int PRIMARY KEY, body text);
ALTER TABLE unrelated RENAME COLUMN body TO contents;
ALTER TABLE unrelated DROP CONSTRAINT unrelated_pkey;
DROP TABLE unrelated;
CREATE TEMP TABLE unrelated (id int PRIMARY KEY);
DROP TABLE unrelated;

\set VERBOSITY terse
RESET search_path;
DROP SCHEMA ddl2 CASCADE;
DROP SCHEMA elsewhere CASCADE;
DROP SCHEMA queues2 CASCADE;
SELECT count(*) FROM ai.vectorizer;
SELECT count(*) FROM pg_class WHERE relname ~ '_vectorizer_q_\w*\d';
