// Byte-pair merging of a short piece: of all neighbours that together are a token, the pair with
// the lowest rank becomes one, the leftmost of equals first, until nothing merges. A token's rank
// is its id, and the rank of a pair is that of its joined bytes, whichever way they came about.
//
// Whether the whole piece is a token is the caller's question; merging may not find it.
#pragma once

#include <cstddef>
#include <string_view>

#include "core/token/token_id.hpp"
#include "core/token/vocabulary.hpp"

namespace ai::token {

/// Up to this many bytes a scan over all pairs is faster than a heap, though it is quadratic.
inline constexpr std::size_t kShortPiece = 128;

/// Merges a piece of 1 to kShortPiece bytes into `tokens`, an array of at least as many elements as
/// the piece has bytes. Returns how many tokens there are.
std::size_t MergeShort(const Vocabulary& vocabulary, std::string_view piece, Token* tokens);

}  // namespace ai::token
