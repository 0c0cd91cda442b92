// See literal_set.hpp.
#include "core/text/literal_set.hpp"

#include <algorithm>

namespace ai::text {

LiteralSet::LiteralSet(const std::vector<std::string>& literals) : literals_(literals) {
  const auto first = [](const std::string& literal) {
    return static_cast<unsigned char>(literal.front());
  };
  std::stable_sort(literals_.begin(), literals_.end(),
                   [&](const std::string& a, const std::string& b) { return first(a) < first(b); });
  for (const std::string& literal : literals_) {
    ++groups_[first(literal) + 1U];
  }
  for (std::size_t i = 1; i < groups_.size(); ++i) {
    groups_[i] += groups_[i - 1];
  }
}

}  // namespace ai::text
