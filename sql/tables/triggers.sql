-- Triggers and policies of our own tables, and what follows the commands of users.

CREATE TRIGGER keep_newest BEFORE INSERT ON ai._vectorizer_errors
    FOR EACH ROW EXECUTE FUNCTION ai._vectorizer_errors_keep_newest();

-- create_vectorizer inserts what is created in its own transaction.
CREATE TRIGGER begin_restore BEFORE INSERT ON ai.vectorizer FOR EACH ROW
    WHEN (NEW.created <> now()) EXECUTE FUNCTION ai._restore_vectorizer();
CREATE TRIGGER restore AFTER INSERT ON ai.vectorizer FOR EACH ROW
    WHEN (NEW.created <> now()) EXECUTE FUNCTION ai._restore_rows();
-- The others tell the time as well; for what is written now, the triggers do not even fire.
CREATE TRIGGER restore BEFORE INSERT ON ai._vectorizer_errors FOR EACH ROW
    WHEN (NEW.recorded NOT BETWEEN now() AND clock_timestamp())
    EXECUTE FUNCTION ai._restore_row('id');
CREATE TRIGGER restore BEFORE INSERT ON ai.vectorizer_worker_progress FOR EACH ROW
    WHEN (NEW.updated_at NOT BETWEEN now() AND clock_timestamp())
    EXECUTE FUNCTION ai._restore_row('vectorizer_id');

CREATE TRIGGER notify AFTER INSERT OR UPDATE OR DELETE ON ai.vectorizer
    FOR EACH STATEMENT EXECUTE FUNCTION ai._vectorizers_changed();
ALTER TABLE ai.vectorizer ENABLE ALWAYS TRIGGER notify;

-- ALWAYS: a restore or a replica that turns triggers off must not leave half a vectorizer.
CREATE EVENT TRIGGER ai_on_sql_drop ON sql_drop EXECUTE FUNCTION ai._on_sql_drop();
ALTER EVENT TRIGGER ai_on_sql_drop ENABLE ALWAYS;
COMMENT ON EVENT TRIGGER ai_on_sql_drop IS 'keeps vectorizers in step with what is dropped';

-- ALTER VIEW and its like rename columns of tables, too.
CREATE EVENT TRIGGER ai_on_ddl_command_end ON ddl_command_end
    WHEN TAG IN ('ALTER TABLE', 'ALTER VIEW', 'ALTER MATERIALIZED VIEW', 'ALTER FOREIGN TABLE',
                 'ALTER TYPE', 'ALTER SCHEMA', 'CREATE TABLE', 'CREATE SCHEMA')
    EXECUTE FUNCTION ai._on_ddl_command_end();
ALTER EVENT TRIGGER ai_on_ddl_command_end ENABLE ALWAYS;
COMMENT ON EVENT TRIGGER ai_on_ddl_command_end IS 'keeps vectorizers in step with what is altered';

CREATE EVENT TRIGGER ai_on_ddl_command_start ON ddl_command_start
    WHEN TAG IN ('ALTER TABLE', 'CREATE TABLE') EXECUTE FUNCTION ai._on_ddl_command_start();
ALTER EVENT TRIGGER ai_on_ddl_command_start ENABLE ALWAYS;
COMMENT ON EVENT TRIGGER ai_on_ddl_command_start IS 'ends restores of which all is there';

CREATE TRIGGER restore BEFORE INSERT ON ai._vectorizer_pause FOR EACH ROW
    WHEN (NEW.paused_at NOT BETWEEN now() AND clock_timestamp())
    EXECUTE FUNCTION ai._restore_row('vectorizer_id');

CREATE TRIGGER restore BEFORE INSERT ON ai.usage FOR EACH ROW
    WHEN (ai._in_session())
    EXECUTE FUNCTION ai._restore_row('vectorizer_id');

-- Row security instead of views with a condition: so the tables can be given to PostgREST as they are.
ALTER TABLE ai.embedding_jobs ENABLE ROW LEVEL SECURITY;
ALTER TABLE ai.embedding_job_failures ENABLE ROW LEVEL SECURITY;
ALTER TABLE ai.embedding_job_usage ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_jobs ON ai.embedding_jobs FOR SELECT
    USING (pg_catalog.pg_has_role(created_by, 'USAGE')
           OR pg_catalog.pg_has_role('pg_monitor', 'USAGE'));
CREATE POLICY own_jobs ON ai.embedding_job_failures FOR SELECT
    USING (pg_catalog.pg_has_role(created_by, 'USAGE')
           OR pg_catalog.pg_has_role('pg_monitor', 'USAGE'));
CREATE POLICY own_jobs ON ai.embedding_job_usage FOR SELECT
    USING (pg_catalog.pg_has_role(created_by, 'USAGE')
           OR pg_catalog.pg_has_role('pg_monitor', 'USAGE'));

CREATE TRIGGER guard BEFORE INSERT OR UPDATE OR DELETE ON ai.worker FOR EACH ROW
    EXECUTE FUNCTION ai._worker_guard();
CREATE TRIGGER guard_all BEFORE TRUNCATE ON ai.worker EXECUTE FUNCTION ai._worker_guard_all();

CREATE TRIGGER decided AFTER DELETE OR TRUNCATE OR UPDATE OF
    endpoint, api_key_name, enabled, requests_per_minute, tokens_per_minute, paused_until, resumed_at
    ON ai.provider FOR EACH STATEMENT EXECUTE FUNCTION ai._provider_changed();
CREATE TRIGGER decided_anew AFTER INSERT ON ai.provider FOR EACH ROW
    WHEN (NEW.requests_per_minute IS NOT NULL OR NEW.tokens_per_minute IS NOT NULL
          OR NEW.paused_until IS NOT NULL OR NOT NEW.enabled)
    EXECUTE FUNCTION ai._provider_changed();
