// See code_points.hpp.
#include "core/text/code_points.hpp"

namespace ai::text {

std::size_t SkipCodePoints(std::string_view text, std::size_t offset, std::size_t count) {
  while (count >= kWord && text.size() - offset >= kWord) {
    count -= kWord - CountContinuations(LoadWord(text.data() + offset));
    offset += kWord;
  }
  // A word may have ended inside a character, which is already counted.
  while (offset < text.size() && IsContinuationByte(text[offset])) {
    ++offset;
  }
  for (; count > 0 && offset < text.size(); --count) {
    offset = NextCodePoint(text, offset);
  }
  return offset;
}

std::size_t BackCodePoints(std::string_view text, std::size_t count) {
  std::size_t offset = text.size();
  while (count >= kWord && offset >= kWord) {
    offset -= kWord;
    count -= kWord - CountContinuations(LoadWord(text.data() + offset));
  }
  while (count > 0 && offset > 0) {
    --offset;
    count -= IsContinuationByte(text[offset]) ? 0 : 1;
  }
  return offset;
}

}  // namespace ai::text
