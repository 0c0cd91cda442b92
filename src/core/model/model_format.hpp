// The layout of a packed model: one file, used in place where it is mapped, with nothing to parse
// and next to nothing private to a process.
//
//   ModelHeader | notice | slots of words | slots of continuations | offsets | bytes of all tokens
//   | token embeddings | position embeddings | first normalization | layer 0 | layer 1 | ...
//
// Every section starts on a multiple of 64 bytes; where follows from the numbers in the header
// (Layout). Matrices are panels of 16-bit floats, see kernels.hpp; token embeddings are plain rows
// of 16-bit floats; all else is 32-bit. Numbers are in the byte order of the machine that packed
// the file; the header says so, and another machine refuses it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace ai::model {

inline constexpr char kModelMagic[8] = {'A', 'I', 'M', 'O', 'D', 'E', 'L', 'S'};
/// Goes up with every change to the format; scripts/model reads it from here.
inline constexpr std::uint32_t kModelVersion = 1;
inline constexpr std::size_t kModelAlignment = 64;
inline constexpr std::size_t kMaxSpecials = 16;

enum class Pooling : std::uint32_t { kMean = 0, kFirst = 1 };

/// The sizes of an encoder of the BERT family.
struct Shape {
  std::uint32_t layers;
  std::uint32_t heads;
  std::uint32_t hidden;
  std::uint32_t intermediate;
  std::uint32_t positions;
  std::uint32_t tokens;      // in the vocabulary
  std::uint32_t max_tokens;  // of a text; not more than positions
  Pooling pooling;
};

struct ModelHeader {
  char magic[8];
  std::uint32_t byte_order;
  std::uint32_t version;
  std::uint64_t file_size;
  std::uint64_t vocabulary_checksum;  // from the end of the header to the token embeddings
  std::uint64_t weights_checksum;     // of the rest, which opening does not read
  char name[64];                      // padded with zeros, as the other texts
  char source[128];                   // what it was made from, for people
  char query_prefix[128];             // what the model wants before a query
  char passage_prefix[128];           // and before a text that is searched
  Shape shape;
  float epsilon;  // of the normalizations
  std::uint32_t lower_case;
  std::uint32_t strip_accents;
  std::uint32_t space_ideographs;
  std::uint32_t unknown_token;
  std::uint32_t start_token;
  std::uint32_t end_token;
  std::uint32_t special_count;
  std::uint32_t specials[kMaxSpecials];
  std::uint32_t word_bits;  // there are 2^word_bits slots of words
  std::uint32_t continuation_bits;
  std::uint32_t token_bytes;  // of all tokens together
  std::uint32_t notice_bytes;
  std::uint64_t header_checksum;  // of everything before it
};

static_assert(std::is_trivially_copyable_v<ModelHeader> && sizeof(ModelHeader) == 640);

/// Where the parts of a layer are, from the start of the layer.
struct LayerLayout {
  std::uint64_t attention_in;  // queries, keys and values in one matrix
  std::uint64_t attention_in_bias;
  std::uint64_t attention_out;
  std::uint64_t attention_out_bias;
  std::uint64_t attention_norm;  // weight, then bias
  std::uint64_t up;
  std::uint64_t up_bias;
  std::uint64_t down;
  std::uint64_t down_bias;
  std::uint64_t output_norm;
  std::uint64_t end;
};

/// Where the sections are, from the start of the file.
struct Layout {
  std::uint64_t notice;
  std::uint64_t words;
  std::uint64_t continuations;
  std::uint64_t offsets;
  std::uint64_t bytes;
  std::uint64_t token_embeddings;
  std::uint64_t position_embeddings;
  std::uint64_t first_norm;
  std::uint64_t layers;
  LayerLayout layer;
  std::uint64_t end;
};

/// Whether the numbers are such that we can compute with them and no layout overflows. Says in a
/// few words what is wrong, null if nothing is.
const char* ProblemOf(const Shape& shape);

/// INVARIANT: ProblemOf(shape) is null, the other numbers are below 2^32.
Layout LayOut(const ModelHeader& header);

}  // namespace ai::model
