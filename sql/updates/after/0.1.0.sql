-- Since 0.1.0: functions that are gone, when nothing needs them any more.

DROP FUNCTION ai._vectorizer_pause_by(oid, ai.vectorizer, timestamptz);
DROP FUNCTION ai._vectorizer_resume_by(oid, ai.vectorizer);
DROP FUNCTION ai._pause_vectorizer(oid, text, timestamptz);
DROP FUNCTION ai._resume_vectorizer(oid, text);
DROP FUNCTION ai._jobs(oid, text);
DROP FUNCTION ai._retry_failed(oid, text, jsonb);
DROP FUNCTION ai._worker_stopping(text, int4);
DROP FUNCTION ai._worker_stopped(text, int4);
DROP FUNCTION ai._worker_crashed(text, text, jsonb, boolean, boolean);
DROP FUNCTION ai._worker_gone(text);
DROP FUNCTION ai._worker_starting(text, boolean);
DROP FUNCTION ai._worker_forget(text);
DROP FUNCTION ai._worker_progress(uuid, int4, bigint, text);
