// Reads a JSON text once, front to back, and reports events to a handler: for big replies that go
// straight into their own buffers. Accepts exactly RFC 8259 (no comments, no NaN, no trailing
// comma, no byte order mark).
//
// - Strings are decoded in place, which destroys the text.
// - Nesting costs memory, not stack: only Limits bound it.
// - Invalid UTF-8 and lone surrogates such as \uD800 are refused. \u0000 is a character like any
//   other: code that passes a string to PostgreSQL has to check for it.
// - Both members of a duplicate key are reported.
// - Numbers are correctly rounded.
// - A handler that has to be interruptible calls CheckInterrupt, for example in OnArrayBegin.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/json/limits.hpp"

namespace ai::json {

/// Events that are not overridden are ignored. An exception from a handler ends the reading and
/// reaches the caller of Read. Views point into the text.
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
  virtual void OnObjectEnd(std::uint32_t /*members*/) {}
  virtual void OnArrayBegin() {}
  virtual void OnArrayEnd(std::uint32_t /*elements*/) {}
};

/// Throws Error, kLimitExceeded, if a text of that many bytes is too large.
void CheckSize(std::size_t bytes, const Limits& limits);

/// Throws Error: kInvalidText with the byte offset of the mistake, kLimitExceeded if text or
/// nesting are too large. The handler may have seen the part before the mistake. The content of
/// text is unspecified afterwards, but the views that the handler got stay valid.
void Read(std::string& text, Handler& handler, const Limits& limits = kReadLimits);

}  // namespace ai::json
