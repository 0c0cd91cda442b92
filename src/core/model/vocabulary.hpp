// The pieces of a WordPiece vocabulary, looked up where they lie in a packed model. Knows nothing
// of texts.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "core/token/slot_key.hpp"
#include "core/token/table_format.hpp"

namespace ai::model {

using TokenId = std::uint32_t;
inline constexpr TokenId kNoToken = 0xFFFFFFFF;
/// What pieces begin with that continue a word.
inline constexpr std::string_view kContinuation = "##";

class Vocabulary {
 public:
  /// INVARIANT, which PackedModel checks: the number of slots is a power of two, at least one slot
  /// of a table is empty, slots name existing tokens, offsets ascend within bytes.
  struct Parts {
    std::span<const token::Slot> words;
    std::span<const token::Slot> continuations;  // without their "##"
    std::span<const std::uint32_t> offsets;      // one more than there are tokens
    const char* bytes;
  };

  explicit Vocabulary(const Parts& parts) : parts_(parts) {}

  std::size_t size() const { return parts_.offsets.size() - 1; }

  /// The token as it stands in the vocabulary. INVARIANT: id is less than size().
  std::string_view Text(TokenId id) const {
    return {parts_.bytes + parts_.offsets[id], parts_.offsets[id + 1] - parts_.offsets[id]};
  }

  TokenId FindWord(std::string_view piece) const { return Find(parts_.words, piece, 0); }
  TokenId FindContinuation(std::string_view piece) const {
    return Find(parts_.continuations, piece, kContinuation.size());
  }

 private:
  TokenId Find(std::span<const token::Slot> slots, std::string_view piece,
               std::size_t prefix) const;

  Parts parts_;
};

}  // namespace ai::model
