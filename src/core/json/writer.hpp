// Writes JSON to the end of a string: compact, always valid. Commas and colons come by themselves.
// What cannot be JSON is an Error and leaves no half value behind: NaN, infinity, a text that is
// not UTF-8, a key outside an object, an end without a beginning.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/json/value.hpp"

namespace ai::json {

/// INVARIANT: nobody else changes the string while the writer is in use.
class Writer {
 public:
  explicit Writer(std::string& out) : out_(out) {}

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
  /// An array, each number the shortest text that reads back as the same float.
  Writer& Floats(std::span<const float> values);
  /// A value of a document with all it contains; numbers as they were understood.
  Writer& Copy(const Value& value);

  /// One value was begun and everything that was begun has ended.
  bool complete() const { return started_ && open_.empty(); }

 private:
  enum class Expects : std::uint8_t { kFirstKey, kKey, kMemberValue, kFirstElement, kElement };

  void BeforeValue();
  void CopyHead(const Value& value);
  Writer& End(char bracket, bool of_object);
  Writer& Raw(std::string_view text);

  std::string& out_;
  std::vector<Expects> open_;  // what each container that is open expects next
  bool started_ = false;
};

}  // namespace ai::json
