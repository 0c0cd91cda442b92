// See semchunk_window.hpp.
#include "core/text/semchunk_window.hpp"

namespace ai::text {

void DelimiterWindow::Move(std::size_t from, std::size_t to) {
  while (scanner_.begin() <= to && !has_end_) {
    const Strength strength = scanner_.strength();
    while (!queue_.empty() && queue_.back().strength <= strength) {
      queue_.pop_back();
    }
    queue_.push_back({scanner_.begin(), strength});
    has_end_ = scanner_.at_end();
    scanner_.Advance();
  }
  while (!queue_.empty() && queue_.front().begin < from) {
    queue_.pop_front();
  }
}

Delimiter DelimiterWindow::Strongest(std::size_t otherwise) const {
  return queue_.empty() ? Delimiter{otherwise, kCharacterStrength} : queue_.front();
}

}  // namespace ai::text
