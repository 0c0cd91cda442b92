#include "core/pipeline/hand.hpp"

#include <algorithm>

namespace ai::pipeline {

void Hand::Add(const RowPtr& row) {
  rows_.push_back(row);
  bytes_ += row->bytes;
  memory_.bytes += row->bytes;
}

void Hand::End(std::span<const RowPtr> rows) {
  for (const RowPtr& row : rows) {
    if (!std::exchange(row->over, true)) {
      bytes_ -= row->bytes;
      memory_.bytes -= row->bytes;
    }
  }
  std::erase_if(rows_, [](const RowPtr& row) { return row->over; });
}

void Hand::Clear() {
  End(std::vector<RowPtr>(rows_));
  ready_.clear();
  locked_.clear();
  unexplained_.clear();
}

std::vector<RowPtr> Hand::TakeReady() {
  std::vector<RowPtr> rows = std::exchange(ready_, {});
  std::erase_if(rows, [](const RowPtr& row) { return row->over; });
  return rows;
}

void Hand::PutBack(std::span<const RowPtr> rows) {
  ready_.insert(ready_.begin(), rows.begin(), rows.end());
}

void Hand::SetLocked(std::span<const RowPtr> rows, SteadyTime until) {
  locked_.insert(locked_.end(), rows.begin(), rows.end());
  locked_until_ = until;
}

void Hand::UnlockDue(SteadyTime now) {
  if (locked_until() <= now) {
    Ready(locked_);
    locked_.clear();
  }
}

}  // namespace ai::pipeline
