-- create_vectorizer: what it makes, under which names, and what it queues.
\set SHOW_CONTEXT never
SELECT setval('ai.vectorizer_id_seq', 1, false);

-- The example of pgai's README, as it is there.
CREATE TABLE blog(
    id        SERIAL PRIMARY KEY,
    title     TEXT,
    authors   TEXT,
    contents  TEXT,
    metadata  JSONB
);
INSERT INTO blog (title, authors, contents, metadata)
VALUES
('Getting Started with PostgreSQL', 'John Doe', 'PostgreSQL is a powerful, open source object-relational database system...', '{"tags": ["database", "postgresql", "beginner"], "read_time": 5, "published_date": "2024-03-15"}'),
('10 Tips for Effective Blogging', 'Jane Smith, Mike Johnson', 'Blogging can be a great way to share your thoughts and expertise...', '{"tags": ["blogging", "writing", "tips"], "read_time": 8, "published_date": "2024-03-20"}'),
('The Future of Artificial Intelligence', 'Dr. Alan Turing', 'As we look towards the future, artificial intelligence continues to evolve...', '{"tags": ["AI", "technology", "future"], "read_time": 12, "published_date": "2024-04-01"}');
SELECT ai.create_vectorizer(
     'blog'::regclass,
     loading => ai.loading_column('contents'),
     embedding => ai.embedding_ollama('nomic-embed-text', 768),
     chunking => ai.chunking_character_text_splitter(800, 400, '.', false),
     destination => ai.destination_table('blog_contents_embeddings')
);
SELECT id, name, source_table, target_table, view, embedding_column, pending_items, disabled, failed_items FROM ai.vectorizer_status;

-- A second one on the same table, with defaults everywhere.
SELECT ai.create_vectorizer('blog', loading => ai.loading_column('title'),
    embedding => ai.embedding_openai('text-embedding-3-small', 1536));
SELECT id, name, target_table, view, pending_items FROM ai.vectorizer_status ORDER BY id;
SELECT key, value FROM ai.vectorizer v, jsonb_each(v.config) WHERE v.id = 2 AND key <> 'version' ORDER BY key;
SELECT config ->> 'version' = ai.version() AS has_version FROM ai.vectorizer WHERE id = 2;

-- Layouts.
SELECT c.relname, a.attname, format_type(a.atttypid, a.atttypmod) AS type, a.attnotnull, a.attstorage,
    a.attidentity, pg_get_expr(d.adbin, d.adrelid) AS "default"
FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum
WHERE c.relname IN ('blog_embedding_store', 'blog_embedding', '_vectorizer_q_2', '_vectorizer_q_work_2',
        '_vectorizer_q_failed_2')
  AND a.attnum > 0
ORDER BY c.relname, a.attnum;
SELECT tablename, regexp_replace(indexdef, '^CREATE ', '') AS index FROM pg_indexes
WHERE tablename IN ('blog_embedding_store', '_vectorizer_q_2', '_vectorizer_q_work_2', '_vectorizer_q_failed_2')
ORDER BY 1, 2;
SELECT tgname, tgenabled, regexp_replace(pg_get_triggerdef(oid), '^.* AFTER', 'AFTER') AS definition
FROM pg_trigger WHERE tgrelid = 'blog'::regclass AND tgname ~ '_2' ORDER BY tgname;

-- The queue has the keys of the existing rows, once each.
SELECT q.id, priority, queued_at = created AS at_creation
FROM ai._vectorizer_q_2 q, ai.vectorizer v WHERE v.id = 2 ORDER BY 1;

-- The view joins both.
INSERT INTO blog_embedding_store (id, chunk_seq, chunk, embedding)
SELECT 1, 0, 'a chunk', array_fill(0.5, ARRAY[1536])::vector;
SELECT chunk_seq, chunk, id, title, authors FROM blog_embedding;

-- Without the existing rows.
SELECT ai.create_vectorizer('blog', name => 'later', loading => ai.loading_column('authors'),
    embedding => ai.embedding_local(), destination => ai.destination_table('later'),
    enqueue_existing => false);
SELECT name, pending_items FROM ai.vectorizer_status WHERE name = 'later';

-- Names are chosen by target_schema, target_table, view_schema, view_name; and by queue_schema, queue_table.
CREATE SCHEMA targets;
CREATE SCHEMA views;
CREATE SCHEMA queues;
SELECT ai.create_vectorizer('blog', loading => ai.loading_column('authors'),
    embedding => ai.embedding_local(),
    destination => ai.destination_table(target_schema => 'targets', target_table => 'Some target',
                                        view_schema => 'views', view_name => 'Some view'),
    queue_schema => 'queues', queue_table => 'Some queue',
    processing => ai.processing_default(priority => 7));
SELECT name, source_table, target_table, view, pending_items FROM ai.vectorizer_status WHERE id = 4;
SELECT source_schema, source_table, target_schema, target_table, view_schema, view_name, queue_schema,
    queue_table, work_schema, work_table, failed_schema, failed_table, owner::regrole = current_user::regrole AS mine
FROM ai._vectorizer_detail WHERE id = 4 \gx
SELECT id, priority FROM queues."Some queue" ORDER BY id;
SELECT ai.create_vectorizer('blog', loading => ai.loading_column('authors'),
    embedding => ai.embedding_local(),
    destination => ai.destination_table('d', target_schema => 'targets', view_schema => 'views'));
SELECT name, target_table, view FROM ai.vectorizer_status WHERE id = 5;
INSERT INTO blog (authors) VALUES ('Ada');
SELECT name, pending_items FROM ai.vectorizer_status ORDER BY id;

-- What ai.indexing_default() becomes.
SELECT dimensions, ai._resolve_indexing(ai.indexing_default(), dimensions)
FROM unnest(ARRAY[384, 2000, 2001, 4000, 4001]) dimensions;
SELECT ai._resolve_indexing(ai.indexing_none(), 384);

-- if_not_exists
SELECT ai.create_vectorizer('blog', name => 'later', loading => ai.loading_column('authors'),
    embedding => ai.embedding_local(), destination => ai.destination_table('later'),
    if_not_exists => true);
SELECT ai.create_vectorizer('blog', name => 'later', loading => ai.loading_column('title'),
    embedding => ai.embedding_ollama('m', 384), destination => ai.destination_table('later'),
    if_not_exists => true);
SELECT ai.create_vectorizer('blog', name => 'brand new', loading => ai.loading_column('title'),
    embedding => ai.embedding_local(), destination => ai.destination_table('brand_new'),
    if_not_exists => true) > 5 AS made;

-- A configuration written by hand; nulls in it are left out.
SELECT ai.create_vectorizer('blog', name => 'by hand', destination => ai.destination_table('by_hand'),
    loading => '{"config_type": "loading", "implementation": "column", "column_name": "title"}',
    embedding => '{"config_type": "embedding", "implementation": "ollama", "model": "m",
                   "dimensions": 3, "base_url": null}') > 5 AS made;
SELECT config -> 'embedding' FROM ai.vectorizer WHERE name = 'by hand';

-- grant_to
CREATE ROLE regress_ai_reader;
CREATE ROLE "regress_ai Other";
SELECT ai.create_vectorizer('blog', name => 'granted', loading => ai.loading_column('authors'),
    embedding => ai.embedding_local(),
    destination => ai.destination_table('granted', target_schema => 'targets'),
    grant_to => ai.grant_to('regress_ai_reader', 'regress_ai Other', 'regress_ai_nobody')) > 5 AS made;
SET ROLE regress_ai_reader;
SELECT count(*) FROM granted;
SELECT count(*) FROM targets.granted_store;
SELECT name, pending_items FROM ai.vectorizer_status;
SELECT count(*) FROM blog_embedding;
RESET ROLE;

DROP TABLE blog CASCADE;
SELECT count(*) FROM ai.vectorizer;
DROP SCHEMA targets;
DROP SCHEMA views;
DROP SCHEMA queues;
DROP ROLE regress_ai_reader, "regress_ai Other";

-- A table that was dumped alone brings the triggers of a vectorizer that is not here; a partition,
-- that for TRUNCATE. Those of a vectorizer that is here stay.
CREATE TABLE alone (id int PRIMARY KEY, body text) PARTITION BY LIST (id);
CREATE TABLE alone_1 PARTITION OF alone FOR VALUES IN (1);
SELECT ai.create_vectorizer('alone', name => 'here', loading => ai.loading_column('body'),
    embedding => ai.embedding_local()) > 5 AS made;
CREATE TRIGGER _vectorizer_src_trg_4711 AFTER INSERT OR DELETE ON alone
    FOR EACH ROW EXECUTE FUNCTION ai._vectorizer_enqueue('ai', '_vectorizer_q_4711', 'id');
CREATE TRIGGER _vectorizer_src_trg_4711_flush AFTER INSERT OR UPDATE OR DELETE ON alone
    FOR EACH STATEMENT EXECUTE FUNCTION ai._vectorizer_flush('4711');
CREATE TRIGGER _vectorizer_src_trg_4711_truncate AFTER TRUNCATE ON alone_1
    FOR EACH STATEMENT EXECUTE FUNCTION ai._vectorizer_truncate('4711');
INSERT INTO alone VALUES (1, 'a');
SELECT ai.create_vectorizer('alone', name => 'anew', loading => ai.loading_column('body'),
    embedding => ai.embedding_local(), destination => ai.destination_table('anew')) > 5 AS made;
INSERT INTO alone VALUES (1, 'a');
SELECT ai.vectorizer_queue_pending('here'), ai.vectorizer_queue_pending('anew');
SELECT tgrelid::regclass, count(*) FROM pg_trigger WHERE tgrelid IN ('alone'::regclass, 'alone_1'::regclass)
GROUP BY 1 ORDER BY 1;
DROP TABLE alone CASCADE;
