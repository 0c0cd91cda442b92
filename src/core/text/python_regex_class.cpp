// The sets behind Python's classes and their spelling for PCRE2.
#include "core/text/python_regex_class.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>

#include "core/text/python_regex_cursor.hpp"

namespace ai::text::python_regex {
namespace {

constexpr char32_t kFirstSurrogate = 0xD800;
constexpr char32_t kLastSurrogate = 0xDFFF;
constexpr char32_t kLastCodePoint = 0x10FFFF;

// Never matches; a surrogate is a character to Python and nothing to UTF-8.
constexpr std::string_view kNothing = "(?!)";
// With PCRE2_DOTALL.
constexpr std::string_view kAnything = ".";

// Python's whitespace. PCRE2's \s lacks U+001C to U+001F.
constexpr std::array<CodePointRange, 10> kSpaces{{{0x09, 0x0D},
                                                  {0x1C, 0x20},
                                                  {0x85, 0x85},
                                                  {0xA0, 0xA0},
                                                  {0x1680, 0x1680},
                                                  {0x2000, 0x200A},
                                                  {0x2028, 0x2029},
                                                  {0x202F, 0x202F},
                                                  {0x205F, 0x205F},
                                                  {0x3000, 0x3000}}};
constexpr std::array<CodePointRange, 2> kAsciiSpaces{{{0x09, 0x0D}, {0x20, 0x20}}};
constexpr std::array<CodePointRange, 1> kAsciiDigits{{{U'0', U'9'}}};
constexpr std::array<CodePointRange, 4> kAsciiWord{
    {{U'0', U'9'}, {U'A', U'Z'}, {U'_', U'_'}, {U'a', U'z'}}};

// Python's \w is letters, numbers and the underscore; PCRE2 10.43 and later add marks and all
// connectors, so it is spelled out. The ASCII part is there for speed.
constexpr std::string_view kWordClass = "[0-9A-Z_a-z\\p{L}\\p{N}]";
constexpr std::string_view kWordMembers = kWordClass.substr(1, kWordClass.size() - 2);
// The rest of Unicode: all other categories, of the connectors (Pc) all but the underscore.
constexpr std::string_view kNotWordMembers =
    "\\p{M}\\p{Pd}\\p{Ps}\\p{Pe}\\p{Pi}\\p{Pf}\\p{Po}\\p{S}\\p{Z}\\p{C}"
    "\\x{203F}\\x{2040}\\x{2054}\\x{FE33}\\x{FE34}\\x{FE4D}-\\x{FE4F}\\x{FF3F}";

// Characters that are the same to Python when case is ignored, and not to PCRE2.
constexpr std::array<std::u32string_view, 4> kFoldedByPython{U"iI\u0130\u0131", U"\u0390\u1FD3",
                                                             U"\u03B0\u1FE3", U"\uFB05\uFB06"};

void AppendCodePoint(std::string& out, char32_t c) {
  if (IsAsciiLetter(c) || IsDigit(c)) {
    out.push_back(static_cast<char>(c));
    return;
  }
  std::array<char, 16> buffer{};
  std::snprintf(buffer.data(), buffer.size(), "\\x{%X}", static_cast<unsigned>(c));
  out += buffer.data();
}

// Nothing for a range of surrogates only.
void AppendRange(std::string& out, CodePointRange range) {
  if (range.first >= kFirstSurrogate && range.first <= kLastSurrogate) {
    range.first = kLastSurrogate + 1;
  }
  if (range.last >= kFirstSurrogate && range.last <= kLastSurrogate) {
    range.last = kFirstSurrogate - 1;
  }
  if (range.first > range.last) {
    return;
  }
  AppendCodePoint(out, range.first);
  if (range.last > range.first) {
    out.push_back('-');
    AppendCodePoint(out, range.last);
  }
}

template <std::size_t N>
void AppendSet(std::string& out, const std::array<CodePointRange, N>& ranges, bool complement) {
  char32_t next = 0;
  for (const CodePointRange& range : ranges) {
    if (!complement) {
      AppendRange(out, range);
    } else if (range.first > next) {
      AppendRange(out, {next, range.first - 1});
    }
    next = range.last + 1;
  }
  if (complement) {
    AppendRange(out, {next, kLastCodePoint});
  }
}

void AppendCategory(std::string& out, Category category, bool ascii) {
  switch (category) {
    case Category::kSpace:
    case Category::kNotSpace: {
      const bool complement = category == Category::kNotSpace;
      return ascii ? AppendSet(out, kAsciiSpaces, complement) : AppendSet(out, kSpaces, complement);
    }
    case Category::kDigit:
    case Category::kNotDigit: {
      const bool complement = category == Category::kNotDigit;
      if (ascii) {
        return AppendSet(out, kAsciiDigits, complement);
      }
      out += complement ? "\\P{Nd}" : "\\p{Nd}";
      return;
    }
    case Category::kWord:
    case Category::kNotWord: {
      const bool complement = category == Category::kNotWord;
      if (ascii) {
        return AppendSet(out, kAsciiWord, complement);
      }
      out += complement ? kNotWordMembers : kWordMembers;
      return;
    }
  }
}

Category Opposite(Category category) {
  switch (category) {
    case Category::kDigit:
      return Category::kNotDigit;
    case Category::kNotDigit:
      return Category::kDigit;
    case Category::kSpace:
      return Category::kNotSpace;
    case Category::kNotSpace:
      return Category::kSpace;
    case Category::kWord:
      return Category::kNotWord;
    case Category::kNotWord:
      return Category::kWord;
  }
  return category;
}

bool IsNegative(Category category) {
  return category == Category::kNotDigit || category == Category::kNotSpace ||
         category == Category::kNotWord;
}

constexpr std::int32_t kToLower = 'a' - 'A';

// The part of range within first to last, moved by offset: the other case of ASCII letters.
void AppendShifted(std::string& out, const CodePointRange& range, char32_t first, char32_t last,
                   std::int32_t offset) {
  const char32_t from = std::max(range.first, first);
  const char32_t to = std::min(range.last, last);
  if (from <= to) {
    AppendRange(out, {from + static_cast<char32_t>(offset), to + static_cast<char32_t>(offset)});
  }
}

bool HasAny(const CodePointRange& range, std::u32string_view characters) {
  return std::any_of(characters.begin(), characters.end(),
                     [&range](char32_t c) { return range.first <= c && c <= range.last; });
}

// What has to be added to a class for Python's idea of ignoring case, over that of PCRE2's (?i), or
// over nothing if only ASCII letters have cases.
void AppendOtherCases(std::string& out, const CodePointRange& range, bool ascii) {
  if (ascii) {
    AppendShifted(out, range, U'A', U'Z', kToLower);
    AppendShifted(out, range, U'a', U'z', -kToLower);
    return;
  }
  for (const std::u32string_view characters : kFoldedByPython) {
    if (HasAny(range, characters)) {
      for (const char32_t c : characters) {
        AppendCodePoint(out, c);
      }
    }
  }
}

}  // namespace

CharacterPattern FormatLiteral(const Literal& literal) {
  const char32_t c = literal.code_point;
  if (c >= kFirstSurrogate && c <= kLastSurrogate) {
    return {std::string(kNothing), false};
  }
  std::string other_cases;
  if (literal.ignore_case) {
    AppendOtherCases(other_cases, {c, c}, literal.ascii);
  }
  if (!other_cases.empty()) {
    return FormatClass(CharacterClass{false, true, literal.ascii, {{c, c}}, {}});
  }
  std::string text;
  AppendCodePoint(text, c);
  return {text, literal.ignore_case && !literal.ascii};
}

CharacterPattern FormatClass(const CharacterClass& character_class) {
  bool negated = character_class.negated;
  std::vector<Category> categories = character_class.categories;
  if (character_class.ranges.empty() && categories.size() == 1 && IsNegative(categories[0])) {
    categories[0] = Opposite(categories[0]);
    negated = !negated;
  }
  std::string members;
  for (const CodePointRange& range : character_class.ranges) {
    AppendRange(members, range);
    if (character_class.ignore_case) {
      AppendOtherCases(members, range, character_class.ascii);
    }
  }
  for (const Category category : categories) {
    AppendCategory(members, category, character_class.ascii);
  }
  if (members.empty()) {
    return {std::string(negated ? kAnything : kNothing), false};
  }
  const bool caseless = character_class.ignore_case && !character_class.ascii;
  return {(negated ? "[^" : "[") + members + "]", caseless};
}

std::string_view WordClass(bool ascii) {
  return ascii ? "[0-9A-Z_a-z]" : kWordClass;
}

}  // namespace ai::text::python_regex
