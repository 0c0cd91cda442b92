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

use MockProvider;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(time);

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

sub sql
{
	my ($self, $statement, $database) = @_;
	return $self->{node}->safe_psql($database // 'postgres', $statement);
}

sub poll
{
	my ($self, $query, $database) = @_;
	return poll_node($self->{node}, $database // 'postgres', $query);
}

# What has to be over in so many seconds. Sanitizers make all things slow, which is not what is tested.
sub takes_less
{
	my ($seconds, $test, $code) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	my $start = time;
	$code->();
	my $taken = time - $start;
	cmp_ok($taken, '<', $seconds * ($ENV{SANITIZE} ? 5 : 1), sprintf('%s: %.2f s', $test, $taken));
	return;
}

# Waits for an answer through crashes of the server: psql may be gone before it was told the query,
# which IPC::Run dies of.
sub poll_node
{
	my ($node, $database, $query, $expected) = @_;
	foreach (1 .. 1000)
	{
		my $answered;
		return $answered if eval { $answered = $node->poll_query_until($database, $query, $expected // 't'); 1 };
		die $@ if $@ !~ /Broken pipe/;
	}
	return 0;
}

# Changes settings for the running processes.
sub set
{
	my ($self, %settings) = @_;
	$self->sql("ALTER SYSTEM SET $_ = '$settings{$_}'") foreach sort keys %settings;
	$self->{node}->reload;
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

sub id { my ($self, $name) = @_; return $self->sql("SELECT id FROM ai.vectorizer WHERE name = '$name'"); }

sub drained
{
	my ($self, $name) = @_;
	return $self->poll("SELECT ai.vectorizer_queue_pending('$name', true) = 0");
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
	$database //= 'postgres';
	return split /\n/, $self->{node}->safe_psql('template1',
		"SELECT pid FROM pg_stat_activity WHERE backend_type = 'ai worker' AND datname = '$database'");
}

1;
