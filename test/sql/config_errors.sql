-- What the configuration helpers refuse, each at once.
\set SHOW_CONTEXT never
\set VERBOSITY default

-- loading
SELECT ai.loading_column(NULL);
SELECT ai.loading_column('');
SELECT ai.loading_column('contents', retries => -1);
-- embedding
SELECT ai.embedding_openai('m', NULL);
SELECT ai.embedding_openai(NULL, 3);
SELECT ai.embedding_openai('', 3);
SELECT ai.embedding_openai('m', 0);
SELECT ai.embedding_ollama('m', -1);
SELECT ai.embedding_ollama('m', 16001);
SELECT ai.embedding_ollama('m', 3, options => '[1]');
SELECT ai.embedding_ollama('m', 3, base_url => 'ftp://host');
SELECT ai.embedding_ollama('m', 3, base_url => 'http:///path');
SELECT ai.embedding_ollama('m', 3, base_url => E'http://host\nX: y');
SELECT ai.embedding_openai('m', 3, base_url => 'https://user:secret@host/v1');
SELECT ai.embedding_openai('m', 3, base_url => 'https://host/v1?key=secret');
SELECT ai.embedding_openai('m', 3, api_key_name => 'sk-abcdef');
SELECT ai.embedding_openai('m', 3, api_key_name => 'not a name');
SELECT ai.embedding_voyageai('m', 3, input_type => 'text');
SELECT ai.embedding_cohere('m', 3, input_type => 'document');
SELECT ai.embedding_local(dimensions => 768);
-- chunking
SELECT ai.chunking_character_text_splitter(0);
SELECT ai.chunking_character_text_splitter(-10, 0);
SELECT ai.chunking_character_text_splitter(10, -1);
SELECT ai.chunking_character_text_splitter(10, 11);
SELECT ai.chunking_recursive_character_text_splitter(100);
SELECT ai.chunking_recursive_character_text_splitter(100, 0, separators => '{}');
SELECT ai.chunking_recursive_character_text_splitter(100, 0, separators => ARRAY['a', NULL]);
SELECT ai.chunking_recursive_character_text_splitter(100, 0, length => 'words');
SELECT ai.chunking_recursive_character_text_splitter(100, 0, keep_separator => 'both');
SELECT ai.chunking_character_text_splitter(100, 0, '(', is_separator_regex => true);
SELECT ai.chunking_sentence(10, 10);
SELECT ai.chunking_sentence(min_sentences_per_chunk => 0);
SELECT ai.chunking_sentence(delimiters => ARRAY['.', '']);
SELECT ai.chunking_sentence(include_delimiter => 'both');
SELECT ai.chunking_semantic(10, 20);
-- formatting
SELECT ai.formatting_python_template('$title');
SELECT ai.formatting_python_template('$$chunk');
SELECT ai.formatting_python_template('');
SELECT ai.formatting_python_template(NULL);
SELECT ai.formatting_python_template('$chunk costs 5$');
SELECT ai.formatting_python_template('$chunk ${a b');
SELECT ai.formatting_python_template('$chunk ${}');
SELECT ai.formatting_python_template('$chunk $1');
-- indexing
SELECT ai.indexing_hnsw(min_rows => -1);
SELECT ai.indexing_hnsw(opclass => 'text_ops');
SELECT ai.indexing_hnsw(opclass => 'sparsevec_l2_ops');
SELECT ai.indexing_hnsw(m => 1);
SELECT ai.indexing_hnsw(m => 101);
SELECT ai.indexing_hnsw(ef_construction => 3);
SELECT ai.indexing_hnsw(m => 40);
SELECT ai.indexing_hnsw(m => 40, ef_construction => 79);
-- processing
SELECT ai.processing_default(0);
SELECT ai.processing_default(2049);
SELECT ai.processing_default(concurrency => 0);
SELECT ai.processing_default(concurrency => 51);
SELECT ai.processing_default(priority => 40000);
SELECT ai.processing_default(max_attempts => 0);
-- destination
SELECT ai.destination_table('');
SELECT ai.destination_column(NULL);
SELECT ai.destination_column('');

-- What is there only to say what to use instead.
SELECT ai.embedding_litellm('m', 3);
SELECT ai.indexing_diskann();
SELECT ai.scheduling_timescaledb();
SELECT ai.parsing_pymupdf();
SELECT ai.parsing_docling();

-- Sections written by hand keep the same rules.
SELECT ai._validate_chunking(NULL);
SELECT ai._validate_chunking('[]');
SELECT ai._validate_chunking('"none"');
SELECT ai._validate_chunking('{}');
SELECT ai._validate_chunking(ai.loading_column('x'));
SELECT ai._validate_chunking('{"config_type": "chunking"}');
SELECT ai._validate_chunking('{"config_type": "chunking", "implementation": "words"}');
SELECT ai._validate_chunking('{"config_type": "chunking", "implementation": "none", "chunk_size": 1}');
SELECT ai._validate_chunking('{"config_type": "chunking", "implementation": "semantic", "chunk_sise": 1}');
SELECT ai._validate_chunking('{"config_type": "chunking", "implementation": "semantic", "chunk_size": "big"}');
SELECT ai._validate_chunking('{"config_type": "chunking", "implementation": "semantic", "chunk_size": 1.5}');
SELECT ai._validate_chunking('{"config_type": "chunking", "implementation": "semantic", "chunk_size": 1e30}');
SELECT ai._validate_chunking('{"config_type": "chunking", "implementation": "semantic", "chunk_size": null}');
SELECT ai._validate_embedding('{"config_type": "embedding", "implementation": "ollama", "model": "m"}');
SELECT ai._validate_embedding('{"config_type": "embedding", "implementation": "ollama", "model": 5, "dimensions": 3}');
SELECT ai._validate_processing('{"config_type": "processing", "implementation": "default", "reuse": "yes"}');
