# Databases in other encodings than UTF-8: workers work there, providers get UTF-8, and what they say is
# recorded whatever characters it has.
use strict;
use warnings FATAL => 'all';
use EngineTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $engine = EngineTest->new('main', conf => 'ai.workers = 1');
my $mock = $engine->mock;

# Statements are UTF-8 here, whatever the database has.
sub sql
{
	my ($database, $statement) = @_;
	return $engine->sql("SET client_encoding = 'UTF8'; $statement", $database);
}
sub drained { my ($database) = @_; return $engine->poll(q{SELECT ai.vectorizer_queue_pending('notizen', true) = 0}, $database); }

# A provider that answers in a language that Latin-1 does not have.
my $refusal = '{"error": {"message": "\u65e5\u672c\u8a9e is no text", "type": "invalid_request_error"}}';

foreach my $encoding ('LATIN1', 'EUC_JP', 'SQL_ASCII')
{
	my $database = lc $encoding;
	$mock->reset;
	$engine->sql("CREATE DATABASE $database ENCODING '$encoding' LOCALE 'C' TEMPLATE template0");
	sql($database, q{CREATE EXTENSION ai CASCADE;
		CREATE TABLE notizen ("schlüssel" int PRIMARY KEY, body text, "größe" text);
		INSERT INTO notizen VALUES (1, 'Käse; süß', 'groß'), (2, 'Brot', NULL)});
	sql($database, q{SELECT ai.create_vectorizer('notizen', name => 'notizen', loading => ai.loading_column('body'),
		embedding => ai.embedding_openai('mock-8', 8), chunking => ai.chunking_semantic(5),
		formatting => ai.formatting_python_template('${größe}: $chunk'))});
	ok(drained($database), "$encoding: rows are embedded");
	is( sql($database, q{SELECT "schlüssel", chunk_seq, chunk FROM notizen_embedding ORDER BY 1, 2}),
		"1|0|groß: Käse;\n1|1|groß: süß\n2|0|: Brot", "$encoding: names and chunks are right");
	is( sql($database, q{SELECT embedding FROM notizen_embedding WHERE chunk_seq = 0 ORDER BY "schlüssel"}),
		sql('postgres', q{SELECT ai.openai_embed('mock-8', t) FROM (VALUES ('groß: Käse;'), (': Brot')) v (t)}),
		"$encoding: the provider got UTF-8");

	$mock->rules({ text => 'gift', status => 400, body => $refusal });
	sql($database, q{INSERT INTO notizen VALUES (3, 'gift', NULL)});
	ok(drained($database), "$encoding: a row that is refused is given up");
	like(sql($database, q{SELECT last_error FROM ai.jobs('notizen') WHERE status = 'failed'}),
		$encoding eq 'SQL_ASCII' ? qr/日本語 is no text/ : qr/\?{9} is no text/, "$encoding: with what the provider said");
	sql($database, q{INSERT INTO notizen VALUES (4, 'Öl', 'klein')});
	ok(drained($database), "$encoding: and the work goes on");
	is(sql($database, q{SELECT chunk FROM notizen_embedding WHERE "schlüssel" = 4}), 'klein: Öl', "$encoding: with the next row");
}

done_testing();
