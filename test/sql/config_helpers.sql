-- The sections that the configuration helpers build: defaults, arguments, nulls left out.
\pset format unaligned
\pset tuples_only on

SELECT ai.loading_column('contents');
SELECT ai.loading_column('Contents', retries => 0);
SELECT ai.loading_uri('uri', aws_role_arn => 'arn:aws:iam::1:role/x');
SELECT ai.loading_column('contents', NULL);
SELECT ai.parsing_auto(), ai.parsing_none();

SELECT ai.embedding_openai('text-embedding-3-small', 768);
SELECT ai.embedding_openai('text-embedding-3-small', 768, chat_user => 'bob', api_key_name => 'MY_KEY',
                           base_url => 'https://example.com/v1');
SELECT ai.embedding_openai('m', 1, api_key_name => NULL);
SELECT ai.embedding_openai('m', 1, send_dimensions => false);
SELECT ai.embedding_ollama('nomic-embed-text', 768);
SELECT ai.embedding_ollama('nomic-embed-text', 768, base_url => 'http://host:11434',
                           options => '{"num_ctx": 1024, "stop": null}', keep_alive => '10m');
SELECT ai.embedding_voyageai('voyage-3-lite', 512);
SELECT ai.embedding_voyageai('voyage-3-lite', 512, input_type => NULL);
SELECT ai.embedding_cohere('embed-english-v3.0', 1024);
SELECT ai.embedding_local();
SELECT ai.embedding_local('bge-small-en-v1.5', 384);
SELECT ai.embedding_openai('m', 16000) ->> 'dimensions';

SELECT ai.chunking_none();
SELECT ai.chunking_character_text_splitter();
SELECT ai.chunking_character_text_splitter(128, 10, separator => E'\n', is_separator_regex => true);
SELECT ai.chunking_character_text_splitter(10, 10, separator => '');
SELECT ai.chunking_recursive_character_text_splitter();
SELECT ai.chunking_recursive_character_text_splitter(100, 0, separators => ARRAY['x', ''],
                                                     length => 'o200k_base');
SELECT ai.chunking_sentence();
SELECT ai.chunking_sentence(200, 20, delimiters => ARRAY['.'], include_delimiter => 'next',
                            cjk_terminators => true);
SELECT ai.chunking_semantic();
SELECT ai.chunking_semantic(512, 64, length => 'cl100k_base');
SELECT ai.chunking_semantic(512, 64, strip_whitespace => true, length => 'gpt-4o');
SELECT ai.chunking_character_text_splitter(10, 0, '[.;]', true, keep_separator => 'end', strip_whitespace => false);

SELECT ai.formatting_python_template();
SELECT ai.formatting_python_template('$title by ${author}, 5 $$: $chunk');
SELECT ai.formatting_chunk_value();

SELECT ai.indexing_none();
SELECT ai.indexing_default();
SELECT ai.indexing_hnsw();
SELECT ai.indexing_hnsw(10, 'vector_l2_ops', m => 24, ef_construction => 200,
                        create_when_queue_empty => false);
-- Every operator class of pgvector that fits.
SELECT count(ai.indexing_hnsw(opclass => o))
FROM unnest(ARRAY['vector_cosine_ops', 'vector_l2_ops', 'vector_ip_ops', 'vector_l1_ops',
                  'halfvec_cosine_ops', 'halfvec_l2_ops', 'halfvec_ip_ops', 'halfvec_l1_ops',
                  'bit_hamming_ops', 'bit_jaccard_ops']) o;

SELECT ai.processing_default();
SELECT ai.processing_default(2048, 50, priority => -5, max_attempts => 3, reuse => false);
SELECT ai.destination_table();
SELECT ai.destination_table('docs');
SELECT ai.destination_table(target_schema => 'a', target_table => 'b', view_schema => 'c', view_name => 'D e');
SELECT ai.destination_column('embedding');
SELECT ai.scheduling_none(), ai.scheduling_default();
SELECT ai.grant_to(), ai.grant_to('bob', 'Alice');

-- Placeholders of templates.
SELECT ai._template_placeholders('$a ${b} $$c $a_1x-$A {d} ${a}$$$e ${Unit price} ${größe}');
SELECT ai._template_rename('$a ${a} $$a $ab ${ab} $a', 'a', 'new');
SELECT ai._template_rename('$a-$b', 'c', 'new');
SELECT ai._template_rename('$a-$b ${a b}', 'a b', 'the new one');
