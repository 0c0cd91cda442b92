-- Numbers for Prometheus, for pg_monitor. Of a view ai.metrics_<thing>, columns of text are labels,
-- and each other column is the metric ai_<thing>_<column>: a counter if its name ends in _total, a
-- histogram if it has bounds (its counts, up to each bound, are in <column>_bucket, their sum and
-- number in <column>_sum and <column>_count), else a gauge. The comment on a column is its help.
--
-- ai.metrics() shows them as text; doc/monitoring has them for prometheus-postgres-exporter.

CREATE OR REPLACE FUNCTION ai._cumulative(counts bigint[]) RETURNS bigint[]
    LANGUAGE sql IMMUTABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT coalesce(array_agg(c.total ORDER BY c.n), '{}')
    FROM (SELECT u.n, (sum(u.count) OVER (ORDER BY u.n))::bigint AS total
          FROM unnest(counts) WITH ORDINALITY AS u (count, n)) c
    WHERE c.n < cardinality(counts)
    $$;
COMMENT ON FUNCTION ai._cumulative(bigint[]) IS
    'how many values were up to each bound, by how many were between two; the last is above all';

CREATE OR REPLACE FUNCTION ai._sum_of(counts bigint[]) RETURNS bigint
    LANGUAGE sql IMMUTABLE
    SET search_path = pg_catalog, pg_temp
    AS $$SELECT coalesce(sum(c), 0)::bigint FROM unnest(counts) c$$;
COMMENT ON FUNCTION ai._sum_of(bigint[]) IS 'how many values there were';

-- The views of the database and of the vectorizers are made of what these functions return, so that
-- ai.metrics() looks at all vectorizers once.
CREATE OR REPLACE FUNCTION ai._metrics_database(statuses ai.vectorizer_status[], OUT database text,
        OUT healthy int4, OUT wanted_workers int4, OUT lag_seconds float8[],
        OUT lag_seconds_bucket bigint[], OUT lag_seconds_sum float8, OUT lag_seconds_count bigint)
    LANGUAGE sql
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT current_database(), ai._healthy(statuses)::int,
        CASE WHEN ai._is_idle() THEN 0 ELSE current_setting('ai.workers', true)::int END,
        l.bounds, ai._cumulative(l.counts), l.sum, ai._sum_of(l.counts)
    FROM ai._lag_histogram() l
    $$;
COMMENT ON FUNCTION ai._metrics_database(ai.vectorizer_status[]) IS
    'metrics of this database, where the state of its vectorizers is known';

CREATE OR REPLACE FUNCTION ai._metrics_vectorizer(statuses ai.vectorizer_status[], OUT database text,
        OUT vectorizer text, OUT pending_rows bigint, OUT running_rows bigint,
        OUT retrying_rows bigint, OUT failed_rows bigint, OUT oldest_pending_seconds float8,
        OUT rows_per_second float8, OUT disabled int4, OUT paused int4,
        OUT embedded_rows_total bigint, OUT errors_total bigint) RETURNS SETOF record
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT current_database(), s.name, s.pending, s.running, s.retrying, s.failed,
        coalesce(extract(epoch FROM s.oldest_pending_age), 0)::float8,
        (s.rows_per_minute / 60)::float8, s.disabled::int, (s.state = 'paused')::int,
        coalesce(p.success_count, 0), coalesce(p.error_count, 0)
    FROM unnest(statuses) s
    LEFT JOIN ai.vectorizer_worker_progress p ON p.vectorizer_id = s.id
    $$;
COMMENT ON FUNCTION ai._metrics_vectorizer(ai.vectorizer_status[]) IS
    'metrics of vectorizers whose state is known';
REVOKE ALL ON FUNCTION ai._metrics_database(ai.vectorizer_status[]),
    ai._metrics_vectorizer(ai.vectorizer_status[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ai._metrics_database(ai.vectorizer_status[]),
    ai._metrics_vectorizer(ai.vectorizer_status[]) TO pg_monitor;
