# Text functions where a server is needed: other encodings, cancelling, memory, missing tables.
use strict;
use warnings FATAL => 'all';
use File::Basename;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init(extra => [ '--locale=C', '--encoding=UTF8' ]);
$node->append_conf('postgresql.conf', "shared_preload_libraries = 'ai'");
$node->start;
$node->safe_psql('postgres', 'CREATE EXTENSION ai CASCADE');

# -- a database in another encoding: lengths are characters, results are in the database's encoding

$node->safe_psql('postgres', q{CREATE DATABASE latin ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0});
$node->safe_psql('latin', 'CREATE EXTENSION ai CASCADE');
is( $node->safe_psql('latin',
		q{SET client_encoding = 'UTF8'; SELECT string_agg(chunk, '|') FROM ai.chunk_text('äöüäöü', 3, 0, '')}),
	'äöü|äöü', 'Latin-1: characters are counted, not bytes');
is( $node->safe_psql('latin',
		q{SET client_encoding = 'UTF8'; SELECT ai.openai_tokenize('gpt-4o', 'Grüße')}),
	$node->safe_psql('postgres', q{SELECT ai.openai_tokenize('gpt-4o', 'Grüße')}),
	'Latin-1: the tokens are those of UTF-8');
my ($code, $out, $err) = $node->psql('latin',
	q{SET client_encoding = 'UTF8'; SELECT ai.openai_detokenize('gpt-4o', ai.openai_tokenize('gpt-4o', 'a') || 9552 || 238 || 246)});
like($err, qr/has no equivalent in encoding "LATIN1"/, 'Latin-1: what it cannot hold is an error');

# A script with anything but ASCII could not be read here.
$node->safe_psql('postgres', q{CREATE DATABASE japanese ENCODING 'EUC_JP' LOCALE 'C' TEMPLATE template0});
$node->safe_psql('japanese', 'CREATE EXTENSION ai CASCADE');
is( $node->safe_psql('japanese',
		q{SET client_encoding = 'UTF8'; SELECT string_agg(chunk, '|') FROM ai.chunk_text('日本語。本です', 4, 0, '[。\u3001]', true, 'end')}),
	'日本語。|本です', 'EUC_JP: patterns match characters');
is( $node->safe_psql('japanese',
		q{SET client_encoding = 'UTF8'; SELECT ai.openai_detokenize('gpt-4o', ai.openai_tokenize('gpt-4o', '日本語'))}),
	'日本語', 'EUC_JP: there and back');

# Bytes of no known encoding are taken for UTF-8, if they can be.
$node->safe_psql('postgres', q{CREATE DATABASE bytes ENCODING 'SQL_ASCII' LOCALE 'C' TEMPLATE template0});
$node->safe_psql('bytes', 'CREATE EXTENSION ai CASCADE');
is($node->safe_psql('bytes', q{SELECT string_agg(chunk, '|') FROM ai.chunk_text('äöüäöü', 3, 0, '')}),
	'äöü|äöü', 'SQL_ASCII: UTF-8 is understood');
($code, $out, $err) =
  $node->psql('bytes', q{SELECT * FROM ai.chunk_text(convert_from('\xff41', 'SQL_ASCII'), 1, 0, '')});
like($err, qr/invalid byte sequence for encoding "UTF8": 0xff/, 'SQL_ASCII: what is not UTF-8 is an error');

# -- cancelling: what takes long ends within 100 ms of the request. The least of three tries counts,
# since the machine may be busy with something else.

sub cancel_takes
{
	my ($statement) = @_;
	my $out = $node->safe_psql('postgres', qq{
		CREATE TEMP TABLE late (by interval);
		SET statement_timeout = '100ms';
		} . qq{
		DO \$do\$
		BEGIN
			PERFORM $statement;
			RAISE 'ended by itself';
		EXCEPTION WHEN query_canceled THEN
			INSERT INTO late VALUES (clock_timestamp() - statement_timestamp() - interval '100 ms');
		END
		\$do\$;
		} x 3 . q{
		SELECT round(extract(milliseconds FROM min(by))) FROM late});
	return $out;
}

my %slow = (
	'a pattern that is slow at every place' =>
	  q{ai.chunk_text(repeat(' ', 200000) || E'x\n', separator => '(?: |\t)+\n', is_separator_regex => true)},
	'a large text' => q{ai.chunk_text(repeat('word ', 20000000), separator => ' ', chunk_size => 100)},
	'a large text without any separator, measured in tokens' =>
	  q{ai.chunk_text(repeat('a', 100000000), 100, 0, ' ', length => 'cl100k_base')},
	'a large text by its sentences' => q{ai.chunk_sentences(repeat('This is one. ', 10000000), 100)},
	'a large text by its meaning'   => q{ai.chunk_semantic(repeat('This is one. ', 10000000), 100)},
	'counting the tokens of a large text' => q{ai.count_tokens(repeat('a', 100000000))});
foreach my $what (sort keys %slow)
{
	cmp_ok(cancel_takes($slow{$what}), '<', 100, "$what: cancelled soon");
}
($code, $out, $err) = $node->psql('postgres',
	q{SELECT count(*) FROM ai.chunk_text(repeat('a', 100000), separator => '(a+)+[bd]', is_separator_regex => true)});
like($err, qr/ERROR:  regular expression "\(a\+\)\+\[bd\]" takes too long to match/, 'a catastrophic pattern is an error');
like($err, qr/HINT:  Rewrite the pattern/, 'that says what to do');

# -- without the token tables: estimates, and a status that says so

my $stage = PostgreSQL::Test::Utils::tempdir();
system_or_bail('cp', '-a', "$ENV{AI_STAGE}/.", $stage);
my @tables = split /\n/, `find '$stage' -name '*.tokens'`;
is(unlink(@tables), 2, 'two tables are there to be removed');
my $bare = PostgreSQL::Test::Cluster->new('bare', install_path => dirname("$stage$ENV{AI_BINDIR}"));
$bare->init;
$bare->append_conf('postgresql.conf', "shared_preload_libraries = 'ai'");
$bare->start;
$bare->safe_psql('postgres', 'CREATE EXTENSION ai CASCADE');
is($bare->safe_psql('postgres', q{SELECT ai.count_tokens('123456789')}), '3', 'a quarter of the bytes, rounded up');
like($bare->safe_psql('postgres', q{SELECT value, advice FROM ai.status() WHERE item = 'token tables'}),
	qr/^not installed\|Token counts are estimates/, 'the status says so');
is( $bare->safe_psql('postgres', q{SELECT count(*) FROM ai.chunk_text(repeat('a b ', 40), 10, 0, ' ', length => 'cl100k_base')}) > 1,
	1, 'chunks are measured by the estimate');
($code, $out, $err) = $bare->psql('postgres', q{SELECT ai.openai_tokenize('gpt-4o', 'text')});
like($err, qr/ERROR:  .*o200k_base\.tokens/, 'exact tokens need the table: the error names it');
like($err, qr/HINT:  .*make token-tables/, 'and says how to get it');
$bare->stop;

$node->stop;
done_testing();
