// The sentence chunker again, as plainly as possible: lists of sentences, nothing streamed. Slow,
// and only good to compare with.
#pragma once

#include <string>
#include <vector>

#include "core/text/sentence_chunker.hpp"
#include "core/utf8.hpp"
#include "fuzz/merge_model.hpp"

namespace ai::fuzz {

inline Strings Segments(const std::string& text, const text::SentenceChunkerOptions& options) {
  Strings delimiters = options.delimiters;
  if (options.cjk_terminators) {
    delimiters.insert(delimiters.end(), {"\u3002", "\uFF01", "\uFF1F"});
  }
  Strings segments(1);
  for (std::size_t at = 0; at < text.size();) {
    std::string found;
    for (const std::string& delimiter : delimiters) {
      if (found.empty() && text.compare(at, delimiter.size(), delimiter) == 0) {
        found = delimiter;
      }
    }
    if (found.empty()) {
      segments.back() += text[at++];
    } else if (options.include_delimiter == text::IncludeDelimiter::kPrevious) {
      segments.back() += found;
      segments.emplace_back();
      at += found.size();
    } else {
      segments.push_back(found);
      at += found.size();
    }
  }
  std::erase(segments, "");
  return segments;
}

inline Strings Sentences(const std::string& text, const text::SentenceChunkerOptions& options) {
  const auto minimum = static_cast<std::size_t>(options.min_characters_per_sentence);
  Strings sentences;
  for (const std::string& segment : Segments(text, options)) {
    if (sentences.empty() || (utf8::CountCodePoints(sentences.back()) >= minimum &&
                              utf8::CountCodePoints(segment) >= minimum)) {
      sentences.push_back(segment);
    } else {
      sentences.back() += segment;
    }
  }
  return sentences;
}

inline Strings ModelSentence(const std::string& text, const text::SentenceChunkerOptions& options) {
  Strings out;
  if (utf8::Strip(text).empty()) {
    return out;
  }
  const Strings sentences = Sentences(text, options);
  std::vector<std::int64_t> lengths;
  for (const std::string& sentence : sentences) {
    lengths.push_back(static_cast<std::int64_t>(Length(options, sentence)));
  }
  for (std::size_t first = 0; first < sentences.size();) {
    std::size_t end = first;
    std::int64_t total = 0;
    while (end < sentences.size() &&
           (end == first || total + lengths[end] <= options.chunk_size ||
            end - first < static_cast<std::size_t>(options.min_sentences_per_chunk))) {
      total += lengths[end++];
    }
    std::string chunk;
    for (std::size_t i = first; i < end; ++i) {
      chunk += sentences[i];
    }
    const std::string_view kept = options.strip_whitespace ? utf8::Strip(chunk) : chunk;
    if (!kept.empty()) {
      out.emplace_back(kept);
    }
    std::size_t next = end;
    std::int64_t carried = 0;
    while (end < sentences.size() && next - 1 > first &&
           carried + lengths[next - 1] + 1 <= options.chunk_overlap) {
      carried += lengths[--next] + 1;
    }
    first = next;
  }
  return out;
}

}  // namespace ai::fuzz
