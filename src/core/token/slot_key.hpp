// How the hash table of a packed token table is addressed. Part of its format: a change here needs
// a new kTableVersion. Inline, because looking up tokens is where the time goes.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace ai::token {

inline std::uint64_t LoadWord(const char* from) {
  std::uint64_t word;
  std::memcpy(&word, from, sizeof(word));
  return word;
}

/// Up to 8 bytes as a number; different bytes of the same length give different numbers.
inline std::uint64_t LoadShort(const char* from, std::size_t length) {
  if (length == sizeof(std::uint64_t)) {
    return LoadWord(from);
  }
  if (std::endian::native == std::endian::little && length >= 4) {
    // Two loads that overlap and do not leave the text.
    std::uint32_t low;
    std::uint32_t high;
    std::memcpy(&low, from, sizeof(low));
    std::memcpy(&high, from + length - sizeof(high), sizeof(high));
    return low | (std::uint64_t{high} << (8 * (length - 4)));
  }
  std::uint64_t word = 0;
  for (std::size_t i = 0; i < length; ++i) {
    word |= std::uint64_t{static_cast<unsigned char>(from[i])} << (8 * i);
  }
  return word;
}

inline std::uint64_t Mix(std::uint64_t state, std::uint64_t word) {
  state = (state ^ word) * 0x9FB21C651E98DF25U;
  return state ^ (state >> 29);
}

/// A token of up to 8 bytes is its own key, a longer one has a hash for a key.
inline std::uint64_t SlotKey(std::string_view bytes) {
  constexpr std::size_t kWord = sizeof(std::uint64_t);
  if (bytes.size() <= kWord) {
    return LoadShort(bytes.data(), bytes.size());
  }
  std::uint64_t key = bytes.size();
  const char* at = bytes.data();
  const char* const last = at + bytes.size() - kWord;
  for (; at < last; at += kWord) {
    key = Mix(key, LoadWord(at));
  }
  return Mix(key, LoadWord(last));
}

/// A hash of so many bits, at least one. Multiplying carries every bit of the key into the top
/// ones; fewer bits are a prefix of more.
inline std::size_t HashBits(std::uint64_t key, std::uint32_t bits) {
  return static_cast<std::size_t>(((key ^ (key >> 32)) * 0x9E3779B97F4A7C15U) >> (64 - bits));
}

}  // namespace ai::token
