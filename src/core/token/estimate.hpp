// Token numbers without a token table: for models whose encoding is not known and for servers where
// the tables are not installed. A guess: it is high for European languages in Latin letters and can
// be low for other scripts. Whoever uses it should say so.
#pragma once

#include <cstddef>
#include <string_view>

namespace ai::token {

inline constexpr std::size_t kEstimatedBytesPerToken = 4;

/// A quarter of the bytes, rounded up.
constexpr std::size_t EstimateTokens(std::string_view text) {
  return text.size() / kEstimatedBytesPerToken + (text.size() % kEstimatedBytesPerToken != 0);
}

/// The longest prefix whose estimate is at most max_tokens and that ends on a character boundary.
std::string_view TruncateEstimated(std::string_view text, std::size_t max_tokens);

}  // namespace ai::token
