# Vectorizers in a dump or in pg_upgrade's hands: in the new database they go on working, and nothing
# queued is lost.
use strict;
use warnings FATAL => 'all';
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init(extra => [ '--locale=C', '--encoding=UTF8' ]);
$node->append_conf('postgresql.conf', "shared_preload_libraries = 'ai'\nai.databases = 'none'");
$node->start;
my $dumps = PostgreSQL::Test::Utils::tempdir();

sub sql { my ($database, $statement) = @_; return $node->safe_psql($database, $statement); }

$node->safe_psql('postgres', 'CREATE ROLE app; CREATE DATABASE original');
sql('original', q{
	CREATE EXTENSION ai CASCADE;
	CREATE SCHEMA "App" AUTHORIZATION app;
	CREATE SCHEMA "Queues";
	GRANT ALL ON SCHEMA "Queues" TO app;
	SET ROLE app;
	CREATE TABLE "App".blog (gone int, id int PRIMARY KEY, title text, gone2 int, body text);
	ALTER TABLE "App".blog DROP gone, DROP gone2;
	INSERT INTO "App".blog VALUES (1, 'one', 'a'), (2, 'two', 'b');
	SELECT ai.create_vectorizer('"App".blog', name => 'blog', loading => ai.loading_column('body'),
		embedding => ai.embedding_local('m', 3), formatting => ai.formatting_python_template('$title: $chunk'),
		queue_schema => 'Queues', queue_table => 'Blog queue');
	SELECT ai.create_vectorizer('"App".blog', name => 'titles', loading => ai.loading_column('title'),
		embedding => ai.embedding_local('m', 3), chunking => ai.chunking_none(),
		destination => ai.destination_column('title_embedding'), enqueue_existing => false);
	CREATE TABLE "App".part (id int, region text, body text, PRIMARY KEY (region, id)) PARTITION BY LIST (region);
	CREATE TABLE "App".eu PARTITION OF "App".part FOR VALUES IN ('eu');
	CREATE TABLE "App".zz PARTITION OF "App".part FOR VALUES IN ('zz');
	INSERT INTO "App".part VALUES (1, 'eu', 'a');
	SELECT ai.create_vectorizer('"App".part', name => 'part', loading => ai.loading_column('body'),
		embedding => ai.embedding_local('m', 3));
	SELECT ai.disable_vectorizer_schedule('part');
	SELECT ai.pause_vectorizer('blog', '2999-01-01');
	INSERT INTO "App".blog_embedding_store (id, chunk_seq, chunk, embedding) VALUES (1, 0, 'a chunk', '[1,2,3]');
	RESET ROLE;
	UPDATE "Queues"."Blog queue" SET priority = 3 WHERE id = 2;
	INSERT INTO "Queues"._vectorizer_q_work_1 (id, queued_at, priority, attempts, retry_at, lease)
	VALUES (2, now(), 0, 3, '2030-01-01', 'a0000000-0000-0000-0000-000000000001');
	INSERT INTO "Queues"._vectorizer_q_failed_1 (id, step, error, class) VALUES (9, 'embedding', 'it broke', 'permanent');
	INSERT INTO ai._vectorizer_errors (id, message, details) VALUES (1, 'it broke', '{"key": {"id": 9}}');
	SELECT ai.pause_workers();
	SELECT ai.register_worker('worker:outside:0');
	SELECT ai._worker_progress(ai._worker_start('1', '5s'), 1, 10, NULL)});

my %state = (
	'vectorizers'         => q{SELECT id, name, source, target, view, queue, work, failed, trigger_name, source_pk, config,
	                           owner_role, disabled, created FROM ai.vectorizer ORDER BY id},
	'queue'               => q{SELECT * FROM "Queues"."Blog queue" ORDER BY id, queued_at},
	'empty queue'         => q{SELECT * FROM ai._vectorizer_q_2 ORDER BY id},
	'taken rows'          => q{SELECT * FROM "Queues"._vectorizer_q_work_1},
	'failed rows'         => q{SELECT * FROM "Queues"._vectorizer_q_failed_1},
	'errors'              => q{SELECT * FROM ai.vectorizer_errors},
	'worker processes'    => q{SELECT * FROM ai.vectorizer_worker_process},
	'progress'            => q{SELECT * FROM ai.vectorizer_worker_progress},
	'pauses'              => q{SELECT kind, name, paused_at, paused_until, paused_by FROM ai.pauses ORDER BY 1, 2},
	'status'              => q{SELECT id, name, source_table, target_table, view, embedding_column, pending_items, disabled,
	                           failed_items, pending, running, retrying, failed, last_error, state, state_reason
	                           FROM ai.vectorizer_status ORDER BY id},
	'embeddings'          => q{SELECT chunk, embedding, id, title FROM "App".blog_embedding},
	'triggers'            => q{SELECT tgrelid::regclass, tgname, tgenabled, pg_get_triggerdef(oid) FROM pg_trigger
	                           WHERE tgname ~ '_vectorizer_src_trg' ORDER BY tgrelid::regclass::text, tgname},
	'rights on the queue' => q{SELECT table_name, column_name, privilege_type FROM information_schema.column_privileges
	                           WHERE grantee = 'app' AND table_name ~ 'queue|_vectorizer_q' ORDER BY 1, 2, 3},
	'columns of queues'   => q{SELECT attrelid::regclass, attnum, attname, format_type(atttypid, atttypmod) FROM pg_attribute
	                           WHERE attrelid IN (SELECT queue FROM ai.vectorizer) AND attnum > 0 ORDER BY attrelid::regclass::text, attnum});
my %original = map { $_ => sql('original', $state{$_}) } keys %state;
like($original{'taken rows'}, qr/2030-01-01/, 'there is something to lose');

# What a restored database has, and that it goes on.
sub check_restored
{
	my ($database, $how) = @_;
	is(sql($database, $state{$_}), $original{$_}, "$how: $_") for sort keys %state;
	# pg_upgrade takes all files along; the coordinator sees that those processes are gone.
	is(sql($database, 'SELECT count(*) FROM ai.worker'), '0', "$how: workers are not in a dump") if $how ne 'upgraded';

	sql($database, q{
		SET ROLE app;
		INSERT INTO "App".blog VALUES (3, 'three', 'c');
		UPDATE "App".blog SET body = 'new' WHERE id = 1;
		UPDATE "App".blog SET title_embedding = '[1,2,3]';
		INSERT INTO "App".part VALUES (2, 'zz', 'a');
		INSERT INTO "App".eu VALUES (2, 'eu', 'a')});
	is(sql($database, q{SELECT string_agg(id::text, ',' ORDER BY id) FROM "Queues"."Blog queue"}),
		'1,1,2,3', "$how: changes are queued");
	is(sql($database, q{SELECT string_agg(id::text, ',' ORDER BY id) FROM ai._vectorizer_q_2}),
		'3', "$how: also for a column destination");
	is(sql($database, q{SELECT ai.vectorizer_queue_pending('part', true)}), '3', "$how: and for partitions");

	sql($database, q{
		SET ROLE app;
		ALTER TABLE "App".blog RENAME COLUMN body TO contents;
		TRUNCATE "App".blog});
	is(sql($database, q{SELECT config #>> '{loading,column_name}' FROM ai.vectorizer WHERE id = 1}),
		'contents', "$how: renames are followed");
	is(sql($database, q{SELECT ai.vectorizer_queue_pending('blog', true)}), '3', "$how: TRUNCATE is queued");
	is( sql($database, q{SELECT ai.create_vectorizer('"App".blog', loading => ai.loading_column('title'),
			embedding => ai.embedding_local('m', 3), destination => ai.destination_table('more'))}),
		'4', "$how: the next id is a new one");
	sql($database, q{SET client_min_messages = warning; SET ROLE app; DROP TABLE "App".blog, "App".part CASCADE});
	is(sql($database, 'SELECT count(*) FROM ai.vectorizer'), '0', "$how: dropping the source cleans up");
	is( sql($database, q{SELECT count(*) FROM pg_class WHERE relname ~ '_vectorizer_q_\w*\d|Blog queue|embedding_store'}),
		'0', "$how: leaving nothing");
	return;
}

# A plain dump, through psql.
$node->command_ok([ 'pg_dump', '--file', "$dumps/plain.sql", $node->connstr('original') ], 'pg_dump to a script');
$node->safe_psql('postgres', 'CREATE DATABASE plain');
$node->command_ok([ 'psql', '--no-psqlrc', '--quiet', '--set=ON_ERROR_STOP=1', '--file', "$dumps/plain.sql",
		$node->connstr('plain') ], 'and its restore, without an error');
check_restored('plain', 'script');

# An archive, with several jobs.
$node->command_ok([ 'pg_dump', '--format=custom', '--file', "$dumps/archive", $node->connstr('original') ],
	'pg_dump to an archive');
$node->safe_psql('postgres', 'CREATE DATABASE archive');
$node->command_ok([ 'pg_restore', '--exit-on-error', '--jobs=4', '--dbname', $node->connstr('archive'), "$dumps/archive" ],
	'and its restore with several jobs');
check_restored('archive', 'archive');

# With several jobs rows come in any order. Here they come before their vectorizers, for certain.
my @order = ("$dumps/order", "$dumps/list");
run_log([ 'pg_restore', '--list', '--file', $order[0], "$dumps/archive" ]);
my @entries = split /\n/, slurp_file($order[0]);
my @late = grep { /TABLE DATA ai vectorizer / } @entries;
is(scalar @late, 1, 'the dump has one entry for the vectorizers');
my ($last) = grep { $entries[$_] =~ /TABLE DATA/ } reverse 0 .. $#entries;
splice @entries, $last + 1, 0, @late;
my $seen = 0;
append_to_file($order[1], join("\n", grep { $_ ne $late[0] || $seen++ } @entries) . "\n");
$node->safe_psql('postgres', 'CREATE DATABASE shuffled');
$node->command_ok([ 'pg_restore', '--exit-on-error', '--use-list', $order[1], '--dbname', $node->connstr('shuffled'),
		"$dumps/archive" ], 'a restore in another order');
is(sql('shuffled', 'SELECT count(*) FROM ai._restored_rows'), '0', 'another order: nothing is left aside');
check_restored('shuffled', 'another order');

# Over what is there already. (PostgreSQL itself cannot do that with the key of a partitioned table.)
$node->safe_psql('postgres', 'CREATE DATABASE cleaned');
$node->command_ok([ 'pg_restore', '--exit-on-error', '--dbname', $node->connstr('cleaned'), "$dumps/archive" ],
	'the archive once more');
sql('cleaned', 'SET client_min_messages = warning; DROP TABLE "App".part CASCADE');
my %before = map { $_ => sql('cleaned', $state{$_}) } keys %state;
$node->command_ok([ 'pg_dump', '--format=custom', '--file', "$dumps/cleaned", $node->connstr('cleaned') ],
	'a dump without partitions');
sql('cleaned', q{INSERT INTO "App".blog VALUES (3, 'three', 'c')});
$node->command_ok([ 'pg_restore', '--clean', '--if-exists', '--exit-on-error', '--dbname', $node->connstr('cleaned'),
		"$dumps/cleaned" ], 'pg_restore --clean over a database with vectorizers');
is(sql('cleaned', $state{$_}), $before{$_}, "clean: $_") for sort keys %state;
sql('cleaned', q{INSERT INTO "App".blog VALUES (3, 'three', 'c')});
is(sql('cleaned', q{SELECT ai.vectorizer_queue_pending('blog', true)}), '3', 'clean: changes are queued');

# Where the roles are not there: everything belongs to whoever restores.
$node->safe_psql('postgres', 'CREATE DATABASE no_owner');
$node->command_ok([ 'pg_restore', '--no-owner', '--no-privileges', '--exit-on-error', '--dbname',
		$node->connstr('no_owner'), "$dumps/archive" ], 'pg_restore --no-owner');
sql('no_owner', q{
	INSERT INTO "App".blog VALUES (3, 'three', 'c');
	TRUNCATE "App".blog;
	INSERT INTO "App".eu VALUES (2, 'eu', 'a')});
is(sql('no_owner', q{SELECT ai.vectorizer_queue_pending('blog', true), ai.vectorizer_queue_pending('part', true)}),
	'3|2', 'no owner: changes are queued');

# pg_upgrade moves the files of tables as they are: what they say of roles and tables must be true there.
sql('postgres', "DROP DATABASE $_") for qw(plain archive shuffled cleaned no_owner);
$node->stop;
my $upgraded = PostgreSQL::Test::Cluster->new('upgraded');
$upgraded->init(extra => [ '--locale=C', '--encoding=UTF8' ]);
$upgraded->append_conf('postgresql.conf', "shared_preload_libraries = 'ai'\nai.databases = 'none'");
my $bindir = $node->config_data('--bindir');
# It writes where it is called from.
my $home = PostgreSQL::Test::Utils::tempdir();
command_ok([ 'sh', '-c', 'cd "$0" && exec "$@"', $home, 'pg_upgrade',
		'--old-datadir', $node->data_dir, '--new-datadir', $upgraded->data_dir,
		'--old-bindir', $bindir, '--new-bindir', $bindir,
		'--old-port', $node->port, '--new-port', $upgraded->port, '--socketdir', $node->host ], 'pg_upgrade');
$upgraded->start;
$node = $upgraded;
check_restored('original', 'upgraded');

$node->stop;
done_testing();
