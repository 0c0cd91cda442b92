-- Virtual generated columns, which there are from PostgreSQL 18 on: a vectorizer follows the columns
-- that they are made of.
SELECT current_setting('server_version_num')::int < 180000 AS there_are_none \gset
\if :there_are_none
\quit
\endif
\set SHOW_CONTEXT never
SELECT setval('ai.vectorizer_id_seq', 1, false);
CREATE TABLE virtual_source (id int PRIMARY KEY, title text, body text, other int,
    words text GENERATED ALWAYS AS (title || ': ' || body) VIRTUAL,
    level int GENERATED ALWAYS AS (other * 10) VIRTUAL);
SELECT ai.create_vectorizer('virtual_source', name => 'virtual', loading => ai.loading_column('words'),
    embedding => ai.embedding_openai('m', 3));
INSERT INTO virtual_source VALUES (1, 'a', 'b', 1), (2, 'c', 'd', 2);
TRUNCATE ai._vectorizer_q_1;
UPDATE virtual_source SET other = 3 WHERE id = 1;
UPDATE virtual_source SET title = 'e' WHERE id = 2;
SELECT id FROM ai._vectorizer_q_1;
SELECT ai.drop_vectorizer('virtual', drop_all => true);
-- A trigger sees no value in them.
SELECT ai.create_vectorizer('virtual_source', loading => ai.loading_column('words'),
    embedding => ai.embedding_openai('m', 3),
    processing => ai.processing_default(priority_column => 'level'));
DROP TABLE virtual_source;
