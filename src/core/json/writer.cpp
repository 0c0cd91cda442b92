// See writer.hpp.
#include "core/json/writer.hpp"

#include <array>
#include <charconv>
#include <cmath>

#include "core/error.hpp"
#include "core/json/tape.hpp"
#include "core/utf8.hpp"

namespace ai::json {
namespace {

constexpr std::string_view kHex = "0123456789abcdef";
constexpr std::size_t kMaxNumberLength = 32;  // the longest double needs 24 characters

/// For each byte: 0 stands for itself, 'u' becomes \u00XX, any other letter follows a backslash.
constexpr std::array<char, 256> kEscapes = [] {
  std::array<char, 256> table{};
  for (std::size_t c = 0; c < 0x20; ++c) {
    table[c] = 'u';
  }
  table['\b'] = 'b';
  table['\f'] = 'f';
  table['\n'] = 'n';
  table['\r'] = 'r';
  table['\t'] = 't';
  table['"'] = '"';
  table['\\'] = '\\';
  return table;
}();

char EscapeOf(char c) {
  return kEscapes[static_cast<unsigned char>(c)];
}

void AppendEscape(std::string& out, char c) {
  out.push_back('\\');
  out.push_back(EscapeOf(c));
  if (EscapeOf(c) == 'u') {
    out.append("00");
    out.push_back(kHex[static_cast<unsigned char>(c) >> 4]);
    out.push_back(kHex[static_cast<unsigned char>(c) & 0xF]);
  }
}

void CheckEncoding(std::string_view text) {
  if (const std::size_t valid = utf8::ValidPrefix(text); valid != text.size()) {
    throw Error(ErrorCode::kInvalidText,
                "text for JSON is not valid UTF-8 at byte " + std::to_string(valid));
  }
}

void AppendQuoted(std::string& out, std::string_view text) {
  out.push_back('"');
  std::size_t start = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (EscapeOf(text[at]) != 0) {
      out.append(text.substr(start, at - start));
      AppendEscape(out, text[at]);
      start = at + 1;
    }
  }
  out.append(text.substr(start));
  out.push_back('"');
}

template <typename T>
void AppendNumber(std::string& out, T value) {
  std::array<char, kMaxNumberLength> buffer;
  const auto [end, error] = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
  out.append(buffer.data(), end);
}

void CheckFinite(double value) {
  if (!std::isfinite(value)) {
    throw Error(ErrorCode::kInvalidParameter, "JSON has no way to write NaN or infinity");
  }
}

bool IsContainer(const Value& value) {
  return value.kind() == Kind::kArray || value.kind() == Kind::kObject;
}

[[noreturn]] void ThrowMisuse(const char* what) {
  throw Error(ErrorCode::kInternal, what);
}

}  // namespace

void Writer::BeforeValue() {
  if (open_.empty()) {
    if (started_) {
      ThrowMisuse("JSON text already has its value");
    }
    started_ = true;
    return;
  }
  switch (open_.back()) {
    case Expects::kFirstKey:
    case Expects::kKey:
      ThrowMisuse("JSON object expects a key, not a value");
    case Expects::kMemberValue:
      open_.back() = Expects::kKey;
      return;
    case Expects::kFirstElement:
      open_.back() = Expects::kElement;
      return;
    case Expects::kElement:
      out_.push_back(',');
      return;
  }
}

Writer& Writer::Raw(std::string_view text) {
  BeforeValue();
  out_.append(text);
  return *this;
}

Writer& Writer::BeginObject() {
  Raw("{");
  open_.push_back(Expects::kFirstKey);
  return *this;
}

Writer& Writer::BeginArray() {
  Raw("[");
  open_.push_back(Expects::kFirstElement);
  return *this;
}

Writer& Writer::Key(std::string_view key) {
  CheckEncoding(key);
  if (open_.empty() || (open_.back() != Expects::kFirstKey && open_.back() != Expects::kKey)) {
    ThrowMisuse("JSON key is not expected here");
  }
  if (open_.back() == Expects::kKey) {
    out_.push_back(',');
  }
  open_.back() = Expects::kMemberValue;
  AppendQuoted(out_, key);
  out_.push_back(':');
  return *this;
}

Writer& Writer::EndObject() {
  return End('}', true);
}

Writer& Writer::EndArray() {
  return End(']', false);
}

Writer& Writer::End(char bracket, bool of_object) {
  const auto may_end = [of_object](Expects expects) {
    return of_object ? expects == Expects::kFirstKey || expects == Expects::kKey
                     : expects == Expects::kFirstElement || expects == Expects::kElement;
  };
  if (open_.empty() || !may_end(open_.back())) {
    ThrowMisuse("JSON object or array cannot end here");
  }
  open_.pop_back();
  out_.push_back(bracket);
  return *this;
}

Writer& Writer::Null() {
  return Raw("null");
}

Writer& Writer::Bool(bool value) {
  return Raw(value ? "true" : "false");
}

Writer& Writer::Integer(std::int64_t value) {
  BeforeValue();
  AppendNumber(out_, value);
  return *this;
}

Writer& Writer::Double(double value) {
  CheckFinite(value);
  BeforeValue();
  AppendNumber(out_, value);
  return *this;
}

Writer& Writer::String(std::string_view value) {
  CheckEncoding(value);
  BeforeValue();
  AppendQuoted(out_, value);
  return *this;
}

Writer& Writer::Floats(std::span<const float> values) {
  for (const float value : values) {
    CheckFinite(value);
  }
  Raw("[");
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i > 0) {
      out_.push_back(',');
    }
    AppendNumber(out_, values[i]);
  }
  out_.push_back(']');
  return *this;
}

Writer& Writer::Copy(const Value& value) {
  const Tape& tape = value.tape();
  const std::uint32_t end = tape.nodes[value.index()].next;
  std::vector<Value> containers;  // those that are open; a stack of our own, as for reading
  std::uint32_t at = value.index();
  while (at != end) {
    if (!containers.empty() && containers.back().kind() == Kind::kObject) {
      Key(tape.StringAt(at));
      ++at;
    }
    const Value current(tape, at);
    CopyHead(current);
    if (IsContainer(current)) {
      containers.push_back(current);
    }
    ++at;
    while (!containers.empty() && tape.nodes[containers.back().index()].next == at) {
      containers.back().kind() == Kind::kObject ? EndObject() : EndArray();
      containers.pop_back();
    }
  }
  return *this;
}

/// A scalar, or what a container begins with.
void Writer::CopyHead(const Value& value) {
  switch (value.kind()) {
    case Kind::kNull:
      Null();
      return;
    case Kind::kBool:
      Bool(value.AsBool());
      return;
    case Kind::kInteger:
      Integer(value.AsInteger());
      return;
    case Kind::kDouble:
      Double(value.AsDouble());
      return;
    case Kind::kString:
      String(value.AsString());
      return;
    case Kind::kArray:
      BeginArray();
      return;
    case Kind::kObject:
      BeginObject();
      return;
  }
}

}  // namespace ai::json
