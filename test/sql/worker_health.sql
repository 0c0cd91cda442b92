-- The health of workers: who may take one from which state to which, and what people may ask for.
\set SHOW_CONTEXT never
SET client_min_messages = warning;
SELECT ai.resume_workers() IS NOT NULL;

-- The state machine, all of it. A dot is what nobody may do; letters are who may: w the worker itself,
-- o a worker outside, c the coordinator, p a person through the functions of the API.
CREATE TEMP TABLE states AS
SELECT s, n FROM unnest(ARRAY[NULL, 'starting', 'healthy', 'stopping', 'crashed', 'failed']) WITH ORDINALITY AS u (s, n);
CREATE FUNCTION pg_temp.matrix(tried text[]) RETURNS TABLE (from_state text, no_row text, starting text, healthy text,
    stopping text, crashed text, failed text) LANGUAGE sql AS $$
    SELECT coalesce(a.s, 'no row'), max(c) FILTER (WHERE b.s IS NULL), max(c) FILTER (WHERE b.s = 'starting'),
        max(c) FILTER (WHERE b.s = 'healthy'), max(c) FILTER (WHERE b.s = 'stopping'), max(c) FILTER (WHERE b.s = 'crashed'),
        max(c) FILTER (WHERE b.s = 'failed')
    FROM states a CROSS JOIN states b
    CROSS JOIN LATERAL (SELECT coalesce(nullif(string_agg(letter, '' ORDER BY letter), ''), '.') AS c
        FROM (VALUES ('worker', 'w'), ('outside', 'o'), ('coordinator', 'c'), ('operator', 'p')) AS l (actor, letter)
        WHERE actor || ':' || coalesce(a.s, '') || ':' || coalesce(b.s, '') = ANY (tried)) x
    GROUP BY a.s, a.n ORDER BY a.n
$$;
SELECT * FROM pg_temp.matrix((SELECT array_agg(format('%s:%s:%s', actor, old_status, new_status)) FROM ai._worker_transitions()));

-- The table does what the list says: everybody tries everything, with the library's word for what the process
-- is replaced for the length of a transaction.
BEGIN;
CREATE OR REPLACE FUNCTION ai._process_role() RETURNS text LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
    AS $$SELECT nullif(current_setting('regress.me', true), '')$$;
CREATE FUNCTION pg_temp.try(me text, component text, statement text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    PERFORM set_config('regress.me', me, false);
    EXECUTE replace(statement, '%c', quote_literal(component));
    RETURN 'done';
EXCEPTION WHEN insufficient_privilege THEN RETURN 'may not';
    WHEN object_not_in_prerequisite_state THEN RETURN 'cannot';
END $$;
CREATE FUNCTION pg_temp.step(me text, component text, old_status text, new_status text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    result text;
BEGIN
    -- A row in the old state, made where nobody looks.
    ALTER TABLE ai.worker DISABLE TRIGGER guard;
    DELETE FROM ai.worker w WHERE w.component = step.component;
    IF old_status IS NOT NULL THEN
        INSERT INTO ai.worker (component, status) VALUES (component, old_status);
    END IF;
    ALTER TABLE ai.worker ENABLE TRIGGER guard;
    RETURN pg_temp.try(me, component, CASE
        WHEN old_status IS NULL AND new_status IS NULL THEN 'DELETE FROM ai.worker WHERE false'
        WHEN old_status IS NULL THEN format('INSERT INTO ai.worker (component, status) VALUES (%%c, %L)', new_status)
        WHEN new_status IS NULL THEN 'DELETE FROM ai.worker WHERE component = %c'
        ELSE format('UPDATE ai.worker SET status = %L WHERE component = %%c', new_status) END);
END $$;
CREATE TEMP TABLE tried AS
SELECT l.actor, a.s AS old_status, b.s AS new_status, pg_temp.step(l.me, l.component, a.s, b.s) AS result
FROM (VALUES ('worker', 'worker:vectorizer:0', 'worker:vectorizer:0'), ('outside', 'api', 'worker:outside:0'),
             ('coordinator', 'coordinator', 'worker:vectorizer:0'), ('operator', 'api', 'worker:vectorizer:0'),
             ('another worker', 'worker:vectorizer:1', 'worker:vectorizer:0'), ('a session', '', 'worker:vectorizer:0'),
             ('a session', '', 'worker:outside:0')) AS l (actor, me, component)
CROSS JOIN states a CROSS JOIN states b WHERE a.s IS NOT NULL OR b.s IS NOT NULL;
SELECT * FROM pg_temp.matrix((SELECT array_agg(format('%s:%s:%s', actor, old_status, new_status)) FROM tried WHERE result = 'done'));
SELECT actor, result, count(*) FROM tried GROUP BY 1, 2 ORDER BY 1, 2;
-- What is legal for somebody else is another error than what is legal for nobody.
SELECT count(*) FROM tried t WHERE (result = 'cannot') = EXISTS (SELECT FROM ai._worker_transitions() l
    WHERE l.old_status IS NOT DISTINCT FROM t.old_status AND l.new_status IS NOT DISTINCT FROM t.new_status);
-- The coordinator is its own worker.
SELECT pg_temp.step('coordinator', 'coordinator', 'starting', 'healthy') AS beats,
    pg_temp.step('coordinator', 'coordinator', 'healthy', 'stopping') AS stops,
    pg_temp.step('coordinator', 'coordinator', 'healthy', 'crashed') AS finds_itself_crashed,
    pg_temp.step('worker:vectorizer:0', 'coordinator', 'healthy', 'crashed') AS by_a_worker;

-- Restarts are counted by the coordinator, and cleared by people; names and birthdays stay.
SELECT pg_temp.step('coordinator', 'worker:vectorizer:0', 'crashed', 'starting');
SELECT pg_temp.try('coordinator', 'worker:vectorizer:0', 'UPDATE ai.worker SET restart_count = 3, last_restart = now() WHERE component = %c') AS counts,
    pg_temp.try('worker:vectorizer:0', 'worker:vectorizer:0', 'UPDATE ai.worker SET restart_count = 0 WHERE component = %c') AS worker_clears,
    pg_temp.try('worker:vectorizer:0', 'worker:vectorizer:0', 'UPDATE ai.worker SET last_restart = NULL WHERE component = %c') AS worker_forgets,
    pg_temp.try('api', 'worker:vectorizer:0', 'UPDATE ai.worker SET restart_count = 2 WHERE component = %c') AS person_counts,
    pg_temp.try('api', 'worker:vectorizer:0', 'UPDATE ai.worker SET restart_count = 0, last_restart = NULL WHERE component = %c') AS person_clears,
    pg_temp.try('coordinator', 'worker:vectorizer:0', 'UPDATE ai.worker SET created_at = now() - interval ''1 day'' WHERE component = %c') AS younger,
    pg_temp.try('coordinator', 'worker:vectorizer:0', 'UPDATE ai.worker SET component = ''worker:vectorizer:9'' WHERE component = %c') AS renamed;

-- What a worker says it has is there: the coordinator looks.
SELECT pg_temp.step('worker:vectorizer:0', 'worker:vectorizer:0', 'starting', 'healthy');
CREATE TABLE had (id int PRIMARY KEY, body text);
SELECT ai.create_vectorizer('had', name => 'had', loading => ai.loading_column('body'), embedding => ai.embedding_local('m', 3)) AS v \gset
CREATE FUNCTION pg_temp.says(job text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    PERFORM set_config('regress.me', 'worker:vectorizer:0', false);
    UPDATE ai.worker SET current_job = job WHERE component = 'worker:vectorizer:0';
    PERFORM set_config('regress.me', 'coordinator', false);
    PERFORM ai._coordinator_beat(1, '30s');
    RETURN (SELECT regexp_replace(current_job, '\d+', '<id>') FROM ai.worker WHERE component = 'worker:vectorizer:0');
END $$;
SELECT pg_temp.says('vectorizer/' || :v) AS there, pg_temp.says('embedding jobs') AS jobs, pg_temp.says('vectorizer/0') AS dropped,
    pg_temp.says(NULL) AS nothing;
ROLLBACK;

-- What somebody sees who writes by hand.
TRUNCATE ai.worker;
INSERT INTO ai.worker (component, status) VALUES ('worker:vectorizer:0', 'starting');
INSERT INTO ai.worker (component, status) VALUES ('worker:vectorizer:0', 'healthy');
INSERT INTO ai.worker (component, status) VALUES ('worker:outside:0', 'starting');
INSERT INTO ai.worker (component, status) VALUES ('somebody', 'starting');
INSERT INTO ai.worker (component, status) VALUES ('worker:x:1', 'asleep');

-- Workers outside: they register, beat and leave.
SELECT ai.register_worker('worker:outside:0', 4711, '{"host": "far"}');
SELECT component, status, pid, doing, restarts, paused, words FROM ai.worker_status;
SELECT ai.heartbeat_worker('worker:outside:0', 'batch 7', '{"rows": 3}') AS paused;
SELECT component, status, pid, current_job, details, restart_count, last_restart, created_at <= last_seen AS seen FROM ai.worker;
SELECT component, status, doing, words, last_seen_age < interval '1 minute' AS recent FROM ai.list_workers();
UPDATE ai.worker SET status = 'crashed';
UPDATE ai.worker SET last_seen = now();
DELETE FROM ai.worker;
SELECT ai.register_worker('worker:outside:0');
SELECT ai.pause_worker('worker:outside:0');
SELECT ai.heartbeat_worker('worker:outside:0') AS paused;
SELECT paused, words FROM ai.worker_status;
SELECT ai.resume_worker('worker:outside:0');
SELECT ai.unregister_worker('worker:outside:0');
SELECT ai.unregister_worker('worker:outside:0');
SELECT ai.heartbeat_worker('worker:outside:0');
SELECT ai.register_worker('worker:vectorizer:0');
SELECT ai.register_worker('coordinator');
SELECT ai.register_worker('me');
SELECT ai.register_worker(NULL);
SELECT ai.register_worker('worker:outside:0', details => '[1]');
SELECT ai.heartbeat_worker('worker:vectorizer:0');
SELECT ai.heartbeat_worker('worker:outside:0', details => '7');

-- People: unknown workers, and what is not for them.
SELECT ai.restart_worker('worker:vectorizer:77');
SELECT ai.restart_worker(NULL);
SELECT ai.restart_workers();
SELECT ai.pause_worker('worker:vectorizer:77');
SELECT ai.resume_worker('nobody');
SELECT ai.register_worker('worker:outside:1');
SELECT ai.restart_worker('worker:outside:1');
SELECT ai.unregister_worker('worker:outside:1');

-- Words for each state.
BEGIN;
ALTER TABLE ai.worker DISABLE TRIGGER guard;
CREATE TABLE seen (id int PRIMARY KEY, body text);
SELECT ai.create_vectorizer('seen', name => 'seen', loading => ai.loading_column('body'), embedding => ai.embedding_local('m', 3)) AS v \gset
INSERT INTO ai.worker (component, status, current_job, details, restart_count, last_seen) VALUES
    ('coordinator', 'healthy', NULL, '{}', 0, clock_timestamp()), ('worker:vectorizer:0', 'starting', NULL, '{}', 0, clock_timestamp()),
    ('worker:vectorizer:1', 'healthy', 'vectorizer/' || :v, '{"rows": 12, "requests": 2}', 0, clock_timestamp()),
    ('worker:vectorizer:2', 'healthy', NULL, '{}', 0, clock_timestamp()), ('worker:vectorizer:3', 'stopping', NULL, '{}', 0, clock_timestamp()),
    ('worker:vectorizer:4', 'crashed', NULL, '{"error_message": "process exited unexpectedly"}', 3, clock_timestamp()),
    ('worker:vectorizer:5', 'failed', NULL, '{"error_message": "process does not respond"}', 4, clock_timestamp()),
    ('worker:vectorizer:8', 'crashed', NULL, '{"error_message": "process does not respond"}', 1, clock_timestamp()),
    ('worker:outside:6', 'crashed', NULL, '{"error_message": "no heartbeat"}', 0, clock_timestamp()),
    ('worker:vectorizer:7', 'healthy', 'vectorizer/-1', '{"rows": 1, "requests": 0}', 0, clock_timestamp() - interval '1 hour');
UPDATE ai.worker SET pid = 1 WHERE component = 'worker:vectorizer:8';
SELECT component, status, doing, restarts, words FROM ai.worker_status ORDER BY component;
SELECT ai.pause_workers();
SELECT component, words FROM ai.worker_status WHERE paused ORDER BY component;
ROLLBACK;

-- Who may look, and who may do something.
CREATE ROLE regress_ai_nobody;
CREATE ROLE regress_ai_monitor IN ROLE pg_monitor;
CREATE ROLE regress_ai_operator;
GRANT EXECUTE ON FUNCTION ai.restart_workers(), ai.pause_workers(timestamptz), ai.resume_workers() TO regress_ai_operator;
SET ROLE regress_ai_nobody;
SELECT * FROM ai.worker;
SELECT * FROM ai.worker_status;
SELECT * FROM ai.list_workers();
SELECT ai.restart_worker('worker:vectorizer:0');
SELECT ai.restart_workers();
SELECT ai.pause_workers();
SELECT ai.pause_worker('worker:vectorizer:0');
SELECT ai.resume_workers();
SELECT ai.resume_worker('worker:vectorizer:0');
SELECT ai.register_worker('worker:outside:0');
SELECT ai.heartbeat_worker('worker:outside:0');
SELECT ai.unregister_worker('worker:outside:0');
SELECT ai._restart_worker(10, 'worker:vectorizer:0');
SELECT ai._pause_workers(10, NULL);
SELECT ai._worker_beat('worker:vectorizer:0', 1, NULL, '{}', gen_random_uuid(), 0, 0, NULL);
SELECT ai._coordinator_notify();
SET ROLE regress_ai_monitor;
SELECT count(*) FROM ai.worker;
SELECT count(*) FROM ai.worker_status;
SELECT count(*) FROM ai.list_workers();
UPDATE ai.worker SET last_seen = now();
SELECT ai.restart_workers();
SET ROLE regress_ai_operator;
SELECT ai.pause_workers();
SELECT kind, name, paused_until, paused_by FROM ai.pauses;
SELECT ai.resume_workers();
SELECT ai.restart_workers();
RESET ROLE;
SELECT ai.grant_vectorizer_usage('regress_ai_nobody', admin => true);
SET ROLE regress_ai_nobody;
SELECT ai.register_worker('worker:outside:0');
SELECT component, status FROM ai.worker_status;
SELECT ai.unregister_worker('worker:outside:0');
SELECT ai.restart_workers();
RESET ROLE;
DROP OWNED BY regress_ai_nobody, regress_ai_monitor, regress_ai_operator;
DROP ROLE regress_ai_nobody, regress_ai_monitor, regress_ai_operator;
