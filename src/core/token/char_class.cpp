#include "core/token/char_class.hpp"

#include "core/utf8.hpp"

namespace ai::token {

CharClasses::CharClasses(ClassTable table) : table_(table), of_byte_() {
  of_byte_.fill(kMultiByte);
  for (char32_t c = 0; c < 0x80; ++c) {
    of_byte_[c] = table_.Of(c);
  }
}

ClassedChar CharClasses::AtMultiByte(std::string_view text, std::size_t pos) const {
  const utf8::Decoded decoded = utf8::DecodeSlowly(text, pos);
  return {table_.Of(decoded.code_point), pos + decoded.length};
}

}  // namespace ai::token
