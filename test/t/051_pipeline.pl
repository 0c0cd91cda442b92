# What workers make of changes: which chunks, which vectors, in which order, with whose rights.
use strict;
use warnings FATAL => 'all';
use EngineTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $engine = EngineTest->new('main', conf => 'ai.workers = 2');
my ($node, $mock) = ($engine->node, $engine->mock);
sub sql { return $engine->sql(@_); }

# What a change sends, once all is settled: texts and requests.
sub sends
{
	my ($name, $change, $items, $test, %options) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	my $before = $mock->stats;
	sql($change);
	$engine->is_settled($name, $test, %options);
	my $after = $mock->stats;
	is($after->{items} - $before->{items}, $items, "$test: $items texts are sent");
	return $after->{requests} - $before->{requests};
}

# So many requests are under way at a time, and never more.
sub keeps_under_way
{
	my ($name, $rows, $most, $test) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	$mock->reset;
	$mock->rules({ hang => 'before' });
	sql("INSERT INTO $name SELECT n, '$name ' || n FROM generate_series(1, $rows) n");
	ok($mock->wait_for(hanging => $most), "$test: $most requests are under way");
	$mock->rules({ latency_ms => 5 });
	$mock->release;
	$engine->is_settled($name, "$test: all are written");
	is(join(' ', @{ $mock->stats }{qw(most_in_flight items)}), "$most $rows", "$test: never more");
	return;
}

# Lets it be so many workers.
sub workers
{
	my ($count) = @_;
	$engine->set('ai.workers' => $count);
	$engine->poll("SELECT count(*) = $count FROM pg_stat_activity WHERE backend_type = 'ai worker' AND query <> ''") or die;
	return;
}

# -- one row, one chunk

$engine->table('plain');
sends('plain', q{INSERT INTO plain SELECT n, 'text ' || n FROM generate_series(1, 500) n}, 500, 'inserted');
sends('plain', q{UPDATE plain SET body = 'new ' || id WHERE id <= 100}, 100, 'updated');
sends('plain', q{UPDATE plain SET body = body}, 0, 'not changed');
sends('plain', q{DELETE FROM plain WHERE id > 400}, 0, 'deleted');
sends('plain', q{UPDATE plain SET id = id + 1000 WHERE id <= 10}, 10, 'key changed');
sends('plain', q{UPDATE plain SET id = 3001 - id WHERE id > 1000}, 10, 'keys changed again');
sends('plain', q{UPDATE plain SET body = NULL WHERE id = 20; UPDATE plain SET body = '' WHERE id = 21;
	UPDATE plain SET body = E' \n\t' WHERE id = 22; INSERT INTO plain VALUES (5000, NULL), (5001, ''), (5002, 'ü € 😀')}, 1, 'null and empty');
sends('plain', q{TRUNCATE plain}, 0, 'truncated');
sends('plain', q{BEGIN; INSERT INTO plain VALUES (1, 'a'); TRUNCATE plain; INSERT INTO plain VALUES (2, 'b'); COMMIT}, 1,
	'truncated and filled at once');
sends('plain', q{BEGIN; INSERT INTO plain VALUES (9, 'a'); ROLLBACK}, 0, 'rolled back');

# -- counters

$engine->counted or die;
is( sql(q{SELECT rows > 1000, sent_chunks, requests > 0, input_tokens > 0 FROM ai.usage u
	JOIN ai.vectorizer v ON v.id = u.vectorizer_id WHERE v.name = 'plain' AND model = 'mock-8' AND day = current_date}),
	't|622|t|t', 'usage counts what was sent');

# -- several chunks

$engine->table('chunked', chunking => q{ai.chunking_character_text_splitter(chunk_size => 10, chunk_overlap => 0, separator => ' ')});
my $hundred = q{(SELECT string_agg('word' || lpad(n::text, 4, '0'), ' ' ORDER BY n) FROM generate_series(1, 100) n)};
sends('chunked', "INSERT INTO chunked SELECT 1, $hundred", 100, 'a hundred chunks');
sends('chunked', q{UPDATE chunked SET body = replace(body, 'word0050', 'other050')}, 1, 'one chunk of a hundred changed');
sends('chunked', q{UPDATE chunked SET body = 'first000 ' || body}, 1, 'chunks that moved are known');
sends('chunked', q{UPDATE chunked SET body = substr(body, 1, 90)}, 0, 'fewer chunks');
sends('chunked', q{UPDATE chunked SET body = ''}, 0, 'no chunks');
$engine->counted or die;
cmp_ok(sql(q{SELECT sum(reused_chunks) FROM ai.usage u JOIN ai.vectorizer v ON v.id = u.vectorizer_id WHERE v.name = 'chunked'}),
	'>=', 99 + 100 + 10, 'reused chunks are counted');
sends('chunked', q{UPDATE chunked SET body = 'aaaa bbbbbbbb'; INSERT INTO chunked VALUES (2, 'aaaa cccccccc')}, 4, 'texts of other rows');

$engine->table('reused', processing => q{ai.processing_default(reuse => true)});
is(sql(q{SELECT count(*) FROM pg_indexes WHERE tablename = 'reused_embedding_store' AND indexdef ~ 'btree \(content_hash\)'}), '1',
	'texts are found again by an index');
sends('reused', q{INSERT INTO reused VALUES (1, 'the same')}, 1, 'a text');
sends('reused', q{INSERT INTO reused SELECT n, 'the same' FROM generate_series(2, 50) n}, 0, 'the same text in other rows');

# -- template

sql(q{CREATE TABLE templated (id int PRIMARY KEY, "Title" text, body text, other int)});
$engine->vectorizer('templated', name => 'templated', formatting => q{ai.formatting_python_template('$Title: $chunk')});
my %template = (text => q{coalesce(s."Title", '') || ': ' || c.chunk});
sends('templated', q{INSERT INTO templated VALUES (1, 'T', 'a', 1), (2, 'U', 'b', 2)}, 2, 'template', %template);
sends('templated', q{UPDATE templated SET "Title" = 'V' WHERE id = 1}, 1, 'a column of the template changed', %template);
sends('templated', q{UPDATE templated SET other = 5}, 0, 'another column changed', %template);

# -- column destination

sql(q{CREATE TABLE col (id int PRIMARY KEY, body text)});
$engine->vectorizer('col', name => 'col', destination => q{ai.destination_column('embedding')}, chunking => 'ai.chunking_none()');
sends('col', q{INSERT INTO col SELECT n, 'text ' || n FROM generate_series(1, 100) n}, 100, 'column: inserted');
sends('col', q{UPDATE col SET body = 'new' WHERE id <= 3}, 3, 'column: updated');
sends('col', q{UPDATE col SET body = NULL WHERE id <= 2}, 0, 'column: nulls');
sends('col', q{DELETE FROM col WHERE id > 50; UPDATE col SET id = -id WHERE id = 9}, 1, 'column: deleted, key changed');

# -- two vectorizers on a table

$engine->vectorizer('plain', name => 'second', destination => q{ai.destination_table('second')},
	chunking => q{ai.chunking_character_text_splitter(chunk_size => 5, chunk_overlap => 0, separator => ' ')});
sql(q{INSERT INTO plain SELECT n, 'one two three' FROM generate_series(10, 30) n});
$engine->is_settled('plain', 'two vectorizers: one');
$engine->is_settled('second', 'two vectorizers: the other');

# -- keys

my %keys = (
	composite => ['a int, "B" uuid, c text, PRIMARY KEY (c, a, "B")', q{n, gen_random_uuid(), 'k' || n}, 'a = a + 1000'],
	array_key => ['a text[] PRIMARY KEY', q{ARRAY['x', NULL, n::text]}, q{a = a || 'more'::text}],
	'"Mixed Case"' => ['"The Key" uuid PRIMARY KEY', 'gen_random_uuid()', '"The Key" = gen_random_uuid()'],
	our_names => ['chunk int, embedding int, chunk_seq int, PRIMARY KEY (chunk, embedding, chunk_seq)', 'n, n, n', 'chunk = -chunk'],
	stamp => ['a timestamptz, b numeric, PRIMARY KEY (a, b)', q{now() + n * interval '1 us', n / 7.0}, 'b = b + 1']);
foreach my $table (sort keys %keys)
{
	my ($definition, $values, $change) = @{ $keys{$table} };
	my $columns = $definition =~ /^(.*), PRIMARY KEY \(/ ? $definition =~ s/, PRIMARY KEY \(/, body text, PRIMARY KEY (/r : "$definition, body text";
	sql("CREATE TABLE $table ($columns)");
	$engine->vectorizer($table, name => 'keys of ' . $table =~ tr/"//dr);
	my $names = join ', ', map { (split / (?=[a-z\[\]]+$)/)[0] } map { s/ PRIMARY KEY.*//r } grep { !/^PRIMARY|^\w+\)$|^"B"\)$/ } split /, /, $definition =~ s/, PRIMARY KEY \(.*//r;
	sql("INSERT INTO $table ($names, body) SELECT $values, 'text ' || n FROM generate_series(1, 20) n");
	$engine->is_settled('keys of ' . $table =~ tr/"//dr, "$table: inserted");
	sql("UPDATE $table SET $change; UPDATE $table SET body = body || '!'; DELETE FROM $table WHERE body LIKE '%7!'");
	$engine->is_settled('keys of ' . $table =~ tr/"//dr, "$table: changed");
}

# -- partitions

sql(q{CREATE TABLE parted (id int, region text, body text, PRIMARY KEY (id, region)) PARTITION BY LIST (region);
	CREATE TABLE parted_a PARTITION OF parted FOR VALUES IN ('a');
	CREATE TABLE parted_b PARTITION OF parted FOR VALUES IN ('b')});
$engine->vectorizer('parted', name => 'parted');
sends('parted', q{INSERT INTO parted SELECT n, CASE n % 2 WHEN 0 THEN 'a' ELSE 'b' END, 'p ' || n FROM generate_series(1, 40) n;
	INSERT INTO parted_a VALUES (100, 'a', 'direct')}, 41, 'partitions');
sends('parted', q{UPDATE parted SET region = 'b' WHERE id = 100}, 1, 'a row moved to another partition');
sends('parted', q{TRUNCATE parted_a}, 0, 'a partition truncated');

# -- a target that its owner has changed

sql(q{ALTER TABLE plain_embedding_store ADD COLUMN note text DEFAULT 'mine', ADD COLUMN at timestamptz DEFAULT clock_timestamp();
	CREATE INDEX mine ON plain_embedding_store (note);
	CREATE INDEX near ON plain_embedding_store USING hnsw (embedding vector_cosine_ops);
	UPDATE plain_embedding_store SET note = 'kept'});
sends('plain', q{INSERT INTO plain VALUES (7000, 'added'); UPDATE plain SET body = 'changed' WHERE id = 10}, 4, 'columns and indexes of others');
is(sql(q{SELECT string_agg(DISTINCT note, ',') FROM plain_embedding_store WHERE id IN (10, 7000)}), 'kept,mine', 'are kept');
sql('DROP INDEX near; DROP VIEW plain_embedding; ALTER TABLE plain_embedding_store ALTER COLUMN embedding TYPE halfvec(8)');
sends('plain', q{UPDATE plain SET body = 'half ' || id WHERE id IN (10, 11)}, 2 + 2 * 2, 'halfvec');
sends('chunked', q{UPDATE chunked SET body = 'aaaa dddddddd' WHERE id = 1}, 1, 'a chunk of two');
sql('DROP VIEW chunked_embedding; ALTER TABLE chunked_embedding_store ALTER COLUMN embedding TYPE halfvec(8)');
sends('chunked', q{UPDATE chunked SET body = 'eeeeeeee aaaa dddddddd' WHERE id = 1}, 1, 'known chunks of halfvec');

# -- how much at a time

$engine->table('shared', processing => 'ai.processing_default(batch_size => 1, concurrency => 3)');
keeps_under_way('shared', 90, 3, 'the concurrency of two workers');
$mock->rules({ text => 'held', hang => 'before' });
sql(q{INSERT INTO shared SELECT n, 'held ' || n FROM generate_series(101, 109) n});
$mock->wait_for(hanging => 3) or die;
my $aborted = $mock->stats->{aborted};
workers(0);
$mock->wait_for(aborted => $aborted + 3, hanging_at_most => 0) or die;
workers(2);
ok($mock->wait_for(hanging => 3), 'workers that come after others have all of it again');
is($mock->stats->{most_in_flight}, 3, 'and no more');
$mock->rules;
$mock->release;
$engine->is_settled('shared', 'all are written');
$engine->table('single', processing => 'ai.processing_default(batch_size => 10, concurrency => 1)');
$mock->reset;
$mock->rules({ text => 'bad', status => 400, latency_ms => 20 }, { latency_ms => 20 });
sql(q{INSERT INTO single SELECT n, CASE WHEN n % 7 = 0 THEN 'bad ' ELSE 'good ' END || n FROM generate_series(1, 30) n});
$engine->is_settled('single', 'one at a time', failed => 4, where => 's.id % 7 <> 0');
is($mock->stats->{most_in_flight}, 1, 'also when requests are halved');
$mock->rules;
workers(1);
$engine->table('batched', processing => 'ai.processing_default(batch_size => 3)');
is(sends('batched', q{INSERT INTO batched SELECT n, 'b ' || n FROM generate_series(1, 10) n}, 10, 'batches'), 4, 'of batch_size texts');
$engine->table('narrow', processing => 'ai.processing_default(batch_size => 1, concurrency => 2)');
keeps_under_way('narrow', 20, 2, 'concurrency');
$engine->table('wide', processing => 'ai.processing_default(batch_size => 1, concurrency => 50)');
keeps_under_way('wide', 100, 16, 'ai.max_in_flight');

# -- priority is a weight, and none starves

workers(0);
$engine->set('ai.max_in_flight' => 1);
my %one = (low => -100, high => 32767, equal => -32768);
foreach my $name (qw(low equal high))
{
	$engine->table($name, processing => "ai.processing_default(batch_size => 1, priority => $one{$name})");
	sql("ALTER TABLE ${name}_embedding_store ADD COLUMN at timestamptz DEFAULT clock_timestamp();
		INSERT INTO $name SELECT n, 'p ' || n FROM generate_series(1, 20) n");
}
$engine->set('ai.workers' => 1);
$engine->is_settled($_, "priority: $_") foreach sort keys %one;
# Eight to one.
cmp_ok(sql('SELECT count(*) FROM high_embedding_store WHERE at < (SELECT at FROM low_embedding_store ORDER BY at OFFSET 2 LIMIT 1)'),
	'>=', 10, 'the more important get more');
is(sql('SELECT (SELECT min(at) FROM low_embedding_store) < (SELECT max(at) FROM high_embedding_store)'), 't', 'and do not stop the others');
is(sql('SELECT (SELECT min(at) FROM equal_embedding_store) < (SELECT max(at) FROM low_embedding_store)
	AND (SELECT min(at) FROM low_embedding_store) < (SELECT max(at) FROM equal_embedding_store)'), 't', 'equals take turns');
$mock->reset;
$engine->set('ai.max_in_flight' => 16, 'ai.workers' => 2);

# -- off and on, and another configuration

sql(q{SELECT ai.disable_vectorizer_schedule('batched'); INSERT INTO batched VALUES (100, 'while it is off')});
sql(q{INSERT INTO narrow VALUES (100, 'while the other is off')});
$engine->is_settled('narrow', 'the others go on');
is(sql(q{SELECT ai.vectorizer_queue_pending('batched')}), '1', 'one that is disabled does nothing');
sends('batched', q{SELECT ai.enable_vectorizer_schedule('batched')}, 1, 'enabled again');
$engine->table('unscheduled', scheduling => 'ai.scheduling_none()');
sends('unscheduled', q{INSERT INTO unscheduled VALUES (1, 'x')}, 1, 'without a schedule');

$mock->rules({ text => 'under way', hang => 'before' });
sql(q{INSERT INTO batched VALUES (101, 'under way in three')});
$mock->wait_for(hanging => 1) or die;
sql(q{UPDATE ai.vectorizer SET config = jsonb_set(config, '{chunking}',
		ai.chunking_character_text_splitter(chunk_size => 6, chunk_overlap => 0, separator => ' ')) WHERE name = 'batched';
	SELECT ai._vectorizer_notify()});
$mock->wait_for(hanging_at_most => 0) or die;
$mock->rules;
$engine->is_settled('batched', 'another configuration while a request is under way', where => 's.id = 101')
	if sql(q{DELETE FROM batched WHERE id <> 101}) eq '';

# -- row security

sql(q{CREATE ROLE alice; GRANT CREATE ON SCHEMA public TO alice; SET ROLE alice;
	CREATE TABLE secured (id int PRIMARY KEY, body text, hidden boolean DEFAULT false);
	ALTER TABLE secured ENABLE ROW LEVEL SECURITY; ALTER TABLE secured FORCE ROW LEVEL SECURITY;
	CREATE POLICY p ON secured USING (NOT hidden)});
my $ollama = q{ai.embedding_ollama('mock-8', 8, base_url => '} . $mock->url . q{')};
$engine->vectorizer('secured', name => 'secured', embedding => $ollama);
sql(q{INSERT INTO secured VALUES (1, 'seen', false), (2, 'hidden', true)});
$engine->is_settled('secured', 'row security holds for the owner who forces it', where => 'NOT hidden');

# Nobody is told of REASSIGN OWNED.
sql(q{CREATE ROLE heir; REASSIGN OWNED BY alice TO heir; INSERT INTO secured VALUES (3, 'inherited', false)});
$engine->is_settled('secured', 'workers follow a new owner', where => 'NOT hidden');
is(sql(q{SELECT owner_role, has_table_privilege('alice', queue, 'SELECT') FROM ai.vectorizer WHERE name = 'secured'}),
	'heir|f', 'the old one has no rights left on the queue');

# -- what users wrote never runs as superuser

# Logged in as herself: in a session that is a superuser's, RESET ROLE is no feat.
sub as_mallory { return $node->safe_psql('postgres', shift, extra_params => [ '-U', 'mallory' ]); }
sql('CREATE ROLE mallory LOGIN; CREATE SCHEMA evil AUTHORIZATION mallory');
as_mallory(q{CREATE TABLE evil.seen (what text, who text, process text DEFAULT current_setting('application_name'));
	GRANT INSERT ON evil.seen TO PUBLIC; GRANT USAGE ON SCHEMA evil TO PUBLIC;
	CREATE FUNCTION evil.try(what text) RETURNS void LANGUAGE plpgsql AS $$
	DECLARE attempt text;
	BEGIN
		INSERT INTO evil.seen VALUES (what, current_user);
		FOREACH attempt IN ARRAY ARRAY['CREATE ROLE boss SUPERUSER', 'ALTER ROLE mallory SUPERUSER', 'RESET ROLE',
			'RESET SESSION AUTHORIZATION', 'SET ROLE NONE', 'DROP TABLE ai.vectorizer'] LOOP
			BEGIN
				EXECUTE attempt;
				INSERT INTO evil.seen VALUES (what || ': ' || attempt, current_user);
			EXCEPTION WHEN OTHERS THEN NULL;
			END;
		END LOOP;
	END $$;
	CREATE FUNCTION evil.trigger() RETURNS trigger LANGUAGE plpgsql AS
		$$ BEGIN PERFORM evil.try('trigger on ' || TG_TABLE_NAME || ' ' || TG_WHEN || TG_OP); RETURN coalesce(NEW, OLD); END $$;
	CREATE FUNCTION evil.expression(text) RETURNS text LANGUAGE plpgsql IMMUTABLE AS
		$$ BEGIN PERFORM evil.try('index'); RETURN $1; END $$;
	CREATE FUNCTION evil.check(text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS
		$$ BEGIN PERFORM evil.try('check'); RETURN true; END $$;
	CREATE FUNCTION evil.default() RETURNS text LANGUAGE plpgsql AS
		$$ BEGIN PERFORM evil.try('default'); RETURN 'x'; END $$;
	CREATE FUNCTION evil.policy() RETURNS boolean LANGUAGE plpgsql AS
		$$ BEGIN PERFORM evil.try('policy'); RETURN true; END $$;
	CREATE DOMAIN evil.dom AS text CHECK (evil.check(VALUE));
	CREATE TYPE evil.key AS (n int);
	CREATE FUNCTION evil.as_json(evil.key) RETURNS json LANGUAGE plpgsql AS
		$$ BEGIN PERFORM evil.try('cast of the key to json'); RETURN '1'; END $$;
	CREATE FUNCTION evil.as_text(evil.key) RETURNS text LANGUAGE plpgsql AS
		$$ BEGIN PERFORM evil.try('cast of the key to text'); RETURN '1'; END $$;
	CREATE CAST (evil.key AS json) WITH FUNCTION evil.as_json(evil.key);
	CREATE CAST (evil.key AS text) WITH FUNCTION evil.as_text(evil.key) AS ASSIGNMENT;
	CREATE TABLE evil.src (id evil.key PRIMARY KEY, body text);
	CREATE TABLE evil.col (id int PRIMARY KEY, body text)});
my $create = q{SELECT ai.create_vectorizer('evil.%s', name => 'evil_%s', loading => ai.loading_column('body'), embedding => } . $ollama . ' %s)';
as_mallory(sprintf($create, 'src', 'src', ", processing => ai.processing_default(max_attempts => 1)"));
as_mallory(sprintf($create, 'col', 'col', q{, destination => ai.destination_column('embedding'), chunking => ai.chunking_none()}));
$mock->rules({ text => 'poison', status => 400 });
as_mallory(q{CREATE INDEX ON evil.src (evil.expression(body));
	CREATE INDEX ON evil.col ((evil.expression(body))) WHERE evil.expression(body) <> '';
	ALTER TABLE evil.src ENABLE ROW LEVEL SECURITY; ALTER TABLE evil.src FORCE ROW LEVEL SECURITY;
	CREATE POLICY p ON evil.src USING (evil.policy());
	CREATE TRIGGER t BEFORE UPDATE ON evil.col FOR EACH ROW EXECUTE FUNCTION evil.trigger();
	CREATE TRIGGER u AFTER UPDATE ON evil.col FOR EACH ROW EXECUTE FUNCTION evil.trigger();
	CREATE TRIGGER t BEFORE INSERT OR UPDATE OR DELETE ON evil.src_embedding_store FOR EACH ROW EXECUTE FUNCTION evil.trigger();
	CREATE TRIGGER u AFTER INSERT OR UPDATE OR DELETE ON evil.src_embedding_store FOR EACH ROW EXECUTE FUNCTION evil.trigger();
	CREATE INDEX ON evil.src_embedding_store (evil.expression(chunk));
	ALTER TABLE evil.src_embedding_store ADD COLUMN d text DEFAULT evil.default(), ADD COLUMN e evil.dom DEFAULT 'x',
		ADD CHECK (evil.check(chunk));
	TRUNCATE evil.seen;
	INSERT INTO evil.src VALUES (ROW(1), 'a'), (ROW(2), 'b'), (ROW(3), 'poison');
	INSERT INTO evil.col VALUES (1, 'a'), (2, 'poison')});
ok($engine->drained("evil_$_"), "evil_$_ is worked on") foreach qw(src col);
as_mallory(q{UPDATE evil.src SET body = 'c' WHERE body = 'a'; DELETE FROM evil.src WHERE body = 'b'; UPDATE evil.col SET body = 'c' WHERE id = 1});
ok($engine->drained("evil_$_"), "evil_$_ is worked on again") foreach qw(src col);
$mock->rules;
is(sql('SELECT count(*) FROM evil.src_embedding_store'), '1', 'the chunks are there');
is(sql(q{SELECT ai.vectorizer_queue_failed(id) FROM ai.vectorizer WHERE name = 'evil_src'}), '1', 'and the failed row');
is(sql(q{SELECT details ->> 'key' FROM ai.vectorizer_errors WHERE name = 'evil_src'}), '{"id": "(3)"}', 'with its key');
is(sql('SELECT string_agg(DISTINCT who, $$,$$) FROM evil.seen'), 'mallory', 'all that ran, ran as the owner');
foreach my $what ('trigger on src_embedding_store AFTERINSERT', 'trigger on col BEFOREUPDATE', 'index', 'default', 'check', 'policy')
{
	cmp_ok(sql("SELECT count(*) FROM evil.seen WHERE what = '$what' AND process = 'ai worker'"), '>', 0, "it ran: $what");
}
is(sql(q{SELECT count(*) FROM evil.seen WHERE what LIKE '%: %' AND process = 'ai worker'}), '0', 'no attempt in a worker succeeded');
is(sql(q{SELECT count(*) FROM pg_roles WHERE rolname = 'boss' OR rolname = 'mallory' AND rolsuper}), '0', 'nobody became superuser');
# A deferred trigger would run at the commit, when the owner's rights are gone.
as_mallory(q{TRUNCATE evil.seen; CREATE CONSTRAINT TRIGGER d AFTER INSERT OR UPDATE ON evil.src_embedding_store
	DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION evil.trigger(); INSERT INTO evil.src VALUES (ROW(4), 'd')});
ok($engine->poll(q{SELECT count(*) > 0 FROM ai.vectorizer_errors WHERE name = 'evil_src' AND message LIKE '%deferred trigger%'}), 'a deferred trigger is refused');
is(sql('SELECT count(*) FROM evil.seen WHERE who <> $$mallory$$'), '0', 'and did not run as another');
as_mallory(q{DROP TRIGGER d ON evil.src_embedding_store});
ok($engine->drained('evil_src'), 'without it the rows are written');

# -- targets that break

$engine->table('broken', embedding => $ollama);
$engine->table('sound');
sql('ALTER TABLE broken OWNER TO alice; ALTER TABLE broken_embedding_store OWNER TO mallory');
sql(q{INSERT INTO broken SELECT n, 'x ' || n FROM generate_series(1, 50) n; INSERT INTO sound SELECT n, 'x' FROM generate_series(1, 50) n});
$engine->is_settled('sound', 'another vectorizer goes on');
ok($engine->poll(q{SELECT count(*) > 0 FROM ai.vectorizer_errors WHERE name = 'broken'}), 'a target that may not be written is an error');
sql(q{INSERT INTO sound SELECT n, 'x' FROM generate_series(51, 60) n});
$engine->is_settled('sound', 'and on');
is(sql(q{SELECT count(*) FROM ai.vectorizer_errors WHERE name = 'broken'}), '1', 'said once, by whichever worker');
is(sql(q{SELECT ai.vectorizer_queue_pending('broken'), failed_items FROM ai.vectorizer_status WHERE name = 'broken'}), '50|0', 'the rows wait');
sql(q{GRANT ALL ON broken_embedding_store TO alice});
$engine->is_settled('broken', 'repaired, they are done');
sql(q{DROP TABLE broken_embedding_store CASCADE; INSERT INTO broken VALUES (100, 'y')});
sql(q{INSERT INTO sound VALUES (100, 'y')});
$engine->is_settled('sound', 'a dropped target is no trouble to others');
is(sql(q{SELECT disabled, ai.vectorizer_queue_pending(id) FROM ai.vectorizer WHERE name = 'broken'}), 't|1', 'its vectorizer is disabled');

# A configuration that nobody can use, and tables that are dropped behind our back.
my %harm = (
	misconfigured => q{UPDATE ai.vectorizer SET config = jsonb_set(config, '{embedding,implementation}', '"crystal_ball"') WHERE name = 'harmed'},
	'without a queue' => q{DROP TABLE ai._vectorizer_q_%s}, 'without a table of work' => q{DROP TABLE ai._vectorizer_q_work_%s},
	'without failed rows' => q{DROP TABLE ai._vectorizer_q_failed_%s});
my %complaint = (misconfigured => qr/\Aconfiguration\|.*crystal_ball/);
sql('ALTER EVENT TRIGGER ai_on_sql_drop DISABLE');
my @before_harm = sort $engine->workers;
foreach my $harm (sort keys %harm)
{
	my $id = $engine->table('harmed');
	sql($harm{$harm} =~ s{%s}{$id}r);
	sql($harm eq 'misconfigured' ? q{INSERT INTO harmed VALUES (1, 'harmed')} : 'SELECT ai._vectorizer_notify()');
	ok($engine->poll(q{SELECT count(*) > 0 FROM ai.vectorizer_errors WHERE name = 'harmed'}), "$harm: an error");
	sql(q{INSERT INTO sound VALUES ((SELECT max(id) + 1 FROM sound), 'after harm')});
	$engine->is_settled('sound', "$harm: others go on");
	like(sql(q{SELECT details ->> 'step', message FROM ai.vectorizer_errors WHERE name = 'harmed'}),
		$complaint{$harm} // qr/\Adefinition\|the queue of the vectorizer, or a table that goes with it, was dropped; drop the vectorizer with ai.drop_vectorizer and create it again\z/, "$harm: said once");
	is(sql(q{SELECT count(*) FROM ai.vectorizer_status s LEFT JOIN ai.job_counts USING (id) WHERE s.name = 'harmed'}), '1', "$harm: the status can be seen");
	sql(q{SELECT ai.drop_vectorizer('harmed', drop_all => true); DROP TABLE harmed});
}
sql('ALTER EVENT TRIGGER ai_on_sql_drop ENABLE');
is(join(' ', sort $engine->workers), "@before_harm", 'the workers are the same');

# A reload is enough for workers to follow the list of hosts.
$engine->table('hosts');
$engine->set('ai.allowed_hosts' => 'api.openai.com');
sql(q{INSERT INTO hosts VALUES (1, 'a text')});
ok($engine->poll(q{SELECT count(*) > 0 FROM ai.vectorizer_errors WHERE name = 'hosts' AND message ~ 'ai.allowed_hosts'}),
	'a host that is not allowed any more is refused');
$engine->set('ai.allowed_hosts' => '127.0.0.1');
$engine->is_settled('hosts', 'and asked when it is allowed again');

# A row that its target refuses does not hold up the others, and ends among the failed ones.
$engine->table('picky', processing => 'ai.processing_default(max_attempts => 2)');
sql(q{ALTER TABLE picky_embedding_store ADD CHECK (chunk <> 'x 7'); INSERT INTO picky SELECT n, 'x ' || n FROM generate_series(1, 50) n});
$engine->is_settled('picky', 'a row that the target refuses', failed => 1, where => 's.id <> 7');
is(sql(q{SELECT status, attempts, key, last_error LIKE '%check constraint%' FROM ai.jobs('picky')}), 'failed|2|{"id": 7}|t', 'with its error');
sql(q{ALTER TABLE picky_embedding_store DROP CONSTRAINT picky_embedding_store_chunk_check; SELECT ai.retry_failed('picky')});
$engine->is_settled('picky', 'tried again when it can be written');
sql(q{ALTER TABLE picky_embedding_store ADD CHECK (chunk <> 'x bad'); UPDATE picky SET body = 'x bad' WHERE id = 9});
ok($engine->drained('picky'), 'refused again');
is(sql(q{SELECT ai.vectorizer_queue_failed(id) FROM ai.vectorizer WHERE name = 'picky'}), '1', 'and given up');
sql(q{UPDATE picky SET body = 'fine' WHERE id = 9; DELETE FROM picky WHERE id = 8});
$engine->is_settled('picky', 'a row that changed is not among the failed ones any more');

unlike(slurp_file($node->logfile), qr/PANIC:|TRAP:|terminated by signal/, 'no process crashed');
$node->stop;
done_testing();
