-- Searches in 100,000 chunks with an index of vectors and one of words, over what they are made of: the
-- embedding of the query by the embedded model, the bare query of pgvector, the bare full-text query.
-- Medians of 300 queries, which take turns.
CREATE TABLE doc (id int PRIMARY KEY, body text);
INSERT INTO doc SELECT g, 'body' FROM generate_series(1, 25000) g;
SELECT ai.create_vectorizer('doc', name => 'docs', loading => ai.loading_column('body'),
    embedding => ai.embedding_local(), enqueue_existing => false) AS id,
    ai.enable_hybrid_search('docs', 'english') \g /dev/null

-- 60 words each, of which some are frequent and most are rare; vectors at random.
INSERT INTO doc_embedding_store (id, chunk_seq, chunk, embedding)
SELECT d.id, c,
    (SELECT string_agg('w' || floor(power(random(), 3) * 20000)::int, ' ')
     FROM generate_series(1, 60 + 0 * d.id + 0 * c)),
    (SELECT array_agg(random() - 0.5) FROM generate_series(1, 384 + 0 * d.id + 0 * c))::float4[]::vector
FROM doc d, generate_series(0, 3) c;
SET maintenance_work_mem = '1GB';
CREATE INDEX ON doc_embedding_store USING hnsw (embedding vector_cosine_ops);
RESET maintenance_work_mem;
VACUUM ANALYZE doc;
VACUUM ANALYZE doc_embedding_store;

CREATE FUNCTION run(kind text, query text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    bare_vector constant text := 'SELECT id, chunk_seq, chunk, embedding <=> $1 FROM doc_embedding_store '
        'ORDER BY embedding <=> $1 LIMIT 10';
    bare_words constant text := 'SELECT id, chunk_seq, chunk, ts_rank_cd(chunk_english, $1) AS rank '
        'FROM doc_embedding_store WHERE chunk_english @@ $1 ORDER BY rank DESC LIMIT 10';
BEGIN
    IF kind IN ('bare', 'bare hybrid') THEN
        EXECUTE bare_vector USING ai.vectorizer_embed('docs', query);
    END IF;
    IF kind = 'bare hybrid' THEN
        EXECUTE bare_words USING websearch_to_tsquery('english', query);
    END IF;
    IF kind = 'search' THEN
        EXECUTE 'SELECT * FROM ai.search(''docs'', $1)' USING query;
    ELSIF kind = 'hybrid' THEN
        EXECUTE 'SELECT * FROM ai.hybrid_search(''docs'', $1)' USING query;
    END IF;
END
$$;

CREATE PROCEDURE measure(runs int) LANGUAGE plpgsql AS $$
DECLARE
    kinds constant text[] := '{bare,search,bare hybrid,hybrid}';
    query text;
    kind text;
    started timestamptz;
BEGIN
    -- The first ones fill caches.
    FOR run IN -9 .. runs LOOP
        query := format('w%s w%s', 110 + run, 310 + run);
        FOR turn IN 1 .. 4 LOOP
            kind := kinds[(run + 10 + turn) % 4 + 1];
            started := clock_timestamp();
            PERFORM run(kind, query);
            IF run > 0 THEN
                INSERT INTO timing
                VALUES ('search', kind, extract(epoch FROM clock_timestamp() - started));
            END IF;
            COMMIT;
        END LOOP;
    END LOOP;
END
$$;
CALL measure(300);
SELECT goal_line('search / bare query + embedding', ratio('search', 'search', 'bare'), 1.3);
SELECT goal_line('hybrid / both bare queries + embedding', ratio('search', 'hybrid', 'bare hybrid'), 2);
SELECT goal_line('hybrid / bare query + embedding', ratio('search', 'hybrid', 'bare'), 2);
