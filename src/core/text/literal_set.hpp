// Finds the leftmost occurrence of any of a few literals. Where several match at one place the one
// listed first wins. Does not use a regular expression engine and does not overlap matches.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/text/pattern.hpp"

namespace ai::text {

class LiteralSet {
 public:
  LiteralSet() = default;

  /// INVARIANT: no literal is empty.
  explicit LiteralSet(const std::vector<std::string>& literals);

  /// The first match at or after from; false if there is none.
  bool Find(std::string_view text, std::size_t from, Span& match) const {
    for (std::size_t at = from; at < text.size(); ++at) {
      const std::uint32_t* group = &groups_[static_cast<unsigned char>(text[at])];
      for (std::uint32_t i = group[0]; i < group[1]; ++i) {
        if (text.substr(at).starts_with(literals_[i])) {
          match = {at, at + literals_[i].size()};
          return true;
        }
      }
    }
    return false;
  }

 private:
  // Sorted by first byte, in the order given within it; groups_[b] is where those with first byte b
  // start, groups_[b + 1] where they end.
  std::vector<std::string> literals_;
  std::array<std::uint32_t, 257> groups_ = {};
};

}  // namespace ai::text
