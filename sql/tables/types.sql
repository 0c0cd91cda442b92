-- Composite types of functions.

CREATE TYPE ai._vectorizer_counts AS (
    pending bigint, running bigint, retrying bigint, failed bigint, oldest timestamptz,
    next_retry timestamptz, error text, error_at timestamptz
);
COMMENT ON TYPE ai._vectorizer_counts IS
    'rows of a vectorizer by state, the time of the oldest change among them, when the next one is '
    'tried again, and the error of the one that was tried last';

CREATE TYPE ai._search_parts AS (
    approximate    boolean,
    relations      text,
    condition      text,
    last_condition text,
    columns        text,
    chunk          text,
    embedding      text,
    ordering       text,
    distance       text,
    score          text,
    oversampling   int4,
    key_names      text[],
    key_equals     text[],
    key_as_jsonb   text
);
COMMENT ON TYPE ai._search_parts IS
    'what the statement of a search is made of; last_condition is one on hits, named h';

CREATE TYPE ai._search_statement AS (
    vectorizer_id int4,
    dimensions    int4,
    statement     text,
    approximate   boolean,
    oversampling  int4,
    query_vector  vector
);
COMMENT ON TYPE ai._search_statement IS
    'a search as a statement: $1 is the vector of the query, $2 the number of candidates, $3 that '
    'of hits; if it is approximate, it may miss some; a hit takes oversampling candidates';

CREATE TYPE ai.search_hit AS (
    key            jsonb,
    chunk_seq      int4,
    chunk          text,
    distance       float8,
    score          float8,
    embedding_uuid uuid
);
COMMENT ON TYPE ai.search_hit IS
    'what ai.search found: the key of the row in the source, the chunk of its text, the distance '
    'from the query and the score, higher for what is nearer; embedding_uuid is the key of the '
    'chunk in the target table, null if the embedding is in a column of the source';

CREATE TYPE ai.hybrid_hit AS (
    key            jsonb,
    chunk_seq      int4,
    chunk          text,
    distance       float8,
    score          float8,
    embedding_uuid uuid,
    vector_rank    int4,
    text_rank      int4
);
COMMENT ON TYPE ai.hybrid_hit IS
    'what ai.hybrid_search found: as ai.search_hit, with the ranks by meaning and by words, each '
    'null if the chunk is not among the first ones there; the score is what both ranks give';

CREATE TYPE ai._hybrid_statement AS (
    vectorizer_id int4,
    dimensions    int4,
    statement     text,
    approximate   boolean,
    oversampling  int4,
    query_vector  vector,
    language      regconfig
);
COMMENT ON TYPE ai._hybrid_statement IS
    'a hybrid search as a statement: $1 to $3 as in ai._search_statement, $4 is the query by '
    'words, $5 and $6 are the weights of meaning and of words, $7 is rrf_k';

CREATE TYPE ai.job_status AS ENUM
    ('pending', 'processing', 'completed', 'failed', 'retrying', 'cancelled');
COMMENT ON TYPE ai.job_status IS 'what became of an embedding job so far';

CREATE TYPE ai.job_priority AS ENUM ('low', 'normal', 'high', 'urgent');
COMMENT ON TYPE ai.job_priority IS 'what is done first';
