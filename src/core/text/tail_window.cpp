// See tail_window.hpp.
#include "core/text/tail_window.hpp"

#include <algorithm>

namespace ai::text {
namespace {

constexpr std::size_t kFirstRoom = 128;

}  // namespace

void TailWindow::Keep(std::size_t limit, std::size_t count) {
  std::size_t first = count_;
  total_ = 0;
  while (first > 0 && count_ - first < count) {
    const std::size_t gap = first == count_ ? 0 : gap_;
    const std::size_t total = total_ + gap + pieces_[first - 1].length;
    if (total > limit) {
      break;
    }
    total_ = total;
    --first;
  }
  std::copy(pieces_.begin() + static_cast<std::ptrdiff_t>(first),
            pieces_.begin() + static_cast<std::ptrdiff_t>(count_), pieces_.begin());
  count_ -= first;
}

void TailWindow::MakeRoom() {
  Keep(limit_, kAnyNumber);
  // Half of it free, so that the next time is far away.
  pieces_.resize(std::max({kFirstRoom, pieces_.size(), 2 * count_}));
}

}  // namespace ai::text
