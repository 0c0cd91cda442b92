-- Pauses of workers and vectorizers: how long, by whom, and what cannot be.
\set SHOW_CONTEXT never
SET client_min_messages = warning;
SELECT ai.resume_workers() IS NOT NULL;
CREATE ROLE regress_ai_owner;
CREATE ROLE regress_ai_other;
CREATE SCHEMA paused AUTHORIZATION regress_ai_owner;
SET ROLE regress_ai_owner;
CREATE TABLE paused.src (id int PRIMARY KEY, body text);
SELECT ai.create_vectorizer('paused.src', name => 'paused', loading => ai.loading_column('body'),
    embedding => ai.embedding_local('m', 3)) AS v \gset

-- A vectorizer, by its owner, by name and by id.
SELECT ai.pause_vectorizer('paused');
SELECT kind, name, paused_at <= clock_timestamp() AS now, paused_until, paused_by, reason FROM ai.pauses;
SELECT ai.pause_vectorizer(:v, '2999-01-01 00:00:00+00');
SELECT paused_until = '2999-01-01 00:00:00+00' AS until FROM ai.pauses;
SELECT ai.pause_vectorizer('paused', 'infinity');
SELECT paused_until FROM ai.pauses;
SELECT ai.resume_vectorizer(:v);
SELECT ai.resume_vectorizer('paused');
SELECT * FROM ai.pauses;
-- It is not disabled by that, nor enabled.
SELECT ai.disable_vectorizer_schedule('paused');
SELECT ai.pause_vectorizer('paused');
SELECT ai.resume_vectorizer('paused');
SELECT disabled FROM ai.vectorizer_status WHERE name = 'paused';
SELECT ai.enable_vectorizer_schedule('paused');

-- What cannot be.
SELECT ai.pause_vectorizer('paused', '2001-02-03 04:05:06+00');
SELECT ai.pause_vectorizer('paused', '-infinity');
SELECT ai.pause_vectorizer('unknown');
SELECT ai.resume_vectorizer(-1);
SELECT ai.pause_vectorizer(NULL::text);
SET ROLE regress_ai_other;
SELECT ai.pause_vectorizer('paused');
SELECT ai.resume_vectorizer('paused');
RESET ROLE;
SELECT ai.pause_workers('2001-02-03 04:05:06+00');
SELECT ai.pause_worker('coordinator');

-- All workers, and one of them.
SELECT ai.pause_workers('2999-01-01');
SET ROLE regress_ai_other;
SELECT kind, name FROM ai.pauses;
RESET ROLE;
SELECT ai.register_worker('worker:outside:0'), ai.register_worker('worker:outside:1');
SELECT ai.pause_worker('worker:outside:0');
SELECT component, paused FROM ai.worker_status ORDER BY 1;
SELECT ai.resume_worker('worker:outside:0');
SELECT ai.resume_workers(), ai.resume_workers() AS again;
SELECT ai.pause_worker('worker:outside:0');
SELECT component, paused FROM ai.worker_status ORDER BY 1;
SELECT ai.resume_worker('worker:outside:0'), ai.resume_worker('worker:outside:0') AS again;
SELECT ai.unregister_worker('worker:outside:0'), ai.unregister_worker('worker:outside:1');

-- What a worker finds when it looks, and when it takes: nothing, a time, for ever; the longer one counts.
SELECT ai._pause_left('worker:vectorizer:0', :v) AS none;
SELECT ai.pause_vectorizer(:v, clock_timestamp() + interval '1 hour');
SELECT ai._pause_left('worker:vectorizer:0', :v) BETWEEN 3500000 AND 3600000 AS an_hour, ai._pause_left('worker:vectorizer:0', -1) AS another;
INSERT INTO ai._worker_pause VALUES ('worker:vectorizer:0', now(), now() + interval '2 hours', 'me');
SELECT ai._pause_left('worker:vectorizer:0', :v) BETWEEN 7100000 AND 7200000 AS two_hours,
    ai._pause_left('worker:vectorizer:1', :v) BETWEEN 3500000 AND 3600000 AS an_hour;
SELECT ai.pause_workers();
SELECT ai._pause_left('worker:vectorizer:1', -1) AS for_ever;
SELECT ai._pause_left('worker:vectorizer:0', :v) AS pause_left_ms;
SELECT ai.resume_workers();
-- A pause whose time has come is none, and is removed in time.
UPDATE ai._vectorizer_pause SET paused_until = now() - interval '1 s';
SELECT ai._pause_left('worker:vectorizer:0', :v) AS none, (SELECT count(*) FROM ai.pauses) AS shown;
SELECT ai.resume_vectorizer(:v) AS was_paused;
SELECT ai.pause_vectorizer(:v, clock_timestamp() + interval '1 hour');
UPDATE ai._vectorizer_pause SET paused_until = now() - interval '1 s';
SELECT ai._pause_prune();
SELECT count(*) FROM ai._vectorizer_pause;

-- A vectorizer whose rows end workers is paused, until the time that is looked back has passed.
SELECT ai._vectorizer_blame(:v, 'worker:vectorizer:0', 3, '5 min'), ai._vectorizer_blame(:v, 'worker:vectorizer:1', 3, '5 min');
UPDATE ai._vectorizer_errors SET recorded = recorded - interval '1 hour' WHERE id = :v;
SELECT ai._vectorizer_blame(:v, 'worker:vectorizer:0', 3, '5 min'), ai._vectorizer_blame(:v, 'worker:vectorizer:0', 3, '5 min') AS second,
    ai._vectorizer_blame(:v, 'worker:vectorizer:0', 3, '5 min') AS third;
SELECT kind, name, round(extract(epoch FROM paused_until - paused_at)) AS seconds, paused_by, reason FROM ai.pauses;
SELECT DISTINCT message, details FROM ai.vectorizer_errors WHERE name = 'paused' ORDER BY details;
-- One that a person paused for longer stays so.
SELECT ai.pause_vectorizer(:v);
SELECT ai._vectorizer_blame(:v, 'worker:vectorizer:0', 3, '5 min');
SELECT name, paused_until, paused_by = current_user AS by_me, reason FROM ai.pauses;

-- It goes with the vectorizer.
SELECT ai.drop_vectorizer(:v, true);
SELECT count(*) FROM ai._vectorizer_pause;
DROP SCHEMA paused CASCADE;
DROP ROLE regress_ai_owner, regress_ai_other;
