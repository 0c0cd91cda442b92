-- What create_vectorizer refuses, and that nothing is left of it.
\set SHOW_CONTEXT never
CREATE SCHEMA refused;
SET search_path = refused, public;
CREATE TABLE t (id int PRIMARY KEY, body text, bytes bytea, number int, doc varchar(10), price numeric);
CREATE FUNCTION try(loading jsonb DEFAULT ai.loading_column('body'), embedding jsonb DEFAULT ai.embedding_local(),
    destination jsonb DEFAULT ai.destination_table(), parsing jsonb DEFAULT ai.parsing_auto(),
    chunking jsonb DEFAULT ai.chunking_none(), indexing jsonb DEFAULT ai.indexing_default(),
    formatting jsonb DEFAULT ai.formatting_chunk_value(), scheduling jsonb DEFAULT ai.scheduling_none(),
    processing jsonb DEFAULT ai.processing_default(), source regclass DEFAULT 't', name text DEFAULT NULL,
    queue_schema name DEFAULT NULL, queue_table name DEFAULT NULL, grant_to name[] DEFAULT '{}')
RETURNS int LANGUAGE sql AS $$
    SELECT ai.create_vectorizer(source, name, destination, loading, parsing, embedding, chunking, indexing,
        formatting, scheduling, processing, queue_schema, queue_table, grant_to)
$$;

-- In the order of the checks.
SELECT try(grant_to => '{regress_ai_nobody}', loading => NULL);
SELECT try(embedding => NULL, loading => NULL);
SELECT try(loading => NULL);
SELECT try(source => NULL);
SELECT try(source => 4000000000::regclass);
SELECT try(name => '');
SELECT try(embedding => '{"config_type": "embedding", "implementation": "ollama", "model": "m"}');
SELECT try(embedding => '[]');
SELECT try(embedding => ai.loading_column('x'));
SELECT try(embedding => '{"config_type": "embedding", "implementation": "sentence"}');

-- Tables without a key, and what is not a table.
CREATE TABLE no_key (id int UNIQUE, body text);
SELECT try(source => 'no_key');
CREATE UNIQUE INDEX ON no_key (lower(body));
CREATE UNIQUE INDEX ON no_key (id) WHERE id > 0;
SELECT try(source => 'no_key');
CREATE VIEW a_view AS SELECT * FROM t;
SELECT try(source => 'a_view');
CREATE MATERIALIZED VIEW a_matview AS SELECT * FROM t;
SELECT try(source => 'a_matview');
CREATE FOREIGN DATA WRAPPER regress_ai_fdw;
CREATE SERVER elsewhere FOREIGN DATA WRAPPER regress_ai_fdw;
CREATE FOREIGN TABLE foreign_table (id int, body text) SERVER elsewhere;
SELECT try(source => 'foreign_table');
CREATE TABLE partly_foreign (id int, body text) PARTITION BY RANGE (id);
CREATE FOREIGN TABLE foreign_partition PARTITION OF partly_foreign FOR VALUES FROM (0) TO (10) SERVER elsewhere;
SELECT try(source => 'partly_foreign');
CREATE TEMP TABLE a_temp (id int PRIMARY KEY, body text);
SELECT try(source => 'a_temp');
CREATE SEQUENCE a_sequence;
SELECT try(source => 'a_sequence');
SELECT try(source => 'pg_class');
SELECT try(source => 'ai.vectorizer', loading => ai.loading_column('name'));
DROP FOREIGN DATA WRAPPER regress_ai_fdw CASCADE;

-- Names that are taken, schemas that are not there.
CREATE TABLE ai.taken ();
SELECT try(queue_table => 'taken');
DROP TABLE ai.taken;
CREATE TABLE t_embedding_store ();
SELECT try();
DROP TABLE t_embedding_store;
CREATE VIEW t_embedding AS SELECT 1 AS one;
SELECT try();
DROP VIEW t_embedding;
CREATE TYPE t_embedding AS ENUM ('a type stands in the way as well');
SELECT try();
DROP TYPE t_embedding;
SELECT try(destination => ai.destination_table(target_schema => 'nowhere'));
SELECT try(destination => ai.destination_table(view_schema => 'nowhere'));
SELECT try(destination => ai.destination_table(target_table => 'same', view_name => 'same'));
SELECT try(queue_schema => 'nowhere');

-- Loading and parsing.
SELECT try(loading => '[]');
SELECT try(loading => ai.chunking_none());
SELECT try(loading => '{"config_type": "loading", "implementation": "row"}');
SELECT try(loading => '{"config_type": "loading", "implementation": "column"}');
SELECT try(loading => ai.loading_column('nope'));
SELECT try(loading => ai.loading_column('ctid'));
SELECT try(loading => ai.loading_column('number'));
SELECT try(loading => '{"config_type": "loading", "implementation": "column", "column_name": "body", "retries": -1}');
SELECT try(loading => ai.loading_uri('body'));
SELECT try(parsing => NULL);
SELECT try(parsing => '{"config_type": "parsing", "implementation": "docling"}');
SELECT try(loading => ai.loading_column('bytes'), parsing => ai.parsing_none());

-- The other sections.
SELECT try(chunking => '{"config_type": "chunking", "implementation": "semantic", "chunk_size": 10, "chunk_overlap": 11}');
SELECT try(chunking => '{"config_type": "chunking", "implementation": "semantic", "chunk_size": -1}');
SELECT try(indexing => '{"config_type": "indexing", "implementation": "diskann"}');
SELECT try(indexing => ai.indexing_hnsw(), embedding => ai.embedding_openai('m', 2001));
SELECT try(indexing => ai.indexing_hnsw(opclass => 'halfvec_l2_ops'), embedding => ai.embedding_openai('m', 4001));
SELECT try(formatting => '{"config_type": "formatting", "implementation": "python_template", "template": "$title"}');
SELECT try(formatting => ai.formatting_python_template('$title: $chunk'));
SELECT try(formatting => ai.formatting_python_template('costs $price, in $$currency: $chunk $Body'));
SELECT try(scheduling => '{"config_type": "scheduling", "implementation": "timescaledb"}');
SELECT try(processing => '{"config_type": "processing", "implementation": "default", "batch_size": 0}');
SELECT try(destination => '{"config_type": "destination", "implementation": "file"}');
SELECT try(destination => NULL);

-- Column destinations.
SELECT try(destination => ai.destination_column('emb'), chunking => ai.chunking_sentence());
SELECT try(destination => ai.destination_column('emb'), chunking => ai.chunking_sentence(), formatting => '{}');
SELECT try(destination => ai.destination_column('body'));
SELECT try(destination => ai.destination_column('id'));
SELECT try(destination => ai.destination_column('price'), formatting => ai.formatting_python_template('$price $chunk'));
SELECT try(destination => ai.destination_column('doc'));
ALTER TABLE t ADD COLUMN emb3 vector(3), ADD COLUMN emb_any vector;
SELECT try(destination => ai.destination_column('emb3'));
SELECT try(destination => ai.destination_column('emb_any'));

-- Nothing was made.
SELECT count(*) FROM ai.vectorizer;
SELECT relname FROM pg_class WHERE relname ~ '_vectorizer_q_|_embedding' ORDER BY 1;
SELECT tgname FROM pg_trigger WHERE tgrelid = 't'::regclass;
SELECT attname FROM pg_attribute WHERE attrelid = 't'::regclass AND attnum > 0 ORDER BY attnum;

-- Names of vectorizers are unique.
SELECT try(name => 'the one') > 0 AS made;
SELECT try(name => 'the one');
SELECT try(name => 'the one', destination => ai.destination_table('two'));
CREATE TABLE another (id int PRIMARY KEY, body text);
SELECT ai.create_vectorizer('another', name => 'the one', loading => ai.loading_column('body'),
    embedding => ai.embedding_local(), if_not_exists => true);
RESET search_path;
\set VERBOSITY terse
DROP SCHEMA refused CASCADE;
SELECT count(*) FROM ai.vectorizer;
