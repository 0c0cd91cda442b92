// What a BERT tokenizer has to know about characters, as plain tables. Ask characters.hpp, which
// searches them.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace ai::model {

struct CharacterRange {
  char32_t first;
  char32_t last;
};

/// Every step-th character from first to last has its lower case at that distance.
struct CaseRange {
  char32_t first;
  char32_t last;
  char32_t step;
  std::int32_t distance;
};

/// Characters from first on and what each becomes. In kBaseSequences one character becomes all.
struct BaseRun {
  char32_t first;
  std::u32string_view bases;
};

// All of them are sorted by their first character and do not overlap.
extern const std::span<const CharacterRange> kRemoved;
extern const std::span<const CharacterRange> kSpace;
extern const std::span<const CharacterRange> kIdeograph;
extern const std::span<const CharacterRange> kPunctuation;
extern const std::span<const CharacterRange> kNonspacing;
/// U+0130, which becomes two characters, is not here.
extern const std::span<const CaseRange> kLower;
/// Canonical decompositions without their non-spacing marks; Hangul, which has a rule, is not here.
extern const std::span<const BaseRun> kBase;
extern const std::span<const BaseRun> kBaseSequences;

}  // namespace ai::model
