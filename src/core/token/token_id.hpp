// The two words that everything about tokens shares.
#pragma once

#include <cstdint>

namespace ai::token {

/// The number of a token. Signed, because that is what SQL's int[] and the providers' JSON carry;
/// a valid one is never negative.
using TokenId = std::int32_t;

inline constexpr TokenId kNoToken = -1;

/// One token of a text: which, and how many bytes of the text it stands for.
struct Token {
  TokenId id;
  std::uint32_t length;

  bool operator==(const Token&) const = default;
};

}  // namespace ai::token
