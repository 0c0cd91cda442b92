// See cutter.hpp.
#include "core/text/cutter.hpp"

#include <algorithm>
#include <cstring>
#include <string>

namespace ai::text {
namespace {

/// Bytes; doubled at every miss.
constexpr std::size_t kFirstWindow = 4096;

}  // namespace

bool Cutter::Begin(const Separator& separator, Span part) {
  separator_ = &separator;
  part_ = part;
  start_ = part.begin;
  if (separator.cuts_everywhere()) {
    return true;
  }
  single_byte_ = !separator.pattern() && separator.text().size() == 1;
  if (single_byte_) {
    byte_finder_.Begin(document_, separator.text().front(), part.begin, part.end);
    has_match_ = FindByte();
    return has_match_;
  }
  if (separator.pattern()) {
    pattern_finder_.emplace(*separator.pattern(),
                            document_.substr(part.begin, part.end - part.begin), pending_);
  }
  has_match_ = FindMatch(part.begin);
  return has_match_;
}

bool Cutter::FindMatch(std::size_t from) {
  if (separator_->pattern()) {
    if (!pattern_finder_->Next(match_)) {
      return false;
    }
    match_.begin += part_.begin;
    match_.end += part_.begin;
    return true;
  }
  const char* found = FindLiteral(from);
  if (found == nullptr) {
    return false;
  }
  match_.begin = static_cast<std::size_t>(found - document_.data());
  match_.end = match_.begin + separator_->text().size();
  return true;
}

const char* Cutter::FindLiteral(std::size_t from) const {
  const std::string& needle = separator_->text();
  // memmem takes time in proportion to the text whatever the needle is; string_view::find does not.
  // It gets the text in windows, so that a cancel does not wait for the end of a large one.
  for (std::size_t window = kFirstWindow; part_.end - from >= needle.size(); window *= 2) {
    const std::size_t bytes = std::min(part_.end - from, window + needle.size() - 1);
    const void* found = memmem(document_.data() + from, bytes, needle.data(), needle.size());
    if (found != nullptr) {
      return static_cast<const char*>(found);
    }
    from += bytes - (needle.size() - 1);
    CheckInterrupt(pending_);
  }
  return nullptr;
}

}  // namespace ai::text
