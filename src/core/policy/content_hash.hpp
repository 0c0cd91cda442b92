// Determines whether a text has to be embedded again: a hash of the text and of everything else
// that the vector depends on. Equal hashes mean equal vectors.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>

namespace ai::policy {

/// Half of a SHA-256: the probability of a collision among a billion texts is 1e-21.
using ContentHash = std::array<std::uint8_t, 16>;

/// Computes one hash after the other, reusing the context, whose set-up dominates for short texts.
class TextHasher {
 public:
  TextHasher();
  ~TextHasher();
  TextHasher(const TextHasher&) = delete;
  TextHasher& operator=(const TextHasher&) = delete;

  /// The hash of the concatenated parts.
  ContentHash operator()(std::initializer_list<std::string_view> parts) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

class ContentHasher {
 public:
  /// The seed identifies everything that the vector depends on, except for the text.
  explicit ContentHasher(std::string_view seed);

  ContentHash operator()(std::string_view text) const { return hasher_({prefix_, text}); }

 private:
  std::string prefix_;
  TextHasher hasher_;
};

}  // namespace ai::policy
