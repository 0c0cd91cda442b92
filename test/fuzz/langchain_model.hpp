// The character and the recursive splitter again, as plainly as possible: whole lists, recursion.
// Slow, and only good to compare with.
#pragma once

#include <string>

#include "core/text/character_text_splitter.hpp"
#include "core/text/recursive_character_text_splitter.hpp"
#include "fuzz/merge_model.hpp"

namespace ai::fuzz {

inline Strings ModelCharacter(const std::string& text,
                              const text::CharacterTextSplitterOptions& options) {
  const std::string& separator = options.separator;
  bool nothing = options.keep_separator != text::KeepSeparator::kNone;
  for (const char* prefix : {"(?=", "(?!", "(?<=", "(?<!"}) {
    nothing = nothing || (options.is_separator_regex && separator.starts_with(prefix));
  }
  Strings out;
  Merge(Cut(text, separator, options.is_separator_regex, options.keep_separator),
        nothing ? "" : separator, options, out);
  return out;
}

inline void ModelRecursive(const std::string& text, Strings separators,
                           const text::RecursiveCharacterTextSplitterOptions& options,
                           Strings& out) {
  std::string chosen = separators.back();
  Strings rest;
  for (std::size_t i = 0; i < separators.size(); ++i) {
    if (separators[i].empty() ||
        !FindAll(text, separators[i], options.is_separator_regex).empty()) {
      chosen = separators[i];
      if (!chosen.empty()) {
        rest.assign(separators.begin() + static_cast<std::ptrdiff_t>(i) + 1, separators.end());
      }
      break;
    }
  }
  const std::string join = options.keep_separator == text::KeepSeparator::kNone ? chosen : "";
  Strings good;
  for (const std::string& piece :
       Cut(text, chosen, options.is_separator_regex, options.keep_separator)) {
    if (Length(options, piece) < static_cast<std::size_t>(options.chunk_size)) {
      good.push_back(piece);
      continue;
    }
    Merge(good, join, options, out);
    good.clear();
    if (rest.empty()) {
      out.push_back(piece);
    } else {
      ModelRecursive(piece, rest, options, out);
    }
  }
  Merge(good, join, options, out);
}

}  // namespace ai::fuzz
