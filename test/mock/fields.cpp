// fields.cpp: reads the JSON of the control interface.
#include "mock/fields.hpp"

namespace ai::mock {

void Field::Refuse(std::string_view wanted) const {
  throw ControlError("field \"" + std::string(name) + "\" must be " + std::string(wanted));
}

uint64_t Field::Count() const {
  if (!value.IsUint64()) {
    Refuse("a whole number that is not negative");
  }
  return value.GetUint64();
}

double Field::Number() const {
  if (!value.IsNumber() || value.GetDouble() < 0) {
    Refuse("a number that is not negative");
  }
  return value.GetDouble();
}

bool Field::Flag() const {
  if (!value.IsBool()) {
    Refuse("true or false");
  }
  return value.GetBool();
}

std::string Field::Text() const {
  if (!value.IsString()) {
    Refuse("a text");
  }
  return std::string(StringOf(value));
}

}  // namespace ai::mock
