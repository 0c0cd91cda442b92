-- The errors of a vectorizer are bounded when they are written: the newest thousand stay.
\set SHOW_CONTEXT never
SET client_min_messages = warning;
CREATE TABLE bad (id int PRIMARY KEY, body text);
CREATE TABLE calm (id int PRIMARY KEY, body text);
SELECT ai.create_vectorizer('bad', name => 'bad', loading => ai.loading_column('body'), embedding => ai.embedding_local('m', 3)) AS bad \gset
SELECT ai.create_vectorizer('calm', name => 'calm', loading => ai.loading_column('body'), embedding => ai.embedding_local('m', 3)) AS calm \gset
CREATE VIEW kept AS SELECT v.name, count(*), min(e.message::int), max(e.message::int), count(DISTINCT e.slot) AS slots
FROM ai._vectorizer_errors e JOIN ai.vectorizer v ON v.id = e.id GROUP BY 1;

-- One statement: each row sees those before.
INSERT INTO ai._vectorizer_errors (id, message) SELECT :bad, n FROM generate_series(1, 3000) n;
SELECT * FROM kept ORDER BY 1;
-- One vectorizer does not drive out the errors of another, however they come.
INSERT INTO ai._vectorizer_errors (id, message)
SELECT CASE WHEN n % 200 = 0 THEN :calm ELSE :bad END, n FROM generate_series(20001, 24000) n;
SELECT * FROM kept ORDER BY 1;
-- One by one, and whatever time they are of: the order is that of their coming.
INSERT INTO ai._vectorizer_errors (id, message, recorded) VALUES (:bad, '24001', now() - interval '1 day');
INSERT INTO ai._vectorizer_errors (id, message) VALUES (:bad, '24002');
SELECT * FROM kept ORDER BY 1;
SELECT count(*) FROM ai.vectorizer_errors WHERE name = 'bad';
-- The statement by which a worker makes dead letters of rows.
INSERT INTO ai._vectorizer_q_work_:bad (id, queued_at, priority, lease)
SELECT n, now(), 0, 'a0000000-0000-0000-0000-000000000001' FROM generate_series(50001, 52000) n;
SELECT s AS dead_letter FROM unnest(ai._worker_statements(:bad)) s WHERE s LIKE '%INTO ai._vectorizer_errors%' \gset
PREPARE dead_letter (tid[], uuid, text, text, text) AS :dead_letter;
SELECT array_agg(ctid) AS tids FROM ai._vectorizer_q_work_:bad \gset
EXECUTE dead_letter (:'tids', 'a0000000-0000-0000-0000-000000000001', 'embedding', '52000', 'permanent');
SELECT count(*), min((details #>> '{key,id}')::int) FROM ai.vectorizer_errors WHERE name = 'bad';
SELECT ai.vectorizer_queue_failed(:bad);
-- What was rolled back leaves no gap.
BEGIN;
INSERT INTO ai._vectorizer_errors (id, message) SELECT :bad, n FROM generate_series(60001, 60500) n;
ROLLBACK;
SELECT count(*), count(DISTINCT slot) FROM ai._vectorizer_errors WHERE id = :bad;

-- An error that opens a circuit breaker is one error, whether the worker that met it tells it first
-- or one that met the open breaker.
DELETE FROM ai._vectorizer_errors;
\set worker '''a0000000-0000-0000-0000-000000000001'''
SELECT ai._record_error(:bad, 'key refused', 'embedding', 'configuration', :worker, NULL);
SELECT ai._record_open_breaker(:bad, 'breaker is open: key refused', 'configuration', :worker, NULL, now() - interval '1 minute');
SELECT ai._record_open_breaker(:calm, 'breaker is open: key refused', 'configuration', :worker, NULL, now() - interval '1 minute');
SELECT ai._record_error(:calm, 'key refused', 'embedding', 'configuration', :worker, NULL);
SELECT v.name, e.message FROM ai._vectorizer_errors e JOIN ai.vectorizer v ON v.id = e.id ORDER BY 1;
SELECT ai._record_error(:calm, 'another error', 'embedding', 'configuration', :worker, NULL);

DROP VIEW kept;
SELECT ai.drop_vectorizer('bad', true), ai.drop_vectorizer('calm', true);
SELECT count(*) FROM ai._vectorizer_errors WHERE id IN (:bad, :calm);
DROP TABLE bad, calm;
