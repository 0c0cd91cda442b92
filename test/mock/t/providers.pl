# Ollama, Voyage and Cohere: requests and replies, limits and complaints.
package MockTest::Providers;

use strict;
use warnings FATAL => 'all';

use JSON::PP ();
use MIME::Base64 qw(decode_base64);
use RawHttp;
use Test::More;

sub lengths { return [ map { scalar @$_ } @{ $_[0] } ] }

sub ollama
{
	my ($mock) = @_;
	my $ask = sub { return RawHttp->once($mock->port, @_) };
	my %nomic = (model => 'nomic-embed-text');

	my $one = $ask->('/api/embed', { %nomic, input => 'a text', keep_alive => '5m', options => {} });
	is($one->{status}, 200, 'a text is embedded');
	is_deeply([ sort keys %{ $one->{json} } ],
		[qw(embeddings load_duration model prompt_eval_count total_duration)], 'with its fields');
	is_deeply(lengths($one->{json}{embeddings}), [768], 'one vector');
	is($one->{json}{prompt_eval_count}, 2, 'tokens are counted');
	is($one->{json}{model}, 'nomic-embed-text', 'of the model');
	my $many = $ask->('/api/embed', { %nomic, input => [ 'a', 'b' ], dimensions => 5 })->{json};
	is_deeply(lengths($many->{embeddings}), [ 5, 5 ], 'two vectors of the dimensions asked for');
	is_deeply($ask->('/api/embed', { %nomic, input => [] })->{json}{embeddings},
		[], 'nothing is embedded as nothing');
	is($ask->('/api/embed', { model => 'nomic-embed-text:latest', input => 'a' })->{status},
		200, 'the latest is the model');
	my $old = $ask->('/api/embeddings', { model => 'mock-5', prompt => 'a' });
	is_deeply($old->{json}, { embedding => $ask->('/api/embed', { model => 'mock-5', input => 'a' })
		  ->{json}{embeddings}[0] }, 'the older call gives the same vector');
	is_deeply($ask->('/api/embeddings', { model => 'mock-5', prompt => '' })->{json},
		{ embedding => [] }, 'and none for no prompt');

	my $unknown = $ask->('/api/embed', { model => 'none', input => 'a' });
	is($unknown->{status}, 404, 'an unknown model');
	is_deeply($unknown->{json}, { error => 'model "none" not found, try pulling it first' },
		'is to be pulled');
	is($ask->('/api/embed', { %nomic, input => 17 })->{json}{error}, 'invalid input type', 'a number');
	is($ask->('/api/embed', '')->{json}{error}, 'missing request body', 'no body');
	is($ask->('/api/embed', '{')->{status}, 400, 'no JSON');
	my $tags = $ask->('/api/tags')->{json}{models};
	ok((grep { $_->{name} eq 'all-minilm:latest' } @$tags), 'the models are listed');

	$mock->settings(max_input_tokens => 2);
	my $long = { %nomic, input => 'far too long a text' };
	is($ask->('/api/embed', $long)->{status}, 200, 'a long text is truncated');
	my $strict = $ask->('/api/embed', { %$long, truncate => JSON::PP::false });
	is($strict->{status}, 400, 'unless that is forbidden');
	like($strict->{json}{error}, qr/exceeds the context length/, 'and then it is too long');
	$mock->reset;
	return;
}

sub voyage
{
	my ($mock) = @_;
	my $ask = sub { return RawHttp->once($mock->port, '/voyage/v1/embeddings', @_) };
	my %model = (model => 'voyage-3.5');

	my $reply = $ask->({ %model, input => [ 'a', 'bb' ], input_type => 'document' });
	is($reply->{status}, 200, 'texts are embedded');
	is_deeply([ sort keys %{ $reply->{json} } ], [qw(data model object usage)], 'with its fields');
	is_deeply([ map { $_->{index} } @{ $reply->{json}{data} } ], [ 0, 1 ], 'in order');
	is_deeply(lengths([ map { $_->{embedding} } @{ $reply->{json}{data} } ]), [ 1024, 1024 ],
		'with the dimensions of the model');
	is_deeply($reply->{json}{usage}, { total_tokens => 2 }, 'usage is counted');
	my $short = $ask->({ %model, input => 'a', output_dimension => 256, output_dtype => 'float',
			encoding_format => 'base64' });
	is(length decode_base64($short->{json}{data}[0]{embedding}), 4 * 256, 'dimensions, base64');

	my $refused = sub {
		my ($what, $request, $status, $detail) = @_;
		my $got = $ask->($request);
		is($got->{status}, $status, "$what: $status");
		is_deeply([ keys %{ $got->{json} } ], ['detail'], "$what: a detail");
		like($got->{json}{detail}, $detail, "$what: which says so");
	};
	$refused->('unknown model', { model => 'none', input => 'a' }, 400, qr/none is not supported/);
	$refused->('no model', { input => 'a' }, 400, qr/'model' is required/);
	$refused->('empty text', { %model, input => [''] }, 400, qr/empty strings/);
	$refused->('empty list', { %model, input => [] }, 400, qr/empty lists/);
	$refused->('a number', { %model, input => 5 }, 400, qr/'input' must be/);
	$refused->('too many', { %model, input => [ ('a') x 1001 ] }, 400, qr/limit is 1000/);
	$refused->('dimensions', { %model, input => 'a', output_dimension => 300 }, 400,
		qr/output_dimension/);
	$refused->('input type', { %model, input => 'a', input_type => 'x' }, 400, qr/input_type/);
	$refused->('data type', { %model, input => 'a', output_dtype => 'int8' }, 400, qr/float/);
	$refused->('encoding', { %model, input => 'a', encoding_format => 'hex' }, 400, qr/base64/);
	$refused->('no JSON', 'x', 400, qr/not valid JSON/);
	return;
}

sub cohere
{
	my ($mock) = @_;
	my $ask = sub { return RawHttp->once($mock->port, '/v2/embed', @_) };
	my %model = (model => 'embed-v4.0', input_type => 'search_document');

	my $reply = $ask->({ %model, texts => [ 'a', 'bb' ], embedding_types => ['float'],
			truncate => 'END' });
	is($reply->{status}, 200, 'texts are embedded');
	like($reply->{json}{id}, qr/\A[0-9a-f-]{36}\z/, 'with an id');
	is_deeply([ keys %{ $reply->{json}{embeddings} } ], ['float'], 'as floats');
	is_deeply(lengths($reply->{json}{embeddings}{float}), [ 1536, 1536 ], 'of the model');
	is_deeply($reply->{json}{texts}, [ 'a', 'bb' ], 'with the texts');
	is_deeply($reply->{json}{meta}{billed_units}, { input_tokens => 2 }, 'usage is counted');
	my $both = $ask->({ %model, texts => ['a'], embedding_types => [ 'float', 'base64' ],
			output_dimension => 256 })->{json}{embeddings};
	is_deeply([ unpack 'f<*', decode_base64($both->{base64}[0]) ],
		[ map { unpack 'f', pack 'f', $_ } @{ $both->{float}[0] } ], 'and as base64');
	is_deeply([ keys %{ $ask->({ %model, texts => ['a'] })->{json}{embeddings} } ],
		['float'], 'floats are what is not asked for');

	my $refused = sub {
		my ($what, $request, $status, $message) = @_;
		my $got = $ask->($request);
		is($got->{status}, $status, "$what: $status");
		like($got->{json}{message}, $message, "$what: its message");
	};
	$refused->('unknown model', { %model, model => 'none', texts => ['a'] }, 404,
		qr/model 'none' not found/);
	$refused->('no model', { input_type => 'clustering', texts => ['a'] }, 400, qr/model/);
	$refused->('no input type', { model => 'embed-v4.0', texts => ['a'] }, 400, qr/input_type/);
	$refused->('no texts', {%model}, 400, qr/texts/);
	$refused->('empty list', { %model, texts => [] }, 400, qr/at least one/);
	$refused->('too many', { %model, texts => [ ('a') x 97 ] }, 400, qr/at most 96 - received 97/);
	$refused->('dimensions', { %model, texts => ['a'], output_dimension => 3 }, 400,
		qr/output_dimension/);
	$refused->('type', { %model, texts => ['a'], embedding_types => ['int8'] }, 400, qr/float/);
	$refused->('no JSON', 'x', 400, qr/not valid JSON/);
	return;
}

sub {
	my ($mock) = @_;
	subtest ollama => sub { ollama($mock) };
	subtest voyage => sub { voyage($mock) };
	subtest cohere => sub { cohere($mock) };
	return;
};
