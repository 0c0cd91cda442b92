-- Since 0.1.0: changes of tables, before functions and views are replaced.

\echo Use "ALTER EXTENSION ai UPDATE" to load this file. \quit

SET LOCAL check_function_bodies = off;
