// Finds one byte again and again, where it stands every few bytes, as the space does in prose: a
// call of memchr for each would cost more than all the rest. Looks at a block of 64 bytes at once
// and remembers its hits; where the byte is rare it leaves the search to memchr.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "core/text/code_points.hpp"

namespace ai::text {

class ByteFinder {
 public:
  static constexpr std::size_t kNone = std::string_view::npos;

  /// Starts to look for byte in [from, to) of text.
  void Begin(std::string_view text, char byte, std::size_t from, std::size_t to) {
    text_ = text.substr(0, to);
    byte_ = byte;
    next_ = from;
    hits_ = 0;
  }

  /// The offset of the next hit, or kNone.
  std::size_t Next() {
    if (hits_ == 0) {
      if (text_.size() - next_ < kBlock || !kLittle) {
        return NextByMemchr();
      }
      hits_ = HitsInBlock(text_.data() + next_);
      if (hits_ == 0) {
        return NextByMemchr();
      }
      next_ += kBlock;
    }
    const auto index = static_cast<std::size_t>(std::countr_zero(hits_));
    hits_ &= hits_ - 1;
    return next_ - kBlock + index;
  }

 private:
  static constexpr bool kLittle = std::endian::native == std::endian::little;
  static constexpr std::size_t kBlock = 64;
  static constexpr std::uint64_t kLowBits = 0x0101010101010101;
  static constexpr std::uint64_t kHighBits = 0x8080808080808080;
  static constexpr std::uint64_t kGather = 0x0002040810204081;  // bit 7 of byte i to bit 56 + i

  /// A bit for each byte of the block that is the one looked for, the first byte in the lowest.
#ifdef __SSE2__
  std::uint64_t HitsInBlock(const char* block) const {
    const __m128i pattern = _mm_set1_epi8(byte_);
    std::uint64_t hits = 0;
    for (std::size_t i = 0; i < kBlock / sizeof(__m128i); ++i) {
      __m128i bytes;
      std::memcpy(&bytes, block + i * sizeof(__m128i), sizeof(__m128i));
      const int equal = _mm_movemask_epi8(_mm_cmpeq_epi8(bytes, pattern));
      hits |= static_cast<std::uint64_t>(equal) << (i * sizeof(__m128i));
    }
    return hits;
  }
#else
  std::uint64_t HitsInBlock(const char* block) const {
    const std::uint64_t pattern = kLowBits * static_cast<unsigned char>(byte_);
    std::uint64_t hits = 0;
    for (std::size_t i = 0; i < kWord; ++i) {
      const std::uint64_t difference = LoadWord(block + i * kWord) ^ pattern;
      // The high bit of each byte that is zero, and nothing else: no carry leaves its byte.
      const std::uint64_t zeros =
          ~(((difference & ~kHighBits) + ~kHighBits) | difference) & kHighBits;
      hits |= ((zeros * kGather) >> 56) << (8 * i);
    }
    return hits;
  }
#endif

  std::size_t NextByMemchr() {
    const void* found = std::memchr(text_.data() + next_, byte_, text_.size() - next_);
    if (found == nullptr) {
      next_ = text_.size();
      return kNone;
    }
    const auto offset = static_cast<std::size_t>(static_cast<const char*>(found) - text_.data());
    next_ = offset + 1;
    return offset;
  }

  std::string_view text_;
  char byte_ = 0;
  std::size_t next_ = 0;    // where nothing has been looked at yet
  std::uint64_t hits_ = 0;  // not yet returned, in the block before next_
};

}  // namespace ai::text
