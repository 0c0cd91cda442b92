#include "core/token/vocabulary.hpp"

namespace ai::token {

std::string_view Vocabulary::Bytes(TokenId id) const {
  if (id < 0) {
    return {};
  }
  const auto index = static_cast<std::uint32_t>(id);
  if (index + 1 < parts_.offsets.size()) {
    return OrdinaryBytes(index);
  }
  for (const SpecialToken& special : parts_.specials) {
    if (special.id == index) {
      return {special.bytes, special.length};
    }
  }
  return {};
}

}  // namespace ai::token
