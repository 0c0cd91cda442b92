-- See tables/vectorizer.sql.

CREATE OR REPLACE VIEW ai._vectorizer_detail AS
    SELECT v.id, v.name, v.disabled, v.source, s.relowner AS owner,
        sn.nspname AS source_schema, s.relname AS source_table, s.relkind AS source_kind,
        v.source_pk,
        tn.nspname AS target_schema, t.relname AS target_table,
        wn.nspname AS view_schema, w.relname AS view_name,
        qn.nspname AS queue_schema, q.relname AS queue_table,
        kn.nspname AS work_schema, k.relname AS work_table,
        fn.nspname AS failed_schema, f.relname AS failed_table,
        v.config
    FROM ai.vectorizer v
    JOIN pg_catalog.pg_class s ON s.oid = v.source
    JOIN pg_catalog.pg_namespace sn ON sn.oid = s.relnamespace
    JOIN pg_catalog.pg_class q ON q.oid = v.queue
    JOIN pg_catalog.pg_namespace qn ON qn.oid = q.relnamespace
    JOIN pg_catalog.pg_class k ON k.oid = v.work
    JOIN pg_catalog.pg_namespace kn ON kn.oid = k.relnamespace
    JOIN pg_catalog.pg_class f ON f.oid = v.failed
    JOIN pg_catalog.pg_namespace fn ON fn.oid = f.relnamespace
    LEFT JOIN pg_catalog.pg_class t ON t.oid = v.target
    LEFT JOIN pg_catalog.pg_namespace tn ON tn.oid = t.relnamespace
    LEFT JOIN pg_catalog.pg_class w ON w.oid = v.view
    LEFT JOIN pg_catalog.pg_namespace wn ON wn.oid = w.relnamespace;
COMMENT ON VIEW ai._vectorizer_detail IS
    'vectorizers with the names of their tables and the owner their work is done as';
