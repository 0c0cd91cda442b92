-- Finding, dropping and switching vectorizers.

CREATE OR REPLACE FUNCTION ai._vectorizer_get(vectorizer_id int4) RETURNS ai.vectorizer
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    v ai.vectorizer;
BEGIN
    SELECT * INTO v FROM ai.vectorizer x WHERE x.id = vectorizer_id;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'vectorizer with id % does not exist', coalesce(vectorizer_id::text, 'null')
            USING ERRCODE = 'undefined_object',
                  HINT = 'The view ai.vectorizer_status lists the vectorizers.';
    END IF;
    RETURN v;
END
$$;
COMMENT ON FUNCTION ai._vectorizer_get(int4) IS
    'vectorizer of an id; raises an error if there is none';

CREATE OR REPLACE FUNCTION ai._vectorizer_get(name text) RETURNS ai.vectorizer
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    v ai.vectorizer;
BEGIN
    SELECT * INTO v FROM ai.vectorizer x WHERE x.name = _vectorizer_get.name;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'vectorizer "%" does not exist', coalesce(_vectorizer_get.name, 'null')
            USING ERRCODE = 'undefined_object',
                  HINT = 'The view ai.vectorizer_status lists the vectorizers.';
    END IF;
    RETURN v;
END
$$;
COMMENT ON FUNCTION ai._vectorizer_get(text) IS
    'vectorizer of a name; raises an error if there is none';

CREATE OR REPLACE FUNCTION ai._vectorizer_require_owner(caller oid, v ai.vectorizer, action text) RETURNS void
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    IF NOT ai._is_owner(caller, v.source) THEN
        RAISE EXCEPTION 'only a superuser or the owner of the source table may % vectorizer "%"',
            action, v.name
            USING ERRCODE = 'insufficient_privilege';
    END IF;
END
$$;
COMMENT ON FUNCTION ai._vectorizer_require_owner(oid, ai.vectorizer, text) IS
    'raises an error unless the caller owns a vectorizer';

-- By what they do, not by their names, which the owner of the table can change. PostgreSQL makes
-- copies of row triggers on partitions.
CREATE OR REPLACE FUNCTION ai._vectorizer_triggers(v ai.vectorizer, copies boolean DEFAULT false,
        OUT relation regclass, OUT trigger_name name, OUT kind text, OUT enabled "char")
    RETURNS SETOF record
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
    WITH mine AS (
        SELECT convert_to(n.nspname, getdatabaseencoding()) || zero
               || convert_to(q.relname, getdatabaseencoding()) || zero AS enqueue_arguments,
            ai._id_argument(v.id) AS id_argument
        FROM pg_class q JOIN pg_namespace n ON n.oid = q.relnamespace, decode('00', 'hex') zero
        WHERE q.oid = v.queue
    )
    SELECT t.tgrelid::regclass, t.tgname, p.proname, t.tgenabled
    FROM mine CROSS JOIN pg_trigger t
    JOIN pg_proc p ON p.oid = t.tgfoid AND p.pronamespace = 'ai'::regnamespace
    WHERE (copies OR t.tgparentid = 0)
      AND (t.tgrelid = v.source OR t.tgrelid IN (SELECT m FROM ai._vectorizer_marked(v) m))
      AND (p.proname = '_vectorizer_enqueue'
               AND substring(t.tgargs FROM 1 FOR length(enqueue_arguments)) = enqueue_arguments
           OR p.proname IN ('_vectorizer_flush', '_vectorizer_truncate') AND t.tgargs = id_argument)
    $$;
COMMENT ON FUNCTION ai._vectorizer_triggers(ai.vectorizer, boolean) IS
    'triggers of a vectorizer, on its source and on the partitions of it';

CREATE OR REPLACE FUNCTION ai._drop_if_exists(kind text, relation regclass) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    IF EXISTS (SELECT FROM pg_class c WHERE c.oid = relation) THEN
        EXECUTE format('DROP %s %s', kind, ai._qualified_name(relation));
    END IF;
END
$$;
COMMENT ON FUNCTION ai._drop_if_exists(text, regclass) IS 'drops a table or view, if it is there';

-- The order of locks is that of every transaction that touches both: the source, then the queue.
CREATE OR REPLACE FUNCTION ai._vectorizer_drop(v ai.vectorizer) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    t record;
BEGIN
    -- Gone from the catalog first: what is dropped from now on is no surprise to event triggers.
    DELETE FROM ai.vectorizer x WHERE x.id = v.id;
    FOR t IN SELECT * FROM ai._vectorizer_triggers(v) LOOP
        EXECUTE format('DROP TRIGGER %I ON %s', t.trigger_name, ai._qualified_name(t.relation));
    END LOOP;
    PERFORM ai._vectorizer_flush_pending();
    PERFORM ai._drop_if_exists('TABLE', v.queue);
    PERFORM ai._drop_if_exists('TABLE', v.work);
    PERFORM ai._drop_if_exists('TABLE', v.failed);
END
$$;
COMMENT ON FUNCTION ai._vectorizer_drop(ai.vectorizer) IS
    'removes a vectorizer, its triggers and its queue; the embeddings stay';

CREATE OR REPLACE FUNCTION ai._vectorizer_drop_target(caller oid, v ai.vectorizer) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    relation regclass;
    embedding_column name := v.config #>> '{destination,embedding_column}';
BEGIN
    FOREACH relation IN ARRAY array_remove(ARRAY[v.view, v.target], NULL) LOOP
        IF NOT ai._is_owner(caller, relation) THEN
            RAISE EXCEPTION 'must be owner of %', ai._qualified_name(relation)
                USING ERRCODE = 'insufficient_privilege',
                      HINT = 'Without drop_all the target table and the view are kept.';
        END IF;
    END LOOP;
    PERFORM ai._drop_if_exists('VIEW', v.view);
    PERFORM ai._drop_if_exists('TABLE', v.target);
    IF embedding_column IS NOT NULL THEN
        PERFORM ai._run_as(ai._vectorizer_owner(v),
            format('ALTER TABLE %s DROP COLUMN IF EXISTS %I', ai._qualified_name(v.source),
                   embedding_column));
    END IF;
END
$$;
COMMENT ON FUNCTION ai._vectorizer_drop_target(oid, ai.vectorizer) IS
    'removes the embeddings of a vectorizer: target table and view, or the embedding column';

CREATE OR REPLACE FUNCTION ai._drop_vectorizer(caller oid, vectorizer_id int4, drop_all boolean) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    v ai.vectorizer := ai._vectorizer_get(vectorizer_id);
BEGIN
    PERFORM ai._vectorizer_require_owner(caller, v, 'drop');
    EXECUTE format('LOCK TABLE %s IN ACCESS EXCLUSIVE MODE', ai._qualified_name(v.source));
    PERFORM ai._vectorizer_drop(v);
    IF drop_all THEN
        PERFORM ai._vectorizer_drop_target(caller, v);
    END IF;
END
$$;
COMMENT ON FUNCTION ai._drop_vectorizer(oid, int4, boolean) IS
    'what ai.drop_vectorizer does, for the role that called it';

CREATE OR REPLACE FUNCTION ai._drop_vectorizer(caller oid, name text, drop_all boolean) RETURNS void
    LANGUAGE sql
    SET search_path = pg_catalog, pg_temp
    AS $$SELECT ai._drop_vectorizer(caller, (ai._vectorizer_get(name)).id, drop_all)$$;
COMMENT ON FUNCTION ai._drop_vectorizer(oid, text, boolean) IS
    'what ai.drop_vectorizer does, for the role that called it';

CREATE OR REPLACE FUNCTION ai.drop_vectorizer(vectorizer_id int4, drop_all boolean DEFAULT false) RETURNS void
    LANGUAGE c VOLATILE
    AS 'MODULE_PATHNAME', 'ai_call_as_owner';
COMMENT ON FUNCTION ai.drop_vectorizer(int4, boolean) IS
    'drops a vectorizer; with drop_all, the embeddings as well';

CREATE OR REPLACE FUNCTION ai.drop_vectorizer(name text, drop_all boolean DEFAULT false) RETURNS void
    LANGUAGE c VOLATILE
    AS 'MODULE_PATHNAME', 'ai_call_as_owner';
COMMENT ON FUNCTION ai.drop_vectorizer(text, boolean) IS
    'drops a vectorizer; with drop_all, the embeddings as well';
