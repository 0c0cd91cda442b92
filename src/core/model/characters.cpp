#include "core/model/characters.hpp"

#include <algorithm>
#include <span>

#include "core/model/character_tables.hpp"

namespace ai::model {
namespace {

constexpr char32_t kAscii = 0x80;
constexpr char32_t kDottedCapitalI = 0x130;
constexpr char32_t kDotAbove = 0x307;

/// The last element that begins at or before character; null if there is none.
template <typename Element>
const Element* FindBefore(std::span<const Element> elements, char32_t character) {
  const auto after = std::upper_bound(
      elements.begin(), elements.end(), character,
      [](char32_t value, const Element& element) { return value < element.first; });
  return after == elements.begin() ? nullptr : &*(after - 1);
}

bool IsIn(std::span<const CharacterRange> ranges, char32_t character) {
  const CharacterRange* const range = FindBefore(ranges, character);
  return range != nullptr && character <= range->last;
}

std::uint8_t FindTraits(char32_t character) {
  unsigned traits = 0;
  traits |= IsIn(kRemoved, character) ? kRemovedTrait : 0;
  traits |= IsIn(kSpace, character) ? kSpaceTrait : 0;
  traits |= IsIn(kIdeograph, character) ? kIdeographTrait : 0;
  traits |= IsIn(kPunctuation, character) ? kPunctuationTrait : 0;
  return static_cast<std::uint8_t>(traits);
}

/// The same as the tables say, without a search.
constexpr std::array<std::uint8_t, kAscii> kAsciiTraits = [] {
  std::array<std::uint8_t, kAscii> traits = {};
  for (char32_t c = 0; c < kAscii; ++c) {
    const bool is_letter = (c >= U'a' && c <= U'z') || (c >= U'A' && c <= U'Z');
    const bool is_digit = c >= U'0' && c <= U'9';
    if (c == U' ' || c == U'\t' || c == U'\n' || c == U'\r') {
      traits[c] = kSpaceTrait;
    } else if (c < U' ' || c == 0x7F) {
      traits[c] = kRemovedTrait;
    } else if (!is_letter && !is_digit) {
      traits[c] = kPunctuationTrait;
    }
  }
  return traits;
}();

void Add(Folded& folded, char32_t character) {
  folded.characters[folded.count++] = character;
}

void AddLower(Folded& folded, char32_t character) {
  if (character == kDottedCapitalI) {
    Add(folded, U'i');
    Add(folded, kDotAbove);
    return;
  }
  const CaseRange* const range = FindBefore(kLower, character);
  const bool has_lower =
      range != nullptr && character <= range->last && (character - range->first) % range->step == 0;
  Add(folded, has_lower ? character + static_cast<char32_t>(range->distance) : character);
}

/// Two or three letters of a Hangul syllable, by the rule of the Unicode standard.
bool DecomposeHangul(char32_t character, Folded& folded) {
  constexpr char32_t kFirst = 0xAC00;
  constexpr char32_t kVowels = 21;
  constexpr char32_t kFinals = 28;
  if (character < kFirst || character > 0xD7A3) {
    return false;
  }
  const char32_t index = character - kFirst;
  Add(folded, 0x1100 + index / (kVowels * kFinals));
  Add(folded, 0x1161 + index / kFinals % kVowels);
  if (index % kFinals != 0) {
    Add(folded, 0x11A7 + index % kFinals);
  }
  return true;
}

/// The canonical decomposition without non-spacing marks.
Folded Decompose(char32_t character) {
  Folded folded = {};
  if (IsIn(kNonspacing, character) || DecomposeHangul(character, folded)) {
    return folded;
  }
  const BaseRun* const sequence = FindBefore(kBaseSequences, character);
  if (sequence != nullptr && sequence->first == character) {
    for (const char32_t part : sequence->bases) {
      Add(folded, part);
    }
    return folded;
  }
  const BaseRun* const run = FindBefore(kBase, character);
  const bool has_base = run != nullptr && character - run->first < run->bases.size();
  Add(folded, has_base ? run->bases[character - run->first] : character);
  return folded;
}

Folded FoldSlowly(char32_t character, Folding folding) {
  Folded folded = {};
  if (!folding.strip_accents) {
    Add(folded, character);
  } else {
    folded = Decompose(character);
  }
  if (!folding.lower_case) {
    return folded;
  }
  Folded lower = {};
  for (std::size_t i = 0; i < folded.count; ++i) {
    AddLower(lower, folded.characters[i]);
  }
  return lower;
}

}  // namespace

std::uint8_t TraitsOf(char32_t character) {
  return character < kAscii ? kAsciiTraits[character] : FindTraits(character);
}

Folded Fold(char32_t character, Folding folding) {
  if (character < kAscii) {
    const bool upper = folding.lower_case && character >= U'A' && character <= U'Z';
    return {{upper ? character + (U'a' - U'A') : character}, 1};
  }
  return FoldSlowly(character, folding);
}

}  // namespace ai::model
