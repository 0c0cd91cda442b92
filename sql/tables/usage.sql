-- What vectorizers have used of their models, as workers count it; and the statements of workers, for
-- those who want to read them.

CREATE TABLE ai.usage (
    vectorizer_id int4 NOT NULL REFERENCES ai.vectorizer ON DELETE CASCADE,
    model         text NOT NULL,
    day           date NOT NULL,
    requests      bigint NOT NULL DEFAULT 0,
    input_tokens  bigint NOT NULL DEFAULT 0,
    rows          bigint NOT NULL DEFAULT 0,
    sent_chunks   bigint NOT NULL DEFAULT 0,
    reused_chunks bigint NOT NULL DEFAULT 0,
    truncated_chunks bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (vectorizer_id, model, day)
);
COMMENT ON TABLE ai.usage IS
    'what vectorizers have asked of their models, by day: requests, tokens as the provider counted '
    'them, rows, chunks sent, chunks that were there already, chunks that were cut to fit';
SELECT pg_catalog.pg_extension_config_dump('ai.usage', '');
