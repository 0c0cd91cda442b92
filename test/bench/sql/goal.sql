-- What every benchmark here begins with: the extension, and how results are kept and shown.
SET client_min_messages = warning;
CREATE EXTENSION ai CASCADE;

CREATE TABLE timing (what text, kind text, seconds float8);

-- The median of a kind's times over the median of the times it is compared with.
CREATE FUNCTION ratio(what text, kind text, base text) RETURNS float8 LANGUAGE sql AS $$
    SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY t.seconds) FILTER (WHERE t.kind = ratio.kind)
         / percentile_cont(0.5) WITHIN GROUP (ORDER BY t.seconds) FILTER (WHERE t.kind = ratio.base)
    FROM timing t WHERE t.what = ratio.what
    $$;

CREATE FUNCTION goal_line(name text, value float8, goal float8) RETURNS text LANGUAGE sql AS $$
    SELECT rpad(name, 52) || to_char(value, '99990.99') || '  (<= ' || goal
        || CASE WHEN value <= goal THEN ')' ELSE ': MISSED)' END
    $$;
