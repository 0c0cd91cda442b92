// What a BERT tokenizer asks about a character. The answers are those of the reference tokenizer,
// whatever Unicode version the machine's libraries have.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace ai::model {

enum Trait : std::uint8_t {
  kRemovedTrait = 1,  // a control character or the like, which is dropped; never a space
  kSpaceTrait = 2,
  kIdeographTrait = 4,
  kPunctuationTrait = 8,
};

/// The traits of a character, added up. Most have none.
std::uint8_t TraitsOf(char32_t character);

/// How a model wants its text.
struct Folding {
  bool lower_case = true;
  bool strip_accents = true;
};

/// What one character becomes; nothing for a mark that is stripped.
struct Folded {
  std::array<char32_t, 4> characters;
  std::size_t count;
};

Folded Fold(char32_t character, Folding folding);

}  // namespace ai::model
