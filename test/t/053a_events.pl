# Commits tell the workers which queues they wrote to: nothing is missed, also when more is told than fits,
# also by transactions that were prepared. Workers look by themselves once an hour only, so whatever is
# embedded here was told of.
use strict;
use warnings FATAL => 'all';

use EngineTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $engine = EngineTest->new('main', conf => qq{
max_prepared_transactions = 5
max_locks_per_transaction = 512
ai.poll_interval = '1h'
});
my $node = $engine->node;
my $later = $engine->elsewhere(database => 'later');
my $offset = 0;

sub workers_of
{
	my ($database, $count, $test) = @_;
	return ok($engine->poll("SELECT count(*) = $count FROM pg_stat_activity WHERE backend_type = 'ai worker'
		AND datname = '$database'", 'template1'), $test);
}

sub embedded { my ($table, $rows) = @_; return "SELECT count(*) = $rows FROM ${table}_embedding_store"; }

# What the processes said since the last time they were asked.
sub said
{
	my $log = slurp_file($node->logfile, $offset);
	$offset = -s $node->logfile;
	return join '', grep { !/LOG:  statement:/ && /\bai\b|PANIC|terminated by signal/ } split /^/m, $log;
}

$engine->table('plain');
workers_of('postgres', 2, 'two workers');
$engine->is_prompt('plain', 'a commit wakes the workers');

subtest 'rows of a prepared transaction' => sub {
	$engine->sql(q{BEGIN; INSERT INTO plain VALUES (1001, 'prepared'); PREPARE TRANSACTION 'rows'});
	$engine->is_prompt('plain', 'another row');
	is($engine->sql(q{SELECT count(*) FROM plain_embedding_store WHERE id = 1001}), 0, 'it is not there before');
	EngineTest::takes_less(5, 'COMMIT PREPARED wakes the workers', sub {
		$engine->sql(q{COMMIT PREPARED 'rows'});
		ok($engine->poll(q{SELECT EXISTS (SELECT FROM plain_embedding_store WHERE id = 1001)}), 'embedded');
	});
	$engine->sql(q{BEGIN; INSERT INTO plain VALUES (1002, 'not wanted'); PREPARE TRANSACTION 'rows'});
	$engine->sql(q{ROLLBACK PREPARED 'rows'});
	$engine->is_prompt('plain', 'a row after ROLLBACK PREPARED');
	is($engine->sql(q{SELECT count(*) FROM plain_embedding_store WHERE id = 1002}), 0, 'nothing of what was rolled back');
};

subtest 'jobs, pauses and providers of a prepared transaction' => sub {
	$engine->sql(q{BEGIN; SELECT ai.pause_vectorizer('plain'); PREPARE TRANSACTION 'pause'});
	$engine->sql(q{COMMIT PREPARED 'pause'});
	$engine->sql(q{INSERT INTO plain VALUES (1003, 'later')});
	$engine->sql(q{BEGIN; SELECT ai.resume_vectorizer('plain'); PREPARE TRANSACTION 'resume'});
	$engine->sql(q{COMMIT PREPARED 'resume'});
	ok($engine->poll(q{SELECT EXISTS (SELECT FROM plain_embedding_store WHERE id = 1003)}), 'resumed');
	$engine->sql(q{BEGIN; SELECT ai.create_embedding_job('a prepared text', ai.embedding_openai('mock-8', 8));
		PREPARE TRANSACTION 'job'});
	$engine->sql(q{COMMIT PREPARED 'job'});
	ok($engine->poll(q{SELECT status = 'completed' FROM ai.embedding_jobs WHERE input_text = 'a prepared text'}), 'a job');
};

subtest 'an extension that is created by a prepared transaction' => sub {
	$engine->sql('CREATE DATABASE later');
	$engine->sql(q{BEGIN; CREATE EXTENSION ai CASCADE; PREPARE TRANSACTION 'create'}, 'later');
	workers_of('later', 0, 'no worker before');
	$engine->sql(q{COMMIT PREPARED 'create'}, 'later');
	workers_of('later', 2, 'workers after COMMIT PREPARED');
	$later->table('late');
	$later->is_prompt('late', 'they work');
};

subtest 'an extension that is dropped by a prepared transaction' => sub {
	said();
	$later->sql(q{BEGIN; DROP EXTENSION ai CASCADE; PREPARE TRANSACTION 'drop'});
	my @workers = $engine->workers('later');
	# They leave the extension alone for a second, and look again: twice.
	my $now = $engine->sql('SELECT clock_timestamp()');
	ok($engine->poll(qq{SELECT count(*) = 3 FROM pg_stat_activity WHERE datname = 'later' AND backend_type LIKE 'ai %'
		AND state_change > timestamptz '$now' + interval '1.5 s'}, 'template1'), 'the processes have looked again');
	is_deeply([ sort $engine->workers('later') ], [ sort @workers ], 'the same workers are there');
	is(said(), '', 'and say nothing');
	$later->sql(q{ROLLBACK PREPARED 'drop'});
	$later->is_prompt('late', 'after ROLLBACK PREPARED they go on');

	$later->sql(q{BEGIN; DROP EXTENSION ai CASCADE; PREPARE TRANSACTION 'drop'});
	$later->sql(q{COMMIT PREPARED 'drop'});
	workers_of('later', 0, 'after COMMIT PREPARED they end');
	ok($engine->poll(q{SELECT count(*) = 0 FROM pg_stat_activity WHERE datname = 'later' AND backend_type LIKE 'ai %'},
			'template1'), 'the coordinator, too');
	$engine->is_prompt('plain', 'the other database goes on');
};

subtest 'a COMMIT PREPARED where there is no extension' => sub {
	$engine->sql(q{CREATE TABLE t (); BEGIN; CREATE TABLE u (); PREPARE TRANSACTION 'other'}, 'later');
	$engine->sql(q{COMMIT PREPARED 'other'}, 'later');
	$engine->is_prompt('plain', 'the other database goes on');
	workers_of('later', 0, 'nobody comes');
	like($node->safe_psql('later', q{SELECT count(*) FROM pg_class WHERE relname IN ('t', 'u')}), qr/^2$/, 'it did what it should');
};

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

subtest 'a table of a queue that is locked when it is told of' => sub {
	my $work = $engine->sql(q{SELECT work FROM ai.vectorizer WHERE name = 'many_1'});
	my $session = $node->background_psql('postgres');
	$session->query_safe("BEGIN; LOCK TABLE $work IN ACCESS EXCLUSIVE MODE");
	$engine->sql(q{INSERT INTO many_1 VALUES (1000, 'locked')});
	$engine->is_prompt('plain', 'another one');
	$session->query_safe('COMMIT');
	$engine->is_settled('many_1', 'is worked on when it is free');
	$session->quit;
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

# Whether commits to a table wake a worker, however often one looks for other reasons: once in many tries
# they do not.
sub wakes_nobody
{
	my ($table, $test) = @_;
	my $woken = q{SELECT max(state_change) FROM pg_stat_activity WHERE backend_type = 'ai worker' AND datname = 'postgres';};
	foreach my $try (1 .. 50)
	{
		my @lines = split /\n/, $engine->sql($woken
				. join('', map { "INSERT INTO $table VALUES (100 * $try + $_, 'a row');" } 1 .. 5) . "SELECT pg_sleep(0.2); $woken");
		return pass("$test (try $try)") if $lines[0] eq $lines[-1];
	}
	return fail($test);
}

subtest 'a vectorizer that may not work wakes nobody' => sub {
	$engine->table('still');
	$engine->sql(q{SELECT ai.pause_vectorizer('still')});
	wakes_nobody('still', 'paused');
	is($engine->sql('SELECT count(*) FROM still_embedding_store'), 0, 'nothing is done');
	$engine->sql(q{SELECT ai.resume_vectorizer('still')});
	$engine->is_settled('still', 'all of it is done when it is resumed');
	$engine->is_prompt('still', 'and what comes then, at once');
	$engine->sql(q{TRUNCATE still; SELECT ai.disable_vectorizer_schedule('still')});
	wakes_nobody('still', 'off');
	$engine->sql(q{SELECT ai.enable_vectorizer_schedule('still')});
	$engine->is_settled('still', 'all of it is done when it is on again');
	$engine->sql(q{TRUNCATE still; SELECT ai.pause_workers()});
	wakes_nobody('still', 'all workers are paused');
	$engine->sql(q{SELECT ai.resume_workers()});
	$engine->is_settled('still', 'all of it is done when they go on');
	$engine->sql(q{TRUNCATE still; SELECT ai.pause_vectorizer('still', now() + interval '3 s')});
	$engine->sql(q{INSERT INTO still VALUES (1, 'later')});
	$engine->is_settled('still', 'what came in a pause is done when it ends by itself');
	$engine->is_prompt('still', 'and what comes after it, at once');
};

unlike(slurp_file($node->logfile), qr/PANIC|terminated by signal|server process .* was terminated/, 'nobody crashed');
done_testing();
