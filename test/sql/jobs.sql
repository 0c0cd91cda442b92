-- Jobs: in which state the rows of a vectorizer are, who may see it, and how failed ones come back.
\set SHOW_CONTEXT never
SELECT setval('ai.vectorizer_id_seq', 1, false);
CREATE ROLE regress_ai_owner;
CREATE ROLE regress_ai_reader;
CREATE ROLE regress_ai_other;
CREATE SCHEMA jobs AUTHORIZATION regress_ai_owner;
GRANT USAGE ON SCHEMA jobs TO regress_ai_reader, regress_ai_other;
SET ROLE regress_ai_owner;
CREATE TABLE jobs.src (a int, "B" text[], body text, PRIMARY KEY (a, "B"));
INSERT INTO jobs.src SELECT g, ARRAY['x', NULL], 'body' FROM generate_series(1, 6) g;
GRANT SELECT ON jobs.src TO regress_ai_reader;
SELECT ai.create_vectorizer('jobs.src', name => 'v', loading => ai.loading_column('body'),
    embedding => ai.embedding_local('m', 3));
RESET ROLE;

-- Every state; a row is one job, however many entries it has.
INSERT INTO ai._vectorizer_q_work_1 (a, "B", queued_at, priority, attempts, retry_at, lease, error) VALUES
    (2, '{x,NULL}', '2026-01-01Z', 0, 0, NULL, '00000000-0000-0000-0000-000000000001', NULL),
    (3, '{x,NULL}', '2026-01-01Z', 0, 2, '3000-01-01Z', NULL, 'it was down'),
    (4, '{x,NULL}', '2026-01-01Z', 0, 1, '2026-01-02Z', NULL, 'it was gone');
INSERT INTO ai._vectorizer_q_failed_1 (a, "B", step, error, class, attempts, failed_at) VALUES
    (5, '{x,NULL}', 'embedding', 'it was bad', 'suspect', 1, '2026-01-03Z'),
    (6, '{x,NULL}', 'embedding', 'it was worse', 'suspect', 6, '2026-01-03Z'),
    (1, '{x,NULL}', 'embedding', 'before it changed', 'suspect', 6, '2026-01-03Z');
DELETE FROM ai._vectorizer_q_1 WHERE a > 2;
INSERT INTO ai._vectorizer_q_1 (a, "B") VALUES (1, '{x,NULL}');
SET timezone = 'UTC';
SET ROLE regress_ai_owner;
SELECT key, status, attempts, CASE WHEN queued < now() - interval '1 h' THEN queued END AS queued,
    next_retry, worker, last_error FROM ai.jobs(1) ORDER BY key;
SELECT count(*) FROM ai.jobs('v');
SELECT * FROM ai.job_counts;
SELECT * FROM ai.job_counts(1);
SELECT (ai.jobs(1)).status FROM generate_series(1, 1) ORDER BY 1 LIMIT 2;

-- What this transaction has changed is seen at once.
BEGIN;
UPDATE jobs.src SET body = 'new' WHERE a = 6;
SELECT status FROM ai.jobs(1) WHERE key ->> 'a' = '6';
ROLLBACK;

-- Whoever may read the table may look, and no more.
SET ROLE regress_ai_reader;
SELECT count(*) FROM ai.jobs(1);
SELECT name, failed FROM ai.job_counts;
SELECT ai.retry_failed(1);
SET ROLE regress_ai_other;
SELECT * FROM ai.jobs(1);
SELECT * FROM ai.jobs('v');
SELECT * FROM ai.job_counts(1);
SELECT * FROM ai.job_counts;
SELECT ai.retry_failed('v');
SELECT * FROM ai._jobs(0, 1);
SELECT ai._retry_failed(10, 1, NULL);

-- One comes back, then all.
SET ROLE regress_ai_owner;
SELECT ai.retry_failed(1, '{"a": 5}');
SELECT ai.retry_failed(1, '{"a": 5, "B": ["x"]}');
SELECT ai.retry_failed(1, '{"B": ["x", null], "a": 5}');
SELECT status, attempts, last_error FROM ai.jobs(1) WHERE key ->> 'a' = '5';
SELECT ai.retry_failed('v');
SELECT ai.retry_failed('v');
SELECT * FROM ai.job_counts;
SELECT ai.retry_failed(99);
SELECT ai.retry_failed('nope');
SELECT * FROM ai.jobs(99);
SELECT * FROM ai.jobs('nope');
RESET ROLE;

-- A type of a user may have a cast to json: it is not used.
CREATE TYPE jobs.key AS (n int);
CREATE FUNCTION jobs.steal(jobs.key) RETURNS json LANGUAGE plpgsql AS $$
BEGIN RAISE EXCEPTION 'ran as %', current_user; END $$;
CREATE CAST (jobs.key AS json) WITH FUNCTION jobs.steal(jobs.key);
CREATE TABLE jobs.typed (id jobs.key PRIMARY KEY, body text);
INSERT INTO jobs.typed VALUES (ROW(1), 'body');
SELECT ai.create_vectorizer('jobs.typed', name => 'typed', loading => ai.loading_column('body'),
    embedding => ai.embedding_local('m', 3));
SELECT key, status FROM ai.jobs('typed');
INSERT INTO ai._vectorizer_q_failed_2 (id, step, error, class) VALUES (ROW(2), 'embedding', 'bad', 'suspect');
SELECT ai.retry_failed('typed', '{"id": "(2)"}');

DROP SCHEMA jobs CASCADE;
DROP ROLE regress_ai_owner, regress_ai_reader, regress_ai_other;
