// The last pieces of a growing chunk, from which the overlap of the next one is taken.
//
// Pieces too far from the end can never be carried over, because lengths only add up. They are
// forgotten now and then rather than one by one, which keeps the common path short, and the memory
// in proportion to the overlap even for a chunk of a million pieces.
#pragma once

#include <cstddef>
#include <limits>
#include <vector>

#include "core/text/pattern.hpp"

namespace ai::text {

class TailWindow {
 public:
  static constexpr std::size_t kAnyNumber = std::numeric_limits<std::size_t>::max();

  /// Starts empty. Keep will not be asked for more than limit, and counts gap between any two
  /// pieces.
  void Reset(std::size_t limit, std::size_t gap) {
    limit_ = limit;
    gap_ = gap;
    Clear();
  }

  void Push(Span piece, std::size_t length) {
    if (count_ == pieces_.size()) {
      MakeRoom();
    }
    Piece& slot = pieces_[count_++];
    slot.begin = piece.begin;
    slot.length = length;
    slot.end = piece.end;
  }

  /// Keeps as many of the last pieces as sum up to at most limit, and not more than count.
  void Keep(std::size_t limit, std::size_t count);

  void Clear() {
    count_ = 0;
    total_ = 0;
  }

  /// These describe what Keep kept, until the next Push.
  bool empty() const { return count_ == 0; }
  std::size_t size() const { return count_; }
  std::size_t total() const { return total_; }
  Span operator[](std::size_t index) const { return {pieces_[index].begin, pieces_[index].end}; }

 private:
  // The order of the members matters: g++ 12 at -O2 would copy begin and end side by side in one
  // move, from where two moves just put them, and the processor stalls on that at every piece.
  struct Piece {
    std::size_t begin;
    std::size_t length;
    std::size_t end;
  };

  void MakeRoom();

  std::vector<Piece> pieces_;  // the first count_ are in use
  std::size_t count_ = 0;
  std::size_t limit_ = 0;
  std::size_t gap_ = 0;
  std::size_t total_ = 0;
};

}  // namespace ai::text
