// Cuts a document into sentences at given delimiters and packs whole sentences into chunks. Every
// chunk is a slice of the document and, unless they overlap or are stripped, the chunks together
// are the document. A sentence above the chunk size is a chunk of its own; nothing is cut inside
// one. Behaves as chonkie's class of the same name, except that a sentence's minimum length is
// counted in code points, as documented there, not in bytes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/text/literal_set.hpp"
#include "core/text/splitter.hpp"

namespace ai::text {

/// Which sentence a delimiter belongs to.
enum class IncludeDelimiter { kPrevious, kNext };

struct SentenceChunkerOptions : SplitterOptions {
  SentenceChunkerOptions() {
    chunk_size = 2048;
    chunk_overlap = 0;
    strip_whitespace = false;
  }

  std::int64_t min_sentences_per_chunk = 1;
  std::int64_t min_characters_per_sentence = 12;  // a shorter one is joined to its neighbour
  std::vector<std::string> delimiters = {". ", "! ", "? ", "\n"};  // the first that matches wins
  bool cjk_terminators = false;                                    // adds U+3002, U+FF01, U+FF1F
  IncludeDelimiter include_delimiter = IncludeDelimiter::kPrevious;

  /// Throws Error(kInvalidParameter). A negative chunk_overlap is accepted and means none.
  void Validate() const;
};

class SentenceChunker final : public Splitter {
 public:
  /// Throws what Validate throws.
  explicit SentenceChunker(SentenceChunkerOptions options);

  void Split(std::string_view document, ChunkSink& sink, InterruptCheck pending) const override;

 private:
  SentenceChunkerOptions options_;
  LiteralSet delimiters_;
};

}  // namespace ai::text
