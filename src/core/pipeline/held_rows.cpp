#include "core/pipeline/held_rows.hpp"

#include <algorithm>

namespace ai::pipeline {

void HeldRows::Add(const RowPtr& row) {
  rows_.push_back(row);
  bytes_ += row->bytes;
  memory_.bytes += row->bytes;
}

void HeldRows::End(std::span<const RowPtr> rows) {
  for (const RowPtr& row : rows) {
    if (!std::exchange(row->ended, true)) {
      bytes_ -= row->bytes;
      memory_.bytes -= row->bytes;
    }
  }
  std::erase_if(rows_, [](const RowPtr& row) { return row->ended; });
}

void HeldRows::Clear() {
  End(std::vector<RowPtr>(rows_));
  ready_.clear();
  locked_.clear();
  unexplained_.clear();
}

std::vector<RowPtr> HeldRows::TakeReady() {
  std::vector<RowPtr> rows = std::exchange(ready_, {});
  std::erase_if(rows, [](const RowPtr& row) { return row->ended; });
  return rows;
}

void HeldRows::PutBack(std::span<const RowPtr> rows) {
  ready_.insert(ready_.begin(), rows.begin(), rows.end());
}

void HeldRows::SetLocked(std::span<const RowPtr> rows, SteadyTime until) {
  locked_.insert(locked_.end(), rows.begin(), rows.end());
  locked_until_ = until;
}

void HeldRows::UnlockDue(SteadyTime now) {
  if (locked_until() <= now) {
    Ready(locked_);
    locked_.clear();
  }
}

}  // namespace ai::pipeline
