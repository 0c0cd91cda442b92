// One value of a parsed Document, read only. Asking for the wrong type is an Error that names the
// path of the value and both types, but never its content.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/json/node.hpp"

namespace ai::json {

enum class Kind : std::uint8_t { kNull, kBool, kInteger, kDouble, kString, kArray, kObject };

struct Member;

/// A small handle, copied freely. INVARIANT: the Document outlives it.
class Value {
 public:
  Value(const Node& root, const Node& node) : root_(&root), node_(&node) {}

  Kind kind() const;
  bool IsNull() const { return kind() == Kind::kNull; }

  bool AsBool() const;
  /// Takes a number like 3.0 or 1e3 too, if its value is an integer that a double holds exactly.
  std::int64_t AsInteger() const;
  double AsDouble() const;
  std::string_view AsString() const;

  /// The elements of an array, the members of an object in the order of the text, duplicates
  /// included.
  std::vector<Value> items() const;
  std::vector<Member> members() const;
  /// The number of elements or members.
  std::size_t size() const;

  /// The member of that key; of duplicates the last, as in jsonb. Linear in the number of members.
  std::optional<Value> Find(std::string_view key) const;
  /// The same, an Error if there is none.
  Value At(std::string_view key) const;

  bool GetBool(std::string_view key) const { return At(key).AsBool(); }
  std::int64_t GetInteger(std::string_view key) const { return At(key).AsInteger(); }
  double GetDouble(std::string_view key) const { return At(key).AsDouble(); }
  std::string_view GetString(std::string_view key) const { return At(key).AsString(); }

  /// The fallback if the member is absent or null.
  bool GetBool(std::string_view key, bool fallback) const;
  std::int64_t GetInteger(std::string_view key, std::int64_t fallback) const;
  double GetDouble(std::string_view key, double fallback) const;
  std::string_view GetString(std::string_view key, std::string_view fallback) const;

  /// Where it stands in its document: "data[3].embedding", "" for the root.
  std::string Path() const;

  const Node& node() const { return *node_; }

 private:
  std::optional<Value> FindSet(std::string_view key) const;
  void Require(Kind kind) const;
  [[noreturn]] void ThrowExpected(std::string_view expected) const;

  const Node* root_;
  const Node* node_;
};

struct Member {
  std::string_view key;
  Value value;
};

/// "a string", "an object": for messages.
std::string_view Describe(Kind kind);

}  // namespace ai::json
