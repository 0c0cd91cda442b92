# EngineTest.pm: a server with ai, a mock provider and settings that make faults pass quickly; and the
# check that every test of the engine ends with.
#
#   my $engine = EngineTest->new('main');
#   $engine->vectorizer('src', name => 'v');
#   $engine->sql(q{INSERT INTO src VALUES (1, 'a text')});
#   $engine->is_settled('v', 'inserted');
#
# is_settled waits until there is nothing to do, then compares: every row of the source has exactly the
# chunks of its current text, each with its vector; nothing else is in the target; queue and table of
# work are empty; the failed rows are the expected ones.
package EngineTest;

use strict;
use warnings FATAL => 'all';

use List::Util qw(max);
use MockProvider;
use PollSession;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(time usleep);

# Options: conf (more settings), streaming (for standbys), mock (one that is there already), install_path
# (another installation of the server).
sub new
{
	my ($class, $name, %options) = @_;
	my $mock = $options{mock} // MockProvider->start;
	my $node = PostgreSQL::Test::Cluster->new($name, $options{install_path} ? (install_path => $options{install_path}) : ());
	$node->init(allows_streaming => $options{streaming} // 0);
	$node->append_conf('postgresql.conf', qq{
shared_preload_libraries = 'ai'
max_worker_processes = 20
restart_after_crash = on
fsync = off
jit = off
ai.openai_base_url = '@{[ $mock->url ]}/v1'
ai.openai_api_key = 'key'
ai.retry_delay = '100ms'
ai.breaker_pause = '500ms'
ai.poll_interval = '1s'
ai.heartbeat_interval = '1s'
@{[ $options{conf} // '' ]}
});
	$node->start;
	my $self = bless { node => $node, mock => $mock }, $class;
	$self->sql('CREATE EXTENSION ai CASCADE');
	return $self;
}

# Whether the long versions are wanted, and where the dice start: a failure can be had again.
sub long { return $ENV{AI_CHAOS} || 0; }

sub seed
{
	my $seed = $ENV{AI_SEED} || 1 + int(rand 2**31);
	note("AI_SEED=$seed");
	srand $seed;
	return $seed;
}

sub node { return $_[0]{node}; }
sub mock { return $_[0]{mock}; }

# The same for another database (database) or server (node).
sub elsewhere
{
	my ($self, %place) = @_;
	return bless { %$self, %place }, ref $self;
}

sub database { my ($self, $name) = @_; return $name // $self->{database} // 'postgres'; }

sub sql
{
	my ($self, $statement, $database) = @_;
	return $self->{node}->safe_psql($self->database($database), $statement);
}

sub poll
{
	my ($self, $query, $database) = @_;
	return poll_node($self->{node}, $self->database($database), $query);
}

# How many times as long things may take as on a machine that has nothing else to do: by what else runs
# on it, and by sanitizers. Neither is what is tested.
sub slowness
{
	my ($load, $running) = slurp_file('/proc/loadavg') =~ m{\A(\S+) \S+ \S+ (\d+)/};
	my $cores = max(1, scalar(() = slurp_file('/proc/cpuinfo') =~ /^processor\s*:/mg));
	return (1 + max($load, $running) / $cores) * ($ENV{SANITIZE} ? 5 : 1);
}

# What has to be over in so many seconds.
sub takes_less
{
	my ($seconds, $test, $code) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	my $start = time;
	$code->();
	my $taken = time - $start;
	cmp_ok($taken, '<', $seconds * slowness(), sprintf('%s: %.2f s', $test, $taken));
	return;
}

# SIGTERM ends processes in so many seconds, as the server sees it.
sub ends_in
{
	my ($self, $seconds, $test, @pids) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	my $taken = $self->sql(qq{
		WITH start AS MATERIALIZED (SELECT clock_timestamp() AS at),
		gone AS MATERIALIZED (SELECT bool_and(pg_terminate_backend(pid, 60000)) AS ok
			FROM start, unnest('{@{[ join ',', @pids ]}}'::int[]) pid)
		SELECT extract(epoch FROM clock_timestamp() - at) FROM start, gone WHERE ok}, 'template1');
	$taken = 60 if $taken eq '';    # not all of them, or there were none
	cmp_ok($taken, '<', $seconds * slowness(), sprintf('%s: %.2f s', $test, $taken));
	return;
}

# Looks at all processes of the extension again and again, and returns: how often one had a transaction
# or a snapshot open while it waited; how often while it worked; how many waits were seen; how many
# looks there were. What pg_stat_activity says of a process is not of one moment: one that is just
# waking up may seem to wait still. But who waits with a transaction has it from the first look on.
sub open_transactions
{
	my ($node, $samples, $pause) = @_;
	return split /\|/, $node->safe_psql('postgres', qq{
		CREATE TEMP TABLE seen (look int, pid int, state text, since timestamptz, is_open boolean);
		DO \$\$ BEGIN
			FOR i IN 1..$samples LOOP
				PERFORM pg_stat_clear_snapshot();
				INSERT INTO seen SELECT i, pid, state, state_change, backend_xmin IS NOT NULL OR backend_xid IS NOT NULL
				FROM pg_stat_activity WHERE backend_type LIKE 'ai %';
				PERFORM pg_sleep($pause);
			END LOOP;
		END \$\$;
		WITH spell AS (SELECT state, count(*) AS looks, bool_and(is_open) AS is_open FROM seen GROUP BY pid, state, since)
		SELECT count(*) FILTER (WHERE state = 'idle' AND looks > 1 AND is_open),
			(SELECT count(DISTINCT look) FROM seen WHERE is_open),
			count(*) FILTER (WHERE state = 'idle' AND looks > 1), $samples FROM spell});
}

# Asks until the answer is the expected one, in one session for as long as that lasts: a psql for each
# question takes more of the machine than what is waited for. False if time runs out.
sub poll_node
{
	my ($node, $database, $query, $expected) = @_;
	$expected //= 't';
	my $end = time + $PostgreSQL::Test::Utils::timeout_default;
	my ($session, $answer);
	while (time < $end)
	{
		$session //= PollSession->new($node->connstr($database));
		$answer = $session->ask($query, $end);
		return 1 if defined $answer && $answer eq $expected;
		$session = undef if !defined $answer;
		usleep(50_000);
	}
	diag("timed out waiting for '$expected' from $query\nthe last answer: " . ($answer // 'none'));
	return 0;
}

# Changes settings. When it returns, new sessions have them, and running processes have been told.
sub set
{
	my ($self, %settings) = @_;
	return change_settings($self->{node}, %settings);
}

sub change_settings
{
	my ($node, %settings) = @_;
	$node->safe_psql('template1', "ALTER SYSTEM SET $_ = '$settings{$_}'") foreach sort keys %settings;
	my $before = $node->safe_psql('template1', 'SELECT pg_conf_load_time()');
	$node->reload;
	poll_node($node, 'template1', "SELECT pg_conf_load_time() > '$before'") or die 'the server does not reload';
	return;
}

# A vectorizer of the column body; arguments are SQL. Returns its number.
sub vectorizer
{
	my ($self, $source, %arguments) = @_;
	my %all = (
		loading    => q{ai.loading_column('body')},
		embedding  => q{ai.embedding_openai('mock-8', 8)},
		formatting => q{ai.formatting_python_template('$chunk')}, %arguments);
	$all{name} = "'$all{name}'";
	return $self->sql("SELECT ai.create_vectorizer('$source', "
			. join(', ', map { "$_ => $all{$_}" } sort keys %all) . ')');
}

# A table with an integer as key, and a vectorizer of the same name.
sub table
{
	my ($self, $name, %arguments) = @_;
	$self->sql("CREATE TABLE $name (id int PRIMARY KEY, body text)");
	return $self->vectorizer($name, name => $name, %arguments);
}

# The same, both of a role.
sub table_of
{
	my ($self, $role, $name, %arguments) = @_;
	$self->sql("CREATE TABLE $name (id int PRIMARY KEY, body text); ALTER TABLE $name OWNER TO $role");
	return $self->vectorizer($name, name => $name, %arguments);
}

# A new row of such a table is embedded within two seconds, on a machine that has nothing else to do.
sub is_prompt
{
	my ($self, $table, $test) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	my $id = ++$self->{prompts};
	my $start = time;
	$self->sql("INSERT INTO $table VALUES ($id, 'good $id')");
	$self->poll("SELECT EXISTS (SELECT FROM ${table}_embedding_store WHERE id = $id)") or return fail($test);
	my $taken = time - $start;
	return cmp_ok($taken, '<', 2 * slowness(), sprintf('%s: %.2f s', $test, $taken));
}

sub id { my ($self, $name) = @_; return $self->sql("SELECT id FROM ai.vectorizer WHERE name = '$name'"); }

sub drained
{
	my ($self, $name) = @_;
	return $self->poll("SELECT ai.vectorizer_queue_pending('$name', true) = 0");
}

# Waits until the counters are complete: workers add to them with their heartbeats.
sub counted
{
	my ($self) = @_;
	my $alive = $self->sql(q{SELECT coalesce(jsonb_object_agg(p.id, p.heartbeat_count), '{}') FROM ai.vectorizer_worker_process p
		JOIN ai.worker w ON w.details ->> 'process' = p.id::text AND w.status = 'healthy'});
	return $self->poll(qq{SELECT count(*) = 0 FROM jsonb_each_text('$alive') a JOIN ai.vectorizer_worker_process p ON p.id = a.key::uuid
		JOIN ai.worker w ON w.details ->> 'process' = a.key AND w.status = 'healthy' WHERE p.heartbeat_count < a.value::bigint + 2});
}

# Names of a vectorizer's tables and columns, as SQL.
sub _parts
{
	my ($self, $name) = @_;
	my $quoted = q{format('%I.%I', n.nspname, c.relname)};
	my $relation = sub { "(SELECT $quoted FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.oid = v.$_[0])" };
	my @parts = split /\t/, $self->sql(qq{
		SELECT concat_ws(E'\\t', v.id, @{[ join ', ', map { $relation->($_) } qw(source queue work failed) ]},
			coalesce(@{[ $relation->('target') ]}, '-'), quote_ident(v.config #>> '{loading,column_name}'),
			ai._key_list(v.source_pk, 's.%1\$s'), ai._key_list(v.source_pk, 't.%3\$s'),
			coalesce(quote_ident(v.config #>> '{destination,embedding_column}'), '-'))
		FROM ai.vectorizer v WHERE v.name = '$name'}), -1;
	my %parts;
	@parts{qw(id source queue work failed target body source_key target_key column)} = @parts;
	return \%parts;
}

# What differs between the chunks that should be there and those that are. text is the SQL for the text
# of a chunk c of a row s; where leaves out rows that were given up.
sub _difference
{
	my ($self, $parts, $text, $where) = @_;
	my $expected = qq{
		SELECT ROW($parts->{source_key})::text AS key,
			row_number() OVER (PARTITION BY $parts->{source_key} ORDER BY c.seq) - 1 AS seq, $text AS chunk
		FROM $parts->{source} s, ai.vectorizer v, ai.chunk(v.config -> 'chunking', s.$parts->{body}::text) c
		WHERE v.id = $parts->{id} AND btrim($text, E' \\t\\r\\n') <> '' AND ($where)};
	my $found = qq{SELECT ROW($parts->{target_key})::text AS key, t.chunk_seq::bigint AS seq, t.chunk
		FROM $parts->{target} t};
	return $self->sql(qq{
		WITH expected AS ($expected), found AS ($found)
		SELECT count(*), (SELECT format('%s %s %s %s', d.what, d.key, d.seq, left(d.chunk, 40)) FROM (
			SELECT 'missing' AS what, * FROM (SELECT * FROM expected EXCEPT ALL SELECT * FROM found) m
			UNION ALL
			SELECT 'too much', * FROM (SELECT * FROM found EXCEPT ALL SELECT * FROM expected) m) d LIMIT 1)
		FROM ((SELECT * FROM expected EXCEPT ALL SELECT * FROM found)
			UNION ALL (SELECT * FROM found EXCEPT ALL SELECT * FROM expected)) d}) =~ s/\A0\|\z//r;
}

# How many of a sample of vectors are not those of their texts.
sub _wrong_vectors
{
	my ($self, $sample) = @_;
	my $wrong = 0;
	foreach my $line (split /\n/, $self->sql($sample))
	{
		my ($hex, $vector) = split /\|/, $line;
		my @found = split /,/, $vector =~ tr/[]//dr;
		my $expected = MockProvider::vector(pack('H*', $hex), scalar @found);
		$wrong++ if grep { abs($found[$_] - $expected->[$_]) > 1e-3 } 0 .. $#found;
	}
	return $wrong;
}

# The check. Options: failed (how many rows were given up; 0), text and where as in _difference.
sub is_settled
{
	my ($self, $name, $test, %options) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	my @wrong;
	push @wrong, 'still at work: ' . $self->sql("SELECT string_agg(j::text, ' ') FROM (SELECT * FROM ai.jobs('$name') LIMIT 3) j")
		if !$self->drained($name);
	my $parts = $self->_parts($name);
	my $left = $self->sql("SELECT (SELECT count(*) FROM $parts->{queue}), (SELECT count(*) FROM $parts->{work}),
		(SELECT count(*) FROM $parts->{failed})");
	my $expected = '0|0|' . ($options{failed} // 0);
	push @wrong, "queue, work and failed are $left, not $expected" if $left ne $expected;
	push @wrong, $parts->{column} eq '-'
		? $self->_wrong_table($parts, $options{text} // 'c.chunk', $options{where} // 'true')
		: $self->_wrong_column($parts, $options{where} // 'true');
	ok(!@wrong, $test) or diag(join "\n", @wrong);
	return !@wrong;
}

sub _wrong_table
{
	my ($self, $parts, $text, $where) = @_;
	my $difference = $self->_difference($parts, $text, $where);
	my $wrong = $self->_wrong_vectors(qq{SELECT encode(convert_to(chunk, 'UTF8'), 'hex'), embedding
		FROM $parts->{target} ORDER BY random() LIMIT 50});
	return ($difference ? "chunks: $difference" : (), $wrong ? "$wrong wrong vectors" : ());
}

sub _wrong_column
{
	my ($self, $parts, $where) = @_;
	my $text = "btrim($parts->{body}, E' \\t\\r\\n')";
	my $bad = $self->sql(qq{SELECT count(*) FROM $parts->{source} s
		WHERE ($parts->{column} IS NULL) <> (coalesce($text, '') = '') AND ($where)});
	my $wrong = $self->_wrong_vectors(qq{SELECT encode(convert_to($parts->{body}, 'UTF8'), 'hex'), $parts->{column}
		FROM $parts->{source} s WHERE $parts->{column} IS NOT NULL AND ($where) ORDER BY random() LIMIT 50});
	return ($bad ? "$bad rows without a vector, or with one too many" : (), $wrong ? "$wrong wrong vectors" : ());
}

# Process ids of the workers of a database.
sub workers
{
	my ($self, $database) = @_;
	return split /\n/, $self->{node}->safe_psql('template1',
		"SELECT pid FROM pg_stat_activity WHERE backend_type = 'ai worker' AND datname = '@{[ $self->database($database) ]}'");
}

1;
