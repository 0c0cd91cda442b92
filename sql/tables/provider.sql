-- The endpoints that workers ask, each with the keys that are used there: what was decided for them,
-- and how they fare. Decisions are here and nowhere else; workers read them before they take rows.
-- Between two requests workers go by shared memory, and write here what came of it: when a breaker
-- opens or closes, and otherwise with the heartbeat.

CREATE TABLE ai.provider (
    endpoint            text NOT NULL CHECK (endpoint <> ''),
    api_key_name        text NOT NULL DEFAULT '',
    enabled             boolean NOT NULL DEFAULT true,
    requests_per_minute bigint CHECK (requests_per_minute BETWEEN 1 AND 1000000000),
    tokens_per_minute   bigint CHECK (tokens_per_minute BETWEEN 1 AND 1000000000000),
    paused_until        timestamptz,
    resumed_at          timestamptz,
    fingerprint         text,
    breaker             text NOT NULL DEFAULT 'closed'
                        CHECK (breaker IN ('closed', 'open', 'half-open')),
    failure_streak      int4 NOT NULL DEFAULT 0 CHECK (failure_streak >= 0),
    opened_at           timestamptz,
    next_probe          timestamptz,
    cooldown_until      timestamptz,
    last_success_at     timestamptz,
    last_failure_at     timestamptz,
    last_error          text,
    created             timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (endpoint, api_key_name)
) WITH (fillfactor = 50);
COMMENT ON TABLE ai.provider IS
    'endpoints that are asked for embeddings, one row for each key: limits, pauses, and how they fare';
COMMENT ON COLUMN ai.provider.endpoint IS 'base URL';
COMMENT ON COLUMN ai.provider.api_key_name IS 'name of the secret; empty if there is none';
COMMENT ON COLUMN ai.provider.enabled IS 'whether it is asked at all';
COMMENT ON COLUMN ai.provider.requests_per_minute IS 'most requests in a minute; null is no limit';
COMMENT ON COLUMN ai.provider.tokens_per_minute IS 'most tokens in a minute; null is no limit';
COMMENT ON COLUMN ai.provider.paused_until IS 'not asked until then, by somebody''s decision';
COMMENT ON COLUMN ai.provider.resumed_at IS
    'when somebody said that it can be asked again, whatever happened before';
COMMENT ON COLUMN ai.provider.fingerprint IS
    'hash of endpoint and key: the same one in two databases means that they share limits';
COMMENT ON COLUMN ai.provider.breaker IS
    'circuit breaker. closed: it is asked; open: not before next_probe; half-open: one request is tried';
COMMENT ON COLUMN ai.provider.failure_streak IS 'failures since the last success';
COMMENT ON COLUMN ai.provider.opened_at IS 'when the breaker opened; null if it is closed';
COMMENT ON COLUMN ai.provider.next_probe IS
    'when an open breaker lets one request through, the probe; null if it is closed, or it is time';
COMMENT ON COLUMN ai.provider.cooldown_until IS 'until when the provider asked to be left alone';

-- What workers find out is found out again.
SELECT pg_catalog.pg_extension_config_dump('ai.provider',
    'WHERE requests_per_minute IS NOT NULL OR tokens_per_minute IS NOT NULL '
    'OR paused_until IS NOT NULL OR NOT enabled');
