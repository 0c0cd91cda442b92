// json.cpp: reading and writing JSON.
#include "mock/json.hpp"

#include <rapidjson/error/en.h>

#include <array>
#include <cstdio>

namespace ai::mock {

namespace {

// The length of the well-formed UTF-8 sequence that starts here, or 0 when there is none.
size_t SequenceLength(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned lead = byte(0);
  const size_t length = lead < 0x80 ? 1 : lead < 0xc2 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  if (length == 0 || lead > 0xf4 || length > text.size()) {
    return 0;
  }
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) {
      return 0;
    }
  }
  const bool overlong = (lead == 0xe0 && byte(1) < 0xa0) || (lead == 0xf0 && byte(1) < 0x90);
  const bool surrogate = lead == 0xed && byte(1) >= 0xa0;
  const bool too_high = lead == 0xf4 && byte(1) >= 0x90;
  return overlong || surrogate || too_high ? 0 : length;
}

void AppendEscaped(std::string& out, char c) {
  if (c == '"' || c == '\\') {
    out += '\\';
    out += c;
    return;
  }
  std::array<char, 8> buffer;
  std::snprintf(buffer.data(), buffer.size(), "\\u%04x", static_cast<unsigned char>(c));
  out += buffer.data();
}

constexpr unsigned kParseFlags = rapid::kParseIterativeFlag | rapid::kParseValidateEncodingFlag;

}  // namespace

JsonDocument ParseJson(std::string_view text) {
  JsonDocument document;
  document.Parse<kParseFlags>(text.data(), text.size());
  if (document.HasParseError()) {
    throw JsonError(std::string(rapid::GetParseError_En(document.GetParseError())) + " (byte " +
                    std::to_string(document.GetErrorOffset()) + ")");
  }
  return document;
}

const JsonValue* FindMember(const JsonValue& value, const char* name) {
  if (!value.IsObject()) {
    return nullptr;
  }
  const auto member = value.FindMember(name);
  return member == value.MemberEnd() ? nullptr : &member->value;
}

void AppendJsonString(std::string& out, std::string_view text) {
  out += '"';
  size_t i = 0;
  while (i < text.size()) {
    const char c = text[i];
    if (c == '"' || c == '\\' || static_cast<unsigned char>(c) < 0x20) {
      AppendEscaped(out, c);
      ++i;
      continue;
    }
    const size_t length = SequenceLength(text.substr(i));
    out += length == 0 ? std::string_view("\\ufffd") : text.substr(i, length);
    i += length == 0 ? 1 : length;
  }
  out += '"';
}

void AppendJsonName(std::string& out, std::string_view name) {
  if (!out.empty() && out.back() != '{' && out.back() != '[') {
    out += ',';
  }
  AppendJsonString(out, name);
  out += ':';
}

void AppendJsonField(std::string& out, std::string_view name, std::string_view value) {
  AppendJsonName(out, name);
  AppendJsonString(out, value);
}

void AppendJsonField(std::string& out, std::string_view name, uint64_t value) {
  AppendJsonName(out, name);
  out += std::to_string(value);
}

}  // namespace ai::mock
