-- Decisions about providers: who may make them, what cannot be meant, what is shown to whom.
\set SHOW_CONTEXT never
SET timezone = 'UTC';
SELECT setval('ai.vectorizer_id_seq', 1, false);
CREATE ROLE regress_ai_owner;
CREATE ROLE regress_ai_other;
CREATE ROLE regress_ai_monitor IN ROLE pg_monitor;
CREATE SCHEMA regress_ai AUTHORIZATION regress_ai_owner;
SET ROLE regress_ai_owner;
CREATE TABLE regress_ai.src (id int PRIMARY KEY, body text);
SELECT ai.create_vectorizer('regress_ai.src', name => 'one', loading => ai.loading_column('body'),
    embedding => ai.embedding_openai('m', 3, base_url => 'https://API.example.com:443/v1/'));
SELECT ai.create_vectorizer('regress_ai.src', name => 'two', loading => ai.loading_column('body'),
    embedding => ai.embedding_openai('m', 3, base_url => 'https://api.example.com/v1', api_key_name => 'OTHER_KEY'),
    destination => ai.destination_table('two'));
SELECT ai.create_vectorizer('regress_ai.src', name => 'local', loading => ai.loading_column('body'),
    embedding => ai.embedding_local(), destination => ai.destination_table('local'));
RESET ROLE;

-- Each key has limits of its own; a pause is for all of them.
SELECT ai.set_provider_limits('https://api.example.com/v1', requests_per_minute => 600);
SELECT ai.set_provider_limits('https://api.example.com/v1/', requests_per_minute => 600, api_key_name => 'OTHER_KEY');
SELECT ai.set_provider_limits('https://api.example.com/v1', tokens_per_minute => 100000, api_key_name => 'OPENAI_API_KEY');
SELECT ai.pause_provider('https://api.example.com:443/v1', until => '2100-01-01');
SELECT endpoint, api_key_name, state, reason, paused_until, requests_per_minute, tokens_per_minute
FROM ai.provider_status ORDER BY 2;
SELECT ai.pause_provider('https://api.example.com/v1', api_key_name => 'OTHER_KEY');
SELECT api_key_name, state, reason, paused_until FROM ai.provider_status ORDER BY 1;
SELECT ai.resume_provider('https://api.example.com/v1');
SELECT api_key_name, state, reason, paused_until FROM ai.provider_status ORDER BY 1;

-- A provider's name stands for its usual endpoint, which need not have been used.
SELECT ai.set_provider_limits('voyageai', 300, 1000000);
SELECT ai.disable_provider('ollama');
SELECT endpoint, api_key_name, state, reason, requests_per_minute, tokens_per_minute
FROM ai.provider_status ORDER BY 1, 2;
SELECT ai.enable_provider('ollama');
SELECT ai.set_provider_limits('voyageai');
SELECT endpoint, state, requests_per_minute, tokens_per_minute FROM ai.provider_status
WHERE endpoint !~ 'example' ORDER BY 1;

-- What cannot be meant.
SELECT ai.set_provider_limits('opanai', 600);
SELECT ai.set_provider_limits('https://api.exmaple.com/v1', 600);
SELECT ai.set_provider_limits('ftp://api.example.com/v1', 600);
SELECT ai.set_provider_limits('https://user:password@api.example.com/v1', 600);
SELECT ai.set_provider_limits(NULL, 600);
SELECT ai.set_provider_limits('openai', 0);
SELECT ai.set_provider_limits('openai', -1);
SELECT ai.set_provider_limits('openai', 1000000001);
SELECT ai.set_provider_limits('openai', tokens_per_minute => 0);
SELECT ai.set_provider_limits('openai', tokens_per_minute => 1000000000001);
SELECT ai.set_provider_limits('openai', 600, api_key_name => 'NO_SUCH_KEY');
SELECT ai.pause_provider('openai', until => '2001-01-01');
SELECT ai.pause_provider('openai', until => '-infinity');
SELECT ai.pause_provider('openai', until => NULL);
SELECT ai.pause_provider('https://elsewhere.example.com');
SELECT ai.resume_provider('https://elsewhere.example.com');
SELECT ai.enable_provider('nobody');
SELECT ai.disable_provider('https://api.example.com/v1', api_key_name => 'NO_SUCH_KEY');
\set VERBOSITY terse
UPDATE ai.provider SET requests_per_minute = 0;
UPDATE ai.provider SET tokens_per_minute = -5;
UPDATE ai.provider SET breaker = 'ajar';
INSERT INTO ai.provider (endpoint) VALUES ('');
\set VERBOSITY default

-- What workers write, and how it reads.
SELECT ai._provider_note('https://noted.example.com', '', 'f00d', 'closed', 0, NULL, NULL, NULL, '2020-01-01', NULL, NULL);
SELECT state, reason, last_success_at, last_error FROM ai.provider_status WHERE endpoint ~ 'noted';
SELECT ai._provider_note('https://noted.example.com', '', 'f00d', 'closed', 2, NULL, NULL, NULL, NULL, '2020-01-02', 'it broke');
SELECT state, reason, last_success_at, last_failure_at, last_error FROM ai.provider_status WHERE endpoint ~ 'noted';
SELECT ai._provider_note('https://noted.example.com', '', 'f00d', 'open', 5, '2020-01-01', '2100-01-01', NULL, NULL, NULL, NULL);
SELECT state, reason, paused_until, next_probe FROM ai.provider_status WHERE endpoint ~ 'noted';
SELECT ai._provider_note('https://noted.example.com', '', 'f00d', 'open', 1, '2020-01-01', '2100-01-01', NULL, NULL, NULL, NULL);
SELECT state, reason FROM ai.provider_status WHERE endpoint ~ 'noted';
SELECT ai._provider_note('https://noted.example.com', '', 'f00d', 'open', 5, '2020-01-01', '2020-01-01', NULL, NULL, NULL, NULL);
SELECT state, reason, paused_until, next_probe FROM ai.provider_status WHERE endpoint ~ 'noted';
SELECT ai._provider_note('https://noted.example.com', '', 'f00d', 'closed', 0, NULL, NULL, '2100-01-01', NULL, NULL, NULL);
SELECT state, reason, paused_until, next_probe FROM ai.provider_status WHERE endpoint ~ 'noted';
SELECT ai.set_provider_limits('https://noted.example.com', 60, 5000);
SELECT ai.resume_provider('https://noted.example.com');
SELECT state, reason, paused_until, last_error FROM ai.provider_status WHERE endpoint ~ 'noted';
DELETE FROM ai.provider WHERE endpoint ~ 'noted';

-- Without workers nothing is counted.
SELECT count(*) FROM ai._provider_counters();
SELECT cardinality(bounds), cardinality(counts), sum FROM ai._lag_histogram();

-- Who sees what. The owner of a vectorizer sees its provider and decides nothing.
SET ROLE regress_ai_owner;
SELECT endpoint, api_key_name, state FROM ai.provider_status ORDER BY 1, 2;
SELECT ai.set_provider_limits('openai', 600);
SELECT ai.pause_provider('openai');
SELECT ai.resume_provider('openai');
SELECT ai.enable_provider('openai');
SELECT ai.disable_provider('openai');
SELECT * FROM ai.provider;
UPDATE ai.provider SET enabled = false;
SELECT ai._provider_note('https://noted.example.com', '', 'f00d', 'closed', 0, NULL, NULL, NULL, NULL, NULL, NULL);
SELECT ai._embedding_endpoint('{"implementation": "openai"}');
SELECT ai._provider_endpoint('openai');
SELECT * FROM ai._provider_counters();
SELECT * FROM ai._lag_histogram();
CREATE TABLE regress_ai.mine ();
CREATE TRIGGER t AFTER INSERT ON regress_ai.mine EXECUTE FUNCTION ai._provider_changed();
SET ROLE regress_ai_other;
SELECT count(*) FROM ai.provider_status;
SET ROLE regress_ai_monitor;
SELECT count(*) FROM ai.provider_status;
SELECT count(*) FROM ai._provider_counters();
SELECT count(*) FROM ai._lag_histogram();
SELECT ai.pause_provider('openai');
RESET ROLE;

\set VERBOSITY terse
DROP SCHEMA regress_ai CASCADE;
DELETE FROM ai.provider;
DROP ROLE regress_ai_owner, regress_ai_other, regress_ai_monitor;
