-- What the triggers of a vectorizer add to statements on 100,000 rows of about 1 kB: the time with
-- the vectorizer over the time without, each the median of 5. The two take turns.
CREATE TABLE plain (id bigint PRIMARY KEY, title text, body text, n int);
CREATE TABLE embedded (LIKE plain INCLUDING ALL);
CREATE TABLE content AS
    SELECT g::bigint AS id, 'title ' || g AS title, repeat(md5(g::text), 31) AS body, g AS n
    FROM generate_series(1, 100000) g;
VACUUM ANALYZE content;
SELECT ai.create_vectorizer('embedded', loading => ai.loading_column('body'),
    embedding => ai.embedding_openai('text-embedding-3-small', 1536)) AS id,
    ai.disable_vectorizer_schedule('public_embedded_embedding_store') \g /dev/null

CREATE FUNCTION statement_of(what text, relation text) RETURNS text LANGUAGE sql AS $$
    SELECT format(CASE what
        WHEN 'INSERT' THEN 'INSERT INTO %I SELECT * FROM content'
        WHEN 'UPDATE of another column' THEN 'UPDATE %I SET n = n + 1'
        WHEN 'UPDATE of the loaded column' THEN 'UPDATE %I SET body = repeat(md5(n::text), 31)'
        WHEN 'DELETE' THEN 'DELETE FROM %I' END, relation)
    $$;

CREATE PROCEDURE measure(runs int) LANGUAGE plpgsql AS $$
DECLARE
    run int;
    what text;
    relation text;
    started timestamptz;
BEGIN
    FOR run IN 1 .. runs LOOP
        FOREACH what IN ARRAY ARRAY['INSERT', 'UPDATE of another column',
                                    'UPDATE of the loaded column', 'DELETE'] LOOP
            FOREACH relation IN ARRAY CASE WHEN run % 2 = 0 THEN ARRAY['plain', 'embedded']
                                      ELSE ARRAY['embedded', 'plain'] END LOOP
                started := clock_timestamp();
                EXECUTE statement_of(what, relation);
                COMMIT;
                INSERT INTO timing
                VALUES (what, relation, extract(epoch FROM clock_timestamp() - started));
                COMMIT;
            END LOOP;
        END LOOP;
        TRUNCATE plain, embedded, ai._vectorizer_q_1;
        COMMIT;
    END LOOP;
END
$$;
CALL measure(5);

SELECT goal_line('trigger: ' || g.what, ratio(g.what, 'embedded', 'plain'), g.goal)
FROM (VALUES ('INSERT', 1.35), ('UPDATE of another column', 1.05),
             ('UPDATE of the loaded column', 2.2), ('DELETE', 1.6)) AS g (what, goal);
