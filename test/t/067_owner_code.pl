# Code of owners in workers: triggers and constraints run with the rights of their owner, within a time,
# leave nothing behind, and hold up nobody else.
use strict;
use warnings FATAL => 'all';
use EngineTest;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(time);

my $engine = EngineTest->new('main', conf => "ai.store_timeout = '3s'");
my ($node, $mock) = ($engine->node, $engine->mock);
sub sql { return $engine->sql(@_); }

# A role that owns a schema of its name, with a table docs and a vectorizer for it.
sub owner
{
	my ($role, %arguments) = @_;
	sql(qq{CREATE ROLE $role LOGIN; CREATE SCHEMA $role AUTHORIZATION $role; SELECT ai.grant_secret('OPENAI_API_KEY', '$role')});
	vectorizer($role, 'docs', %arguments);
	return;
}

sub as { my ($role, $statement) = @_; return $node->safe_psql('postgres', $statement, extra_params => [ '-U', $role ]); }

sub vectorizer
{
	my ($role, $table, %arguments) = @_;
	my %all = (
		loading => q{ai.loading_column('body')}, embedding => q{ai.embedding_openai('mock-8', 8)},
		formatting => q{ai.formatting_python_template('$chunk')}, name => "'${role}_$table'", %arguments);
	as($role, "CREATE TABLE $role.$table (id int PRIMARY KEY, body text);
		SELECT ai.create_vectorizer('$role.$table', " . join(', ', map { "$_ => $all{$_}" } sort keys %all) . ')');
	return;
}

# A trigger on a target, with a body in PL/pgSQL.
sub trigger
{
	my ($role, $table, $body) = @_;
	as($role, "CREATE OR REPLACE FUNCTION $role.on_$table() RETURNS trigger LANGUAGE plpgsql AS \$\$ BEGIN $body RETURN NEW; END \$\$;
		CREATE OR REPLACE TRIGGER t BEFORE INSERT OR UPDATE ON $role.${table}_embedding_store FOR EACH ROW EXECUTE FUNCTION $role.on_$table()");
	return;
}

# How long a row of alice takes from its commit to its vector.
my $row = 0;
sub lag_of_alice
{
	my $start = time;
	as('alice', 'INSERT INTO alice.docs VALUES (' . ++$row . ", 'text of alice')");
	$engine->poll("SELECT count(*) = 1 FROM alice.docs_embedding_store WHERE id = $row") or return 1e6;
	return time - $start;
}

sub is_not_held_up
{
	my ($test) = @_;
	my $lag = lag_of_alice();
	cmp_ok($lag, '<', 2 * EngineTest::slowness(), sprintf('%s: a row of another owner takes %.2f s', $test, $lag));
	return;
}

owner('alice');
owner('mallory', processing => 'ai.processing_default(max_attempts => 2)');
lag_of_alice();
my @workers = sort $engine->workers;

# -- settings: a search_path that stays in the session would make our own statements run a role's functions

as('mallory', q{
	CREATE FUNCTION mallory.rise() RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN ALTER ROLE mallory SUPERUSER; RETURN true; END $$;
	CREATE DOMAIN mallory.uuid AS pg_catalog.uuid CHECK (mallory.rise());
	CREATE DOMAIN mallory.int4 AS pg_catalog.int4 CHECK (mallory.rise())});
trigger('mallory', 'docs', q{PERFORM set_config('search_path', 'mallory, pg_catalog', false);});
as('mallory', q{INSERT INTO mallory.docs SELECT n, 'text ' || n FROM generate_series(1, 50) n});
$engine->is_settled('mallory_docs', 'a trigger that sets search_path');
is(sql(q{SELECT rolsuper FROM pg_roles WHERE rolname = 'mallory'}), 'f', 'no superuser comes of that');

trigger('mallory', 'docs', q{PERFORM set_config('default_transaction_read_only', 'on', false);
	PERFORM set_config('lock_timeout', '0', false); PERFORM set_config('synchronous_commit', 'on', false);});
as('mallory', q{UPDATE mallory.docs SET body = body || ' again'});
$engine->is_settled('mallory_docs', 'a trigger that makes the session read-only');
is_not_held_up('a session that was made read-only');

# -- what else could outlive a statement

trigger('mallory', 'docs', q{PERFORM pg_advisory_lock(42); IF NEW.chunk LIKE '%fail%' THEN RAISE EXCEPTION 'failed'; END IF;});
as('mallory', q{UPDATE mallory.docs SET body = 'locks ' || id; INSERT INTO mallory.docs VALUES (100, 'fail')});
$engine->is_settled('mallory_docs', 'a trigger that takes advisory locks', failed => 1, where => 's.id < 100');
is(sql(q{SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'}), '0', 'none of them is left');
as('mallory', q{DELETE FROM mallory.docs WHERE id = 100});

my %refused = (
	'a temporary function'  => q{CREATE FUNCTION pg_temp.now() RETURNS int LANGUAGE sql AS 'SELECT 1'},
	'a temporary domain'    => q{CREATE DOMAIN pg_temp.uuid AS text},
	'a temporary table'     => q{CREATE TEMP TABLE t (i int)},
	'a prepared statement'  => q{PREPARE p AS SELECT 1},
	'LISTEN'                => q{LISTEN c},
	'a cursor that is held' => q{DECLARE c CURSOR WITH HOLD FOR SELECT 1},
	'another role'          => q{SET ROLE alice},
	"the session's role"    => q{RESET SESSION AUTHORIZATION},
	'a deferred trigger'    => q{INSERT INTO mallory.deferred VALUES (1)});
my %message = (
	(map { $_ => 'cannot create (temporary objects in a worker|a type in a temporary schema)' } 'a temporary function', 'a temporary domain'),
	(map { $_ => 'within security-restricted operation' } 'a temporary table', 'a prepared statement', 'LISTEN', 'a cursor that is held', 'a deferred trigger'),
	(map { $_ => 'within (a )?security-(restricted operation|definer function)' } 'another role', "the session's role"));
as('mallory', q{CREATE TABLE mallory.deferred (i int REFERENCES mallory.docs DEFERRABLE INITIALLY DEFERRED)});
foreach my $what (sort keys %refused)
{
	trigger('mallory', 'docs', qq{IF NEW.id = 101 THEN EXECUTE \$x\$$refused{$what}\$x\$; END IF;});
	as('mallory', q{INSERT INTO mallory.docs VALUES (101, 'bad'), (102, 'good')});
	$engine->is_settled('mallory_docs', "$what is refused", failed => 1, where => 's.id <> 101');
	like(sql(q{SELECT message FROM ai.vectorizer_errors WHERE name = 'mallory_docs' ORDER BY recorded DESC LIMIT 1}), qr/$message{$what}/, 'with the reason');
	is_not_held_up($what);
	as('mallory', q{DELETE FROM mallory.docs WHERE id > 100});
	$engine->is_settled('mallory_docs', "$what leaves nothing");
}
is(sql(q{SELECT count(*) FROM pg_namespace WHERE nspname LIKE 'pg_temp%'}), '0', 'there is no temporary schema');

# -- the last wall: with the rights of a superuser, a background process calls no function of an ordinary role

my $position = -s $node->logfile;
as('mallory', q{CREATE FUNCTION mallory.spy() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN ALTER ROLE mallory SUPERUSER; RETURN NEW; END $$});
sql(q{CREATE TRIGGER spy BEFORE UPDATE ON ai.vectorizer_worker_process FOR EACH ROW EXECUTE FUNCTION mallory.spy()});
ok($node->wait_for_log(qr/background process must not run function mallory\.spy\(\) of role "mallory" as superuser/, $position), 'such a call is refused');
sql(q{DROP TRIGGER spy ON ai.vectorizer_worker_process});
is(sql(q{SELECT rolsuper FROM pg_roles WHERE rolname = 'mallory'}), 'f', 'and nothing comes of it');

# -- claims are locked by no lock that a role can take

my $id = $engine->id('alice_docs');
my $locker = $node->background_psql('postgres', extra_params => [ '-U', 'mallory' ]);
$locker->query_safe("SELECT pg_advisory_lock(1634295665, $id), pg_advisory_lock(1634295665, 0)");
is_not_held_up('advisory locks of another role');
$locker->quit;

# -- errors with any SQLSTATE are those of a row

foreach my $state (qw(XX000 40001 40P01 53200 53100 08006 58030 55P03 57014 57P01 57P02))
{
	trigger('mallory', 'docs', qq{IF NEW.id = 200 THEN RAISE EXCEPTION 'because' USING ERRCODE = '$state'; END IF;});
	as('mallory', q{INSERT INTO mallory.docs SELECT n, 'text ' || n FROM generate_series(195, 205) n});
	$engine->is_settled('mallory_docs', "a row that fails with $state keeps no other from being stored", failed => 1, where => 's.id <> 200');
	as('mallory', q{DELETE FROM mallory.docs WHERE id >= 195});
	$engine->is_settled('mallory_docs', "after $state");
}
is(join(' ', sort $engine->workers), "@workers", 'the workers are the same processes');

# -- slow triggers

my @tables = map { "slow$_" } 1 .. 4;
foreach my $table (@tables)
{
	vectorizer('mallory', $table, processing => 'ai.processing_default(max_attempts => 2)');
	trigger('mallory', $table, 'PERFORM pg_sleep(60);');
}
as('mallory', "INSERT INTO mallory.$_ SELECT n, 'text ' || n FROM generate_series(1, 3) n") foreach @tables;
foreach my $try (1 .. 5) { is_not_held_up("triggers that sleep, $try"); }
ok($engine->poll(q{SELECT count(*) = 4 FROM ai.vectorizer_errors WHERE message LIKE 'canceling statement due to ai.store_timeout%'
	AND name LIKE 'mallory_slow%'}), 'each is cancelled, and the reason is recorded');
ok($engine->poll(q{SELECT sum(attempts) > 0 FROM ai.vectorizer v, ai.jobs(v.name) WHERE v.name LIKE 'mallory_slow%'}), 'and charged to the rows');

# One that catches its own cancellation ends nevertheless.
trigger('mallory', $_, q{LOOP BEGIN PERFORM pg_sleep(60); EXCEPTION WHEN query_canceled THEN NULL; END; END LOOP;}) foreach @tables;
as('mallory', "UPDATE mallory.$_ SET body = body || '!'") foreach @tables;
foreach my $try (1 .. 5) { is_not_held_up("triggers that catch their cancellation, $try"); }
as('mallory', "SELECT ai.drop_vectorizer('mallory_$_', drop_all => true); DROP TABLE mallory.$_") foreach @tables;

# -- tables that somebody has locked

@tables = map { "locked$_" } 1 .. 40;
vectorizer('mallory', $_) foreach @tables;
$locker = $node->background_psql('postgres', extra_params => [ '-U', 'mallory' ]);
$locker->query_safe('BEGIN; LOCK TABLE ' . join(', ', map { "mallory.${_}_embedding_store" } @tables));
as('mallory', join '; ', map { "INSERT INTO mallory.$_ SELECT n, 'text ' || n FROM generate_series(1, 3) n" } @tables);
foreach my $try (1 .. 5) { is_not_held_up("forty targets that are locked, $try"); }
is(sql(q{SELECT count(*) FROM pg_locks WHERE NOT granted}), '0', 'no worker waits for a lock');
$locker->query_safe('COMMIT');
$locker->quit;
$engine->is_settled("mallory_$_", "$_ is stored then") foreach @tables[ 0, 39 ];

# -- locks of a store are short

as('mallory', q{CREATE TABLE mallory.wide (id int PRIMARY KEY, body text);
	SELECT ai.create_vectorizer('mallory.wide', name => 'mallory_wide', loading => ai.loading_column('body'),
		embedding => ai.embedding_openai('mock-8', 8), destination => ai.destination_column('embedding'), chunking => ai.chunking_none(),
		formatting => ai.formatting_python_template('$chunk'));
	CREATE FUNCTION mallory.take_time() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
		PERFORM pg_sleep(0.01); RETURN NEW; END $$;
	CREATE TRIGGER take_time BEFORE UPDATE OF embedding ON mallory.wide FOR EACH ROW EXECUTE FUNCTION mallory.take_time();
	INSERT INTO mallory.wide SELECT n, 'text ' || n FROM generate_series(1, 400) n});
my $longest = sql(q{CREATE TEMP TABLE seen (taken float8); DO $$ BEGIN
	WHILE EXISTS (SELECT FROM mallory.wide WHERE embedding IS NULL) LOOP
		INSERT INTO seen SELECT extract(epoch FROM clock_timestamp() - xact_start) FROM pg_stat_get_activity(NULL) a
			WHERE application_name = 'ai worker' AND xact_start IS NOT NULL;
		PERFORM pg_stat_clear_snapshot(), pg_sleep(0.01);
	END LOOP; END $$;
	SELECT max(taken) FROM seen});
cmp_ok($longest, '<', 0.5 * EngineTest::slowness(), sprintf('a store that takes 10 ms a row ends soon: %.2f s', $longest));
$engine->is_settled('mallory_wide', 'a column is stored in parts');

# -- counters leave few dead versions

as('alice', "INSERT INTO alice.docs SELECT n, 'text ' || n FROM generate_series(1000, 1999) n");
$engine->is_settled('alice_docs', 'many rows');
ok($engine->poll(qq{SELECT success_count >= 1000 FROM ai.vectorizer_worker_progress WHERE vectorizer_id = $id}), 'are counted');

unlike(slurp_file($node->logfile), qr/PANIC:|TRAP:|terminated by signal|has crashed/, 'no process crashed');
$node->stop;
done_testing();
