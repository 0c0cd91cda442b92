-- Turning vectorizers off and on, changing what can be changed, waking the workers.

-- Where triggers were dropped, changes were missed: they are made again, and all rows are queued.
-- An embedding column that was dropped and added again is empty. Who calls this expects no more of a
-- restore.
CREATE OR REPLACE FUNCTION ai._vectorizer_repair(v ai.vectorizer) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    embedding_column name := v.config #>> '{destination,embedding_column}';
BEGIN
    IF v.target IS NULL AND embedding_column IS NULL THEN
        RAISE EXCEPTION 'vectorizer "%" has no target table any more', v.name
            USING ERRCODE = 'object_not_in_prerequisite_state',
                  HINT = 'Drop the vectorizer with ai.drop_vectorizer and create it again.';
    END IF;
    IF embedding_column IS NOT NULL AND NOT ai._vectorizer_check_embedding_column(v.source,
           embedding_column, (v.config #>> '{embedding,dimensions}')::int) THEN
        RAISE EXCEPTION 'vectorizer "%" has no embedding column any more', v.name
            USING ERRCODE = 'object_not_in_prerequisite_state',
                  HINT = 'Add the column, or drop the vectorizer with ai.drop_vectorizer.';
    END IF;
    IF v.restoring THEN
        UPDATE ai.vectorizer x SET restoring = false WHERE x.id = v.id;
        v.restoring := false;
    END IF;
    IF (SELECT count(*) FROM ai._vectorizer_triggers(v) t WHERE t.relation = v.source) < 4 THEN
        EXECUTE format('LOCK TABLE %s IN SHARE ROW EXCLUSIVE MODE', ai._qualified_name(v.source));
        PERFORM ai._vectorizer_create_source_trigger(v);
        PERFORM ai._vectorizer_enqueue_rows(v, ai._from_source(v.source));
        PERFORM ai._vectorizer_enqueue_orphans(v);
    ELSIF embedding_column IS NOT NULL AND EXISTS (
        SELECT FROM ai._vectorizer_errors e
        WHERE e.id = v.id AND e.details ->> 'step' = 'definition') THEN
        PERFORM ai._vectorizer_enqueue_rows(v, ai._from_source(v.source),
                                            format('WHERE %I IS NULL', embedding_column));
    END IF;
    IF (SELECT c.relkind = 'p' FROM pg_class c WHERE c.oid = v.source) THEN
        PERFORM ai._vectorizer_follow_partitions(v);
    END IF;
END
$$;
COMMENT ON FUNCTION ai._vectorizer_repair(ai.vectorizer) IS
    'makes the triggers of a vectorizer again if they were dropped, or raises an error';

CREATE OR REPLACE FUNCTION ai._vectorizer_set_disabled(caller oid, v ai.vectorizer, disable boolean)
    RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    PERFORM ai._vectorizer_require_owner(caller, v,
        CASE WHEN disable THEN 'disable' ELSE 'enable' END);
    IF NOT disable THEN
        PERFORM ai._vectorizer_repair(v);
    END IF;
    UPDATE ai.vectorizer x SET disabled = disable WHERE x.id = v.id AND x.disabled <> disable;
END
$$;
COMMENT ON FUNCTION ai._vectorizer_set_disabled(oid, ai.vectorizer, boolean) IS
    'turns a vectorizer off or on, for the role that called';

CREATE OR REPLACE FUNCTION ai._disable_vectorizer_schedule(caller oid, vectorizer_id int4) RETURNS void
    LANGUAGE sql
    SET search_path = pg_catalog, pg_temp
    AS $$SELECT ai._vectorizer_set_disabled(caller, ai._vectorizer_get(vectorizer_id), true)$$;
CREATE OR REPLACE FUNCTION ai._disable_vectorizer_schedule(caller oid, name text) RETURNS void
    LANGUAGE sql
    SET search_path = pg_catalog, pg_temp
    AS $$SELECT ai._vectorizer_set_disabled(caller, ai._vectorizer_get(name), true)$$;
CREATE OR REPLACE FUNCTION ai._enable_vectorizer_schedule(caller oid, vectorizer_id int4) RETURNS void
    LANGUAGE sql
    SET search_path = pg_catalog, pg_temp
    AS $$SELECT ai._vectorizer_set_disabled(caller, ai._vectorizer_get(vectorizer_id), false)$$;
CREATE OR REPLACE FUNCTION ai._enable_vectorizer_schedule(caller oid, name text) RETURNS void
    LANGUAGE sql
    SET search_path = pg_catalog, pg_temp
    AS $$SELECT ai._vectorizer_set_disabled(caller, ai._vectorizer_get(name), false)$$;
COMMENT ON FUNCTION ai._disable_vectorizer_schedule(oid, int4) IS
    'what ai.disable_vectorizer_schedule does, for the role that called it';
COMMENT ON FUNCTION ai._disable_vectorizer_schedule(oid, text) IS
    'what ai.disable_vectorizer_schedule does, for the role that called it';
COMMENT ON FUNCTION ai._enable_vectorizer_schedule(oid, int4) IS
    'what ai.enable_vectorizer_schedule does, for the role that called it';
COMMENT ON FUNCTION ai._enable_vectorizer_schedule(oid, text) IS
    'what ai.enable_vectorizer_schedule does, for the role that called it';

CREATE OR REPLACE FUNCTION ai.disable_vectorizer_schedule(vectorizer_id int4) RETURNS void
    LANGUAGE c VOLATILE AS 'MODULE_PATHNAME', 'ai_call_as_owner';
CREATE OR REPLACE FUNCTION ai.disable_vectorizer_schedule(name text) RETURNS void
    LANGUAGE c VOLATILE AS 'MODULE_PATHNAME', 'ai_call_as_owner';
CREATE OR REPLACE FUNCTION ai.enable_vectorizer_schedule(vectorizer_id int4) RETURNS void
    LANGUAGE c VOLATILE AS 'MODULE_PATHNAME', 'ai_call_as_owner';
CREATE OR REPLACE FUNCTION ai.enable_vectorizer_schedule(name text) RETURNS void
    LANGUAGE c VOLATILE AS 'MODULE_PATHNAME', 'ai_call_as_owner';
COMMENT ON FUNCTION ai.disable_vectorizer_schedule(int4) IS
    'lets a vectorizer rest: changes are queued, not processed';
COMMENT ON FUNCTION ai.disable_vectorizer_schedule(text) IS
    'lets a vectorizer rest: changes are queued, not processed';
COMMENT ON FUNCTION ai.enable_vectorizer_schedule(int4) IS
    'lets a vectorizer work again, and makes its triggers again if they were dropped';
COMMENT ON FUNCTION ai.enable_vectorizer_schedule(text) IS
    'lets a vectorizer work again, and makes its triggers again if they were dropped';

CREATE OR REPLACE FUNCTION ai._set_scheduling(caller oid, vectorizer_id int4, scheduling jsonb, indexing jsonb)
    RETURNS jsonb
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    v ai.vectorizer := ai._vectorizer_get(vectorizer_id);
    dimensions int4 := v.config #>> '{embedding,dimensions}';
BEGIN
    PERFORM ai._vectorizer_require_owner(caller, v, 'change');
    scheduling := ai._validate_scheduling(ai._config_object(scheduling));
    indexing := ai._validate_indexing(ai._config_object(indexing), dimensions);
    UPDATE ai.vectorizer x
    SET config = x.config || jsonb_build_object('scheduling', scheduling,
        'indexing', ai._resolve_indexing(indexing, dimensions))
    WHERE x.id = v.id;
    RETURN scheduling;
END
$$;
COMMENT ON FUNCTION ai._set_scheduling(oid, int4, jsonb, jsonb) IS
    'what ai.set_scheduling does, for the role that called it';

CREATE OR REPLACE FUNCTION ai.set_scheduling(vectorizer_id int4,
        scheduling jsonb DEFAULT ai.scheduling_default(),
        indexing jsonb DEFAULT ai.indexing_default()) RETURNS jsonb
    LANGUAGE c VOLATILE
    AS 'MODULE_PATHNAME', 'ai_call_as_owner';
COMMENT ON FUNCTION ai.set_scheduling(int4, jsonb, jsonb) IS
    'changes the scheduling and the indexing of a vectorizer; returns the scheduling';
