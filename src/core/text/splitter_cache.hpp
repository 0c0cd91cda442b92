// Keeps the splitters with regular expressions that were used last, because compiling those takes
// longer than cutting a short text. To be owned by whoever gets the same configuration again and
// again; there is none in this library.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/text/chunking.hpp"

namespace ai::text {

class SplitterCache {
 public:
  /// INVARIANT: capacity is at least 1, and small: a look-up goes through all entries.
  explicit SplitterCache(std::size_t capacity);

  /// The splitter of a configuration in JSON: from the cache, or made and, if it has patterns, kept
  /// in place of the one that was not used for longest. Throws as MakeSplitter does, and then
  /// nothing has changed.
  std::shared_ptr<const Splitter> Get(std::string_view config, const LengthLookup& find_length);

  /// Lets go of a splitter that failed, and with it of what its patterns took for a hard text.
  void Forget(std::string_view config);

  std::size_t size() const { return entries_.size(); }

 private:
  struct Entry {
    std::string config;
    std::shared_ptr<const Splitter> splitter;
  };

  std::vector<Entry>::iterator Find(std::string_view config);

  std::size_t capacity_;
  std::vector<Entry> entries_;  // the one used last comes first
};

}  // namespace ai::text
