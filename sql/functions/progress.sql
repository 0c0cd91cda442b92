-- A line that says how far a vectorizer is, for psql's \watch.

-- Few rows are counted. Of many, a table says itself how dense its pages are; one that nobody has
-- analyzed yet is judged by its first pages.
CREATE OR REPLACE FUNCTION ai._estimate_source_rows(v ai.vectorizer, OUT rows bigint, OUT is_exact boolean)
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    most constant bigint := 10000;
    first_pages constant bigint := 100;
    owner oid := ai._vectorizer_owner(v);
    leaf record;
BEGIN
    PERFORM ai._run_as(owner, format('LOCK TABLE %s IN ACCESS SHARE MODE NOWAIT',
                                     ai._from_source(v.source)));
    rows := ai._run_as(owner, format('SELECT FROM %s LIMIT %s', ai._from_source(v.source),
                                     most + 1));
    is_exact := rows <= most;
    IF is_exact THEN
        RETURN;
    END IF;
    rows := 0;
    FOR leaf IN
        SELECT c.oid, c.relkind, c.reltuples, c.relpages, pg_relation_size(c.oid)
            / current_setting('block_size')::bigint AS pages
        FROM pg_class c
        WHERE c.oid = v.source AND c.relkind <> 'p'
           OR c.oid IN (SELECT t.relid FROM pg_partition_tree(v.source) t WHERE t.isleaf)
    LOOP
        IF leaf.reltuples >= 0 AND leaf.relpages > 0 THEN
            rows := rows + (leaf.reltuples::float8 / leaf.relpages * leaf.pages)::bigint;
        ELSIF leaf.pages > 0 AND leaf.relkind = 'r' THEN
            rows := rows + leaf.pages * ai._run_as(owner, format(
                'SELECT FROM ONLY %s WHERE ctid < ''(%s,0)''', ai._qualified_name(leaf.oid),
                first_pages)) / least(leaf.pages, first_pages);
        END IF;
    END LOOP;
    rows := greatest(rows, most + 1);
END
$$;
COMMENT ON FUNCTION ai._estimate_source_rows(ai.vectorizer) IS
    'number of rows in the source of a vectorizer; above 10,000 an estimate';

CREATE OR REPLACE FUNCTION ai._progress_line(done bigint, total bigint, is_exact boolean,
        rows_per_minute numeric, time_left interval, remark text) RETURNS text
    LANGUAGE sql IMMUTABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT format('[%s] %s%%  %s of %s rows  %s/s  %s  %s',
        rpad(repeat('#', floor(20 * p.share)::int), 20, '.'),
        lpad(to_char(floor(1000 * p.share) / 10, 'FM990.0'), 5),
        lpad(to_char(done, 'FM999,999,999,999'), length(p.total)), p.total,
        format('%7s', to_char(rows_per_minute / 60, 'FM99999990.0')),
        CASE WHEN done >= _progress_line.total THEN rpad('done', 13)
             WHEN time_left IS NULL THEN rpad('', 13)
             ELSE format('%8s left', to_char(make_interval(
                 secs => extract(epoch FROM time_left)::float8), 'HH24:MI:SS')) END,
        remark)
    FROM (SELECT CASE WHEN total > 0 THEN done::numeric / total ELSE 1 END,
              CASE WHEN NOT is_exact THEN '~' ELSE '' END || to_char(total, 'FM999,999,999,999'))
        AS p (share, total)
    $$;
COMMENT ON FUNCTION ai._progress_line(bigint, bigint, boolean, numeric, interval, text) IS
    'a line of the same width for the same total: bar, percent, rows, rows per second, time left';

CREATE OR REPLACE FUNCTION ai._vectorizer_progress_line(caller oid, v ai.vectorizer) RETURNS text
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    f record;
    source record;
    undone bigint;
BEGIN
    PERFORM ai._vectorizer_require_visible(caller, v);
    SELECT * INTO f FROM ai.__vectorizer_figures(caller, v.id);
    undone := f.pending + f.running + f.retrying + f.failed;
    BEGIN
        source := ai._estimate_source_rows(v);
    EXCEPTION WHEN lock_not_available OR undefined_table THEN
        undone := NULL;
    END;
    IF undone IS NULL THEN
        RETURN format('%s: somebody is changing or dropping it', v.name);
    END IF;
    RETURN ai._progress_line(greatest(source.rows - undone, 0), source.rows, source.is_exact,
        f.rows_per_minute, f.estimated_time_left,
        concat_ws(', ', f.state, CASE WHEN f.failed > 0 THEN format('%s failed', f.failed) END));
END
$$;
COMMENT ON FUNCTION ai._vectorizer_progress_line(oid, ai.vectorizer) IS
    'how far a vectorizer is, in a line, for the role that called';

CREATE OR REPLACE FUNCTION ai._vectorizer_progress(caller oid, vectorizer_id int4) RETURNS text
    LANGUAGE sql SET search_path = pg_catalog, pg_temp
    AS $$SELECT ai._vectorizer_progress_line(caller, ai._vectorizer_get(vectorizer_id))$$;
CREATE OR REPLACE FUNCTION ai._vectorizer_progress(caller oid, name text) RETURNS text
    LANGUAGE sql SET search_path = pg_catalog, pg_temp
    AS $$SELECT ai._vectorizer_progress_line(caller, ai._vectorizer_get(name))$$;
COMMENT ON FUNCTION ai._vectorizer_progress(oid, int4) IS
    'what ai.vectorizer_progress does, for the role that called it';
COMMENT ON FUNCTION ai._vectorizer_progress(oid, text) IS
    'what ai.vectorizer_progress does, for the role that called it';

CREATE OR REPLACE FUNCTION ai.vectorizer_progress(vectorizer_id int4) RETURNS text
    LANGUAGE c VOLATILE AS 'MODULE_PATHNAME', 'ai_call_as_owner';
CREATE OR REPLACE FUNCTION ai.vectorizer_progress(name text) RETURNS text
    LANGUAGE c VOLATILE AS 'MODULE_PATHNAME', 'ai_call_as_owner';
COMMENT ON FUNCTION ai.vectorizer_progress(int4) IS
    'how far a vectorizer is, in a line with a bar: for psql''s \watch';
COMMENT ON FUNCTION ai.vectorizer_progress(text) IS
    'how far a vectorizer is, in a line with a bar: for psql''s \watch';

REVOKE ALL ON FUNCTION ai._estimate_source_rows(ai.vectorizer),
    ai._vectorizer_progress_line(oid, ai.vectorizer), ai._vectorizer_progress(oid, int4),
    ai._vectorizer_progress(oid, text) FROM PUBLIC;
