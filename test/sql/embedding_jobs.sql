-- Embedding jobs in SQL: who makes, sees, cancels and retries them, and what is refused. No worker runs
-- here; what workers do is in test/t/080_embedding_jobs.pl.
\set SHOW_CONTEXT never
-- As a superuser may do for them: see max_priority.sql.
SET ai.max_priority = 200;
CREATE ROLE regress_ai_alice;
CREATE ROLE regress_ai_bob;
CREATE ROLE regress_ai_team;
CREATE ROLE regress_ai_monitor;
GRANT regress_ai_alice TO regress_ai_team;
GRANT pg_monitor TO regress_ai_monitor;

-- One text, several texts; ids come in the order of the texts.
SET ROLE regress_ai_alice;
SELECT ai.create_embedding_job('one text') AS job \gset
SELECT status, priority, embedding_model, embedding_config, input_text, text_hash, attempts, max_attempts,
    started_at, completed_at, embedding_vector, embedding_dimensions, error_message, processing_time_ms,
    worker_id, worker_version, metadata, created_by
FROM ai.embedding_job(:'job') \gx
SELECT array_agg(id ORDER BY place) AS jobs FROM ai.create_embedding_job(
    ARRAY['b', 'a', 'c', 'a'], ai.embedding_openai('text-embedding-3-small', 1536), 'high', 5,
    '{"from": "test"}', 'done') WITH ORDINALITY AS j (id, place) \gset
SELECT j.input_text, j.priority, j.max_attempts, j.metadata, j.notify_channel, j.status
FROM unnest(:'jobs'::uuid[]) WITH ORDINALITY AS i (id, place), ai.embedding_job(i.id) j ORDER BY i.place;
SELECT count(*) FROM ai.create_embedding_job('{}'::text[]);
SELECT (ai.create_embedding_job(ARRAY['x', 'y'])) IS NOT NULL AS made;
SELECT count(DISTINCT config_key) FROM ai.embedding_jobs;

-- In the way of PostgREST: arguments by name, out of a JSON body.
SELECT w.status, w.priority, w.metadata FROM (
    SELECT ai.create_embedding_job(input_text := a.input_text, embedding := a.embedding,
                                   priority := a.priority, metadata := a.metadata)
    FROM json_to_record('{"input_text": "by name", "priority": "urgent", "metadata": {"n": 1},
        "embedding": {"config_type": "embedding", "implementation": "ollama", "model": "m", "dimensions": 3}}')
        AS a (input_text text, embedding jsonb, priority ai.job_priority, metadata jsonb)) AS j (id),
    ai.wait_for_embedding_job(j.id, '0') w;

-- A name that does not change, for the messages below.
RESET ROLE;
UPDATE ai.embedding_jobs SET id = '01900000-0000-7000-8000-000000000001' WHERE id = :'job'
RETURNING id AS job \gset
SET ROLE regress_ai_alice;

-- What cannot be a job.
SELECT ai.create_embedding_job(NULL::text);
SELECT ai.create_embedding_job(NULL::text[]);
SELECT ai.create_embedding_job(ARRAY['a', NULL]);
SELECT ai.create_embedding_job(ARRAY[['a', 'b'], ['c', NULL]]);
BEGIN;
SELECT count(*) FROM ai.create_embedding_job(ARRAY[['a', 'b'], ['c', 'd']]);
ROLLBACK;
SELECT ai.create_embedding_job('');
SELECT ai.create_embedding_job(E' \n\t ');
SELECT ai.create_embedding_job('a', priority => 'soon');
SELECT ai.create_embedding_job('a', priority => NULL);
SELECT ai.create_embedding_job('a', max_attempts => 0);
SELECT ai.create_embedding_job('a', max_attempts => NULL);
SELECT ai.create_embedding_job('a', notify_channel => '');
SELECT ai.create_embedding_job('a', notify_channel => repeat('x', 64));
SELECT ai.create_embedding_job('a', embedding => NULL);
SELECT ai.create_embedding_job('a', embedding => '{"config_type": "embedding", "implementation": "abacus"}');
SELECT ai.create_embedding_job('a', embedding => ai.embedding_openai('m', 3, base_url => 'http://user:pass@host/'));

-- A role sees its own jobs, and those of roles it is a member of; pg_monitor sees all. Nobody writes.
SELECT count(*) FROM ai.embedding_jobs;
INSERT INTO ai.embedding_jobs (embedding_model) VALUES ('m');
UPDATE ai.embedding_jobs SET status = 'completed';
DELETE FROM ai.embedding_jobs;
DELETE FROM ai.embedding_job_failures;
SELECT ai._create_embedding_job('regress_ai_bob'::regrole, 'forged', NULL, 'low', 1, NULL, NULL);
SELECT ai._poll_jobs(true);
SET ROLE regress_ai_bob;
SELECT count(*) FROM ai.embedding_jobs;
SELECT count(*) FROM ai.embedding_job(:'job');
SELECT count(*) FROM ai.list_embedding_jobs();
SELECT ai.cancel_embedding_job(:'job');
SELECT ai.retry_embedding_job(:'job');
SELECT ai.wait_for_embedding_job(:'job', '0');
SELECT * FROM ai.embedding_job_health;
SET ROLE regress_ai_team;
SELECT count(*) FROM ai.embedding_jobs;
SET ROLE regress_ai_monitor;
SELECT count(*) FROM ai.embedding_jobs;
SELECT ai.cancel_embedding_job(:'job');
SELECT ai.retry_embedding_job(:'job');

-- Lists: the newest first, by status and priority, page by page.
SET ROLE regress_ai_alice;
SELECT priority, status, count(*) FROM ai.list_embedding_jobs() GROUP BY 1, 2 ORDER BY 1;
SELECT count(*) FROM ai.list_embedding_jobs(status => 'completed');
SELECT input_text FROM ai.list_embedding_jobs('pending', 'high', max_rows => 10) ORDER BY 1;
SELECT input_text FROM ai.list_embedding_jobs(max_rows => 1);
SELECT input_text FROM ai.list_embedding_jobs(before => (SELECT created_at FROM ai.embedding_job(:'job')));
SELECT count(*) FROM ai.list_embedding_jobs(before => now() + interval '1 min');
SELECT t, (SELECT count(*) FROM ai.list_embedding_jobs(before => t)) FROM unnest('{-infinity, 1960-01-01, 12000-01-01,
    infinity}'::timestamptz[]) t;
SELECT count(*) FROM ai.list_embedding_jobs(max_rows => NULL);
SELECT count(*) FROM ai.list_embedding_jobs(max_rows => -1);
WITH RECURSIVE page AS (
    SELECT 1 AS number, ARRAY(SELECT id FROM ai.list_embedding_jobs(max_rows => 3)) AS ids
    UNION ALL
    SELECT p.number + 1, ARRAY(SELECT id FROM ai.list_embedding_jobs(max_rows => 3, before_id => p.ids[3]))
    FROM page p WHERE p.ids[3] IS NOT NULL
) SELECT p.number, cardinality(p.ids), (SELECT count(*) FROM unnest(p.ids) i JOIN ai.embedding_jobs j ON j.id = i) AS known
FROM page p;
SELECT bool_and(substr(id::text, 15, 1) = '7' AND id >= ai._first_job_id(created_at - interval '1 s')
                AND id < ai._first_job_id(created_at + interval '1 min')) FROM ai.embedding_jobs WHERE id <> :'job';

-- Cancel, and once more; begin anew.
SELECT ai.cancel_embedding_job(:'job');
SELECT ai.cancel_embedding_job(:'job');
SELECT status, completed_at IS NOT NULL AS ended FROM ai.embedding_job(:'job');
SELECT ai.retry_embedding_job(:'job');
SELECT ai.retry_embedding_job(:'job');
SELECT status, completed_at FROM ai.embedding_job(:'job');
SELECT ai.cancel_embedding_job('00000000-0000-0000-0000-000000000000');
SELECT ai.cancel_embedding_job(NULL);
SELECT ai.retry_embedding_job('00000000-0000-0000-0000-000000000000');

-- Both, in each state.
RESET ROLE;
CREATE FUNCTION pg_temp.in_each_state() RETURNS void LANGUAGE sql AS $$
    DELETE FROM ai.embedding_jobs WHERE metadata = '"states"';
    DELETE FROM ai.embedding_job_failures;
    INSERT INTO ai.embedding_jobs (status, embedding_model, embedding_config, config_key, input_text, text_hash, metadata,
        created_by, attempts, started_at, retry_at, completed_at, embedding_vector, worker_id, error_message)
    SELECT s, 'm', '{}', gen_random_uuid(), s, s, '"states"', 'regress_ai_alice'::regrole, 1, now(),
        CASE s WHEN 'retrying' THEN now() END, CASE WHEN s IN ('completed', 'failed', 'cancelled') THEN now() END,
        CASE s WHEN 'completed' THEN '[1]'::vector END, gen_random_uuid(), 'trouble'
    FROM unnest(enum_range(NULL::ai.job_status)) s;
    INSERT INTO ai.embedding_job_failures SELECT id, embedding_model, text_hash, 'embedding', 'suspect', error_message,
        attempts, worker_id, created_by FROM ai.embedding_jobs WHERE status = 'failed'
$$;
SELECT pg_temp.in_each_state();
SET ROLE regress_ai_alice;
SELECT input_text AS was, ai.cancel_embedding_job(id) AS cancelled FROM ai.embedding_jobs WHERE metadata = '"states"' ORDER BY id;
SELECT input_text AS was, status, attempts, retry_at, completed_at IS NOT NULL AS ended, error_message
FROM ai.embedding_jobs WHERE metadata = '"states"' ORDER BY id;
SELECT count(*) AS letters FROM ai.embedding_job_failures;
RESET ROLE;
SELECT pg_temp.in_each_state();
SET ROLE regress_ai_alice;
SELECT input_text AS was, ai.retry_embedding_job(id) AS retried FROM ai.embedding_jobs WHERE metadata = '"states"' ORDER BY id;
SELECT input_text AS was, status, attempts, retry_at IS NOT NULL AS waits, completed_at IS NOT NULL AS ended, error_message
FROM ai.embedding_jobs WHERE metadata = '"states"' ORDER BY id;
SELECT count(*) AS letters FROM ai.embedding_job_failures;
RESET ROLE;
DELETE FROM ai.embedding_jobs WHERE metadata = '"states"';
DROP FUNCTION pg_temp.in_each_state;
SET ROLE regress_ai_alice;

-- Waiting without a worker: as long as asked for, and not for what nobody can see yet.
SELECT status FROM ai.wait_for_embedding_job(:'job', '0');
SELECT status FROM ai.wait_for_embedding_job(:'job', '-1 s');
SELECT status FROM ai.wait_for_embedding_job(:'job', '10 ms');
SET statement_timeout = '20ms';
SELECT status FROM ai.wait_for_embedding_job(:'job', NULL);
SELECT status FROM ai.wait_for_embedding_job(:'job', '1000 years');
RESET statement_timeout;
SELECT status FROM ai.wait_for_embedding_job(:'job', '-1000 years');
SELECT status FROM ai.wait_for_embedding_job(:'job', '1000000 years');
SELECT ai.wait_for_embedding_job('00000000-0000-0000-0000-000000000000');
SELECT ai.wait_for_embedding_job(NULL);
BEGIN;
SELECT ai.create_embedding_job('not committed') AS uncommitted \gset
SELECT status FROM ai.wait_for_embedding_job(:'uncommitted', '0');
SELECT status FROM ai.wait_for_embedding_job(:'uncommitted', '1 min');
ROLLBACK;

-- A text that was embedded has its vector at once: for the same role, model and dimensions, and not for
-- ever.
RESET ROLE;
UPDATE ai.embedding_jobs SET status = 'completed', completed_at = now(), embedded_at = now() - interval '50 min',
    embedding_vector = '[1,2,3]', embedding_dimensions = 3, worker_id = gen_random_uuid(), processing_time_ms = 7
WHERE input_text = 'by name';
SET ROLE regress_ai_alice;
\set same '{"model": "m", "dimensions": 3, "implementation": "ollama", "config_type": "embedding"}'
CREATE FUNCTION pg_temp.again(input_text text, embedding jsonb, OUT status ai.job_status, OUT vector text,
        OUT dimensions int, OUT reused boolean, OUT attempts int, OUT as_old boolean)
    LANGUAGE sql AS $$
    SELECT j.status, j.embedding_vector::text, j.embedding_dimensions, j.reused_from IS NOT NULL, j.attempts,
        j.embedded_at < now() - interval '49 min'
    FROM ai.create_embedding_job(input_text, embedding) i, ai.wait_for_embedding_job(i, '0') j $$;
SELECT * FROM pg_temp.again('by name', :'same');
SELECT * FROM pg_temp.again('By name', :'same');
SELECT * FROM pg_temp.again('by name', ai.embedding_ollama('m', 4));
SELECT * FROM pg_temp.again('by name', ai.embedding_ollama('other', 3));
SELECT * FROM pg_temp.again('by name', ai.embedding_ollama('m', 3, base_url => 'http://127.0.0.1'));
RESET ROLE;
SELECT * FROM pg_temp.again('by name', :'same');
UPDATE ai.embedding_jobs SET embedded_at = now() - interval '61 min' WHERE embedded_at IS NOT NULL;
SET ROLE regress_ai_alice;
SELECT * FROM pg_temp.again('by name', :'same');
RESET ROLE;

DROP FUNCTION pg_temp.again;

-- Dead letters: seen by whom they belong to, brought back, or forgotten.
SELECT id AS failed FROM ai.embedding_jobs WHERE input_text = 'x' \gset
SELECT id AS failed_too FROM ai.embedding_jobs WHERE input_text = 'y' \gset
UPDATE ai.embedding_jobs SET status = 'failed', attempts = 3, error_message = 'bad', completed_at = now(),
    worker_id = gen_random_uuid(), processing_time_ms = 9 WHERE id IN (:'failed', :'failed_too');
INSERT INTO ai.embedding_job_failures SELECT id, embedding_model, text_hash, 'embedding', 'suspect', error_message,
    attempts, worker_id, created_by FROM ai.embedding_jobs WHERE status = 'failed';
SET ROLE regress_ai_bob;
SELECT count(*) FROM ai.embedding_job_failures;
SET ROLE regress_ai_alice;
SELECT step, class, error_message, attempts, created_by FROM ai.embedding_job_failures;
SELECT status, error_message FROM ai.wait_for_embedding_job(:'failed');
SELECT ai.retry_embedding_job(job_id) FROM ai.embedding_job_failures WHERE job_id = :'failed';
SELECT status, attempts, error_message, completed_at FROM ai.embedding_job(:'failed');
SELECT ai.cancel_embedding_job(:'failed_too');
SELECT status FROM ai.embedding_job(:'failed_too');
SELECT count(*) FROM ai.embedding_job_failures;

-- How it is going.
SELECT status, priority, count, round(avg_time_ms) AS avg_time_ms, newest >= oldest AS ordered
FROM ai.embedding_job_health;
SELECT jobs_completed, round(avg_time) AS avg_time, failures FROM ai.embedding_worker_performance ORDER BY 1;
RESET ROLE;

-- What must be true of each row.
\set VERBOSITY terse
UPDATE ai.embedding_jobs SET attempts = max_attempts + 1;
UPDATE ai.embedding_jobs SET attempts = -1;
UPDATE ai.embedding_jobs SET status = 'completed', embedding_vector = NULL;
UPDATE ai.embedding_jobs SET status = 'processing', worker_id = NULL;
UPDATE ai.embedding_jobs SET status = 'retrying', retry_at = NULL;

\set VERBOSITY default

-- What workers look for: one row for each role and configuration, with the highest priority.
DELETE FROM ai.embedding_jobs;
SET ROLE regress_ai_alice;
SELECT count(*) FROM ai.create_embedding_job(ARRAY['a', 'b'], ai.embedding_ollama('m', 3), 'low');
SELECT count(*) FROM ai.create_embedding_job(ARRAY['a', 'b'], ai.embedding_ollama('m', 4), 'normal');
SELECT count(*) FROM ai.create_embedding_job(ARRAY['c'], ai.embedding_ollama('m', 4), 'urgent');
SET ROLE regress_ai_bob;
SELECT count(*) FROM ai.create_embedding_job(ARRAY['d'], ai.embedding_ollama('m', 4), 'high');
SELECT count(*) FROM ai.create_embedding_job(ARRAY['e'], ai.embedding_ollama('m', 5), 'high');
RESET ROLE;
UPDATE ai.embedding_jobs SET status = 'retrying', retry_at = now() + interval '1 h' WHERE input_text IN ('b', 'e');
SELECT l.created_by::regrole, j.dimensions, l.priority, l.retry_in_ms > 3000000 AS in_an_hour, l.suspect_in_ms
FROM ai._poll_jobs(true) l, LATERAL (SELECT min((j.embedding_config ->> 'dimensions')::int) AS dimensions
    FROM ai.embedding_jobs j WHERE j.config_key = l.config_key) j ORDER BY 1, 2;

-- Jobs of worker processes that are gone are released, to be tried apart from the others, and given up after
-- the last attempt, or when they were alone with a process that died.
UPDATE ai.embedding_jobs SET status = 'processing', retry_at = NULL, attempts = 1, started_at = now(),
    worker_id = CASE input_text WHEN 'a' THEN '00000000-0000-0000-0000-00000000000a'::uuid
                ELSE '00000000-0000-0000-0000-00000000000b' END,
    max_attempts = CASE input_text WHEN 'b' THEN 1 ELSE 3 END WHERE input_text IN ('a', 'b', 'c');
SELECT * FROM ai._embedding_jobs_reclaim('{00000000-0000-0000-0000-00000000000a}', '1 h');
SELECT input_text, status, attempts, crashes, error_message FROM ai.embedding_jobs ORDER BY input_text, config_key;
SELECT l.created_by::regrole, l.priority, l.retry_in_ms > 0 AS later, l.suspect_in_ms <= 0 AS suspect FROM ai._poll_jobs(true) l
ORDER BY 1, 2, 3;
SELECT count(*) FROM ai._poll_jobs(false) WHERE suspect_in_ms IS NOT NULL;
UPDATE ai.embedding_jobs SET status = 'processing', retry_at = NULL, crashes = 2 WHERE input_text IN ('a', 'c');
SELECT * FROM ai._embedding_jobs_reclaim('{}', '1 h', '{00000000-0000-0000-0000-00000000000b}') ORDER BY 1;
SELECT input_text, status, crashes, error_message FROM ai.embedding_jobs WHERE input_text IN ('a', 'c') ORDER BY 1;
SELECT step, class, error_message FROM ai.embedding_job_failures;

-- A process that is there and has not been heard of for too long has lost its jobs, too.
INSERT INTO ai.vectorizer_worker_process (id, version, expected_heartbeat_interval, last_heartbeat)
SELECT id, 'test', '5 s', now() - age FROM (VALUES ('00000000-0000-0000-0000-00000000000c'::uuid, interval '6 min'),
    ('00000000-0000-0000-0000-00000000000d', '4 min')) AS p (id, age);
UPDATE ai.embedding_jobs SET status = 'processing', retry_at = NULL, crashes = 0, attempts = 1,
    worker_id = '00000000-0000-0000-0000-00000000000c' WHERE input_text = 'd';
UPDATE ai.embedding_jobs SET status = 'processing', retry_at = NULL, crashes = 0, attempts = 1,
    worker_id = '00000000-0000-0000-0000-00000000000d' WHERE input_text = 'e';
SELECT * FROM ai._embedding_jobs_reclaim('{00000000-0000-0000-0000-00000000000c,00000000-0000-0000-0000-00000000000d}', '300 s');
SELECT input_text, status, error_message FROM ai.embedding_jobs WHERE input_text IN ('d', 'e') ORDER BY 1;
DELETE FROM ai.vectorizer_worker_process WHERE version = 'test';

-- Old ones go, some at a time; those that were given up stay.
UPDATE ai.embedding_jobs SET status = 'completed', embedding_vector = '[1]', retry_at = NULL,
    completed_at = now() - interval '1 day' WHERE status <> 'failed';
UPDATE ai.embedding_jobs SET status = 'cancelled' WHERE input_text = 'e';
UPDATE ai.embedding_jobs SET completed_at = now() - interval '1 day' WHERE status = 'failed';
SELECT ai._embedding_jobs_prune('2 days', 10);
SELECT ai._embedding_jobs_prune('1 hour', 2);
SELECT ai._embedding_jobs_prune('1 hour', 10);
SELECT status, count(*) FROM ai.embedding_jobs GROUP BY 1;

-- A role may be dropped whatever became of its jobs; nobody does them then, and superusers can let go of them.
DELETE FROM ai.embedding_jobs;
DELETE FROM ai.embedding_job_failures;
CREATE ROLE regress_ai_gone;
SET ROLE regress_ai_gone;
SELECT ai.create_embedding_job('left behind') AS left_behind \gset
RESET ROLE;
SELECT count(*) FROM ai._poll_jobs(true);
DROP ROLE regress_ai_gone;
SELECT count(*) FROM ai._poll_jobs(true);
SET ROLE regress_ai_monitor;
SELECT status, priority, count FROM ai.embedding_job_health;
SET ROLE regress_ai_bob;
SELECT count(*) FROM ai.embedding_job(:'left_behind');
RESET ROLE;
SELECT ai.cancel_embedding_job(:'left_behind');

DELETE FROM ai.embedding_jobs;
DROP ROLE regress_ai_alice, regress_ai_bob, regress_ai_team, regress_ai_monitor;
