# Objects of a role that our statements meet: types, operators, casts, indexes, rules, policies, defaults, partitions,
# foreign keys, views, and names that are SQL themselves. See lib/Hostile.pm for what holds after each attempt.
use strict;
use warnings FATAL => 'all';
use Hostile;
use Test::More;

my $hostile = Hostile->new('main');

# SQL by which mallory makes a table and a vectorizer for it, and drops both.
sub table
{
	my ($name, $columns, %arguments) = @_;
	return "CREATE TABLE mallory.$name ($columns); SELECT ai.create_vectorizer('mallory.$name', @{[ $hostile->arguments($name, %arguments) ]});";
}
sub drop { my ($name) = @_; return "SELECT ai.drop_vectorizer(id, drop_all => true) FROM ai.vectorizer_status WHERE name = '$name'; DROP TABLE IF EXISTS mallory.$name CASCADE;"; }

# Rows that are stored all the same; store is the target.
sub stored { my ($count, $store) = @_; return [ "SELECT count(*) FROM mallory.$store", $count ]; }

# -- types, operators and casts

$hostile->try(
	{
		name    => 'a text that is a domain with a function in its check',
		setup   => q{CREATE DOMAIN mallory.body AS text CHECK (mallory.strike('a domain of the body'));} . table('odd', 'id int PRIMARY KEY, body mallory.body'),
		attack  => q{INSERT INTO mallory.odd VALUES (1, 'text')},
		check   => stored(1, 'odd_embedding_store'),
		cleanup => drop('odd') . 'DROP DOMAIN mallory.body',
	},
	{
		name    => 'a key that is a domain with a function in its check',
		setup   => q{CREATE DOMAIN mallory.key AS int CHECK (mallory.strike('a domain of the key'));} . table('odd', 'id mallory.key PRIMARY KEY, body text'),
		attack  => q{INSERT INTO mallory.odd VALUES (1, 'text')},
		check   => stored(1, 'odd_embedding_store'),
		cleanup => drop('odd') . 'DROP DOMAIN mallory.key',
	},
	{
		name    => 'a key of an enum type with a cast of her own to text, by which it might be compared',
		setup   => q{CREATE TYPE mallory.colour AS ENUM ('red', 'green');
			CREATE FUNCTION mallory.as_text(mallory.colour) RETURNS text LANGUAGE plpgsql AS $$ BEGIN PERFORM mallory.strike('a cast'); RETURN 'x'; END $$;
			CREATE CAST (mallory.colour AS text) WITH FUNCTION mallory.as_text(mallory.colour) AS IMPLICIT; CREATE TABLE mallory.odd (id mallory.colour PRIMARY KEY, body text)},
		attack  => "SELECT ai.create_vectorizer('mallory.odd', @{[ $hostile->arguments('odd') ]})",
		refused => qr/42725: operator is not unique/,
		cleanup => drop('odd') . 'DROP TYPE mallory.colour CASCADE',
	},
	{
		name    => 'such a cast, made when the vectorizer is there',
		setup   => q{CREATE TYPE mallory.colour AS ENUM ('red', 'green');} . table('odd', 'id mallory.colour PRIMARY KEY, body text')
			. q{CREATE FUNCTION mallory.as_text(mallory.colour) RETURNS text LANGUAGE plpgsql AS $$ BEGIN PERFORM mallory.strike('a cast'); RETURN 'x'; END $$;
			CREATE CAST (mallory.colour AS text) WITH FUNCTION mallory.as_text(mallory.colour) AS IMPLICIT},
		attack  => q{INSERT INTO mallory.odd VALUES ('red', 'text')},
		cleanup => drop('odd') . 'DROP TYPE mallory.colour CASCADE',
	},
	{
		name    => 'a key of a composite type with casts of her own to json and jsonb',
		setup   => q{CREATE TYPE mallory.pair AS (a int, b int);
			CREATE FUNCTION mallory.as_jsonb(mallory.pair) RETURNS jsonb LANGUAGE plpgsql AS $$ BEGIN PERFORM mallory.strike('a cast'); RETURN '1'; END $$;
			CREATE FUNCTION mallory.as_json(mallory.pair) RETURNS json LANGUAGE plpgsql AS $$ BEGIN PERFORM mallory.strike('a cast'); RETURN '1'; END $$;
			CREATE CAST (mallory.pair AS jsonb) WITH FUNCTION mallory.as_jsonb(mallory.pair);
			CREATE CAST (mallory.pair AS json) WITH FUNCTION mallory.as_json(mallory.pair);} . table('odd', 'id mallory.pair PRIMARY KEY, body text'),
		attack  => q{INSERT INTO mallory.odd VALUES ((1, 2), 'text'); SELECT * FROM ai.jobs('odd')},
		check   => stored(1, 'odd_embedding_store'),
		cleanup => drop('odd') . 'DROP TYPE mallory.pair CASCADE',
	},
	{
		name    => 'a key of a range type with a function of her own for differences',
		setup   => q{CREATE FUNCTION mallory.difference(a float8, b float8) RETURNS float8 IMMUTABLE LANGUAGE plpgsql AS
				$$ BEGIN PERFORM mallory.strike('a range'); RETURN a - b; END $$;
			CREATE TYPE mallory.span AS RANGE (subtype = float8, subtype_diff = mallory.difference);} . table('odd', 'id mallory.span PRIMARY KEY, body text'),
		attack  => q{INSERT INTO mallory.odd VALUES ('[1,2)', 'text')},
		check   => stored(1, 'odd_embedding_store'),
		cleanup => drop('odd') . 'DROP TYPE mallory.span CASCADE; DROP FUNCTION mallory.difference(float8, float8)',
	},
	{
		name    => 'a body of a composite type with a cast of her own to text',
		setup   => q{CREATE TYPE mallory.page AS (words text);
			CREATE FUNCTION mallory.as_text(mallory.page) RETURNS text LANGUAGE plpgsql AS $$ BEGIN PERFORM mallory.strike('a cast'); RETURN 'words'; END $$;
			CREATE CAST (mallory.page AS text) WITH FUNCTION mallory.as_text(mallory.page) AS IMPLICIT;
			CREATE TABLE mallory.odd (id int PRIMARY KEY, body mallory.page)},
		attack  => "SELECT ai.create_vectorizer('mallory.odd', @{[ $hostile->arguments('odd') ]})",
		refused => qr/ERROR: /,
		cleanup => 'DROP TABLE mallory.odd; DROP TYPE mallory.page CASCADE',
	},
	{
		name    => 'an operator class of her own',
		attack  => q{CREATE OPERATOR CLASS mallory.ops DEFAULT FOR TYPE int4 USING btree AS OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >, FUNCTION 1 btint4cmp(int4, int4)},
		refused => qr/42501: must be superuser to create an operator class/,
	},
	{
		name    => 'a cast between types of the server',
		setup   => q{CREATE FUNCTION mallory.as_text(uuid) RETURNS text LANGUAGE sql AS $$SELECT 'x'$$},
		attack  => q{CREATE CAST (uuid AS text) WITH FUNCTION mallory.as_text(uuid) AS IMPLICIT},
		refused => qr/42501: must be owner of type uuid or type text/,
		cleanup => q{DROP FUNCTION mallory.as_text(uuid)},
	},
	{
		name    => 'search_path of the role, for processes that act with its rights',
		attack  => q{ALTER ROLE mallory SET search_path = mallory, pg_catalog; ALTER ROLE mallory SET default_transaction_read_only = on;
			ALTER ROLE mallory SET statement_timeout = '1ms'; INSERT INTO mallory.docs VALUES (1, 'text')},
		check   => stored(1, 'docs_embedding_store'),
		cleanup => sub { $_[0]->sql('ALTER ROLE mallory RESET ALL') },
	},
);

# -- what is evaluated when rows are read and written

my $strike = q{CREATE FUNCTION mallory.late() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM mallory.strike(TG_TABLE_NAME || ' ' || TG_OP); RETURN NULL; END $$;};
$hostile->try(
	{
		name    => 'an index expression and a predicate on source and target',
		setup   => table('odd', 'id int PRIMARY KEY, body text') . q{CREATE INDEX ON mallory.odd (mallory.quiet_strike(body)) WHERE mallory.quiet_strike(body) <> '';
			CREATE INDEX ON mallory.odd_embedding_store (mallory.quiet_strike(chunk)) WHERE mallory.quiet_strike(chunk) <> ''},
		attack  => q{INSERT INTO mallory.odd VALUES (1, 'text')},
		marked  => 1,
		check   => stored(1, 'odd_embedding_store'),
		cleanup => drop('odd'),
	},
	{
		name    => 'statistics on an expression',
		setup   => table('odd', 'id int PRIMARY KEY, body text') . q{CREATE STATISTICS mallory.s ON (mallory.quiet_strike(body)) FROM mallory.odd;
			CREATE STATISTICS mallory.t ON (mallory.quiet_strike(chunk)) FROM mallory.odd_embedding_store},
		attack  => q{INSERT INTO mallory.odd SELECT n, 'text ' || n FROM generate_series(1, 10) n; ANALYZE mallory.odd, mallory.odd_embedding_store; UPDATE mallory.odd SET body = body || '!'},
		check   => stored(10, 'odd_embedding_store'),
		cleanup => drop('odd'),
	},
	{
		name    => 'a rule that adds statements to those on the target',
		setup   => table('odd', 'id int PRIMARY KEY, body text') . q{CREATE RULE also AS ON INSERT TO mallory.odd_embedding_store DO ALSO SELECT mallory.strike('a rule')},
		attack  => q{INSERT INTO mallory.odd VALUES (1, 'text')},
		cleanup => drop('odd'),
	},
	{
		name    => 'a rule that replaces statements on the target',
		setup   => table('odd', 'id int PRIMARY KEY, body text') . q{CREATE RULE instead AS ON INSERT TO mallory.odd_embedding_store DO INSTEAD NOTHING;
			CREATE RULE instead_of_delete AS ON DELETE TO mallory.odd_embedding_store DO INSTEAD NOTHING},
		attack  => q{INSERT INTO mallory.odd VALUES (1, 'text'); DELETE FROM mallory.odd},
		cleanup => drop('odd'),
	},
	{
		name    => 'a rule that moves what is written to the queue of alice',
		setup   => table('odd', 'id int PRIMARY KEY, body text') . "CREATE RULE elsewhere AS ON INSERT TO mallory.odd_embedding_store DO ALSO INSERT INTO ai._vectorizer_q_$hostile->{alice} (id) VALUES (0)",
		attack  => q{INSERT INTO mallory.odd VALUES (1, 'text')},
		errors  => qr/permission denied/,
		cleanup => drop('odd'),
	},
	{
		name    => 'row security policies with a function, on source and target',
		setup   => table('odd', 'id int PRIMARY KEY, body text') . join('', map { "ALTER TABLE mallory.$_ ENABLE ROW LEVEL SECURITY; ALTER TABLE mallory.$_ FORCE ROW LEVEL SECURITY;
			CREATE POLICY p ON mallory.$_ USING (mallory.strike('a policy')) WITH CHECK (mallory.strike('a policy'));" } qw(odd odd_embedding_store)),
		attack  => q{INSERT INTO mallory.odd VALUES (1, 'text')},
		marked  => 1,
		cleanup => drop('odd'),
	},
	{
		name    => 'a policy that lets nothing be written',
		setup   => table('odd', 'id int PRIMARY KEY, body text') . 'ALTER TABLE mallory.odd_embedding_store ENABLE ROW LEVEL SECURITY; ALTER TABLE mallory.odd_embedding_store FORCE ROW LEVEL SECURITY',
		attack  => q{INSERT INTO mallory.odd SELECT n, 'text ' || n FROM generate_series(1, 20) n},
		errors  => qr/row-level security policy/,
		cleanup => drop('odd'),
	},
	{
		name    => 'default expressions and checks on the target',
		setup   => table('odd', 'id int PRIMARY KEY, body text') . q{ALTER TABLE mallory.odd_embedding_store ADD COLUMN d boolean DEFAULT mallory.strike('a default'),
			ADD CHECK (mallory.quiet_strike(chunk) = chunk)},
		attack  => q{INSERT INTO mallory.odd VALUES (1, 'text')},
		marked  => 1,
		check   => stored(1, 'odd_embedding_store'),
		cleanup => drop('odd'),
	},
	{
		name    => 'a generated column on the target and on the source',
		setup   => table('odd', 'id int PRIMARY KEY, body text, g text GENERATED ALWAYS AS (mallory.quiet_strike(body)) STORED') .
			q{ALTER TABLE mallory.odd_embedding_store ADD COLUMN g text GENERATED ALWAYS AS (mallory.quiet_strike(chunk)) STORED},
		attack  => q{INSERT INTO mallory.odd VALUES (1, 'text')},
		marked  => 1,
		check   => stored(1, 'odd_embedding_store'),
		cleanup => drop('odd'),
	},
	{
		name    => 'an embedding column whose table has triggers of every kind',
		setup   => $strike . table('odd', 'id int PRIMARY KEY, body text', destination => q{ai.destination_column('embedding')}, chunking => 'ai.chunking_none()')
			. q{CREATE TRIGGER a AFTER UPDATE ON mallory.odd FOR EACH ROW EXECUTE FUNCTION mallory.late(); CREATE TRIGGER b BEFORE UPDATE ON mallory.odd FOR EACH STATEMENT EXECUTE FUNCTION mallory.late();
			CREATE TRIGGER c AFTER UPDATE ON mallory.odd FOR EACH STATEMENT EXECUTE FUNCTION mallory.late()},
		attack  => q{INSERT INTO mallory.odd VALUES (1, 'text')},
		marked  => 1,
		check   => [ 'SELECT count(embedding) FROM mallory.odd', 1 ],
		cleanup => drop('odd') . 'DROP FUNCTION mallory.late()',
	},
	{
		name    => 'a trigger that drops the vectorizer it is stored for',
		setup   => table('odd', 'id int PRIMARY KEY, body text') . q{CREATE FUNCTION mallory.suicide() RETURNS trigger LANGUAGE plpgsql AS
				$$ BEGIN PERFORM nextval('mallory.seen'); PERFORM ai.drop_vectorizer('odd', drop_all => true); RETURN NEW; END $$;
			CREATE TRIGGER suicide BEFORE INSERT ON mallory.odd_embedding_store FOR EACH ROW EXECUTE FUNCTION mallory.suicide()},
		attack  => q{INSERT INTO mallory.odd VALUES (1, 'text')},
		marked  => 1,
		cleanup => drop('odd') . 'DROP FUNCTION mallory.suicide()',
	},
	{
		name    => 'a trigger that alters, truncates and drops tables of its own vectorizer',
		setup   => table('odd', 'id int PRIMARY KEY, body text') . q{CREATE FUNCTION mallory.wreck() RETURNS trigger LANGUAGE plpgsql AS
				$$ BEGIN PERFORM nextval('mallory.seen'); EXECUTE 'TRUNCATE mallory.odd'; EXECUTE 'DROP TABLE mallory.odd_embedding_store'; RETURN NEW; END $$;
			CREATE TRIGGER wreck BEFORE INSERT ON mallory.odd_embedding_store FOR EACH ROW EXECUTE FUNCTION mallory.wreck()},
		attack  => q{INSERT INTO mallory.odd VALUES (1, 'text')},
		marked  => 1,
		errors  => qr/because it is being used by active queries|because other objects depend on it/,
		cleanup => drop('odd') . 'DROP FUNCTION mallory.wreck()',
	},
	{
		name    => 'a trigger that makes another vectorizer',
		setup   => table('odd', 'id int PRIMARY KEY, body text') . qq{CREATE TABLE mallory.more (id int PRIMARY KEY, body text); CREATE FUNCTION mallory.breed() RETURNS trigger LANGUAGE plpgsql AS
				\$\$ BEGIN PERFORM nextval('mallory.seen'); PERFORM ai.create_vectorizer('mallory.more', @{[ $hostile->arguments('more') ]}); RETURN NEW; END \$\$;
			CREATE TRIGGER breed BEFORE INSERT ON mallory.odd_embedding_store FOR EACH ROW EXECUTE FUNCTION mallory.breed()},
		attack  => q{INSERT INTO mallory.odd VALUES (1, 'text')},
		marked  => 1,
		cleanup => drop('odd') . q{SELECT ai.drop_vectorizer(id, drop_all => true) FROM ai.vectorizer_status WHERE name = 'more'; DROP TABLE mallory.more; DROP FUNCTION mallory.breed()},
	},
	{
		name    => 'an event trigger',
		setup   => q{CREATE FUNCTION mallory.event() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM mallory.strike('an event'); END $$},
		attack  => q{CREATE EVENT TRIGGER mine ON ddl_command_end EXECUTE FUNCTION mallory.event()},
		refused => qr/42501: permission denied to create event trigger/,
		cleanup => q{DROP FUNCTION mallory.event()},
	},
);

# -- partitions, children, foreign keys, deferred constraints

$hostile->try(
	{
		name    => 'a partitioned source whose partitions have triggers and policies',
		setup   => $strike . q{CREATE TABLE mallory.odd (id int PRIMARY KEY, body text) PARTITION BY RANGE (id); CREATE TABLE mallory.odd1 PARTITION OF mallory.odd FOR VALUES FROM (0) TO (100);}
			. "SELECT ai.create_vectorizer('mallory.odd', @{[ $hostile->arguments('odd') ]});"
			. q{CREATE TRIGGER a AFTER INSERT ON mallory.odd1 FOR EACH ROW EXECUTE FUNCTION mallory.late(); ALTER TABLE mallory.odd1 ENABLE ROW LEVEL SECURITY;
			ALTER TABLE mallory.odd1 FORCE ROW LEVEL SECURITY; CREATE POLICY p ON mallory.odd1 USING (mallory.strike('a policy of a partition'))},
		attack  => q{INSERT INTO mallory.odd VALUES (1, 'text')},
		check   => stored(1, 'odd_embedding_store'),
		cleanup => drop('odd') . 'DROP FUNCTION mallory.late()',
	},
	{
		name    => 'a partition of somebody else',
		setup   => q{CREATE TABLE mallory.odd (id int PRIMARY KEY, body text) PARTITION BY RANGE (id)},
		attack  => q{ALTER TABLE mallory.odd ATTACH PARTITION alice.docs FOR VALUES FROM (0) TO (100)},
		refused => qr/42501: permission denied for schema alice|42501: must be owner/,
		cleanup => q{DROP TABLE mallory.odd},
	},
	{
		name    => 'a partition function of her own, as the key of the source',
		setup   => q{CREATE TABLE mallory.odd (id int PRIMARY KEY, body text) PARTITION BY LIST (id); CREATE TABLE mallory.odd1 PARTITION OF mallory.odd DEFAULT;
			ALTER TABLE mallory.odd1 ADD CHECK (mallory.quiet_strike(body) = body);} . "SELECT ai.create_vectorizer('mallory.odd', @{[ $hostile->arguments('odd') ]})",
		attack  => q{INSERT INTO mallory.odd VALUES (1, 'text')},
		check   => stored(1, 'odd_embedding_store'),
		cleanup => drop('odd'),
	},
	{
		name    => 'a child of the target, and one of a table of the extension',
		setup   => q{CREATE TABLE mallory.child () INHERITS (mallory.docs_embedding_store)},
		attack  => q{CREATE TABLE mallory.cuckoo () INHERITS (ai.vectorizer)},
		refused => qr/42501: (permission denied|must be owner)/,
		cleanup => q{DROP TABLE mallory.child},
	},
	{
		name    => 'foreign keys with actions, from the target to a table with triggers',
		setup   => $strike . table('odd', 'id int PRIMARY KEY, body text') . q{ALTER TABLE mallory.odd_embedding_store ADD FOREIGN KEY (id) REFERENCES mallory.odd ON DELETE CASCADE ON UPDATE CASCADE;
			CREATE TRIGGER a AFTER DELETE ON mallory.odd_embedding_store FOR EACH ROW EXECUTE FUNCTION mallory.late()},
		attack  => q{INSERT INTO mallory.odd SELECT n, 'text ' || n FROM generate_series(1, 10) n; DELETE FROM mallory.odd WHERE id > 5},
		check   => stored(5, 'odd_embedding_store'),
		cleanup => drop('odd') . 'DROP FUNCTION mallory.late()',
	},
	{
		name    => 'a foreign key to a table of the extension',
		attack  => q{CREATE TABLE mallory.anchor (id int REFERENCES ai.vectorizer (id))},
		refused => qr/42501: permission denied for (table|schema)/,
	},
	{
		name    => 'a foreign key to the rows of alice, that she could not delete then',
		attack  => q{CREATE TABLE mallory.anchor (id int REFERENCES alice.docs (id))},
		refused => qr/42501: permission denied/,
	},
	{
		name    => 'a deferred unique constraint and foreign key on the target',
		setup   => table('odd', 'id int PRIMARY KEY, body text') . q{ALTER TABLE mallory.odd_embedding_store ADD UNIQUE (chunk) DEFERRABLE INITIALLY DEFERRED,
			ADD FOREIGN KEY (id) REFERENCES mallory.odd DEFERRABLE INITIALLY DEFERRED},
		attack  => q{INSERT INTO mallory.odd SELECT n, 'the same' FROM generate_series(1, 10) n},
		errors  => qr/deferred trigger|duplicate key/,
		cleanup => drop('odd'),
	},
	{
		name    => 'SET CONSTRAINTS in a trigger',
		setup   => $strike . q{CREATE CONSTRAINT TRIGGER late AFTER INSERT ON mallory.docs_embedding_store DEFERRABLE INITIALLY IMMEDIATE FOR EACH ROW EXECUTE FUNCTION mallory.late()},
		trigger => q{SET CONSTRAINTS ALL DEFERRED;},
		rounds  => 3,
		cleanup => q{DROP FUNCTION mallory.late() CASCADE},
	},
	{
		name    => 'the target is made a view with triggers of her own',
		setup   => $strike . table('odd', 'id int PRIMARY KEY, body text') . q{ALTER TABLE mallory.odd_embedding_store RENAME TO odd_away; CREATE VIEW mallory.odd_embedding_store AS SELECT * FROM mallory.odd_away;
			CREATE TRIGGER a INSTEAD OF INSERT ON mallory.odd_embedding_store FOR EACH ROW EXECUTE FUNCTION mallory.late()},
		attack  => q{INSERT INTO mallory.odd VALUES (1, 'text')},
		cleanup => q{DROP VIEW mallory.odd_embedding_store;} . drop('odd') . 'DROP FUNCTION mallory.late()',
	},
);

# -- views of ours, with functions that tell what they see

$hostile->try(
	map({
			my $view = $_;
			{
				name   => "what $view shows to a function that costs nothing",
				attack => "CREATE VIEW mallory.over AS SELECT v.* FROM $view v; SELECT count(*) FROM mallory.over v WHERE mallory.leak(v::text);
					SELECT count(*) FROM $view v WHERE mallory.leak(v::text) AND v::text ~ 'alice'; DROP VIEW mallory.over",
				check  => [ q{SELECT count(*) FROM mallory.loot WHERE how ~ 'canary|alice'}, 0 ],
			}
		} split /\n/, $hostile->sql(q{SELECT c.oid::regclass FROM pg_class c WHERE c.relnamespace = 'ai'::regnamespace AND c.relkind = 'v'
			AND has_table_privilege('mallory', c.oid, 'SELECT') AND c.relname !~ 'provider' ORDER BY 1})),
);

# -- names that are SQL

my @names = (
	q{a"; ALTER ROLE mallory SUPERUSER; --}, q{a'; ALTER ROLE mallory SUPERUSER; --}, q{$statement$}, q{$$}, q{%s %1$s %I %L}, q{a\\'b}, q{{=}}, q{"}, q{ },
	"line\nbreak", 'now()', 'ÜÄÖ' x 20);
sub ident { my ($name) = @_; return '"' . ($name =~ s/"/""/gr) . '"'; }
$hostile->sql('GRANT CREATE ON DATABASE postgres TO mallory');    # for schemas of any name
sub literal { my ($text) = @_; return q{E'} . ($text =~ s/(['\\])/\\$1/gr) . q{'}; }
$hostile->try(
	map({
			my ($quoted, $literal) = (ident($_), literal($_));
			my $arguments = $hostile->arguments('named', loading => "ai.loading_column($literal)", processing => '') =~ s/name => 'named'/name => $literal/r;
			{
				name    => "a schema, table, key, column and vectorizer named " . (s/\n/\\n/r),
				setup   => "CREATE SCHEMA $quoted; CREATE TABLE $quoted.$quoted ($quoted text PRIMARY KEY);
					SELECT ai.create_vectorizer(format('%I.%I', $literal, $literal)::regclass, $arguments)",
				attack  => "INSERT INTO $quoted.$quoted VALUES ($literal), ('bad')",
				check   => [ "SELECT ai.vectorizer_queue_pending($literal, true)", 0 ],
				cleanup => "SELECT ai.drop_vectorizer($literal, drop_all => true); DROP SCHEMA $quoted CASCADE",
			}
		} @names),
);

cmp_ok($hostile->done, '>=', 50, 'attempts');
done_testing();
