-- Texts into chunks.
\set SHOW_CONTEXT never

-- The documented example of pgai: a leaf that no separator is left for keeps its spaces.
SELECT * FROM ai.chunk_text($$if two witches watch two watches, which witch watches which watch?$$,
    separator => ' ', chunk_size => 10, chunk_overlap => 0);
SELECT * FROM ai.chunk_text_recursively($$if two witches watch two watches, which witch watches which watch?$$,
    separators => ARRAY[' ', '.', '?'], chunk_size => 2, chunk_overlap => 0);

-- Defaults: 4000 and 200; a small size without an overlap gets one that fits.
SELECT count(*), max(length(chunk)) FROM ai.chunk_text_recursively(repeat('word ', 2000));
SELECT count(*) > 1 AS clamped FROM ai.chunk_text_recursively(repeat('word ', 100), chunk_size => 50);

-- Options.
SELECT chunk FROM ai.chunk_text('a--b--c', 3, 0, '--', keep_separator => 'start');
SELECT chunk FROM ai.chunk_text('a--b--c', 3, 0, '--', keep_separator => 'end');
SELECT '<' || chunk || '>' AS chunk FROM ai.chunk_text('a  b', 2, 0, '', strip_whitespace => false);
SELECT chunk FROM ai.chunk_text('One here. Two here! Three', 12, 0, '(?<=[.!?])\s+', is_separator_regex => true);
SELECT * FROM ai.chunk_sentences('The first sentence. The second one! And a third?', chunk_size => 20);
SELECT * FROM ai.chunk_semantic(E'A heading\nThen a sentence; with a clause, and another.', chunk_size => 20);

-- A worker's way: by configuration.
SELECT * FROM ai.chunk('{"config_type": "chunking", "implementation": "none"}', 'whole text');
SELECT * FROM ai.chunk('{"config_type": "chunking", "implementation": "none"}', '');
SELECT count(*) FROM ai.chunk(
    '{"config_type": "chunking", "implementation": "recursive_character_text_splitter",
      "chunk_size": 100, "chunk_overlap": 10}', repeat('word ', 100));

-- Null gives no rows.
SELECT count(*) FROM ai.chunk_text(NULL);
SELECT count(*) FROM ai.chunk_text_recursively(NULL);
SELECT count(*) FROM ai.chunk_sentences(NULL);
SELECT count(*) FROM ai.chunk_semantic(NULL);
SELECT count(*) FROM ai.chunk(NULL, 'text');

-- Composable: lateral, in a CTE, with a limit.
SELECT t.id, c.seq, c.chunk
FROM (VALUES (1, 'aa bb cc'), (2, 'dd ee')) AS t (id, body), ai.chunk_text(t.body, 5, 0, ' ') AS c
ORDER BY 1, 2;

-- No call in between: short texts are chunked as fast as the splitters are.
EXPLAIN (COSTS OFF) SELECT * FROM ai.chunk_text_recursively('text', 10);

-- Bad input.
SELECT ai.chunk_text('text', chunk_size => 0);
SELECT ai.chunk_text('text', chunk_size => -1);
SELECT ai.chunk_text('text', chunk_size => 10, chunk_overlap => -1);
SELECT ai.chunk_text('text', chunk_size => 10, chunk_overlap => 11);
SELECT ai.chunk_text('text', keep_separator => 'both');
SELECT ai.chunk_text('text', separator => '(', is_separator_regex => true);
SELECT ai.chunk_text('text', length => 'no-such-model');
SELECT ai.chunk_text_recursively('text', separators => ARRAY['a', NULL]);
SELECT ai.chunk_sentences('text', include_delimiter => 'nowhere');
SELECT ai.chunk_sentences('text', delimiters => '{}');
SELECT ai.chunk('{"config_type": "loading"}', 'text');
SELECT ai.chunk('{"config_type": "chunking", "implementation": "magic"}', 'text');
SELECT ai.chunk('{"config_type": "chunking", "implementation": "semantic", "chunk_size": "ten"}', 'text');
SELECT ai.chunk('[]', 'text');

-- A pattern that explodes ends with an error, not with the server.
SELECT count(*) FROM ai.chunk_text(repeat('a', 40) || 'b', separator => '(a+)+$', is_separator_regex => true);
