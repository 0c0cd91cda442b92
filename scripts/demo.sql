-- What `make demo` shows. Run by psql on the private server.
\set QUIET on
\pset footer off
SET client_min_messages = warning;
CREATE EXTENSION ai CASCADE;
RESET client_min_messages;

\echo
\echo '== CREATE EXTENSION ai CASCADE; SELECT ai.version();'
SELECT ai.version();

\echo '== A text, cut into chunks: SELECT * FROM ai.chunk_text_recursively(..., chunk_size => 80, chunk_overlap => 0);'
SELECT * FROM ai.chunk_text_recursively(
    'Elephants remember. A herd finds water again after years of drought, led by its oldest cow. '
    'They greet one another with low rumbles that travel for kilometres through the ground.',
    chunk_size => 80, chunk_overlap => 0);

\echo '== What is installed and running: SELECT * FROM ai.status();'
SELECT * FROM ai.status();
