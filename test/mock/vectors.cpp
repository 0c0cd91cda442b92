// vectors.cpp: the deterministic unit vector of a text, and how it is written.
#include "mock/vectors.hpp"

#include <array>
#include <cmath>
#include <cstdlib>
#include <cstring>

#include "mock/random.hpp"

namespace ai::mock {

namespace {

constexpr std::array<char, 200> MakeDigitPairs() {
  std::array<char, 200> pairs{};
  for (size_t i = 0; i < 100; ++i) {
    pairs[2 * i] = static_cast<char>('0' + i / 10);
    pairs[2 * i + 1] = static_cast<char>('0' + i % 10);
  }
  return pairs;
}

constexpr std::array<char, 200> kDigitPairs = MakeDigitPairs();

size_t PairAt(uint32_t number) {
  return 2 * size_t{number};
}

}  // namespace

uint64_t HashText(std::string_view text) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) {
    hash ^= static_cast<unsigned char>(c);
    hash *= 0x100000001b3;
  }
  return hash;
}

void FillVector(std::string_view text, size_t dimensions, std::vector<int32_t>& out) {
  SplitMix random(HashText(text) ^ (dimensions * kGoldenGamma));
  out.resize(dimensions);
  // INVARIANT: every raw component is odd and below 2^24, so that the length is never zero and the
  // sum of kMaxDimensions squares stays below 2^62.
  uint64_t squares = 0;
  for (int32_t& component : out) {
    component = static_cast<int32_t>(2 * (random.Next() >> 40)) + 1 - (1 << 24);
    squares += static_cast<uint64_t>(static_cast<int64_t>(component) * component);
  }
  const double scale = kUnit / std::sqrt(static_cast<double>(squares));
  for (int32_t& component : out) {
    // Rounds half away from zero. Signs are random: a branch on them would be guessed wrong.
    const double scaled = component * scale;
    component = static_cast<int32_t>(scaled + std::copysign(0.5, scaled));
  }
}

char* WriteComponent(char* at, int32_t component) {
  *at = '-';
  at += component < 0 ? 1 : 0;
  auto rest = static_cast<uint32_t>(std::abs(component));
  *at++ = static_cast<char>('0' + rest / kUnit);
  *at++ = '.';
  rest %= kUnit;
  const uint32_t high = rest / 10'000;
  const uint32_t low = rest % 10'000;
  std::memcpy(at, &kDigitPairs[PairAt(high / 100)], 2);
  std::memcpy(at + 2, &kDigitPairs[PairAt(high % 100)], 2);
  std::memcpy(at + 4, &kDigitPairs[PairAt(low / 100)], 2);
  std::memcpy(at + 6, &kDigitPairs[PairAt(low % 100)], 2);
  return at + 8;
}

}  // namespace ai::mock
