// The rows that a worker has of one queue, from the moment they are loaded until they are over, and
// which of them have to be stored.
#pragma once

#include <cstdint>

#include "core/clock.hpp"
#include "core/pipeline/demand.hpp"
#include "core/pipeline/row.hpp"

namespace ai::pipeline {

/// How much all queues of a worker have in hand.
struct Memory {
  std::size_t bytes = 0;
};

/// A row that could not be stored, even alone, for a reason that may be its own or the table's.
struct Unexplained {
  RowPtr row;
  StepFailure failure;
  std::uint64_t stores_before;  // of the queue
};

class Hand final {
 public:
  explicit Hand(Memory& memory) : memory_(memory) {}
  ~Hand() { End(std::vector<RowPtr>(rows_)); }
  Hand(const Hand&) = delete;
  Hand& operator=(const Hand&) = delete;

  void Add(const RowPtr& row);
  /// These are stored, released, or with somebody else.
  void End(std::span<const RowPtr> rows);
  void Clear();

  const std::vector<RowPtr>& rows() const { return rows_; }
  std::size_t bytes() const { return bytes_; }

  // To be stored.
  void Ready(const RowPtr& row) { ready_.push_back(row); }
  void Ready(std::span<const RowPtr> rows) {
    ready_.insert(ready_.end(), rows.begin(), rows.end());
  }
  /// Those that are not over; they are at no station then.
  std::vector<RowPtr> TakeReady();
  void PutBack(std::span<const RowPtr> rows);
  bool has_ready() const { return !ready_.empty(); }

  // Those that somebody else has locked, until they are tried again.
  void SetLocked(std::span<const RowPtr> rows, SteadyTime until);
  /// They are ready when their time has come.
  void UnlockDue(SteadyTime now);
  SteadyTime locked_until() const { return locked_.empty() ? kNever : locked_until_; }

  // Those that could not be stored: whose fault it is, others will tell.
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
