# Rows of any size: what is too large is given up with a reason, all else is written, and a worker stays
# small. And disks that are full.
use strict;
use warnings FATAL => 'all';
use EngineTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $engine = EngineTest->new('main', conf => q{
shared_buffers = 16MB
ai.workers = 1
log_temp_files = 0
});
my ($node, $mock) = ($engine->node, $engine->mock);
sub sql { return $engine->sql(@_); }

# The most memory that the worker ever had, in MB. Sanitizers need several times as much.
sub stays_small
{
	my ($most, $test) = @_;
	my ($pid) = $engine->workers;
	my ($kilobytes) = slurp_file("/proc/$pid/status") =~ /VmHWM:\s+(\d+)/;
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	return ok($kilobytes < 1024 * $most * ($ENV{SANITIZE} ? 10 : 1), sprintf('%s: the worker had %.0f MB at most', $test, $kilobytes / 1024));
}
sub new_worker
{
	sql("SELECT pg_terminate_backend($_, 5000)") foreach $engine->workers;
	$engine->poll(q{SELECT count(*) = 1 FROM pg_stat_activity WHERE backend_type = 'ai worker' AND query <> ''}) or die;
	return;
}
sub failed { my ($name) = @_; return sql("SELECT key ->> 'id', last_error FROM ai.jobs('$name') WHERE status = 'failed' ORDER BY 1"); }
sub step { my ($name) = @_; return sql("SELECT DISTINCT details ->> 'step' FROM ai.vectorizer_errors WHERE name = '$name'"); }

# -- long texts

$engine->table('long');
sql(q{INSERT INTO long VALUES (1, repeat('0123456 89', 20 * 1024 * 1024)), (2, 'short'), (3, repeat('x', 100000))});
$engine->is_settled('long', 'a text of 200 MB', failed => 1, where => 's.id <> 1');
is(failed('long'), '1|text of the row has 209715200 bytes, more than ai.max_text_size (16384 kB); shorten it, or increase the setting and call ai.retry_failed', 'it is given up with the reason');
is(step('long'), 'loading', 'at the first step');
stays_small(80, 'a text of 200 MB');
sql(q{UPDATE long SET body = 'not any more' WHERE id = 1});
$engine->is_settled('long', 'written when it is shorter');

# Several are read one by one, and columns of the template count, too.
sql(q{CREATE TABLE wide (id int PRIMARY KEY, body text, title text)});
$engine->vectorizer('wide', name => 'wide', formatting => q{ai.formatting_python_template('$title $chunk')}, chunking => 'ai.chunking_none()');
sql(q{INSERT INTO wide SELECT n, repeat('word ', 200000), 'title' FROM generate_series(1, 30) n;
	INSERT INTO wide VALUES (100, 'short', repeat('x', 17 * 1024 * 1024)), (101, NULL, repeat('x', 10))});
ok($engine->drained('wide'), 'rows of a megabyte each');
is(sql('SELECT count(*) FROM wide_embedding_store'), '30', 'are written');
like(failed('wide'), qr/\A100\|text of the row has 17825797 bytes/, 'a long column of the template');
stays_small(100, 'thirty rows of a megabyte');

$engine->set('ai.max_text_size' => '64kB');
ok($engine->poll(q{SELECT current_setting('ai.max_text_size') = '64kB'}), 'another limit');
sql(q{INSERT INTO long VALUES (4, repeat('word ', 20000))});
$engine->is_settled('long', 'is kept', failed => 1, where => 's.id <> 4');
$engine->set('ai.max_text_size' => '1MB');
sql(q{SELECT ai.retry_failed('long')});
$engine->is_settled('long', 'raised, and the row tried again');

# -- many chunks: twelve thousand vectors have 96 MB

my $words = '(SELECT string_agg($$word$$ || lpad(n::text, 5, $$0$$), $$ $$ ORDER BY n) FROM generate_series(1, 12000) n)';
my $cut = q{ai.chunking_character_text_splitter(chunk_size => 10, chunk_overlap => 0, separator => ' ')};
$engine->table('many', chunking => $cut, embedding => q{ai.embedding_openai('mock-2000', 2000)}, processing => 'ai.processing_default(batch_size => 100, concurrency => 2)');
new_worker();
sql("INSERT INTO many SELECT 1, $words");
$engine->is_settled('many', 'a row of many chunks');
like(slurp_file($node->logfile), qr/LOG:  temporary file: path "[^"]*", size 96000000/, 'its vectors were in a file');
my $before = $mock->stats->{items};
sql(q{UPDATE many SET body = 'inserted ' || replace(body, 'word00050 ', '')});
$engine->is_settled('many', 'all of its chunks moved');
is($mock->stats->{items} - $before, 1, 'and were known');
stays_small(100, 'many chunks');

# A file that must not be larger is trouble, not a loss.
$engine->set('temp_file_limit' => '1MB');
sql(q{UPDATE many SET body = replace(body, 'word', 'text')});
ok($engine->poll(q{SELECT count(*) > 0 FROM ai.vectorizer_errors WHERE name = 'many' AND message LIKE '%temporary file size exceeds%'}), 'temp_file_limit');
$engine->set('temp_file_limit' => '-1');
$engine->is_settled('many', 'raised, and the row is written');

$engine->table('tiny', chunking => q{ai.chunking_character_text_splitter(chunk_size => 2, chunk_overlap => 0, separator => ' ')});
sql(q{INSERT INTO tiny VALUES (1, repeat('a ', 50000)), (2, 'a b')});
$engine->is_settled('tiny', 'more chunks than fit into memory', failed => 1, where => 's.id <> 1');
like(failed('tiny'), qr/\A1\|chunks of the text exceed the memory limit: \d+ chunks use 4096 kB; increase the chunk size or ai.max_text_size/, 'are a failure');
is(step('tiny'), 'chunking', 'of chunking');

# -- replies beyond our own limit: a reply to one text has 8 kB, to a hundred 800 kB

$engine->set('ai.max_response_size' => '120kB');
$engine->table('large', embedding => q{ai.embedding_openai('mock-1536', 1536)}, processing => 'ai.processing_default(batch_size => 100, concurrency => 2)');
sql(q{INSERT INTO large SELECT n, 'large ' || n FROM generate_series(1, 500) n});
$engine->is_settled('large', 'replies that are too large');
is(sql(q{SELECT count(*) FROM ai.vectorizer_errors WHERE name = 'large'}), '0', 'are no error of a row');
is(sql(q{SELECT failure_streak FROM ai.provider}), '0', 'nor of the provider');
$engine->counted or die;
cmp_ok(sql(q{SELECT requests FROM ai.usage u JOIN ai.vectorizer v ON v.id = u.vectorizer_id WHERE v.name = 'large'}), '<', 80, 'and soon there are none');
$engine->set('ai.max_response_size' => '64MB');

# -- bytes

sql(q{CREATE DOMAIN document AS bytea; CREATE TABLE bytes (id int PRIMARY KEY, body document)});
$engine->vectorizer('bytes', name => 'bytes');
sql(q{INSERT INTO bytes VALUES (1, convert_to('bytes of a text: é', 'UTF8')), (2, '\xff00'), (3, '\x610062'), (4, NULL), (5, '')});
ok($engine->drained('bytes'), 'bytes');
is(sql('SELECT string_agg(id || chunk, $$,$$) FROM bytes_embedding_store'), '1bytes of a text: é', 'that are a text are embedded as such');
is(failed('bytes'), join("\n", map { "$_|the bytes of the row are not a text in UTF-8" } 2, 3), 'others are given up');

# -- a disk that is full, for the target and nothing else: the worker may not write files so large

my ($worker) = $engine->workers;
sub limit_files { my ($bytes) = @_; return system_or_bail('prlimit', '--pid', $worker, "--fsize=$bytes:unlimited"); }
limit_files(20 * 1024 * 1024 + 1000);
$engine->table('filled', embedding => q{ai.embedding_openai('mock-384', 384)}, indexing => 'ai.indexing_none()');
$engine->table('small');
sql(q{INSERT INTO filled SELECT n, 'full ' || n FROM generate_series(1, 15000) n});
ok($engine->poll(q{SELECT count(*) > 0 FROM ai.vectorizer_errors WHERE name = 'filled' AND message ~ 'could not extend file' AND details ->> 'step' = 'writing'}), 'a full disk is an error');
sql(q{INSERT INTO small SELECT n, 'small ' || n FROM generate_series(1, 100) n});
$engine->is_settled('small', 'another vectorizer goes on');
cmp_ok(sql('SELECT count(*) FROM filled_embedding_store'), '<', 15000, 'not all is written');
is(sql(q{SELECT max(attempts), count(*) FILTER (WHERE status = 'failed') FROM ai.jobs('filled')}), '0|0', 'the rest waits, uncharged');
cmp_ok(sql(q{SELECT count(*) FROM ai.vectorizer_errors WHERE name = 'filled'}), '<', 20, 'it is said, and not for each row');
limit_files('unlimited');
$engine->is_settled('filled', 'written when there is room again');
is(join(',', $engine->workers), $worker, 'by the same worker');

unlike(slurp_file($node->logfile), qr/PANIC:|TRAP:|terminated by signal/, 'no process crashed');
$node->stop;
done_testing();
