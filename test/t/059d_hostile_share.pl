# A role that asks for more than its share: priorities, masses of rows and jobs, providers that fail for its texts. Nobody
# else is held up. See lib/Hostile.pm for what holds after each attempt.
use strict;
use warnings FATAL => 'all';
use Hostile;
use Test::More;

my $hostile = Hostile->new('main');
my $job = "embedding => $hostile->{ollama}";

sub table
{
	my ($name, $columns, %arguments) = @_;
	return "CREATE TABLE mallory.$name ($columns); SELECT ai.create_vectorizer('mallory.$name', @{[ $hostile->arguments($name, %arguments) ]});";
}
sub drop { my ($name) = @_; return "SELECT ai.drop_vectorizer(id, drop_all => true) FROM ai.vectorizer_status WHERE name = '$name'; DROP TABLE IF EXISTS mallory.$name CASCADE;"; }

# Rules of the provider, then SQL of mallory.
sub with_rules { my ($rules, $statement) = @_; return sub { $_[0]->mock->rules(@$rules); return ($_[0]->says('mallory', $statement))[1]; }; }

# -- precedence

$hostile->try(
	{
		name    => 'a vectorizer of the highest priority',
		setup   => 'CREATE TABLE mallory.odd (id int PRIMARY KEY, body text)',
		attack  => "SELECT ai.create_vectorizer('mallory.odd', @{[ $hostile->arguments('odd', processing => 'ai.processing_default(priority => 32767)') ]})",
		refused => qr/42501: /,
		cleanup => q{SELECT ai.drop_vectorizer(id, drop_all => true) FROM ai.vectorizer_status WHERE name = 'odd'; DROP TABLE mallory.odd},
	},
	{
		name    => 'a thousand urgent jobs',
		attack  => "SELECT count(ai.create_embedding_job('text ' || n, $job, priority => 'urgent')) FROM generate_series(1, 1000) n",
		refused => qr/42501: /,
		cleanup => sub { $_[0]->sql('DELETE FROM ai.embedding_jobs') },
	},
	{
		name    => '5,000 jobs of high priority, at a provider that takes its time',
		attack  => with_rules([ { text => 'many', latency_ms => 200 } ],
			"SELECT count(ai.create_embedding_job('many ' || n, $job, priority => 'high')) FROM generate_series(1, 5000) n"),
		cleanup => sub { $_[0]->sql('DELETE FROM ai.embedding_jobs') },
	},
	{
		name    => '5,000 rows of the highest priority that she may have, at a provider that takes its time',
		setup   => table('odd', 'id int PRIMARY KEY, body text', processing => 'ai.processing_default(batch_size => 1, priority => 100)'),
		attack  => with_rules([ { text => 'many', latency_ms => 200 } ], q{INSERT INTO mallory.odd SELECT n, 'many ' || n FROM generate_series(1, 5000) n}),
		cleanup => drop('odd'),
	},
	{
		name    => '5,000 rows whose priority_column says 32767',
		setup   => table('odd', 'id int PRIMARY KEY, body text, rank int2', processing => q{ai.processing_default(batch_size => 1, priority_column => 'rank')}),
		attack  => with_rules([ { text => 'many', latency_ms => 200 } ], q{INSERT INTO mallory.odd SELECT n, 'many ' || n, 32767 FROM generate_series(1, 5000) n}),
		cleanup => drop('odd'),
	},
	{
		name    => 'rows in 30 vectorizers at once',
		setup   => join('', map { table("many$_", 'id int PRIMARY KEY, body text') } 1 .. 30),
		attack  => with_rules([ { text => 'many', latency_ms => 200 } ], join(';', map { "INSERT INTO mallory.many$_ SELECT n, 'many ' || n FROM generate_series(1, 200) n" } 1 .. 30)),
		cleanup => join('', map { drop("many$_") } 1 .. 30),
	},
);

# -- a provider that fails for her texts, and works for others

$hostile->try(
	{
		name    => 'twenty texts at which the provider fails with 500',
		attack  => with_rules([ { text => 'poison', status => 500 } ], q{INSERT INTO mallory.docs SELECT n, 'poison ' || n FROM generate_series(1, 20) n}),
		check   => [ q{SELECT count(*) > 0 FROM ai.jobs('docs') WHERE attempts > 0}, 'true' ],
	},
	{
		name    => 'texts at which the provider fails, in two vectorizers and as jobs',
		attack  => with_rules([ { text => 'poison', status => 503 } ], qq{INSERT INTO mallory.docs SELECT n, 'poison ' || n FROM generate_series(1, 20) n;
			INSERT INTO mallory.notes SELECT n, 'poison ' || n FROM generate_series(1, 20) n; SELECT ai.create_embedding_job('poison ' || n, $job) FROM generate_series(1, 20) n}),
		cleanup => sub { $_[0]->sql('DELETE FROM ai.embedding_jobs') },
	},
	{
		name    => 'texts at which the provider closes the connection',
		attack  => with_rules([ { text => 'poison', close => 'before' } ], q{INSERT INTO mallory.docs SELECT n, 'poison ' || n FROM generate_series(1, 20) n}),
	},
	{
		name    => 'texts at which the provider hangs',
		attack  => with_rules([ { text => 'poison', hang => 'before' } ], q{INSERT INTO mallory.docs SELECT n, 'poison ' || n FROM generate_series(1, 100) n;
			INSERT INTO mallory.notes SELECT n, 'poison ' || n FROM generate_series(1, 100) n}),
	},
	{
		name    => 'texts that the provider refuses, hundreds of them',
		attack  => with_rules([ { text => 'poison', status => 400 } ], q{INSERT INTO mallory.docs SELECT n, 'poison ' || n FROM generate_series(1, 500) n}),
	},
	{
		name    => 'a model that does not exist',
		setup   => table('odd', 'id int PRIMARY KEY, body text', embedding => $hostile->{ollama} =~ s/mock-8/no-such-model/r),
		attack  => with_rules([ { model => 'no-such-model', status => 404 } ], q{INSERT INTO mallory.odd SELECT n, 'text ' || n FROM generate_series(1, 50) n}),
		cleanup => drop('odd'),
	},
	{
		name    => 'vectors of the wrong size',
		setup   => table('odd', 'id int PRIMARY KEY, body text', embedding => $hostile->{ollama} =~ s/'mock-8', 8/'mock-8', 16/r),
		attack  => q{INSERT INTO mallory.odd SELECT n, 'text ' || n FROM generate_series(1, 50) n},
		cleanup => drop('odd'),
	},
);

# -- work that takes long

$hostile->try(
	{
		name    => 'texts of 8 MB that make many chunks',
		setup   => table('odd', 'id int PRIMARY KEY, body text', chunking => 'ai.chunking_recursive_character_text_splitter(200, 0)', processing => ''),
		attack  => q{INSERT INTO mallory.odd SELECT n, repeat('some words ', 700000) FROM generate_series(1, 4) n},
		cleanup => drop('odd'),
	},
	{
		name    => 'a separator whose pattern takes for ever',
		setup   => table('odd', 'id int PRIMARY KEY, body text', chunking => q{ai.chunking_character_text_splitter(100, 0, separator => '(a+)+b', is_separator_regex => true)}),
		attack  => q{INSERT INTO mallory.odd SELECT n, repeat('a', 100000) FROM generate_series(1, 10) n},
		cleanup => drop('odd'),
	},
	{
		name    => 'a trigger that takes half a second for each row',
		trigger => q{PERFORM pg_sleep(0.5);},
		rows    => 30,
	},
	{
		name    => 'a vectorizer that is made and dropped again and again',
		setup   => 'CREATE TABLE mallory.odd (id int PRIMARY KEY, body text)',
		attack  => join(';', map { "SELECT ai.create_vectorizer('mallory.odd', @{[ $hostile->arguments('odd') ]}); INSERT INTO mallory.odd VALUES ($_, 'text');
			SELECT ai.drop_vectorizer('odd', drop_all => true)" } 1 .. 20),
		cleanup => 'DROP TABLE mallory.odd',
	},
	{
		name    => 'twenty thousand changes of one row',
		attack  => q{INSERT INTO mallory.docs VALUES (1, 'text'); DO $$ BEGIN FOR i IN 1..20000 LOOP UPDATE mallory.docs SET body = 'text ' || i WHERE id = 1; END LOOP; END $$},
	},
);

cmp_ok($hostile->done, '>=', 18, 'attempts');
done_testing();
