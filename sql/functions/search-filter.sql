-- What the filter of a search means in SQL.
--
--   {"category": "news", "year": {">=": 2020, "<": 2024}, "lang": ["en", "de"], "deleted": null}
--
-- All of it holds. Names are looked up and quoted, operators come from a list, values become
-- literals of the column's type: nothing of a filter gets into a statement as it is. Operators are
-- written with their schemas, and so found whatever the search_path is.

-- Those of the type's default operator class for btree: its own, that for all arrays or enums, or
-- that of a type it is the same as, such as text for varchar. Only a superuser can make one.
CREATE OR REPLACE FUNCTION ai._comparison_operators(compared oid) RETURNS text[]
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    family record;
BEGIN
    SELECT c.opcfamily, c.opcintype INTO family
    FROM pg_am m JOIN pg_opclass c ON c.opcmethod = m.oid
    JOIN (SELECT compared AS type, 1 AS preference
          UNION ALL
          SELECT CASE WHEN t.typcategory = 'A' THEN 'anyarray'::regtype ELSE CASE t.typtype
                     WHEN 'e' THEN 'anyenum'::regtype WHEN 'r' THEN 'anyrange'::regtype
                     WHEN 'm' THEN 'anymultirange'::regtype END END, 2
          FROM pg_type t WHERE t.oid = compared
          UNION ALL
          SELECT b.casttarget, CASE WHEN t.typispreferred THEN 3 ELSE 4 END
          FROM pg_cast b JOIN pg_type t ON t.oid = b.casttarget
          WHERE b.castsource = compared AND b.castmethod = 'b' AND b.castcontext = 'i'
    ) same ON same.type = c.opcintype
    WHERE m.amname = 'btree' AND c.opcdefault
    ORDER BY same.preference LIMIT 1;
    RETURN (
        SELECT array_agg(format('OPERATOR(%I.%s)', n.nspname, o.oprname) ORDER BY p.amopstrategy)
        FROM pg_amop p
        JOIN pg_operator o ON o.oid = p.amopopr
        JOIN pg_namespace n ON n.oid = o.oprnamespace
        WHERE p.amopfamily = family.opcfamily AND p.amoplefttype = family.opcintype
          AND p.amoprighttype = family.opcintype AND p.amoppurpose = 's');
END
$$;
COMMENT ON FUNCTION ai._comparison_operators(oid) IS
    'operators <, <=, =, >= and > of a type, as in a statement; null if it has none';

-- Without a modifier: one of a varchar(3) would cut the value to compare with.
CREATE OR REPLACE FUNCTION ai._filter_literal(column_name text, type oid, value jsonb) RETURNS text
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    type_name text := format_type(type, -1);
    element oid;
BEGIN
    IF type = 'jsonb'::regtype THEN
        RETURN format('%L::jsonb', value);
    END IF;
    SELECT t.typelem INTO element FROM pg_type t WHERE t.oid = type AND t.typcategory = 'A';
    IF FOUND AND jsonb_typeof(value) = 'array' THEN
        RETURN format('ARRAY[%s]::%s', (
            SELECT string_agg(CASE e WHEN 'null' THEN 'NULL'
                              ELSE ai._filter_literal(column_name, element, e) END, ', ' ORDER BY n)
            FROM jsonb_array_elements(value) WITH ORDINALITY AS a (e, n)), type_name);
    END IF;
    IF element IS NOT NULL OR jsonb_typeof(value) NOT IN ('string', 'number', 'boolean') THEN
        RAISE EXCEPTION 'column "%" of type % cannot be compared with %', column_name, type_name,
            value
            USING ERRCODE = 'invalid_parameter_value',
                  HINT = CASE WHEN element IS NULL THEN 'Give a string, a number or a boolean.'
                         ELSE 'Give an array, as in {"=": ["a", "b"]} or {"@>": ["a"]}.' END;
    END IF;
    RETURN format('%L::%s', value #>> '{}', type_name);
END
$$;
COMMENT ON FUNCTION ai._filter_literal(text, oid, jsonb) IS
    'a value of a filter as a literal of the type of the column it is compared with';

CREATE OR REPLACE FUNCTION ai._filter_in(column_name text, type oid, equals text, list jsonb) RETURNS text
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    expression text := format('s.%I', column_name);
    literals text;
BEGIN
    IF jsonb_typeof(list) <> 'array' THEN
        RAISE EXCEPTION 'what column "%" is to be in must be an array, not %', column_name, list
            USING ERRCODE = 'invalid_parameter_value';
    END IF;
    SELECT string_agg(ai._filter_literal(column_name, type, e), ', ') INTO literals
    FROM jsonb_array_elements(list) e WHERE e <> 'null';
    RETURN CASE WHEN literals IS NULL THEN 'false'
           ELSE format('%s %s ANY (ARRAY[%s])', expression, equals, literals) END
        || CASE WHEN list @> '[null]' THEN format(' OR %s IS NULL', expression) ELSE '' END;
END
$$;
COMMENT ON FUNCTION ai._filter_in(text, oid, text, jsonb) IS
    'condition for a column whose value is to be in a list';

-- One operator of a filter and its operand.
CREATE OR REPLACE FUNCTION ai._filter_test(column_name text, type oid, operators text[], operator text,
                                operand jsonb) RETURNS text
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    comparisons constant text[] := '{<,<=,=,>=,>}';
    expression text := format('s.%I', column_name);
    category "char" := (SELECT t.typcategory FROM pg_type t WHERE t.oid = type);
BEGIN
    IF operator IN ('<>', '!=', 'not in', 'not like', 'not ilike') THEN
        IF operator IN ('<>', '!=') AND operand = 'null' THEN
            RETURN format('%s IS NOT NULL', expression);
        END IF;
        RETURN format('NOT (%s)', ai._filter_test(column_name, type, operators,
            CASE WHEN operator IN ('<>', '!=') THEN '=' ELSE substr(operator, 5) END, operand));
    ELSIF operator = '=' AND operand = 'null' THEN
        RETURN format('%s IS NULL', expression);
    ELSIF operator = ANY (comparisons) AND operators IS NOT NULL THEN
        RETURN format('%s %s %s', expression,
            operators[array_position(comparisons, operator)],
            ai._filter_literal(column_name, type, operand));
    ELSIF operator = 'in' AND category <> 'A' AND operators IS NOT NULL THEN
        RETURN ai._filter_in(column_name, type, operators[3], operand);
    ELSIF operator IN ('like', 'ilike') AND category = 'S' AND type < 16384 THEN
        RETURN format('%s::text OPERATOR(pg_catalog.%s) %s', expression,
            CASE operator WHEN 'like' THEN '~~' ELSE '~~*' END,
            ai._filter_literal(column_name, 'text'::regtype, operand));
    ELSIF operator IN ('@>', '<@', '&&') AND category = 'A'
          OR operator IN ('@>', '<@') AND type = 'jsonb'::regtype THEN
        RETURN format('%s OPERATOR(pg_catalog.%s) %s', expression, operator,
            ai._filter_literal(column_name, type, operand));
    END IF;
    RAISE EXCEPTION 'filter operator "%" cannot be used for column "%" of type %', operator,
        column_name, format_type(type, -1)
        USING ERRCODE = 'invalid_parameter_value',
              HINT = 'Known are =, <>, <, <=, >, >=, in, not in; for texts like, ilike, not like, '
                     'not ilike; for arrays @>, <@, &&; for jsonb @>, <@.';
END
$$;
COMMENT ON FUNCTION ai._filter_test(text, oid, text[], text, jsonb) IS
    'condition for a column of the source, named s, that an operator of a filter stands for';

CREATE OR REPLACE FUNCTION ai._filter_column(source regclass, column_name text, tests jsonb) RETURNS text
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    type oid;
    operators text[];
BEGIN
    SELECT b.type INTO type FROM pg_attribute a, ai._base_type(a.atttypid, -1) b
    WHERE a.attrelid = source AND a.attname = column_name AND a.attnum > 0 AND NOT a.attisdropped;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'column "%" of the filter does not exist in table %', column_name,
            ai._qualified_name(source)
            USING ERRCODE = 'undefined_column',
                  HINT = format('Known are: %s.', (
                      SELECT string_agg(a.attname, ', ' ORDER BY a.attnum) FROM pg_attribute a
                      WHERE a.attrelid = source AND a.attnum > 0 AND NOT a.attisdropped));
    END IF;
    IF tests = '{}' THEN
        RAISE EXCEPTION 'filter for column "%" has no operator', column_name
            USING ERRCODE = 'invalid_parameter_value',
                  HINT = 'Write it as in {"year": 2020}, {"year": [2020, 2021]} or '
                         '{"year": {">=": 2020}}.';
    END IF;
    operators := ai._comparison_operators(type);
    RETURN (
        SELECT string_agg(format('(%s)', ai._filter_test(column_name, type, operators, o.key,
                                                         o.value)), ' AND ' ORDER BY o.key)
        FROM jsonb_each(CASE jsonb_typeof(tests) WHEN 'object' THEN tests
            WHEN 'array' THEN jsonb_build_object('in', tests)
            ELSE jsonb_build_object('=', tests) END) o);
END
$$;
COMMENT ON FUNCTION ai._filter_column(regclass, text, jsonb) IS
    'condition that a filter has for a column of the source';

-- $and and $or have an array of filters, $not has a filter; all other members are columns.
CREATE OR REPLACE FUNCTION ai._filter_condition(source regclass, filter jsonb) RETURNS text
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    part record;
    parts text[] := '{}';
BEGIN
    IF filter IS NULL THEN
        RETURN NULL;
    END IF;
    IF jsonb_typeof(filter) <> 'object' THEN
        RAISE EXCEPTION 'a filter must be a jsonb object, not %', filter
            USING ERRCODE = 'invalid_parameter_value',
                  HINT = 'Write it as in {"category": "news", "year": {">=": 2020}}.';
    END IF;
    FOR part IN SELECT f.key, f.value FROM jsonb_each(filter) f ORDER BY f.key LOOP
        IF part.key IN ('$and', '$or') THEN
            IF jsonb_typeof(part.value) <> 'array' OR part.value = '[]' THEN
                RAISE EXCEPTION '% in a filter must be an array of filters, not %', part.key,
                    part.value
                    USING ERRCODE = 'invalid_parameter_value';
            END IF;
            parts := parts || (
                SELECT format('(%s)', string_agg(ai._filter_condition(source, e),
                    CASE part.key WHEN '$or' THEN ' OR ' ELSE ' AND ' END))
                FROM jsonb_array_elements(part.value) e);
        ELSIF part.key = '$not' THEN
            parts := parts || format('NOT %s', ai._filter_condition(source, part.value));
        ELSE
            parts := parts || ai._filter_column(source, part.key, part.value);
        END IF;
    END LOOP;
    RETURN coalesce('(' || nullif(array_to_string(parts, ' AND '), '') || ')', 'true');
END
$$;
COMMENT ON FUNCTION ai._filter_condition(regclass, jsonb) IS
    'condition on a source, named s, that a filter stands for; null for none';
