# Somebody has a snapshot for long, so that nothing can be vacuumed: what has passed through a queue stays there,
# dead. That must not make each claim longer, nor may counters leave a version behind for every row. It is blocks
# and versions that are counted here, not time.
use strict;
use warnings FATAL => 'all';
use EngineTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(time);

my ($passed, $stream) = (40_000, 300);
my $engine = EngineTest->new('main', conf => q{
ai.idle_timeout = -1
ai.poll_interval = '5s'
autovacuum = off
});
my ($node, $mock) = ($engine->node, $engine->mock);
sub sql { return $engine->sql(@_); }

my $id = $engine->table('src', indexing => 'ai.indexing_none()');
$engine->is_settled('src', 'nothing to do');

# Ends the workers, which then report what they have counted, and waits for others.
sub new_workers
{
	$engine->poll(q{SELECT count(*) = 2 FROM ai.worker WHERE component LIKE 'worker:%' AND status = 'healthy'}) or die;
	my $before = join ',', $engine->workers;
	sql("SELECT count(pg_terminate_backend(pid, 10000)) FROM unnest(ARRAY[$before]) pid");
	$engine->poll("SELECT count(*) = 2 FROM ai.worker WHERE component LIKE 'worker:%' AND status = 'healthy' AND pid NOT IN ($before)") or die;
	return;
}

# Blocks of the queue that were looked at, and versions that were made of what is only counted.
sub counts
{
	new_workers();
	sql('SELECT pg_stat_force_next_flush()');
	my $blocks = sql("SELECT sum(heap_blks_hit + heap_blks_read) FROM pg_statio_all_tables WHERE relname = '_vectorizer_q_$id'");
	my $versions = sql(q{SELECT max(n_tup_upd) FROM pg_stat_all_tables WHERE schemaname = 'ai'
		AND relname IN ('usage', 'vectorizer_worker_progress', 'provider', 'vectorizer')});
	return ($blocks, $versions);
}

# Single rows that come one after the other, each in a transaction of its own. Returns what one took.
my $next = 1_000_000;
sub stream
{
	my ($test) = @_;
	my ($blocks, $versions) = counts();
	my $last = $next + $stream - 1;
	my $start = time;
	sql(qq{DO \$\$ BEGIN
		FOR n IN $next..$last LOOP
			INSERT INTO src VALUES (n, 'stream ' || n);
			COMMIT;
			PERFORM pg_sleep(0.005);
		END LOOP;
	END \$\$});
	$engine->poll("SELECT count(*) = $stream FROM src_embedding_store WHERE id BETWEEN $next AND $last") or die;
	$next = $last + 1;
	my $seconds = time - $start;
	my ($blocks_after, $versions_after) = counts();
	my @taken = (($blocks_after - $blocks) / $stream, $versions_after - $versions);
	note(sprintf '%s: %.1f blocks for a row, %d versions, %.1f s', $test, @taken, $seconds);
	return (@taken, $seconds);
}

my ($blocks_before, $versions_before) = stream('before');

my $user = $node->background_psql('postgres');
$user->query_safe('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM src');
foreach my $part (1 .. 4)
{
	my ($first, $last) = (($part - 1) * $passed / 4 + 1, $part * $passed / 4);
	sql("INSERT INTO src SELECT n, 'passed ' || n FROM generate_series($first, $last) n");
	ok($engine->drained('src'), "$last rows have passed");
}
sql("VACUUM ai._vectorizer_q_$id");
my $pages = sql("SELECT pg_relation_size('ai._vectorizer_q_$id') / current_setting('block_size')::int");
cmp_ok($pages, '>', 150, "the queue has $pages pages that nobody can remove");

# Each of two workers looks through all of it five times a second at most, in case that something came elsewhere
# than at the end.
my ($blocks, $versions, $seconds) = stream('under a snapshot');
my $whole = 2 * 5 * $seconds * $pages / $stream;
cmp_ok($blocks, '<', $blocks_before + 20 + 1.3 * $whole,
	sprintf('a row looks at %.1f blocks of the queue, %.1f before, %.1f in looks at all of it', $blocks, $blocks_before, $whole));
cmp_ok($versions, '<', $stream / 4, "and counters have $versions more versions, not one for each of $stream rows");

$user->query_safe('ROLLBACK');
$user->quit;
$engine->is_settled('src', 'all is done');
sql("VACUUM ai._vectorizer_q_$id");
is(sql("SELECT pg_relation_size('ai._vectorizer_q_$id')"), 0, 'the queue is empty when it can be vacuumed');

unlike(slurp_file($node->logfile), qr/PANIC:|TRAP:|terminated by signal/, 'no process crashed');
$node->stop;
done_testing();
