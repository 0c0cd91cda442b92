#include "core/model/vocabulary.hpp"

#include <bit>

namespace ai::model {

TokenId Vocabulary::Find(std::span<const token::Slot> slots, std::string_view piece,
                         std::size_t prefix) const {
  const std::uint64_t key = token::SlotKey(piece);
  const std::size_t mask = slots.size() - 1;
  std::size_t at = token::HashBits(key, static_cast<std::uint32_t>(std::countr_zero(slots.size())));
  for (; slots[at].length != 0; at = (at + 1) & mask) {
    const token::Slot& slot = slots[at];
    if (slot.key == key && slot.length == piece.size() &&
        (piece.size() <= sizeof(key) || Text(slot.id).substr(prefix) == piece)) {
      return slot.id;
    }
  }
  return kNoToken;
}

}  // namespace ai::model
