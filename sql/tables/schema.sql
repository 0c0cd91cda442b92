-- The extension script begins here. Its parts are joined in the order of sql/order.

\echo Use "CREATE EXTENSION ai CASCADE" to load this file. \quit

-- Functions may come before what their bodies name; test/sql/catalog.sql checks all of them.
SET LOCAL check_function_bodies = off;

-- Whoever owns the schema can replace what is in it. One that was there before must belong to the
-- creator of the extension or to a superuser (so it is after a restore). pgai has the same schema, and
-- those who come from it shall not have to guess why a table exists already.
DO $$
BEGIN
    IF EXISTS (
        SELECT FROM pg_catalog.pg_namespace n JOIN pg_catalog.pg_roles r ON r.oid = n.nspowner
        WHERE n.nspname = 'ai' AND r.rolname <> current_user AND NOT r.rolsuper)
    THEN
        RAISE EXCEPTION 'schema "ai" exists and belongs to another role'
            USING ERRCODE = 'insufficient_privilege',
                  HINT = 'Rename or drop that schema, then run CREATE EXTENSION ai CASCADE again.';
    END IF;
    IF pg_catalog.to_regclass('ai.vectorizer') IS NOT NULL THEN
        RAISE EXCEPTION 'schema "ai" has a table "vectorizer" already'
            USING ERRCODE = 'duplicate_table',
                  DETAIL = 'So it is where pgai was installed, which uses the same schema.',
                  HINT = 'Drop the vectorizers of pgai, then that schema; doc/migrating.md says how, '
                         'and how to keep the embeddings until there are new ones.';
    END IF;
END
$$;

COMMENT ON SCHEMA ai IS 'embeddings kept in step with tables';

-- Everybody may call the functions; each table and each function guards itself.
GRANT USAGE ON SCHEMA ai TO PUBLIC;
