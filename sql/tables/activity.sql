-- How much was done lately, and what went wrong. The counters that workers keep only grow; here the
-- coordinator notes with its heartbeat where they stand, if they have moved, so that a rate is a
-- difference of two numbers. What happened more than some minutes ago is in the counters only.

-- No reference to ai.vectorizer: the coordinator would wait for whoever is dropping one.
CREATE TABLE ai._sample (
    subject  text NOT NULL,
    taken_at timestamptz NOT NULL,
    done     bigint NOT NULL,
    errors   bigint NOT NULL,
    PRIMARY KEY (subject, taken_at)
);
COMMENT ON TABLE ai._sample IS
    'where counters stood: rows and errors of vectorizer/<id>, requests of provider/<fingerprint>';
