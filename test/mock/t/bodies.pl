# Replies with status 200 whose body is wrong.
package MockTest::Bodies;

use strict;
use warnings FATAL => 'all';

use JSON::PP ();
use MIME::Base64 qw(decode_base64);
use RawHttp;
use Test::More;

my %requests = (
	openai => [ '/v1/embeddings', { model => 'mock-4', input => [ 'a', 'b', 'c' ] } ],
	base64 => [ '/v1/embeddings',
		{ model => 'mock-4', input => [ 'a', 'b', 'c' ], encoding_format => 'base64' } ],
	ollama => [ '/api/embed', { model => 'mock-4', input => [ 'a', 'b', 'c' ] } ],
	ollama_one => [ '/api/embeddings', { model => 'mock-4', prompt => 'a' } ],
	voyage => [ '/voyage/v1/embeddings', { model => 'mock-4', input => [ 'a', 'b', 'c' ] } ],
	cohere => [ '/v2/embed',
		{ model => 'mock-4', texts => [ 'a', 'b', 'c' ], input_type => 'clustering' } ]);

# The vectors in a reply, whatever the provider.
sub vectors
{
	my ($name, $json) = @_;
	return [ map { [ unpack 'f<*', decode_base64($_->{embedding}) ] } @{ $json->{data} } ]
	  if $name eq 'base64';
	return [ map { $_->{embedding} } @{ $json->{data} } ] if $name =~ /openai|voyage/;
	return $json->{embeddings} if $name eq 'ollama';
	return [ $json->{embedding} ] if $name eq 'ollama_one';
	return $json->{embeddings}{float};
}

sub {
	my ($mock) = @_;
	my $spoil = sub {
		my ($name, $fault, %more) = @_;
		$mock->rules({ reply => $fault, %more });
		my $reply = RawHttp->once($mock->port, @{ $requests{$name} });
		is($reply->{status}, 200, "$fault: $name: 200");
		is($reply->{ended}, 'complete', "$fault: $name: the reply is complete HTTP");
		return $reply;
	};
	my $well = sub {
		my ($name) = @_;
		$mock->rules;
		return RawHttp->once($mock->port, @{ $requests{$name} });
	};
	my @all = sort keys %requests;
	my @lists = grep { $_ ne 'ollama_one' } @all;
	my @floats = grep { $_ ne 'base64' } @all;

	for my $name (@all)
	{
		my $good = $well->($name);
		ok($good->{json}, "$name: good without rules");
		for my $fault (qw(garbage truncated trailing_garbage))
		{
			is($spoil->($name, $fault)->{json}, undef, "$fault: $name: no JSON");
		}
		like($spoil->($name, 'html')->{headers}{'content-type'}, qr{text/html}, "html: $name: type");
		like($spoil->($name, 'html')->{body}, qr{<h1>}, "html: $name: body");
		is($spoil->($name, 'empty')->{body}, '', "empty: $name");
		is($spoil->($name, 'truncated')->{body}, substr($good->{body}, 0, length($good->{body}) / 2),
			"truncated: $name: the first half")
		  if $name ne 'cohere';    # whose replies differ by their id
		is($spoil->($name, 'null')->{body}, 'null', "null: $name");
		is(ref $spoil->($name, 'wrong_shape')->{json}, 'ARRAY', "wrong_shape: $name");
		is($spoil->($name, 'deep_nesting')->{body}, '[' x 200_000 . ']' x 200_000, 'deep_nesting');
		my $utf8 = $spoil->($name, 'invalid_utf8')->{body};
		ok(!utf8::decode($utf8), "invalid_utf8: $name");
		isnt($spoil->($name, 'error_with_status_200')->{body}, $good->{body}, 'an error in a 200');
		unlike($spoil->($name, 'no_embeddings')->{body}, qr/"(?:data|embeddings?)"/, 'no_embeddings');
		unlike($spoil->($name, 'no_usage')->{body}, qr/token|eval_count/, "no_usage: $name");
	}

	for my $name (@lists)
	{
		my $good = vectors($name, $well->($name)->{json});
		my $got = sub { return vectors($name, $spoil->($name, @_)->{json}) };
		is_deeply($got->('missing_item'), [ @$good[ 0, 1 ] ], "missing_item: $name");
		is_deeply([ @{ $got->('extra_item') }[ 0 .. 2 ] ], $good, "extra_item: $name: the others");
		is(@{ $got->('extra_item') }, 4, "extra_item: $name");
		is_deeply($got->('empty_list'), [], "empty_list: $name");
		is_deeply($got->('wrong_order'), [ reverse @$good ], "wrong_order: $name");
		is_deeply([ map { scalar @$_ } @{ $got->('wrong_dimensions') } ], [ 3, 3, 3 ], 'one less');
		is_deeply([ map { scalar @$_ } @{ $got->('wrong_dimensions', dimensions => 9) } ],
			[ 9, 9, 9 ], "wrong_dimensions: $name");
		is_deeply([ map { scalar @$_ } @{ $got->('uneven_dimensions', dimensions => 9) } ],
			[ 4, 4, 9 ], "uneven_dimensions: $name");
		my $zero = $got->('zero_vector');
		is_deeply([ grep { $_ != 0 } @{ $zero->[2] } ], [], "zero_vector: $name");
		is_deeply($zero->[1], $good->[1], "zero_vector: $name: only the last");
	}

	for my $name (@floats)
	{
		like($spoil->($name, 'nan')->{body}, qr/,NaN[,\]]/, "nan: $name");
		like($spoil->($name, 'infinity')->{body}, qr/,1e999[,\]]/, "infinity: $name");
		like($spoil->($name, 'string_value')->{body}, qr/,"0.25"[,\]]/, "string_value: $name");
		is((grep { !defined } @{ vectors($name, $spoil->($name, 'null_value')->{json})->[-1] }),
			1, "null_value: $name");
		is(vectors($name, $spoil->($name, 'null_item')->{json})->[-1], undef, "null_item: $name");
	}

	my $last = sub { return vectors('base64', $spoil->('base64', @_)->{json})->[2] };
	ok((grep { $_ != $_ } @{ $last->('nan') }), 'nan: base64');
	ok((grep { $_ == 9**9**9 } @{ $last->('infinity') }), 'infinity: base64');
	like($spoil->('base64', 'bad_base64')->{json}{data}[2]{embedding}, qr/\*\?/, 'bad_base64');
	is($spoil->('base64', 'null_item')->{json}{data}[2]{embedding}, undef, 'null_item: base64');

	for my $name (qw(openai voyage))
	{
		my $indexes = sub {
			return [ map { $_->{index} } @{ $spoil->($name, @_)->{json}{data} } ];
		};
		is_deeply($indexes->('wrong_order'), [ 2, 1, 0 ], "wrong_order: $name: with their index");
		is_deeply($indexes->('duplicate_index'), [ 0, 0, 0 ], "duplicate_index: $name");
		is_deeply($indexes->('bad_index'), [ 0, 1, 1_000_002 ], "bad_index: $name");
		is_deeply($indexes->('no_index'), [ undef, undef, undef ], "no_index: $name");
	}
	is(scalar @{ $spoil->('ollama_one', 'wrong_dimensions')->{json}{embedding} }, 3, 'of one vector');
	return;
};
