-- A search reads with the rights of its caller: privileges and row security of source and target.
\set SHOW_CONTEXT never
SELECT setval('ai.vectorizer_id_seq', 1, false);
CREATE ROLE regress_ai_owner;
CREATE ROLE regress_ai_reader;
CREATE ROLE regress_ai_grantee;
CREATE ROLE regress_ai_other;
CREATE SCHEMA rights AUTHORIZATION regress_ai_owner;
GRANT USAGE ON SCHEMA rights TO regress_ai_reader, regress_ai_grantee, regress_ai_other;
SET ROLE regress_ai_owner;
CREATE TABLE rights.doc (id int PRIMARY KEY, body text, reader name, secret text);
INSERT INTO rights.doc SELECT g, 'body ' || g, CASE WHEN g % 2 = 0 THEN 'regress_ai_reader' ELSE 'regress_ai_grantee' END, 's' || g
FROM generate_series(1, 6) g;
SELECT ai.create_vectorizer('rights.doc', name => 'docs', loading => ai.loading_column('body'),
    embedding => ai.embedding_openai('m', 2), grant_to => ai.grant_to('regress_ai_grantee'));
INSERT INTO rights.doc_embedding_store (id, chunk_seq, chunk, embedding)
SELECT id, 0, body, format('[1,%s]', id)::vector FROM rights.doc;
RESET ROLE;
CREATE FUNCTION rights.found(filter jsonb DEFAULT NULL) RETURNS text LANGUAGE plpgsql AS $$
DECLARE result text; words text; hint text;
BEGIN
    result := (SELECT string_agg(key ->> 'id', ',') FROM ai.search('docs', '[1,0]'::vector, filter => filter));
    words := (SELECT string_agg(key ->> 'id', ',' ORDER BY (key ->> 'id')::int)
              FROM ai.hybrid_search('docs', 'body', query_vector => '[1,0]', filter => filter));
    RETURN coalesce(result, 'nothing') || CASE WHEN words IS DISTINCT FROM result THEN ', by words ' || coalesce(words, 'nothing') ELSE '' END;
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS result = MESSAGE_TEXT, hint = PG_EXCEPTION_HINT;
    RETURN concat_ws(' / ', result, nullif(hint, ''));
END $$;

-- No right, no search; nor the statement, nor what makes it.
SET ROLE regress_ai_other;
SELECT rights.found();
SELECT ai.search_plan('docs');
SELECT ai.hybrid_search_plan('docs');
SELECT * FROM ai.search('docs', 'text');
SELECT * FROM ai.hybrid_search(1, 'text');
SELECT ai._search_plan(10, 'docs', NULL, NULL, false, false);
SELECT ai._search_plan(10, 1, NULL, NULL, false, false);
SELECT ai._hybrid_search_plan(10, 'docs', NULL, NULL, false, NULL, false);
SELECT ai._hybrid_search_plan(10, 1, NULL, NULL, false, NULL, false);

-- The source alone is not enough; the target alone is, but not for a filter.
RESET ROLE;
GRANT SELECT ON rights.doc TO regress_ai_reader;
SET ROLE regress_ai_reader;
SELECT rights.found();
SET ROLE regress_ai_grantee;
SELECT rights.found(), rights.found('{"id": 3}');
RESET ROLE;
GRANT SELECT ON rights.doc_embedding_store TO regress_ai_reader;
SET ROLE regress_ai_reader;
SELECT rights.found(), rights.found('{"id": 3}'), rights.found('{"secret": "s5"}');

-- Columns.
RESET ROLE;
REVOKE SELECT ON rights.doc FROM regress_ai_reader;
GRANT SELECT (id, body) ON rights.doc TO regress_ai_reader;
SET ROLE regress_ai_reader;
SELECT rights.found(), rights.found('{"id": 3}'), rights.found('{"secret": "s5"}');
RESET ROLE;
GRANT SELECT ON rights.doc TO regress_ai_reader;

-- Row security of the source, also for who could read the target alone.
ALTER TABLE rights.doc ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON rights.doc FOR SELECT USING (reader = current_user);
SET ROLE regress_ai_reader;
SELECT rights.found(), rights.found('{"id": {">": 2}}'), rights.found('{"id": 3}');
SELECT count(*) FROM ai.search('docs', '[1,0]'::vector, 2, group_by_row => true);
SET ROLE regress_ai_grantee;
SELECT rights.found();
RESET ROLE;
GRANT SELECT ON rights.doc TO regress_ai_grantee;
SET ROLE regress_ai_grantee;
SELECT rights.found();
SET ROLE regress_ai_owner;
SELECT rights.found();
-- One and the same plan for two roles.
RESET ROLE;
CREATE FUNCTION rights.as_role(role name) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    PERFORM set_config('role', role, true);
    RETURN rights.found();
END $$;
SELECT rights.as_role('regress_ai_reader'), rights.as_role('regress_ai_grantee'), rights.as_role('regress_ai_reader');
-- What a condition of the caller leaks is not more than that.
CREATE FUNCTION rights.leak(text) RETURNS boolean LANGUAGE plpgsql COST 0.0000001 AS $$ BEGIN RAISE NOTICE 'saw %', $1; RETURN true; END $$;
SET ROLE regress_ai_reader;
SELECT key FROM ai.search('docs', '[1,0]'::vector) WHERE rights.leak(chunk);

-- Row security of the target, and of both.
RESET ROLE;
ALTER TABLE rights.doc_embedding_store ENABLE ROW LEVEL SECURITY;
CREATE POLICY low ON rights.doc_embedding_store FOR SELECT USING (id < 4);
SET ROLE regress_ai_reader;
SELECT rights.found();
RESET ROLE;
ALTER TABLE rights.doc DISABLE ROW LEVEL SECURITY;
SET ROLE regress_ai_reader;
SELECT rights.found();
SET row_security = off;
SELECT rights.found();
RESET row_security;

-- With an index of vectors and few rows to see, all of them are found.
RESET ROLE;
ALTER TABLE rights.doc ENABLE ROW LEVEL SECURITY;
ALTER TABLE rights.doc_embedding_store DISABLE ROW LEVEL SECURITY;
INSERT INTO rights.doc SELECT g, 'body ' || g, 'nobody' FROM generate_series(100, 2000) g;
INSERT INTO rights.doc_embedding_store (id, chunk_seq, chunk, embedding)
SELECT id, 0, body, format('[1,%s]', 0.1 / id)::vector FROM rights.doc WHERE id >= 100;
CREATE INDEX ON rights.doc_embedding_store USING hnsw (embedding vector_cosine_ops);
ANALYZE rights.doc, rights.doc_embedding_store;
SET hnsw.max_scan_tuples = 1;
SET ROLE regress_ai_reader;
SELECT rights.found();
RESET ROLE;
RESET hnsw.max_scan_tuples;

-- A source in a schema that the role cannot reach is as one that it cannot read.
CREATE SCHEMA hidden AUTHORIZATION regress_ai_owner;
SET ROLE regress_ai_owner;
CREATE TABLE hidden.doc (id int PRIMARY KEY, body text);
GRANT SELECT ON hidden.doc TO regress_ai_reader;
SELECT ai.create_vectorizer('hidden.doc', name => 'hidden', loading => ai.loading_column('body'),
    embedding => ai.embedding_openai('m', 2), destination => ai.destination_table('shown', target_schema => 'rights',
    view_schema => 'rights'), grant_to => ai.grant_to('regress_ai_reader'));
INSERT INTO rights.shown_store (id, chunk_seq, chunk, embedding) VALUES (1, 0, 'x', '[1,0]');
SELECT count(*) FROM ai.search('hidden', '[1,0]'::vector);
SET ROLE regress_ai_reader;
SELECT key FROM ai.search('hidden', '[1,0]'::vector);
SELECT key FROM ai.hybrid_search('hidden', 'x', query_vector => '[1,0]');
RESET ROLE;

-- A function that runs as its owner searches as its owner.
SET ROLE regress_ai_owner;
CREATE FUNCTION rights.for_all() RETURNS bigint LANGUAGE sql SECURITY DEFINER AS $$
    SELECT count(*) FROM ai.search('docs', '[1,0]'::vector, 10, '{"id": {"<": 10}}')
$$;
SET ROLE regress_ai_other;
SELECT rights.for_all();
RESET ROLE;

SET client_min_messages = warning;
DROP SCHEMA rights, hidden CASCADE;
DROP ROLE regress_ai_owner, regress_ai_reader, regress_ai_grantee, regress_ai_other;
