// Writes JSON to the end of a string: compact, always valid. Commas and colons come by themselves.
// What cannot be JSON is an Error and leaves no half value behind: NaN, infinity, a text that is
// not UTF-8, a key outside an object, an end without a beginning.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "core/json/value.hpp"

namespace ai::json {

/// INVARIANT: nobody else changes the string while the writer is in use.
class Writer {
 public:
  explicit Writer(std::string& out);
  ~Writer();
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  Writer& BeginObject();
  Writer& Key(std::string_view key);
  Writer& EndObject();
  Writer& BeginArray();
  Writer& EndArray();

  Writer& Null();
  Writer& Bool(bool value);
  Writer& Integer(std::int64_t value);
  /// The shortest text that reads back as the same double.
  Writer& Double(double value);
  Writer& String(std::string_view value);
  /// A value of a document with all it contains; numbers as they were understood.
  Writer& Copy(const Value& value);

  /// One value was begun and everything that was begun has ended.
  bool complete() const;

 private:
  class Output;

  Output& ForValue();

  std::unique_ptr<Output> output_;
};

}  // namespace ai::json
