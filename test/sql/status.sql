-- What is installed and running.
SELECT ai.version() = extversion AS library_matches_extension FROM pg_extension WHERE extname = 'ai';
SELECT item, value IS NOT NULL AS has_value, advice FROM ai.status() WHERE item <> 'processes';
SELECT advice ~ 'ai launcher \(pid \d+\)' AS launcher_runs FROM ai.status() WHERE item = 'processes';
SELECT value FROM ai.status() WHERE item = 'preloaded';

-- An ordinary role sees the same.
CREATE ROLE regress_ai_user;
SET ROLE regress_ai_user;
SELECT count(*) FROM ai.status();
SELECT ai.version() IS NOT NULL AS callable;
RESET ROLE;
DROP ROLE regress_ai_user;

-- The prefix is reserved, so that a misspelt setting is an error.
SET ai.no_such_setting = 1;
SHOW ai.preload_warning;
