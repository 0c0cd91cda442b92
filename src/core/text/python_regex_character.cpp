// Escapes and character classes, with Python's messages for the wrong ones.
#include "core/text/python_regex_character.hpp"

namespace ai::text::python_regex {
namespace {

constexpr char32_t kLastCodePoint = 0x10FFFF;

std::optional<char32_t> ControlOf(char32_t letter) {
  switch (letter) {
    case U'a':
      return U'\a';
    case U'f':
      return U'\f';
    case U'n':
      return U'\n';
    case U'r':
      return U'\r';
    case U't':
      return U'\t';
    case U'v':
      return U'\v';
    default:
      return std::nullopt;
  }
}

struct ClassMember {
  char32_t code_point = 0;
  std::optional<Category> category;
};

char32_t ParseHexEscape(Cursor& cursor, const Token& token, std::size_t digits) {
  const std::string taken = cursor.TakeWhile(digits, IsHexDigit);
  if (taken.size() != digits) {
    cursor.Fail("incomplete escape " + Spelling(token) + taken, token.length() + taken.size());
  }
  const char32_t value = ValueOf(taken, 16);
  if (value > kLastCodePoint) {
    cursor.Fail("bad escape " + Spelling(token) + taken, token.length() + taken.size());
  }
  return value;
}

[[noreturn]] void RefuseNamedCharacter(Cursor& cursor, std::size_t start) {
  if (!cursor.Match(U'{')) {
    cursor.Fail("missing {");
  }
  cursor.TakeUntil(U'}', "character name");
  cursor.FailAt("character names are not supported", start, ErrorCode::kNotSupported,
                "Write the character itself, or its code point as \\uXXXX or \\UXXXXXXXX.");
}

ClassMember ParseClassEscape(Cursor& cursor, const Token& token) {
  if (token.value == U'b') {
    return ClassMember{U'\b', std::nullopt};
  }
  if (const auto category = CategoryOf(token.value)) {
    return ClassMember{0, category};
  }
  if (!IsOctalDigit(token.value)) {
    return ClassMember{ParseCharacterEscape(cursor, token), std::nullopt};
  }
  const std::string digits = Spelling(Token{token.value}) + cursor.TakeWhile(2, IsOctalDigit);
  const char32_t value = ValueOf(digits, 8);
  if (value > 0377) {
    cursor.Fail("octal escape value \\" + digits + " outside of range 0-0o377", digits.size() + 1);
  }
  return ClassMember{value, std::nullopt};
}

// A character, a category or a range. A hyphen before the closing bracket stands for itself.
void ParseClassMember(Cursor& cursor, const Token& token, std::size_t start, CharacterClass& out) {
  const auto member_of = [&cursor](const Token& of) {
    return of.escaped ? ParseClassEscape(cursor, of) : ClassMember{of.value, std::nullopt};
  };
  const auto add = [&out](const ClassMember& member) {
    if (member.category) {
      out.categories.push_back(*member.category);
    } else {
      out.ranges.push_back({member.code_point, member.code_point});
    }
  };
  const ClassMember first = member_of(token);
  if (!cursor.Match(U'-')) {
    add(first);
    return;
  }
  if (cursor.Peek().Is(U']')) {
    add(first);
    add(ClassMember{U'-', std::nullopt});
    return;
  }
  const Token other = cursor.Get();
  if (other.end) {
    cursor.FailAt("unterminated character set", start);
  }
  const ClassMember last = member_of(other);
  if (first.category || last.category || last.code_point < first.code_point) {
    cursor.Fail("bad character range " + Spelling(token) + "-" + Spelling(other),
                token.length() + 1 + other.length());
  }
  out.ranges.push_back({first.code_point, last.code_point});
}

}  // namespace

std::optional<Category> CategoryOf(char32_t letter) {
  switch (letter) {
    case U'd':
      return Category::kDigit;
    case U'D':
      return Category::kNotDigit;
    case U's':
      return Category::kSpace;
    case U'S':
      return Category::kNotSpace;
    case U'w':
      return Category::kWord;
    case U'W':
      return Category::kNotWord;
    default:
      return std::nullopt;
  }
}

std::uint32_t ValueOf(const std::string& digits, std::uint32_t base) {
  std::uint32_t value = 0;
  for (const char digit : digits) {
    const auto d =
        static_cast<std::uint32_t>(digit <= '9' ? digit - '0' : (digit | 0x20) - 'a' + 10);
    value = value * base + d;
  }
  return value;
}

char32_t ParseCharacterEscape(Cursor& cursor, const Token& token) {
  if (const auto control = ControlOf(token.value)) {
    return *control;
  }
  switch (token.value) {
    case U'x':
      return ParseHexEscape(cursor, token, 2);
    case U'u':
      return ParseHexEscape(cursor, token, 4);
    case U'U':
      return ParseHexEscape(cursor, token, 8);
    case U'N':
      RefuseNamedCharacter(cursor, cursor.Tell() - token.length());
    default:
      break;
  }
  if (IsAsciiLetter(token.value) || IsDigit(token.value)) {
    cursor.Fail("bad escape " + Spelling(token), token.length());
  }
  return token.value;
}

CharacterClass ParseClass(Cursor& cursor, const Flags& flags) {
  const std::size_t start = cursor.Tell() - 1;
  CharacterClass out;
  out.ignore_case = flags.ignore_case;
  out.ascii = flags.ascii;
  out.negated = cursor.Match(U'^');
  for (;;) {
    const Token token = cursor.Get();
    if (token.end) {
      cursor.FailAt("unterminated character set", start);
    }
    const bool empty = out.ranges.empty() && out.categories.empty();
    if (token.Is(U']') && !empty) {
      return out;
    }
    ParseClassMember(cursor, token, start, out);
  }
}

}  // namespace ai::text::python_regex
