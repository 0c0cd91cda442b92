// Cuts a document where its text parts most strongly: at line ends first, then tabs, sentences,
// clauses, words and at last between characters, see semchunk_delimiters.hpp for the levels.
// Inspired by semchunk, with a fixed hierarchy.
//
// What it guarantees: a chunk is a slice of the document, is never above the chunk size unless it
// is a single code point, and is never only white space. White space at a cut is dropped,
// punctuation stays with the text before it; a word joiner ends the chunk before it or, if it does
// not fit, is a chunk of its own. Overlap is whole pieces of the last chunk, where the next piece
// then still fits.
#pragma once

#include "core/text/splitter.hpp"

namespace ai::text {

struct SemchunkSplitterOptions : SplitterOptions {
  SemchunkSplitterOptions() {
    chunk_size = 512;
    chunk_overlap = 0;
    strip_whitespace = false;
  }

  /// Throws Error(kInvalidParameter). A chunk_overlap of chunk_size or more is accepted and means
  /// one less than that.
  void Validate() const;
};

class SemchunkSplitter final : public Splitter {
 public:
  /// Throws what Validate throws.
  explicit SemchunkSplitter(SemchunkSplitterOptions options);

  void Split(std::string_view document, ChunkSink& sink, InterruptCheck pending) const override;

 private:
  SemchunkSplitterOptions options_;
};

}  // namespace ai::text
