# Hostile.pm: a server on which mallory, an ordinary role that owns a schema and vectorizers, does her
# worst beside alice, who has a vectorizer of her own.
#
#   my $hostile = Hostile->new('hostile');
#   $hostile->try({ name => 'a lock_timeout that stays', trigger => q{PERFORM mallory.leave('lock_timeout', '1ms');}, rounds => 4 });
#   $hostile->done;
#
# An attempt is a hash:
#
#   name      what is tried
#   setup     SQL that mallory runs before it, and that must succeed
#   trigger   statements of PL/pgSQL for a BEFORE trigger on the targets of docs and notes: they run in a worker
#   rounds    how often a row is then inserted into docs or notes, each alone in its transaction: with more rounds than
#             workers, at least one of these runs the code twice
#   rows      how many rows come at once instead (in each of the two tables)
#   attack    SQL that mallory runs, or code that gets the object
#   holding   SQL that mallory runs in a session that stays open meanwhile
#   refused   what the attack must fail with: a pattern for the message with its SQLSTATE, as psql shows it
#   reached   SQL for the superuser: true when the attack is under way. With trigger or marked, until its code has run
#   errors    what must be in ai.vectorizer_errors of mallory then, a pattern
#   check     pairs of SQL for the superuser and its answer afterwards
#   cleanup   SQL of mallory that ends it; rows of docs and notes, triggers on their targets and sessions are
#             cleaned up anyway. With code: what else has to be undone
#   limit     how many seconds alice may be held up beyond what is usual without an attack; 2
#
# After each one: no right and no secret was gained, nothing of alice or of the extension was changed; rows that
# alice inserted during and after the attack have their vectors in time; the workers are the same processes. Code
# of mallory that is run by anybody else is noted in mallory.loot, and so is what she got hold of: secrets have
# the word canary in them. If an attempt succeeds, the server is started anew, so that it does not spoil the next.
package Hostile;

use strict;
use warnings FATAL => 'all';

use EngineTest;
use List::Util qw(max);
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(time);

my $limit = 2;           # seconds by which nobody may hold up another role
my $patience = 12;       # seconds after which a probe gives up

sub new
{
	my ($class, $name, %options) = @_;
	my $engine = EngineTest->new($name, conf => qq{
ai.workers = 2
ai.retry_delay = '1s'
ai.breaker_pause = '60s'
log_line_prefix = '%m [%p] %b %e '
@{[ $options{conf} // '' ]}});
	my $self = bless { engine => $engine, tried => [], probes => 0 }, $class;
	$self->{ollama} = q{ai.embedding_ollama('mock-8', 8, base_url => '} . $engine->mock->url . q{')};
	$self->_people;
	$self->_base;
	return $self;
}

sub engine { return $_[0]{engine}; }
sub node { return $_[0]{engine}->node; }
sub mock { return $_[0]{engine}->mock; }
sub sql { my ($self, $statement) = @_; return $self->{engine}->sql($statement); }
sub poll { my ($self, $query) = @_; return $self->{engine}->poll($query); }

# A statement as a role that is logged in as itself; dies if it fails.
sub as
{
	my ($self, $role, $statement) = @_;
	my ($output, $error) = $self->says($role, $statement);
	die "$role could not run $statement\n$error" if $error ne '';
	return $output;
}

# The same; returns output and error, which is empty if there was none.
sub says
{
	my ($self, $role, $statement) = @_;
	my ($code, $output, $messages) = $self->node->psql('postgres', $statement,
		extra_params => [ '-U', $role, '-v', 'VERBOSITY=verbose' ]);
	my ($error) = $messages =~ /^(?:psql:[^\n]*?)?((?:ERROR|FATAL): .*)/ms;
	return ($output, $code == 0 ? '' : $error // "psql failed: $messages");
}

# The arguments for ai.create_vectorizer that all vectorizers here share; more may be given as SQL.
sub arguments
{
	my ($self, $name, %more) = @_;
	my %all = (
		loading    => q{ai.loading_column('body')},
		embedding  => $self->{ollama},
		formatting => q{ai.formatting_python_template('$chunk')},
		processing => 'ai.processing_default(batch_size => 1, max_attempts => 3)', %more);
	return join ', ', "name => '$name'", map { "$_ => $all{$_}" } grep { $all{$_} ne '' } sort keys %all;
}

sub _people
{
	my ($self) = @_;
	$self->sql(q{CREATE ROLE alice LOGIN; CREATE ROLE mallory LOGIN;
		CREATE SCHEMA alice AUTHORIZATION alice; CREATE SCHEMA mallory AUTHORIZATION mallory;
		SELECT ai.set_secret('ALICE_KEY', 'canary-of-the-key'); SELECT ai.grant_secret('ALICE_KEY', 'alice')});
	$self->as('alice', qq{
		CREATE TABLE alice.diary (entry text); INSERT INTO alice.diary VALUES ('canary-of-the-diary');
		CREATE TABLE alice.docs (id int PRIMARY KEY, body text);
		SELECT ai.create_vectorizer('alice.docs', @{[ $self->arguments('alice') ]});
		INSERT INTO alice.docs VALUES (0, 'canary-of-the-text');
		CREATE PROCEDURE alice.probe(number int, patience float8, INOUT lag float8) LANGUAGE plpgsql AS \$\$
		DECLARE
			start timestamptz := clock_timestamp();
		BEGIN
			INSERT INTO alice.docs VALUES (number, 'probe ' || number);
			COMMIT;
			LOOP
				lag := extract(epoch FROM clock_timestamp() - start);
				EXIT WHEN lag > patience OR EXISTS (SELECT FROM alice.docs_embedding_store e WHERE e.id = number);
				COMMIT;
				PERFORM pg_sleep(0.005);
			END LOOP;
		END \$\$});
	$self->as('mallory', qq{
		GRANT USAGE ON SCHEMA mallory TO PUBLIC;
		CREATE TABLE mallory.loot (how text, who text DEFAULT current_user);
		GRANT INSERT ON mallory.loot TO PUBLIC;
		CREATE SEQUENCE mallory.seen; GRANT USAGE ON SEQUENCE mallory.seen TO PUBLIC;
		-- What all code of hers does first: it tells that it ran, as whom, and reaches for the crown.
		CREATE FUNCTION mallory.strike(how text) RETURNS boolean LANGUAGE plpgsql AS \$\$
		BEGIN
			PERFORM nextval('mallory.seen');
			BEGIN EXECUTE 'ALTER ROLE mallory SUPERUSER'; EXCEPTION WHEN OTHERS THEN NULL; END;
			BEGIN
				IF current_user <> 'mallory' THEN INSERT INTO mallory.loot VALUES ('ran as another: ' || how); END IF;
			EXCEPTION WHEN OTHERS THEN NULL;
			END;
			RETURN true;
		END \$\$;
		-- A strike for where the server wants a function that does nothing.
		CREATE FUNCTION mallory.quiet_strike(text) RETURNS text IMMUTABLE LANGUAGE plpgsql AS
			\$\$ BEGIN PERFORM mallory.strike('an expression'); RETURN \$1; END \$\$;
		-- Finds what an earlier transaction left in the session, and leaves it for the next.
		CREATE FUNCTION mallory.leave(setting text, value text) RETURNS void LANGUAGE plpgsql AS \$\$
		BEGIN
			IF current_setting(setting, true) = value THEN
				INSERT INTO mallory.loot VALUES ('left in the session: ' || setting);
			END IF;
			PERFORM set_config(setting, value, false);
		END \$\$;
		CREATE FUNCTION mallory.leak(what text) RETURNS boolean COST 0.0000001 LANGUAGE plpgsql AS \$\$
		BEGIN INSERT INTO mallory.loot VALUES (what); RETURN true; END \$\$;
		CREATE TABLE mallory.docs (id int PRIMARY KEY, body text);
		CREATE TABLE mallory.notes (id int PRIMARY KEY, body text);
		SELECT ai.create_vectorizer('mallory.docs', @{[ $self->arguments('docs') ]});
		SELECT ai.create_vectorizer('mallory.notes', @{[ $self->arguments('notes') ]})});
	$self->{alice} = $self->sql(q{SELECT id FROM ai.vectorizer WHERE name = 'alice'});
	$self->{docs} = $self->sql(q{SELECT id FROM ai.vectorizer WHERE name = 'docs'});
	$self->{notes} = $self->sql(q{SELECT id FROM ai.vectorizer WHERE name = 'notes'});
	return;
}

# How long a row of alice takes when nobody attacks.
sub _base
{
	my ($self) = @_;
	$self->_drained('alice') or die 'nothing is embedded even without an attack';
	$self->{base} = max(map { $self->probe } 1 .. 5);
	note(sprintf 'without an attack, a row of alice has its vector within %.2f s', $self->{base});
	return;
}

# Seconds from a row that alice inserts to its vector; or more than anything allowed.
sub probe
{
	my ($self) = @_;
	my $number = ++$self->{probes};
	my ($output, $error) = $self->says('alice',
		"SET lock_timeout = '${patience}s'; CALL alice.probe($number, $patience, NULL)");
	diag("alice could not even insert: $error") if $error ne '';
	return $error eq '' ? $output : 2 * $patience;
}

sub _drained
{
	my ($self, $name) = @_;
	return $self->_within(2 * $patience, "SELECT ai.vectorizer_queue_pending('$name', true) = 0");
}

# Waits for an answer, but not for ever: an attack may have stopped what it waits for.
sub _within
{
	my ($self, $seconds, $query) = @_;
	my $until = time + $seconds;
	while (time < $until)
	{
		my ($code, $output) = $self->node->psql('postgres', $query);
		return 1 if $code == 0 && $output eq 't';
		Time::HiRes::sleep(0.05);
	}
	return 0;
}

# All that no attack may change, a line each.
sub _order
{
	my ($self) = @_;
	my $queues = join ' ', map { "_vectorizer_q_$_$self->{alice}" } '', 'work_', 'failed_';
	return $self->sql(qq{
		SELECT string_agg(line, E'\\n' ORDER BY line) FROM (
		SELECT format('role %s: %s', r.rolname, concat_ws(' ', r.rolsuper, r.rolcreaterole, r.rolcreatedb, r.rolreplication,
			r.rolbypassrls, r.rolcanlogin)) AS line FROM pg_roles r
		UNION ALL SELECT format('member %s of %s', m.member::regrole, m.roleid::regrole) FROM pg_auth_members m
		UNION ALL SELECT format('setting %s of %s', s.setconfig, s.setrole) FROM pg_db_role_setting s WHERE s.setrole <> 'mallory'::regrole
		UNION ALL SELECT format('schema %s: %s %s', n.nspname, n.nspowner::regrole, n.nspacl) FROM pg_namespace n
			WHERE n.nspname !~ '^pg_(toast_)?temp' AND n.nspowner <> 'mallory'::regrole
		UNION ALL SELECT format('function %s: %s %s %s', p.oid::regprocedure, p.proowner::regrole, p.proacl, md5(concat(p.prosrc, p.proconfig, p.prosecdef)))
			FROM pg_proc p WHERE p.pronamespace IN ('ai'::regnamespace, 'alice'::regnamespace)
		UNION ALL SELECT format('relation %s: %s %s %s %s', c.oid::regclass, c.relowner::regrole, c.relacl, c.relrowsecurity,
			(SELECT string_agg(concat(a.attname, a.atttypid, a.attnotnull, a.attacl), ',' ORDER BY a.attnum) FROM pg_attribute a
			 WHERE a.attrelid = c.oid AND a.attnum > 0))
			FROM pg_class c WHERE c.relkind IN ('r', 'v', 'S') AND (c.relnamespace = 'alice'::regnamespace
				OR c.relnamespace = 'ai'::regnamespace AND (c.relname !~ '^_vectorizer_q_.*\\d' OR c.relname = ANY (string_to_array('$queues', ' '))))
		UNION ALL SELECT format('trigger %s on %s', t.tgname, t.tgrelid::regclass) FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid
			WHERE c.relnamespace IN ('ai'::regnamespace, 'alice'::regnamespace) AND c.relowner <> 'mallory'::regrole
		UNION ALL SELECT format('event trigger %s %s %s', e.evtname, e.evtenabled, e.evtfoid::regproc) FROM pg_event_trigger e
		UNION ALL SELECT format('extension %s %s', e.extname, e.extowner::regrole) FROM pg_extension e
		UNION ALL SELECT format('in the server''s own schema: %s', count(*)) FROM pg_depend d JOIN pg_proc p ON p.oid = d.objid
			WHERE p.pronamespace = 'pg_catalog'::regnamespace
		UNION ALL SELECT format('secret %s', md5(s::text)) FROM ai._secret s
		UNION ALL SELECT format('permission %s', p) FROM ai._secret_permission p
		UNION ALL SELECT format('vectorizer %s', md5(v::text)) FROM ai.vectorizer v WHERE v.id = $self->{alice}
		UNION ALL SELECT format('pause %s', p) FROM ai._vectorizer_pause p WHERE p.vectorizer_id = $self->{alice}
		UNION ALL SELECT format('entry %s', entry) FROM alice.diary
		UNION ALL SELECT format('row %s', d) FROM alice.docs d WHERE d.id <= 0 OR d.body <> 'probe ' || d.id
		UNION ALL SELECT format('failed row %s', f) FROM ai._vectorizer_q_failed_$self->{alice} f
		UNION ALL SELECT format('of mallory: %s', l) FROM mallory.loot l WHERE l.how ~ 'canary|^left in|^ran as' OR l.who <> 'mallory') lines});
}

# What is different by now, a line each.
sub _changes
{
	my ($self, $before) = @_;
	my $after = $self->_order;
	my %before = map { $_ => 1 } split /\n/, $before;
	my %after = map { $_ => 1 } split /\n/, $after;
	return join "\n", (map { "- $_" } grep { !$after{$_} } sort keys %before), (map { "+ $_" } grep { !$before{$_} } sort keys %after);
}

# What mallory does: setup, trigger and rows, or statements; returns what was refused.
sub _attack
{
	my ($self, $attempt) = @_;
	$self->as('mallory', $attempt->{setup}) if $attempt->{setup};
	$self->_arm($attempt->{trigger}) if $attempt->{trigger};
	if ($attempt->{holding})
	{
		my $session = $self->node->background_psql('postgres', extra_params => [ '-U', 'mallory' ]);
		$session->query_safe($attempt->{holding});
		$self->{session} = $session;
	}
	$self->_rounds($attempt->{rounds}) if $attempt->{rounds};
	if ($attempt->{rows})
	{
		$self->as('mallory', "INSERT INTO mallory.$_ SELECT n, 'text ' || n FROM generate_series(1, $attempt->{rows}) n")
			foreach qw(docs notes);
	}
	return '' if !$attempt->{attack};
	return $attempt->{attack}->($self) // '' if ref $attempt->{attack};
	return ($self->says('mallory', $attempt->{attack}))[1];
}

sub _arm
{
	my ($self, $statements) = @_;
	$self->as('mallory', qq{
		CREATE FUNCTION mallory.attack() RETURNS trigger LANGUAGE plpgsql AS \$attack\$
		BEGIN PERFORM mallory.strike('a trigger'); $statements RETURN NEW; END \$attack\$;
		CREATE TRIGGER attack BEFORE INSERT OR UPDATE ON mallory.docs_embedding_store FOR EACH ROW EXECUTE FUNCTION mallory.attack();
		CREATE TRIGGER attack BEFORE INSERT OR UPDATE ON mallory.notes_embedding_store FOR EACH ROW EXECUTE FUNCTION mallory.attack()});
	return;
}

# One row after the other, in turns.
sub _rounds
{
	my ($self, $rounds) = @_;
	foreach my $round (1 .. $rounds)
	{
		my $table = $round % 2 ? 'docs' : 'notes';
		my $seen = $self->sql('SELECT last_value FROM mallory.seen');
		$self->as('mallory', "INSERT INTO mallory.$table VALUES (1000 + $round, 'round $round')");
		$self->_within(5, "SELECT ai.vectorizer_queue_pending('$table', true) = 0
			OR EXISTS (SELECT FROM ai.jobs('$table') WHERE status IN ('retryable', 'failed'))");
	}
	return;
}

# Ends the session that is held open, unless it has ended itself.
sub _leave
{
	my ($self) = @_;
	my $session = delete $self->{session};
	eval { $session->quit; 1 } or diag("the session of mallory: $@") if $session;
	return;
}

sub _clean
{
	my ($self, $attempt) = @_;
	$self->_leave;
	$self->mock->rules;
	$self->mock->release;
	if (ref $attempt->{cleanup})
	{
		$attempt->{cleanup}->($self);
	}
	elsif ($attempt->{cleanup})
	{
		my (undef, $error) = $self->says('mallory', $attempt->{cleanup});
		diag("cleaning up: $error") if $error ne '';
	}
	$self->as('mallory', q{SET lock_timeout = '60s'; DROP FUNCTION IF EXISTS mallory.attack() CASCADE;
		DELETE FROM mallory.docs; DELETE FROM mallory.notes; TRUNCATE mallory.loot; ALTER SEQUENCE mallory.seen RESTART});
	# A vectorizer whose every row was refused rests for a while, unless it has changed.
	$self->sql("DELETE FROM ai._vectorizer_errors; UPDATE ai.vectorizer SET disabled = disabled WHERE id <> $self->{alice};
		SELECT ai._vectorizer_notify()");
	return;
}

# What an attempt that succeeded has done to the server.
sub _recover
{
	my ($self, $attempt) = @_;
	$self->_leave;
	$self->engine->set('ai.workers' => 0);
	# In order, if that is possible: who dies with rows is taken for ended by them.
	$self->node->stop('fast', fail_ok => 1) or $self->node->stop('immediate');
	$self->node->start;
	$self->sql(q{ALTER ROLE mallory NOSUPERUSER; DELETE FROM ai._vectorizer_pause; DELETE FROM ai.provider});
	$self->_clean($attempt);
	$self->engine->set('ai.workers' => 2);
	$self->poll(q{SELECT count(*) = 2 FROM pg_stat_activity WHERE backend_type = 'ai worker'}) or die 'no workers';
	return;
}

# Runs attempts one by one; each is a test.
sub try    ## no critic (ProhibitBuiltinHomonyms)
{
	my ($self, @attempts) = @_;
	foreach my $attempt (@attempts)
	{
		local $Test::Builder::Level = $Test::Builder::Level + 1;
		my $repelled = subtest($attempt->{name} => sub { eval { $self->_try($attempt); 1 } or fail("it could not be tried: $@"); });
		push @{ $self->{tried} }, { %$attempt, repelled => $repelled };
		$repelled ? $self->_clean($attempt) : $self->_recover($attempt);
		$self->_drained($_) || diag("rows of $_ are left over") foreach qw(docs notes);
	}
	return;
}

sub _try
{
	my ($self, $attempt) = @_;
	my $before = $self->_order;
	my @workers = sort $self->engine->workers;
	my $error = $self->_attack($attempt);
	like($error, $attempt->{refused} // qr/\A\z/, $attempt->{refused} ? 'refused' : 'runs') if $attempt->{attack};
	$attempt->{outcome} = $error =~ s/\n.*//sr;

	my $reached = $attempt->{reached} // ($attempt->{trigger} || $attempt->{marked} ? 'SELECT is_called FROM mallory.seen' : undef);
	ok($self->_within(10, $reached), 'it is under way') if $reached;
	my $lag = max(map { $self->probe } 1 .. 3);
	if ($attempt->{errors})
	{
		ok($self->_within(10, q{SELECT count(*) > 0 FROM ai.vectorizer_errors WHERE name <> 'alice'}), 'an error is noted');
		my $errors = $self->as('mallory', q{SELECT string_agg(message, ' | ' ORDER BY recorded) FROM ai.vectorizer_errors});
		like($errors, $attempt->{errors}, 'and says what it was');
		$attempt->{outcome} ||= $errors;
	}
	while (my ($query, $answer) = splice @{ $attempt->{check} // [] }, 0, 2)
	{
		$self->_within(10, "SELECT ($query)::text = '$answer'");
		is($self->sql("SELECT ($query)::text"), $answer, "afterwards: $query");
	}
	$lag = max($lag, $self->probe);

	my $allowed = $self->{base} + ($attempt->{limit} // $limit);
	cmp_ok($lag, '<', $allowed, sprintf('a row of alice is held up by no more than %.2f s: %.2f s', $allowed, $lag));
	is($self->_changes($before), '', 'no right, no secret, nothing of another was touched');
	is(join(' ', sort $self->engine->workers), "@workers", 'the workers are the same');
	$attempt->{lag} = $lag;
	return;
}

# Statements that mallory runs one by one, with a search_path that begins with her schema: what they return has no
# secret in it, with none it is nothing at all, and what they do changes nothing; alice is asked once in a while. An
# attempt has a name and a call.
sub calls
{
	my ($self, @attempts) = @_;
	my $before = $self->_order;
	my @workers = sort $self->engine->workers;
	foreach my $attempt (@attempts)
	{
		my ($output, $error) = $self->says('mallory', "SET statement_timeout = '10s'; SET search_path = mallory, pg_catalog; $attempt->{call}");
		my @wrong = ($output =~ /canary/ ? "tells a secret: $output" : (), $attempt->{none} && $output ne '' ? "could: $output" : ());
		push @wrong, $self->_changes($before) if $error eq '';
		push @wrong, "it was not tried: $error" if $error =~ /42883: function ai\.|psql failed|for schema alice(?!.*^CONTEXT)/ms;
		ok(!grep({ $_ ne '' } @wrong), $attempt->{name}) or diag(join "\n", $attempt->{call}, @wrong);
		$attempt->{lag} = @{ $self->{tried} } % 10 ? 0 : $self->probe;
		push @{ $self->{tried} }, { %$attempt, repelled => !grep({ $_ ne '' } @wrong), outcome => $error eq '' ? 'no effect on others' : $error =~ s/\n.*//sr };
	}
	my $lag = max(map { $_->{lag} } @attempts);
	cmp_ok($lag, '<', $self->{base} + $limit, sprintf('alice is held up by none of them: %.2f s', $lag));
	is(join(' ', sort $self->engine->workers), "@workers", 'the workers are the same');
	$self->_clean({});
	return;
}

# What was tried, and how it ended.
sub done
{
	my ($self) = @_;
	my @failed = grep { !$_->{repelled} } @{ $self->{tried} };
	note(sprintf '%-8s %6s  %s', 'result', 'lag', 'what was tried: what stopped it');
	foreach my $attempt (@{ $self->{tried} })
	{
		note(sprintf '%-8s %5.2fs  %s%s', $attempt->{repelled} ? 'repelled' : 'HARM', $attempt->{lag} // -1, $attempt->{name},
			$attempt->{outcome} ? ': ' . substr($attempt->{outcome}, 0, 120) : '');
	}
	note(sprintf '%d attempts, %d of them did harm', scalar @{ $self->{tried} }, scalar @failed);
	unlike(slurp_file($self->node->logfile), qr/PANIC:|TRAP:|terminated by signal/, 'no process crashed');
	unlike(slurp_file($self->node->logfile), qr/canary-of-the-key/, 'the key is not in the log');
	$self->node->stop;
	return scalar @{ $self->{tried} };
}

1;
