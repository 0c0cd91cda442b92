# The vectors: the same for the same text everywhere, of length one, as README.md describes them.
use strict;
use warnings FATAL => 'all';

use List::Util qw(max sum);
use RawHttp;
use Test::More;

sub {
	my ($mock) = @_;
	my $port = $mock->port;
	my $vector = sub {
		my ($text, $dimensions) = @_;
		return RawHttp->once($port, '/v1/embeddings',
			{ model => 'mock-' . $dimensions, input => $text })->{json}{data}[0]{embedding};
	};

	for my $dimensions (1, 2, 3, 64, 1000, 16384)
	{
		my $got = $vector->('a text', $dimensions);
		is(@$got, $dimensions, "$dimensions dimensions");
		ok(abs(sum(map { $_ * $_ } @$got) - 1) < 1e-5, 'length one');
		is_deeply($got, $vector->('a text', $dimensions), 'the same again');
		my $described = MockProvider::vector('a text', $dimensions);
		is_deeply([ map { sprintf '%.8f', $_ } @$got ], $described, 'as described');
	}
	my $accents = "na\x{ef}ve \x{1f40d}";
	is_deeply([ map { sprintf '%.8f', $_ } @{ $vector->($accents, 8) } ],
		MockProvider::vector($accents, 8), 'the bytes of UTF-8 count');

	my %seen;
	$seen{ join ',', @{ $vector->("text $_", 3) } }++ for 1 .. 200;
	is(keys %seen, 200, 'texts differ even with few dimensions');
	my ($a, $b) = ($vector->('a', 256), $vector->('b', 256));
	ok(abs(sum(map { $a->[$_] * $b->[$_] } 0 .. 255)) < 0.4, 'and have little in common');
	isnt($vector->('a', 3)[0], $vector->('a', 4)[0], 'so do dimensions');

	my $wanted = $vector->('same', 9);
	is_deeply(
		RawHttp->once($port, '/api/embed', { model => 'mock-9', input => 'same' })
		  ->{json}{embeddings}[0], $wanted, 'Ollama gives the same vector');
	is_deeply(
		RawHttp->once($port, '/voyage/v1/embeddings', { model => 'mock-9', input => 'same' })
		  ->{json}{data}[0]{embedding}, $wanted, 'Voyage too');
	is_deeply(
		RawHttp->once($port, '/v2/embed',
			{ model => 'mock-9', texts => ['same'], input_type => 'search_query' })
		  ->{json}{embeddings}{float}[0], $wanted, 'Cohere too');

	is(RawHttp->once($port, '/v1/embeddings', { model => "mock-$_", input => 'a' })->{status},
		404, "there is no mock-$_")
	  for 0, 16385, 'x', '-1', '';
	$mock->settings(models => { 'my-model' => 6 });
	is(@{ RawHttp->once($port, '/v1/embeddings', { model => 'my-model', input => 'a' })
		  ->{json}{data}[0]{embedding} }, 6, 'a model can be added');
	ok((grep { $_->{id} eq 'my-model' } @{ RawHttp->once($port, '/v1/models')->{json}{data} }),
		'and is listed');
	$mock->reset;
	is(RawHttp->once($port, '/v1/embeddings', { model => 'my-model', input => 'a' })->{status},
		404, 'and removed');
	return;
};
