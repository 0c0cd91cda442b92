-- Whether and how the embeddings get a vector index.

-- Embeddings are stored as vector. An operator class for halfvec or bit means an index on an
-- expression: embedding::halfvec(n), or binary_quantize(embedding)::bit(n). The dimensions are the
-- limits of pgvector's hnsw.
CREATE OR REPLACE FUNCTION ai._hnsw_max_dimensions(opclass text) RETURNS int4
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT CASE
        WHEN opclass IN ('vector_cosine_ops', 'vector_l2_ops', 'vector_ip_ops', 'vector_l1_ops')
            THEN 2000
        WHEN opclass IN ('halfvec_cosine_ops', 'halfvec_l2_ops', 'halfvec_ip_ops', 'halfvec_l1_ops')
            THEN 4000
        WHEN opclass IN ('bit_hamming_ops', 'bit_jaccard_ops') THEN 64000
    END
    $$;
COMMENT ON FUNCTION ai._hnsw_max_dimensions(text) IS
    'most dimensions that hnsw indexes with an operator class; null for one that does not fit';

CREATE OR REPLACE FUNCTION ai._hnsw_has_opclass(opclass text) RETURNS boolean
    LANGUAGE sql STABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT EXISTS (
        SELECT FROM pg_opclass o
        JOIN pg_am m ON m.oid = o.opcmethod AND m.amname = 'hnsw'
        JOIN pg_extension e ON e.extnamespace = o.opcnamespace AND e.extname = 'vector'
        WHERE o.opcname = opclass)
    $$;
COMMENT ON FUNCTION ai._hnsw_has_opclass(text) IS
    'whether the installed pgvector has an operator class for hnsw';

CREATE OR REPLACE FUNCTION ai._validate_indexing(config jsonb, dimensions int4 DEFAULT NULL) RETURNS jsonb
    LANGUAGE plpgsql STABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    opclass text;
BEGIN
    PERFORM ai._check_section('indexing', config, '{"none": {}, "default": {}, "hnsw": {
        "min_rows": {"type": "integer", "min": 0},
        "opclass": {"type": "string"},
        "m": {"type": "integer", "min": 2, "max": 100},
        "ef_construction": {"type": "integer", "min": 4, "max": 1000},
        "create_when_queue_empty": {"type": "boolean"}}}');
    IF config ->> 'implementation' <> 'hnsw' THEN
        RETURN config;
    END IF;
    opclass := coalesce(config ->> 'opclass', 'vector_cosine_ops');
    IF ai._hnsw_max_dimensions(opclass) IS NULL THEN
        RAISE EXCEPTION 'operator class "%" does not fit embeddings of type vector', opclass
            USING ERRCODE = 'invalid_parameter_value',
                  HINT = 'Use one of vector_cosine_ops, vector_l2_ops, vector_ip_ops, '
                         'vector_l1_ops, the same with halfvec, bit_hamming_ops, bit_jaccard_ops.';
    END IF;
    IF NOT ai._hnsw_has_opclass(opclass) THEN
        RAISE EXCEPTION 'the installed pgvector has no operator class "%" for hnsw', opclass
            USING ERRCODE = 'undefined_object', HINT = 'Install pgvector 0.7 or later.';
    END IF;
    IF dimensions > ai._hnsw_max_dimensions(opclass) THEN
        RAISE EXCEPTION 'hnsw with % cannot index % dimensions, only up to %', opclass, dimensions,
            ai._hnsw_max_dimensions(opclass)
            USING ERRCODE = 'invalid_parameter_value',
                  HINT = 'halfvec operator classes go up to 4000 dimensions, bit ones up to 64000.';
    END IF;
    IF coalesce((config ->> 'ef_construction')::int, 64)
       < 2 * coalesce((config ->> 'm')::int, 16) THEN
        RAISE EXCEPTION 'ef_construction must be greater than or equal to 2 * m'
            USING ERRCODE = 'invalid_parameter_value',
                  DETAIL = 'The default of ef_construction is 64, that of m is 16.';
    END IF;
    RETURN config;
END
$$;
COMMENT ON FUNCTION ai._validate_indexing(jsonb, int4) IS
    'the given indexing configuration, if it is a valid one, and fits the number of dimensions';

CREATE OR REPLACE FUNCTION ai.indexing_none() RETURNS jsonb
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $$SELECT ai._config('indexing', 'none')$$;
COMMENT ON FUNCTION ai.indexing_none() IS 'vectorizer configuration: no vector index is made';

CREATE OR REPLACE FUNCTION ai.indexing_default() RETURNS jsonb
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $$SELECT ai._config('indexing', 'default')$$;
COMMENT ON FUNCTION ai.indexing_default() IS
    'vectorizer configuration: hnsw, if the dimensions allow it';

CREATE OR REPLACE FUNCTION ai.indexing_hnsw(min_rows int4 DEFAULT 100000,
        opclass text DEFAULT 'vector_cosine_ops', m int4 DEFAULT NULL,
        ef_construction int4 DEFAULT NULL, create_when_queue_empty boolean DEFAULT true)
    RETURNS jsonb
    LANGUAGE sql STABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT ai._validate_indexing(ai._config('indexing', 'hnsw',
        jsonb_build_object('min_rows', min_rows, 'opclass', opclass, 'm', m,
            'ef_construction', ef_construction,
            'create_when_queue_empty', create_when_queue_empty)))
    $$;
COMMENT ON FUNCTION ai.indexing_hnsw(int4, text, int4, int4, boolean) IS
    'vectorizer configuration: an hnsw index is made once there are min_rows embeddings';

CREATE OR REPLACE FUNCTION ai.indexing_diskann(min_rows int4 DEFAULT 100000, storage_layout text DEFAULT NULL,
        num_neighbors int4 DEFAULT NULL, search_list_size int4 DEFAULT NULL,
        max_alpha float8 DEFAULT NULL, num_dimensions int4 DEFAULT NULL,
        num_bits_per_dimension int4 DEFAULT NULL, create_when_queue_empty boolean DEFAULT true)
    RETURNS jsonb
    LANGUAGE sql
    SET search_path = pg_catalog, pg_temp
    AS $$SELECT ai._not_supported('indexing with diskann', 'Use ai.indexing_hnsw().')$$;
COMMENT ON FUNCTION
    ai.indexing_diskann(int4, text, int4, int4, float8, int4, int4, boolean) IS
    'not supported: raises an error that says what to do';

CREATE OR REPLACE FUNCTION ai._resolve_indexing(config jsonb, dimensions int4) RETURNS jsonb
    LANGUAGE sql STABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT CASE
        WHEN config ->> 'implementation' <> 'default' THEN config
        WHEN dimensions <= 2000 THEN ai.indexing_hnsw()
        WHEN dimensions <= 4000 AND ai._hnsw_has_opclass('halfvec_cosine_ops')
            THEN ai.indexing_hnsw(opclass => 'halfvec_cosine_ops')
        ELSE ai.indexing_none() END
    $$;
COMMENT ON FUNCTION ai._resolve_indexing(jsonb, int4) IS
    'what ai.indexing_default() means for a number of dimensions';
