-- Keys of providers: kept here, in a setting or in the server's environment, used by the roles that
-- were permitted to, sent only to the hosts they belong to.

-- Nobody has rights on this table, and a dump has only those secrets that were marked for it.
CREATE TABLE ai._secret (
    name    text PRIMARY KEY CHECK (name ~ '^[A-Za-z0-9_.-]{1,128}$'),
    value   text NOT NULL CHECK (value <> ''),
    hosts   text[],
    in_dump boolean NOT NULL DEFAULT false,
    updated timestamptz NOT NULL DEFAULT now()
);
COMMENT ON TABLE ai._secret IS 'secrets that were set with ai.set_secret';
SELECT pg_catalog.pg_extension_config_dump('ai._secret', 'WHERE in_dump');

CREATE TABLE ai._secret_permission (
    name text NOT NULL,
    role regrole NOT NULL,
    PRIMARY KEY (name, role)
);
COMMENT ON TABLE ai._secret_permission IS
    'which roles may use which secrets; the name * stands for all of them';
-- Without those of dropped roles, whose numbers others may get where the dump is restored.
SELECT pg_catalog.pg_extension_config_dump('ai._secret_permission',
    'WHERE EXISTS (SELECT FROM pg_catalog.pg_roles r WHERE r.oid = role)');
