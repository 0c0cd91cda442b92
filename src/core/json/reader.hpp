// Reads a JSON text once, front to back, and tells a handler what is there: for big replies that go
// straight into their own buffers. Takes exactly RFC 8259 and nothing beside it (no comments, no
// NaN, no trailing comma, no byte order mark).
//
// - Depth costs memory, not stack: nesting is limited by Limits only.
// - Text that is not UTF-8, also by way of a lone \uD800, is refused. \u0000 is a character like
//   any other: who hands a string to PostgreSQL has to look for it.
// - Of a key that an object has twice, both members are reported.
// - Arrays of numbers and long strings are the fast paths; numbers are exactly rounded.
// - A handler that has to be interruptible calls CheckInterrupt, for example in OnArrayBegin.
#pragma once

#include <cstdint>
#include <string_view>

#include "core/json/limits.hpp"

namespace ai::json {

/// What is not overridden is ignored. An exception from a handler ends the reading and reaches the
/// caller of Read. Views live as long as the call they are passed to.
class Handler {
 public:
  Handler() = default;
  Handler(const Handler&) = delete;
  Handler& operator=(const Handler&) = delete;
  virtual ~Handler() = default;

  virtual void OnNull() {}
  virtual void OnBool(bool /*value*/) {}
  /// A number without fraction or exponent that fits; unless overridden it arrives as a double.
  virtual void OnInteger(std::int64_t value) { OnDouble(static_cast<double>(value)); }
  virtual void OnDouble(double /*value*/) {}
  virtual void OnString(std::string_view /*value*/) {}
  virtual void OnObjectBegin() {}
  virtual void OnKey(std::string_view /*key*/) {}
  virtual void OnObjectEnd() {}
  virtual void OnArrayBegin() {}
  virtual void OnArrayEnd() {}
};

/// Throws Error: kInvalidText with the byte offset of the mistake, kLimitExceeded if text or
/// nesting are too large. The handler may have seen the part before the mistake.
void Read(std::string_view text, Handler& handler, const Limits& limits = kReadLimits);

}  // namespace ai::json
