-- Partitioned sources: rows come and go through the table, through partitions and with them.
\set SHOW_CONTEXT never
SELECT setval('ai.vectorizer_id_seq', 1, false);
CREATE TABLE part (id int, region text, body text, PRIMARY KEY (region, id)) PARTITION BY LIST (region);
CREATE TABLE part_eu PARTITION OF part FOR VALUES IN ('eu') PARTITION BY RANGE (id);
CREATE TABLE part_eu_1 PARTITION OF part_eu FOR VALUES FROM (0) TO (10);
-- Columns in another order than those of the parent.
CREATE TABLE part_us (body text, gone int, region text NOT NULL, id int NOT NULL);
ALTER TABLE part_us DROP gone;
ALTER TABLE part ATTACH PARTITION part_us FOR VALUES IN ('us');
INSERT INTO part VALUES (1, 'eu', 'a'), (1, 'us', 'b');
SELECT ai.create_vectorizer('part', loading => ai.loading_column('body'), embedding => ai.embedding_local('m', 3));
CREATE FUNCTION queued(vectorizer int DEFAULT 1) RETURNS text[] LANGUAGE plpgsql AS $$
DECLARE result text[];
BEGIN
    EXECUTE format('WITH d AS (DELETE FROM ai._vectorizer_q_%s q RETURNING to_jsonb(q) AS q)
                    SELECT array_agg((q ->> ''region'') || coalesce(q ->> ''id'', q ->> ''number'')
                                     ORDER BY q ->> ''region'', q ->> ''id'', q ->> ''number'')
                    FROM d', vectorizer) INTO result;
    RETURN result;
END $$;
SELECT queued();

-- Through the table and straight into partitions; updates; moves between partitions.
INSERT INTO part VALUES (2, 'eu', 'a'), (2, 'us', 'b');
SELECT queued();
INSERT INTO part_us (id, region, body) VALUES (3, 'us', 'b');
INSERT INTO part_eu_1 VALUES (3, 'eu', 'b');
SELECT queued();
BEGIN;
INSERT INTO part_us (id, region, body) VALUES (4, 'us', 'b');
SELECT ai.vectorizer_queue_pending(1, exact_count => true);
COMMIT;
SELECT queued();
UPDATE part SET body = 'c' WHERE id = 2;
SELECT queued();
UPDATE part SET body = body;
SELECT queued();
UPDATE part SET region = 'us', id = 5 WHERE region = 'eu' AND id = 2;
SELECT queued();
DELETE FROM part_us WHERE id = 5;
SELECT queued();

-- A new partition.
CREATE TABLE part_asia PARTITION OF part FOR VALUES IN ('asia');
INSERT INTO part VALUES (1, 'asia', 'a');
SELECT queued();
CREATE TABLE part_eu_2 PARTITION OF part_eu FOR VALUES FROM (10) TO (20);
INSERT INTO part_eu_2 VALUES (11, 'eu', 'a');
SELECT queued();

-- TRUNCATE of a partition, of a branch, of all: what has embeddings and no row any more.
INSERT INTO part_embedding_store (id, region, chunk_seq, chunk, embedding)
SELECT id, region, seq, 'chunk', '[1,2,3]' FROM part, generate_series(0, 1) seq;
SELECT array_agg(region || id ORDER BY region, id) FROM part;
TRUNCATE part_us;
SELECT queued();
BEGIN;
TRUNCATE part_eu;
SELECT queued();
ROLLBACK;
TRUNCATE part;
SELECT queued();
SELECT count(*) FROM ai._vectorizer_q_1;
BEGIN;
TRUNCATE part;
TRUNCATE part_us;
SELECT count(*) FROM ai._vectorizer_q_1;
ROLLBACK;

-- ATTACH brings rows, DETACH takes them away, and so does DROP.
DELETE FROM part_embedding_store;
CREATE TABLE part_africa (id int NOT NULL, region text NOT NULL, body text, PRIMARY KEY (region, id));
INSERT INTO part_africa VALUES (1, 'africa', 'a'), (2, 'africa', 'b');
ALTER TABLE part ATTACH PARTITION part_africa FOR VALUES IN ('africa');
SELECT queued();
INSERT INTO part_embedding_store (id, region, chunk_seq, chunk, embedding)
SELECT id, region, 0, 'chunk', '[1,2,3]' FROM part;
ALTER TABLE part DETACH PARTITION part_africa;
SELECT queued();
INSERT INTO part_africa VALUES (3, 'africa', 'c');
TRUNCATE part_africa;
SELECT queued();
SELECT tgname FROM pg_trigger WHERE tgrelid = 'part_africa'::regclass;
INSERT INTO part_africa VALUES (1, 'africa', 'a');
ALTER TABLE part ATTACH PARTITION part_africa FOR VALUES IN ('africa');
SELECT queued();
DROP TABLE part_africa;
SELECT queued();

-- A tree of partitions comes and goes at once.
CREATE TABLE part_south (id int NOT NULL, region text NOT NULL, body text) PARTITION BY RANGE (id);
CREATE TABLE part_south_1 PARTITION OF part_south FOR VALUES FROM (0) TO (10);
CREATE TABLE part_south_2 PARTITION OF part_south FOR VALUES FROM (10) TO (20);
CREATE TABLE part_south_3 PARTITION OF part_south FOR VALUES FROM (20) TO (30);
INSERT INTO part_south VALUES (1, 'south', 'a'), (11, 'south', 'b'), (21, 'south', 'c');
ALTER TABLE part ATTACH PARTITION part_south FOR VALUES IN ('south');
SELECT queued();
SELECT tgrelid::regclass, tgname, tgenabled FROM pg_trigger WHERE tgrelid::regclass::text ~ '^part_south_' ORDER BY 1, 2;
CREATE SCHEMA part_more CREATE TABLE part_south_4 PARTITION OF public.part_south FOR VALUES FROM (30) TO (40);
SELECT tgname, tgenabled FROM pg_trigger WHERE tgrelid = 'part_more.part_south_4'::regclass ORDER BY 1;
ALTER TABLE part DETACH PARTITION part_south;
SELECT queued();
SELECT count(*) FROM pg_trigger WHERE tgrelid::regclass::text ~ 'part_south';
DROP TABLE part_south;
DROP SCHEMA part_more;

-- Triggers that are turned off and on again, on a partition alone: ALWAYS, as before.
ALTER TABLE part_us DISABLE TRIGGER ALL;
INSERT INTO part VALUES (6, 'us', 'missed');
SELECT queued();
ALTER TABLE part_us ENABLE TRIGGER ALL;
SELECT queued();
SELECT tgname, tgenabled FROM pg_trigger WHERE tgrelid = 'part_us'::regclass ORDER BY 1;
DELETE FROM part WHERE id = 6;
SELECT queued();

-- Its trigger for TRUNCATE is made again if somebody drops it.
DROP TRIGGER _vectorizer_src_trg_1_truncate ON part_us;
SELECT tgname, tgenabled FROM pg_trigger WHERE tgrelid = 'part_us'::regclass AND tgname ~ 'truncate';

-- Renaming a column of the key.
ALTER TABLE part RENAME COLUMN id TO number;
ALTER TABLE part RENAME COLUMN body TO contents;
INSERT INTO part VALUES (7, 'us', 'x');
INSERT INTO part_us (number, region, contents) VALUES (8, 'us', 'x');
UPDATE part SET contents = 'y' WHERE number = 7;
SELECT queued();
SELECT tgrelid::regclass, tgname, tgenabled FROM pg_trigger
WHERE tgrelid IN ('part'::regclass, 'part_us'::regclass, 'part_eu_1'::regclass) ORDER BY 1, 2;

-- A partition can be a source itself.
SELECT ai.create_vectorizer('part_us', loading => ai.loading_column('contents'), embedding => ai.embedding_local('m', 3));
SELECT queued(2);
INSERT INTO part VALUES (9, 'us', 'x'), (9, 'asia', 'x');
SELECT queued(1), queued(2);
ALTER TABLE part RENAME COLUMN contents TO body;
INSERT INTO part VALUES (10, 'us', 'x');
SELECT queued(1), queued(2);
INSERT INTO part_us_embedding_store (number, region, chunk_seq, chunk, embedding) VALUES (10, 'us', 0, 'c', '[1,2,3]');
TRUNCATE part;
SELECT queued(2);

SELECT ai.drop_vectorizer(1, true);
SELECT tgrelid::regclass, tgname FROM pg_trigger WHERE tgname ~ '_trg_1';
DROP TABLE part CASCADE;
SELECT count(*) FROM ai.vectorizer;
DROP FUNCTION queued;
