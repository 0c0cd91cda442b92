// A handler that knows where it is: each event comes with the path of the value, so that a reply is
// taken apart without a state machine for each provider.
//
// Paths read "data[].embedding[]": keys joined by dots, every element of an array is "[]", the
// document itself is "". In keys, '.', '[' and ']' appear as '?', so no key can pass for a path.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/json/limits.hpp"

namespace ai::json {

/// What is not overridden is ignored. A container's begin and end carry the same path.
class Visitor {
 public:
  Visitor() = default;
  Visitor(const Visitor&) = delete;
  Visitor& operator=(const Visitor&) = delete;
  virtual ~Visitor() = default;

  virtual void OnNull(std::string_view /*path*/) {}
  virtual void OnBool(std::string_view /*path*/, bool /*value*/) {}
  /// Unless overridden, an integer arrives as a double.
  virtual void OnInteger(std::string_view path, std::int64_t value) {
    OnDouble(path, static_cast<double>(value));
  }
  virtual void OnDouble(std::string_view /*path*/, double /*value*/) {}
  virtual void OnString(std::string_view /*path*/, std::string_view /*value*/) {}
  virtual void OnObjectBegin(std::string_view /*path*/) {}
  virtual void OnObjectEnd(std::string_view /*path*/) {}
  virtual void OnArrayBegin(std::string_view /*path*/) {}
  virtual void OnArrayEnd(std::string_view /*path*/) {}
};

/// Reads text as Read does, in place and with the same errors.
void Visit(std::string& text, Visitor& visitor, const Limits& limits = kReadLimits);

}  // namespace ai::json
