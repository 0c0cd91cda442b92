# Vectorizers among other sessions: rows that logical replication brings, rows written while a
# vectorizer is created or dropped.
use strict;
use warnings FATAL => 'all';
use EngineTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $publisher = PostgreSQL::Test::Cluster->new('publisher');
$publisher->init(allows_streaming => 'logical');
$publisher->start;
my $node = PostgreSQL::Test::Cluster->new('subscriber');
$node->init(allows_streaming => 'logical');
$node->append_conf('postgresql.conf', "shared_preload_libraries = 'ai'\nai.workers = 0");
$node->start;

sub sql { return $node->safe_psql('postgres', shift); }

# The keys queued since the last call.
sub queued
{
	return sql(q{WITH d AS (DELETE FROM ai._vectorizer_q_1 RETURNING id)
	             SELECT string_agg(id::text, ',' ORDER BY id) FROM d});
}

# -- logical replication

my $table = 'CREATE TABLE src (id int PRIMARY KEY, title text, body text)';
$publisher->safe_psql('postgres', "$table; INSERT INTO src VALUES (1, 'a', 'a'), (2, 'b', 'b'); "
	  . 'CREATE PUBLICATION p FOR TABLE src');
sql("CREATE EXTENSION ai CASCADE; $table;" . q{
	SELECT ai.create_vectorizer('src', loading => ai.loading_column('body'), embedding => ai.embedding_local('m', 3))});
sql("CREATE SUBSCRIPTION s CONNECTION '" . $publisher->connstr . " dbname=postgres' PUBLICATION p");
$node->wait_for_subscription_sync($publisher, 's');
is(queued(), '1,2', 'the initial copy');

sub replicate
{
	$publisher->safe_psql('postgres', shift);
	$publisher->wait_for_catchup('s');
	return queued();
}
is(replicate(q{INSERT INTO src VALUES (3, 'c', 'c'), (4, 'd', 'd')}), '3,4', 'INSERT');
is(replicate(q{UPDATE src SET title = 'x'}), '', 'UPDATE of a column that does not matter');
is(replicate(q{UPDATE src SET body = 'x' WHERE id = 3}), '3', 'UPDATE of one that does');
is(replicate(q{DELETE FROM src WHERE id = 4}), '4', 'DELETE');
sql(q{INSERT INTO src_embedding_store (id, chunk_seq, chunk, embedding) VALUES (1, 0, 'a', '[1,2,3]')});
is(replicate('TRUNCATE src'), '1', 'TRUNCATE');
sql('DROP SUBSCRIPTION s');

# -- a vectorizer is created while rows are written: it waits for writers, and misses none

sql(q{SET client_min_messages = warning; DROP TABLE src CASCADE; CREATE TABLE src (id int PRIMARY KEY, body text)});
my $writer = $node->background_psql('postgres');
$writer->query_safe(q{BEGIN; INSERT INTO src VALUES (1, 'before')});
my $creator = $node->background_psql('postgres');
$creator->query_until(qr/waiting/, q{
	\echo waiting
	SELECT 'made ' || ai.create_vectorizer('src', name => 'v', loading => ai.loading_column('body'),
		embedding => ai.embedding_local('m', 3));
	\echo done
});
EngineTest::poll_node($node, 'postgres',
	q{SELECT count(*) = 1 FROM pg_locks WHERE relation = 'src'::regclass AND NOT granted})
  or die 'create_vectorizer does not wait';
$writer->query_safe('COMMIT');
$creator->query_until(qr/done/, '');
sql(q{INSERT INTO src VALUES (2, 'after')});
is(sql(q{SELECT ai.vectorizer_queue_pending('v', true)}), '2', 'a row committed while it waited is queued, and so is the next');

# -- also in a transaction whose snapshot is older than the row

sql(q{SELECT ai.drop_vectorizer('v', true)});
$creator->query_safe('BEGIN ISOLATION LEVEL REPEATABLE READ');
is($creator->query_safe('SELECT count(*) FROM src'), '2', 'an old snapshot');
sql(q{INSERT INTO src VALUES (7, 'newer')});
$creator->query_safe(q{SELECT ai.create_vectorizer('src', name => 'v', loading => ai.loading_column('body'),
	embedding => ai.embedding_local('m', 3))});
is($creator->query_safe('SELECT count(*) FROM src'), '2', 'that does not see the row');
$creator->query_safe('COMMIT');
is(sql(q{SELECT ai.vectorizer_queue_pending('v', true)}), '3', 'which is queued all the same');
$creator->query_safe('BEGIN ISOLATION LEVEL REPEATABLE READ');
$creator->query_safe('SELECT count(*) FROM src');
sql(q{INSERT INTO src_embedding_store (id, chunk_seq, chunk, embedding) VALUES (99, 0, 'newer', '[1,2,3]')});
$creator->query_safe('TRUNCATE src');
$creator->query_safe('COMMIT');
is(sql(q{SELECT ai.vectorizer_queue_pending('v', true)}), '4', 'and so are embeddings, at TRUNCATE');
sql(q{INSERT INTO src VALUES (1, 'x'), (2, 'y')});

# -- a writer and drop_vectorizer wait for each other in one order only

$writer->query_safe(q{BEGIN; INSERT INTO src VALUES (3, 'x')});
my $dropper = $node->background_psql('postgres');
$dropper->query_until(qr/waiting/, q{
	\echo waiting
	SELECT ai.drop_vectorizer('v', true);
	\echo done
});
EngineTest::poll_node($node, 'postgres',
	q{SELECT count(*) = 1 FROM pg_locks WHERE relation = 'src'::regclass AND NOT granted})
  or die 'drop_vectorizer does not wait';
$writer->query_safe(q{INSERT INTO src VALUES (4, 'x'); COMMIT});
$dropper->query_until(qr/done/, '');
is(sql('SELECT count(*) FROM ai.vectorizer'), '0', 'dropped after the writer');
is(sql(q{SELECT string_agg(id::text, ',' ORDER BY id) FROM src}), '1,2,3,4', 'who lost nothing');

# -- nor do a reader that is about to write, as workers are, and a vectorizer that adds a column

$writer->query_safe(q{BEGIN; SELECT count(*) FROM src});
$creator->query_until(qr/waiting/, q{
	\echo waiting
	SELECT ai.create_vectorizer('src', name => 'c', loading => ai.loading_column('body'),
		embedding => ai.embedding_local('m', 3), chunking => ai.chunking_none(), destination => ai.destination_column('vector'));
	\echo done
});
EngineTest::poll_node($node, 'postgres',
	q{SELECT count(*) = 1 FROM pg_locks WHERE relation = 'src'::regclass AND NOT granted})
  or die 'create_vectorizer does not wait';
$writer->query_safe(q{UPDATE src SET body = 'z' WHERE id = 4; COMMIT});
$creator->query_until(qr/done/, '');
is(sql(q{SELECT ai.vectorizer_queue_pending('c', true)}), '4', 'the vectorizer is made');
is(sql(q{SELECT body FROM src WHERE id = 4}), 'z', 'and the row is written');
unlike(slurp_file($node->logfile), qr/deadlock detected/, 'no deadlock');

$_->quit for $writer, $creator, $dropper;
$node->stop;
$publisher->stop;
done_testing();
