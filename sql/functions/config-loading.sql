-- Where a vectorizer's text comes from (loading) and how it is read (parsing).

CREATE OR REPLACE FUNCTION ai._validate_loading(config jsonb) RETURNS jsonb
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    PERFORM ai._check_section('loading', config, '{
        "column": {"column_name": {"type": "string", "required": true},
                   "retries": {"type": "integer", "min": 0}},
        "uri": {"column_name": {"type": "string", "required": true},
                "retries": {"type": "integer", "min": 0},
                "aws_role_arn": {"type": "string"}}}');
    RETURN config;
END
$$;
COMMENT ON FUNCTION ai._validate_loading(jsonb) IS
    'the given loading configuration, if it is a valid one';

CREATE OR REPLACE FUNCTION ai.loading_column(column_name name, retries int4 DEFAULT 6) RETURNS jsonb
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT ai._validate_loading(ai._config('loading', 'column',
        jsonb_build_object('column_name', column_name, 'retries', retries)))
    $$;
COMMENT ON FUNCTION ai.loading_column(name, int4) IS
    'vectorizer configuration: the text is in a column of the source table';

CREATE OR REPLACE FUNCTION ai.loading_uri(column_name name, retries int4 DEFAULT 6,
                               aws_role_arn text DEFAULT NULL) RETURNS jsonb
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT ai._validate_loading(ai._config('loading', 'uri',
        jsonb_build_object('column_name', column_name, 'retries', retries,
                           'aws_role_arn', aws_role_arn)))
    $$;
COMMENT ON FUNCTION ai.loading_uri(name, int4, text) IS
    'vectorizer configuration: the text is behind a URI in a column; create_vectorizer refuses it';

CREATE OR REPLACE FUNCTION ai._validate_parsing(config jsonb) RETURNS jsonb
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    PERFORM ai._check_section('parsing', config, '{"none": {}, "auto": {}}');
    RETURN config;
END
$$;
COMMENT ON FUNCTION ai._validate_parsing(jsonb) IS
    'the given parsing configuration, if it is a valid one';

CREATE OR REPLACE FUNCTION ai.parsing_auto() RETURNS jsonb
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $$SELECT ai._config('parsing', 'auto')$$;
COMMENT ON FUNCTION ai.parsing_auto() IS
    'vectorizer configuration: text is taken as it is, bytes as UTF-8 text';

CREATE OR REPLACE FUNCTION ai.parsing_none() RETURNS jsonb
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $$SELECT ai._config('parsing', 'none')$$;
COMMENT ON FUNCTION ai.parsing_none() IS 'vectorizer configuration: text is taken as it is';

CREATE OR REPLACE FUNCTION ai.parsing_pymupdf() RETURNS jsonb
    LANGUAGE sql
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT ai._not_supported('parsing with PyMuPDF',
        'Store the text of the documents in a column, and use ai.parsing_auto().')
    $$;
COMMENT ON FUNCTION ai.parsing_pymupdf() IS 'not supported: raises an error that says what to do';

CREATE OR REPLACE FUNCTION ai.parsing_docling() RETURNS jsonb
    LANGUAGE sql
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT ai._not_supported('parsing with Docling',
        'Store the text of the documents in a column, and use ai.parsing_auto().')
    $$;
COMMENT ON FUNCTION ai.parsing_docling() IS 'not supported: raises an error that says what to do';

-- What only the source table can tell about loading and parsing.
CREATE OR REPLACE FUNCTION ai._validate_loading_source(source regclass, loading jsonb, parsing jsonb)
    RETURNS void
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    column_name name := loading ->> 'column_name';
    type oid;
BEGIN
    IF loading ->> 'implementation' = 'uri' THEN
        PERFORM ai._not_supported('loading from a URI',
            'Store the text itself in a column of the source table, and use ai.loading_column.');
    END IF;
    SELECT a.atttypid INTO type FROM pg_attribute a
    WHERE a.attrelid = source AND a.attname = column_name AND a.attnum > 0 AND NOT a.attisdropped;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'loading column_name "%" does not exist in the source table', column_name
            USING ERRCODE = 'undefined_column';
    END IF;
    SELECT b.type INTO type FROM ai._base_type(type, -1) b;
    IF type = 'bytea'::regtype THEN
        IF parsing ->> 'implementation' = 'none' THEN
            RAISE EXCEPTION 'cannot use parsing_none with bytea columns'
                USING ERRCODE = 'invalid_parameter_value',
                      HINT = 'Use ai.parsing_auto(), which takes the bytes as UTF-8 text.';
        END IF;
    ELSIF (SELECT t.typcategory FROM pg_type t WHERE t.oid = type) <> 'S' THEN
        RAISE EXCEPTION 'unsupported data type for loading column "%": %', column_name,
            format_type(type, NULL)
            USING ERRCODE = 'datatype_mismatch',
                  HINT = 'It must be text, varchar, char or bytea. '
                         'A generated column can convert another type to text.';
    END IF;
END
$$;
COMMENT ON FUNCTION ai._validate_loading_source(regclass, jsonb, jsonb) IS
    'raises an error unless the loaded column is in the source table and can be read as text';
