-- What filters of a search mean, and what they refuse.
\set SHOW_CONTEXT never
SELECT setval('ai.vectorizer_id_seq', 1, false);
CREATE SCHEMA filter;
SET search_path = filter, public;
CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy');
CREATE DOMAIN year AS int CHECK (VALUE > 1900);
CREATE TABLE doc (
    id int PRIMARY KEY, body text, category varchar(10), year year, price numeric, published date, draft boolean,
    mood mood, tags text[], meta jsonb, code char(3), raw json, spot point, span int4range, "Odd ""name" text, score float8
);
INSERT INTO doc VALUES
    (1, 'b', 'news', 2020, 1.50, '2026-01-01', false, 'ok', '{a,b}', '{"lang": "en", "n": 1}', 'abc', '{}', '(0,0)', '[1,5)', 'x', 1),
    (2, 'b', 'sport', 2021, 20, '2026-02-01', true, 'happy', '{b}', '{"lang": "de"}', 'd', '{}', '(0,0)', '[2,3)', 'y', 2),
    (3, 'b', NULL, 2022, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 'it''s; DROP TABLE doc', NULL),
    (4, 'b', 'News', 1999, 1.5, '2026-01-01', false, 'sad', '{}', '[1, 2]', 'ab', '{}', '(0,0)', 'empty', '', 'NaN');
SELECT ai.create_vectorizer('filter.doc', name => 'docs', loading => ai.loading_column('body'),
    embedding => ai.embedding_openai('m', 2), enqueue_existing => false);
INSERT INTO doc_embedding_store (id, chunk_seq, chunk, embedding)
SELECT id, 0, 'chunk', format('[1,%s]', id)::vector FROM doc;
CREATE FUNCTION ids(filter jsonb) RETURNS text LANGUAGE sql AS $$
    SELECT string_agg(key ->> 'id', ',') FROM ai.search('docs', '[1,0]'::vector, filter => filter)
$$;

SELECT f AS filter, ids(f) FROM unnest(ARRAY[
    NULL, '{}',
    -- equality, null, lists
    '{"category": "news"}', '{"year": 2020}', '{"year": "2020"}', '{"price": 1.5}', '{"draft": true}',
    '{"category": null}', '{"category": {"=": null}}', '{"category": {"<>": null}}', '{"category": {"!=": null}}',
    '{"category": ["news", "sport"]}', '{"category": ["news", null]}', '{"category": []}', '{"category": [null]}',
    '{"year": {"in": [1999, 2022]}}', '{"year": {"not in": [1999, 2022]}}', '{"category": {"not in": ["news", null]}}',
    -- comparisons, all of which hold
    '{"year": {">": 2020}}', '{"year": {">=": 2020, "<": 2022}}', '{"year": {"<=": 1999}}', '{"year": {"<>": 2020}}',
    '{"year": {"!=": 2020}, "draft": false}', '{"published": {">=": "2026-01-15"}}', '{"published": "2026-01-01"}',
    '{"mood": {">": "sad"}}', '{"mood": ["sad", "happy"]}', '{"score": {">=": "NaN"}}',
    -- texts
    '{"category": {"like": "n%"}}', '{"category": {"ilike": "n%"}}', '{"category": {"not like": "n%"}}',
    '{"category": {"not ilike": "n%"}}', '{"code": {"like": "ab_"}}', '{"code": "d"}', '{"code": "abcd"}', '{"category": "newspapers!!"}',
    -- arrays, jsonb, ranges
    '{"tags": {"@>": ["b"]}}', '{"tags": {"<@": ["b", "c"]}}', '{"tags": {"&&": ["a", "z"]}}', '{"tags": {"=": ["a", "b"]}}',
    '{"tags": {"=": []}}', '{"tags": {"@>": ["a", null]}}', '{"tags": {"<>": ["b"]}}',
    '{"meta": {"@>": {"lang": "en"}}}', '{"meta": {"<@": [1, 2, 3]}}', '{"meta": {"=": {"lang": "de"}}}', '{"meta": [{"lang": "de"}]}',
    '{"meta": {"=": null}}', '{"span": {"=": "[2,3)"}}', '{"span": "empty"}',
    -- names and values are only that
    '{"Odd \"name": "y"}', '{"Odd \"name": "it''s; DROP TABLE doc"}', '{"Odd \"name": "'' OR true --"}', '{"Odd \"name": "\\"}', '{"Odd \"name": ""}',
    -- and, or, not
    '{"$or": [{"year": 2020}, {"year": 2021, "draft": true}, {"year": 1999, "draft": true}]}',
    '{"$and": [{"year": {">": 2000}}, {"draft": false}]}', '{"$not": {"year": 2020}}',
    '{"$not": {"$or": [{"year": 2020}, {"$and": [{"year": 2021}, {}]}]}}', '{"$or": [{}]}', '{"$not": {}}',
    '{"category": "news", "$or": [{"year": 2020}, {"year": 2021}]}'
]::jsonb[]) WITH ORDINALITY AS f (f, n) ORDER BY n;

-- Refused, each with a reason.
CREATE FUNCTION refused(filter jsonb) RETURNS text LANGUAGE plpgsql AS $$
DECLARE message text; hint text;
BEGIN
    RETURN 'not refused: ' || ids(filter);
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS message = MESSAGE_TEXT, hint = PG_EXCEPTION_HINT;
    RETURN concat_ws(E'\n', SQLSTATE || ' ' || message, nullif(hint, ''));
END $$;
SELECT f AS filter, refused(f) FROM unnest(ARRAY[
    '[]', '"category"', 'null', '1',
    '{"nope": 1}', '{"ctid": "(0,1)"}', '{"tableoid": 1}', '{"ID": 1}', '{"id; DROP TABLE doc": 1}',
    '{"year": {}}', '{"year": {"===": 1}}', '{"year": {"LIKE": "1"}}', '{"year": {"like": "2%"}}', '{"year": {"= 1 OR true --": 1}}',
    '{"year": {"@>": 1}}', '{"category": {"&&": ["a"]}}', '{"category": {"like": null}}', '{"year": {">": null}}', '{"year": {"in": 2020}}',
    '{"year": {"not in": "2020"}}', '{"year": "many"}', '{"year": {"=": [2020]}}', '{"year": {"=": {"a": 1}}}', '{"year": [[2020]]}',
    '{"published": "someday"}', '{"mood": "angry"}', '{"tags": "a"}', '{"tags": ["a"]}', '{"tags": {"@>": "a"}}', '{"tags": {"in": [["a"]]}}',
    '{"raw": {"=": 1}}', '{"spot": "(0,0)"}', '{"span": {"@>": 3}}', '{"meta": {"like": "x"}}', '{"meta": {"lang": "en"}}',
    '{"$or": []}', '{"$or": {"year": 1}}', '{"$and": "year"}', '{"$not": [{"year": 1}]}', '{"$or": ["year"]}', '{"$nor": []}'
]::jsonb[]) WITH ORDINALITY AS f (f, n) ORDER BY n;

-- Deeply nested, it ends with an error at most.
SELECT refused(('{"$not": ' || repeat('{"$not": ', 3000) || '{}' || repeat('}', 3000) || '}')::jsonb) ~ '^(not refused|54001 stack depth)' AS survived;

-- A type of an extension has its operators elsewhere; the caller's search_path does not matter.
CREATE SCHEMA ext;
CREATE EXTENSION citext SCHEMA ext;
ALTER TABLE doc ADD COLUMN label ext.citext;
UPDATE doc SET label = 'Alpha' WHERE id = 1;
SELECT statement ~ 'OPERATOR\(ext\.=\)' AS qualified FROM ai.search_plan('docs', filter => '{"label": "ALPHA"}');
SELECT ids('{"label": "ALPHA"}'), ids('{"label": ["x", "alpha"]}'), ids('{"label": {">": "aaa"}}');
SELECT refused('{"label": {"like": "a%"}}');

-- An index on the source is used where it helps more.
INSERT INTO doc (id, body, year) SELECT g, 'b', 2000 + g % 500 FROM generate_series(100, 3000) g;
INSERT INTO doc_embedding_store (id, chunk_seq, chunk, embedding)
SELECT id, 0, 'chunk', format('[1,%s]', id)::vector FROM doc WHERE id >= 100;
CREATE INDEX doc_year ON doc (year);
CREATE INDEX doc_hnsw ON doc_embedding_store USING hnsw (embedding vector_cosine_ops);
VACUUM ANALYZE doc, doc_embedding_store;
DO $$
DECLARE line text;
BEGIN
    FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || replace(replace(replace((ai.search_plan('docs', filter => '{"year": 2100}')).statement,
        '$1', quote_literal('[1,0]') || '::public.vector'), '$2', '10'), '$3', '10') LOOP
        CONTINUE WHEN line !~ 'doc_year|doc_hnsw';
        RAISE NOTICE '%', regexp_replace(line, '^[ >-]*', '');
    END LOOP;
END $$;
SELECT ids('{"year": 2100}');

RESET search_path;
SET client_min_messages = warning;
DROP SCHEMA filter, ext CASCADE;
