// What tells whether a text has to be embedded again: a hash of the text and of the model that
// makes the vector. Equal hashes mean equal vectors.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>

namespace ai::policy {

/// Half of a SHA-256: two of a billion texts are the same with a probability of 1e-21.
using ContentHash = std::array<std::uint8_t, 16>;

/// Makes hashes one after the other; most of the cost of a short one is to get ready for the first.
class TextHasher {
 public:
  TextHasher();
  ~TextHasher();
  TextHasher(const TextHasher&) = delete;
  TextHasher& operator=(const TextHasher&) = delete;

  /// Of the parts as if they were one.
  ContentHash operator()(std::initializer_list<std::string_view> parts) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

class ContentHasher {
 public:
  /// The seed names everything but the text that the vector depends on.
  explicit ContentHasher(std::string_view seed);

  ContentHash operator()(std::string_view text) const { return hasher_({prefix_, text}); }

 private:
  std::string prefix_;
  TextHasher hasher_;
};

}  // namespace ai::policy
