-- Worker processes and their progress: three functions, two tables.
\set SHOW_CONTEXT never
CREATE TABLE tracked (id int PRIMARY KEY, body text);
SELECT ai.create_vectorizer('tracked', name => 'tracked', loading => ai.loading_column('body'),
    embedding => ai.embedding_local('m', 3)) AS v \gset

-- Signatures and settings.
SELECT p.oid::regprocedure, p.proargnames, p.prorettype::regtype, p.prosecdef, p.proconfig FROM pg_proc p
WHERE p.pronamespace = 'ai'::regnamespace AND p.proname ~ '^_worker_(start|heartbeat|progress)$' ORDER BY p.proname;
SELECT c.relname, a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull, pg_get_expr(d.adbin, d.adrelid)
FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
WHERE c.relname IN ('vectorizer_worker_process', 'vectorizer_worker_progress') AND a.attnum > 0
ORDER BY c.relname, a.attnum;
SELECT regexp_replace(indexdef, '^CREATE ', '') FROM pg_indexes
WHERE tablename ~ '^vectorizer_worker' ORDER BY 1;

-- A process is registered.
SELECT ai._worker_start('1.2.3', interval '5 seconds') AS w \gset
SELECT version, expected_heartbeat_interval, heartbeat_count, success_count, error_count, last_error_at,
    last_error_message, started <= clock_timestamp() AND last_heartbeat = started AS now
FROM ai.vectorizer_worker_process WHERE id = :'w';

-- Heartbeats add up; an error stays after a later success.
SELECT ai._worker_heartbeat(:'w', 10, 0, NULL);
SELECT ai._worker_heartbeat(:'w', 5, 2, 'first error');
SELECT last_error_at AS first_error_at FROM ai.vectorizer_worker_process WHERE id = :'w' \gset
SELECT ai._worker_heartbeat(:'w', 1, 0, NULL);
SELECT heartbeat_count, success_count, error_count, last_error_message, last_error_at = :'first_error_at' AS kept,
    last_heartbeat > started AS later, last_heartbeat > last_error_at AS after_error
FROM ai.vectorizer_worker_process WHERE id = :'w';
SELECT ai._worker_heartbeat(:'w', 0, 1, 'second error');
SELECT heartbeat_count, success_count, error_count, last_error_message, last_error_at > :'first_error_at' AS moved
FROM ai.vectorizer_worker_process WHERE id = :'w';
-- The clock goes on inside of a transaction.
BEGIN;
SELECT ai._worker_heartbeat(:'w', 0, 0, NULL);
SELECT last_heartbeat > now() AS wall_clock FROM ai.vectorizer_worker_process WHERE id = :'w';
COMMIT;
-- An unknown process is no error.
SELECT ai._worker_heartbeat(gen_random_uuid(), 1, 1, 'lost');
SELECT count(*) FROM ai.vectorizer_worker_process;

-- Progress is one row per vectorizer, whichever process reports.
SELECT ai._worker_start('1.2.3', interval '5 seconds') AS w2 \gset
SELECT ai._worker_progress(:'w', :v, 10, NULL);
SELECT success_count, error_count, last_success_process_id = :'w' AS first, last_success_at = updated_at AS same_time,
    last_error_at, last_error_message, last_error_process_id FROM ai.vectorizer_worker_progress;
SELECT ai._worker_progress(:'w2', :v, 0, 'it broke');
SELECT success_count, error_count, last_success_process_id = :'w' AS first, last_error_process_id = :'w2' AS second,
    last_error_message, last_error_at > last_success_at AS later FROM ai.vectorizer_worker_progress;
SELECT ai._worker_progress(:'w2', :v, 3, NULL);
SELECT success_count, error_count, last_success_process_id = :'w2' AS second, last_error_process_id = :'w2' AS error_kept,
    last_error_message, last_error_at < last_success_at AS error_before FROM ai.vectorizer_worker_progress;
-- A success that is reported late, and was before an error, does not look as if it came after it.
SELECT ai._worker_progress(:'w2', :v, 0, 'it broke again');
SELECT ai._worker_progress(:'w', :v, 1, NULL, last_error_at - interval '1 ms') FROM ai.vectorizer_worker_progress;
SELECT success_count, last_error_at > last_success_at AS error_after FROM ai.vectorizer_worker_progress;
-- The first report may be an error, with successes beside it.
DELETE FROM ai.vectorizer_worker_progress;
SELECT ai._worker_progress(:'w', :v, 2, 'partly');
SELECT success_count, error_count, last_success_at, last_success_process_id, last_error_message
FROM ai.vectorizer_worker_progress;
-- There need not be such a process, but such a vectorizer.
SELECT ai._worker_progress(gen_random_uuid(), :v, 1, NULL);
SELECT ai._worker_progress(:'w', -1, 1, NULL);
SELECT success_count FROM ai.vectorizer_worker_progress;

-- It goes with the vectorizer.
SELECT ai.drop_vectorizer(:v, true);
SELECT count(*) FROM ai.vectorizer_worker_progress;

-- Security invoker: it takes the rights on the tables.
CREATE ROLE regress_ai_worker;
SET ROLE regress_ai_worker;
SELECT ai._worker_start('1', interval '1s');
SELECT ai._worker_heartbeat(gen_random_uuid(), 0, 0, NULL);
SELECT ai._worker_progress(gen_random_uuid(), 1, 0, NULL);
RESET ROLE;
SELECT ai.grant_vectorizer_usage('regress_ai_worker', admin => true);
SET ROLE regress_ai_worker;
SELECT ai._worker_start('1', interval '1s') IS NOT NULL AS started;
RESET ROLE;
DROP OWNED BY regress_ai_worker;
DROP ROLE regress_ai_worker;
DELETE FROM ai.vectorizer_worker_process;
DROP TABLE tracked;
