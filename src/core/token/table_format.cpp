#include "core/token/table_format.hpp"

#include <array>

#include "core/token/slot_key.hpp"

namespace ai::token {

std::uint64_t Checksum(std::string_view bytes) {
  constexpr std::size_t kWord = sizeof(std::uint64_t);
  // Four independent chains, because one would wait for its own multiplication at every word.
  std::array<std::uint64_t, 4> lanes = {1, 2, 3, 4};
  const char* at = bytes.data();
  std::size_t left = bytes.size();
  for (; left >= 4 * kWord; left -= 4 * kWord, at += 4 * kWord) {
    for (std::size_t i = 0; i < lanes.size(); ++i) {
      lanes[i] = Mix(lanes[i], LoadWord(at + i * kWord));
    }
  }
  std::uint64_t sum = bytes.size();
  for (; left >= kWord; left -= kWord, at += kWord) {
    sum = Mix(sum, LoadWord(at));
  }
  sum = Mix(sum, LoadShort(at, left));
  for (const std::uint64_t lane : lanes) {
    sum = Mix(sum, lane);
  }
  return sum;
}

}  // namespace ai::token
