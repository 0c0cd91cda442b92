-- The embedded model. It is installed for the tests.
\set SHOW_CONTEXT never
SELECT value, advice FROM ai.status() WHERE item = 'embedded model';

SELECT vector_dims(ai.local_embed('Elephants remember.')), round(vector_norm(ai.local_embed('Elephants remember.'))::numeric, 4) AS norm;
SELECT "index", vector_dims(embedding) FROM ai.local_embed(ARRAY['one', NULL, 'three']);
SELECT count(*) FROM ai.local_embed(NULL::text[]);
SELECT ai.local_embed(NULL::text) IS NULL AS no_text;
SELECT ai.local_embed('');
SELECT text FROM unnest(ARRAY['The cat sleeps on the radiator.', 'Vacuum removes dead row versions.', 'The match ended in a draw.']) AS text
ORDER BY ai.local_embed(text) <=> ai.local_embed('database maintenance');

-- A vector depends on the text and the model only, and parallel workers can make it.
SELECT proname, provolatile, proparallel, count(*) FROM pg_proc
WHERE pronamespace = 'ai'::regnamespace AND proname IN ('local_embed', '_local_embed') GROUP BY 1, 2, 3 ORDER BY 1;

-- Names and dimensions are checked.
SELECT ai.local_embed('text', '../../etc/passwd');
SELECT ai.embed(ai.embedding_local('all-MiniLM-L6-v2', 384) || '{"model": "/tmp/m"}', 'text');
SELECT ai.embedding_local(dimensions => 100);

-- It is what a vectorizer uses if no model is named.
CREATE SCHEMA local_model;
SET search_path = local_model, public;
CREATE TABLE note (id int PRIMARY KEY, body text);
SELECT ai.create_vectorizer('note', loading => ai.loading_column('body')) AS id \gset
SELECT config -> 'embedding' AS embedding FROM ai.vectorizer WHERE id = :id;
SELECT format_type(atttypid, atttypmod) FROM pg_attribute
WHERE attrelid = 'note_embedding_store'::regclass AND attname = 'embedding';
SELECT ai.create_vectorizer('note', loading => ai.loading_column('body'), if_not_exists => true) = :id AS same;
SELECT ai.drop_vectorizer(:id, drop_all => true);

-- Where there is none, that is said, and how to get it.
SET ai.model_path = '/nowhere';
SELECT value, advice FROM ai.status() WHERE item = 'embedded model';
SELECT ai.create_vectorizer('note', loading => ai.loading_column('body'));
SELECT ai.local_embed('text');
SELECT ai.create_vectorizer('note', name => 'named', loading => ai.loading_column('body'), embedding => ai.embedding_local()) > 0 AS made;
SELECT ai.vectorizer_embed('named', 'text');
SELECT ai.drop_vectorizer('named', drop_all => true);
-- What is there and cannot be used is not called missing.
SET ai.model_path = '/etc/passwd';
SELECT value, advice FROM ai.status() WHERE item = 'embedded model';
RESET ai.model_path;

-- Where the server looks for a model is not for everybody to say, nor to see.
CREATE ROLE regress_ai_reader;
SET ROLE regress_ai_reader;
SET ai.model_path = '/etc';
SELECT count(*) FROM pg_settings WHERE name = 'ai.model_path';
SELECT vector_dims(ai.local_embed('text'));
RESET ROLE;
DROP ROLE regress_ai_reader;
DROP SCHEMA local_model CASCADE;
