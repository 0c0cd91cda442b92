// See value.hpp and range.hpp.
#include "core/json/value.hpp"

#include <cmath>

#include "core/error.hpp"
#include "core/json/range.hpp"
#include "core/json/tape.hpp"
#include "core/utf8.hpp"

namespace ai::json {
namespace {

constexpr double kMaxExactInteger = 9007199254740992.0;  // 2^53
constexpr std::size_t kMaxKeyInMessage = 64;

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
  return tape_->nodes[index_].kind;
}

bool Value::AsBool() const {
  Require(Kind::kBool);
  return tape_->nodes[index_].integer != 0;
}

std::int64_t Value::AsInteger() const {
  const Node& node = tape_->nodes[index_];
  if (node.kind == Kind::kInteger) {
    return node.integer;
  }
  if (node.kind != Kind::kDouble || std::fabs(node.real) > kMaxExactInteger ||
      std::trunc(node.real) != node.real) {
    ThrowExpected("an integer");
  }
  return static_cast<std::int64_t>(node.real);
}

double Value::AsDouble() const {
  const Node& node = tape_->nodes[index_];
  if (node.kind == Kind::kInteger) {
    return static_cast<double>(node.integer);
  }
  Require(Kind::kDouble);
  return node.real;
}

std::string_view Value::AsString() const {
  Require(Kind::kString);
  return tape_->StringAt(index_);
}

Items Value::items() const {
  Require(Kind::kArray);
  return {*tape_, index_ + 1, tape_->nodes[index_].next};
}

Members Value::members() const {
  Require(Kind::kObject);
  return {*tape_, index_ + 1, tape_->nodes[index_].next};
}

std::size_t Value::size() const {
  if (kind() != Kind::kArray) {
    Require(Kind::kObject);
  }
  return tape_->nodes[index_].size;
}

std::optional<Value> Value::Find(std::string_view key) const {
  std::optional<Value> found;
  for (const Member member : members()) {
    if (member.key == key) {
      found = member.value;
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

/// Descends from the root towards this value. Slow on purpose: only errors ask for it.
std::string Value::Path() const {
  std::string path;
  std::uint32_t at = 0;
  while (at != index_) {
    const bool in_object = tape_->nodes[at].kind == Kind::kObject;
    std::uint32_t child = at + 1;
    std::size_t position = 0;
    const auto value_of = [in_object](std::uint32_t entry) {
      return in_object ? entry + 1 : entry;
    };
    while (tape_->nodes[value_of(child)].next <= index_) {
      child = tape_->nodes[value_of(child)].next;
      ++position;
    }
    if (in_object) {
      path.append(path.empty() ? "" : ".")
          .append(utf8::Clip(tape_->StringAt(child), kMaxKeyInMessage));
    } else {
      path.append("[").append(std::to_string(position)).append("]");
    }
    at = value_of(child);
  }
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

template <>
Value Iterator<Value>::operator*() const {
  return {*tape_, index_};
}

template <>
Iterator<Value>& Iterator<Value>::operator++() {
  index_ = tape_->nodes[index_].next;
  return *this;
}

template <>
Member Iterator<Member>::operator*() const {
  return {tape_->StringAt(index_), Value(*tape_, index_ + 1)};
}

template <>
Iterator<Member>& Iterator<Member>::operator++() {
  index_ = tape_->nodes[index_ + 1].next;
  return *this;
}

}  // namespace ai::json
