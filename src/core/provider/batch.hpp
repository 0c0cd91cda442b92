// Cuts texts to what a model takes and fills requests up to what a provider takes. Everything is
// linear in the texts.
#pragma once

#include <cstddef>
#include <string_view>

#include "core/interrupt.hpp"
#include "core/provider/limits.hpp"
#include "core/token/encoding.hpp"

namespace ai::provider {

/// A text as it will be sent: the beginning of the one given, of so many tokens.
struct Prepared {
  std::string_view text;
  std::size_t tokens = 0;
  bool truncated = false;
};

/// Counts the tokens of text and, if they are more than one input may have, cuts it at a token
/// boundary. Without an encoding (null) both go by the estimate of token/estimate.hpp.
Prepared Prepare(std::string_view text, const Limits& limits, const token::Encoding* encoding,
                 InterruptCheck pending = nullptr);

/// Knows how full a request is. A text that is over a limit all by itself still goes into an empty
/// batch: the provider has the last word on it.
class Batch {
 public:
  explicit Batch(const Limits& limits) : limits_(limits) {}

  /// True if the text can be added.
  bool Fits(const Prepared& prepared) const;
  void Add(const Prepared& prepared);
  /// True if nothing more will fit, whatever it is.
  bool full() const;
  void Clear() { items_ = tokens_ = bytes_ = 0; }

  std::size_t items() const { return items_; }
  std::size_t tokens() const { return tokens_; }
  std::size_t bytes() const { return bytes_; }

 private:
  Limits limits_;
  std::size_t items_ = 0;
  std::size_t tokens_ = 0;
  std::size_t bytes_ = 0;
};

}  // namespace ai::provider
