// How much JSON we are willing to read. Nothing is unlimited: texts come from users and providers.
#pragma once

#include <cstddef>

namespace ai::json {

struct Limits {
  std::size_t max_bytes;  // of the text; never more than 2 GiB, whatever is set
  std::size_t max_depth;  // of arrays and objects within each other; a scalar has depth 0
};

inline constexpr std::size_t kMaxDepth = 100;

/// Parsing a Document takes up to 20 times the memory of its text: for configurations and small
/// replies.
inline constexpr Limits kDocumentLimits{std::size_t{16} << 20, kMaxDepth};

/// Reading works in place and keeps nothing.
inline constexpr Limits kReadLimits{std::size_t{256} << 20, kMaxDepth};

}  // namespace ai::json
