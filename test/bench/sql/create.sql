-- create_vectorizer on a table of a million rows, over INSERT ... SELECT of their keys into a table
-- like the queue.
CREATE TABLE source (id bigint PRIMARY KEY, body text);
INSERT INTO source SELECT g, 'body ' || g FROM generate_series(1, 1000000) g;
VACUUM ANALYZE source;

CREATE PROCEDURE measure(runs int) LANGUAGE plpgsql AS $$
DECLARE
    started timestamptz;
    vectorizer int;
BEGIN
    FOR run IN 1 .. runs LOOP
        CREATE TABLE keys (id bigint NOT NULL);
        COMMIT;
        started := clock_timestamp();
        INSERT INTO keys SELECT id FROM source;
        COMMIT;
        INSERT INTO timing
        VALUES ('create', 'INSERT', extract(epoch FROM clock_timestamp() - started));
        DROP TABLE keys;
        COMMIT;
        started := clock_timestamp();
        vectorizer := ai.create_vectorizer('source', loading => ai.loading_column('body'),
            embedding => ai.embedding_openai('text-embedding-3-small', 1536),
            scheduling => ai.scheduling_none());
        COMMIT;
        INSERT INTO timing
        VALUES ('create', 'create', extract(epoch FROM clock_timestamp() - started));
        PERFORM ai.drop_vectorizer(vectorizer, drop_all => true);
        COMMIT;
    END LOOP;
END
$$;
CALL measure(5);
SELECT goal_line('create_vectorizer, a million rows', ratio('create', 'create', 'INSERT'), 1.3);
