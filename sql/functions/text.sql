-- Texts into chunks, and the counting of tokens.

CREATE OR REPLACE FUNCTION ai.chunk(config jsonb, input text, OUT seq bigint, OUT chunk text)
    RETURNS SETOF record
    LANGUAGE c STABLE PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'ai_chunk';
COMMENT ON FUNCTION ai.chunk(jsonb, text) IS
    'the chunks that a vectorizer with this chunking configuration makes of a text';

-- The functions below are nothing but a configuration, in which null means the default. Their bodies are
-- parsed here and need no search_path, so that the planner can put ai.chunk in their place: for short
-- texts, calling them would take several times as long as the work.

-- Where only a size is given, the default overlap is not allowed to be above it.
CREATE OR REPLACE FUNCTION ai._default_overlap(chunk_size integer, chunk_overlap integer) RETURNS integer
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN coalesce(chunk_overlap, CASE WHEN chunk_size < 200 THEN greatest(chunk_size, 0) END);
COMMENT ON FUNCTION ai._default_overlap(integer, integer) IS
    'the overlap, or if none is given a default that fits the chunk size';

CREATE OR REPLACE FUNCTION ai.chunk_text(
    input text, chunk_size integer DEFAULT NULL, chunk_overlap integer DEFAULT NULL,
    separator text DEFAULT NULL, is_separator_regex boolean DEFAULT false,
    keep_separator text DEFAULT NULL, strip_whitespace boolean DEFAULT NULL,
    length text DEFAULT NULL, OUT seq bigint, OUT chunk text)
    RETURNS SETOF record
    LANGUAGE sql STABLE PARALLEL SAFE
    BEGIN ATOMIC
    SELECT c.seq, c.chunk
    FROM ai.chunk(jsonb_build_object(
        'config_type', 'chunking', 'implementation', 'character_text_splitter',
        'chunk_size', chunk_size,
        'chunk_overlap', ai._default_overlap(chunk_size, chunk_overlap),
        'separator', separator, 'is_separator_regex', is_separator_regex,
        'keep_separator', keep_separator, 'strip_whitespace', strip_whitespace,
        'length', length), input) AS c;
    END;
COMMENT ON FUNCTION ai.chunk_text(text, integer, integer, text, boolean, text, boolean, text) IS
    'cuts a text at one separator and merges the pieces into chunks';

CREATE OR REPLACE FUNCTION ai.chunk_text_recursively(
    input text, chunk_size integer DEFAULT NULL, chunk_overlap integer DEFAULT NULL,
    separators text[] DEFAULT NULL, is_separator_regex boolean DEFAULT false,
    keep_separator text DEFAULT NULL, strip_whitespace boolean DEFAULT NULL,
    length text DEFAULT NULL, OUT seq bigint, OUT chunk text)
    RETURNS SETOF record
    LANGUAGE sql STABLE PARALLEL SAFE
    BEGIN ATOMIC
    SELECT c.seq, c.chunk
    FROM ai.chunk(jsonb_build_object(
        'config_type', 'chunking', 'implementation', 'recursive_character_text_splitter',
        'chunk_size', chunk_size,
        'chunk_overlap', ai._default_overlap(chunk_size, chunk_overlap),
        'separators', separators, 'is_separator_regex', is_separator_regex,
        'keep_separator', keep_separator, 'strip_whitespace', strip_whitespace,
        'length', length), input) AS c;
    END;
COMMENT ON FUNCTION ai.chunk_text_recursively(text, integer, integer, text[], boolean, text, boolean, text) IS
    'cuts a text at the first separator of a list that occurs, what is too long at the next ones';

CREATE OR REPLACE FUNCTION ai.chunk_sentences(
    input text, chunk_size integer DEFAULT NULL, chunk_overlap integer DEFAULT NULL,
    min_sentences_per_chunk integer DEFAULT NULL, min_characters_per_sentence integer DEFAULT NULL,
    delimiters text[] DEFAULT NULL, include_delimiter text DEFAULT NULL,
    cjk_terminators boolean DEFAULT NULL, strip_whitespace boolean DEFAULT NULL,
    length text DEFAULT NULL, OUT seq bigint, OUT chunk text)
    RETURNS SETOF record
    LANGUAGE sql STABLE PARALLEL SAFE
    BEGIN ATOMIC
    SELECT c.seq, c.chunk
    FROM ai.chunk(jsonb_build_object(
        'config_type', 'chunking', 'implementation', 'sentence',
        'chunk_size', chunk_size, 'chunk_overlap', chunk_overlap,
        'min_sentences_per_chunk', min_sentences_per_chunk,
        'min_characters_per_sentence', min_characters_per_sentence,
        'delimiters', delimiters, 'include_delimiter', include_delimiter,
        'cjk_terminators', cjk_terminators, 'strip_whitespace', strip_whitespace,
        'length', length), input) AS c;
    END;
COMMENT ON FUNCTION ai.chunk_sentences(text, integer, integer, integer, integer, text[], text, boolean, boolean, text) IS
    'packs whole sentences of a text into chunks';

CREATE OR REPLACE FUNCTION ai.chunk_semantic(
    input text, chunk_size integer DEFAULT NULL, chunk_overlap integer DEFAULT NULL,
    strip_whitespace boolean DEFAULT NULL, length text DEFAULT NULL,
    OUT seq bigint, OUT chunk text)
    RETURNS SETOF record
    LANGUAGE sql STABLE PARALLEL SAFE
    BEGIN ATOMIC
    SELECT c.seq, c.chunk
    FROM ai.chunk(jsonb_build_object(
        'config_type', 'chunking', 'implementation', 'semantic',
        'chunk_size', chunk_size, 'chunk_overlap', chunk_overlap,
        'strip_whitespace', strip_whitespace, 'length', length), input) AS c;
    END;
COMMENT ON FUNCTION ai.chunk_semantic(text, integer, integer, boolean, text) IS
    'cuts a text where it parts most strongly: lines, sentences, clauses, words';

CREATE OR REPLACE FUNCTION ai.count_tokens(input text, encoding text DEFAULT 'cl100k_base') RETURNS integer
    LANGUAGE c STABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'ai_count_tokens';
COMMENT ON FUNCTION ai.count_tokens(text, text) IS
    'number of tokens of a text in an encoding or for a model; an estimate if the token tables are not installed';

CREATE OR REPLACE FUNCTION ai.openai_tokenize(model text, text_input text) RETURNS integer[]
    LANGUAGE c STABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'ai_openai_tokenize';
COMMENT ON FUNCTION ai.openai_tokenize(text, text) IS
    'the tokens of a text, as an OpenAI model or an encoding of that name has them';

CREATE OR REPLACE FUNCTION ai.openai_detokenize(model text, tokens integer[]) RETURNS text
    LANGUAGE c STABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'ai_openai_detokenize';
COMMENT ON FUNCTION ai.openai_detokenize(text, integer[]) IS
    'the text of tokens, as an OpenAI model or an encoding of that name has them';
