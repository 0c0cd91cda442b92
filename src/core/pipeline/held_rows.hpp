// The rows of one queue that a worker holds, from loading until their leases end, and which of them
// have to be stored.
#pragma once

#include <cstdint>

#include "core/clock.hpp"
#include "core/pipeline/demand.hpp"
#include "core/pipeline/row.hpp"

namespace ai::pipeline {

/// Memory used by all queues of a worker.
struct Memory {
  std::size_t bytes = 0;
};

/// A row that could not be stored, even alone: either the row or the table is at fault.
struct Unexplained {
  RowPtr row;
  StepFailure failure;
  std::uint64_t stores_before;  // of the queue
};

class HeldRows final {
 public:
  explicit HeldRows(Memory& memory) : memory_(memory) {}
  ~HeldRows() { End(std::vector<RowPtr>(rows_)); }
  HeldRows(const HeldRows&) = delete;
  HeldRows& operator=(const HeldRows&) = delete;

  void Add(const RowPtr& row);
  /// These rows have been stored, released, or lost to another process.
  void End(std::span<const RowPtr> rows);
  void Clear();

  const std::vector<RowPtr>& rows() const { return rows_; }
  std::size_t bytes() const { return bytes_; }

  // Rows ready to be stored.
  void Ready(const RowPtr& row) { ready_.push_back(row); }
  void Ready(std::span<const RowPtr> rows) {
    ready_.insert(ready_.end(), rows.begin(), rows.end());
  }
  /// Takes those that have not ended; they are in no stage then.
  std::vector<RowPtr> TakeReady();
  void PutBack(std::span<const RowPtr> rows);
  bool has_ready() const { return !ready_.empty(); }

  // Rows locked by others, until they are retried.
  void SetLocked(std::span<const RowPtr> rows, SteadyTime until);
  /// Makes those that are due ready again.
  void UnlockDue(SteadyTime now);
  SteadyTime locked_until() const { return locked_.empty() ? kNever : locked_until_; }

  // Rows that could not be stored; storing others will show which is at fault.
  std::vector<Unexplained> TakeUnexplained() { return std::exchange(unexplained_, {}); }
  void SetUnexplained(std::vector<Unexplained> rows) { unexplained_ = std::move(rows); }
  bool has_unexplained() const { return !unexplained_.empty(); }

 private:
  Memory& memory_;
  std::vector<RowPtr> rows_;
  std::size_t bytes_ = 0;
  std::vector<RowPtr> ready_;
  std::vector<RowPtr> locked_;
  SteadyTime locked_until_ = {};
  std::vector<Unexplained> unexplained_;
};

}  // namespace ai::pipeline
