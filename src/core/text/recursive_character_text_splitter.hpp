// Cuts a document at the first separator of a list that occurs in it, cuts what is still too long
// at the ones after it, and so on, and merges the pieces of each cutting into chunks. Behaves as
// LangChain's class of the same name, with its surprises: a piece exactly as long as a chunk is cut
// further; a piece that no separator is left for is a chunk as it stands, even above the chunk size
// and even if it is only white space; an empty separator hides those after it.
#pragma once

#include <string>
#include <vector>

#include "core/text/separator.hpp"
#include "core/text/splitter.hpp"

namespace ai::text {

struct RecursiveCharacterTextSplitterOptions : SplitterOptions {
  std::vector<std::string> separators;  // none: paragraphs, lines, words, characters
  bool is_separator_regex = false;
  KeepSeparator keep_separator = KeepSeparator::kStart;

  /// Throws Error(kInvalidParameter), or what Pattern::Compile throws for any separator in use.
  void Validate() const;
};

class RecursiveCharacterTextSplitter final : public Splitter {
 public:
  /// Throws what Validate throws.
  explicit RecursiveCharacterTextSplitter(RecursiveCharacterTextSplitterOptions options);

  void Split(std::string_view document, ChunkSink& sink, InterruptCheck pending) const override;

 private:
  RecursiveCharacterTextSplitterOptions options_;
  std::vector<Separator> separators_;  // never empty
};

}  // namespace ai::text
