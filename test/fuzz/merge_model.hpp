// Cutting at a separator and merging pieces again, written down as plainly as possible from the
// description of what they do: whole lists and copies. Slow, and only good to compare with.
#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "core/text/pattern.hpp"
#include "core/text/splitter.hpp"
#include "core/utf8.hpp"

namespace ai::fuzz {

using Strings = std::vector<std::string>;

inline std::size_t Length(const text::SplitterOptions& options, std::string_view text) {
  return options.length ? options.length->Measure(text) : utf8::CountCodePoints(text);
}

inline std::vector<text::Span> FindAll(const std::string& text, const std::string& separator,
                                       bool regex) {
  std::vector<text::Span> matches;
  if (regex) {
    text::Pattern::Finder finder(text::Pattern::Compile(separator), text, nullptr);
    text::Span match = {0, 0};
    while (finder.Next(match)) {
      matches.push_back(match);
    }
    return matches;
  }
  for (std::size_t at = text.find(separator); at != std::string::npos;
       at = text.find(separator, at + separator.size())) {
    matches.push_back({at, at + separator.size()});
  }
  return matches;
}

inline Strings Cut(const std::string& text, const std::string& separator, bool regex,
                   text::KeepSeparator keep) {
  Strings pieces;
  if (separator.empty()) {
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t bytes = utf8::DecodeAt(text, at).length;
      pieces.push_back(text.substr(at, bytes));
      at += bytes;
    }
    return pieces;
  }
  std::size_t start = 0;
  const auto add = [&](std::size_t end) {
    if (end > start) {
      pieces.push_back(text.substr(start, end - start));
    }
  };
  for (const text::Span match : FindAll(text, separator, regex)) {
    add(keep == text::KeepSeparator::kEnd ? match.end : match.begin);
    start = keep == text::KeepSeparator::kStart ? match.begin : match.end;
  }
  add(text.size());
  return pieces;
}

inline void Merge(const Strings& pieces, const std::string& join,
                  const text::SplitterOptions& options, Strings& out) {
  const auto size = static_cast<std::size_t>(options.chunk_size);
  const auto overlap = static_cast<std::size_t>(options.chunk_overlap);
  const std::size_t join_length = Length(options, join);
  std::deque<std::string> current;
  std::size_t total = 0;
  const auto flush = [&] {
    std::string chunk;
    for (std::size_t i = 0; i < current.size(); ++i) {
      chunk += (i == 0 ? "" : join) + current[i];
    }
    const std::string_view kept = options.strip_whitespace ? utf8::Strip(chunk) : chunk;
    if (!kept.empty()) {
      out.emplace_back(kept);
    }
  };
  for (const std::string& piece : pieces) {
    const std::size_t length = Length(options, piece);
    if (total + length + (current.empty() ? 0 : join_length) > size && !current.empty()) {
      flush();
      while (total > overlap ||
             (total > 0 && total + length + (current.empty() ? 0 : join_length) > size)) {
        total -= Length(options, current.front()) + (current.size() > 1 ? join_length : 0);
        current.pop_front();
      }
    }
    current.push_back(piece);
    total += length + (current.size() > 1 ? join_length : 0);
  }
  flush();
}

}  // namespace ai::fuzz
