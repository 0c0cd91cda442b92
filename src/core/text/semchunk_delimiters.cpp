// See semchunk_delimiters.hpp.
#include "core/text/semchunk_delimiters.hpp"

#include <algorithm>
#include <array>
#include <bit>

namespace ai::text {
namespace {

constexpr unsigned kLevels = 8;
constexpr unsigned kLevelShift = 48;
constexpr Strength kRankMask = (Strength{1} << kLevelShift) - 1;

/// The rank of a run is its length; of other delimiters the first in a level has the highest.
constexpr Strength StrengthOf(unsigned level, std::uint64_t rank) {
  return (Strength{kLevels - level} << kLevelShift) | rank;
}

constexpr unsigned LevelOf(Strength strength) {
  return kLevels - static_cast<unsigned>(strength >> kLevelShift);
}

/// The bytes that a delimiter takes up.
constexpr std::size_t ExtentOf(Strength strength) {
  if (strength == kEndStrength || strength == kCharacterStrength) {
    return 0;
  }
  const unsigned level = LevelOf(strength);
  return level == 1 || level == 2 || level == 6 ? strength & kRankMask : 1;
}

struct ByteTables {
  std::array<bool, 256> delimits = {};
  std::array<Strength, 256> before_space = {};  // of a space after this byte, 0 for a plain one
  std::array<Strength, 256> joins = {};         // of this byte as a word joiner, 0 if it is none
};

constexpr ByteTables MakeTables() {
  ByteTables tables;
  for (const char byte : std::string_view("\n\r\t /\\&-")) {
    tables.delimits[static_cast<unsigned char>(byte)] = true;
  }
  const auto list = [](std::array<Strength, 256>& table, unsigned level, std::string_view bytes) {
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      table[static_cast<unsigned char>(bytes[i])] = StrengthOf(level, bytes.size() - i);
    }
  };
  list(tables.before_space, 3, ".?!");
  list(tables.before_space, 4, ";,)]");
  list(tables.before_space, 5, ":-");
  list(tables.joins, 7, "/\\&-");
  return tables;
}

constexpr ByteTables kTables = MakeTables();
constexpr Strength kEllipsis = StrengthOf(5, 0);

unsigned char ByteAt(std::string_view text, std::size_t offset) {
  return static_cast<unsigned char>(text[offset]);
}

bool IsLineEnd(char byte) {
  return byte == '\n' || byte == '\r';
}

/// Whether two bytes belong to one run of level 1, 2 or 6.
bool InOneRun(char a, char b) {
  return a == b ? (a == ' ' || a == '\t' || IsLineEnd(a)) : (IsLineEnd(a) && IsLineEnd(b));
}

std::size_t RunLength(std::string_view text, std::size_t start) {
  std::size_t end = start + 1;
  while (end < text.size() && InOneRun(text[start], text[end])) {
    ++end;
  }
  return end - start;
}

}  // namespace

std::size_t Delimiter::end() const {
  return begin + ExtentOf(strength);
}

bool Delimiter::IsJoiner() const {
  return LevelOf(strength) == 7;
}

void DelimiterScanner::NextBlock() {
  const std::size_t bytes = std::min(kBlock, text_.size() - block_);
  // Without a branch per byte: words are short, and where they end cannot be predicted.
  for (std::size_t i = 0; i < bytes; ++i) {
    hits_ |= std::uint64_t{kTables.delimits[ByteAt(text_, block_ + i)]} << (kBlock - bytes + i);
  }
  block_ += bytes;
}

void DelimiterScanner::Advance() {
  while (hits_ == 0) {
    if (block_ == text_.size()) {
      begin_ = block_;
      strength_ = kEndStrength;
      return;
    }
    NextBlock();
  }
  const std::size_t start = block_ - kBlock;
  const std::size_t offset = start + static_cast<std::size_t>(std::countr_zero(hits_));
  const Strength strength = StrengthAt(offset);
  const std::size_t end = offset + ExtentOf(strength);
  if (end < block_) {
    hits_ &= ~std::uint64_t{0} << (end - start);
  } else {
    hits_ = 0;
    block_ = end;
  }
  begin_ = offset;
  strength_ = strength;
}

Strength DelimiterScanner::StrengthAt(std::size_t offset) const {
  const char byte = text_[offset];
  if (byte == ' ') {
    return SpaceStrength(offset);
  }
  if (IsLineEnd(byte)) {
    return StrengthOf(1, RunLength(text_, offset));
  }
  if (byte == '\t') {
    return StrengthOf(2, RunLength(text_, offset));
  }
  return kTables.joins[ByteAt(text_, offset)];
}

Strength DelimiterScanner::SpaceStrength(std::size_t offset) const {
  const Strength punctuated = offset == 0 ? 0 : kTables.before_space[ByteAt(text_, offset - 1)];
  if (punctuated != 0) {
    const std::string_view before = text_.substr(0, offset);
    if (before.ends_with("...")) {
      return kEllipsis;
    }
    if (!before.ends_with('-') || before.ends_with("--")) {
      return punctuated;
    }
  }
  return StrengthOf(6, RunLength(text_, offset));
}

std::size_t DelimiterScanner::RunStart(std::string_view text, std::size_t offset) {
  while (offset > 0 && offset < text.size() && InOneRun(text[offset - 1], text[offset])) {
    --offset;
  }
  return offset;
}

}  // namespace ai::text
