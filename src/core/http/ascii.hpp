// Letters without a locale: names of headers and hosts are ASCII.
#pragma once

#include <string>
#include <string_view>

namespace ai::http {

inline char Lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

inline std::string Lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    c = Lower(c);
  }
  return lower;
}

/// Without blanks, tabs and line ends around it.
inline std::string_view Trim(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  const std::size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) {
    return {};
  }
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

}  // namespace ai::http
