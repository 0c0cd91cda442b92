// See value.hpp.
#include "core/json/value.hpp"

#include <cmath>

#include "core/error.hpp"
#include "core/json/tree.hpp"
#include "core/utf8.hpp"

namespace ai::json {
namespace {

constexpr double kMaxExactInteger = 9007199254740992.0;  // 2^53
constexpr std::size_t kMaxKeyInMessage = 64;

std::string_view Text(const Node& node) {
  return {node.GetString(), node.GetStringLength()};
}

/// Looks for a value within another and puts the path that leads there before path. Slow, because
/// only errors ask for it. INVARIANT: kMaxDepth bounds the recursion.
bool Locate(const Node& from, const Node& wanted, std::string& path) {
  const auto found_in = [&](const Node& child, std::string_view step) {
    if (!Locate(child, wanted, path)) {
      return false;
    }
    path.insert(0, &child != &wanted && child.IsObject() ? "." : "").insert(0, step);
    return true;
  };
  if (&from == &wanted) {
    return true;
  }
  if (from.IsArray()) {
    for (rapidjson::SizeType i = 0; i < from.Size(); ++i) {
      if (found_in(from[i], "[" + std::to_string(i) + "]")) {
        return true;
      }
    }
  } else if (from.IsObject()) {
    for (const auto& member : from.GetObject()) {
      if (found_in(member.value, utf8::Clip(Text(member.name), kMaxKeyInMessage))) {
        return true;
      }
    }
  }
  return false;
}

}  // namespace

std::string_view Describe(Kind kind) {
  switch (kind) {
    case Kind::kNull:
      return "null";
    case Kind::kBool:
      return "a boolean";
    case Kind::kInteger:
    case Kind::kDouble:
      return "a number";
    case Kind::kString:
      return "a string";
    case Kind::kArray:
      return "an array";
    case Kind::kObject:
      return "an object";
  }
  return "unknown";
}

Kind Value::kind() const {
  switch (node_->GetType()) {
    case rapidjson::kNullType:
      return Kind::kNull;
    case rapidjson::kFalseType:
    case rapidjson::kTrueType:
      return Kind::kBool;
    case rapidjson::kNumberType:
      return node_->IsDouble() ? Kind::kDouble : Kind::kInteger;
    case rapidjson::kStringType:
      return Kind::kString;
    case rapidjson::kArrayType:
      return Kind::kArray;
    case rapidjson::kObjectType:
      return Kind::kObject;
  }
  return Kind::kNull;
}

bool Value::AsBool() const {
  Require(Kind::kBool);
  return node_->GetBool();
}

std::int64_t Value::AsInteger() const {
  if (node_->IsInt64()) {
    return node_->GetInt64();
  }
  if (!node_->IsDouble() || std::fabs(node_->GetDouble()) > kMaxExactInteger ||
      std::trunc(node_->GetDouble()) != node_->GetDouble()) {
    ThrowExpected("an integer");
  }
  return static_cast<std::int64_t>(node_->GetDouble());
}

double Value::AsDouble() const {
  if (node_->IsInt64()) {
    return static_cast<double>(node_->GetInt64());
  }
  Require(Kind::kDouble);
  return node_->GetDouble();
}

std::string_view Value::AsString() const {
  Require(Kind::kString);
  return Text(*node_);
}

std::vector<Value> Value::items() const {
  Require(Kind::kArray);
  std::vector<Value> items;
  items.reserve(node_->Size());
  for (const Node& node : node_->GetArray()) {
    items.emplace_back(*root_, node);
  }
  return items;
}

std::vector<Member> Value::members() const {
  Require(Kind::kObject);
  std::vector<Member> members;
  members.reserve(node_->MemberCount());
  for (const auto& member : node_->GetObject()) {
    members.push_back({Text(member.name), Value(*root_, member.value)});
  }
  return members;
}

std::size_t Value::size() const {
  if (node_->IsArray()) {
    return node_->Size();
  }
  Require(Kind::kObject);
  return node_->MemberCount();
}

std::optional<Value> Value::Find(std::string_view key) const {
  Require(Kind::kObject);
  std::optional<Value> found;
  for (const auto& member : node_->GetObject()) {
    if (Text(member.name) == key) {
      found = Value(*root_, member.value);
    }
  }
  return found;
}

Value Value::At(std::string_view key) const {
  if (const std::optional<Value> found = Find(key)) {
    return *found;
  }
  const std::string path = Path();
  throw Error(ErrorCode::kInvalidText, "JSON object " + (path.empty() ? "" : "\"" + path + "\" ") +
                                           "has no key \"" + std::string(key) + "\"");
}

std::optional<Value> Value::FindSet(std::string_view key) const {
  const std::optional<Value> found = Find(key);
  return found && !found->IsNull() ? found : std::nullopt;
}

bool Value::GetBool(std::string_view key, bool fallback) const {
  const std::optional<Value> found = FindSet(key);
  return found ? found->AsBool() : fallback;
}

std::int64_t Value::GetInteger(std::string_view key, std::int64_t fallback) const {
  const std::optional<Value> found = FindSet(key);
  return found ? found->AsInteger() : fallback;
}

double Value::GetDouble(std::string_view key, double fallback) const {
  const std::optional<Value> found = FindSet(key);
  return found ? found->AsDouble() : fallback;
}

std::string_view Value::GetString(std::string_view key, std::string_view fallback) const {
  const std::optional<Value> found = FindSet(key);
  return found ? found->AsString() : fallback;
}

std::string Value::Path() const {
  std::string path;
  Locate(*root_, *node_, path);
  return path;
}

void Value::Require(Kind expected) const {
  if (kind() != expected) {
    ThrowExpected(Describe(expected));
  }
}

void Value::ThrowExpected(std::string_view expected) const {
  const std::string path = Path();
  std::string message = path.empty() ? "JSON document" : "JSON value \"" + path + "\"";
  message.append(" must be ").append(expected);
  const bool same_kind = expected == "an integer" && kind() == Kind::kDouble;
  message.append(", not ").append(same_kind ? "a fraction" : Describe(kind()));
  throw Error(ErrorCode::kInvalidText, message);
}

}  // namespace ai::json
