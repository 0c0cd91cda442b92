// Helpers of the splitters' tests.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/text/character_text_splitter.hpp"
#include "core/text/recursive_character_text_splitter.hpp"
#include "core/text/semchunk_splitter.hpp"
#include "core/text/sentence_chunker.hpp"
#include "core/text/splitter.hpp"

namespace ai::test {

using Strings = std::vector<std::string>;

/// The chunks of a document, as copies that outlive it.
inline Strings Chunks(const text::Splitter& splitter, std::string_view document) {
  text::ChunkList list(document);
  splitter.Split(document, list, nullptr);
  return {list.chunks().begin(), list.chunks().end()};
}

/// The default options of a splitter with other sizes.
template <typename Options>
Options Sized(std::int64_t chunk_size, std::int64_t chunk_overlap) {
  Options options;
  options.chunk_size = chunk_size;
  options.chunk_overlap = chunk_overlap;
  return options;
}

inline text::CharacterTextSplitterOptions Character(std::int64_t size, std::int64_t overlap,
                                                    std::string separator) {
  auto options = Sized<text::CharacterTextSplitterOptions>(size, overlap);
  options.separator = std::move(separator);
  return options;
}

inline text::RecursiveCharacterTextSplitterOptions Recursive(std::int64_t size,
                                                             std::int64_t overlap,
                                                             Strings separators) {
  auto options = Sized<text::RecursiveCharacterTextSplitterOptions>(size, overlap);
  options.separators = std::move(separators);
  return options;
}

inline text::SentenceChunkerOptions Sentence(std::int64_t size, std::int64_t overlap) {
  return Sized<text::SentenceChunkerOptions>(size, overlap);
}

inline text::SemchunkSplitterOptions Semchunk(std::int64_t size, std::int64_t overlap) {
  return Sized<text::SemchunkSplitterOptions>(size, overlap);
}

inline Strings Split(const text::CharacterTextSplitterOptions& options, std::string_view document) {
  return Chunks(text::CharacterTextSplitter(options), document);
}

inline Strings Split(const text::RecursiveCharacterTextSplitterOptions& options,
                     std::string_view document) {
  return Chunks(text::RecursiveCharacterTextSplitter(options), document);
}

inline Strings Split(const text::SentenceChunkerOptions& options, std::string_view document) {
  return Chunks(text::SentenceChunker(options), document);
}

inline Strings Split(const text::SemchunkSplitterOptions& options, std::string_view document) {
  return Chunks(text::SemchunkSplitter(options), document);
}

}  // namespace ai::test
