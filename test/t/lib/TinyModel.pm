# TinyModel.pm: writes a model of the BERT family as it is published, with weights that mean nothing.
#
#   TinyModel::write($directory, layers => 2, config => '"pooling_mode": "cls"');
#
# What it makes of a text is always the same, depends on all that the configuration says, and takes as
# long as the sizes make it.
package TinyModel;

use strict;
use warnings FATAL => 'all';

use File::Path qw(make_path);

my @words = qw([PAD] [UNK] [CLS] [SEP] [MASK] the cat sat on mat a dog query passage : .);

sub _write_file
{
	my ($path, $contents) = @_;
	open(my $file, '>:raw', $path) or die "$path: $!";
	print $file $contents;
	close $file or die "$path: $!";
	return;
}

# Names and shapes of the tensors.
sub _tensors
{
	my (%size) = @_;
	my ($hidden, $wide) = @size{qw(hidden intermediate)};
	my @norm = ([ 'weight', $hidden ], [ 'bias', $hidden ]);
	my @tensors = (
		[ 'embeddings.word_embeddings.weight', scalar @words, $hidden ],
		[ 'embeddings.position_embeddings.weight', $size{positions}, $hidden ],
		[ 'embeddings.token_type_embeddings.weight', 2, $hidden ],
		map { [ "embeddings.LayerNorm.$_->[0]", $_->[1] ] } @norm);
	foreach my $layer (0 .. $size{layers} - 1)
	{
		my $name = "encoder.layer.$layer";
		foreach (map({ [ "attention.self.$_", $hidden, $hidden ] } qw(query key value)),
			[ 'attention.output.dense', $hidden, $hidden ],
			[ 'intermediate.dense', $wide, $hidden ],
			[ 'output.dense', $hidden, $wide ])
		{
			my ($part, $rows, $columns) = @$_;
			push @tensors, [ "$name.$part.weight", $rows, $columns ], [ "$name.$part.bias", $rows ];
		}
		foreach my $part (qw(attention.output output))
		{
			push @tensors, map { [ "$name.$part.LayerNorm.$_->[0]", $_->[1] ] } @norm;
		}
	}
	return @tensors;
}

# Numbers from a generator of our own: rand differs from one perl to the next.
sub _numbers
{
	my ($count, $state) = @_;
	my @numbers;
	foreach (1 .. $count)
	{
		$$state = ($$state * 1103515245 + 12345) % 2147483648;
		push @numbers, ($$state / 2147483648 - 0.5) * 0.4;
	}
	return pack('f<*', @numbers);
}

sub _safetensors
{
	my (@tensors) = @_;
	my $state = 42;
	my $pool = _numbers(20_011, \$state);
	my ($data, @entries) = ('');
	foreach (@tensors)
	{
		my ($name, @shape) = @$_;
		my $count = 1;
		$count *= $_ foreach @shape;
		my $start = length $data;
		# Not the same numbers for every tensor, and made without a loop over them all.
		my $rest = length($pool) - 4 * ($start % 19_997);
		my $many = substr($pool, -$rest) . $pool x (1 + int(4 * $count / length $pool));
		$data .= $name =~ /LayerNorm\.weight$/ ? pack('f<*', (1) x $count) : substr($many, 0, 4 * $count);
		push @entries, sprintf('"%s": {"dtype": "F32", "shape": [%s], "data_offsets": [%d, %d]}',
			$name, join(', ', @shape), $start, length $data);
	}
	my $header = '{' . join(', ', @entries) . '}';
	return pack('Q<', length $header) . $header . $data;
}

# Options: layers, heads, hidden, intermediate, positions, model_type; config: more members of config.json.
sub write
{
	my ($directory, %options) = @_;
	my %size = (layers => 2, heads => 2, hidden => 32, intermediate => 48, positions => 64, %options);
	make_path($directory);
	_write_file("$directory/config.json", sprintf(
			'{"model_type": "%s", "hidden_act": "gelu", "num_hidden_layers": %d, "num_attention_heads": %d, '
			. '"hidden_size": %d, "intermediate_size": %d, "max_position_embeddings": %d, "vocab_size": %d%s}',
			$options{model_type} // 'bert', @size{qw(layers heads hidden intermediate positions)}, scalar @words,
			$options{config} ? ", $options{config}" : ''));
	_write_file("$directory/vocab.txt", join '', map { "$_\n" } @words);
	_write_file("$directory/model.safetensors", _safetensors(_tensors(%size)));
	return $directory;
}

1;
