// A short list, the last used in front.
#include "core/text/splitter_cache.hpp"

#include <algorithm>
#include <utility>

#include "core/json/document.hpp"

namespace ai::text {

SplitterCache::SplitterCache(std::size_t capacity) : capacity_(capacity) {
  entries_.reserve(capacity + 1);
}

std::vector<SplitterCache::Entry>::iterator SplitterCache::Find(std::string_view config) {
  return std::find_if(entries_.begin(), entries_.end(),
                      [&](const Entry& entry) { return entry.config == config; });
}

std::shared_ptr<const Splitter> SplitterCache::Get(std::string_view config,
                                                   const LengthLookup& find_length) {
  const auto found = Find(config);
  if (found != entries_.end()) {
    std::rotate(entries_.begin(), found, found + 1);
    return entries_.front().splitter;
  }
  const json::Document document = json::Document::Parse(config);
  std::shared_ptr<const Splitter> splitter = MakeSplitter(document.root(), find_length);
  if (document.root().GetBool("is_separator_regex", false)) {
    entries_.insert(entries_.begin(), {std::string(config), splitter});
    if (entries_.size() > capacity_) {
      entries_.pop_back();
    }
  }
  return splitter;
}

void SplitterCache::Forget(std::string_view config) {
  const auto found = Find(config);
  if (found != entries_.end()) {
    entries_.erase(found);
  }
}

}  // namespace ai::text
