-- How a text is cut into chunks.

-- STABLE: the library knows the rest of the rules, those of regular expressions for one, and reads
-- the tables of token encodings.
CREATE OR REPLACE FUNCTION ai._validate_chunking(config jsonb) RETURNS jsonb
    LANGUAGE plpgsql STABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    size int;
    overlap int;
    whole_pieces boolean := config ->> 'implementation' IN ('sentence', 'semantic');
    sizes constant jsonb := '{
        "chunk_size": {"type": "integer", "min": 1},
        "chunk_overlap": {"type": "integer", "min": 0},
        "strip_whitespace": {"type": "boolean"},
        "length": {"type": "string"}}';
    separators constant jsonb := sizes || '{
        "is_separator_regex": {"type": "boolean"},
        "keep_separator": {"type": "string", "one_of": ["none", "start", "end"]}}';
BEGIN
    PERFORM ai._check_section('chunking', config, jsonb_build_object(
        'none', '{}'::jsonb,
        'character_text_splitter',
            separators || '{"separator": {"type": "string", "empty": true}}',
        'recursive_character_text_splitter', separators || '{"separators": {"type": "strings"}}',
        'sentence', sizes || '{
            "min_sentences_per_chunk": {"type": "integer", "min": 1},
            "min_characters_per_sentence": {"type": "integer", "min": 1},
            "delimiters": {"type": "strings"},
            "include_delimiter": {"type": "string", "one_of": ["previous", "next"]},
            "cjk_terminators": {"type": "boolean"}}',
        'semantic', sizes));
    size := config ->> 'chunk_size';
    overlap := config ->> 'chunk_overlap';
    IF overlap > size OR overlap = size AND whole_pieces THEN
        RAISE EXCEPTION 'chunk_overlap (%) must % chunk_size (%)', overlap,
            CASE WHEN whole_pieces THEN 'be smaller than' ELSE 'not be larger than' END, size
            USING ERRCODE = 'invalid_parameter_value',
                  HINT = 'Give both chunk_size and chunk_overlap.';
    END IF;
    PERFORM ai.chunk(config, '');
    RETURN config;
END
$$;
COMMENT ON FUNCTION ai._validate_chunking(jsonb) IS
    'the given chunking configuration, if it is a valid one';

CREATE OR REPLACE FUNCTION ai.chunking_none() RETURNS jsonb
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $$SELECT ai._config('chunking', 'none')$$;
COMMENT ON FUNCTION ai.chunking_none() IS 'vectorizer configuration: a text is one chunk';

CREATE OR REPLACE FUNCTION ai.chunking_character_text_splitter(chunk_size int4 DEFAULT 800,
        chunk_overlap int4 DEFAULT 400, separator text DEFAULT E'\n\n',
        is_separator_regex boolean DEFAULT false, keep_separator text DEFAULT NULL,
        strip_whitespace boolean DEFAULT NULL, length text DEFAULT NULL) RETURNS jsonb
    LANGUAGE sql STABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT ai._validate_chunking(ai._config('chunking', 'character_text_splitter',
        jsonb_build_object('chunk_size', chunk_size, 'chunk_overlap', chunk_overlap,
            'separator', separator, 'is_separator_regex', is_separator_regex,
            'keep_separator', keep_separator, 'strip_whitespace', strip_whitespace,
            'length', length)))
    $$;
COMMENT ON FUNCTION
    ai.chunking_character_text_splitter(int4, int4, text, boolean, text, boolean, text) IS
    'vectorizer configuration: chunks are cut at one separator';

CREATE OR REPLACE FUNCTION ai.chunking_recursive_character_text_splitter(chunk_size int4 DEFAULT 800,
        chunk_overlap int4 DEFAULT 400,
        separators text[] DEFAULT ARRAY[E'\n\n', E'\n', '.', '?', '!', ' ', ''],
        is_separator_regex boolean DEFAULT false, keep_separator text DEFAULT NULL,
        strip_whitespace boolean DEFAULT NULL, length text DEFAULT NULL) RETURNS jsonb
    LANGUAGE sql STABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT ai._validate_chunking(ai._config('chunking', 'recursive_character_text_splitter',
        jsonb_build_object('chunk_size', chunk_size, 'chunk_overlap', chunk_overlap,
            'separators', separators, 'is_separator_regex', is_separator_regex,
            'keep_separator', keep_separator, 'strip_whitespace', strip_whitespace,
            'length', length)))
    $$;
COMMENT ON FUNCTION
    ai.chunking_recursive_character_text_splitter(int4, int4, text[], boolean, text, boolean,
                                                  text) IS
    'vectorizer configuration: chunks are cut at the first of several separators that helps';

CREATE OR REPLACE FUNCTION ai.chunking_sentence(chunk_size int4 DEFAULT 800, chunk_overlap int4 DEFAULT 0,
        min_sentences_per_chunk int4 DEFAULT 1, min_characters_per_sentence int4 DEFAULT 12,
        delimiters text[] DEFAULT ARRAY['. ', '! ', '? ', E'\n'],
        include_delimiter text DEFAULT 'previous', cjk_terminators boolean DEFAULT false,
        strip_whitespace boolean DEFAULT NULL, length text DEFAULT NULL) RETURNS jsonb
    LANGUAGE sql STABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT ai._validate_chunking(ai._config('chunking', 'sentence',
        jsonb_build_object('chunk_size', chunk_size, 'chunk_overlap', chunk_overlap,
            'min_sentences_per_chunk', min_sentences_per_chunk,
            'min_characters_per_sentence', min_characters_per_sentence,
            'delimiters', delimiters, 'include_delimiter', include_delimiter,
            'cjk_terminators', cjk_terminators, 'strip_whitespace', strip_whitespace,
            'length', length)))
    $$;
COMMENT ON FUNCTION
    ai.chunking_sentence(int4, int4, int4, int4, text[], text, boolean, boolean, text) IS
    'vectorizer configuration: chunks are whole sentences';

CREATE OR REPLACE FUNCTION ai.chunking_semantic(chunk_size int4 DEFAULT 800, chunk_overlap int4 DEFAULT 0,
                                     strip_whitespace boolean DEFAULT NULL,
                                     length text DEFAULT NULL) RETURNS jsonb
    LANGUAGE sql STABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT ai._validate_chunking(ai._config('chunking', 'semantic',
        jsonb_build_object('chunk_size', chunk_size, 'chunk_overlap', chunk_overlap,
                           'strip_whitespace', strip_whitespace, 'length', length)))
    $$;
COMMENT ON FUNCTION ai.chunking_semantic(int4, int4, boolean, text) IS
    'vectorizer configuration: chunks are cut where the text parts most strongly';
