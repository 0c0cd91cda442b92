# A restore is known by what only a restore does, not by a setting that every session may change: owners
# who set it lose nothing, and restores of all kinds end with vectorizers that notice every change.
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

# Keys in the queue of a vectorizer, which is empty afterwards.
sub queued
{
	my ($database, $id) = @_;
	return sql($database, qq{WITH gone AS (DELETE FROM ai._vectorizer_q_$id RETURNING id)
		SELECT coalesce(string_agg(DISTINCT id::text, ' ' ORDER BY id::text), '') FROM gone});
}
sub restoring { my ($database) = @_; return sql($database, 'SELECT string_agg(name, \' \' ORDER BY id) FROM ai.vectorizer WHERE restoring'); }

$node->safe_psql('postgres', 'CREATE ROLE app; CREATE DATABASE original');
sql('original', q{
	CREATE EXTENSION ai CASCADE;
	CREATE SCHEMA app AUTHORIZATION app;
	SET ROLE app;
	CREATE TABLE app.part (id int PRIMARY KEY, body text) PARTITION BY RANGE (id);
	CREATE TABLE app.p1 PARTITION OF app.part FOR VALUES FROM (0) TO (10);
	CREATE TABLE app.sub PARTITION OF app.part FOR VALUES FROM (10) TO (30) PARTITION BY RANGE (id);
	CREATE TABLE app.p2 PARTITION OF app.sub FOR VALUES FROM (10) TO (20);
	CREATE TABLE app.p3 (id int PRIMARY KEY, body text);
	CREATE TABLE app.plain (id int PRIMARY KEY, body text);
	INSERT INTO app.part VALUES (1, 'a'), (11, 'b');
	INSERT INTO app.p3 VALUES (21, 'c'), (22, 'd');
	INSERT INTO app.plain VALUES (1, 'a'), (2, 'b');
	SELECT ai.create_vectorizer('app.part', name => 'part', loading => ai.loading_column('body'), embedding => ai.embedding_local('m', 3));
	SELECT ai.create_vectorizer('app.plain', name => 'plain', loading => ai.loading_column('body'), embedding => ai.embedding_local('m', 3));
	INSERT INTO app.part_embedding_store (id, chunk_seq, chunk, embedding) VALUES (1, 0, 'a', '[1,2,3]'), (11, 0, 'b', '[1,2,3]');
	INSERT INTO app.plain_embedding_store (id, chunk_seq, chunk, embedding) VALUES (1, 0, 'a', '[1,2,3]'), (2, 0, 'b', '[1,2,3]')});

# -- an owner who sets what pg_dump sets

queued('original', 1);
queued('original', 2);
my $hostile = 'SET client_min_messages = error; SET check_function_bodies = off;';
sub as_owner
{
	my ($statement, $id, $expected, $test) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	sql('original', "SET ROLE app; $hostile $statement");
	is(queued('original', $id), $expected, "check_function_bodies = off: $test");
	return;
}
as_owner('ALTER TABLE app.sub ATTACH PARTITION app.p3 FOR VALUES FROM (20) TO (30)', 1, '21 22', 'rows of an attached partition are queued');
as_owner(q{INSERT INTO app.part_embedding_store (id, chunk_seq, chunk, embedding) SELECT g, 0, 'c', '[1,2,3]' FROM generate_series(21, 22) g;
	TRUNCATE app.p3}, 1, '21 22', 'TRUNCATE of it is noticed');
as_owner('INSERT INTO app.p3 VALUES (21)', 1, '21', 'and an INSERT');
as_owner('ALTER TABLE app.sub DETACH PARTITION app.p3', 1, '21', 'and DETACH');
as_owner('ALTER TABLE app.part DETACH PARTITION app.sub', 1, '11', 'and DETACH of a partition with partitions');
as_owner('ALTER TABLE app.part ATTACH PARTITION app.sub FOR VALUES FROM (10) TO (30)', 1, '11', 'and ATTACH of one');
as_owner(q{ALTER TABLE app.plain DISABLE TRIGGER ALL; UPDATE app.plain SET body = 'new'; ALTER TABLE app.plain ENABLE TRIGGER ALL},
	2, '1 2', 'rows that were changed while triggers were off are queued');
as_owner(q{ALTER TABLE app.plain ENABLE REPLICA TRIGGER _vectorizer_src_trg_2_update; UPDATE app.plain SET body = 'newer'}, 2, '1 2', 'also where they should have fired for replicas only');
as_owner('TRUNCATE app.plain', 2, '1 2', 'TRUNCATE');
as_owner(q{CREATE TABLE app.p4 PARTITION OF app.sub FOR VALUES FROM (20) TO (30); ALTER TABLE app.p4 RENAME TO p5; INSERT INTO app.part VALUES (20, 'x');
	DELETE FROM app.part_embedding_store WHERE id > 11;
	INSERT INTO app.part_embedding_store (id, chunk_seq, chunk, embedding) VALUES (20, 0, 'c', '[1,2,3]')}, 1, '20', 'a partition that is made');
as_owner('ALTER TRIGGER _vectorizer_src_trg_1_truncate ON app.p5 RENAME TO other; ALTER TABLE app.p5 SET (fillfactor = 90); TRUNCATE app.p5',
	1, '20', 'a mark that was renamed');
as_owner('ALTER TABLE app.sub DETACH PARTITION app.p5', 1, '', 'goes with its partition');
is(sql('original', q{SELECT count(*) FROM pg_trigger WHERE tgrelid = 'app.p5'::regclass}), '0', 'and leaves nothing');
sql('original', q{DELETE FROM app.part_embedding_store WHERE id > 11; INSERT INTO app.plain VALUES (1, 'a'), (2, 'b'); ALTER TABLE app.sub ATTACH PARTITION app.p3 FOR VALUES FROM (20) TO (30)});
is(restoring('original'), '', 'no owner can make a vectorizer that is being restored');
is($node->psql('original', 'SET ROLE app; UPDATE ai.vectorizer SET restoring = true'), 3, 'nor say that it is one');
is($node->psql('original', q{SET ROLE app; BEGIN; LOCK TABLE ai._restored_rows IN ACCESS SHARE MODE}), 3, 'nor take the lock of those who restore');
is(sql('original', q{SELECT count(*) FROM pg_proc WHERE prosrc ~ 'advisory' AND pronamespace = 'ai'::regnamespace}), '0', 'which is not an advisory one');

# -- restores

my %state = (
	vectorizers => q{SELECT id, name, source, target, view, queue, work, failed, disabled, created, restoring FROM ai.vectorizer ORDER BY id},
	queues      => q{SELECT 1, id, queued_at FROM ai._vectorizer_q_1 UNION ALL SELECT 2, id, queued_at FROM ai._vectorizer_q_2 ORDER BY 1, 2, 3},
	errors      => q{SELECT e.* FROM ai._vectorizer_errors e ORDER BY id, slot},
	triggers    => q{SELECT tgrelid::regclass, tgname, tgenabled, tgparentid = 0 FROM pg_trigger WHERE tgfoid IN (SELECT oid FROM pg_proc
	                 WHERE pronamespace = 'ai'::regnamespace) AND NOT tgrelid::regclass::text LIKE 'ai.%' ORDER BY tgrelid::regclass::text, tgname},
	aside       => q{SELECT count(*) FROM ai._restored_rows},
	orphans      => q{SELECT count(*) FROM ai._orphans()},
	missed      => q{SELECT count(*) FROM ai._vectorizers_out_of_step()});
sql('original', q{INSERT INTO ai._vectorizer_errors (id, message) SELECT 1 + n % 2, n FROM generate_series(1, 2101) n;
	DELETE FROM ai._vectorizer_errors WHERE message LIKE '%7';
	INSERT INTO ai._vectorizer_errors (id, message) VALUES (1, 'the last one')});
my %original = map { $_ => sql('original', $state{$_}) } keys %state;

# What the coordinator does, which is not there: with several jobs a restore may end without its being seen.
sub reconcile
{
	my ($database) = @_;
	foreach (1 .. 10)
	{
		return if sql($database, 'SELECT count(ai._vectorizer_reconcile_step(id)) FROM ai._vectorizers_out_of_step() id') eq '0';
	}
	die 'it does not come to an end';
}

# All is there, and every change is noticed.
sub is_restored
{
	my ($database, $how, %but) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	is(sql($database, $state{$_}), $original{$_}, "$how: $_") foreach grep { !$but{$_} } sort keys %state;
	queued($database, $_) foreach 1 .. 2;
	sql($database, q{INSERT INTO ai._vectorizer_errors (id, message) VALUES (1, 'one more')});
	is(sql($database, q{SELECT count(*) = count(DISTINCT slot), max(number) FILTER (WHERE message = 'one more') = max(number) FROM ai._vectorizer_errors WHERE id = 1}),
		't|t', "$how: errors go on in their ring");
	sql($database, q{SET ROLE app; SET client_min_messages = error; UPDATE app.plain SET body = 'other' WHERE id = 2; INSERT INTO app.part VALUES (3, 'c')});
	is(queued($database, 1) . '|' . queued($database, 2), '3|2', "$how: changes are queued");
	sql($database, q{SET ROLE app; TRUNCATE app.p2});
	is(queued($database, 1), '11', "$how: TRUNCATE of a partition");
	sql($database, q{CREATE TABLE app.p9 (id int PRIMARY KEY, body text); INSERT INTO app.p9 VALUES (91, 'z');
		ALTER TABLE app.part ATTACH PARTITION app.p9 FOR VALUES FROM (90) TO (100); ALTER TABLE app.sub DETACH PARTITION app.p3});
	is(queued($database, 1), '21 91', "$how: ATTACH and DETACH");
	return;
}
sub database { my ($name) = @_; sql('postgres', "CREATE DATABASE $name"); return ('--dbname', $node->connstr($name)); }

$node->command_ok([ 'pg_dump', '--format=custom', '--file', "$dumps/archive", $node->connstr('original') ], 'pg_dump');
$node->command_ok([ 'pg_dump', '--clean', '--if-exists', '--file', "$dumps/plain.sql", $node->connstr('original') ], 'pg_dump to a script');

# Sessions that leave the setting as it is.
my @target = database('script');
my $script = slurp_file("$dumps/plain.sql");
like($script, qr/^SET check_function_bodies = false;/m, 'pg_dump has its mark');
append_to_file("$dumps/unmarked.sql", $script =~ s/^SET check_function_bodies = false;//mr);
$node->command_ok([ 'psql', '--no-psqlrc', '--quiet', '--set=ON_ERROR_STOP=1', '--file', "$dumps/unmarked.sql", @target ], 'a script without it');
is_restored('script', 'script');

@target = database('single');
$node->command_ok([ 'pg_restore', '--exit-on-error', '--single-transaction', @target, "$dumps/archive" ], 'one transaction');
is_restored('single', 'one transaction');

foreach my $jobs (2, 4)
{
	@target = database("jobs$jobs");
	$node->command_ok([ 'pg_restore', '--exit-on-error', "--jobs=$jobs", @target, "$dumps/archive" ], "$jobs jobs");
	is(sql("jobs$jobs", q{SELECT count(*) FROM ai.vectorizer_status WHERE state_reason ~ 'restore'}), '0', "$jobs jobs: nobody is told of a restore");
	# A first command is not taken for a part of it.
	sql("jobs$jobs", q{CREATE TABLE app.p8 (id int PRIMARY KEY, body text); INSERT INTO app.p8 VALUES (81, 'z')});
	sql("jobs$jobs", q{ALTER TABLE app.part ATTACH PARTITION app.p8 FOR VALUES FROM (80) TO (90)});
	is(sql("jobs$jobs", q{SELECT count(*) FROM ai._vectorizer_q_1 WHERE id = 81}), '1', "$jobs jobs: ATTACH at once");
	sql("jobs$jobs", q{SET client_min_messages = error; DROP TABLE app.p8; DELETE FROM ai._vectorizer_q_1 WHERE id = 81});
	reconcile("jobs$jobs");
	is_restored("jobs$jobs", "$jobs jobs");
}

# In sections: between them the vectorizers are being restored, and what comes belongs to that.
@target = database('sections');
foreach my $section (qw(pre-data data))
{
	$node->command_ok([ 'pg_restore', '--exit-on-error', "--section=$section", @target, "$dumps/archive" ], "section $section");
	is(sql('sections', q{SELECT string_agg(kind, ' ' ORDER BY kind) FROM ai._orphans()}), 'table table table table table table', 'queues without vectorizers')
	  if $section eq 'pre-data';
}
is(restoring('sections'), 'part plain', 'sections: known as being restored');
is(sql('sections', 'SELECT count(*) FROM ai._orphans()'), '0', 'sections: nothing is a orphan now');
is(sql('sections', q{SELECT count(*) FROM ai.vectorizer WHERE NOT restoring}), '0', 'sections: nothing is taken from the queues before all is there');
is(sql('sections', q{SELECT state, state_reason ~ 'restore' FROM ai.vectorizer_status WHERE name = 'part'}), 'waiting|t', 'sections: which shows');
is(sql('sections', q{SELECT count(*) FROM ai.health() h, unnest(h.reasons) r WHERE r ~ 'vectorizer "(part|plain)": waits for the rest of its restore'}), '2', 'sections: also in health');
is(sql('sections', q{SELECT count(*) FROM ai._vectorizers_out_of_step()}), '0', 'sections: nobody interferes');
$node->command_ok([ 'pg_restore', '--exit-on-error', '--section=post-data', @target, "$dumps/archive" ], 'section post-data');
is_restored('sections', 'sections');

# A restore that ends too early: its owner says so.
@target = database('early');
$node->command_ok([ 'pg_restore', '--exit-on-error', "--section=$_", @target, "$dumps/archive" ], "early: $_") foreach qw(pre-data data);
sql('early', q{ALTER TABLE app.part ADD PRIMARY KEY (id); ALTER TABLE app.plain ADD PRIMARY KEY (id)});
is(restoring('early'), 'part plain', 'early: a key alone does not end it');
sql('early', q{SET ROLE app; SET client_min_messages = error; SELECT ai.enable_vectorizer_schedule('part'), ai.enable_vectorizer_schedule('plain')});
is(restoring('early') . sql('early', $state{missed}), '0', 'early: ai.enable_vectorizer_schedule does');
is(sql('early', $state{triggers}), $original{triggers}, 'early: with all triggers');
is(queued('early', 1) . '|' . queued('early', 2), '1 11 21|1 2', 'early: all rows are queued');

# The schema alone: reported, kept for the data, which may come later.
@target = database('schema_only');
$node->command_ok([ 'pg_restore', '--exit-on-error', '--schema-only', @target, "$dumps/archive" ], 'the schema alone');
sql('schema_only', q{SET ROLE app; INSERT INTO app.plain VALUES (8, 'x')});
is(sql('schema_only', q{SELECT kind, count(*) FROM ai._orphans() GROUP BY 1 ORDER BY 1}), "table|6\ntrigger|11", 'schema: all that is there without vectorizers');
is(sql('schema_only', q{SELECT ok, count(r) FROM ai.health() h, unnest(h.reasons) r WHERE r ~ 'ai.drop_orphans' GROUP BY 1}), 'f|2', 'schema: health says what to do');
is(sql('schema_only', q{SET ROLE app; SELECT value, advice ~ 'ai.drop_orphans' FROM ai.status() WHERE item = 'orphans'}), '17|t', 'schema: so does status');
sql('schema_only', q{DELETE FROM app.plain; DELETE FROM ai._vectorizer_q_2});
$node->command_ok([ 'pg_restore', '--exit-on-error', '--data-only', @target, "$dumps/archive" ], 'then the data');
is_restored('schema_only', 'data later', queues => 1);

@target = database('schema_dropped');
$node->command_ok([ 'pg_restore', '--exit-on-error', '--schema-only', @target, "$dumps/archive" ], 'the schema once more');
is($node->psql('schema_dropped', 'SET ROLE app; SELECT ai.drop_orphans()'), 3, 'not everybody may drop orphans');
is(sql('schema_dropped', q{SELECT kind, count(*) FROM ai.drop_orphans() GROUP BY 1 ORDER BY 1}), "table|6\ntrigger|11", 'a superuser may');
is(sql('schema_dropped', q{SELECT count(*) FROM ai._orphans()}), '0', 'none is left');
is(sql('schema_dropped', q{SELECT count(*) FROM pg_trigger WHERE tgname ~ '_vectorizer_src_trg'}), '0', 'no trigger');
is(sql('schema_dropped', q{SELECT value, advice IS NULL FROM ai.status() WHERE item = 'orphans'}), '0|t', 'status says so');

# The schema, then the data with triggers off, which are on afterwards but not for replicas: what they did not
# see is queued, by whoever finds it.
@target = database('triggers_off');
$node->command_ok([ 'pg_restore', '--exit-on-error', '--schema-only', @target, "$dumps/archive" ], 'the schema');
$node->command_ok([ 'pg_restore', '--exit-on-error', '--data-only', '--disable-triggers', @target, "$dumps/archive" ], 'the data without triggers');
reconcile('triggers_off');
is(sql('triggers_off', $state{triggers}), $original{triggers}, 'triggers off: they are always on again');
is(queued('triggers_off', 1) . '|' . queued('triggers_off', 2), '1 11 21|1 2', 'triggers off: all rows are queued');

# Over what is there already. (PostgreSQL itself cannot do that with the key of a partitioned table.)
sql('script', 'SET client_min_messages = error; DROP TABLE app.part CASCADE');
$node->command_ok([ 'pg_dump', '--format=custom', '--file', "$dumps/small", $node->connstr('script') ], 'a dump without partitions');
$node->command_ok([ 'pg_restore', '--clean', '--if-exists', '--exit-on-error', '--dbname', $node->connstr('script'), "$dumps/small" ], '--clean');
is(restoring('script') . sql('script', $state{missed}) . sql('script', $state{orphans}), '00', 'clean: all is there');
queued('script', 2);
sql('script', q{UPDATE app.plain SET body = 'clean'});
is(queued('script', 2), '1 2', 'clean: changes are queued');

# Rows without their vectorizer.
sql('original', q{COPY (SELECT 77, 'x', NULL, '2020-01-01', 1, 1) TO '} . "$dumps/errors'");
sql('original', q{COPY ai._vectorizer_errors FROM '} . "$dumps/errors'");
is(sql('original', q{SELECT kind, object FROM ai._orphans()}), 'restored rows|1 row of ai._vectorizer_errors for vectorizer 77', 'rows that wait for a vectorizer are known');
is(sql('original', q{SELECT r ~ 'restored without their vectorizers' FROM ai.health() h, unnest(h.reasons) r WHERE r ~ 'orphan'}), 't', 'health tells');
is(sql('original', 'SELECT kind FROM ai.drop_orphans()') . sql('original', $state{aside}), 'restored rows0', 'and they can be dropped');
is($node->psql('original', q{INSERT INTO ai._vectorizer_errors (id, message) VALUES (77, 'x')}), 3, 'an error of today needs its vectorizer');

$node->stop;
done_testing();
