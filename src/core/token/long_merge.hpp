// Byte-pair merging of a piece of any size, by the rule in short_merge.hpp, in O(n log window) and
// in memory that does not depend on the size of the piece.
//
// The piece is merged in windows that overlap, and the result is exact. Two facts about the merge
// of a text make that possible; both follow from the order of merges, which inside some bytes is
// the same whatever stands around them, as long as no merge crosses their ends.
//
//  1. Bytes between two boundaries of the merge are merged there as they are merged alone.
//  2. A sequence of tokens is the merge of its bytes if each two neighbours are the merge of
//  theirs:
//     the first merge across a boundary would happen among those two alone as well.
//
// So let A be the merge of a window, y a token of A that starts at c, and suppose that the merge of
// window[c, i) starts with y for each i among the last `longest_token` ends of the window. Whatever
// follows, the true merge has a boundary at one such i, and by 1 starts with the merge of window[0,
// i). By 2 this is A up to c, then the merge of window[c, i). So the tokens of A before c are
// final, c is a boundary, and by 1 merging may start afresh from c.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "core/interrupt.hpp"
#include "core/token/token_id.hpp"
#include "core/token/vocabulary.hpp"

namespace ai::token {

class LongMerge {
 public:
  /// Windows of `window` bytes, which must be positive; it is a parameter for the sake of tests.
  LongMerge(const Vocabulary& vocabulary, std::string_view piece, InterruptCheck pending,
            std::size_t window = kDefaultWindow);

  /// The next tokens of the piece, never none, until all are given; then empty.
  const std::vector<Token>& Next();

 private:
  static constexpr std::size_t kDefaultWindow = 65536;

  /// What is known of the bytes that start at a place of the window. Only places where a token
  /// starts mean anything.
  struct Node {
    std::uint32_t end;       // of the token that starts here
    std::uint32_t previous;  // where the token before it starts
    TokenId id;
    TokenId pair;  // what it and the next token would become, or kNoToken
  };

  bool GiveUpTo(std::size_t limit);
  bool IsFinal(std::size_t begin, Token token);
  void Merge(std::string_view bytes);
  void SplitIntoBytes(std::string_view bytes);
  void OfferPair(std::string_view bytes, std::uint32_t start);
  Token TokenAt(std::string_view bytes, std::uint32_t start) const;

  const Vocabulary& vocabulary_;
  std::string_view rest_;  // what is not given yet; INVARIANT: it starts at a boundary of the merge
  InterruptCheck pending_;
  std::size_t window_;
  std::vector<Token> window_tokens_;
  std::vector<Token> given_;
  std::vector<Node> nodes_;
  std::vector<std::uint64_t> heap_;  // offers to merge, as Offer makes them; smallest first
};

}  // namespace ai::token
