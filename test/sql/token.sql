-- Tokens. The tables are installed for the tests.
\set SHOW_CONTEXT never
SELECT value FROM ai.status() WHERE item = 'token tables';

SELECT ai.count_tokens('tiktoken is great!');
SELECT ai.count_tokens('tiktoken is great!', 'o200k_base');
SELECT ai.count_tokens('tiktoken is great!', 'text-embedding-3-small');
SELECT ai.count_tokens('');
SELECT ai.count_tokens(NULL);
SELECT ai.openai_tokenize('text-embedding-3-small', 'tiktoken is great!');
SELECT ai.openai_tokenize('gpt-4o', 'Grüße, 🐘!');
SELECT ai.openai_detokenize('gpt-4o', ai.openai_tokenize('gpt-4o', 'Grüße, 🐘!'));
SELECT ai.openai_tokenize('cl100k_base', '');
SELECT ai.openai_detokenize('cl100k_base', '{}');

-- Chunks measured in tokens.
SELECT seq, ai.count_tokens(chunk) <= 20 AS fits
FROM ai.chunk_text_recursively(repeat('Elephants remember. ', 30), 20, 0, length => 'cl100k_base');

-- Bad input.
SELECT ai.count_tokens('text', 'no-such-model');
SELECT ai.openai_tokenize('no-such-model', 'text');
SELECT ai.openai_detokenize('cl100k_base', ARRAY[1, NULL]);
SELECT ai.openai_detokenize('cl100k_base', ARRAY[-1]);
SELECT ai.openai_detokenize('cl100k_base', ARRAY[999999999]);
SELECT ai.openai_detokenize('cl100k_base', ARRAY[188]); -- the token of U+0000
