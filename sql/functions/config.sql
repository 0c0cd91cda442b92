-- What the sections of a vectorizer's configuration have in common.
--
-- A section is a jsonb object: config_type, implementation, and the arguments that are not null. A
-- helper function builds it and checks it at once; create_vectorizer checks it again, because users
-- may write the jsonb by hand.

CREATE OR REPLACE FUNCTION ai._config_object(arguments jsonb) RETURNS jsonb
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT CASE jsonb_typeof(arguments) WHEN 'object' THEN
        (SELECT coalesce(jsonb_object_agg(a.key, a.value), '{}')
         FROM jsonb_each(arguments) a WHERE a.value <> 'null')
        ELSE arguments END
    $$;
COMMENT ON FUNCTION ai._config_object(jsonb) IS
    'an object without those of its members that are null; what is inside of them stays';

CREATE OR REPLACE FUNCTION ai._config(config_type text, implementation text, arguments jsonb DEFAULT '{}')
    RETURNS jsonb
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT jsonb_build_object('config_type', config_type, 'implementation', implementation)
        || ai._config_object(arguments)
    $$;
COMMENT ON FUNCTION ai._config(text, text, jsonb) IS
    'section of a vectorizer''s configuration; null arguments are left out';

CREATE OR REPLACE FUNCTION ai._check_argument(argument text, value jsonb, rule jsonb) RETURNS void
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    kind text := rule ->> 'type';
    lowest numeric := coalesce((rule ->> 'min')::numeric, -2147483648);
    highest numeric := coalesce((rule ->> 'max')::numeric, 2147483647);
    fits boolean;
BEGIN
    fits := CASE kind
        WHEN 'integer' THEN jsonb_typeof(value) = 'number'
        WHEN 'strings' THEN jsonb_typeof(value) = 'array'
            AND NOT EXISTS (SELECT FROM jsonb_array_elements(value) e
                            WHERE jsonb_typeof(e) <> 'string')
        ELSE jsonb_typeof(value) = kind END;
    IF kind = 'integer' AND fits THEN
        fits := value::numeric = trunc(value::numeric);
    END IF;
    IF NOT fits THEN
        RAISE EXCEPTION '% must be %, not %', argument,
            CASE kind WHEN 'integer' THEN 'an integer' WHEN 'object' THEN 'a jsonb object'
                WHEN 'strings' THEN 'an array of strings' ELSE 'a ' || kind END, value
            USING ERRCODE = 'invalid_parameter_value';
    END IF;
    IF kind = 'integer' AND NOT value::numeric BETWEEN lowest AND highest THEN
        RAISE EXCEPTION '% must be %, not %', argument,
            CASE WHEN highest < 2147483647 THEN format('between %s and %s', lowest, highest)
                WHEN value::numeric < lowest THEN 'at least ' || lowest
                ELSE 'at most ' || highest END, value
            USING ERRCODE = 'invalid_parameter_value';
    END IF;
    IF kind = 'string' AND value #>> '{}' = '' AND NOT coalesce((rule ->> 'empty')::boolean, false)
       OR kind = 'strings' AND jsonb_array_length(value) = 0 THEN
        RAISE EXCEPTION '% must not be empty', argument
            USING ERRCODE = 'invalid_parameter_value';
    END IF;
    IF rule ? 'one_of' AND NOT rule -> 'one_of' ? (value #>> '{}') THEN
        RAISE EXCEPTION '% must not be %', argument, value
            USING ERRCODE = 'invalid_parameter_value',
                  HINT = format('Known are: %s.', (SELECT string_agg(o, ', ')
                                FROM jsonb_array_elements_text(rule -> 'one_of') o));
    END IF;
END
$$;
COMMENT ON FUNCTION ai._check_argument(text, jsonb, jsonb) IS
    'raises an error unless the value of an argument is of the type and in the range of its rule';

-- The rules are an object with an entry for each implementation, whose value has an entry for each
-- argument: type (integer, boolean, string, strings, object) and, where they apply, min, max,
-- one_of, required, empty.
CREATE OR REPLACE FUNCTION ai._check_section(section text, config jsonb, rules jsonb) RETURNS void
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    arguments jsonb;
    argument text;
BEGIN
    IF config IS NULL THEN
        RAISE EXCEPTION '% configuration is required', section
            USING ERRCODE = 'null_value_not_allowed';
    END IF;
    IF jsonb_typeof(config) <> 'object' THEN
        RAISE EXCEPTION '% config is not a jsonb object', section
            USING ERRCODE = 'invalid_parameter_value';
    END IF;
    IF config ->> 'config_type' IS DISTINCT FROM section THEN
        RAISE EXCEPTION 'invalid config_type for % config', section
            USING ERRCODE = 'invalid_parameter_value',
                  DETAIL = format('It is %s.', coalesce(config ->> 'config_type', 'missing')),
                  HINT = format('Use one of the functions whose names begin with ai.%s_.', section);
    END IF;
    IF NOT rules ? coalesce(config ->> 'implementation', '') THEN
        RAISE EXCEPTION 'invalid % implementation', section
            USING ERRCODE = 'invalid_parameter_value',
                  DETAIL = format('It is %s.', coalesce(config ->> 'implementation', 'missing')),
                  HINT = format('Known are: %s.', (SELECT string_agg(r, ', ')
                                                   FROM jsonb_object_keys(rules) r));
    END IF;
    arguments := rules -> (config ->> 'implementation');
    FOR argument IN
        SELECT k FROM jsonb_object_keys(config) k
        WHERE k NOT IN ('config_type', 'implementation') AND NOT arguments ? k
    LOOP
        RAISE EXCEPTION 'unrecognized argument "%" in % config', argument, section
            USING ERRCODE = 'invalid_parameter_value',
                  HINT = coalesce((SELECT format('Known are: %s.', string_agg(a, ', '))
                                   FROM jsonb_object_keys(arguments) a HAVING count(*) > 0),
                                  'It has no arguments.');
    END LOOP;
    FOR argument IN SELECT k FROM jsonb_object_keys(arguments) k LOOP
        IF coalesce(config -> argument, 'null') <> 'null' THEN
            PERFORM ai._check_argument(argument, config -> argument, arguments -> argument);
        ELSIF (arguments -> argument ->> 'required')::boolean THEN
            RAISE EXCEPTION '% argument is required', argument
                USING ERRCODE = 'null_value_not_allowed';
        END IF;
    END LOOP;
END
$$;
COMMENT ON FUNCTION ai._check_section(text, jsonb, jsonb) IS
    'raises an error unless a section of a configuration keeps the rules of its implementation';

CREATE OR REPLACE FUNCTION ai._not_supported(what text, instead text) RETURNS jsonb
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    RAISE EXCEPTION '% is not supported', what
        USING ERRCODE = 'feature_not_supported', HINT = instead;
END
$$;
COMMENT ON FUNCTION ai._not_supported(text, text) IS
    'raises the error of a function that exists only to say what to use in its place';
