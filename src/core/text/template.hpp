// Formatting of a chunk with the columns of its row, as Python's string.Template substitutes:
// `$name` and `${name}` stand for a value, `$$` for a dollar sign, any other dollar is a mistake. A
// template is parsed once and rendered for every chunk. There are no expressions, no defaults and
// no escapes inside of values: what a value holds is never looked at.
//
// After `$` a name is the longest run of [_a-zA-Z][_a-zA-Z0-9]*. Between braces Python asks for the
// same; here any characters but `}` will do, so that columns with other names can be reached:
// `${Unit price}`, `${größe}`. Names are taken literally, with their case and their spaces.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace ai::text {

class Template {
 public:
  /// Throws Error(kInvalidText) with the line and the column of a dollar sign that starts nothing.
  /// INVARIANT: text is valid UTF-8.
  static Template Parse(std::string_view text);

  /// The names of all placeholders, each once, in the order of their first use.
  const std::vector<std::string>& names() const { return names_; }
  bool Uses(std::string_view name) const;

  /// Appends the text with the values filled in. value_of(const std::string& name) returns a
  /// std::optional<std::string_view>; no value (a null column) is an empty string. It is asked once
  /// for each placeholder, so the view only has to last until the next question.
  template <typename ValueOf>
  void Render(ValueOf&& value_of, std::string& out) const {
    for (const Part& part : parts_) {
      out += part.literal;
      if (part.name != kNoName) {
        out += value_of(names_[part.name]).value_or(std::string_view());
      }
    }
  }

 private:
  static constexpr std::size_t kNoName = static_cast<std::size_t>(-1);

  /// Some text, and the placeholder that follows it if there is one.
  struct Part {
    std::string literal;
    std::size_t name;  // an index of names_
  };

  Template() = default;
  std::size_t IndexOf(std::string_view name);

  std::vector<Part> parts_;
  std::vector<std::string> names_;
};

}  // namespace ai::text
