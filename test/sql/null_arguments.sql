-- No function breaks on arguments that are all null: an error is fine, a crash is not.
CREATE FUNCTION pg_temp.call_with_nulls(f oid) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE (SELECT format('SELECT * FROM ai.%I(%s)', p.proname,
                 (SELECT string_agg('NULL::' || format_type(t, NULL), ', ' ORDER BY n)
                  FROM unnest(p.proargtypes) WITH ORDINALITY AS a (t, n)))
             FROM pg_proc p WHERE p.oid = f);
EXCEPTION WHEN OTHERS THEN
    NULL;
END
$$;
SELECT count(*) > 100 AS many FROM (
    SELECT pg_temp.call_with_nulls(p.oid) FROM pg_proc p
    WHERE p.pronamespace = 'ai'::regnamespace AND p.prokind = 'f'
      AND p.prorettype NOT IN ('trigger'::regtype, 'event_trigger'::regtype)) called;
