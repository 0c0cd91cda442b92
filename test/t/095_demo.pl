# What `make demo` shows is true: its script is run here, without a terminal and on one, and its output
# is read.
use strict;
use warnings FATAL => 'all';
use IPC::Run;
use List::Util qw(min);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $show = "$ENV{AI_SOURCE_TREE}/scripts/demo-show/run";
my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
$node->append_conf('postgresql.conf', "shared_preload_libraries = 'ai'\nfsync = off");
$node->start;

# Runs the show in a database of its own; returns exit code and output. Options: terminal, environment.
sub show
{
	my ($database, %options) = @_;
	$node->safe_psql('postgres', "CREATE DATABASE $database");
	local %ENV = (%ENV, PGHOST => $node->host, PGPORT => $node->port, PGDATABASE => $database, TERM => 'xterm', COLUMNS => 100,
		%{ $options{environment} // {} });
	my ($in, $out) = ('', '');
	my @streams = $options{terminal} ? ('<pty<', \$in, '>pty>', \$out) : ('<', \undef, '>&', \$out);
	IPC::Run::run([$show], @streams, IPC::Run::timeout($PostgreSQL::Test::Utils::timeout_default));
	my $code = $? >> 8;
	# The next one needs its background workers.
	$node->safe_psql('postgres', "DROP DATABASE $database");
	return ($code, $out);
}

sub words { return map { lc } $_[0] =~ /[A-Za-z0-9]+/g; }

# The searches of an output: [ question, [ score, answer ], ... ].
sub searches
{
	my ($out) = @_;
	my @searches;
	while ($out =~ /FROM ai\.search\('note', '([^']*)', 3\);\n\n score [^\n]*\n-+\+-+\n(.*?)\n\n/sg)
	{
		my ($question, $table) = ($1, $2);
		push @searches, [ $question, map { [/^ +([0-9.]+) \| (.*?) *$/] } split /\n/, $table ];
	}
	return @searches;
}

# -- without the model: what to do, and what can be seen anyway

my ($code, $out) = show('without', environment => { PGOPTIONS => '-c ai.model_path=/nowhere' });
is($code, 0, 'without the model it is no failure');
like($out, qr/^== The embedded model is not installed.*^  make model\n  make demo$/ms, 'it says how to get it');
like($out, qr/^ +1 \| oldest cow\. They greet/m, 'and cuts a text into chunks');
like($out, qr/^ embedded model +\| not installed +\| Texts are/m, 'and shows what is installed');

my $installed = $node->safe_psql('postgres', q{CREATE EXTENSION ai CASCADE; SELECT NOT ai._local_model() ? 'problem'; DROP EXTENSION ai});
SKIP:
{
	skip 'the embedded model is not installed', 1 unless $installed eq 't';
	my @seconds;

	# -- without a terminal

	($code, $out) = show('plain');
	is($code, 0, 'the show runs') or diag($out);
	unlike($out, qr/[\e\r]|ERROR|WARNING/, 'plain text, without a terminal');
	my @lines = $out =~ /^ +(\d+) of 200 rows, \d+ rows\/s(?:, \d+\.\d\d s left)?$/mg;
	is($lines[-1], 200, 'it waits for all rows');
	cmp_ok(scalar @lines, '<=', 5, 'and says so in a few lines');

	my @searches = searches($out);
	is(scalar @searches, 4, 'there are four searches');
	foreach my $search (@searches)
	{
		my ($question, @answers) = @$search;
		my %asked = map { $_ => 1 } words($question);
		is(scalar @answers, 3, "\"$question\" has three answers");
		is_deeply([ grep { $asked{$_} } map { words($_->[1]) } @answers ], [], 'none has a word of the question');
		ok((!grep { $_->[0] < 0.3 || $_->[0] > 1 } @answers) && $answers[0][0] >= $answers[2][0], 'the scores are good, and in order');
	}
	my ($before, $after) = @searches[ 0, 3 ];
	is($after->[0], $before->[0], 'one question is asked again');
	my $new = $after->[1][1];
	ok((!grep { $_->[1] eq $new } @$before[ 1 .. 3 ]), 'and has a new first answer');
	like($out, qr/^UPDATE note SET body = '\Q$new\E'/m, 'which is the text of the UPDATE');
	is($before->[1][1], $after->[2][1], 'before the one that was first');
	push @seconds, $out =~ /^Embedded and stored (\d+\.\d\d) s after/m;
	my @shown = slurp_file("$ENV{AI_SOURCE_TREE}/README.md") =~ /^( +[0-9.]+ \| .*)$/mg;
	cmp_ok(scalar @shown, '>=', 9, 'README shows answers');
	is_deeply([ grep { index($out, "$_\n") < 0 } @shown ], [], 'and they are those of the demo');

	like($out, qr/^ note \| public\.note +\| public\.note_embedding +\| +0 \| +0$/m, 'the status says that all is done');
	like($out, qr/^ worker\S* +\| healthy +\| +\d+ \|/m, 'and who did it');

	# -- on a terminal, where one line is drawn again and again

	($code, $out) = show('terminal', terminal => 1);
	is($code, 0, 'the show runs on a terminal') or diag($out =~ s/.*\r//mgr);
	my @bars = $out =~ /\r  \[(#*\.*)\] +\d+ of 200 rows, \d+ rows\/s[^\r\n]*\e\[K/g;
	cmp_ok(scalar @bars, '>', 1, 'a bar is drawn more than once');
	is_deeply([ grep { length != 30 } @bars ], [], 'always of the same width');
	is($bars[-1], '#' x 30, 'until it is full');
	ok((!grep { $bars[$_] =~ tr/#// < $bars[ $_ - 1 ] =~ tr/#// } 1 .. $#bars), 'and it only grows');
	is(scalar(my @ends = $out =~ /of 200 rows[^\r\n]*\r*\n/g), 1, 'all on one line');
	like($out, qr/\e\[1m== Search by meaning/, 'headings are bold');
	like($out, qr/\Q$new\E/, 'the answers are the same');
	push @seconds, $out =~ /^Embedded and stored (\d+\.\d\d) s after/m;

	is(scalar @seconds, 2, 'both times a row was changed');
	cmp_ok(min(@seconds), '<', $ENV{SANITIZE} ? 5 : 1, 'and its new text was found within a second');
}

# -- when nothing moves

$node->append_conf('postgresql.conf', 'ai.workers = 0');
$node->restart;
SKIP:
{
	skip 'the embedded model is not installed', 1 unless $installed eq 't';
	($code, $out) = show('stuck', environment => { DEMO_PATIENCE => 1 });
	is($code, 1, 'without workers it fails');
	like($out, qr/^demo: vectorizer note makes no progress: no error is recorded\n  Look at ai\.worker_status/m, 'and says so');
}

$node->stop;
done_testing();
