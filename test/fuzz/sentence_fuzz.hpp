// Fuzz entry: bytes become options and a document, and the sentence chunker is compared with its
// model.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "fuzz/fuzz_compare.hpp"
#include "fuzz/fuzz_input.hpp"
#include "fuzz/sentence_model.hpp"

namespace ai::fuzz {

inline void FuzzSentence(std::string_view bytes) {
  constexpr std::array<const char*, 7> kDelimiters = {". ", "\n", " ", "a", "aa", "...", "? "};
  FuzzInput input(bytes);
  text::SentenceChunkerOptions options;
  TakeSizes(input, options);
  options.min_sentences_per_chunk = 1 + input.Below(3);
  options.min_characters_per_sentence = 1 + input.Below(8);
  options.cjk_terminators = input.Flag();
  options.include_delimiter =
      input.Flag() ? text::IncludeDelimiter::kNext : text::IncludeDelimiter::kPrevious;
  if (input.Flag()) {
    options.delimiters.clear();
    for (unsigned count = input.Below(5); count > 0; --count) {
      options.delimiters.emplace_back(input.Pick(kDelimiters));
    }
  }
  const std::string document = input.Text();
  Compare(text::SentenceChunker(options), document, ModelSentence(document, options));
}

}  // namespace ai::fuzz
