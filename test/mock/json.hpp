// json.hpp: reading and writing JSON. The only place of this program that includes rapidjson.
//
// Parsing is iterative and a wrong access throws: no input ends the process.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

namespace ai::mock {

class JsonError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace ai::mock

#define RAPIDJSON_ASSERT(condition)                               \
  do {                                                            \
    if (!(condition)) {                                           \
      throw ai::mock::JsonError("not what was expected in JSON"); \
    }                                                             \
  } while (false)
#define RAPIDJSON_NAMESPACE ai::mock::rapid
#define RAPIDJSON_NAMESPACE_BEGIN namespace ai::mock::rapid {
#define RAPIDJSON_NAMESPACE_END }
#include <rapidjson/document.h>

namespace ai::mock {

using JsonDocument = rapid::Document;
using JsonValue = rapid::Value;

/// Parses a whole document of valid UTF-8; throws JsonError saying where it fails.
JsonDocument ParseJson(std::string_view text);

/// The member, or nullptr when the value is no object or has no such member.
const JsonValue* FindMember(const JsonValue& value, const char* name);

inline std::string_view StringOf(const JsonValue& value) {
  return {value.GetString(), value.GetStringLength()};
}

/// Appends the text in quotes; what is no valid UTF-8 becomes U+FFFD.
void AppendJsonString(std::string& out, std::string_view text);

/// Appends `"name":` with a comma before it unless it is the first of its object.
void AppendJsonName(std::string& out, std::string_view name);
void AppendJsonField(std::string& out, std::string_view name, std::string_view value);
void AppendJsonField(std::string& out, std::string_view name, uint64_t value);

}  // namespace ai::mock
