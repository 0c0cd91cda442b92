// Cuts a document at one separator and merges the pieces into chunks. A piece longer than the chunk
// size stays whole. Behaves as LangChain's class of the same name, including that a regular
// expression that is not kept comes back as its own text between the pieces it separated.
#pragma once

#include <string>

#include "core/text/separator.hpp"
#include "core/text/splitter.hpp"

namespace ai::text {

struct CharacterTextSplitterOptions : SplitterOptions {
  std::string separator = "\n\n";
  bool is_separator_regex = false;
  KeepSeparator keep_separator = KeepSeparator::kNone;

  /// Throws Error(kInvalidParameter), or what Pattern::Compile throws.
  void Validate() const;
};

class CharacterTextSplitter final : public Splitter {
 public:
  /// Throws what Validate throws.
  explicit CharacterTextSplitter(CharacterTextSplitterOptions options);

  void Split(std::string_view document, ChunkSink& sink, InterruptCheck pending) const override;

 private:
  CharacterTextSplitterOptions options_;
  Separator separator_;
  std::string join_;
};

}  // namespace ai::text
