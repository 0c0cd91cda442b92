// What tells whether a text has to be embedded again: a hash of the text and of the model that
// makes the vector. Equal hashes mean equal vectors.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace ai::policy {

/// Half of a SHA-256: two of a billion texts are the same with a probability of 1e-21.
using ContentHash = std::array<std::uint8_t, 16>;

class ContentHasher {
 public:
  /// The seed names everything but the text that the vector depends on.
  explicit ContentHasher(std::string_view seed);

  ContentHash operator()(std::string_view text) const;

 private:
  std::string prefix_;
};

}  // namespace ai::policy
