-- The words of a vectorizer's chunks, kept in a generated column for hybrid search.

-- A generated column is known by what it is made of: it may be renamed, or be made by hand.
CREATE OR REPLACE FUNCTION ai._search_text_column(relation regclass, text_column name,
        INOUT language regconfig, OUT column_name name)
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    wanted regconfig := language;
BEGIN
    SELECT a.attname, m.language INTO column_name, language
    FROM pg_attribute a
    JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum,
    LATERAL (SELECT regexp_match(pg_get_expr(d.adbin, d.adrelid),
        '^to_tsvector\(''((?:[^'']|'''')*)''::regconfig, (.*)\)$')) e (parts),
    LATERAL (SELECT replace(e.parts[1], '''''', '''')::regconfig) m (language)
    WHERE a.attrelid = relation AND a.attgenerated = 's' AND NOT a.attisdropped
      AND a.atttypid = 'tsvector'::regtype AND e.parts IS NOT NULL
      AND e.parts[2] IN (quote_ident(text_column), format('(%I)::text', text_column))
      AND m.language = coalesce(wanted, m.language)
    ORDER BY a.attnum LIMIT 1;
    language := coalesce(language, wanted, get_current_ts_config());
END
$$;
COMMENT ON FUNCTION ai._search_text_column(regclass, name, regconfig) IS
    'the generated column of a table that has the words of a text column in a language, or in any; '
    'without one, only the language: the given one, or the session''s default';

CREATE OR REPLACE FUNCTION ai._vectorizer_text_column(v ai.vectorizer) RETURNS name
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    RETURN CASE WHEN v.target IS NULL THEN v.config #>> '{loading,column_name}' ELSE 'chunk' END;
END
$$;
COMMENT ON FUNCTION ai._vectorizer_text_column(ai.vectorizer) IS
    'column with the texts that a vectorizer embeds, of its target or else of its source';

CREATE OR REPLACE FUNCTION ai._enable_hybrid_search(caller oid, vectorizer int4, language regconfig)
    RETURNS text
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    v ai.vectorizer := ai._vectorizer_get(vectorizer);
    relation regclass := coalesce(v.target, v.source);
    text_column name := ai._vectorizer_text_column(v);
    kept record;
    made name;
BEGIN
    PERFORM ai._vectorizer_require_owner(caller, v, 'enable hybrid search for');
    PERFORM ai._search_require_embeddings(v);
    EXECUTE format('LOCK TABLE %s IN ACCESS EXCLUSIVE MODE', ai._qualified_name(relation));
    kept := ai._search_text_column(relation, text_column,
                                   coalesce(language, get_current_ts_config()));
    IF kept.column_name IS NOT NULL THEN
        RAISE NOTICE 'column "%" of table % has the words already, skipping', kept.column_name,
            ai._qualified_name(relation);
        RETURN kept.column_name;
    END IF;
    IF (SELECT b.type FROM pg_attribute a, ai._base_type(a.atttypid, -1) b
        WHERE a.attrelid = relation AND a.attname = text_column)
       <> ALL ('{text,varchar,bpchar}'::regtype[]) THEN
        RAISE EXCEPTION 'column "%" is not of type text, varchar or char', text_column
            USING ERRCODE = 'datatype_mismatch',
                  HINT = 'ai.hybrid_search works without this, and computes the words each time.';
    END IF;
    made := ai._free_name(ai._clipped_name(text_column, '_' || (
            SELECT c.cfgname FROM pg_ts_config c WHERE c.oid = kept.language)),
        ARRAY(SELECT a.attname FROM pg_attribute a WHERE a.attrelid = relation), '_words');
    PERFORM ai._run_as(ai._vectorizer_owner(v), format(
        'ALTER TABLE %s ADD COLUMN %I tsvector '
        'GENERATED ALWAYS AS (to_tsvector(%L::regconfig, %I::text)) STORED',
        ai._qualified_name(relation), made, kept.language, text_column));
    PERFORM ai._run_as(ai._vectorizer_owner(v), format('CREATE INDEX ON %s USING gin (%I)',
        ai._qualified_name(relation), made));
    RETURN made;
END
$$;
COMMENT ON FUNCTION ai._enable_hybrid_search(oid, int4, regconfig) IS
    'what ai.enable_hybrid_search does, for the role that called it';

CREATE OR REPLACE FUNCTION ai._enable_hybrid_search(caller oid, vectorizer text, language regconfig)
    RETURNS text
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    RETURN ai._enable_hybrid_search(caller, (ai._vectorizer_get(vectorizer)).id, language);
END
$$;
COMMENT ON FUNCTION ai._enable_hybrid_search(oid, text, regconfig) IS
    'what ai.enable_hybrid_search does, for the role that called it';
REVOKE ALL ON FUNCTION ai._enable_hybrid_search(oid, int4, regconfig),
    ai._enable_hybrid_search(oid, text, regconfig) FROM PUBLIC;

CREATE OR REPLACE FUNCTION ai.enable_hybrid_search(vectorizer int4, language regconfig DEFAULT NULL)
    RETURNS text
    LANGUAGE c VOLATILE
    AS 'MODULE_PATHNAME', 'ai_call_as_owner';
COMMENT ON FUNCTION ai.enable_hybrid_search(int4, regconfig) IS
    'keeps the words of a vectorizer''s chunks in a generated column of the target, with an index, '
    'so that hybrid searches in that language are fast; rewrites the table, returns the column';

CREATE OR REPLACE FUNCTION ai.enable_hybrid_search(vectorizer text, language regconfig DEFAULT NULL)
    RETURNS text
    LANGUAGE c VOLATILE
    AS 'MODULE_PATHNAME', 'ai_call_as_owner';
COMMENT ON FUNCTION ai.enable_hybrid_search(text, regconfig) IS
    'keeps the words of a vectorizer''s chunks in a generated column of the target, with an index, '
    'so that hybrid searches in that language are fast; rewrites the table, returns the column';
