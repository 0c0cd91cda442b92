#include "core/token/rank_file.hpp"

#include <array>
#include <charconv>
#include <optional>

#include "core/error.hpp"
#include "core/token/char_class.hpp"

namespace ai::token {
namespace {

constexpr std::size_t kCodePoints = 0x110000;
/// More tokens than any encoding has; a rank beyond it is a mistake in the file.
constexpr std::uint32_t kMaxRank = 4'000'000;

struct ClassName {
  std::string_view name;
  std::uint8_t classes;
};

constexpr std::array<ClassName, 8> kClassNames = {{
    {"Lu", kLetter | kUpperSide},
    {"Lt", kLetter | kUpperSide},
    {"Ll", kLetter | kLowerSide},
    {"Lm", kLetter | kUpperSide | kLowerSide},
    {"Lo", kLetter | kUpperSide | kLowerSide},
    {"M", kUpperSide | kLowerSide},
    {"N", kNumber},
    {"White_Space", kSpace},
}};

[[noreturn]] void Refuse(const char* what, std::string_view line) {
  throw Error(ErrorCode::kInvalidText, std::string("invalid line in ") + what,
              "The line is \"" + std::string(line.substr(0, 100)) + "\".");
}

/// Takes the text up to the separator, or all of it, from the front of rest.
std::string_view TakeUpTo(std::string_view& rest, char separator) {
  const std::size_t at = rest.find(separator);
  const std::string_view taken = rest.substr(0, at);
  rest.remove_prefix(at == std::string_view::npos ? rest.size() : at + 1);
  return taken;
}

std::optional<std::uint32_t> ParseNumber(std::string_view digits, int base) {
  std::uint32_t number = 0;
  const char* const end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, number, base);
  if (error != std::errc() || stop != end || digits.empty()) {
    return std::nullopt;
  }
  return number;
}

std::optional<std::uint32_t> Base64Value(char c) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const std::size_t at = kDigits.find(c);
  if (at == std::string_view::npos) {
    return std::nullopt;
  }
  return static_cast<std::uint32_t>(at);
}

/// The bytes of padded base64; nothing if it is not that.
std::optional<std::string> DecodeBase64(std::string_view text) {
  if (text.empty() || text.size() % 4 != 0) {
    return std::nullopt;
  }
  std::size_t padding = 0;
  while (padding < 2 && text.back() == '=') {
    text.remove_suffix(1);
    ++padding;
  }
  std::string bytes;
  std::uint32_t bits = 0;
  int bit_count = 0;
  for (const char c : text) {
    const std::optional<std::uint32_t> value = Base64Value(c);
    if (!value) {
      return std::nullopt;
    }
    bits = (bits << 6) | *value;
    bit_count += 6;
    if (bit_count >= 8) {
      bit_count -= 8;
      bytes.push_back(static_cast<char>(bits >> bit_count));
    }
  }
  return bytes;
}

}  // namespace

std::vector<std::string> ParseRanks(std::string_view text) {
  std::vector<std::string> tokens;
  std::size_t count = 0;
  while (!text.empty()) {
    const std::string_view line = TakeUpTo(text, '\n');
    if (line.empty()) {
      continue;
    }
    std::string_view rest = line;
    std::optional<std::string> bytes = DecodeBase64(TakeUpTo(rest, ' '));
    const std::optional<std::uint32_t> rank = ParseNumber(rest, 10);
    if (!bytes || !rank || *rank > kMaxRank) {
      Refuse("a rank file", line);
    }
    if (tokens.size() <= *rank) {
      tokens.resize(*rank + 1);
    }
    if (!tokens[*rank].empty()) {
      Refuse("a rank file: the rank was there before", line);
    }
    tokens[*rank] = std::move(*bytes);
    ++count;
  }
  if (count == 0 || count != tokens.size()) {
    throw Error(ErrorCode::kInvalidText, "a rank file must have every rank from 0 on",
                "There are " + std::to_string(count) + " tokens, and the highest rank is " +
                    std::to_string(tokens.size()) + " - 1.");
  }
  return tokens;
}

std::vector<std::uint8_t> ParseClassRanges(std::string_view text) {
  std::vector<std::uint8_t> classes(kCodePoints, 0);
  while (!text.empty()) {
    const std::string_view line = TakeUpTo(text, '\n');
    std::string_view rest = line;
    const std::string_view name = TakeUpTo(rest, ' ');
    const std::optional<std::uint32_t> first = ParseNumber(TakeUpTo(rest, ' '), 16);
    const std::optional<std::uint32_t> last = ParseNumber(rest, 16);
    const ClassName* known = nullptr;
    for (const ClassName& candidate : kClassNames) {
      known = candidate.name == name ? &candidate : known;
    }
    if (known == nullptr || !first || !last || *first > *last || *last >= kCodePoints) {
      Refuse("a list of character classes", line);
    }
    for (std::uint32_t code_point = *first; code_point <= *last; ++code_point) {
      classes[code_point] |= known->classes;
    }
  }
  classes['\n'] |= kLineBreak;
  classes['\r'] |= kLineBreak;
  return classes;
}

}  // namespace ai::token
