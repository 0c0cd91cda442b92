// See writer.hpp. rapidjson writes commas, colons and escapes. It does not check whether a key or a
// value is allowed at the current position, so we do; and its doubles are not always the shortest.
#include "core/json/writer.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "core/error.hpp"
#include "core/json/tree.hpp"
#include "core/utf8.hpp"

namespace ai::json {
namespace {

constexpr std::size_t kMaxNumberLength = 32;  // the longest double needs 24 characters

/// The end of a string, as a stream of rapidjson.
struct Stream {
  using Ch = char;

  void Put(char c) { out.push_back(c); }
  void Flush() {}

  std::string& out;
};

using Base = rapidjson::Writer<Stream, rapidjson::UTF8<>, rapidjson::UTF8<>, Allocator>;

constexpr std::array<bool, 256> kEscaped = [] {
  std::array<bool, 256> table{};
  std::fill_n(table.begin(), 0x20, true);
  table['"'] = table['\\'] = true;
  return table;
}();

[[noreturn]] void ThrowMisuse(const char* what) {
  throw Error(ErrorCode::kInternal, what);
}

void CheckEncoding(std::string_view text) {
  if (const std::size_t valid = utf8::ValidPrefix(text); valid != text.size()) {
    throw Error(ErrorCode::kInvalidText,
                "text for JSON is not valid UTF-8 at byte " + std::to_string(valid));
  }
}

}  // namespace

/// Copies a run of bytes that need no escape at once. False at the end of the string.
template <>
bool Base::ScanWriteUnescapedString(rapidjson::StringStream& text, std::size_t length) {
  const char* const end = text.head_ + length;
  const char* const stop =
      std::find_if(text.src_, end, [](char c) { return kEscaped[static_cast<unsigned char>(c)]; });
  os_->out.append(text.src_, stop);
  text.src_ = stop;
  return stop != end;
}

class Writer::Output final : private Stream, public Base {
 public:
  explicit Output(std::string& text) : Stream{text}, Base(static_cast<Stream&>(*this)) {}

  bool in_array() const { return !level_stack_.Empty() && Top().inArray; }
  bool expects_key() const {
    return !level_stack_.Empty() && !Top().inArray && Top().valueCount % 2 == 0;
  }
  bool expects_value() const { return level_stack_.Empty() ? !hasRoot_ : !expects_key(); }

  /// Replaces rapidjson's, also in Copy.
  bool Double(double value) {
    std::array<char, kMaxNumberLength> text;
    const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), value);
    return RawValue(text.data(), static_cast<std::size_t>(end - text.data()),
                    rapidjson::kNumberType);
  }

 private:
  const Level& Top() const { return *level_stack_.template Top<Level>(); }
};

Writer::Writer(std::string& out) : output_(std::make_unique<Output>(out)) {}
Writer::~Writer() = default;

Writer::Output& Writer::ForValue() {
  if (!output_->expects_value()) {
    ThrowMisuse("JSON value is not expected here");
  }
  return *output_;
}

Writer& Writer::BeginObject() {
  ForValue().StartObject();
  return *this;
}

Writer& Writer::Key(std::string_view key) {
  CheckEncoding(key);
  if (!output_->expects_key()) {
    ThrowMisuse("JSON key is not expected here");
  }
  output_->Key(key.data(), static_cast<rapidjson::SizeType>(key.size()));
  return *this;
}

Writer& Writer::EndObject() {
  if (!output_->expects_key()) {
    ThrowMisuse("JSON object cannot end here");
  }
  output_->EndObject();
  return *this;
}

Writer& Writer::BeginArray() {
  ForValue().StartArray();
  return *this;
}

Writer& Writer::EndArray() {
  if (!output_->in_array()) {
    ThrowMisuse("JSON array cannot end here");
  }
  output_->EndArray();
  return *this;
}

Writer& Writer::Null() {
  ForValue().Null();
  return *this;
}

Writer& Writer::Bool(bool value) {
  ForValue().Bool(value);
  return *this;
}

Writer& Writer::Integer(std::int64_t value) {
  ForValue().Int64(value);
  return *this;
}

Writer& Writer::Double(double value) {
  if (!std::isfinite(value)) {
    throw Error(ErrorCode::kInvalidParameter, "JSON has no way to write NaN or infinity");
  }
  ForValue().Double(value);
  return *this;
}

Writer& Writer::String(std::string_view value) {
  CheckEncoding(value);
  ForValue().String(value.data(), static_cast<rapidjson::SizeType>(value.size()));
  return *this;
}

Writer& Writer::Copy(const Value& value) {
  value.node().Accept(ForValue());
  return *this;
}

bool Writer::complete() const {
  return output_->IsComplete();
}

}  // namespace ai::json
