# What a role can ask for in its own sessions: every function of the extension with another's vectorizer, every table,
# every lock, settings, signals. See lib/Hostile.pm for what holds after each attempt.
use strict;
use warnings FATAL => 'all';
use Hostile;
use Test::More;

my $hostile = Hostile->new('main');
my ($alice, $docs) = ($hostile->{alice}, $hostile->{docs});

# -- every function that she may call, about alice's things, with names of the server's hidden by her own

$hostile->as('mallory', q{
	CREATE FUNCTION mallory.now() RETURNS timestamptz LANGUAGE sql AS $$SELECT NULL::timestamptz FROM mallory.strike('now')$$;
	CREATE FUNCTION mallory.quote_ident(text) RETURNS text LANGUAGE sql AS $$SELECT $1 FROM mallory.strike('quote_ident')$$;
	CREATE FUNCTION mallory.format(text, VARIADIC text[]) RETURNS text LANGUAGE sql AS $$SELECT $1 FROM mallory.strike('format')$$;
	CREATE FUNCTION mallory.coalesce(text, text) RETURNS text LANGUAGE sql AS $$SELECT $1 FROM mallory.strike('coalesce')$$;
	CREATE FUNCTION mallory.pg_has_role(name, oid, text) RETURNS boolean LANGUAGE sql AS $$SELECT mallory.strike('pg_has_role')$$;
	CREATE FUNCTION mallory.pg_has_role(oid, oid, text) RETURNS boolean LANGUAGE sql AS $$SELECT mallory.strike('pg_has_role')$$;
	CREATE FUNCTION mallory.has_table_privilege(oid, oid, text) RETURNS boolean LANGUAGE sql AS $$SELECT mallory.strike('has_table_privilege')$$;
	CREATE FUNCTION mallory.equals(oid, oid) RETURNS boolean LANGUAGE sql AS $$SELECT mallory.strike('=')$$;
	CREATE FUNCTION mallory.equals(int4, int4) RETURNS boolean LANGUAGE sql AS $$SELECT mallory.strike('=')$$;
	CREATE FUNCTION mallory.equals(text, text) RETURNS boolean LANGUAGE sql AS $$SELECT mallory.strike('=')$$;
	CREATE OPERATOR mallory.= (LEFTARG = oid, RIGHTARG = oid, FUNCTION = mallory.equals);
	CREATE OPERATOR mallory.= (LEFTARG = int4, RIGHTARG = int4, FUNCTION = mallory.equals);
	CREATE OPERATOR mallory.= (LEFTARG = text, RIGHTARG = text, FUNCTION = mallory.equals);
	CREATE DOMAIN mallory.regclass AS pg_catalog.regclass CHECK (mallory.strike('regclass'));
	CREATE TABLE mallory.pg_class (oid oid, relowner oid); CREATE TABLE mallory.pg_roles (rolname name)});

# Numbers instead of names of alice's tables: her schema would keep mallory from naming them at all.
my %table = map { split /=/ } split /\n/, $hostile->sql(qq{SELECT concat(k, '=', r::oid) FROM (VALUES ('source', 'alice.docs'::regclass), ('target', 'alice.docs_embedding_store'),
	('queue', 'ai._vectorizer_q_$alice'), ('work', 'ai._vectorizer_q_work_$alice'), ('failed', 'ai._vectorizer_q_failed_$alice')) t (k, r)});

# A value for each parameter, by name where that tells more than the type.
sub value
{
	my ($name, $type) = @_;
	return "$alice" if $type eq 'integer' && $name =~ /vectorizer|^id$/;
	return q{'alice'} if $type =~ /^(text|name)$/ && $name =~ /^(name|vectorizer.*|role|to_user|owner)$/;
	return q{'ALICE_KEY'} if $type eq 'text' && $name =~ /secret|key/;
	my %values = (
		integer => 1, bigint => 1, smallint => 1, 'double precision' => 1, numeric => 1, real => 1, boolean => 'true', text => q{'x'}, name => q{'x'},
		regclass => "$table{source}::pg_catalog.oid::pg_catalog.regclass", oid => q{'alice'::regrole::oid}, regrole => q{'alice'::regrole}, jsonb => q{'{}'::jsonb},
		uuid => 'gen_random_uuid()', interval => q{interval '0.1 s'}, 'text[]' => q{ARRAY['alice']}, bytea => q{''::bytea}, tid => q{'(0,0)'::tid},
		'timestamp with time zone' => 'pg_catalog.now()', vector => q{'[1,2,3,4,5,6,7,8]'::public.vector}, anyelement => '1', '"char"' => q{'x'::"char"},
		'ai.vectorizer' => qq{jsonb_populate_record(NULL::ai.vectorizer, '{"id": $alice, "name": "alice", @{[ join ', ', map { qq("$_": "$table{$_}") } sort keys %table ]},
			"config": {"loading": {"column_name": "body"}, "embedding": {}, "processing": {}}, "source_pk": [{"attname": "id", "pknum": 1, "typname": "int4", "equals": "OPERATOR(mallory.=)",
			"queue_column": "id", "target_column": "id"}]}')});
	return qq{jsonb_populate_record(NULL::$type, '{"statement": "SELECT mallory.strike(''a statement of hers''), entry FROM alice.diary"}')} if $type =~ /^ai\._\w+_statement$/;
	return $values{$type} // "NULL::$type";
}

my @functions = split /\n/, $hostile->sql(q{
	SELECT concat_ws('|', p.oid::regprocedure, p.proname, CASE WHEN p.provariadic <> 0 THEN 'VARIADIC ' ELSE ' ' END,
		(SELECT string_agg(concat(p.proargnames[n], ':', format_type(p.proargtypes[n - 1], NULL)), ';' ORDER BY n) FROM generate_series(1, p.pronargs) n))
	FROM pg_proc p WHERE p.pronamespace = 'ai'::regnamespace AND has_function_privilege('mallory', p.oid, 'EXECUTE')
	AND p.prorettype NOT IN ('trigger'::regtype, 'event_trigger'::regtype) AND p.prokind = 'f' ORDER BY p.oid::regprocedure::text});
cmp_ok(scalar @functions, '>', 60, 'functions that she may call');
$hostile->calls(map {
	my ($signature, $name, $variadic, $parameters) = split /\|/;
	my @values = map { value(split /:/) } split /;/, $parameters // '';
	$values[-1] = $variadic . $values[-1] if @values;
	{ name => "call $signature", call => "SELECT f::text FROM ai.$name(" . join(', ', @values) . ') f' }
} @functions);

# Those that are revoked cannot be called, whatever the arguments.
my @private = split /\n/, $hostile->sql(q{SELECT p.oid::regprocedure FROM pg_proc p WHERE p.pronamespace = 'ai'::regnamespace AND p.prosecdef
	AND p.prorettype IN ('trigger'::regtype, 'event_trigger'::regtype)});
$hostile->try(
	map({
			my $function = $_ =~ s/\(.*//r;
			{
				name    => "a trigger of hers that runs $_ with its rights",
				setup   => 'CREATE TABLE mallory.mine (id int)',
				attack  => "CREATE TRIGGER mine AFTER TRUNCATE ON mallory.mine FOR EACH STATEMENT EXECUTE FUNCTION $function('$alice')",
				refused => qr/42501: permission denied|42P17: function .* must return type trigger/,
				cleanup => 'DROP TABLE mallory.mine',
			}
		} @private),
);

# -- every table of the extension

my @relations = split /\n/, $hostile->sql(qq{SELECT c.oid::regclass FROM pg_class c WHERE c.relnamespace = 'ai'::regnamespace AND c.relkind IN ('r', 'v', 'S')
	AND c.relname !~ '^_vectorizer_q_(work_|failed_)?($docs|$hostile->{notes})\$' ORDER BY 1});
$hostile->as('mallory', q{CREATE FUNCTION mallory.tries(VARIADIC statements text[]) RETURNS SETOF text LANGUAGE plpgsql AS $$
	DECLARE statement text;
	BEGIN
		FOREACH statement IN ARRAY statements LOOP
			BEGIN EXECUTE statement; RETURN NEXT statement; EXCEPTION WHEN OTHERS THEN NULL; END;
		END LOOP;
	END $$});
$hostile->calls(map {
	my $relation = $_;
	my @statements = ("INSERT INTO $relation DEFAULT VALUES", "DELETE FROM $relation", "TRUNCATE $relation", "LOCK TABLE $relation IN ROW SHARE MODE",
		"LOCK TABLE $relation IN ACCESS EXCLUSIVE MODE", "ALTER TABLE $relation OWNER TO mallory", "DROP TABLE $relation",
		"CREATE TRIGGER mine AFTER INSERT ON $relation FOR EACH ROW EXECUTE FUNCTION mallory.attack()", "CREATE RULE mine AS ON INSERT TO $relation DO ALSO NOTHING",
		"CREATE INDEX ON $relation (mallory.quiet_strike('x'))", "COMMENT ON TABLE $relation IS 'mine'", "SELECT setval('$relation', 1)");
	{
		name => "write, lock, alter, own $relation", none => 1,
		call => 'SELECT s FROM mallory.tries(' . join(', ', map { "\$x\$$_\$x\$" } @statements) . ') s',
	}
} @relations);

$hostile->try(
	{
		name    => 'entries in the queue of alice',
		attack  => "INSERT INTO ai._vectorizer_q_$alice (id) VALUES (0)",
		refused => qr/42501: permission denied for table/,
	},
	{
		name   => 'entries in her own queue for rows that do not exist',
		attack => "INSERT INTO ai._vectorizer_q_$docs (id) SELECT n FROM generate_series(100000, 110000) n",
	},
	{
		name    => 'changes of entries in her own queue and table of work',
		attack  => "UPDATE ai._vectorizer_q_work_$docs SET lease = NULL",
		refused => qr/42501: permission denied for table/,
	},
	{
		name    => 'a lock on her own queue',
		attack  => "BEGIN; LOCK TABLE ai._vectorizer_q_$docs IN ROW EXCLUSIVE MODE",
		refused => qr/42501: permission denied for table/,
	},
	{
		name    => 'an object in the schema of the extension',
		attack  => q{CREATE FUNCTION ai.now() RETURNS timestamptz LANGUAGE sql AS 'SELECT NULL::timestamptz'},
		refused => qr/42501: permission denied for schema ai/,
	},
	{
		name    => 'a vectorizer on the table of alice',
		attack  => "SELECT ai.create_vectorizer('alice.docs', @{[ $hostile->arguments('stolen') ]})",
		refused => qr/42501: /,
	},
	{
		name    => 'a vectorizer on a table of the extension',
		attack  => q{SELECT ai.create_vectorizer('ai._secret', } . $hostile->arguments('stolen', loading => q{ai.loading_column('value')}) . ')',
		refused => qr/42501: /,
	},
	{
		name    => 'a vectorizer whose target is in the schema of alice',
		setup   => 'CREATE TABLE mallory.odd (id int PRIMARY KEY, body text)',
		attack  => q{SELECT ai.create_vectorizer('mallory.odd', destination => ai.destination_table(target_schema => 'alice', target_table => 'mine'), } . $hostile->arguments('odd') . ')',
		refused => qr/42501: permission denied for schema alice/,
		cleanup => 'DROP TABLE mallory.odd',
	},
	{
		name    => 'a target that replaces the diary of alice',
		setup   => 'CREATE TABLE mallory.odd (id int PRIMARY KEY, body text)',
		attack  => q{SELECT ai.create_vectorizer('mallory.odd', destination => ai.destination_table(target_schema => 'alice', target_table => 'diary'), } . $hostile->arguments('odd') . ')',
		refused => qr/ERROR: /,
		cleanup => 'DROP TABLE mallory.odd',
	},
	{
		name    => 'the key of alice for a vectorizer of her own',
		setup   => 'CREATE TABLE mallory.odd (id int PRIMARY KEY, body text);' . "SELECT ai.create_vectorizer('mallory.odd', "
			. $hostile->arguments('odd', embedding => q{ai.embedding_openai('mock-8', 8, api_key_name => 'ALICE_KEY')}) . ')',
		attack  => q{INSERT INTO mallory.odd VALUES (1, 'text')},
		errors  => qr/not permitted to use secret "ALICE_KEY"/,
		cleanup => q{SELECT ai.drop_vectorizer('odd', drop_all => true); DROP TABLE mallory.odd},
	},
	{
		name    => 'a variable of the server\'s environment as a key',
		attack  => q{SELECT ai.openai_embed('mock-8', 'text', api_key_name => 'PATH')},
		refused => qr/42501: role "mallory" is not permitted to use secret "PATH"/,
	},
	{
		name    => 'a name of a key that is SQL',
		attack  => q{SELECT ai.openai_embed('mock-8', 'text', api_key_name => 'x''); ALTER ROLE mallory SUPERUSER; --')},
		refused => qr/ERROR: /,
	},
	{
		name    => 'the metadata service of a cloud as a provider',
		attack  => q{SELECT ai.ollama_embed('mock-8', 'text', base_url => 'http://169.254.169.254/')},
		refused => qr/ERROR: /,
	},
	{
		name    => 'a job that tells its end on a channel that is SQL',
		attack  => "SELECT ai.create_embedding_job('text', embedding => $hostile->{ollama}, notify_channel => 'x''; ALTER ROLE mallory SUPERUSER; --')",
		check   => [ q{SELECT count(*) FROM ai.embedding_jobs WHERE status = 'completed'}, 1 ],
	},
	{
		name    => 'the table of a vectorizer is given to alice, whose key it then uses',
		attack  => q{ALTER TABLE mallory.docs OWNER TO alice},
		refused => qr/42501: must be member of role "alice"|42501: must be able to SET ROLE "alice"/,
	},
	map({
			my ($what, $statement) = @$_;
			{
				name    => "check_function_bodies = off, and a partition that is $what unnoticed",
				setup   => q{CREATE TABLE mallory.odd (id int PRIMARY KEY, body text) PARTITION BY RANGE (id); CREATE TABLE mallory.odd1 PARTITION OF mallory.odd FOR VALUES FROM (0) TO (100);}
					. "SELECT ai.create_vectorizer('mallory.odd', @{[ $hostile->arguments('odd') ]}); INSERT INTO mallory.odd VALUES (1, 'text')",
				attack  => sub {
					$_[0]->poll('SELECT count(*) = 1 FROM mallory.odd_embedding_store') or die 'not stored';
					return ($_[0]->says('mallory', "SET check_function_bodies = off; $statement"))[1];
				},
				check   => [ 'SELECT count(*) FROM mallory.odd_embedding_store', 0 ],
				cleanup => q{SELECT ai.drop_vectorizer('odd', drop_all => true); DROP TABLE mallory.odd; DROP TABLE IF EXISTS mallory.odd1},
			}
		}
		[ 'detached', 'ALTER TABLE mallory.odd DETACH PARTITION mallory.odd1' ],
		[ 'truncated', 'TRUNCATE mallory.odd1' ]),
	{
		name    => 'rows of the extension as a restore would bring them',
		attack  => q{SET check_function_bodies = off; INSERT INTO ai.vectorizer (id) VALUES (1000)},
		refused => qr/42501: permission denied/,
	},
);

# -- signals and settings

$hostile->try(
	map({
			my $function = $_;
			{
				name    => "$function for all processes of the extension",
				attack  => sub {
					my @pids = split /\n/, $_[0]->sql(q{SELECT pid FROM pg_stat_activity WHERE backend_type LIKE 'ai %'});
					return join ' ', map { ($_[0]->says('mallory', "SELECT $function($_)"))[1] || "could do it to $_" } @pids;
				},
				refused => qr/\A(ERROR:  42501: [^\n]*\n(HINT[^\n]*\n|DETAIL[^\n]*\n)?LOCATION[^\n]*?\d+ ?)+\z/,
			}
		} qw(pg_terminate_backend pg_cancel_backend pg_log_backend_memory_contexts)),
	{
		name => 'settings of the extension that are not hers',
		none => 1,
		attack => sub {
			my @settings = split /\n/, $_[0]->sql(q{SELECT name FROM pg_settings WHERE name LIKE 'ai.%' AND context <> 'user'});
			my ($done, $error) = $_[0]->says('mallory', 'SELECT string_agg(s, $$,$$) FROM mallory.tries(' . join(', ', map { "'SET $_ = DEFAULT'" } @settings) . ') s');
			return $done eq '' ? $error : "could set: $done";
		},
	},
);

# -- locks that are held in a session of hers, while alice's rows come

$hostile->try(
	map({
			my ($name, $holding) = @$_;
			{
				name    => "held in an open transaction: $name",
				setup   => q{INSERT INTO mallory.docs SELECT n, 'text ' || n FROM generate_series(1, 50) n; INSERT INTO mallory.notes SELECT n, 'text ' || n FROM generate_series(1, 50) n},
				holding => $holding,
			}
		}
		[ 'advisory locks on all claims', 'SELECT count(pg_advisory_lock(1634295665, n)) FROM generate_series(0, 200) n' ],
		[ 'advisory locks on numbers of tables of the extension', q{SELECT count(pg_advisory_lock(oid::int8)) FROM pg_class WHERE relnamespace = 'ai'::regnamespace} ],
		[ 'shared locks on all that she may read of the extension', q{BEGIN; DO $$ DECLARE r regclass; BEGIN FOR r IN SELECT oid FROM pg_class WHERE relnamespace = 'ai'::regnamespace
			AND relkind IN ('r', 'v') AND has_table_privilege(oid, 'SELECT') LOOP EXECUTE format('LOCK TABLE %s IN ACCESS SHARE MODE', r); END LOOP; END $$} ],
		[ 'her source in ACCESS EXCLUSIVE mode', 'BEGIN; LOCK TABLE mallory.notes IN ACCESS EXCLUSIVE MODE' ],
		[ 'locks on all of her rows', 'BEGIN; SELECT count(*) FROM (SELECT FROM mallory.docs FOR UPDATE) d' ],
		[ 'a snapshot', 'BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM mallory.docs' ],
		[ 'a vectorizer that is made', "BEGIN; CREATE TABLE mallory.held (id int PRIMARY KEY, body text); SELECT ai.create_vectorizer('mallory.held', @{[ $hostile->arguments('held') ]})" ],
		[ 'a vectorizer that is disabled and enabled', q{BEGIN; SELECT ai.disable_vectorizer_schedule('docs'); SELECT ai.enable_vectorizer_schedule('docs')} ],
		[ 'a vectorizer that is paused', q{BEGIN; SELECT ai.pause_vectorizer('docs')} ],
		[ 'a column that is added to her source', 'BEGIN; ALTER TABLE mallory.docs ADD COLUMN extra int' ],
		[ 'jobs that are made', "BEGIN; SELECT count(*) FROM generate_series(1, 100) n, ai.create_embedding_job('text ' || n, embedding => $hostile->{ollama})" ]),
);

cmp_ok($hostile->done, '>=', 100, 'attempts');
done_testing();
