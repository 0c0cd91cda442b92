-- 10,000 embedding jobs in one statement, over a plain INSERT of the same rows into a table of the same
-- columns with a primary key; each the median of 11, in turns.
CREATE TABLE texts AS
    SELECT run, array_agg(repeat(md5(run || ' ' || g) || ' ', 6) || g ORDER BY g) AS texts
    FROM generate_series(1, 11) run, generate_series(1, 10000) g GROUP BY run;
CREATE TABLE plain (LIKE ai.embedding_jobs INCLUDING DEFAULTS, PRIMARY KEY (id));
CREATE TABLE content (LIKE ai.embedding_jobs);

CREATE PROCEDURE measure(runs int) LANGUAGE plpgsql AS $$
DECLARE
    started timestamptz;
BEGIN
    FOR this IN 1 .. runs LOOP
        started := clock_timestamp();
        PERFORM count(*) FROM texts t, ai.create_embedding_job(t.texts) WHERE t.run = this;
        COMMIT;
        INSERT INTO timing VALUES ('jobs', 'create', extract(epoch FROM clock_timestamp() - started));
        TRUNCATE content;
        INSERT INTO content SELECT * FROM ai.embedding_jobs ORDER BY id DESC LIMIT 10000;
        COMMIT;
        started := clock_timestamp();
        INSERT INTO plain SELECT * FROM content;
        COMMIT;
        INSERT INTO timing VALUES ('jobs', 'plain', extract(epoch FROM clock_timestamp() - started));
    END LOOP;
END
$$;
CALL measure(11);
SELECT goal_line('create_embedding_job, 10,000 texts', ratio('jobs', 'create', 'plain'), 3);
