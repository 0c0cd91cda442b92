#include "core/token/short_merge.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>

namespace ai::token {
namespace {

constexpr TokenId kNeverMerges = std::numeric_limits<TokenId>::max();

/// The parts of a short piece while they merge: part i is bytes [start[i], start[i + 1]), and
/// rank[i] is that of parts i and i + 1 together.
struct ShortParts {
  std::array<std::uint8_t, kShortPiece + 2> start;
  std::array<TokenId, kShortPiece + 2> rank;
  std::array<TokenId, kShortPiece + 2> id;
  std::size_t count;
};

TokenId PairRank(const Vocabulary& vocabulary, std::string_view piece, const ShortParts& parts,
                 std::size_t i) {
  if (i + 1 >= parts.count) {
    return kNeverMerges;
  }
  const std::size_t begin = parts.start[i];
  const TokenId id = vocabulary.Find(piece.substr(begin, parts.start[i + 2] - begin));
  return id == kNoToken ? kNeverMerges : id;
}

/// Every byte a part of its own.
void SplitIntoBytes(const Vocabulary& vocabulary, std::string_view piece, ShortParts& parts) {
  parts.count = piece.size();
  for (std::size_t i = 0; i < piece.size(); ++i) {
    const TokenId pair =
        i + 1 < piece.size() ? vocabulary.FindPair(piece[i], piece[i + 1]) : kNoToken;
    parts.start[i] = static_cast<std::uint8_t>(i);
    parts.rank[i] = pair == kNoToken ? kNeverMerges : pair;
    parts.id[i] = kNoToken;
  }
  parts.start[piece.size()] = static_cast<std::uint8_t>(piece.size());
}

template <typename Array>
void Erase(Array& array, std::size_t at, std::size_t size) {
  std::copy(array.begin() + at + 1, array.begin() + size, array.begin() + at);
}

}  // namespace

std::size_t MergeShort(const Vocabulary& vocabulary, std::string_view piece, Token* tokens) {
  ShortParts parts;
  SplitIntoBytes(vocabulary, piece, parts);
  for (;;) {
    const auto* const ranks = parts.rank.data();
    const std::size_t best =
        static_cast<std::size_t>(std::min_element(ranks, ranks + parts.count) - ranks);
    if (parts.rank[best] == kNeverMerges) {
      break;
    }
    parts.id[best] = parts.rank[best];
    Erase(parts.id, best + 1, parts.count);
    Erase(parts.rank, best + 1, parts.count);
    Erase(parts.start, best + 1, parts.count + 1);
    --parts.count;
    parts.rank[best] = PairRank(vocabulary, piece, parts, best);
    if (best > 0) {
      parts.rank[best - 1] = PairRank(vocabulary, piece, parts, best - 1);
    }
  }
  for (std::size_t i = 0; i < parts.count; ++i) {
    const std::size_t begin = parts.start[i];
    const std::size_t length = parts.start[i + 1] - begin;
    const TokenId id =
        parts.id[i] != kNoToken ? parts.id[i] : vocabulary.Find(piece.substr(begin, length));
    tokens[i] = {id, static_cast<std::uint32_t>(length)};
  }
  return parts.count;
}

}  // namespace ai::token
