// The header fields of a request or a response, in order, names compared without regard to case.
// Values are kept as they are: nothing here parses, joins or prints them (they may hold a key).
#pragma once

#include <cstddef>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ai::http {

struct Header {
  std::string name;
  std::string value;
};

class Headers {
 public:
  Headers() = default;
  Headers(std::initializer_list<Header> fields);  // NOLINT(google-explicit-constructor)

  /// Appends a field. Throws Error on a name that is not an HTTP token and on a line break or NUL
  /// in the value, because either would let a value smuggle in another field.
  void Add(std::string_view name, std::string_view value);

  /// The same for what came from a server: leaves a malformed field out and returns false.
  bool AddReceived(std::string_view name, std::string_view value);

  /// The value of the first field of that name.
  std::optional<std::string_view> Find(std::string_view name) const;

  auto begin() const { return fields_.begin(); }
  auto end() const { return fields_.end(); }
  std::size_t size() const { return fields_.size(); }
  bool empty() const { return fields_.empty(); }

 private:
  std::vector<Header> fields_;
};

}  // namespace ai::http
