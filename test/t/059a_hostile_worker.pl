# What a role's own code can do in a worker: triggers on its target that leave things behind, that take long, that
# fail in every way. See lib/Hostile.pm for what holds after each attempt.
use strict;
use warnings FATAL => 'all';
use Hostile;
use Test::More;

my $hostile = Hostile->new('main');

# -- settings that are left in the session of a worker

$hostile->try(
	{
		name    => 'search_path and a domain that is named like a type of ours',
		setup   => join('', map { "CREATE DOMAIN mallory.$_ AS pg_catalog.$_ CHECK (mallory.strike('domain $_'));" }
				qw(uuid text int4 int8 tid oid float8 timestamptz jsonb bool interval)),
		trigger => q{PERFORM mallory.leave('search_path', 'mallory, pg_catalog');},
		rounds  => 4,
		cleanup => join('', map { "DROP DOMAIN mallory.$_;" } qw(uuid text int4 int8 tid oid float8 timestamptz jsonb bool interval)),
	},
	{
		name    => 'search_path and operators, functions and casts that are named like ours',
		setup   => q{
			CREATE FUNCTION mallory.equals(uuid, uuid) RETURNS boolean LANGUAGE sql AS $$SELECT mallory.strike('operator')$$;
			CREATE FUNCTION mallory.equals(tid, tid) RETURNS boolean LANGUAGE sql AS $$SELECT mallory.strike('operator')$$;
			CREATE FUNCTION mallory.equals(int4, int4) RETURNS boolean LANGUAGE sql AS $$SELECT mallory.strike('operator')$$;
			CREATE OPERATOR mallory.= (LEFTARG = uuid, RIGHTARG = uuid, FUNCTION = mallory.equals);
			CREATE OPERATOR mallory.= (LEFTARG = tid, RIGHTARG = tid, FUNCTION = mallory.equals);
			CREATE OPERATOR mallory.= (LEFTARG = int4, RIGHTARG = int4, FUNCTION = mallory.equals);
			CREATE FUNCTION mallory.now() RETURNS timestamptz LANGUAGE sql AS $$SELECT CASE WHEN mallory.strike('now') THEN pg_catalog.now() END$$;
			CREATE FUNCTION mallory.unnest(tid[]) RETURNS SETOF tid LANGUAGE sql AS $$SELECT NULL::tid FROM mallory.strike('unnest')$$},
		trigger => q{PERFORM mallory.leave('search_path', 'mallory, pg_catalog');},
		rounds  => 4,
		cleanup => q{DROP OPERATOR mallory.= (uuid, uuid); DROP OPERATOR mallory.= (tid, tid); DROP OPERATOR mallory.= (int4, int4);
			DROP FUNCTION mallory.equals(uuid, uuid), mallory.equals(tid, tid), mallory.equals(int4, int4), mallory.now(), mallory.unnest(tid[])},
	},
	map({
			my ($setting, $value) = @$_;
			{ name => "a setting that stays: $setting = $value", trigger => "PERFORM mallory.leave('$setting', '$value');", rounds => 4 }
		}
		[ 'default_transaction_read_only', 'on' ],
		[ 'default_transaction_isolation', 'serializable' ],
		[ 'lock_timeout', '1ms' ],
		[ 'statement_timeout', '1ms' ],
		[ 'idle_in_transaction_session_timeout', '1ms' ],
		[ 'row_security', 'off' ],
		[ 'client_encoding', 'SQL_ASCII' ],
		[ 'IntervalStyle', 'sql_standard' ],
		[ 'bytea_output', 'escape' ],
		[ 'enable_tidscan', 'off' ],
		[ 'default_table_access_method', 'nothing' ],
		[ 'mallory.note', 'for later' ]),
	{
		name    => 'the transaction itself is made read-only',
		trigger => q{PERFORM set_config('transaction_read_only', 'on', false);},
		rounds  => 3,
	},
	map({
			my ($setting, $value, $error) = @$_;
			{
				name    => "the setting $setting = $value in a trigger",
				trigger => "PERFORM set_config('$setting', '$value', false);",
				rounds  => 3,
				errors  => $error,
			}
		}
		[ 'role', 'postgres', qr/cannot set parameter "role" within security-definer function/ ],
		[ 'role', 'none', qr/cannot set parameter "role" within security-definer function/ ],
		[ 'session_authorization', 'postgres', qr/cannot set parameter "session_authorization" within security-definer function/ ],
		[ 'session_replication_role', 'replica', qr/permission denied to set parameter "session_replication_role"/ ],
		[ 'ai.allowed_hosts', '*', qr/permission denied to set parameter "ai.allowed_hosts"/ ]),
);

# -- other things that are left

$hostile->try(
	{
		name    => 'a session-level advisory lock on the claims of alice',
		trigger => qq{PERFORM pg_advisory_lock(1634295665, $hostile->{alice});},
		rounds  => 3,
		check   => [ q{SELECT count(*) FROM pg_locks l JOIN pg_stat_activity a USING (pid) WHERE l.locktype = 'advisory' AND a.backend_type LIKE 'ai %'}, '0' ],
	},
	{
		name    => 'a thousand session-level advisory locks',
		trigger => q{PERFORM pg_advisory_lock(n) FROM generate_series(1, 1000) n;},
		rounds  => 3,
		check   => [ q{SELECT count(*) FROM pg_locks l JOIN pg_stat_activity a USING (pid) WHERE l.locktype = 'advisory' AND a.backend_type LIKE 'ai %'}, '0' ],
	},
	{
		name    => 'a domain in pg_temp that is named like a type of ours',
		trigger => q{BEGIN EXECUTE 'CREATE DOMAIN pg_temp.uuid AS pg_catalog.uuid CHECK (mallory.strike(''pg_temp''))'; EXCEPTION WHEN duplicate_object THEN
			INSERT INTO mallory.loot VALUES ('left in the session: pg_temp'); END;},
		rounds  => 4,
		check   => [ q{SELECT count(*) FROM pg_type t JOIN pg_namespace n ON n.oid = t.typnamespace WHERE n.nspname ~ '^pg_temp' AND t.typname = 'uuid'}, '0' ],
	},
	{
		name    => 'a function in pg_temp',
		trigger => q{EXECUTE 'CREATE OR REPLACE FUNCTION pg_temp.now() RETURNS timestamptz LANGUAGE sql AS $f$SELECT NULL::timestamptz FROM mallory.strike(''pg_temp'')$f$';},
		rounds  => 4,
		check   => [ q{SELECT count(*) FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace WHERE n.nspname ~ '^pg_temp'}, '0' ],
	},
	{
		name    => 'a prepared statement',
		trigger => q{IF EXISTS (SELECT FROM pg_prepared_statements WHERE name = 'mine') THEN INSERT INTO mallory.loot VALUES ('left in the session: a statement');
			ELSE EXECUTE 'PREPARE mine AS SELECT 1'; END IF;},
		rounds  => 4,
	},
	{
		name    => 'a temporary table',
		trigger => q{CREATE TEMP TABLE mine (n int);},
		rounds  => 3,
		errors  => qr/cannot create temporary table within security-restricted operation/,
	},
	{
		name    => 'LISTEN',
		trigger => q{EXECUTE 'LISTEN mine';},
		rounds  => 3,
		errors  => qr/LISTEN/,
	},
	{
		name    => 'a cursor WITH HOLD',
		trigger => q{EXECUTE 'DECLARE mine CURSOR WITH HOLD FOR SELECT 1';},
		rounds  => 3,
		errors  => qr/cannot create a cursor WITH HOLD within security-restricted operation/,
	},
	{
		name    => 'a deferred constraint trigger, that would run at the commit',
		setup   => q{CREATE FUNCTION mallory.late() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM mallory.strike('late'); RETURN NEW; END $$;
			CREATE CONSTRAINT TRIGGER late AFTER INSERT ON mallory.docs_embedding_store DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION mallory.late()},
		attack  => q{INSERT INTO mallory.docs VALUES (1, 'late')},
		errors  => qr/deferred trigger/,
		cleanup => q{DROP FUNCTION mallory.late() CASCADE},
	},
	{
		name    => 'DISCARD ALL, RESET ALL and UNLISTEN *',
		trigger => q{BEGIN EXECUTE 'DISCARD PLANS'; EXCEPTION WHEN OTHERS THEN NULL; END; BEGIN EXECUTE 'DISCARD ALL'; EXCEPTION WHEN OTHERS THEN NULL; END;
			EXECUTE 'RESET ALL'; EXECUTE 'DEALLOCATE ALL';},
		rounds  => 4,
	},
	{
		name    => 'COMMIT and ROLLBACK in a trigger',
		setup   => q{CREATE PROCEDURE mallory.commit() LANGUAGE plpgsql AS $$ BEGIN COMMIT; PERFORM mallory.strike('after COMMIT'); END $$},
		trigger => q{CALL mallory.commit();},
		rounds  => 3,
		errors  => qr/invalid transaction termination/,
		cleanup => q{DROP PROCEDURE mallory.commit()},
	},
	{
		name    => 'large objects',
		trigger => q{PERFORM lo_create(0);},
		rounds  => 3,
		cleanup => q{SELECT lo_unlink(oid) FROM pg_largeobject_metadata},
	},
);

# -- errors of every kind: each is the row's own

$hostile->try(
	map({
			my $code = $_;
			{
				name    => "a row that fails with $code beside others",
				trigger => "IF NEW.chunk ~ '^bad' THEN RAISE EXCEPTION 'refused by mallory' USING ERRCODE = '$code'; END IF;",
				attack  => q{INSERT INTO mallory.docs SELECT n, CASE n WHEN 3 THEN 'bad' ELSE 'good ' || n END FROM generate_series(1, 6) n},
				check   => [ q{SELECT count(*) FROM mallory.docs_embedding_store WHERE chunk ~ '^good'}, '5' ],
			}
		} qw(XX000 XX001 40001 40P01 53100 53200 53300 08006 58030 55P03 57014 57P01 57P02 25006 25P02 42501 P0001 AI001 0A000)),
);

# -- a trigger that takes long

$hostile->try(
	{
		name    => 'a trigger that sleeps for a minute, in two tables',
		trigger => q{PERFORM pg_sleep(60);},
		rows    => 3,
	},
	{
		name    => 'a trigger that runs for ever',
		trigger => q{LOOP PERFORM 1; END LOOP;},
		rows    => 2,
	},
	{
		name    => 'a trigger that catches its cancellation and goes on',
		trigger => q{LOOP BEGIN PERFORM pg_sleep(60); EXCEPTION WHEN query_canceled OR OTHERS THEN NULL; END; END LOOP;},
		rows    => 2,
	},
	{
		name    => 'a trigger that puts its own row into the queue again',
		trigger => q{UPDATE mallory.docs SET body = 'again ' || nextval('mallory.seen') WHERE id = (to_jsonb(NEW) ->> 'id')::int;},
		rows    => 20,
	},
	{
		name    => 'a trigger that waits for an advisory lock that is held elsewhere',
		holding => q{SELECT pg_advisory_lock(42)},
		trigger => q{PERFORM pg_advisory_lock(42);},
		rows    => 3,
	},
	{
		name    => 'LOCK TABLE of all of her targets, and rows for each',
		holding => q{BEGIN; LOCK TABLE mallory.docs_embedding_store, mallory.notes_embedding_store IN ACCESS EXCLUSIVE MODE},
		rows    => 50,
	},
	{
		name    => 'LOCK TABLE of 40 targets in a transaction that idles',
		setup   => join('; ', map { "CREATE TABLE mallory.many$_ (id int PRIMARY KEY, body text);
				SELECT ai.create_vectorizer('mallory.many$_', @{[ $hostile->arguments(qq{many$_}) ]})" } 1 .. 40),
		holding => 'BEGIN; LOCK TABLE ' . join(', ', map { "mallory.many${_}_embedding_store" } 1 .. 40) . ' IN ACCESS EXCLUSIVE MODE',
		attack  => join('; ', map { "INSERT INTO mallory.many$_ SELECT n, 'text ' || n FROM generate_series(1, 5) n" } 1 .. 40),
		cleanup => join('; ', map { "SELECT ai.drop_vectorizer('many$_', drop_all => true); DROP TABLE mallory.many$_" } 1 .. 40),
	},
);

cmp_ok($hostile->done, '>=', 55, 'attempts');
done_testing();
