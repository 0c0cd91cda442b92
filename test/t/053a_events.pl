# Commits tell the workers which queues they wrote to: nothing is missed, also when more is told than fits.
# Workers look by themselves once an hour only, so whatever is
# embedded here was told.
use strict;
use warnings FATAL => 'all';

use EngineTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $engine = EngineTest->new('main', conf => qq{
max_locks_per_transaction = 512
ai.poll_interval = '1h'
});
my $node = $engine->node;

sub workers_of
{
	my ($database, $count, $test) = @_;
	return ok($engine->poll("SELECT count(*) = $count FROM pg_stat_activity WHERE backend_type = 'ai worker'
		AND datname = '$database'", 'template1'), $test);
}

sub embedded { my ($table, $rows) = @_; return "SELECT count(*) = $rows FROM ${table}_embedding_store"; }

$engine->table('plain');
workers_of('postgres', 2, 'two workers');
$engine->is_prompt('plain', 'a commit wakes the workers');

subtest 'more commits to more queues than can be told' => sub {
	my ($tables, $commits) = (12, 250);
	$engine->table("many_$_") foreach 1 .. $tables;
	# The workers cannot read what they are told meanwhile.
	my @workers = $engine->workers;
	kill 'STOP', @workers;
	$engine->sql(join '', map { my $id = $_; map { "INSERT INTO many_$_ VALUES ($id, 'text $id');" } 1 .. $tables } 1 .. $commits);
	kill 'CONT', @workers;
	foreach my $table (1 .. $tables)
	{
		$engine->is_settled("many_$table", "all of table $table") or last;
	}
	is($engine->sql('SELECT count(*) FROM many_12_embedding_store'), $commits, 'each once');
	# One transaction with more queues than are noted one by one.
	$engine->sql("CREATE TABLE wide_$_ (id int PRIMARY KEY, body text)") foreach 1 .. 20;
	$engine->vectorizer("wide_$_", name => "wide_$_") foreach 1 .. 20;
	$engine->sql('BEGIN;' . join('', map { "INSERT INTO wide_$_ VALUES (1, 'one');" } 1 .. 20) . 'COMMIT');
	ok($engine->poll(embedded("wide_$_", 1)), "table $_ of a wide transaction") foreach 1, 10, 17, 20;
};

subtest 'a vectorizer that is new, off, on' => sub {
	$engine->sql(q{CREATE TABLE filled (id int PRIMARY KEY, body text); INSERT INTO filled SELECT g, 'row ' || g FROM generate_series(1, 30) g});
	$engine->vectorizer('filled', name => 'filled');
	ok($engine->poll(embedded('filled', 30)), 'the rows that were there');
	$engine->sql(q{SELECT ai.disable_vectorizer_schedule('filled'); INSERT INTO filled VALUES (31, 'off')});
	$engine->is_prompt('plain', 'another one');
	is($engine->sql('SELECT count(*) FROM filled_embedding_store'), 30, 'nothing is done while it is off');
	$engine->sql(q{SELECT ai.enable_vectorizer_schedule('filled')});
	ok($engine->poll(embedded('filled', 31)), 'it is done when it is on again');
};

unlike(slurp_file($node->logfile), qr/PANIC|terminated by signal|server process .* was terminated/, 'nobody crashed');
done_testing();
