// Keeps the compilations of the patterns that were used last. To be owned by whoever compiles the
// same separators again and again; there is none in this library.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "core/text/pattern.hpp"

namespace ai::text {

class PatternCache {
 public:
  /// INVARIANT: capacity is at least 1, and small: a look-up goes through all entries.
  explicit PatternCache(std::size_t capacity);

  /// From the cache, or compiled and kept in place of the one that was not used for longest. Throws
  /// as Pattern::Compile does, and then nothing has changed.
  Pattern Get(std::string_view python_pattern);

  std::size_t size() const { return entries_.size(); }
  void Clear() { entries_.clear(); }

 private:
  struct Entry {
    std::string source;
    Pattern pattern;
  };

  std::size_t capacity_;
  std::vector<Entry> entries_;  // the one used last comes first
};

}  // namespace ai::text
