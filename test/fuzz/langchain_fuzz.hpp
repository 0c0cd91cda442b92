// Fuzz entries: bytes become options and a document, and the character and the recursive splitter
// are compared with their models.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "fuzz/fuzz_compare.hpp"
#include "fuzz/fuzz_input.hpp"
#include "fuzz/langchain_model.hpp"

namespace ai::fuzz {

inline constexpr std::array<text::KeepSeparator, 3> kKeeps = {
    text::KeepSeparator::kNone, text::KeepSeparator::kStart, text::KeepSeparator::kEnd};

inline void FuzzCharacter(std::string_view bytes) {
  constexpr std::array<const char*, 8> kLiterals = {"", " ", "\n\n", ". ", "a", "aa", "\n", ".."};
  constexpr std::array<const char*, 6> kPatterns = {"\\s+", "(?<=[.!?])\\s+", "\\b", "(?=a)", "a|b",
                                                    "\n"};
  FuzzInput input(bytes);
  text::CharacterTextSplitterOptions options;
  TakeSizes(input, options);
  options.chunk_overlap += input.Below(2);  // may be as large as the chunk size
  options.keep_separator = input.Pick(kKeeps);
  options.is_separator_regex = input.Below(4) == 0;
  options.separator = options.is_separator_regex ? input.Pick(kPatterns) : input.Pick(kLiterals);
  const std::string document = input.Text();
  Compare(text::CharacterTextSplitter(options), document, ModelCharacter(document, options));
}

inline void FuzzRecursive(std::string_view bytes) {
  constexpr std::array<const char*, 9> kLiterals = {"\n\n", "\n", " ", ". ", "a",
                                                    "",     ".",  "b", ","};
  constexpr std::array<const char*, 5> kPatterns = {"\\s", "[.!?]", "(?<= )a", "^", "$"};
  FuzzInput input(bytes);
  text::RecursiveCharacterTextSplitterOptions options;
  TakeSizes(input, options);
  options.chunk_overlap += input.Below(2);  // may be as large as the chunk size
  options.keep_separator = input.Pick(kKeeps);
  options.is_separator_regex = input.Below(4) == 0;
  for (unsigned count = input.Below(5); count > 0; --count) {
    options.separators.emplace_back(options.is_separator_regex ? input.Pick(kPatterns)
                                                               : input.Pick(kLiterals));
  }
  const Strings separators =
      options.separators.empty() ? Strings{"\n\n", "\n", " ", ""} : options.separators;
  const std::string document = input.Text();
  Strings expected;
  ModelRecursive(document, separators, options, expected);
  Compare(text::RecursiveCharacterTextSplitter(options), document, expected);
}

}  // namespace ai::fuzz
