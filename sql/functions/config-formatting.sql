-- How a chunk and the columns of its row become the text that is embedded.

-- Templates are those of Python's string.Template: $name, ${name}, and $$ for a dollar sign.
-- Between braces any name will do.
CREATE OR REPLACE FUNCTION ai._template_placeholders(template text) RETURNS text[]
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $body$
DECLARE
    match text[];
    placeholder text;
    found_names text[] := '{}';
BEGIN
    FOR match IN
        SELECT regexp_matches(template,
            '[$](?:([$])|([_a-zA-Z][_a-zA-Z0-9]*)|[{]([^}]+)[}]|())', 'g')
    LOOP
        placeholder := coalesce(match[2], match[3]);
        IF match[1] IS NULL AND placeholder IS NULL THEN
            RAISE EXCEPTION 'invalid placeholder in template'
                USING ERRCODE = 'invalid_parameter_value',
                      DETAIL = 'A "$" is followed neither by a name nor by "{name}".',
                      HINT = 'Write "$$" for a dollar sign.';
        END IF;
        IF placeholder IS NOT NULL AND placeholder <> ALL (found_names) THEN
            found_names := found_names || placeholder;
        END IF;
    END LOOP;
    RETURN found_names;
END
$body$;
COMMENT ON FUNCTION ai._template_placeholders(text) IS
    'names of the placeholders in a template, in the order of their first appearance';

CREATE OR REPLACE FUNCTION ai._template_rename(template text, old_name text, new_name text) RETURNS text
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $body$
DECLARE
    piece text;
    result text := '';
BEGIN
    -- Cuts after a dollar sign and what belongs to it, so that "$$name" is not taken for "$name".
    FOR piece IN
        SELECT m[1] FROM regexp_matches(template,
            '((?:[$][$]|[$][_a-zA-Z][_a-zA-Z0-9]*|[$][{][^}]+[}]|[^$]+))', 'g') m
    LOOP
        result := result || CASE WHEN piece IN ('$' || old_name, '${' || old_name || '}')
                                 THEN '${' || new_name || '}' ELSE piece END;
    END LOOP;
    RETURN result;
END
$body$;
COMMENT ON FUNCTION ai._template_rename(text, text, text) IS
    'a template with the placeholders of one name replaced by those of another';

CREATE OR REPLACE FUNCTION ai._validate_formatting(config jsonb) RETURNS jsonb
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $body$
BEGIN
    PERFORM ai._check_section('formatting', config, '{
        "python_template": {"template": {"type": "string", "required": true, "empty": true}},
        "chunk_value": {}}');
    IF config ->> 'implementation' = 'python_template'
       AND 'chunk' <> ALL (ai._template_placeholders(config ->> 'template')) THEN
        RAISE EXCEPTION 'template must contain $chunk placeholder'
            USING ERRCODE = 'invalid_parameter_value';
    END IF;
    RETURN config;
END
$body$;
COMMENT ON FUNCTION ai._validate_formatting(jsonb) IS
    'the given formatting configuration, if it is a valid one';

CREATE OR REPLACE FUNCTION ai.formatting_python_template(template text DEFAULT '$chunk') RETURNS jsonb
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $body$
    SELECT ai._validate_formatting(ai._config('formatting', 'python_template',
        jsonb_build_object('template', template)))
    $body$;
COMMENT ON FUNCTION ai.formatting_python_template(text) IS
    'vectorizer configuration: $chunk and $column are replaced in a template';

CREATE OR REPLACE FUNCTION ai.formatting_chunk_value() RETURNS jsonb
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $body$SELECT ai._config('formatting', 'chunk_value')$body$;
COMMENT ON FUNCTION ai.formatting_chunk_value() IS
    'vectorizer configuration: the chunk is embedded as it is';

CREATE OR REPLACE FUNCTION ai._formatting_columns(formatting jsonb) RETURNS text[]
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $body$
    SELECT array_remove(coalesce(ai._template_placeholders(formatting ->> 'template'), '{}'),
                        'chunk')
    $body$;
COMMENT ON FUNCTION ai._formatting_columns(jsonb) IS
    'columns of the source table that a formatting configuration uses';

-- What only the source table can tell about formatting.
CREATE OR REPLACE FUNCTION ai._validate_formatting_source(source regclass, formatting jsonb) RETURNS void
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $body$
DECLARE
    placeholder text;
BEGIN
    FOREACH placeholder IN ARRAY ai._formatting_columns(formatting) LOOP
        IF NOT EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = source
                       AND a.attname = placeholder AND a.attnum > 0 AND NOT a.attisdropped) THEN
            RAISE EXCEPTION 'template refers to column "%", which the source table does not have',
                placeholder
                USING ERRCODE = 'undefined_column', HINT = 'Write "$$" for a dollar sign.';
        END IF;
    END LOOP;
END
$body$;
COMMENT ON FUNCTION ai._validate_formatting_source(regclass, jsonb) IS
    'raises an error unless the source table has every column that the template uses';
