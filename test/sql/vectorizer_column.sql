-- A column of the source table as the destination.
\set SHOW_CONTEXT never
SELECT setval('ai.vectorizer_id_seq', 1, false);
CREATE TABLE doc (id int PRIMARY KEY, title text, body text);
INSERT INTO doc VALUES (1, 'a', 'b'), (2, 'c', 'd');
SELECT ai.create_vectorizer('doc', loading => ai.loading_column('body'),
    embedding => ai.embedding_ollama('nomic-embed-text', 3),
    chunking => ai.chunking_none(), destination => ai.destination_column('embedding'));
SELECT id, name, source_table, target_table, view, embedding_column, pending_items, disabled, failed_items FROM ai.vectorizer_status;
SELECT attname, format_type(atttypid, atttypmod), attnotnull FROM pg_attribute
WHERE attrelid = 'doc'::regclass AND attname = 'embedding';
SELECT relname FROM pg_class WHERE relname ~ '^doc_embedding';

-- Writing the embedding does not queue the row again.
DELETE FROM ai._vectorizer_q_1;
UPDATE doc SET embedding = '[1,2,3]' WHERE id = 1;
SELECT pending_items FROM ai.vectorizer_status;
UPDATE doc SET body = 'new' WHERE id = 1;
SELECT pending_items FROM ai.vectorizer_status;

-- Another one uses a column that is there already.
ALTER TABLE doc ADD COLUMN "Title Embedding" vector(384);
SELECT ai.create_vectorizer('doc', loading => ai.loading_column('title'), embedding => ai.embedding_local(),
    chunking => ai.chunking_none(), destination => ai.destination_column('Title Embedding'));
SELECT name, target_table, view, embedding_column, pending_items FROM ai.vectorizer_status WHERE id = 2;
SELECT ai.create_vectorizer('doc', loading => ai.loading_column('title'), embedding => ai.embedding_local(),
    chunking => ai.chunking_none(), destination => ai.destination_column('Title Embedding'), if_not_exists => true);

-- TRUNCATE takes the embeddings along: there is nothing to queue.
DELETE FROM ai._vectorizer_q_1;
TRUNCATE doc;
SELECT pending_items FROM ai.vectorizer_status WHERE id = 1;
INSERT INTO doc (id, body) VALUES (3, 'x');

-- The column keeps its type, can be renamed, and is missed when it is dropped.
ALTER TABLE doc ALTER COLUMN "Title Embedding" TYPE vector(3);
ALTER TABLE doc ALTER COLUMN "Title Embedding" TYPE text;
ALTER TABLE doc RENAME COLUMN "Title Embedding" TO title_embedding;
SELECT embedding_column, disabled FROM ai.vectorizer_status WHERE id = 2;
ALTER TABLE doc DROP COLUMN title_embedding;
SELECT disabled FROM ai.vectorizer_status WHERE id = 2;
SELECT id, name, message, details FROM ai.vectorizer_errors;
SELECT ai.enable_vectorizer_schedule(2);
-- Another column that is renamed then does not take its place; the others are still followed.
ALTER TABLE doc ADD COLUMN mine vector(384), ADD COLUMN note text;
ALTER TABLE doc RENAME COLUMN note TO remark;
ALTER TABLE doc RENAME COLUMN mine TO still_mine;
ALTER TABLE doc RENAME COLUMN title TO headline;
SELECT config #> '{destination,embedding_column}', config #> '{loading,column_name}' FROM ai.vectorizer WHERE id = 2;
ALTER TABLE doc RENAME COLUMN headline TO title;
ALTER TABLE doc DROP COLUMN remark, DROP COLUMN still_mine;
ALTER TABLE doc ADD COLUMN embedding_again vector(384);
ALTER TABLE doc RENAME COLUMN embedding_again TO title_embedding;
ALTER TABLE doc RENAME COLUMN title_embedding TO again_renamed;
SELECT config -> 'destination' FROM ai.vectorizer WHERE id = 2;
ALTER TABLE doc RENAME COLUMN again_renamed TO title_embedding;
DELETE FROM ai._vectorizer_q_2;
SELECT ai.enable_vectorizer_schedule(2);
SELECT disabled, pending_items FROM ai.vectorizer_status WHERE id = 2;

-- Dropped without and with the column.
SELECT ai.drop_vectorizer(1);
SELECT ai.drop_vectorizer(2, drop_all => true);
SELECT attname FROM pg_attribute WHERE attrelid = 'doc'::regclass AND attnum > 0 AND NOT attisdropped;

-- A table with a column destination needs no CASCADE.
SELECT ai.create_vectorizer('doc', loading => ai.loading_column('title'), embedding => ai.embedding_local(),
    chunking => ai.chunking_none(), destination => ai.destination_column('again'),
    grant_to => ai.grant_to('pg_monitor')) > 2 AS made;
SELECT has_table_privilege('pg_monitor', 'doc', 'SELECT');
DROP TABLE doc;
SELECT count(*) FROM ai.vectorizer;
SELECT count(*) FROM pg_class WHERE relname ~ '_vectorizer_q_';
