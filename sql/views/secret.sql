-- See tables/secret.sql.

CREATE OR REPLACE VIEW ai.secret_permissions WITH (security_barrier) AS
    SELECT p.name, r.rolname AS role
    FROM ai._secret_permission p JOIN pg_catalog.pg_roles r ON r.oid = p.role
    WHERE pg_catalog.pg_has_role(current_user, r.oid, 'USAGE');
COMMENT ON VIEW ai.secret_permissions IS
    'secrets that the current role, and the roles it is a member of, may use; * stands for all';
GRANT SELECT ON ai.secret_permissions TO PUBLIC;
