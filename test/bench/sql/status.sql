-- ai.vectorizer_status and ai.metrics() with a thousand vectorizers, in milliseconds: the median in a
-- session that has seen the tables before.
CREATE PROCEDURE make_vectorizers(count int) LANGUAGE plpgsql AS $$
BEGIN
    FOR i IN 1 .. count LOOP
        EXECUTE format('CREATE TABLE source_%s (id int PRIMARY KEY, body text)', i);
        EXECUTE format('INSERT INTO source_%s VALUES (1, ''one''), (2, ''two'')', i);
        PERFORM ai.create_vectorizer(('source_' || i)::regclass, loading => ai.loading_column('body'),
            embedding => ai.embedding_openai('text-embedding-3-small', 1536));
        COMMIT;
    END LOOP;
END
$$;
CALL make_vectorizers(1000);
VACUUM ANALYZE;

CREATE PROCEDURE measure(runs int) LANGUAGE plpgsql AS $$
DECLARE
    started timestamptz;
BEGIN
    FOR run IN 1 .. runs LOOP
        started := clock_timestamp();
        PERFORM s FROM ai.vectorizer_status s;
        INSERT INTO timing VALUES ('status', 'all', extract(epoch FROM clock_timestamp() - started));
        COMMIT;
        started := clock_timestamp();
        PERFORM ai.metrics();
        INSERT INTO timing VALUES ('metrics', 'all', extract(epoch FROM clock_timestamp() - started));
        COMMIT;
    END LOOP;
END
$$;
CALL measure(11);
CREATE FUNCTION milliseconds(what text) RETURNS float8 LANGUAGE sql AS $$
    SELECT 1000 * percentile_cont(0.5) WITHIN GROUP (ORDER BY t.seconds)
    FROM timing t WHERE t.what = milliseconds.what
    $$;
SELECT goal_line('vectorizer_status, 1,000 vectorizers, ms', milliseconds('status'), 150);
SELECT goal_line('metrics(), 1,000 vectorizers, ms', milliseconds('metrics'), 150);
