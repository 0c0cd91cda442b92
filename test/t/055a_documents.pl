# Documents of megabytes: the workers share them, and none needs much memory of its own.
use strict;
use warnings FATAL => 'all';
use EngineTest;
use List::Util qw(max sum);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(sleep time);

my $documents = EngineTest::long() ? 50 : 20;
my $most = 100;    # MB
my $engine = EngineTest->new('main', conf => q{
ai.workers = 2
ai.idle_timeout = -1
});
my ($node, $mock) = ($engine->node, $engine->mock);
sub sql { return $engine->sql(@_); }

# What a process has of its own, in MB: what it shares with others is the server's.
sub private_memory
{
	my ($pid) = @_;
	my $status = eval { slurp_file("/proc/$pid/status") } // '';
	return $status =~ /RssAnon:\s+(\d+)/ ? $1 / 1024 : 0;
}

# The number of rows that each process has stored.
sub shares
{
	my ($name) = @_;
	return map { [ split /\|/ ] } split /\n/, sql("SELECT process, count(*) FROM stored WHERE name = '$name' GROUP BY 1 ORDER BY 1");
}

# Fills a table with documents and waits until they are embedded. Returns the most memory of each worker meanwhile.
sub embed_documents
{
	my ($name, $text, %arguments) = @_;
	$engine->table($name, %arguments);
	sql("CREATE TRIGGER note AFTER INSERT ON ${name}_embedding_store FOR EACH ROW WHEN (new.chunk_seq = 0) EXECUTE FUNCTION note_process('$name')");
	sql("INSERT INTO $name SELECT n, $text FROM generate_series(1, $documents) n");
	my ($start, %peak) = (time);
	while (sql("SELECT count(*) FROM stored WHERE name = '$name'") < $documents && time - $start < 300)
	{
		foreach my $pid ($engine->workers)
		{
			$peak{$pid} = max($peak{$pid} // 0, private_memory($pid)) foreach 1 .. 10;
		}
	}
	ok($engine->drained($name), sprintf('%s: %d documents in %.1f s', $name, $documents, time - $start));
	return \%peak;
}

sub is_shared
{
	my ($name) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	my @shares = map { $_->[1] } shares($name);
	return ok(@shares == 2 && !grep({ $_ < $documents / 4 } @shares), "$name: both workers do their part: @shares");
}

sub stays_small
{
	my ($name, $peak) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	return cmp_ok(max(values %$peak), '<', $most * ($ENV{SANITIZE} ? 10 : 1),
		sprintf('%s: a worker has little memory of its own: %s MB', $name, join ' and ', map { sprintf '%.0f', $_ } values %$peak));
}

sql(q{CREATE TABLE stored (name text, process int);
	CREATE FUNCTION note_process() RETURNS trigger LANGUAGE plpgsql AS
		'BEGIN INSERT INTO public.stored VALUES (TG_ARGV[0], pg_backend_pid()); RETURN NULL; END'});
$mock->rules({ latency_ms => 50 });

# Five megabytes that do not compress well, of texts that differ.
my $text = q{(SELECT string_agg(md5(n || ' ' || m), ' ') FROM generate_series(1, 160000) m)};
my $chunking = q{ai.chunking_character_text_splitter(chunk_size => %d, chunk_overlap => 0, separator => ' ')};

# Without chunks a text is cut to what the model takes, but it is read and kept as a whole.
my $peak = embed_documents('whole', $text, chunking => 'ai.chunking_none()');
is_shared('whole');
stays_small('whole', $peak);

# A few chunks of each, which is little to send; then many, whose vectors are more than the text.
foreach (
	[ 'few', 100_000, 8 ],
	[ 'several', 8_000, 1536 ],
	[ 'many', 2_000, 768 ])
{
	my ($name, $size, $dimensions) = @$_;
	my $peak = embed_documents($name, $text, chunking => sprintf($chunking, $size),
		embedding => "ai.embedding_openai('mock-$dimensions', $dimensions)");
	is_shared($name);
	stays_small($name, $peak);
}

unlike(slurp_file($node->logfile), qr/PANIC:|TRAP:|terminated by signal/, 'no process crashed');
$node->stop;
done_testing();
