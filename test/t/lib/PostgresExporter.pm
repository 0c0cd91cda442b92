# PostgresExporter.pm: Debian's prometheus-postgres-exporter with the queries of doc/monitoring, and
# Prometheus' own promtool. Both are in build/tools after scripts/setup monitoring, or in the PATH.
#
#   my $exporter = PostgresExporter->start($node, 'role', 'database');
#   $exporter->metrics;     # { 'name{label="value",...}' => number }, labels in order of their names
package PostgresExporter;

use strict;
use warnings;

use Carp qw(croak);
use HTTP::Tiny ();
use IPC::Run ();
use PostgreSQL::Test::Cluster;

sub tool
{
	my ($name) = @_;
	foreach my $directory ($ENV{AI_TOOLS} // (), split /:/, $ENV{PATH})
	{
		return "$directory/$name" if -x "$directory/$name";
	}
	croak "$name is missing: run scripts/setup monitoring, which puts it into build/tools";
}

# promtool(words): its output and whether it was content. Input goes to its stdin.
sub promtool
{
	my ($input, @words) = @_;
	my $output = '';
	my $ok = IPC::Run::run([ tool('promtool'), @words ], '<', \$input, '>&', \$output);
	return ($ok, $output);
}

# Words that turn off what the exporter collects by itself: some of that waits for locks on tables.
sub without_collectors
{
	my $help = '';
	IPC::Run::run([ tool('prometheus-postgres-exporter'), '--help' ], '>&', \$help);
	return map { "--no-$_" } $help =~ /^\s*--(?:\[no-\])?(collector\.\w+)(?![\w.=])/mg;
}

sub start
{
	my ($class, $node, $role, $database) = @_;
	my $port = PostgreSQL::Test::Cluster::get_free_port();
	my $self = bless { url => "http://127.0.0.1:$port/metrics", log => '', owner => $$ }, $class;
	local $ENV{DATA_SOURCE_NAME} = sprintf 'host=%s port=%s user=%s dbname=%s sslmode=disable', $node->host, $node->port,
		$role, $database;
	$self->{run} = IPC::Run::start(
		[
			tool('prometheus-postgres-exporter'), "--web.listen-address=127.0.0.1:$port",
			"--extend.query-path=$ENV{AI_SOURCE_TREE}/doc/monitoring/queries.yaml", '--disable-default-metrics',
			'--disable-settings-metrics', without_collectors()
		],
		'<', \undef, '>&', \$self->{log});
	$self->{http} = HTTP::Tiny->new(proxy => undef, http_proxy => undef, timeout => 60);
	return $self;
}

# What it answers, as it is. It needs a moment until it listens.
sub text
{
	my ($self) = @_;
	my $reply;
	foreach (1 .. 600)
	{
		$reply = $self->{http}->get($self->{url});
		return $reply->{content} if $reply->{status} == 200;
		croak "the exporter has ended: $self->{log}" if !$self->{run}->pumpable;
		select undef, undef, undef, 0.1;
	}
	croak "the exporter does not answer: $reply->{status} $reply->{content}\n$self->{log}";
}

# Numbers by names, of a text as Prometheus reads it; only those of ai. The exporter's own label is left out.
sub parse
{
	my ($text) = @_;
	my %numbers;
	while ($text =~ /^(ai_\w+)\{(.*)\} (\S+)$/mg)
	{
		my ($name, $labels, $number) = ($1, $2, $3);
		my %labels;
		$labels{$1} = $2 while $labels =~ /(\w+)="((?:[^"\\]|\\.)*)"/g;
		delete $labels{server};
		$numbers{ $name . '{' . join(',', map { qq{$_="$labels{$_}"} } sort keys %labels) . '}' } = $number;
	}
	return \%numbers;
}

sub metrics { my ($self) = @_; return parse($self->text); }

sub stop
{
	my ($self) = @_;
	my $run = delete $self->{run} or return;
	$run->signal('TERM');
	$run->finish;
	return;
}

sub DESTROY
{
	my ($self) = @_;
	local ($?, $@);
	$self->stop if $self->{owner} == $$;
	return;
}

1;
