# What users do to tables, triggers and workers: one bad row, table or vectorizer is no trouble to the
# others, and what is no harm is taken for none.
use strict;
use warnings FATAL => 'all';
use EngineTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $engine = EngineTest->new('main');
my ($node, $mock) = ($engine->node, $engine->mock);
sub sql { return $engine->sql(@_); }
sub errors { my ($name) = @_; return sql("SELECT string_agg(message, ',') FROM ai.vectorizer_errors WHERE name = '$name'"); }
sub has_workers { my ($count) = @_; return $engine->poll("SELECT count(*) = $count FROM pg_stat_activity WHERE backend_type = 'ai worker' AND query <> ''"); }

# -- rows that a trigger refuses, with whatever code

sql(q{CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
	IF NEW.chunk LIKE 'bad %' THEN RAISE EXCEPTION 'not this one' USING ERRCODE = split_part(NEW.chunk, ' ', 2); END IF;
	RETURN NEW; END $$});
$engine->table('refused', processing => 'ai.processing_default(max_attempts => 2)');
sql(q{CREATE TRIGGER refuse BEFORE INSERT OR UPDATE ON refused_embedding_store FOR EACH ROW EXECUTE FUNCTION refuse()});
my @codes = qw(P0001 AB123 45000 21000 22012 23514 38000 P0003 42P01 42501 0A000 55000 3F000);
my $rows = join ', ', map { "(1000 + $_, 'bad $codes[$_]')" } 0 .. $#codes;
sql("INSERT INTO refused SELECT n, 'good ' || n FROM generate_series(1, 100) n; INSERT INTO refused VALUES $rows");
$engine->is_settled('refused', 'rows that a trigger refuses', failed => scalar(@codes), where => 's.id < 1000');
is(sql(q{SELECT string_agg(DISTINCT last_error, ',') FROM ai.jobs('refused')}), 'not this one', 'have the error of the trigger');

# One that comes alone, before all others, does not hold these up.
$engine->table('single', processing => 'ai.processing_default(batch_size => 1, concurrency => 1, max_attempts => 2)');
sql(q{CREATE TRIGGER refuse BEFORE INSERT OR UPDATE ON single_embedding_store FOR EACH ROW EXECUTE FUNCTION refuse();
	INSERT INTO single VALUES (0, 'bad 42P01'); INSERT INTO single SELECT n, 'good ' || n FROM generate_series(1, 20) n});
$engine->is_settled('single', 'a row that a trigger refuses, alone in its request', failed => 1, where => 's.id > 0');

# -- a trigger that refuses every row is the table's fault

sql(q{CREATE SEQUENCE refusals;
	CREATE FUNCTION refuse_all() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
	PERFORM nextval('public.refusals'); PERFORM * FROM no_such_table; RETURN NEW; END $$});
$engine->table('closed');
sql(q{CREATE TRIGGER refuse BEFORE INSERT OR UPDATE ON closed_embedding_store FOR EACH ROW EXECUTE FUNCTION refuse_all();
	INSERT INTO closed SELECT n, 'closed ' || n FROM generate_series(1, 50) n});
ok($engine->poll(q{SELECT last_value > 250 FROM refusals}), 'a trigger that refuses every row, time and again');
is(errors('closed'), 'relation "no_such_table" does not exist', 'is told once');
is(sql(q{SELECT max(attempts) FROM ai.jobs('closed')}), '0', 'and charged to no row');
sql(q{DROP TRIGGER refuse ON closed_embedding_store});
$engine->is_settled('closed', 'all are stored when it is gone');

# Rows without a text are done with whatever the table is like: they say nothing of it.
$engine->set('ai.workers' => 1);
has_workers(1);
$engine->table('blank');
sql(q{CREATE TRIGGER refuse BEFORE INSERT OR UPDATE ON blank_embedding_store FOR EACH ROW EXECUTE FUNCTION refuse_all()});
$mock->rules({ text => 'blank', hang => 'before' });
sql(q{INSERT INTO blank SELECT n, CASE WHEN n <= 10 THEN 'blank ' || n ELSE '' END FROM generate_series(1, 20) n});
$mock->wait_for(hanging => 1) or die;
$mock->rules;
$mock->release;
ok($engine->poll(q{SELECT count(*) = 10 FROM ai.jobs('blank') WHERE status <> 'running'}), 'rows without a text are done with');
is(sql(q{SELECT max(attempts) FROM ai.jobs('blank')}), '0', 'and the others are charged nothing for a broken trigger');
sql(q{DROP TRIGGER refuse ON blank_embedding_store});
$engine->is_settled('blank', 'they are stored when it is gone');
$engine->set('ai.workers' => 2);
has_workers(2);

# -- constraints that users add to a target

$engine->table('bound', processing => 'ai.processing_default(max_attempts => 2)');
sql(q{ALTER TABLE bound_embedding_store ADD UNIQUE (chunk), ADD FOREIGN KEY (id) REFERENCES bound ON DELETE CASCADE;
	INSERT INTO bound SELECT n, 'text ' || n FROM generate_series(1, 50) n});
$engine->is_settled('bound', 'a unique index and a foreign key');
$mock->rules({ text => 'slow', hang => 'before' });
sql(q{INSERT INTO bound SELECT n, 'slow ' || n FROM generate_series(101, 150) n});
$mock->wait_for(hanging => 1) or die;
sql(q{DELETE FROM bound WHERE id IN (1, 2, 110, 120)});
$mock->rules;
$mock->release;
$engine->is_settled('bound', 'rows that are deleted while the request is under way');
sql(q{INSERT INTO bound VALUES (200, 'text 7')});
$engine->is_settled('bound', 'a text that the target has already', failed => 1, where => 's.id <> 200');
is(sql(q{SELECT last_error FROM ai.jobs('bound')}), 'duplicate key value violates unique constraint "bound_embedding_store_chunk_key"', 'is refused with the reason');

# -- names that change are followed, and are no errors

$engine->table('named');
sql(q{INSERT INTO named SELECT n, 'text ' || n FROM generate_series(1, 50) n});
$engine->is_settled('named', 'before names change');
my %rename = (
	'1 the source' => 'ALTER TABLE named RENAME TO renamed',
	'2 a column'   => 'ALTER TABLE renamed RENAME COLUMN body TO words',
	'3 the target' => 'ALTER TABLE named_embedding_store RENAME TO store',
	'4 the schema' => 'CREATE SCHEMA place; ALTER TABLE renamed SET SCHEMA place',
	'5 the queue'  => 'ALTER TABLE ai._vectorizer_q_work_' . $engine->id('named') . ' RENAME TO work_of_named');
foreach my $what (sort keys %rename)
{
	$mock->rules({ text => 'slow', hang => 'before' });
	my ($table, $column) = $what lt '2' ? qw(named body) : $what lt '3' ? qw(renamed body) : $what lt '5' ? qw(renamed words) : qw(place.renamed words);
	sql("UPDATE $table SET $column = 'slow ' || id || ' $what' WHERE id <= 20");
	$mock->wait_for(hanging => 1) or die;
	sql($rename{$what});
	$mock->rules;
	$mock->release;
	$engine->is_settled('named', "$what has another name");
	is(errors('named'), '', "$what: no error");
}

# -- a configuration that cannot be read

$engine->table('sound');
my @workers = sort $engine->workers;
foreach my $setting (qw(priority max_attempts batch_size))
{
	$engine->table('misread');
	sql(qq{UPDATE ai.vectorizer SET config = jsonb_set(config, '{processing,$setting}', '"high"') WHERE name = 'misread';
		INSERT INTO misread VALUES (1, 'misread')});
	ok($engine->poll(q{SELECT count(*) > 0 FROM ai.vectorizer_errors WHERE name = 'misread'}), "$setting: an error");
	sql(q{INSERT INTO sound SELECT coalesce(max(id), 0) + 1, 'sound' FROM sound});
	$engine->is_settled('sound', "$setting: others go on");
	is(sql(q{SELECT count(*) FROM ai.vectorizer_errors WHERE name = 'misread'}), '1', "$setting: said once");
	sql(q{SELECT ai.drop_vectorizer('misread', drop_all => true); DROP TABLE misread});
}
is(join(' ', sort $engine->workers), "@workers", 'the workers are the same');

# -- a statement that somebody cancels, or whose worker somebody ends

$engine->table('cancelled');
sql(q{CREATE TABLE slow (); CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
	IF EXISTS (SELECT FROM public.slow) THEN PERFORM pg_sleep(3600); END IF; RETURN NEW; END $$;
	CREATE TRIGGER wait BEFORE INSERT ON cancelled_embedding_store FOR EACH ROW EXECUTE FUNCTION wait()});
my $sleeping = q{FROM pg_stat_activity WHERE backend_type = 'ai worker' AND wait_event = 'PgSleep'};
my $position = -s $node->logfile;
foreach my $how (qw(pg_cancel_backend pg_terminate_backend))
{
	sql(q{INSERT INTO slow DEFAULT VALUES; INSERT INTO cancelled SELECT n, 'text ' || n
		FROM generate_series((SELECT count(*) + 1 FROM cancelled), (SELECT count(*) + 2 FROM cancelled)) n});
	ok($engine->poll("SELECT count(*) > 0 $sleeping"), "$how: a worker in a long statement");
	sql("DELETE FROM slow; SELECT $how(pid) $sleeping");
	$engine->is_settled('cancelled', "$how: the rows are written by others");
	ok(has_workers(2), "$how: there are as many workers");
}
$node->wait_for_log(qr/LOG:  ai: worker exits because its statement was canceled; its rows are released and it will be restarted/, $position);
unlike(slurp_file($node->logfile, $position), qr/has crashed|is gone/, 'neither is taken for a crash, and rows are released in order');

# -- rows that were taken from a process, and places that came to other rows

$engine->set('ai.workers' => 1);
has_workers(1) or die;
my $work = 'ai._vectorizer_q_work_' . $engine->table('lost', processing => 'ai.processing_default(batch_size => 10)');
$mock->rules({ text => 'first', hang => 'before' });
sql(q{INSERT INTO lost SELECT n, 'first ' || n FROM generate_series(1, 10) n});
$mock->wait_for(hanging => 1) or die;
sql("UPDATE $work SET lease = NULL, retry_at = now() + interval '1 day'");
ok($engine->poll("SELECT count(*) = 10 FROM $work WHERE lease IS NULL"), 'rows are taken from a worker');
$engine->poll("SELECT count(*) = 0 FROM pg_stat_activity WHERE backend_xmin IS NOT NULL AND pid <> pg_backend_pid()") or die;
sql("VACUUM $work");
$mock->rules({ text => 'second', latency_ms => 3000 });
sql(q{INSERT INTO lost SELECT n, 'second ' || n FROM generate_series(101, 110) n});
ok($engine->poll("SELECT count(*) > 0 FROM $work WHERE ctid <= '(0,10)' AND id > 100 AND lease IS NOT NULL"), 'it takes others, at the same places');
$mock->release;
ok($engine->poll('SELECT count(*) = 10 FROM lost_embedding_store WHERE id > 100'), 'which are written');
sql("UPDATE $work SET retry_at = now() WHERE lease IS NULL; SELECT ai._vectorizer_notify()");
$engine->is_settled('lost', 'each with its own text');

unlike(slurp_file($node->logfile), qr/PANIC:|TRAP:|terminated by signal/, 'no process crashed');
$node->stop;
done_testing();
