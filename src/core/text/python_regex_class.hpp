// What matches exactly one character, and how to write it for PCRE2 with the meaning it has in
// Python: its own sets for \s and \w, no POSIX names, and the few letters that ignoring case makes
// equal for Python only.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ai::text::python_regex {

struct Literal {
  char32_t code_point;
  bool ignore_case;
  bool ascii;
};

struct AnyCharacter {
  bool newline_too;
};

enum class Category { kDigit, kNotDigit, kSpace, kNotSpace, kWord, kNotWord };

struct CodePointRange {
  char32_t first;
  char32_t last;
};

struct CharacterClass {
  bool negated = false;
  bool ignore_case = false;
  bool ascii = false;
  std::vector<CodePointRange> ranges;
  std::vector<Category> categories;
};

/// A piece of pattern that matches one character.
struct CharacterPattern {
  std::string text;
  bool caseless;  // to be compiled with (?i)
};

CharacterPattern FormatLiteral(const Literal& literal);
CharacterPattern FormatClass(const CharacterClass& character_class);

/// The class of the characters that \b looks at.
std::string_view WordClass(bool ascii);

}  // namespace ai::text::python_regex
