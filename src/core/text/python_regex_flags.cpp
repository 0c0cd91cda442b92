// The flags, with Python's messages for the wrong ones.
#include "core/text/python_regex_flags.hpp"

#include <string_view>

namespace ai::text::python_regex {
namespace {

constexpr std::string_view kFlagLetters = "aiLmsux";

bool IsFlag(const Token& token) {
  return !token.end && !token.escaped && token.value < 0x80 &&
         kFlagLetters.find(static_cast<char>(token.value)) != std::string_view::npos;
}

bool Contains(const std::string& letters, char letter) {
  return letters.find(letter) != std::string::npos;
}

bool LooksLikeLetter(const Token& token) {
  return !token.escaped && (IsAsciiLetter(token.value) || token.value >= 0x80);
}

void SetFlag(char32_t letter, bool on, Flags& flags) {
  switch (letter) {
    case U'a':
      flags.ascii = on;
      break;
    case U'u':
      flags.ascii = !on;
      break;
    case U'i':
      flags.ignore_case = on;
      break;
    case U'm':
      flags.multi_line = on;
      break;
    case U's':
      flags.dot_all = on;
      break;
    default:
      flags.verbose = on;
  }
}

// Returns the token that ends them: ")", "-" or ":".
Token ParseAddedFlags(Cursor& cursor, Token token, Flags& flags, std::string& added) {
  for (;;) {
    if (token.Is(U'L')) {
      cursor.Fail("bad inline flags: cannot use 'L' flag with a str pattern");
    }
    added += Spelling(token);
    if (Contains(added, 'a') && Contains(added, 'u')) {
      cursor.Fail("bad inline flags: flags 'a', 'u' and 'L' are incompatible");
    }
    SetFlag(token.value, true, flags);
    token = cursor.Get();
    if (token.end) {
      cursor.Fail("missing -, : or )");
    }
    if (token.Is(U')') || token.Is(U'-') || token.Is(U':')) {
      return token;
    }
    if (!IsFlag(token)) {
      cursor.Fail(LooksLikeLetter(token) ? "unknown flag" : "missing -, : or )", token.length());
    }
  }
}

void ParseRemovedFlags(Cursor& cursor, Flags& flags, const std::string& added) {
  Token token = cursor.Get();
  bool contradiction = false;
  std::string missing = "missing flag";
  for (;;) {
    if (token.end) {
      cursor.Fail(missing);
    }
    if (!IsFlag(token)) {
      cursor.Fail(LooksLikeLetter(token) ? "unknown flag" : missing, token.length());
    }
    if (token.Is(U'a') || token.Is(U'u') || token.Is(U'L')) {
      cursor.Fail("bad inline flags: cannot turn off flags 'a', 'u' and 'L'");
    }
    contradiction |= added.find(Spelling(token)) != std::string::npos;
    SetFlag(token.value, false, flags);
    missing = "missing :";
    token = cursor.Get();
    if (token.Is(U':')) {
      break;
    }
  }
  if (contradiction) {
    cursor.Fail("bad inline flags: flag turned on and off", 1);
  }
}

}  // namespace

bool StartsFlags(const Token& token) {
  return IsFlag(token) || token.Is(U'-');
}

FlagScope ParseFlags(Cursor& cursor, const Token& first, Flags& flags, std::string& pattern_flags) {
  std::string added;
  const Token last = first.Is(U'-') ? first : ParseAddedFlags(cursor, first, flags, added);
  if (last.Is(U'-')) {
    ParseRemovedFlags(cursor, flags, added);
  }
  if (!last.Is(U')')) {
    return FlagScope::kGroup;
  }
  pattern_flags += added;
  if (Contains(pattern_flags, 'a') && Contains(pattern_flags, 'u')) {
    cursor.Fail("ASCII and UNICODE flags are incompatible", 1);
  }
  return FlagScope::kPattern;
}

}  // namespace ai::text::python_regex
