// fields.hpp: reads the JSON of the control interface. A name nobody knows and a value of the wrong
// kind are errors that say so: a test with a typing mistake must fail, not pass for nothing.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

#include "mock/json.hpp"

namespace ai::mock {

/// What a control request got wrong.
class ControlError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A member of a JSON object, with its name for the messages.
struct Field {
  std::string_view name;
  const JsonValue& value;

  [[noreturn]] void Refuse(std::string_view wanted) const;
  uint64_t Count() const;
  double Number() const;
  bool Flag() const;
  std::string Text() const;
};

/// How a member of a name is read into a T.
template <typename T>
struct FieldReader {
  std::string_view name;
  void (*read)(const Field& field, T& into);
};

/// Reads all members of an object with the readers of a table.
template <typename T, typename Table>
void ReadFields(const JsonValue& object, const Table& table, T& into) {
  if (!object.IsObject()) {
    throw ControlError("expected a JSON object");
  }
  for (const auto& member : object.GetObject()) {
    const Field field{StringOf(member.name), member.value};
    bool known = false;
    for (const FieldReader<T>& reader : table) {
      if (reader.name == field.name) {
        reader.read(field, into);
        known = true;
      }
    }
    if (!known) {
      throw ControlError("unknown field \"" + std::string(field.name) + "\"");
    }
  }
}

}  // namespace ai::mock
