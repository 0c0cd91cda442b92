-- The metrics as text, in the format that Prometheus reads.

CREATE OR REPLACE FUNCTION ai._metric_label(name text, value text) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN name || '="' || replace(replace(replace(coalesce(value, ''),
        '\', '\\'), '"', '\"'), E'\n', '\n') || '"';
COMMENT ON FUNCTION ai._metric_label(text, text) IS
    'a label with its value, in which backslash, quote and line feed are escaped';

CREATE OR REPLACE FUNCTION ai._metric_number(value text) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE value WHEN 'Infinity' THEN '+Inf' WHEN '-Infinity' THEN '-Inf'
           ELSE coalesce(value, 'NaN') END;
COMMENT ON FUNCTION ai._metric_number(text) IS 'a number as Prometheus reads it; null is NaN';

CREATE OR REPLACE FUNCTION ai._metric_histogram(metric text, labels text, sample jsonb, name text) RETURNS text
    LANGUAGE sql IMMUTABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT coalesce(string_agg(format(E'%s_bucket{%s,le="%s"} %s\n', metric, labels, b.bound,
                                      b.count), '' ORDER BY b.n), '')
        || format(E'%1$s_bucket{%2$s,le="+Inf"} %3$s\n%1$s_sum{%2$s} %4$s\n%1$s_count{%2$s} %3$s\n',
                  metric, labels, sample ->> (name || '_count'),
                  ai._metric_number(sample ->> (name || '_sum')))
    FROM ROWS FROM (jsonb_array_elements_text(sample -> name),
                    jsonb_array_elements_text(sample -> (name || '_bucket')))
         WITH ORDINALITY AS b (bound, count, n)
    $$;
COMMENT ON FUNCTION ai._metric_histogram(text, text, jsonb, text) IS
    'the lines of a histogram, from a row of a view of metrics';

CREATE OR REPLACE FUNCTION ai._metric_columns(view regclass, OUT number int2, OUT name text, OUT kind text,
        OUT help text) RETURNS SETOF record
    LANGUAGE sql STABLE ROWS 10
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT a.attnum, a.attname,
        CASE WHEN a.atttypid = 'text'::regtype THEN 'label'
             WHEN a.atttypid = 'float8[]'::regtype THEN 'histogram'
             WHEN a.attname LIKE '%\_total' OR a.attname = 'total' THEN 'counter'
             ELSE 'gauge' END,
        col_description(view, a.attnum)
    FROM pg_attribute a
    WHERE a.attrelid = view AND a.attnum > 0
      AND NOT EXISTS (SELECT FROM pg_attribute h
                      WHERE h.attrelid = view AND h.atttypid = 'float8[]'::regtype
                        AND a.attname IN (h.attname || '_bucket', h.attname || '_sum',
                                          h.attname || '_count'))
    $$;
COMMENT ON FUNCTION ai._metric_columns(regclass) IS
    'what the columns of a view of metrics are: labels, counters, gauges and histograms';

-- The labels of a row are the same for all of its columns.
CREATE OR REPLACE FUNCTION ai._metric_lines(prefix text, view regclass, samples jsonb) RETURNS text
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
    WITH c AS MATERIALIZED (
        SELECT m.*, prefix || '_' || m.name AS metric FROM ai._metric_columns(view) m
    ), s AS MATERIALIZED (
        SELECT s.row, (SELECT string_agg(ai._metric_label(c.name, s.row ->> c.name), ','
                                         ORDER BY c.number)
                       FROM c WHERE c.kind = 'label') AS labels
        FROM jsonb_array_elements(samples) AS s (row) ORDER BY labels
    )
    SELECT string_agg(format(E'# HELP %1$s %2$s\n# TYPE %1$s %3$s\n%4$s', c.metric,
                             replace(replace(c.help, '\', '\\'), E'\n', '\n'), c.kind, m.lines),
                      '' ORDER BY c.number)
    FROM c, LATERAL (
        SELECT string_agg(CASE c.kind
            WHEN 'histogram' THEN ai._metric_histogram(c.metric, s.labels, s.row, c.name)
            ELSE c.metric || '{' || s.labels || '} ' || ai._metric_number(s.row ->> c.name) || E'\n'
            END, '') AS lines
        FROM s) m
    WHERE c.kind <> 'label'
    $$;
COMMENT ON FUNCTION ai._metric_lines(text, regclass, jsonb) IS
    'the rows of a view of metrics as text';

-- Numbers have the shortest digits that tell them from their neighbours, whatever the session is
-- set to.
CREATE OR REPLACE FUNCTION ai.metrics() RETURNS text
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp SET extra_float_digits = 1 SET jit = off
    AS $$
DECLARE
    things constant text[] := '{database,workers,worker,vectorizer,usage,jobs,job_usage,provider,
                                provider_requests}';
    statuses constant ai.vectorizer_status[] := ARRAY(SELECT s FROM ai.vectorizer_status s);
    thing text;
    samples jsonb;
    result text := '';
BEGIN
    FOREACH thing IN ARRAY things LOOP
        EXECUTE format(CASE WHEN thing IN ('database', 'vectorizer')
                       THEN 'SELECT jsonb_agg(m) FROM ai._metrics_%s($1) m'
                       ELSE 'SELECT jsonb_agg(m) FROM ai.metrics_%s m' END, thing)
            INTO samples USING statuses;
        IF samples IS NOT NULL THEN
            result := result || ai._metric_lines('ai_' || thing, ('ai.metrics_' || thing)::regclass,
                                                 samples);
        END IF;
    END LOOP;
    RETURN result;
END
$$;
COMMENT ON FUNCTION ai.metrics() IS
    'counters, gauges and histograms of this database in the text format of Prometheus';
REVOKE ALL ON FUNCTION ai.metrics() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ai.metrics() TO pg_monitor;
