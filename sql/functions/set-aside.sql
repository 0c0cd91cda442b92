-- Vectorizers that cannot work: one error says why, and the others go on.

-- All workers meet the same trouble, and it is told once: again only when it is another one, or when
-- it comes back later, after a success. The row of progress is locked first, for workers that meet it
-- at the same moment. One that has met the open breaker may have told it before, with some words more.
CREATE OR REPLACE FUNCTION ai._record_error(vectorizer_id int4, message text, step text, class text,
        worker_id uuid, hint text) RETURNS text
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    v ai.vectorizer;
BEGIN
    SELECT x.* INTO v FROM ai.vectorizer x WHERE x.id = vectorizer_id;
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    PERFORM ai._worker_progress(worker_id, v.id, 0, message);
    INSERT INTO ai._vectorizer_errors (id, message, details, recorded)
    SELECT v.id, _record_error.message, jsonb_strip_nulls(jsonb_build_object(
        'step', _record_error.step, 'class', _record_error.class, 'hint', _record_error.hint)),
        clock_timestamp()
    FROM ai.vectorizer_worker_progress p
    LEFT JOIN LATERAL (
        SELECT e.message, e.details ->> 'step' AS step, e.recorded FROM ai._vectorizer_errors e
        WHERE e.id = v.id AND NOT e.details ? 'key' ORDER BY e.recorded DESC LIMIT 1) last ON true
    WHERE p.vectorizer_id = v.id
      AND (last.step IS DISTINCT FROM _record_error.step
           OR strpos(last.message, _record_error.message) = 0
           OR last.recorded < p.last_success_at
              AND last.recorded < clock_timestamp() - interval '1 minute');
    RETURN CASE WHEN FOUND THEN v.name END;
END
$$;
COMMENT ON FUNCTION ai._record_error(int4, text, text, text, uuid, text) IS
    'notes an error of a vectorizer as a whole; returns its name if the error was not known yet';

-- Once for each opening of a breaker, however many workers meet it and however often it is probed in
-- vain; and not where the error that opened it was recorded by itself. Nothing is returned, since
-- the log has a line for the provider already.
CREATE OR REPLACE FUNCTION ai._record_open_breaker(vectorizer_id int4, message text, class text, worker_id uuid,
        hint text, opened_at timestamptz) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM ai.vectorizer v WHERE v.id = vectorizer_id) THEN
        RETURN;
    END IF;
    PERFORM ai._worker_progress(worker_id, vectorizer_id, 0, message);
    INSERT INTO ai._vectorizer_errors (id, message, details, recorded)
    SELECT vectorizer_id, message, jsonb_build_object('step', 'embedding', 'class', class, 'hint', hint),
        clock_timestamp()
    WHERE NOT EXISTS (
        SELECT FROM ai._vectorizer_errors e
        WHERE e.id = vectorizer_id AND e.recorded >= opened_at AND e.details ->> 'step' = 'embedding'
          AND NOT e.details ? 'key');
END
$$;
COMMENT ON FUNCTION ai._record_open_breaker(int4, text, text, uuid, text, timestamptz) IS
    'notes that an open breaker keeps the requests of a vectorizer from going, once for each opening';

-- What is just dropped with its vectorizer is gone from both catalogs.
CREATE OR REPLACE FUNCTION ai._vectorizer_set_aside(vectorizer_id int4) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    v ai.vectorizer;
BEGIN
    SELECT x.* INTO v FROM ai.vectorizer x
    WHERE x.id = _vectorizer_set_aside.vectorizer_id AND NOT x.disabled
      AND NOT ai._vectorizer_has_queue(x)
    FOR NO KEY UPDATE SKIP LOCKED;
    IF FOUND THEN
        PERFORM ai._vectorizer_disable(v, 'the queue of the vectorizer, or a table that goes with '
            'it, was dropped; drop the vectorizer with ai.drop_vectorizer and create it again');
    END IF;
END
$$;
COMMENT ON FUNCTION ai._vectorizer_set_aside(int4) IS
    'disables a vectorizer whose queue was dropped in spite of all, and records why';

REVOKE ALL ON FUNCTION ai._record_error(int4, text, text, text, uuid, text),
    ai._record_open_breaker(int4, text, text, uuid, text, timestamptz),
    ai._vectorizer_set_aside(int4) FROM PUBLIC;
