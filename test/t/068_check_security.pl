# What our background processes run, and as whom; and that no name in it means what the search_path says. Prints every
# SECURITY DEFINER function, every function that runs with the rights of the extension's owner, and every statement.
# make check-security shows the list. The watching is done by test/security.
use strict;
use warnings FATAL => 'all';
use EngineTest;
use JSON::PP ();
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes ();

my $engine = EngineTest->new('main', conf => q{
shared_preload_libraries = 'ai, ai_security'
ai.heartbeat_interval = '500ms'
});
my ($node, $mock) = ($engine->node, $engine->mock);
my $file = $node->data_dir . '/ai_security.jsonl';
sub sql { return $engine->sql(@_); }

# -- the parser's check finds what it is there for

sql(q{CREATE FUNCTION public.security_names(statement text, in_catalog boolean) RETURNS text LANGUAGE c STRICT AS '$libdir/ai_security'});
sub names { my ($statement, $in_catalog) = @_; return sql("SELECT public.security_names(\$s\$$statement\$s\$, @{[ $in_catalog ? 'true' : 'false' ]})"); }

my @unqualified = (
	[ 'SELECT now()', 'function now' ],
	[ 'SELECT pg_catalog.min(abs(t.a)) FROM ai.t t', 'function abs' ],
	[ 'SELECT $1::uuid', 'type uuid' ],
	[ 'SELECT $1::text[]', 'type text' ],
	[ 'SELECT CAST(NULL AS float8)', 'type float8' ],
	[ 'SELECT t.a = 1 FROM ai.t t', 'operator =' ],
	[ 'SELECT a OPERATOR(pg_catalog.+) b * 2 FROM ai.t', 'operator *' ],
	[ 'SELECT - a FROM ai.t', 'operator -' ],
	[ 'SELECT a FROM ai.t WHERE ctid = ANY ($1)', 'operator =' ],
	[ 'SELECT a FROM ai.t WHERE a <> ALL (SELECT b FROM ai.u)', 'operator <>' ],
	[ 'SELECT a FROM ai.t WHERE a IN (1, 2)', 'operator of IN' ],
	[ 'SELECT a FROM ai.t WHERE a IN (SELECT b FROM ai.u)', 'operator of IN' ],
	[ 'SELECT a FROM ai.t WHERE a NOT BETWEEN 1 AND 2', 'operator of BETWEEN' ],
	[ q{SELECT a FROM ai.t WHERE a LIKE 'x%'}, 'operator of LIKE' ],
	[ 'SELECT a IS DISTINCT FROM b FROM ai.t', 'operator of IS DISTINCT FROM' ],
	[ 'SELECT nullif(a, b) FROM ai.t', 'operator of NULLIF' ],
	[ 'SELECT CASE a WHEN 1 THEN 2 END FROM ai.t', 'operator of CASE x WHEN' ],
	[ 'SELECT 1 FROM ai.t JOIN ai.u USING (a)', 'operator of JOIN USING' ],
	[ 'SELECT 1 FROM ai.t NATURAL JOIN ai.u', 'operator of JOIN USING' ],
	[ 'SELECT a FROM ai.t ORDER BY a USING <', 'operator <' ],
	[ 'SELECT a COLLATE "C" FROM ai.t', 'collation C' ],
	[ 'SELECT a FROM t', 'relation t' ],
	[ 'SELECT a FROM ai.t, LATERAL (SELECT FROM u) x', 'relation u' ],
	[ 'WITH q AS (SELECT 1 FROM r), r AS (SELECT 1) SELECT FROM q, r', 'relation r' ],
	[ 'SELECT (WITH q AS (SELECT 1) SELECT 1 FROM q) FROM q', 'relation q' ],
	[ 'INSERT INTO t SELECT 1', 'relation t' ],
	[ 'INSERT INTO ai.t (a) VALUES (1) ON CONFLICT (a) DO UPDATE SET a = excluded.a + 1', 'operator +' ],
	[ 'UPDATE ai.t SET a = 1 FROM u', 'relation u' ],
	[ 'DELETE FROM ai.t USING u WHERE true RETURNING now()', 'function now' ],
	[ 'SELECT pg_catalog.count(*) FILTER (WHERE a > 1) FROM ai.t', 'operator >' ],
	[ 'SELECT pg_catalog.sum(a) OVER (ORDER BY f(a)) FROM ai.t', 'function f' ],
	[ 'SELECT a FROM ai.t TABLESAMPLE system (1)', 'function system' ],
	[ 'SELECT a FROM ai.t t, u FOR UPDATE OF t', 'relation u' ],
	[ 'LOCK TABLE t IN ACCESS SHARE MODE', 'relation t' ],
	[ 'CREATE INDEX i ON t (a)', 'relation t' ],
	[ 'CREATE INDEX i ON ai.t (a int4_ops)', 'operator class int4_ops' ],
	[ 'DROP INDEX i', 'object of DROP' ],
	[ 'CREATE TABLE ai.t ()', 'does not know' ]);
like(names($_->[0]), qr/\Q$_->[1]\E/, "found: $_->[0]") foreach @unqualified;
is(names($_), '', "nothing to find: $_") foreach (
	q{SELECT extract(epoch FROM pg_catalog.now())::bigint, interval '1 day', current_date, coalesce(NULL, 1), greatest(1, 2), -100, true},
	q{WITH q AS (SELECT t.a FROM ai.t t), r AS (SELECT q.a FROM q) DELETE FROM ai.t USING r WHERE ai.t.a OPERATOR(pg_catalog.=) r.a RETURNING r.a},
	q{WITH RECURSIVE q AS (SELECT 1 UNION ALL SELECT 1 FROM q) SELECT FROM q},
	q{SELECT a FROM ai.t WHERE a OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT b FROM ai.u)) AND a IS NOT NULL ORDER BY a DESC},
	q{DROP INDEX CONCURRENTLY ai.i},
	q{CREATE INDEX CONCURRENTLY i ON ONLY ai.t USING hnsw ((a::bit(8)) public.bit_hamming_ops) WITH (m = 16)});
is(names('SELECT count(*) FROM pg_class WHERE oid IN (1, 2)', 1), '', 'in a body with a fixed path, names of pg_catalog pass');
like(names('SELECT mine(a) FROM pg_class, theirs', 1), qr/function mine.*relation theirs|relation theirs.*function mine/, 'and no others');

# -- functions that run with more rights than their caller has

# What the catalog says of the functions for which a condition holds, a line each.
sub functions
{
	my ($condition) = @_;
	return split /\n/, sql(qq{
		SELECT format('%s: owner %s, search_path %s, for %s', p.oid::regprocedure, p.proowner::regrole,
			coalesce((SELECT substring(c FROM 13) FROM unnest(p.proconfig) c WHERE c LIKE 'search_path=%'),
				CASE WHEN l.lanname = 'c' THEN 'none (C)' ELSE 'NOT FIXED' END),
			CASE WHEN has_function_privilege('public', p.oid, 'EXECUTE') THEN 'everybody' ELSE 'those it was granted to' END)
		FROM pg_proc p JOIN pg_language l ON l.oid = p.prolang
		WHERE p.pronamespace = 'ai'::regnamespace AND $condition ORDER BY 1});
}

sub show { my ($title, @lines) = @_; note($title . ' (' . @lines . ')'); note("  $_") foreach @lines; return; }

my @definers = functions('p.prosecdef');
show('SECURITY DEFINER functions', @definers);
cmp_ok(scalar @definers, '>', 0, 'there are SECURITY DEFINER functions') or diag('the query above finds none any more');
show('functions that run another one with the rights of the extension\'s owner, by ai_call_as_owner', functions(q{p.prosrc = 'ai_call_as_owner'}));
my $inner = q{EXISTS (SELECT FROM pg_proc o WHERE o.pronamespace = p.pronamespace AND o.prosrc = 'ai_call_as_owner' AND p.proname = '_' || o.proname)};
my @inner = functions($inner);
show('functions that these run', @inner);
cmp_ok(scalar @inner, '>', 10, 'there are functions that run with the rights of the owner');
is(join("\n", functions("$inner AND has_function_privilege('public', p.oid, 'EXECUTE')")), '', 'none of them can be called by everybody');
is(join("\n", functions(q{l.lanname IN ('sql', 'plpgsql') AND p.prosqlbody IS NULL
	AND NOT coalesce('search_path=pg_catalog, pg_temp' = ANY (p.proconfig), false)})),
	'', 'every function in SQL or PL/pgSQL has its search_path fixed, unless its names were looked up when it was made');
is(join("\n", functions(q{p.prosecdef AND l.lanname NOT IN ('sql', 'plpgsql')})), '', 'no SECURITY DEFINER function is in another language');
is(sql(q{SELECT string_agg(p.oid::regprocedure || ': ' || n, E'\n') FROM pg_proc p JOIN pg_language l ON l.oid = p.prolang,
	public.security_names(p.prosrc, true) n WHERE p.pronamespace = 'ai'::regnamespace AND l.lanname = 'sql' AND n <> ''}),
	'', 'bodies in SQL name what is not in pg_catalog with its schema');

# -- the processes at work, on tables of an ordinary role

my $ollama = q{ai.embedding_ollama('mock-8', 8, base_url => '} . $mock->url . q{')};
sql(q{CREATE ROLE app LOGIN; CREATE SCHEMA app AUTHORIZATION app});
sub as_app { my ($statement) = @_; return $node->safe_psql('postgres', $statement, extra_params => [ '-U', 'app' ]); }

my %sources = (
	plain       => [ 'id int PRIMARY KEY, body text' ],
	chunked     => [ 'id int PRIMARY KEY, body text', chunking => 'ai.chunking_character_text_splitter(10, 0)' ],
	composite   => [ 'a int, b text, body text, PRIMARY KEY (a, b)' ],
	bytes       => [ 'id uuid PRIMARY KEY DEFAULT gen_random_uuid(), body bytea' ],
	urgent      => [ 'id int PRIMARY KEY, body text, rank int2', processing => q{ai.processing_default(priority_column => 'rank')} ],
	reused      => [ 'id int PRIMARY KEY, body text', processing => 'ai.processing_default(reuse => true)' ],
	columned    => [ 'id int PRIMARY KEY, body text', destination => q{ai.destination_column('embedding')}, chunking => 'ai.chunking_none()' ],
	partitioned => [ 'id int PRIMARY KEY, body text) PARTITION BY RANGE (id' ],
	failing     => [ 'id int PRIMARY KEY, body text', processing => 'ai.processing_default(max_attempts => 2)' ],
	indexed     => [ 'id int PRIMARY KEY, body text', indexing => 'ai.indexing_hnsw(min_rows => 10)' ]);
foreach my $name (sort keys %sources)
{
	my ($columns, %arguments) = @{ $sources{$name} };
	my %all = (loading => q{ai.loading_column('body')}, embedding => $ollama, %arguments);
	as_app("CREATE TABLE app.$name ($columns); "
			. ($name eq 'partitioned' ? 'CREATE TABLE app.part1 PARTITION OF app.partitioned FOR VALUES FROM (0) TO (100);' : '')
			. "SELECT ai.create_vectorizer('app.$name', name => '$name', " . join(', ', map { "$_ => $all{$_}" } sort keys %all) . ')');
}
sub drained { $engine->drained($_) or die "$_ is not worked on" foreach @_; return; }

as_app(qq{INSERT INTO app.$_ (id, body) SELECT n, '$_ ' || n || ' with some more text' FROM generate_series(1, 20) n}) foreach grep { !/bytes|composite/ } sort keys %sources;
as_app(q{INSERT INTO app.composite SELECT n, 'b', 'composite ' || n FROM generate_series(1, 20) n;
	INSERT INTO app.bytes (body) SELECT convert_to('bytes ' || n, 'UTF8') FROM generate_series(1, 20) n});
drained(sort keys %sources);
as_app(qq{UPDATE app.$_ SET body = 'short' WHERE id < 5; UPDATE app.$_ SET body = body || ' and longer than before' WHERE id BETWEEN 5 AND 9; DELETE FROM app.$_ WHERE id > 15;
	INSERT INTO app.$_ (id, body) VALUES (50, 'short')}) foreach grep { !/bytes|composite/ } sort keys %sources;
as_app(q{UPDATE app.composite SET body = 'other' WHERE a < 5; DELETE FROM app.composite WHERE a > 15; DELETE FROM app.bytes});
drained(sort keys %sources);

# Rows that fail: at the provider, for a while and for good; when they are stored; then another try.
$mock->rules({ text => 'poison', status => 400 }, { text => 'flaky', status => 500, count => 12 });
sql(q{CREATE FUNCTION app.refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF NEW.chunk ~ 'refused' THEN RAISE EXCEPTION 'no'; END IF; RETURN NEW; END $$});
as_app(q{CREATE TRIGGER refuse BEFORE INSERT ON app.failing_embedding_store FOR EACH ROW EXECUTE FUNCTION app.refuse();
	INSERT INTO app.failing SELECT n, (ARRAY['poison', 'refused', 'flaky', 'good'])[n % 4 + 1] || n FROM generate_series(60, 79) n});
ok($engine->poll(q{SELECT count(*) >= 10 FROM ai.jobs('failing') WHERE status = 'failed'}), 'rows fail');
$mock->rules;
as_app(q{DROP TRIGGER refuse ON app.failing_embedding_store; SELECT ai.retry_failed('failing')});
drained('failing');

as_app(q{CREATE FUNCTION app.refuse_vector() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF NEW.body = 'refused' THEN RAISE EXCEPTION 'no'; END IF; RETURN NEW; END $$;
	CREATE TRIGGER refuse BEFORE UPDATE OF embedding ON app.columned FOR EACH ROW EXECUTE FUNCTION app.refuse_vector();
	UPDATE app.columned SET body = CASE id WHEN 1 THEN 'refused' ELSE 'taken ' || id END});
ok($engine->poll(q{SELECT count(*) = 1 FROM ai.jobs('columned') WHERE attempts > 0}), 'a row fails whose vector is refused');
as_app(q{DROP TRIGGER refuse ON app.columned});
drained('columned');

# A row of a source with an embedding column that somebody has locked.
my $locker = $node->background_psql('postgres');
as_app(q{UPDATE app.columned SET body = 'locked' WHERE id = 1});
drained('columned');
$mock->rules({ text => 'held up', hang => 'before' });
as_app(q{UPDATE app.columned SET body = 'held up' WHERE id = 1});
$mock->wait_for(hanging => 1) or die;
$locker->query_safe('BEGIN; SELECT FROM app.columned WHERE id = 1 FOR UPDATE');
$mock->rules;
$mock->release;
$engine->poll(q{SELECT count(*) > 0 FROM ai.jobs('columned') WHERE status = 'retryable'}) or die 'the row is not released';
$locker->query_safe('COMMIT');
$locker->quit;
drained('columned');

# Embedding jobs: done, reused, refused, tried again, cancelled, given up; in a session that is watched, too.
my $jobs = "embedding => $ollama";
sql(qq{SET ai_security.watch = on; SELECT ai.create_embedding_job(ARRAY['one', 'two', 'one'], $jobs); SELECT ai.create_embedding_job('three', $jobs, priority => 'high')});
ok($engine->poll(q{SELECT count(*) = 4 FROM ai.embedding_jobs WHERE status = 'completed'}), 'jobs are done');
$mock->rules({ text => 'poison', status => 400 }, { text => 'flaky', status => 500, count => 8 });
sql(qq{SET ai_security.watch = on; SELECT ai.create_embedding_job('one', $jobs); SELECT ai.create_embedding_job('poison', $jobs); SELECT ai.create_embedding_job('flaky', $jobs)});
ok($engine->poll(q{SELECT count(*) = 1 FROM ai.embedding_jobs WHERE status = 'failed'}), 'one is given up');
$mock->rules;
sql(q{SET ai_security.watch = on; SELECT ai.retry_embedding_job(id) FROM ai.embedding_jobs WHERE status = 'failed'; SELECT count(*) FROM ai.list_embedding_jobs()});
ok($engine->poll(q{SELECT count(*) = 7 FROM ai.embedding_jobs WHERE status = 'completed'}), 'all are done');

# What users ask for in sessions: functions with more rights than their caller.
as_app(q{SET ai_security.watch = on; SELECT * FROM ai.vectorizer_status; SELECT * FROM ai.vectorizer_errors; SELECT * FROM ai.jobs('plain');
	SELECT * FROM ai.job_counts; SELECT ai.pause_vectorizer('plain'); SELECT ai.resume_vectorizer('plain');
	SELECT ai.disable_vectorizer_schedule('plain'); SELECT ai.enable_vectorizer_schedule('plain'); SELECT * FROM ai.search('plain', 'some text');
	SELECT * FROM ai.provider_status; SELECT ai.execute_vectorizer('plain'); SELECT ai.retry_failed('plain')});
sql(q{SET ai_security.watch = on; SELECT ai.metrics(); SELECT * FROM ai.worker_status; SELECT ai.set_secret('K', 'v'); SELECT ai.grant_secret('K', 'app');
	SELECT ai.revoke_secret('K', 'app'); SELECT ai.drop_secret('K')});

# A breaker that opens, and a provider that is paused.
$mock->rules({ status => 503 });
as_app(q{INSERT INTO app.plain SELECT n, 'unavailable ' || n FROM generate_series(100, 120) n});
ok($engine->poll(q{SELECT count(*) > 0 FROM ai.provider WHERE breaker <> 'closed'}), 'a breaker opens');
$mock->rules;
drained('plain');

# What a worker holds while its request hangs: some rows are taken from it; then all workers end in order.
sub hang
{
	my ($change) = @_;
	$mock->rules({ text => 'hanging', hang => 'before' });
	sql($change);
	$mock->wait_for(hanging => 1) or die "nothing hangs: $change";
	return;
}
sub release { $mock->rules; $mock->release; return; }
sub workers { my ($count, @old) = @_; my $old = join ',', 0, @old;
	return $engine->poll("SELECT count(*) = $count FROM pg_stat_activity WHERE backend_type = 'ai worker' AND pid NOT IN ($old)") || die "there are not $count workers"; }
foreach my $name (qw(plain columned))
{
	my $work = 'ai._vectorizer_q_work_' . $engine->id($name);
	$mock->rules({ text => 'poison', status => 400 });
	as_app("UPDATE app.$name SET body = 'poison' WHERE id = 1");
	$engine->poll("SELECT count(*) = 1 FROM ai.jobs('$name') WHERE status = 'failed'") or die "no row of $name fails";
	hang("UPDATE app.$name SET body = 'hanging ' || id WHERE id < 4");
	sql("UPDATE $work SET lease = NULL, retry_at = now() + interval '1 day' WHERE id = 1");
	release();
	$engine->poll("SELECT count(*) = 1 FROM $work") or die "rows of $name are not stored";
	sql("UPDATE $work SET retry_at = now(); SELECT ai._vectorizer_notify()");
	drained($name);
	hang("UPDATE app.$name SET body = 'hanging again ' || id WHERE id < 4; SELECT ai.create_embedding_job('hanging $name', $jobs)");
	$engine->set('ai.workers' => 0);
	workers(0);
	release();
	$engine->set('ai.workers' => 2);
	workers(2);
	drained($name);
}

# Workers that die with rows, or with a job, twice: what they had is released, and comes in groups, then alone.
foreach my $change ((map { "UPDATE app.$_ SET body = 'hanging to the end ' || id WHERE id < 4" } qw(plain columned)), qq{SELECT ai.create_embedding_job('hanging to the end', $jobs)})
{
	hang($change);
	foreach my $round (1, 2)
	{
		$mock->wait_for(hanging => 1) or die "nothing hangs: $change";
		my @workers = $engine->workers;
		kill 'KILL', @workers;
		workers(2, @workers);
	}
	release();
	drained(qw(plain columned));
	ok($engine->poll(q{SELECT count(*) = 0 FROM ai.embedding_jobs WHERE status IN ('pending', 'processing', 'retrying')}), "done after two deaths: $change");
}

# -- what was seen

my $json = JSON::PP->new->utf8;
sub seen
{
	my %distinct;
	foreach my $line (split /\n/, slurp_file($file))
	{
		my $entry = $json->decode($line);
		$entry->{text} =~ s/\s+/ /g;
		my $key = join '|', @$entry{ 'process', 'sent by', 'restricted', 'role', 'text' };
		$distinct{$key} = $entry;
	}
	return map { $distinct{$_} } sort keys %distinct;
}

# The coordinator cleans up once in a while, an index needs its time.
sub waits_for
{
	my ($pattern) = @_;
	my $found = 0;
	foreach (1 .. 10 * $PostgreSQL::Test::Utils::timeout_default)
	{
		$found = slurp_file($file) =~ $pattern;
		last if $found;
		Time::HiRes::sleep(0.1);
	}
	return ok($found, "seen: $pattern");
}
waits_for($_) foreach qr/ai\._worker_prune/, qr/ai\._missing_indexes/, qr/"text": "CREATE INDEX CONCURRENTLY/, qr/ai\._embedding_jobs_prune/;

my @seen = seen();
sub as_whom { my ($entry) = @_; return $entry->{role} . ($entry->{restricted} eq 'yes' ? ', restricted' : ''); }
foreach my $process (sort { $a cmp $b } keys %{ { map { $_->{process} => 1 } @seen } })
{
	foreach my $origin (qw(process function))
	{
		my @of = grep { $_->{process} eq $process && $_->{'sent by'} eq $origin } @seen;
		next if !@of;
		show("statements of $process, " . ($origin eq 'process' ? 'sent by itself' : 'run by functions'), map { as_whom($_) . ': ' . $_->{text} } @of);
	}
}

my @bad = map { my $entry = $_; map { "$_ in ($entry->{process}, @{[ as_whom($entry) ]}): $entry->{text}" } @{ $entry->{findings} } } @seen;
is(join("\n", @bad), '', 'no statement has a name that the search_path decides, or that means an object of somebody else');

# It must not pass for having seen nothing.
my $by_workers = grep { $_->{process} eq 'ai worker' && $_->{'sent by'} eq 'process' } @seen;
my $by_coordinators = grep { $_->{process} eq 'ai coordinator' && $_->{'sent by'} eq 'process' } @seen;
cmp_ok($by_workers, '>=', 100, 'statements that workers sent were seen');
cmp_ok($by_coordinators, '>=', 12, 'statements that coordinators sent were seen');
cmp_ok(scalar(grep { $_->{restricted} eq 'yes' && $_->{role} eq 'app' } @seen), '>=', 50, 'statements with the rights of the owner of a table were seen');
cmp_ok(scalar(grep { $_->{'sent by'} eq 'function' && $_->{process} ne 'session' } @seen), '>=', 100, 'statements of functions were seen');
cmp_ok(scalar(grep { $_->{process} eq 'session' } @seen), '>=', 100, 'and those of functions in sessions');

# Every statement that is made for a vectorizer was run for one of each kind.
my %texts = map { $_->{text} => 1 } @seen;
my (%run, %example);
foreach my $line (split /\n/, sql(q{SELECT v.name || E'\t' || s.number || E'\t' || regexp_replace(s.text, '\s+', ' ', 'g')
	FROM ai.vectorizer v, unnest(ai._worker_statements(v.id)) WITH ORDINALITY s (text, number)}))
{
	my ($name, $number, $text) = split /\t/, $line;
	my $statement = ($name eq 'columned' ? 'column' : 'table') . " $number";
	$run{$statement} ||= $texts{$text} // 0;
	$example{$statement} = $text;
}
cmp_ok(scalar keys %run, '>=', 30, 'there are statements of vectorizers');
is(join("\n", map { $example{$_} } grep { !$run{$_} } sort keys %run), '', 'every statement that a worker prepares was run');

unlike(slurp_file($node->logfile), qr/PANIC:|TRAP:|could not write to "ai_security/, 'nothing broke');
$node->stop;
done_testing();
