// See words.hpp.
#include "core/provider/words.hpp"

#include <algorithm>

#include "core/provider/ascii.hpp"
#include "core/utf8.hpp"

namespace ai::provider {
namespace {

constexpr std::size_t kMaxInput = 4096;     // nobody will see what is behind that
constexpr std::size_t kShortestSecret = 4;  // what is shorter is no secret
constexpr std::size_t kShortestPart = 8;    // so much of the key is never a coincidence
constexpr std::size_t kShortestPrefix = 4;  // what providers show before a mask
constexpr std::string_view kKey = "[key]";

/// One line of valid UTF-8.
std::string Flatten(std::string_view words) {
  std::string out;
  for (std::size_t at = 0; at < words.size();) {
    const utf8::Decoded decoded = utf8::DecodeAt(words, at);
    const std::string_view bytes = words.substr(at, decoded.length);
    at += decoded.length;
    const bool is_control = decoded.code_point < 0x20 ||
                            (decoded.code_point >= 0x7F && decoded.code_point < 0xA0) ||
                            decoded.code_point == 0x2028 || decoded.code_point == 0x2029;
    if (is_control || bytes == " ") {
      out.append(out.empty() || out.back() == ' ' ? "" : " ");
    } else {
      out.append(utf8::IsValid(bytes) ? bytes : "?");
    }
  }
  return out.substr(0, utf8::StripRight(out).size());
}

bool IsKeyCharacter(char c) {
  return IsDigit(c) || (Lower(c) >= 'a' && Lower(c) <= 'z') || c == '-' || c == '_' || c == '*' ||
         c == '.';
}

bool Contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

/// True for a word that is a key by its form ("sk-..."), by its mask ("ab***yz"), or that begins
/// like the key and is masked with dots.
bool LooksLikeKey(std::string_view word, std::string_view api_key) {
  if (Contains(word, "***") || word.starts_with("sk-") ||
      (word.starts_with("pa-") && word.size() >= kShortestPart)) {
    return true;
  }
  return api_key.size() >= kShortestSecret && Contains(word, "..") &&
         word.starts_with(api_key.substr(0, kShortestPrefix));
}

std::string HideKeyWords(std::string_view text, std::string_view api_key) {
  std::string out;
  while (!text.empty()) {
    const auto end = std::find_if_not(text.begin(), text.end(), IsKeyCharacter);
    std::string_view word = text.substr(0, static_cast<std::size_t>(end - text.begin()));
    while (word.ends_with('.')) {
      word.remove_suffix(1);
    }
    const std::size_t taken = std::max<std::size_t>(word.size(), 1);
    out.append(LooksLikeKey(word, api_key) ? kKey : text.substr(0, taken));
    text.remove_prefix(taken);
  }
  return out;
}

/// The longest beginning of text that is somewhere in the key.
std::size_t MatchLength(std::string_view text, std::string_view api_key) {
  std::size_t longest = 0;
  for (std::size_t start = 0; start < api_key.size(); ++start) {
    const std::string_view part = api_key.substr(start);
    const auto [at, ignored] = std::mismatch(text.begin(), text.end(), part.begin(), part.end());
    longest = std::max(longest, static_cast<std::size_t>(at - text.begin()));
  }
  return longest;
}

std::string HideKeyParts(std::string_view text, std::string_view api_key) {
  if (api_key.size() < kShortestSecret) {
    return std::string(text);
  }
  const std::size_t shortest = std::min(api_key.size(), kShortestPart);
  std::string out;
  while (!text.empty()) {
    const std::size_t length = MatchLength(text, api_key);
    const std::size_t taken = length >= shortest ? length : 1;
    out.append(length >= shortest ? kKey : text.substr(0, 1));
    text.remove_prefix(taken);
  }
  return out;
}

}  // namespace

std::string CleanWords(std::string_view words, std::string_view api_key, std::size_t max_bytes) {
  // First by the key itself, for it may have characters that no word has.
  std::string hidden =
      HideKeyWords(HideKeyParts(Flatten(words.substr(0, kMaxInput)), api_key), api_key);
  if (hidden.size() <= max_bytes) {
    return hidden;
  }
  constexpr std::string_view kMore = "...";
  return std::string(utf8::Clip(hidden, max_bytes - kMore.size())).append(kMore);
}

}  // namespace ai::provider
