# OpenAI: requests and replies, limits and complaints.
use strict;
use warnings FATAL => 'all';

use JSON::PP ();
use MIME::Base64 qw(decode_base64);
use RawHttp;
use Test::More;

sub {
	my ($mock) = @_;
	my $ask = sub { return RawHttp->once($mock->port, '/v1/embeddings', @_) };
	my %small = (model => 'text-embedding-3-small');

	my $one = $ask->({ %small, input => 'a text' });
	is($one->{status}, 200, 'a text is embedded');
	is($one->{headers}{'content-type'}, 'application/json', 'in JSON');
	is_deeply([ sort keys %{ $one->{json} } ], [qw(data model object usage)], 'with its fields');
	is($one->{json}{object}, 'list', 'a list');
	is($one->{json}{model}, 'text-embedding-3-small', 'of the model');
	is(@{ $one->{json}{data} }, 1, 'of one item');
	my $item = $one->{json}{data}[0];
	is($item->{object}, 'embedding', 'that is an embedding');
	is($item->{index}, 0, 'with its index');
	is(@{ $item->{embedding} }, 1536, 'and the dimensions of the model');
	is_deeply($one->{json}{usage}, { prompt_tokens => 2, total_tokens => 2 }, 'usage is counted');
	like($one->{headers}{'x-request-id'}, qr/\Areq_/, 'a request id');
	like($one->{headers}{"x-ratelimit-$_"}, qr/\A\d/, "x-ratelimit-$_")
	  for qw(limit-requests limit-tokens remaining-requests remaining-tokens reset-requests
	  reset-tokens);

	my $many = $ask->({ %small, input => [ 'first', 'second text', 'x' x 9 ], dimensions => 7 });
	is_deeply([ map { $_->{index} } @{ $many->{json}{data} } ], [ 0, 1, 2 ], 'items in order');
	is_deeply([ map { scalar @{ $_->{embedding} } } @{ $many->{json}{data} } ],
		[ 7, 7, 7 ], 'dimensions as asked for');
	is($many->{json}{usage}{total_tokens}, 2 + 3 + 3, 'a quarter of the bytes, rounded up');
	is(@{ $ask->({ model => 'text-embedding-3-large', input => 'a' })->{json}{data}[0]{embedding} },
		3072, 'the large model');

	my $coded = $ask->({ %small, input => [ 'first', 'second text' ], dimensions => 7,
			encoding_format => 'base64' });
	for my $i (0, 1)
	{
		my @floats = unpack 'f<*', decode_base64($coded->{json}{data}[$i]{embedding});
		my @wanted = map { unpack 'f', pack 'f', $_ } @{ $many->{json}{data}[$i]{embedding} };
		is_deeply(\@floats, \@wanted, 'base64 has the same floats');
	}

	my $tokens = $ask->({ %small, input => [ 1, 22, 333 ], dimensions => 4 });
	is(@{ $tokens->{json}{data} }, 1, 'a list of tokens is one item');
	is($tokens->{json}{usage}{prompt_tokens}, 3, 'of so many tokens');
	is_deeply(
		$tokens->{json}{data}[0]{embedding},
		$ask->({ %small, input => '[1,22,333]', dimensions => 4 })->{json}{data}[0]{embedding},
		'embedded as its JSON');
	is(@{ $ask->({ %small, input => [ [ 1, 2 ], [3] ] })->{json}{data} }, 2, 'lists of tokens');
	is($ask->({ %small, input => "caf\x{e9} \x{2603}", user => 'u' })->{status}, 200, 'UTF-8');

	my $refused = sub {
		my ($what, $request, $status, %error) = @_;
		my $reply = $ask->($request);
		is($reply->{status}, $status, "$what: $status");
		my $got = $reply->{json}{error};
		is_deeply([ sort keys %$got ], [qw(code message param type)], "$what: the error's fields");
		is($got->{type}, $error{type} // 'invalid_request_error', "$what: its type");
		is($got->{code}, $error{code}, "$what: its code");
		is($got->{param}, $error{param}, "$what: its param");
		like($got->{message}, $error{message}, "$what: its message");
	};
	$refused->('unknown model', { model => 'gpt-none', input => 'a' }, 404,
		code => 'model_not_found', message => qr/`gpt-none` does not exist/);
	$refused->('no model', { input => 'a' }, 400, message => qr/model parameter/);
	$refused->('no input', {%small}, 400, message => qr/'\$\.input' is invalid/);
	$refused->('empty text', { %small, input => '' }, 400, message => qr/'\$\.input' is invalid/);
	$refused->('empty text in a list', { %small, input => [ 'a', '' ] }, 400,
		message => qr/'\$\.input' is invalid/);
	$refused->('empty list', { %small, input => [] }, 400, message => qr/'\$\.input' is invalid/);
	$refused->('a mixed list', { %small, input => [ 'a', 1 ] }, 400,
		message => qr/'\$\.input' is invalid/);
	$refused->('too many items', { %small, input => [ ('a') x 2049 ] }, 400,
		code => 'array_above_max_length', param => 'input', message => qr/length 2049/);
	is($ask->({ %small, input => [ ('a') x 2048 ], dimensions => 1 })->{status},
		200, 'the most items are not too many');
	$refused->('too many dimensions', { %small, input => 'a', dimensions => 1537 }, 400,
		param => 'dimensions', message => qr/dimensions/);
	$refused->('no dimensions', { %small, input => 'a', dimensions => 0 }, 400,
		param => 'dimensions', message => qr/dimensions/);
	$refused->('fixed dimensions',
		{ model => 'text-embedding-ada-002', input => 'a', dimensions => 5 }, 400,
		message => qr/does not support specifying dimensions/);
	$refused->('encoding', { %small, input => 'a', encoding_format => 'int8' }, 400,
		param => 'encoding_format', message => qr/'float' and 'base64'/);
	$refused->('unknown field', { %small, input => 'a', inputs => 1 }, 400,
		message => qr/Unrecognized request argument supplied: inputs/);
	$refused->('no JSON', '{"model": nonsense', 400, message => qr/could not parse the JSON/);
	$refused->('no object', '[1]', 400, message => qr/JSON object/);
	$refused->('no UTF-8', qq({"model":"mock-3","input":"\xff"}), 400, message => qr/JSON/);
	$refused->('nested JSON', '[' x 100_000, 400, message => qr/could not parse/);

	my $models = RawHttp->once($mock->port, '/v1/models');
	is($models->{json}{object}, 'list', 'models are listed');
	my ($known) = grep { $_->{id} eq 'text-embedding-3-small' } @{ $models->{json}{data} };
	is($known->{object}, 'model', 'each as a model');
	is(RawHttp->once($mock->port, '/v1/models/text-embedding-3-small')->{json}{id},
		'text-embedding-3-small', 'or one by one');
	is(RawHttp->once($mock->port, '/v1/models/none')->{json}{error}{code},
		'model_not_found', 'if it exists');
	is(RawHttp->once($mock->port, '/v1/nothing')->{status}, 404, 'an unknown path');
	is(RawHttp->once($mock->port, '/v1/embeddings')->{status}, 405, 'a wrong method');
	return;
};
