-- Embedding jobs where operators look: health, metrics, who has what, providers; and jobs that end workers.
-- No worker runs here; so all of health but what is said of jobs is left out.
\set SHOW_CONTEXT never
SET intervalstyle = 'postgres';
-- As a superuser may do for them: see max_priority.sql.
SET ai.max_priority = 200;
CREATE ROLE regress_ai_alice;
CREATE ROLE regress_ai_bob;
CREATE ROLE regress_ai_monitor IN ROLE pg_monitor;
CREATE VIEW pg_temp.complaints AS
    SELECT regexp_replace(reason, '\d\d:\d\d:\d\d', '<age>') AS reason FROM ai.health() h, unnest(h.reasons) reason
    WHERE reason ~ 'jobs';
SELECT * FROM complaints;
SELECT priority, pending, processing, retrying, failed, oldest_seconds FROM ai.metrics_jobs ORDER BY priority;

-- One in every state, of two roles.
SET ROLE regress_ai_alice;
SELECT count(*) FROM ai.create_embedding_job(ARRAY['pending', 'processing', 'processing too', 'completed'], ai.embedding_ollama('m', 3), 'low');
SELECT count(*) FROM ai.create_embedding_job(ARRAY['failed', 'cancelled'], ai.embedding_ollama('m', 3), 'urgent');
SET ROLE regress_ai_bob;
SELECT count(*) FROM ai.create_embedding_job(ARRAY['retrying', 'due'], ai.embedding_openai('m', 3), 'urgent');
RESET ROLE;
UPDATE ai.embedding_jobs SET status = 'processing', worker_id = '00000000-0000-0000-0000-00000000000a', attempts = 2,
    started_at = now(), error_message = 'it was down' WHERE input_text ~ 'processing';
UPDATE ai.embedding_jobs SET status = 'retrying', error_message = 'it is down',
    retry_at = now() + CASE input_text WHEN 'due' THEN interval '0' ELSE interval '1 h' END WHERE input_text IN ('retrying', 'due');
UPDATE ai.embedding_jobs SET status = 'completed', embedding_vector = '[1,2,3]', completed_at = now() WHERE input_text = 'completed';
UPDATE ai.embedding_jobs SET status = 'cancelled', completed_at = now() WHERE input_text = 'cancelled';
UPDATE ai.embedding_jobs SET status = 'failed', completed_at = now() WHERE input_text = 'failed';
INSERT INTO ai.embedding_job_failures SELECT id, embedding_model, text_hash, 'embedding', 'suspect', 'it is bad', 1,
    worker_id, created_by FROM ai.embedding_jobs WHERE status = 'failed';
INSERT INTO ai.embedding_job_usage VALUES ('regress_ai_alice'::regrole, 'm', '2026-01-01', 1, 20, 3, 4, 5, 6),
    ('regress_ai_alice'::regrole, 'm', '2026-01-02', 1, 20, 3, 4, 5, 6), ('regress_ai_bob'::regrole, 'm', '2026-01-02', 1, 2, 3, 4, 5, 6);

-- Health: what was given up, what has waited for too long, whatever became of it meanwhile.
SELECT * FROM complaints;
UPDATE ai.embedding_jobs SET created_at = now() - interval '2 days' WHERE status IN ('completed', 'failed', 'cancelled');
SELECT * FROM complaints;
UPDATE ai.embedding_jobs SET created_at = now() - interval '20 minutes' WHERE input_text = 'retrying';
SELECT * FROM complaints;
SELECT reason FROM ai.health('30 minutes') h, unnest(h.reasons) reason WHERE reason ~ 'jobs';

-- Metrics.
SELECT priority, pending, processing, retrying, failed, round(oldest_seconds / 60) AS oldest FROM ai.metrics_jobs ORDER BY priority;
SELECT * FROM ai.metrics_job_usage ORDER BY role;
SELECT line FROM regexp_split_to_table(ai.metrics(), E'\n') WITH ORDINALITY AS l (line, n)
WHERE line ~ '^(# TYPE )?ai_job' AND line !~ 'oldest_seconds{' ORDER BY n;

-- Who has them.
SELECT id, name, status, locked_by, heartbeat_at, rows, last_error FROM ai.job_activity ORDER BY status, locked_by;
SELECT name, locked_by, rows FROM ai.stuck_jobs;

-- Each role sees its own, pg_monitor all; providers of jobs that wait are seen by whose these are.
INSERT INTO ai.provider (endpoint, api_key_name, fingerprint) SELECT DISTINCT ai._embedding_endpoint(embedding_config),
    coalesce(embedding_config ->> 'api_key_name', ''), embedding_config ->> 'implementation' FROM ai.embedding_jobs;
SET ROLE regress_ai_alice;
SELECT status, rows FROM ai.job_activity;
SELECT fingerprint FROM ai.provider_status;
SELECT * FROM ai.metrics_jobs;
SELECT ai._embedding_job_configs('regress_ai_bob'::regrole);
SELECT ai._embedding_jobs_blame(0, '1 h');
SELECT ai._health_jobs('1 h');
SET ROLE regress_ai_bob;
SELECT status, rows FROM ai.job_activity ORDER BY 1;
SELECT fingerprint FROM ai.provider_status;
SET ROLE regress_ai_monitor;
SELECT sum(rows) FROM ai.job_activity;
SELECT count(*) FROM ai.provider_status;
SELECT sum(pending) AS pending FROM ai.metrics_jobs;
SELECT sum(jobs_total) AS jobs FROM ai.metrics_job_usage;
RESET ROLE;

-- Jobs that have ended too many processes, one or more of them each: those that may be such are set aside, no others.
UPDATE ai.embedding_jobs SET crashes = 1, retry_at = now() WHERE input_text = 'due';
INSERT INTO ai.embedding_job_failures SELECT gen_random_uuid(), 'm', 'h', 'worker', 'reclaimed', 'gone', 3,
    ('00000000-0000-0000-0000-00000000000' || n % 2)::uuid, 'regress_ai_alice'::regrole, now() FROM generate_series(1, 4) n;
SELECT ai._embedding_jobs_blame(3, '5 min');
UPDATE ai.embedding_job_failures SET worker_id = gen_random_uuid() WHERE class = 'reclaimed';
SELECT ai._embedding_jobs_blame(3, '5 min');
SELECT input_text, crashes, retry_at > now() + interval '4 min' AS later, retry_at < now() + interval '6 min' AS soon
FROM ai.embedding_jobs WHERE status = 'retrying' ORDER BY 1;
UPDATE ai.embedding_jobs SET retry_at = now() WHERE input_text = 'due';
UPDATE ai.embedding_job_failures SET failed_at = now() - interval '10 min';
SELECT ai._embedding_jobs_blame(3, '5 min');

DELETE FROM ai.embedding_jobs;
DELETE FROM ai.embedding_job_failures;
DELETE FROM ai.embedding_job_usage;
DELETE FROM ai.provider;
DROP ROLE regress_ai_alice, regress_ai_bob, regress_ai_monitor;
