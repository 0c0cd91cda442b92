# The embedded model in a server: which models it takes and which it refuses, and that its work, however
# long, keeps nobody waiting.
use strict;
use warnings FATAL => 'all';
use EngineTest;
use PostgreSQL::Test::Utils;
use Test::More;
use TinyModel;

my $engine = EngineTest->new('main', conf => "ai.workers = 1\nai.heartbeat_interval = '200ms'");
my $node = $engine->node;
my $models = PostgreSQL::Test::Utils::tempdir;
sub sql { return $engine->sql(@_); }

my %made;
sub model
{
	my ($name, @options) = @_;
	$made{$name} //= TinyModel::write("$models/$name", @options);
	return $made{$name};
}

sub with_model { my ($path, $statement) = @_; return sql("SET ai.model_path = '$path'; $statement"); }
sub vector_of { return with_model($_[0], q{SELECT ai.local_embed('the cat sat on the mat.')}); }

# -- what a directory says is what the model is

my $tiny = model('tiny');
is(with_model($tiny, q{SELECT vector_dims(v), round(vector_norm(v)::numeric, 4) FROM ai.local_embed('the cat') v}),
	'32|1.0000', 'a directory is a model; its vectors have the length 1');
is(with_model($tiny, q{SELECT value FROM ai.status() WHERE item = 'embedded model'}), 'tiny', 'it has the name of the directory');
is(with_model($tiny, q{SELECT bool_and(a.embedding = ai.local_embed(t.text)) FROM unnest(ARRAY['the cat', 'a dog', 'the dog sat.'])
	WITH ORDINALITY t (text, n) JOIN ai.local_embed(ARRAY['the cat', 'a dog', 'the dog sat.']) a ON a."index" = t.n - 1}),
	't', 'the same vectors alone and in an array');

is(with_model($tiny, q{CREATE TABLE unnamed (id int PRIMARY KEY, body text); SET client_min_messages = warning;
		DO $$BEGIN PERFORM ai.create_vectorizer('unnamed', name => 'unnamed', loading => ai.loading_column('body')); END$$;
		SELECT config #>> '{embedding,model}', config #>> '{embedding,dimensions}' FROM ai.vectorizer WHERE name = 'unnamed'}),
	'tiny|32', 'a vectorizer without a model gets this one, with its dimensions');

my %vectors = (tiny => vector_of($tiny));
$vectors{layers} = vector_of(model('layers', layers => 1));
$vectors{heads} = vector_of(model('heads', heads => 1));
$vectors{pooling} = vector_of(model('pooling', config => '"pooling_mode": "cls"'));
$vectors{longest} = vector_of(model('longest', config => '"max_seq_length": 5'));
my %seen;
push @{ $seen{ $vectors{$_} } }, $_ foreach sort keys %vectors;
is(scalar keys %seen, scalar keys %vectors, 'layers, heads, pooling and the longest text count') or diag explain \%seen;
like(vector_of(model('hidden', hidden => 64)), qr/^\[(?:[^,]+,){63}[^,]+\]$/, 'so does the hidden size');

model('prefixes', config => '"prompts": {"query": "query: ", "document": "passage: "}');
is(with_model($made{prefixes}, q{SELECT ai.vectorizer_embed(c, 'the cat') = ai.embed(c, 'the cat'),
		ai.embed(c, 'the cat') = ai.local_embed('the cat') FROM ai.embedding_local('prefixes', 32) c}), 'f|t',
	'a query has another prefix than a text');
my $query = with_model($made{prefixes}, q{SELECT ai.vectorizer_embed(ai.embedding_local('prefixes', 32), 'the cat')});
is($query, with_model($tiny, q{SELECT ai.local_embed('query: the cat')}), 'and it is the one that the model wants');

# -- parallel workers

sql(q{CREATE TABLE parallel AS SELECT n, 'the cat ' || n AS body FROM generate_series(1, 200) n; ANALYZE parallel});
my $parallel = q{SET min_parallel_table_scan_size = 0; SET parallel_setup_cost = 0; };
my $sum = q{SELECT md5(string_agg(ai.local_embed(body)::text, '' ORDER BY n)) FROM parallel};
my $each = q{SELECT n, ai.local_embed(body) FROM parallel};
like(with_model($tiny, "$parallel EXPLAIN $each"), qr/^Gather.*Parallel Seq Scan/s, 'parallel workers embed');
is(with_model($tiny, $parallel . $sum =~ s/FROM parallel/FROM (SELECT n, body FROM parallel) p/r), with_model($tiny, $sum),
	'and get the same vectors');
is(with_model($tiny, "$parallel WITH e AS MATERIALIZED ($each) SELECT md5(string_agg(local_embed::text, '' ORDER BY n)) FROM e"),
	with_model($tiny, $sum), 'with the model of the session');

# -- what is refused, and what is expected instead

sub refused
{
	my ($path, $test, %expected) = @_;
	my ($code, $out, $err) = $node->psql('postgres', "SET ai.model_path = '$path'; SELECT ai.local_embed('text')");
	my @missing = grep { $err !~ $expected{$_} } sort keys %expected;
	ok($code != 0 && !@missing, $test) or diag("no @missing in: $err");
	return;
}
my $install = qr/^HINT:  Run "make model" .* or set ai\.model_path to a file .* or to the directory of a BERT-style model\.$/m;
my $files = qr/^HINT:  A model directory has config\.json, model\.safetensors .* and tokenizer\.json or vocab\.txt/m;

refused("$models/none", 'a model that is not there', message => qr{ERROR:  model "$models/none" is not installed},
	detail => qr/No such file/, hint => $install);
append_to_file("$models/foreign", "\x7fELF and more of it");
refused("$models/foreign", 'a file of another kind', message => qr/ERROR:  model ".*foreign" is something else/,
	detail => qr/A packed model begins with "AIMODELS"/, hint => $install);
append_to_file("$models/cut", 'AIMODELS and no more');
refused("$models/cut", 'a file without its end', message => qr/ERROR:  model ".*cut" is damaged/,
	detail => qr/The file has 20 bytes, fewer than its header needs/, hint => $install);
mkdir "$models/empty";
refused("$models/empty", 'an empty directory', message => qr/ERROR:  model ".*empty" cannot be used/,
	detail => qr/File "config\.json" cannot be read: No such file/, hint => $files);
model('roberta', model_type => 'roberta');
refused($made{roberta}, 'a model of another family', message => qr/cannot be used/,
	detail => qr/File "config\.json": model_type "roberta" is not supported/, hint => $files);
my $weights = model('short') . '/model.safetensors';
truncate($weights, (-s $weights) - 1000) or die $!;
refused($made{short}, 'weights without their end', message => qr/cannot be used/,
	detail => qr/File "model\.safetensors": .*the end of it is missing/, hint => $files);

SKIP:
{
	my $installed = sql(q{SELECT setting FROM pg_config() WHERE name = 'SHAREDIR'}) . '/ai/all-MiniLM-L6-v2.model';
	skip 'the embedded model is not installed', 1 unless -e $installed;
	open(my $whole, '<:raw', $installed) or die $!;
	read($whole, my $start, 1_000_000);
	append_to_file("$models/half.model", $start);
	refused("$models/half.model", 'the installed model without its end', message => qr/ERROR:  model ".*half\.model" is damaged/,
		detail => qr/The file has 1000000 bytes, its header says \d+/, hint => $install);
}

my ($code, $out, $err) = $node->psql('postgres', "SET ai.model_path = '$tiny'; SELECT ai.embed(ai.embedding_local('tiny', 64), 'text')");
like($err, qr/ERROR:  model "tiny" has 32 dimensions, not 64/, 'the dimensions of a configuration must be those of the model');
($code, $out, $err) = $node->psql('postgres', "SET ai.model_path = '$tiny'; SELECT ai.embed(ai.embedding_local('other', 32), 'text')");
like($err, qr/ERROR:  the embedded model is "tiny", not "other"\nDETAIL:  .*\nHINT:  Name the model of ai\.model_path/, 'and so must its name');

# -- a vectorizer: the model comes after the rows

$engine->set('ai.model_path' => "$models/later");
sql(q{CREATE TABLE note (id int PRIMARY KEY, body text); INSERT INTO note SELECT n, 'the cat ' || n FROM generate_series(1, 50) n});
$engine->vectorizer('note', name => 'note', embedding => q{ai.embedding_local('later', 32)});
ok($engine->poll(q{SELECT EXISTS (SELECT FROM ai.vectorizer_errors WHERE name = 'note' AND message LIKE 'model "%/later" is not installed'
	AND details ->> 'step' = 'configuration' AND details ->> 'hint' LIKE 'Run "make model"%')}),
	'without a model, the error says so');
is(sql(q{SELECT ai.vectorizer_queue_pending('note', true), ai.vectorizer_queue_failed(id) FROM ai.vectorizer WHERE name = 'note'}),
	'50|0', 'and the rows wait');
model('later');
ok($engine->drained('note'), 'when it is there, they are embedded without a hand');
is(with_model($made{later}, q{SELECT count(*), bool_and(embedding = ai.local_embed(chunk)) FROM note_embedding}), '50|t',
	'each has the vector of its text');
$engine->counted or die;
is(sql(q{SELECT rows, sent_chunks, requests > 0, input_tokens FROM ai.usage u JOIN ai.vectorizer v ON v.id = u.vectorizer_id WHERE v.name = 'note'}),
	'50|50|t|' . 50 * 5, 'and all is counted, tokens too');
sql(q{SELECT ai.drop_vectorizer('note', drop_all => true)});

# -- nobody waits for a batch that takes long

model('slow', layers => 8, heads => 4, hidden => 128, intermediate => 512, positions => 512);
$engine->set('ai.model_path' => $made{slow});
my $long = q{SELECT n, repeat('the cat sat on the mat. ', 100) AS body FROM generate_series(1, 500) n};

($code, $out, $err) = $node->psql('postgres', "SET ai.model_path = '$made{slow}'; SELECT ai.local_embed('a'); SET statement_timeout = '300ms';
	SELECT count(*) FROM ai.local_embed((SELECT array_agg(body) FROM ($long) l))");
like($err, qr/canceling statement due to statement timeout/, 'a statement can be cancelled');

sql("CREATE TABLE slow (id int PRIMARY KEY, body text); INSERT INTO slow $long");
$engine->table('remote');
$engine->vectorizer('slow', name => 'slow', embedding => q{ai.embedding_local('slow', 128)}, chunking => 'ai.chunking_none()',
	processing => 'ai.processing_default(batch_size => 500)');
my ($worker) = $engine->workers;
ok($engine->poll(q{SELECT count(*) = 500 FROM ai.jobs('slow') WHERE status = 'running'}), 'a batch of 500 texts is at work');

my $beat = q{SELECT max(last_heartbeat) FROM ai.vectorizer_worker_process};
my $before = sql($beat);
ok($engine->poll("SELECT ($beat) > '$before'::timestamptz + interval '500ms'"), 'the worker beats meanwhile');
sql(q{INSERT INTO remote SELECT n, 'text ' || n FROM generate_series(1, 20) n});
$engine->is_settled('remote', 'and serves another vectorizer');
is(sql(q{SELECT count(*) FROM slow_embedding}), 0, 'all of that before the batch was done');

EngineTest::takes_less(5, 'the worker ends when it is asked to', sub {
	sql("SELECT pg_terminate_backend($worker)");
	$engine->poll("SELECT NOT EXISTS (SELECT FROM pg_stat_activity WHERE pid = $worker)") or die;
});
is(sql(q{SELECT count(*), max(attempts) FROM ai.jobs('slow')}), '500|0', 'and gives the rows back, free of charge');
is(sql(q{SELECT count(*) FROM slow_embedding}), 0, 'with nothing done');

EngineTest::takes_less(5, 'the server stops in the middle of a batch, too', sub { $node->stop('fast') });

done_testing();
