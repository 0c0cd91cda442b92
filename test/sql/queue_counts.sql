-- Rows are counted by hashes of their keys: as a query counts them, whatever the type of the key.
CREATE SCHEMA counts;
SET search_path = counts, public;
CREATE TYPE mood AS ENUM ('glad', 'sad');

CREATE FUNCTION make(key_type text, first_key text, second_key text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    name text := 'of_' || regexp_replace(key_type, '\W+', '_', 'g');
    id int;
BEGIN
    EXECUTE format('CREATE TABLE %I (key %s, part int, body text, PRIMARY KEY (key, part))', name, key_type);
    id := ai.create_vectorizer(name::regclass, name => name, loading => ai.loading_column('body'),
        embedding => ai.embedding_openai('m', 3));
    EXECUTE format('INSERT INTO %I VALUES (%L, 1, ''one''), (%L, 1, ''two''), (%L, 2, ''three'')', name,
                   first_key, second_key, first_key);
    EXECUTE format('UPDATE %I SET body = body || ''.''', name);
    -- One of them is with a worker and has changed again, one is to be tried again, and is not in the queue.
    EXECUTE format('INSERT INTO ai._vectorizer_q_work_%s (key, part, queued_at, priority, lease) '
        'VALUES (%L, 2, now(), 0, gen_random_uuid())', id, first_key);
    EXECUTE format('INSERT INTO ai._vectorizer_q_work_%s (key, part, queued_at, priority, retry_at, error) '
        'VALUES (%L, 3, now(), 0, now() + interval ''1 hour'', ''it failed'')', id, second_key);
    EXECUTE format('INSERT INTO ai._vectorizer_q_work_%s (key, part, queued_at, priority, retry_at) '
        'VALUES (%L, 4, now(), 0, now())', id, second_key);
END
$$;
SELECT make('int4', '1', '2'), make('int8', '-1', '5000000000'), make('text', 'a', 'b'), make('varchar(9)', 'a', 'b'),
    make('uuid', '00000000-0000-0000-0000-000000000001', '00000000-0000-0000-0000-000000000002'),
    make('numeric', '1', '2'), make('float8', '0', 'NaN'), make('date', 'today', 'tomorrow'), make('bytea', '\x00', '\x01'),
    make('int4[]', '{1}', '{1,2}'), make('mood', 'glad', 'sad'), make('int4range', '[1,2)', '[2,3)'), make('inet', '::1', '::2');
SELECT name, pending, running, retrying, failed, pending_items = ai.vectorizer_queue_pending(name, true) AS as_a_query,
    last_error
FROM ai.vectorizer_status ORDER BY name;

-- Keys that are equal and do not look the same.
UPDATE of_numeric SET key = '1.000' WHERE key = 1;
UPDATE of_float8 SET key = '-0' WHERE key = 0;
SELECT name, pending, pending_items = ai.vectorizer_queue_pending(name, true) AS as_a_query
FROM ai.vectorizer_status WHERE name IN ('of_numeric', 'of_float8') ORDER BY name;

-- More rows with workers than are looked at: those of the queue are looked up among them.
BEGIN;
SELECT format('INSERT INTO %s (key, part, queued_at, priority, lease) SELECT g, 9, now(), 0, gen_random_uuid() '
    'FROM generate_series(1, 20000) g', work) AS fill FROM ai.vectorizer WHERE name = 'of_int8' \gset
:fill;
SELECT pending, running BETWEEN 19000 AND 21000 AS many_running FROM ai.vectorizer_status WHERE name = 'of_int8';
ROLLBACK;

-- What this transaction has changed counts, and what it has taken back does not.
BEGIN;
INSERT INTO of_int4 VALUES (7, 1, 'seven');
SELECT pending FROM ai.vectorizer_status WHERE name = 'of_int4';
SAVEPOINT s;
INSERT INTO of_int4 VALUES (8, 1, 'eight');
SELECT pending FROM ai.vectorizer_status WHERE name = 'of_int4';
ROLLBACK TO s;
SELECT pending FROM ai.vectorizer_status WHERE name = 'of_int4';
ROLLBACK;

-- No lock is left behind.
BEGIN;
SELECT count(*) > 0 AS seen FROM ai.vectorizer_status;
SELECT count(*) AS locks FROM pg_locks l JOIN ai.vectorizer v ON l.relation IN (v.queue, v.work, v.failed)
WHERE l.pid = pg_backend_pid() AND v.name = 'of_int4';
ROLLBACK;

-- Names and rights.
SELECT ai._qualified_name('pg_class'), ai._qualified_name(0), ai._qualified_name(NULL);
CREATE TABLE "Odd ""name" ();
SELECT ai._qualified_name('"Odd ""name"');
CREATE ROLE regress_ai_reader;
SELECT ai._vectorizer_readable('regress_ai_reader', 'of_int4', NULL), ai._vectorizer_readable('regress_ai_reader', 0, 0),
    ai._vectorizer_readable('regress_ai_reader', NULL, NULL), ai._vectorizer_readable(NULL, 'of_int4', NULL),
    ai._vectorizer_readable(current_user, 'of_int4', NULL);
GRANT SELECT ON of_int4 TO regress_ai_reader;
SELECT ai._vectorizer_readable('regress_ai_reader', 'of_int4', NULL), ai._vectorizer_readable('regress_ai_reader', 0, 'of_int4'),
    ai._vectorizer_visible('regress_ai_reader', 'of_int8', NULL), ai._vectorizer_visible('pg_monitor', 'of_int8', NULL);
SELECT ai._vectorizer_readable('nobody_at_all', 'of_int4', NULL);
SET ROLE regress_ai_reader;
SELECT name FROM ai.vectorizer_status;
SELECT ai._vectorizer_count_entries(1259, 1259, 1259, 1);
SELECT * FROM ai._figures('postgres', NULL);
RESET ROLE;

SET client_min_messages = warning;
DROP SCHEMA counts CASCADE;
DROP ROLE regress_ai_reader;
