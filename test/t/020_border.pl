# The border between C++ and the server: each way to cross it, and what must not happen there.
use strict;
use warnings FATAL => 'all';
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init(extra => [ '--locale=C', '--encoding=UTF8' ]);
$node->append_conf('postgresql.conf', "shared_preload_libraries = 'ai'");
$node->start;

my %functions = (
	border_live_objects        => '() RETURNS int',
	border_resident_kilobytes  => '() RETURNS bigint',
	border_guarded_ereport     => '() RETURNS void',
	border_unguarded_ereport   => '() RETURNS void',
	border_throw               => '(kind text) RETURNS void',
	border_unguarded_throw     => '() RETURNS void',
	border_nested              => '() RETURNS void',
	border_recover             => '() RETURNS boolean',
	border_run_until_cancelled => '() RETURNS void',
	border_run_worker          => '(turns int) RETURNS boolean',
	border_text                => '(value text) RETURNS text',
	border_utf8_bytes          => '(value text) RETURNS int',
	border_text_array          => '(value text[]) RETURNS text',
	border_int_array           => '(value int[]) RETURNS bigint',
	border_json                => '(value jsonb) RETURNS text',
	border_vector              => '(value vector) RETURNS vector',
	border_vector_of           => '(dimensions int) RETURNS vector',
	border_vector_type         => '() RETURNS oid');

sub create_functions
{
	my ($database) = @_;
	$node->safe_psql($database, 'CREATE EXTENSION vector');
	$node->safe_psql($database,
		"CREATE FUNCTION $_$functions{$_} LANGUAGE c STRICT AS '\$libdir/ai_border'")
	  for sort keys %functions;
	return;
}
create_functions('postgres');

sub sql { return $node->safe_psql('postgres', shift); }

# The error of a statement, with every field, and how many C++ objects it left behind.
sub error_of
{
	my ($statement) = @_;
	my ($code, $out, $err) = $node->psql('postgres',
		"\\set VERBOSITY verbose\n$statement;\nSELECT border_live_objects();",
		on_error_stop => 0);
	return ($err, $out);
}

# -- the server's errors through C++ frames

my ($error, $live) = error_of('SELECT border_guarded_ereport()');
like($error, qr/ERROR:  23505: raised by the server/, 'SQLSTATE and message are kept');
like($error, qr/DETAIL:  the detail/, 'detail');
like($error, qr/HINT:  the hint/, 'hint');
like($error, qr/CONTEXT:  the context/, 'context');
is($live, '0', 'no destructor was skipped');

($error, $live) = error_of('SELECT border_unguarded_ereport()');
is($live, '1', 'without the guard it would have been: the count can fail');

# Under LeakSanitizer these leaks are looked for after the run. A stale pointer on the stack can hide
# one of them, not all.
$node->psql('postgres', join(';', ('SELECT border_unguarded_ereport()') x 20), on_error_stop => 0);

($error, $live) = error_of('SELECT border_nested()');
like($error, qr/ERROR:  23505: raised by the server/, 'the same through two doors');
like($error, qr/CONTEXT:  the context\nSQL statement "SELECT border_guarded_ereport\(\)"/, 'with both contexts');
is($live, '0', 'and both witnesses destroyed');

is(sql('SELECT border_recover(), border_live_objects()'), 't|0', 'a subtransaction makes it possible to go on');

# -- C++ exceptions to the server

my %expected = (
	standard  => qr/ERROR:  XX000: a standard exception/,
	heavy     => qr/ERROR:  XX000: heavy/,
	memory    => qr/ERROR:  53200: out of memory/,
	number    => qr/ERROR:  XX000: unknown C\+\+ exception/,
	cancelled => qr/ERROR:  57014: canceling on request/,
	long      => qr/ERROR:  22P02: x{2046}\n/,
	core      => qr/ERROR:  54000: a core error\nDETAIL:  The detail.\nHINT:  The hint./);
for my $kind (sort keys %expected)
{
	($error, $live) = error_of("SELECT border_throw('$kind')");
	like($error, $expected{$kind}, "exception '$kind'");
	is($live, '0', "and nothing of it is left");
}

# -- an exception that no guard catches ends one session, not the server

my $witness = $node->background_psql('postgres');
my $postmaster_start = sql('SELECT pg_postmaster_start_time()');
my ($code, $out, $err) = $node->psql('postgres', 'SELECT border_unguarded_throw()');
isnt($code, 0, 'an unguarded exception ends its session');
like($err, qr/FATAL:  a C\+\+ exception escaped/, 'with a report');
is($witness->query('SELECT 42'), '42', 'another session lives on');
$witness->quit;
is(sql('SELECT pg_postmaster_start_time()'), $postmaster_start, 'and so does the server');
unlike(slurp_file($node->logfile), qr/terminating any other active server processes/, 'no crash recovery');

# -- memory: ten thousand failing calls of each kind

for my $call ('border_guarded_ereport()', 'border_nested()', q{border_throw('heavy')}, q{border_throw('core')})
{
	my $quoted = $call =~ s/'/''/gr;
	my $grown = sql(qq{
		CREATE PROCEDURE pg_temp.fail(calls int) LANGUAGE plpgsql AS \$\$
		BEGIN
			FOR i IN 1..calls LOOP
				BEGIN
					EXECUTE 'SELECT $quoted';
				EXCEPTION WHEN OTHERS THEN
				END;
			END LOOP;
		END \$\$;
		CALL pg_temp.fail(500);
		SELECT border_resident_kilobytes() AS before \\gset
		CALL pg_temp.fail(10000);
		SELECT border_resident_kilobytes() - :before});
	cmp_ok($grown, '<', 8 * 1024, "10,000 failing $call: $grown kB more");
}

# -- a worker whose every turn fails

sql('CREATE TABLE border_worker_report (moment text, pid int, turns int, live int, kilobytes bigint)');
is(sql('SELECT border_run_worker(1000)'), 't', 'a worker of failing turns ran to its end');
is(sql('SELECT count(DISTINCT pid), max(turns), max(live) FROM border_worker_report'),
	'1|1000|0', 'one process, every turn failed, nothing left behind');
my $grown = sql(q{
	SELECT max(kilobytes) FILTER (WHERE moment = 'after') - max(kilobytes) FILTER (WHERE moment = 'before')
	FROM border_worker_report});
cmp_ok($grown, '<', 8 * 1024, "1,000 failing turns: $grown kB more");
is(sql(q{SELECT count(*) FROM border_worker_report WHERE moment = 'never'}), '0', 'all rolled back');

# -- cancelling pure C++ code

($code, $out, $err) = $node->psql('postgres',
	q{SET statement_timeout = '50ms'; SELECT border_run_until_cancelled(); SELECT border_live_objects()},
	on_error_stop => 0);
like($err, qr/canceling statement due to statement timeout/, 'statement_timeout stops core code, in the words of the server');

# -- values

is(sql(q{SELECT border_text('grüße 🐘')}), 'grüße 🐘', 'text');
is(sql(q{SELECT border_text(repeat('toast', 100000)) = repeat('toast', 100000)}), 't', 'a long text');
is(sql(q{SELECT border_text('')}), '', 'an empty text');
is(sql(q{SELECT border_text_array(ARRAY['a', NULL, 'ü'])}), '<a><null><ü>', 'text[]');
is(sql(q{SELECT border_text_array('{}')}), '', 'an empty array');
is(sql('SELECT border_int_array(ARRAY[1, 2, -3])'), '0', 'int[]');
like((error_of('SELECT border_int_array(ARRAY[1, NULL])'))[0],
	qr/ERROR:  22023: numbers must not contain null/, 'a null in it');
is(sql(q{SELECT border_json('{"b": [1, "ü"], "a": null}')}), '{"a": null, "b": [1, "ü"]}', 'jsonb');
is(sql(q{SELECT border_vector('[1,2.5,-3]')}), '[-3,2.5,1]', 'vector, both ways');
is(sql('SELECT vector_dims(border_vector_of(16000))'), '16000', 'the longest vector');
like((error_of('SELECT border_vector_of(16001)'))[0],
	qr/ERROR:  54000: a vector has 1 to 16000 dimensions, not 16001/, 'a longer one');
like((error_of('SELECT border_vector_of(0)'))[0], qr/not 0/, 'an empty one');
is(sql(q{SELECT border_vector_type() = 'vector'::regtype}), 't', 'the type vector');

# -- a database in another encoding

sql(q{CREATE DATABASE latin ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0});
create_functions('latin');
my $latin = sub { return $node->safe_psql('latin', "SET client_encoding = 'UTF8'; " . shift); };
is($latin->(q{SELECT border_utf8_bytes('grüße')}), '7', 'the core gets UTF-8');
is($latin->(q{SELECT border_text('grüße') = 'grüße'}), 't', 'and gives it back');
is($latin->(q{SELECT border_text_array(ARRAY['ü'])}), '<ü>', 'in arrays too');

$node->stop;
done_testing();
