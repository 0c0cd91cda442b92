// ASCII letters and digits, whatever the locale. Private to src/core/provider.
#pragma once

namespace ai::provider {

constexpr bool IsDigit(char c) {
  return c >= '0' && c <= '9';
}

constexpr char Lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

}  // namespace ai::provider
