// A small matcher that takes the regular expressions of the two encodings literally, with all their
// backtracking: what the hand-written splitter is compared with. Knows the characters of
// kSmallClassRanges.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/token/char_class.hpp"
#include "core/token/split.hpp"
#include "core/utf8.hpp"
#include "unit/catch_bridge.hpp"
#include "unit/token_fixture.hpp"

namespace ai::test {

/// Tries to match from a position and calls what comes next with each end, the preferred first,
/// until that is content. Returns the end of everything.
using Continue = std::function<std::optional<std::size_t>(std::size_t)>;
using Element = std::function<std::optional<std::size_t>(std::size_t, const Continue&)>;
using Sequence = std::vector<Element>;

class Expressions {
 public:
  explicit Expressions(std::string_view text) {
    static const std::vector<std::uint8_t> all = token::ParseClassRanges(kSmallClassRanges);
    for (std::size_t pos = 0; pos < text.size();) {
      const utf8::Decoded decoded = utf8::DecodeAt(text, pos);
      chars_.push_back(decoded.code_point);
      classes_.push_back(all[decoded.code_point]);
      pos += decoded.length;
    }
  }

  /// The pieces, as lists of code points.
  std::vector<std::u32string> Run(token::SplitRule rule) const {
    const std::vector<Sequence> alternatives =
        rule == token::SplitRule::kCl100k ? Cl100k() : O200k();
    std::vector<std::u32string> pieces;
    for (std::size_t pos = 0; pos < chars_.size();) {
      std::optional<std::size_t> end;
      for (const Sequence& sequence : alternatives) {
        end = Match(sequence, 0, pos);
        if (end) {
          break;
        }
      }
      REQUIRE(end);
      pieces.push_back(chars_.substr(pos, *end - pos));
      pos = *end;
    }
    return pieces;
  }

 private:
  using Test = std::function<bool(std::size_t)>;  // of the character at a position

  std::optional<std::size_t> Match(const Sequence& sequence, std::size_t from,
                                   std::size_t pos) const {
    if (from == sequence.size()) {
      return pos;
    }
    return sequence[from](
        pos, [this, &sequence, from](std::size_t end) { return Match(sequence, from + 1, end); });
  }

  Test In(unsigned classes) const {
    return [this, classes](std::size_t i) { return (classes_[i] & classes) != 0; };
  }
  Test NotIn(unsigned classes) const {
    return [this, classes](std::size_t i) { return (classes_[i] & classes) == 0; };
  }
  Test Is(std::u32string_view set) const {
    return [this, set](std::size_t i) { return set.find(chars_[i]) != std::u32string_view::npos; };
  }

  /// test{min,max}, greedy; without giving back if possessive.
  Element Repeat(Test test, std::size_t min, std::size_t max, bool possessive = false) const {
    return [this, test = std::move(test), min, max, possessive](
               std::size_t pos, const Continue& next) -> std::optional<std::size_t> {
      std::size_t end = pos;
      while (end < chars_.size() && end - pos < max && test(end)) {
        ++end;
      }
      for (; end >= pos + min; --end) {
        if (const auto result = next(end)) {
          return result;
        }
        if (possessive || end == pos) {
          break;
        }
      }
      return std::nullopt;
    };
  }

  Element Contraction(bool optional) const {
    return [this, optional](std::size_t pos, const Continue& next) -> std::optional<std::size_t> {
      for (const std::u32string_view word : {U"'s", U"'t", U"'re", U"'ve", U"'m", U"'ll", U"'d"}) {
        if (EqualFolded(pos, word)) {
          if (const auto result = next(pos + word.size())) {
            return result;
          }
        }
      }
      return optional ? next(pos) : std::nullopt;
    };
  }

  bool EqualFolded(std::size_t pos, std::u32string_view word) const {
    for (std::size_t i = 0; i < word.size(); ++i) {
      const char32_t c = pos + i < chars_.size() ? chars_[pos + i] : U'\0';
      const char32_t folded = c == U'\u017F' ? U's' : (c >= U'A' && c <= U'Z' ? c + 32 : c);
      if (folded != word[i]) {
        return false;
      }
    }
    return true;
  }

  /// Goes on only if the test holds where it stands; takes nothing.
  static Element Where(std::function<bool(std::size_t)> holds) {
    return [holds = std::move(holds)](std::size_t pos,
                                      const Continue& next) -> std::optional<std::size_t> {
      return holds(pos) ? next(pos) : std::nullopt;
    };
  }

  Element NoVisibleNext() const {
    return Where([this](std::size_t pos) {
      return pos == chars_.size() || (classes_[pos] & token::kSpace) != 0;
    });
  }
  Element AtEnd() const {
    return Where([this](std::size_t pos) { return pos == chars_.size(); });
  }

  static constexpr std::size_t kMany = std::u32string_view::npos;
  static constexpr unsigned kWord = token::kLetter | token::kNumber;
  static constexpr unsigned kNoPrefix = kWord | token::kLineBreak;

  std::vector<Sequence> Cl100k() const {
    using namespace token;
    return {
        {Contraction(false)},
        {Repeat(NotIn(kNoPrefix), 0, 1, true), Repeat(In(kLetter), 1, kMany, true)},
        {Repeat(In(kNumber), 1, 3, true)},
        {Repeat(Is(U" "), 0, 1), Repeat(NotIn(kWord | kSpace), 1, kMany, true),
         Repeat(Is(U"\r\n"), 0, kMany, true)},
        {Repeat(In(kSpace), 1, kMany, true), AtEnd()},
        {Repeat(In(kSpace), 0, kMany), Repeat(Is(U"\r\n"), 1, 1)},
        {Repeat(In(kSpace), 1, kMany), NoVisibleNext()},
        {Repeat(In(kSpace), 1, 1)},
    };
  }

  std::vector<Sequence> O200k() const {
    using namespace token;
    return {
        {Repeat(NotIn(kNoPrefix), 0, 1), Repeat(In(kUpperSide), 0, kMany),
         Repeat(In(kLowerSide), 1, kMany), Contraction(true)},
        {Repeat(NotIn(kNoPrefix), 0, 1), Repeat(In(kUpperSide), 1, kMany),
         Repeat(In(kLowerSide), 0, kMany), Contraction(true)},
        {Repeat(In(kNumber), 1, 3)},
        {Repeat(Is(U" "), 0, 1), Repeat(NotIn(kWord | kSpace), 1, kMany),
         Repeat(Is(U"\r\n/"), 0, kMany)},
        {Repeat(In(kSpace), 0, kMany), Repeat(Is(U"\r\n"), 1, kMany)},
        {Repeat(In(kSpace), 1, kMany), NoVisibleNext()},
        {Repeat(In(kSpace), 1, kMany)},
    };
  }

  std::u32string chars_;
  std::vector<std::uint8_t> classes_;
};

inline std::vector<std::string> ReferencePieces(token::SplitRule rule, std::string_view text) {
  std::vector<std::string> pieces;
  for (const std::u32string& piece : Expressions(text).Run(rule)) {
    pieces.emplace_back();
    for (const char32_t c : piece) {
      utf8::Append(pieces.back(), c);
    }
  }
  return pieces;
}

}  // namespace ai::test
