-- What an operator sees: states in words, health with its reasons, progress, metrics; and who sees it.
\set SHOW_CONTEXT never
SET client_min_messages = warning;
SET timezone = 'UTC';
SET datestyle = 'ISO';
SET intervalstyle = 'postgres';
SELECT setval('ai.vectorizer_id_seq', 1, false);
CREATE ROLE regress_ai_owner;
CREATE ROLE regress_ai_monitor IN ROLE pg_monitor;
CREATE ROLE regress_ai_other;
CREATE SCHEMA monitoring AUTHORIZATION regress_ai_owner;
SET ROLE regress_ai_owner;
CREATE TABLE monitoring.src (a int, b text, body text, PRIMARY KEY (a, b));
INSERT INTO monitoring.src SELECT g, 'x', 'body' FROM generate_series(1, 100) g;
SELECT ai.create_vectorizer('monitoring.src', name => 'v', loading => ai.loading_column('body'),
    embedding => ai.embedding_openai('m', 3));
RESET ROLE;
-- Times and ages are what they are, and so is who runs this.
CREATE FUNCTION pg_temp.timeless(words text) RETURNS text LANGUAGE sql AS $$
    SELECT regexp_replace(regexp_replace(replace(words, session_user || ' paused', '<me> paused'),
        '\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\+00', '<time>', 'g'), '\d\d:\d\d:\d\d', '<age>', 'g')
$$;
CREATE VIEW pg_temp.words AS
    SELECT pending, running, retrying, failed, state, pg_temp.timeless(state_reason) AS reason, last_error
    FROM ai.vectorizer_status WHERE name = 'v';
CREATE VIEW pg_temp.complaints AS
    SELECT ok, pg_temp.timeless(reason) AS reason FROM ai.health() h LEFT JOIN unnest(h.reasons) reason ON true;

-- The columns, in their order.
SELECT string_agg(attname, ' ' ORDER BY attnum) FROM pg_attribute
WHERE attrelid = 'ai.vectorizer_status'::regclass AND attnum > 0;

-- Nobody works here.
SELECT * FROM words;
SELECT pending_items, failed_items, oldest_pending_age BETWEEN '0' AND '1 hour' AS has_age, rows_per_minute,
    estimated_time_left, last_error_at FROM ai.vectorizer_status;
SELECT * FROM complaints;
SELECT ai.all_workers_healthy(), ai.get_crashed_workers(), ai.get_failed_workers();

-- Workers, made where nobody looks: they start, one crashes, one is silent, one fails.
ALTER TABLE ai.worker DISABLE TRIGGER guard;
BEGIN;
CREATE FUNCTION pg_temp.workers(statuses text[]) RETURNS void LANGUAGE sql AS $$
    DELETE FROM ai.worker;
    INSERT INTO ai.worker (component, status)
    SELECT CASE n WHEN 1 THEN 'coordinator' ELSE 'worker:vectorizer:' || n - 2 END, status
    FROM unnest(statuses) WITH ORDINALITY AS s (status, n);
$$;
SELECT pg_temp.workers('{healthy,starting}');
SELECT state, reason FROM words;
SELECT pg_temp.workers('{healthy,healthy,crashed,failed}');
UPDATE ai.worker SET details = '{"error_message": "process exited unexpectedly"}' WHERE status = 'crashed';
SELECT state, reason FROM words;
SELECT * FROM complaints;
SELECT ai.all_workers_healthy(), ai.get_crashed_workers(), ai.get_failed_workers();
UPDATE ai.worker SET last_seen = now() - interval '1 hour' WHERE component = 'coordinator';
SELECT * FROM complaints WHERE reason ~ 'coordinator';
UPDATE ai.worker SET last_seen = now() - interval '1 hour';
SELECT state, reason FROM words;
-- One that runs elsewhere takes no rows.
SELECT pg_temp.workers('{healthy}');
INSERT INTO ai.worker (component, status) VALUES ('worker:outside:0', 'healthy');
SELECT state, reason FROM words;
SELECT pg_temp.workers('{healthy,healthy}');
SELECT * FROM complaints;
SELECT ai.all_workers_healthy(), ai.get_crashed_workers(), ai.get_failed_workers();

-- Rows in every state.
INSERT INTO ai._vectorizer_q_work_1 (a, b, queued_at, priority, lease, taken_at)
SELECT a, b, now(), 0, '00000000-0000-0000-0000-000000000001', now() FROM monitoring.src WHERE a <= 10;
DELETE FROM ai._vectorizer_q_1 WHERE a <= 5 OR a > 90;
INSERT INTO ai._vectorizer_q_work_1 (a, b, queued_at, priority, attempts, retry_at, taken_at, error)
SELECT a, b, now() - interval '2 hours', 0, 2, now() + interval '1 day', now() - interval '1 minute', 'it was down'
FROM monitoring.src WHERE a > 95;
INSERT INTO ai._vectorizer_q_failed_1 (a, b, step, error, class, attempts)
SELECT a, b, 'embedding', 'it was bad', 'suspect', 1 FROM monitoring.src WHERE a IN (94, 95);
SELECT * FROM words;
SELECT pending_items = ai.vectorizer_queue_pending(1, true) AS agrees, date_trunc('hour', oldest_pending_age) AS oldest
FROM ai.vectorizer_status;
SELECT ai.vectorizer_progress('v');
SELECT * FROM complaints;
SELECT reason FROM ai.health('3 hours') h, unnest(h.reasons) reason;
SELECT name, status, locked_by, heartbeat_at, rows, last_error FROM ai.job_activity ORDER BY status;
SELECT name, status, locked_by, rows FROM ai.stuck_jobs;
INSERT INTO ai.vectorizer_worker_process (id, version, expected_heartbeat_interval)
VALUES ('00000000-0000-0000-0000-000000000001', '1', '5s');
SELECT count(*) FROM ai.stuck_jobs;
UPDATE ai.vectorizer_worker_process SET last_heartbeat = now() - interval '301 seconds';
SELECT date_trunc('minute', time_since_heartbeat) FROM ai.stuck_jobs;
DELETE FROM ai.vectorizer_worker_process;

-- The provider is in the way.
INSERT INTO ai.provider (endpoint, api_key_name, fingerprint, breaker, failure_streak, next_probe, last_failure_at, last_error)
SELECT ai._embedding_endpoint(config -> 'embedding'), 'OPENAI_API_KEY', 'f', 'open', 5, now() + interval '5 minutes',
    now() + interval '1 second', 'no route to host' FROM ai.vectorizer;
SELECT state, reason, last_error FROM words;
SELECT * FROM complaints WHERE reason ~ 'provider';
UPDATE ai.provider SET breaker = 'closed', failure_streak = 0, cooldown_until = now() + interval '1 minute';
SELECT state, reason, last_error FROM words;
UPDATE ai.provider SET cooldown_until = NULL, paused_until = 'infinity';
SELECT state, reason FROM words;
UPDATE ai.provider SET paused_until = NULL, enabled = false;
SELECT state, reason FROM words;
UPDATE ai.provider SET enabled = true;
SELECT state, reason FROM words;

-- Somebody is.
SELECT ai.pause_vectorizer('v', '3000-01-01 00:00:00+00');
SELECT state, reason FROM words;
SELECT * FROM complaints WHERE reason ~ 'paused';
SELECT ai.resume_vectorizer('v');
SELECT ai.pause_workers();
SELECT state, reason FROM words;
SELECT ai.resume_workers();
SELECT ai.pause_worker('worker:vectorizer:0', '3000-01-01 00:00:00+00');
SELECT state, reason FROM words;
SELECT * FROM complaints WHERE reason ~ 'worker';
SELECT ai.resume_workers();
SELECT ai.disable_vectorizer_schedule('v');
SELECT state, reason FROM words;
SELECT * FROM complaints WHERE reason ~ 'disabled';
SELECT ai.enable_vectorizer_schedule('v');

-- What is left when rows are done: those that wait, then those that failed, then nothing.
DELETE FROM ai._vectorizer_q_1;
DELETE FROM ai._vectorizer_q_work_1 WHERE lease IS NOT NULL;
SELECT * FROM words;
SELECT * FROM complaints WHERE reason ~ 'tried again';
UPDATE ai._vectorizer_q_work_1 SET retry_at = now();
SELECT state, reason FROM words;
DELETE FROM ai._vectorizer_q_work_1;
SELECT * FROM words;
SELECT ai.vectorizer_progress('v');
SELECT * FROM complaints;
DELETE FROM ai._vectorizer_q_failed_1;
SELECT * FROM words;
SELECT ai.vectorizer_progress(1);
SELECT * FROM ai.health();

-- What was recorded is found by the vectorizer's name; the newest error counts, wherever it is.
INSERT INTO ai._vectorizer_errors (id, message, recorded) VALUES (1, 'older', now() - interval '2 hours'),
    (1, 'newer', now() - interval '1 hour');
SELECT last_error, last_error_at = now() - interval '1 hour' AS then FROM ai.vectorizer_status;
COMMIT;

-- How fast it goes, by where the counters stood.
BEGIN;
INSERT INTO ai._vectorizer_q_1 (a, b) SELECT a, b FROM monitoring.src WHERE a > 70;
INSERT INTO ai.vectorizer_worker_progress (vectorizer_id, success_count) VALUES (1, 1000);
SELECT rows_per_minute, estimated_time_left FROM ai.vectorizer_status;
SELECT ai._take_samples('5s');
UPDATE ai._sample SET taken_at = now() - interval '30 seconds';
UPDATE ai.vectorizer_worker_progress SET success_count = 1070, last_success_at = now();
SELECT rows_per_minute BETWEEN 50 AND 140 AS near_140, estimated_time_left BETWEEN '12s' AND '40s' AS near_13_seconds
FROM ai.vectorizer_status;
SELECT regexp_replace(ai.vectorizer_progress('v'), '\d\.\d/s  00:00:\d\d', '2.3/s  00:00:13');
-- A counter that has rested for an hour: the rate is that of the last seconds.
UPDATE ai._sample SET taken_at = now() - interval '1 hour';
SELECT rows_per_minute FROM ai.vectorizer_status;
SELECT ai._take_samples('5s');
SELECT subject, done, now() - taken_at > interval '4 seconds' AS rested FROM ai._sample ORDER BY done, rested;
SELECT rows_per_minute BETWEEN 100 AND 840 AS near_840 FROM ai.vectorizer_status;
-- One that was set back, and one whose vectorizer is gone.
UPDATE ai.vectorizer_worker_progress SET success_count = 5;
SELECT ai._take_samples('5s');
SELECT done FROM ai._sample WHERE subject = 'vectorizer/1';
INSERT INTO ai._sample VALUES ('vectorizer/99', now() - interval '1 hour', 1, 0);
SELECT ai._prune_samples();
SELECT subject FROM ai._sample WHERE subject ~ 'vectorizer';
ROLLBACK;

-- Many rows are estimated, in little time; exact numbers can be had.
INSERT INTO ai._vectorizer_q_1 (a, b) SELECT g, 'x' FROM generate_series(1, 60000) g;
DELETE FROM ai._vectorizer_q_1 WHERE a <= 20000;
INSERT INTO ai._vectorizer_q_work_1 (a, b, queued_at, priority, retry_at, lease)
SELECT g, 'y', now(), 0, now() + interval '1 day', CASE WHEN g % 4 = 0 THEN gen_random_uuid() END
FROM generate_series(1, 20000) g;
INSERT INTO ai._vectorizer_q_failed_1 (a, b, step, error, class) SELECT g, 'z', 's', 'e', 'c' FROM generate_series(1, 20000) g;
SELECT pending BETWEEN 39000 AND 41000 AS pending, running BETWEEN 4500 AND 5500 AS running,
    retrying BETWEEN 14000 AND 16000 AS retrying, failed BETWEEN 19000 AND 21000 AS failed FROM ai.vectorizer_status;
SELECT ai.vectorizer_queue_pending('v') BETWEEN 58000 AND 62000 AS near, ai.vectorizer_queue_pending('v', true);
INSERT INTO monitoring.src SELECT g, 'x', NULL FROM generate_series(101, 40100) g;
SELECT ai.vectorizer_progress('v') ~ '^\[\.{20}\]   0\.0%  +0 of ~(39|40),\d\d\d rows +0\.0/s +active' AS unknown_to_the_planner;
ANALYZE monitoring.src;
SELECT ai.vectorizer_progress('v') ~ 'of ~40,1\d\d rows' AS known_to_the_planner;
TRUNCATE ai._vectorizer_q_1, ai._vectorizer_q_work_1, ai._vectorizer_q_failed_1;
DELETE FROM monitoring.src WHERE a > 100;
TRUNCATE ai._vectorizer_q_1;
SELECT pending, running, retrying, failed, oldest_pending_age FROM ai.vectorizer_status;

-- The line, whatever is in it.
SELECT ai._progress_line(0, 0, true, 0, NULL, 'idle');
SELECT ai._progress_line(1, 3, true, 123.4, '2 days', 'active');
SELECT ai._progress_line(999999, 1000000, false, 6000000, '00:00:01', 'active');
SELECT ai._progress_line(1000000, 1000000, false, 0, NULL, 'idle');

-- Metrics: each has its help, its type and its samples; labels are escaped.
CREATE TABLE monitoring.odd (id int PRIMARY KEY, body text);
SELECT ai.create_vectorizer('monitoring.odd', name => E'q"b\\s\nn', loading => ai.loading_column('body'),
    embedding => ai.embedding_local('m', 3));
INSERT INTO ai.usage VALUES (1, 'm', '2026-01-01', 1, 20, 3, 4, 5, 6), (1, 'm', '2026-01-02', 1, 20, 3, 4, 5, 6);
INSERT INTO ai.worker (component, status, restart_count, details) VALUES ('worker:outside:0', 'healthy', 2, '{"crashes": "many"}');
UPDATE ai.worker SET details = jsonb_build_object('crashes', ARRAY[0, extract(epoch FROM now()) - 60])
WHERE component = 'coordinator';
CREATE TEMP TABLE lines AS SELECT n, line FROM regexp_split_to_table(ai.metrics(), E'\n') WITH ORDINALITY AS l (line, n);
SELECT line FROM lines WHERE line ~ '^# TYPE' ORDER BY n;
SELECT line FROM lines WHERE line ~ 'pending_rows|crashes_total|in_status|tokens_total' AND line !~ '^# (HELP|TYPE)' ORDER BY n;
SELECT line ~ ' (6\d|7\d)\.\d+$' AS a_minute, line ~ 'NaN' AS never FROM lines WHERE line ~ '^ai_worker_last_crash' ORDER BY n;
SELECT line FROM lines WHERE line !~ '^# (HELP [a-z_]+ .+|TYPE [a-z_]+ (counter|gauge|histogram))$'
    AND line !~ '^[a-z_]+\{([a-z_]+="([^"\\]|\\["\\n])*",?)+\} (NaN|[+-]Inf|-?[0-9.e+-]+)$' ORDER BY n;
SELECT ai._metric_label('l', NULL), ai._metric_number('Infinity'), ai._metric_number('-Infinity'), ai._metric_number(NULL);
SELECT ai._metric_histogram('m', 'l="x"', '{"h": [0.1, 1], "h_bucket": [1, 3], "h_sum": 2.5, "h_count": 4}', 'h');
SELECT ai._cumulative('{1,2,0,4}'), ai._sum_of('{1,2,0,4}'), ai._cumulative(NULL), ai._sum_of(NULL);
-- Every column has a help.
SELECT c.oid::regclass, m.name FROM pg_class c, ai._metric_columns(c.oid) m
WHERE c.relname LIKE 'metrics\_%' AND c.relnamespace = 'ai'::regnamespace AND m.kind <> 'label' AND m.help IS NULL;

-- pg_monitor sees how things are getting on, and nothing of what is in tables.
SET ROLE regress_ai_monitor;
SELECT name, state FROM ai.vectorizer_status ORDER BY id;
SELECT ok FROM ai.health();
SELECT ai.all_workers_healthy(), ai.get_crashed_workers(), ai.get_failed_workers();
SELECT ai.metrics() = '' AS empty;
SELECT count(*) > 0 AS seen FROM ai.metrics_provider;
SELECT count(*) FROM ai.worker_status;
SELECT endpoint IS NOT NULL AS seen FROM ai.provider_status;
SELECT count(*) FROM ai.job_activity;
SELECT ai.vectorizer_progress('v');
SELECT count(*) FROM ai.vectorizer_errors;
SELECT (SELECT count(*) > 0 FROM ai.usage) AS usage, (SELECT count(*) > 0 FROM ai.provider) AS providers,
    (SELECT count(*) >= 0 FROM ai.vectorizer_worker_process) AS processes, (SELECT count(*) >= 0 FROM ai.vectorizer_worker_progress) AS progress;
UPDATE ai.provider SET enabled = false;
SELECT * FROM ai.jobs('v');
SELECT * FROM ai._vectorizer_q_1;
SELECT * FROM ai._sample;
SELECT ai._take_samples('1s');
SELECT ai.__vectorizer_figures(10, 1);
SELECT ai.pause_workers();
-- Others see their own vectorizers, and nothing of the server.
SET ROLE regress_ai_owner;
SELECT name FROM ai.vectorizer_status;
SELECT * FROM ai.health();
SET ROLE regress_ai_other;
SELECT count(*) FROM ai.vectorizer_status;
SELECT count(*) FROM ai.job_activity;
SELECT count(*) FROM ai.stuck_jobs;
SELECT ai.vectorizer_progress('v');
SELECT * FROM ai._vectorizer_figures(1);
SELECT * FROM ai._job_activity(1);
SELECT * FROM ai._vectorizer_figures(99);
SELECT * FROM ai.health();
SELECT ai._health(10, '1 h', 0.1);
SELECT ai.metrics();
SELECT ai.all_workers_healthy();
SELECT ai.get_failed_workers();
SELECT * FROM ai.metrics_vectorizer;
SELECT * FROM ai.metrics_worker;
SELECT * FROM ai.worker;
SELECT ai._vectorizer_progress(10, 'v');
RESET ROLE;

-- What cannot be.
SELECT ai.vectorizer_progress('nope');
SELECT ai.vectorizer_progress(99);
SELECT ai.vectorizer_progress(NULL::text);
SELECT * FROM ai.health(max_pending_age => '-1 second');
SELECT * FROM ai.health(max_pending_age => NULL);
SELECT * FROM ai.health(max_error_rate => 1.1);
SELECT * FROM ai.health(max_error_rate => NULL);
SELECT * FROM ai.health(max_error_rate => 'NaN');

-- Disabled by what happened, not by hand.
DROP VIEW monitoring.src_embedding;
DROP TABLE monitoring.src_embedding_store;
SELECT state, reason FROM words;

DELETE FROM ai.worker;
ALTER TABLE ai.worker ENABLE TRIGGER guard;
DELETE FROM ai.provider;
DELETE FROM ai._sample;
DROP SCHEMA monitoring CASCADE;
DROP ROLE regress_ai_owner, regress_ai_monitor, regress_ai_other;
