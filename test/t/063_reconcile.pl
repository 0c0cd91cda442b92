# What vectorizers have missed is found by the coordinator: changes of tables while event triggers were off,
# unlogged tables that a crash has emptied, things that belong to no vectorizer. And nobody is held up by that.
use strict;
use warnings FATAL => 'all';
use EngineTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $engine = EngineTest->new('main', conf => q{
ai.poll_interval = '200ms'
ai.heartbeat_interval = '200ms'
ai.restart_limit = 1000
});
my $node = $engine->node;
sub sql { return $engine->sql(@_); }

my $log_position = 0;
sub forget_log { $log_position = -s $node->logfile; return; }
sub logged { my ($pattern, $test) = @_; ok($node->wait_for_log($pattern, $log_position), $test); return; }

# A superuser does something that event triggers do not see.
sub unseen
{
	my (@statements) = @_;
	sql(join ';', 'BEGIN', 'SET LOCAL client_min_messages = error', (map { "ALTER EVENT TRIGGER ai_on_$_ DISABLE" } qw(sql_drop ddl_command_end ddl_command_start)),
		@statements, (map { "ALTER EVENT TRIGGER ai_on_$_ ENABLE ALWAYS" } qw(sql_drop ddl_command_end ddl_command_start)), 'COMMIT');
	return;
}
# The next coordinator looks at once. Otherwise it takes a minute.
sub look { sql(q{SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity WHERE backend_type = 'ai coordinator' AND datname = current_database()}, $_[0]); return; }
sub in_step { my ($test, $database) = @_; ok($engine->poll('SELECT count(*) = 0 FROM ai._vectorizers_out_of_step()', $database), $test); return; }

sql(q{CREATE TABLE part (id int PRIMARY KEY, body text) PARTITION BY RANGE (id);
	CREATE TABLE p0 PARTITION OF part FOR VALUES FROM (0) TO (100);
	CREATE TABLE p1 PARTITION OF part FOR VALUES FROM (100) TO (200);
	CREATE TABLE p2 (id int PRIMARY KEY, body text);
	INSERT INTO part SELECT n, 'text ' || n FROM generate_series(95, 104) n;
	INSERT INTO p2 SELECT n, 'text ' || n FROM generate_series(200, 205) n});
$engine->vectorizer('part', name => 'part');
$engine->table('plain');
$engine->table('renamed');
$engine->table('lost_target');
sql(q{INSERT INTO plain SELECT n, 'text ' || n FROM generate_series(1, 20) n;
	INSERT INTO renamed VALUES (1, 'a'); INSERT INTO lost_target VALUES (1, 'a')});
$engine->is_settled($_, "$_: embedded") foreach qw(part plain renamed);

# -- partitions, triggers and tables

is(sql('SELECT count(*) FROM ai._vectorizers_out_of_step()'), '0', 'all are in step');
unseen('ALTER TABLE part ATTACH PARTITION p2 FOR VALUES FROM (200) TO (300)', 'ALTER TABLE part DETACH PARTITION p1',
	'ALTER TABLE plain DISABLE TRIGGER ALL', q{UPDATE plain SET body = 'new ' || id WHERE id > 10}, 'DELETE FROM plain WHERE id < 4', 'ALTER TABLE plain ENABLE TRIGGER ALL',
	'ALTER TRIGGER _vectorizer_src_trg_3_update ON renamed RENAME TO x', 'DROP TRIGGER x ON renamed',
	'DROP TABLE lost_target_embedding_store CASCADE');
is(sql('SELECT string_agg(v.name, \' \' ORDER BY v.id) FROM ai._vectorizers_out_of_step() o JOIN ai.vectorizer v ON v.id = o'), 'part plain renamed lost_target', 'one query tells who is not');
forget_log();
look();
in_step('the coordinator brings them in step');
logged(qr/vectorizer "part" reconciled with its tables: partition public\.p2 was attached/, 'and says so');
logged(qr/vectorizer "part" reconciled with its tables: table public\.p1 is no partition any more/, 'for each');
logged(qr/vectorizer "plain" reconciled with its tables: its triggers did not always fire/, 'thing');
$engine->is_settled('part', 'attached and detached: in step');
$engine->is_settled('plain', 'triggers off and on: in step');
is(sql(q{SELECT string_agg(DISTINCT tgenabled::text, '') FROM pg_trigger WHERE tgrelid IN ('plain'::regclass, 'p2'::regclass) AND tgname ~ 'vectorizer'}), 'A', 'triggers fire always again');
is(sql(q{SELECT count(*) FROM pg_trigger WHERE tgrelid = 'p1'::regclass AND tgname ~ 'vectorizer'}), '0', 'what was detached has none');
is(sql(q{SELECT name, disabled, (SELECT string_agg(e.message, ' ') FROM ai.vectorizer_errors e WHERE e.id = v.id) FROM ai.vectorizer v WHERE disabled ORDER BY id}),
	"renamed|t|a trigger on its source table was dropped\nlost_target|t|its target table was dropped", 'who lacks something is disabled, with an error');
is(sql(q{SELECT ai.enable_vectorizer_schedule('renamed'); INSERT INTO renamed VALUES (2, 'b')}), '', 'which can be mended');
$engine->is_settled('renamed', 'renamed: in step');

# -- by itself, within a minute; who cannot be looked at does not hold up the others

sql(q{CREATE TABLE p3 (id int PRIMARY KEY, body text); INSERT INTO p3 VALUES (300, 'x')});
sql(q{CREATE TABLE part2 (id int PRIMARY KEY, body text) PARTITION BY RANGE (id)});
$engine->vectorizer('part2', name => 'part2');
sql(q{CREATE TABLE q1 (id int PRIMARY KEY, body text); INSERT INTO q1 VALUES (1, 'x')});
unseen('ALTER TABLE part ATTACH PARTITION p3 FOR VALUES FROM (300) TO (400)', 'ALTER TABLE part2 ATTACH PARTITION q1 FOR VALUES FROM (0) TO (100)');
my $in_the_way = $node->background_psql('postgres', on_error_stop => 0);
$in_the_way->query_safe('BEGIN; LOCK TABLE q1 IN ACCESS EXCLUSIVE MODE');
ok($engine->poll(q{SELECT array_agg(v.name) = '{part2}' FROM ai._vectorizers_out_of_step() o JOIN ai.vectorizer v ON v.id = o}), 'one that is locked is passed over');
$engine->is_settled('part', 'the other one is in step');
$in_the_way->query_safe('COMMIT');
look();
in_step('it comes later');
$engine->is_settled('part2', 'and is in step');
is(sql(q{SELECT count(*) FROM ai.vectorizer_errors WHERE name = 'part2'}), '0', 'a lock is no error');

# -- a source that is gone

sql(q{CREATE TABLE gone (id int PRIMARY KEY, body text)});
$engine->vectorizer('gone', name => 'gone');
sql(q{INSERT INTO gone VALUES (1, 'a')});
$engine->is_settled('gone', 'embedded');
unseen('DROP TABLE gone CASCADE');
look();
in_step('a source that is gone is found');
is(sql(q{SELECT disabled FROM ai.vectorizer WHERE name = 'gone'}), 't', 'and its vectorizer disabled');
is(sql(q{SELECT count(*) FROM ai.health() h, unnest(h.reasons) r WHERE r ~ '1 orphan vectorizer: the source table is gone .vectorizer "gone".: ai.drop_orphans'}), '1', 'health says what to do');
logged(qr/1 orphans \(triggers, tables or restored rows without a vectorizer\), for example vectorizer "gone"/, 'so does the log');
is(sql(q{SELECT * FROM ai.drop_orphans()}), 'vectorizer|vectorizer "gone"', 'ai.drop_orphans drops it');
is(sql(q{SELECT (SELECT count(*) FROM ai.vectorizer WHERE name = 'gone'), to_regclass('gone_embedding_store'), (SELECT count(*) FROM ai._orphans())}), '0||0', 'with all that it had');

# -- unlogged tables, and a crash

sql(q{CREATE UNLOGGED TABLE fleeting (id int PRIMARY KEY, body text);
	CREATE TABLE mixed (id int PRIMARY KEY, body text) PARTITION BY RANGE (id);
	CREATE TABLE m0 PARTITION OF mixed FOR VALUES FROM (0) TO (10);
	CREATE UNLOGGED TABLE m1 PARTITION OF mixed FOR VALUES FROM (10) TO (20)});
$engine->vectorizer($_, name => $_) foreach qw(fleeting mixed);
$engine->table('kept');
sql(q{INSERT INTO fleeting VALUES (1, 'a'), (2, 'b'); INSERT INTO mixed VALUES (1, 'a'), (11, 'b'); INSERT INTO kept VALUES (1, 'a'), (2, 'b')});
$engine->is_settled($_, "$_: embedded") foreach qw(fleeting mixed kept);
sql('ALTER TABLE kept_embedding_store SET UNLOGGED; CHECKPOINT');
is(sql('SELECT (SELECT count(*) FROM fleeting_embedding_store), (SELECT count(*) FROM mixed_embedding_store), (SELECT count(*) FROM kept_embedding_store)'), '2|2|2', 'there is something to lose');
forget_log();
$node->stop('immediate');
$node->start;
is(sql('SELECT (SELECT count(*) FROM fleeting), (SELECT count(*) FROM mixed)'), '0|1', 'a crash empties unlogged tables');
ok($engine->poll('SELECT (SELECT count(*) FROM fleeting_embedding_store) = 0 AND (SELECT count(*) FROM mixed_embedding_store) = 1'), 'chunks of rows that are gone go, too');
ok($engine->poll('SELECT count(*) = 2 FROM kept_embedding_store'), 'embeddings that are gone are made again');
$engine->is_settled($_, "$_: in step after a crash") foreach qw(fleeting mixed kept);
logged(qr/vectorizer "fleeting" reconciled with its tables: unlogged table.*: 2$/m, 'the log says so');

# -- what its owner wrote does not end, and ignores who cancels it: nobody waits for it for long

sql('CREATE ROLE mallory');
sub hold_up
{
	my ($database) = @_;
	sql(q{CREATE SCHEMA m AUTHORIZATION mallory; SET ROLE mallory;
		CREATE UNLOGGED TABLE m.slow (id int PRIMARY KEY, body text);
		CREATE FUNCTION m.endless() RETURNS boolean LANGUAGE plpgsql AS $$
		BEGIN
			WHILE current_setting('application_name') = 'ai reconciler' LOOP
				BEGIN PERFORM pg_sleep(600); EXCEPTION WHEN query_canceled THEN NULL; END;
			END LOOP;
			RETURN true;
		END $$;
		INSERT INTO m.slow VALUES (1, 'a');
		SELECT ai.create_vectorizer('m.slow', name => 'slow', loading => ai.loading_column('body'),
			embedding => ai.embedding_local('m', 3));
		SELECT ai.disable_vectorizer_schedule('slow');
		INSERT INTO m.slow_embedding_store (id, chunk_seq, chunk, embedding) VALUES (1, 0, 'a', '[1,2,3]');
		ALTER TABLE m.slow ENABLE ROW LEVEL SECURITY;
		ALTER TABLE m.slow FORCE ROW LEVEL SECURITY;
		CREATE POLICY p ON m.slow USING (m.endless())}, $database);
	look($database);
	ok($engine->poll(q{SELECT count(*) = 1 FROM pg_stat_activity a JOIN pg_locks l ON l.pid = a.pid AND l.database = (SELECT oid FROM pg_database
		WHERE datname = current_database()) WHERE backend_type = 'ai reconciler' AND l.relation = 'm.slow'::regclass AND l.granted}, $database), 'it is under way');
	return;
}
hold_up('postgres');
EngineTest::takes_less(5, 'who wants the table has it', sub { sql('BEGIN; LOCK TABLE m.slow IN ACCESS EXCLUSIVE MODE; COMMIT') });
sql(q{INSERT INTO plain VALUES (100, 'a')});
$engine->is_settled('plain', 'the others go on');
sql(q{SET client_min_messages = error; DROP SCHEMA m CASCADE});

# -- a schema without its data, and a restore while workers run

sql(q{SELECT ai.pause_vectorizer('plain'); INSERT INTO plain SELECT n, 'queued ' || n FROM generate_series(1000, 1019) n});
my $dumps = PostgreSQL::Test::Utils::tempdir();
$node->command_ok([ 'pg_dump', '--format=custom', '--file', "$dumps/archive", $node->connstr('postgres') ], 'pg_dump');
sql('CREATE DATABASE copy');
my @restore = ('pg_restore', '--exit-on-error', '--dbname', $node->connstr('copy'), "$dumps/archive");
forget_log();
$node->command_ok([ @restore, '--schema-only' ], 'the schema alone');
ok($engine->poll(q{SELECT count(*) > 0 FROM pg_stat_activity WHERE backend_type = 'ai coordinator' AND datname = 'copy'}), 'its database is served');
sql(q{INSERT INTO plain VALUES (1, 'x')}, 'copy');
look('copy');
logged(qr/\d+ orphans \(triggers, tables or restored rows without a vectorizer\), for example /, 'orphans are told in the log');
is(sql(q{SELECT count(*) FROM ai.health() h, unnest(h.reasons) r WHERE NOT h.ok AND r ~ 'orphans of kind (trigger|table)'}, 'copy'), '2', 'and in health');
is(sql(q{SELECT count(*) FROM ai._vectorizer_q_2}, 'copy'), '1', 'nothing is removed by itself');
sql('DROP DATABASE copy');

sql('CREATE DATABASE copy');
$node->command_ok([ @restore, '--section=pre-data' ], 'tables');
$node->command_ok([ @restore, '--section=data', '--schema=ai' ], 'the catalog and the queues, before the rows');
is(sql('SELECT count(*) FROM ai._vectorizer_q_2', 'copy'), '20', 'changes are queued');
sql(q{SELECT ai.resume_vectorizer('plain')}, 'copy');
ok($engine->poll(q{SELECT count(*) = 2 AND min(heartbeat_count) > 10 FROM ai.vectorizer_worker_process p JOIN ai.worker w ON p.id = (w.details ->> 'process')::uuid}, 'copy'), 'workers look around');
is(sql('SELECT count(*) FROM ai._vectorizer_q_2', 'copy'), '20', 'and take nothing of a vectorizer that is being restored');
$node->command_ok([ @restore, '--section=data', '--schema=public' ], 'the rows');
$node->command_ok([ @restore, '--section=post-data' ], 'keys and triggers');
my $copy = $engine->elsewhere(database => 'copy');
$copy->is_settled('plain', 'restored in steps: in step');
is(sql('SELECT count(*) FROM ai.vectorizer WHERE restoring', 'copy'), '0', 'and no more being restored');
hold_up('copy');
EngineTest::takes_less(5, 'DROP EXTENSION', sub { sql('SET client_min_messages = error; DROP EXTENSION ai CASCADE', 'copy') });

$node->stop;
done_testing();
