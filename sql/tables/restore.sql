-- Restoring a dump. A restore is known by what only a restore does: it inserts rows into the catalog
-- that were not made in its own transaction. Only superusers and the owner of the extension can; others
-- reach these tables through functions alone. No setting of a session plays a part.
--
-- A dump has first the tables, with partitions attached, then the rows of all tables, those of the
-- catalog too, then indexes and triggers. So a vectorizer comes before its triggers and before the
-- marks on its partitions, which the dump makes itself: it is restoring until they are there
-- (ai._vectorizer_is_whole).
--
-- With several jobs the rows of two tables are loaded in any order, foreign key or not: a row may come
-- before the vectorizer it belongs to. It is put aside, and inserted with the vectorizer. Both sides
-- lock the table of such rows till the end of their transactions, so that one of them sees what the
-- other did.

CREATE TABLE ai._restored_rows (
    relation      regclass NOT NULL,
    vectorizer_id int4 NOT NULL,
    content       jsonb NOT NULL
);
ALTER TABLE ai._restored_rows REPLICA IDENTITY FULL;
COMMENT ON TABLE ai._restored_rows IS
    'rows that were restored before their vectorizer; empty at the end of a restore';
