-- Rules that every object of the extension keeps.
\set SHOW_CONTEXT never

-- Each one has a comment, but for the row types that come with tables.
SELECT pg_describe_object(d.classid, d.objid, d.objsubid) AS without_comment
FROM pg_depend d JOIN pg_extension e ON d.refobjid = e.oid AND e.extname = 'ai'
WHERE d.refclassid = 'pg_extension'::regclass AND d.deptype = 'e'
  AND coalesce(obj_description(d.objid, d.classid::regclass::name), '') = ''
  AND NOT EXISTS (SELECT FROM pg_type t WHERE d.classid = 'pg_type'::regclass AND t.oid = d.objid
                  AND (t.typrelid <> 0 OR t.typelem <> 0))
ORDER BY 1;

-- Each SQL or PL function that may read tables has a fixed search_path, unless its names were looked
-- up when it was made, and so has every SECURITY DEFINER function whatever its language.
SELECT p.oid::regprocedure AS without_search_path
FROM pg_proc p
JOIN pg_depend d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e'
JOIN pg_extension e ON d.refobjid = e.oid AND e.extname = 'ai'
JOIN pg_language l ON l.oid = p.prolang
WHERE ((l.lanname NOT IN ('c', 'internal') AND p.prosqlbody IS NULL) OR p.prosecdef)
  AND NOT EXISTS (SELECT FROM unnest(p.proconfig) AS c (setting)
                  WHERE setting = 'search_path=pg_catalog, pg_temp')
ORDER BY 1;

-- Nothing of it is outside of its schema.
SELECT pg_describe_object(d.classid, d.objid, d.objsubid) AS outside
FROM pg_depend d
JOIN pg_extension e ON d.refobjid = e.oid AND e.extname = 'ai'
JOIN pg_proc p ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid
WHERE d.deptype = 'e' AND p.pronamespace <> 'ai'::regnamespace;

-- Dropped, it leaves nothing but its schema, which can be used again.
CREATE DATABASE regress_ai_again;
\c regress_ai_again
CREATE EXTENSION ai CASCADE;
DROP EXTENSION ai;
SELECT count(*) FROM pg_proc WHERE pronamespace = 'ai'::regnamespace;
CREATE EXTENSION ai;
DROP EXTENSION ai;
DROP SCHEMA ai;

-- A schema of that name that belongs to somebody else is not used.
CREATE ROLE regress_ai_squatter;
CREATE SCHEMA ai AUTHORIZATION regress_ai_squatter;
CREATE EXTENSION ai;
-- Nor is one in which pgai still is.
ALTER SCHEMA ai OWNER TO CURRENT_USER;
CREATE TABLE ai.vectorizer (id int);
CREATE EXTENSION ai;
\c ai_regress
DROP DATABASE regress_ai_again;
DROP ROLE regress_ai_squatter;
-- The script does not check bodies when it creates functions.
SET check_function_bodies = on;
DO $$
DECLARE
    f record;
BEGIN
    FOR f IN SELECT p.oid, l.lanname FROM pg_proc p JOIN pg_language l ON l.oid = p.prolang
             WHERE p.pronamespace = 'ai'::regnamespace AND l.lanname IN ('sql', 'plpgsql', 'c') LOOP
        EXECUTE format('SELECT %s(%s)', CASE f.lanname WHEN 'plpgsql' THEN 'plpgsql_validator'
            ELSE format('fmgr_%s_validator', f.lanname) END, f.oid);
    END LOOP;
END
$$;
