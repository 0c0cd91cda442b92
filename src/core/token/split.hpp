// Cuts a text into the pieces that byte-pair encoding then works on, one by one. This is what the
// regular expressions of cl100k_base and o200k_base do, written by hand: no expression is compiled
// or interpreted, and no input can make it slow.
//
// Every byte of the text belongs to exactly one piece. Where a piece ends depends on what follows,
// so a text must be split as a whole and not in slices.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/interrupt.hpp"
#include "core/token/char_class.hpp"

namespace ai::token {

/// The split rules. The numbers are stored in packed tables: they never change.
enum class SplitRule : std::uint32_t { kCl100k = 1, kO200k = 2 };

class Splitter {
 public:
  Splitter(SplitRule rule, const CharClasses& classes, std::string_view text,
           InterruptCheck pending)
      : rule_(rule), classes_(classes), text_(text), pending_(pending) {}

  /// The end of the piece that starts at pos. INVARIANT: pos < text.size(), and pos is 0 or the end
  /// of a piece. The result is greater than pos.
  std::size_t PieceEnd(std::size_t pos) const;

 private:
  /// A run of characters of one class.
  struct Run {
    std::size_t end;
    std::size_t last_start;  // where the last character of the run starts
    std::size_t marked_end;  // the end of the last character that is also of the marked class, or 0
  };

  ClassedChar At(std::size_t pos) const { return classes_.At(text_, pos); }
  bool IsAt(std::size_t pos, std::uint8_t classes) const;
  std::size_t SkipWhile(std::size_t pos, std::uint8_t classes) const;
  std::size_t SkipUntil(std::size_t pos, std::uint8_t classes) const;
  Run ScanRun(std::size_t pos, std::uint8_t classes, std::uint8_t marked) const;

  std::size_t ContractionEnd(std::size_t pos) const;
  std::size_t Cl100kWordEnd(std::size_t pos, ClassedChar first) const;
  std::size_t O200kWordEnd(std::size_t pos, ClassedChar first) const;
  std::size_t NumberEnd(ClassedChar first) const;
  std::size_t SymbolsEnd(std::size_t pos, ClassedChar first) const;
  std::size_t SpaceEnd(std::size_t pos) const;

  SplitRule rule_;
  const CharClasses& classes_;
  std::string_view text_;
  InterruptCheck pending_;
};

}  // namespace ai::token
