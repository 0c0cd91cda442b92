-- How many rows are to do: exact, estimated, seen from inside a transaction; and who is asked in vain.
\set SHOW_CONTEXT never
SELECT setval('ai.vectorizer_id_seq', 1, false);
CREATE TABLE src (a int, b text, body text, PRIMARY KEY (a, b));
INSERT INTO src SELECT g, 'x', 'body' FROM generate_series(1, 100) g;
SELECT ai.create_vectorizer('src', name => 'counted', loading => ai.loading_column('body'),
    embedding => ai.embedding_local('m', 3));
SELECT ai.vectorizer_queue_pending(1), ai.vectorizer_queue_pending(1, true), ai.vectorizer_queue_pending('counted'),
    ai.vectorizer_queue_pending('counted', exact_count => true);

-- Rows count, not entries; those in flight and those that wait for a retry are not done.
UPDATE src SET body = 'new' WHERE a <= 50;
SELECT count(*) FROM ai._vectorizer_q_1;
SELECT ai.vectorizer_queue_pending(1), ai.vectorizer_queue_pending(1, true);
INSERT INTO ai._vectorizer_q_work_1 (a, b, queued_at, priority, lease)
SELECT a, b, now(), 0, gen_random_uuid() FROM src WHERE a <= 20;
DELETE FROM ai._vectorizer_q_1 WHERE a <= 10;
INSERT INTO ai._vectorizer_q_work_1 (a, b, queued_at, priority, attempts, retry_at)
SELECT a, b, now(), 0, 2, now() + interval '1 day' FROM src WHERE a > 90;
DELETE FROM ai._vectorizer_q_1 WHERE a > 95;
SELECT ai.vectorizer_queue_pending(1), ai.vectorizer_queue_pending(1, true);

-- Done is 0.
DELETE FROM ai._vectorizer_q_1;
SELECT ai.vectorizer_queue_pending(1), ai.vectorizer_queue_pending(1, true);
DELETE FROM ai._vectorizer_q_work_1;
SELECT ai.vectorizer_queue_pending(1), ai.vectorizer_queue_pending(1, true);
SELECT pending_items FROM ai.vectorizer_status;

-- Inside the transaction that fills the queue, and at once in the same statement's transaction.
BEGIN;
UPDATE src SET body = 'newer' WHERE a <= 3;
SELECT ai.vectorizer_queue_pending(1, true);
SAVEPOINT s;
UPDATE src SET body = 'newer' WHERE a <= 5;
SELECT ai.vectorizer_queue_pending(1, true);
ROLLBACK TO s;
SELECT ai.vectorizer_queue_pending(1, true);
COMMIT;

-- Exact up to 10,000 entries; above, an estimate in the right order of magnitude.
DELETE FROM ai._vectorizer_q_1;
INSERT INTO ai._vectorizer_q_1 (a, b) SELECT g % 5000, 'x' FROM generate_series(1, 10000) g;
SELECT ai.vectorizer_queue_pending(1), ai.vectorizer_queue_pending(1, true);
INSERT INTO ai._vectorizer_q_1 (a, b) SELECT g, 'x' FROM generate_series(5001, 50000) g;
SELECT ai.vectorizer_queue_pending(1, true);
SELECT ai.vectorizer_queue_pending(1) BETWEEN 10000 AND 200000 AS plausible;
ANALYZE ai._vectorizer_q_1;
SELECT ai.vectorizer_queue_pending(1) BETWEEN 50000 AND 60000 AS near;

-- Rows that were given up.
SELECT ai.vectorizer_queue_failed(1), failed_items FROM ai.vectorizer_status;
INSERT INTO ai._vectorizer_q_failed_1 (a, b, step, error, class, attempts)
VALUES (1, 'x', 'embedding', 'it did not work', 'permanent', 6);
SELECT ai.vectorizer_queue_failed(1), failed_items FROM ai.vectorizer_status;

-- Unknown ones are errors, in every function that takes one.
SELECT ai.vectorizer_queue_pending(99);
SELECT ai.vectorizer_queue_pending('nope');
SELECT ai.vectorizer_queue_pending(NULL::int);
SELECT ai.vectorizer_queue_failed(99);
SELECT ai.drop_vectorizer(99);
SELECT ai.drop_vectorizer('nope');
SELECT ai.drop_vectorizer(NULL::text);
SELECT ai.disable_vectorizer_schedule(99);
SELECT ai.disable_vectorizer_schedule('nope');
SELECT ai.enable_vectorizer_schedule(99);
SELECT ai.enable_vectorizer_schedule('nope');
SELECT ai.set_scheduling(99);

DROP TABLE src CASCADE;
SELECT count(*) FROM ai.vectorizer_status;
