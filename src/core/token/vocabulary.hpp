// The tokens of an encoding: from bytes to id and back. A view of a mapped table; it owns nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "core/token/slot_key.hpp"
#include "core/token/table_format.hpp"
#include "core/token/token_id.hpp"

namespace ai::token {

class Vocabulary {
 public:
  /// INVARIANT: the parts come from one verified table (see TableFile) that outlives this view. In
  /// particular some slot is empty, and every single byte is a token.
  struct Parts {
    std::span<const Slot> slots;            // 2^slot_bits of them
    std::span<const std::uint64_t> filter;  // 2^(slot_bits + kFilterBits) bits
    std::span<const TokenId> byte_pairs;    // kBytePairs of them
    std::span<const std::uint32_t>
        offsets;  // where each token starts in bytes, and one more: the end
    const char* bytes;
    std::span<const SpecialToken> specials;
    std::uint32_t slot_bits;
    std::uint32_t longest_token;
  };

  explicit Vocabulary(const Parts& parts) : parts_(parts) {}

  /// The token that is exactly these bytes, kNoToken if there is none. Special tokens are not
  /// found: they are text like any other when they stand in a text.
  TokenId Find(std::string_view bytes) const;

  /// The same for two bytes, at less cost.
  TokenId FindPair(char first, char second) const {
    return parts_
        .byte_pairs[static_cast<unsigned char>(first) * 256U + static_cast<unsigned char>(second)];
  }

  /// The bytes of an ordinary or special token; empty if there is no such token.
  std::string_view Bytes(TokenId id) const;

  std::size_t longest_token() const { return parts_.longest_token; }

 private:
  std::string_view OrdinaryBytes(std::uint32_t id) const {
    return {parts_.bytes + parts_.offsets[id], parts_.offsets[id + 1] - parts_.offsets[id]};
  }

  Parts parts_;
};

inline TokenId Vocabulary::Find(std::string_view bytes) const {
  if (bytes.empty() || bytes.size() > parts_.longest_token) {
    return kNoToken;
  }
  const std::uint64_t key = SlotKey(bytes);
  const std::size_t hash = HashBits(key, parts_.slot_bits + kFilterBits);
  if (((parts_.filter[hash / 64] >> (hash % 64)) & 1) == 0) {
    return kNoToken;
  }
  const std::size_t mask = parts_.slots.size() - 1;
  for (std::size_t at = hash >> kFilterBits;; at = (at + 1) & mask) {
    const Slot& slot = parts_.slots[at];
    if (slot.length == 0) {
      return kNoToken;
    }
    if (slot.key == key && slot.length == bytes.size() &&
        (bytes.size() <= sizeof(key) || OrdinaryBytes(slot.id) == bytes)) {
      return static_cast<TokenId>(slot.id);
    }
  }
}

}  // namespace ai::token
