// A short list, the last used in front.
#include "core/text/pattern_cache.hpp"

#include <algorithm>

namespace ai::text {

PatternCache::PatternCache(std::size_t capacity) : capacity_(capacity) {
  entries_.reserve(capacity + 1);
}

Pattern PatternCache::Get(std::string_view python_pattern) {
  const auto found = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& entry) {
    return entry.source == python_pattern;
  });
  if (found != entries_.end()) {
    std::rotate(entries_.begin(), found, found + 1);
    return entries_.front().pattern;
  }
  Entry compiled{std::string(python_pattern), Pattern::Compile(python_pattern)};
  entries_.insert(entries_.begin(), std::move(compiled));
  if (entries_.size() > capacity_) {
    entries_.pop_back();
  }
  return entries_.front().pattern;
}

}  // namespace ai::text
