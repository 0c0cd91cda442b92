-- Things of ours that belong to no vectorizer: after a dump without its data was restored, triggers fill
-- queues that nobody works off. They are reported, not removed: the data may still come.

CREATE OR REPLACE FUNCTION ai._orphans(OUT kind text, OUT relation regclass, OUT name text, OUT object text)
    RETURNS SETOF record
    LANGUAGE sql STABLE ROWS 10
    SET search_path = pg_catalog, pg_temp
    AS $$
    WITH subject AS MATERIALIZED (
        SELECT v.id, v.name, v.source::oid, v.trigger_name, s.relkind,
            v.id::text::bytea || zero AS id_argument,
            convert_to(n.nspname, getdatabaseencoding()) || zero
            || convert_to(q.relname, getdatabaseencoding()) || zero AS enqueue_arguments
        FROM ai.vectorizer v
        LEFT JOIN pg_class s ON s.oid = v.source
        LEFT JOIN pg_class q ON q.oid = v.queue
        LEFT JOIN pg_namespace n ON n.oid = q.relnamespace
        CROSS JOIN decode('00', 'hex') zero
    )
    SELECT 'trigger', t.tgrelid::regclass, t.tgname,
        format('trigger %I on %s', t.tgname, ai._qualified_name(t.tgrelid))
    FROM pg_trigger t
    WHERE t.tgparentid = 0
      AND t.tgfoid = 'ai._vectorizer_enqueue()'::regprocedure AND NOT EXISTS (
          SELECT FROM subject s WHERE s.source = t.tgrelid
            AND (substring(t.tgargs FROM 1 FOR length(s.enqueue_arguments)) = s.enqueue_arguments
                 OR t.tgname IN (s.trigger_name, (s.trigger_name || '_update')::name)))
    UNION ALL
    SELECT 'trigger', t.tgrelid::regclass, t.tgname,
        format('trigger %I on %s', t.tgname, ai._qualified_name(t.tgrelid))
    FROM pg_trigger t
    WHERE t.tgfoid IN ('ai._vectorizer_flush()'::regprocedure,
                       'ai._vectorizer_truncate()'::regprocedure) AND NOT EXISTS (
          SELECT FROM subject s WHERE s.id_argument = t.tgargs AND (s.source = t.tgrelid
              OR s.relkind = 'p' AND t.tgfoid = 'ai._vectorizer_truncate()'::regprocedure))
    UNION ALL
    SELECT 'table', i.inhrelid::regclass, NULL, format('table %s', ai._qualified_name(i.inhrelid))
    FROM pg_inherits i
    WHERE i.inhparent = 'ai._vectorizer_queue'::regclass AND NOT EXISTS (
        SELECT FROM (SELECT v.queue::oid AS used FROM ai.vectorizer v
                     UNION ALL SELECT v.work FROM ai.vectorizer v
                     UNION ALL SELECT v.failed FROM ai.vectorizer v) u WHERE u.used = i.inhrelid)
    UNION ALL
    SELECT 'vectorizer', NULL, s.name, format('vectorizer "%s"', s.name)
    FROM subject s WHERE s.relkind IS NULL
    UNION ALL
    SELECT 'restored rows', r.relation, r.vectorizer_id::text,
        format('%s of %s for vectorizer %s', ai._rows(count(*)), ai._qualified_name(r.relation),
               r.vectorizer_id)
    FROM ai._restored_rows r GROUP BY r.relation, r.vectorizer_id
    $$;
COMMENT ON FUNCTION ai._orphans() IS
    'triggers, queues and restored rows that belong to no vectorizer, and vectorizers without a source';

CREATE OR REPLACE FUNCTION ai._health_orphans() RETURNS SETOF text
    LANGUAGE sql STABLE ROWS 3
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT format(CASE s.kind
        WHEN 'vectorizer' THEN
            '%s: the source table is gone (%s): ai.drop_orphans() removes what is left'
        WHEN 'restored rows' THEN
            '%s: restored without their vectorizers (%s): restore the table ai.vectorizer, too, or run '
            'ai.drop_orphans()'
        ELSE '%s: no vectorizer has them (%s), as after a restore without data: restore that, or run '
             'ai.drop_orphans()' END,
        CASE WHEN count(*) = 1 THEN '1 orphan ' || s.kind
             ELSE count(*) || ' orphans of kind ' || s.kind END,
        min(s.object) || CASE WHEN count(*) > 1 THEN ', ...' ELSE '' END)
    FROM ai._orphans() s GROUP BY s.kind ORDER BY s.kind
    $$;
COMMENT ON FUNCTION ai._health_orphans() IS 'what is there that belongs to no vectorizer';

-- Triggers first: they write to the tables.
CREATE OR REPLACE FUNCTION ai.drop_orphans(OUT kind text, OUT object text) RETURNS SETOF record
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    orphan record;
BEGIN
    FOR orphan IN SELECT * FROM ai._orphans() s
                 ORDER BY array_position('{trigger,vectorizer,table}', s.kind), s.object LOOP
        CASE orphan.kind
            WHEN 'trigger' THEN
                EXECUTE format('DROP TRIGGER %I ON %s', orphan.name,
                               ai._qualified_name(orphan.relation));
            WHEN 'table' THEN
                PERFORM ai._drop_if_exists('TABLE', orphan.relation);
            WHEN 'vectorizer' THEN
                PERFORM ai._vectorizer_forget(ai._vectorizer_get(orphan.name));
            ELSE
                DELETE FROM ai._restored_rows r
                WHERE r.relation = orphan.relation AND r.vectorizer_id = orphan.name::int4;
        END CASE;
        kind := orphan.kind;
        object := orphan.object;
        RETURN NEXT;
    END LOOP;
    PERFORM ai._vectorizer_notify();
END
$$;
COMMENT ON FUNCTION ai.drop_orphans() IS
    'drops triggers, queues and restored rows that belong to no vectorizer, and vectorizers whose '
    'source table is gone; returns what it dropped. For superusers and the owner of the extension';

REVOKE ALL ON FUNCTION ai._orphans(), ai._health_orphans(), ai.drop_orphans() FROM PUBLIC;
