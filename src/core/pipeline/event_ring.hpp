// A lock-free multi-producer broadcast ring of ids in shared memory, with a cursor in each reading
// process. Nobody waits, and publishing takes no lock.
//
// INVARIANT: no change is missed. After a change was made and then published, the next Take of
// every reader returns its id or kOverflow; unless the reader has already taken that id and reads
// the changed data only afterwards, so that it sees the change.
//   Publish draws a sequence number and writes the id, stamped with that number, to its slot. Take
//   reads the slots of all numbers drawn since its cursor. A slot with a different stamp either
//   was not written yet or has been overwritten, perhaps by a slow publisher: either way Take
//   returns kOverflow, and the change is already visible, since it precedes the number. So an
//   event is read or known to be missed, never skipped. (A stamp has 32 bits: no publisher is slow
//   for exactly 2^32 events.)
//   An id is not published again while it is the newest and no reader has taken it. The publisher
//   makes its change, then (fence) sees that the entry was not taken; the reader marks the entry
//   as taken, then (fence) reads what has changed. One of the two fences comes first: either
//   the publisher sees the mark, and publishes, or the reader sees the change.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace ai::pipeline {

enum class Taken : std::uint8_t { kAll, kOverflow };

/// Plain data for shared memory: trivially destructible, no pointers, all of it atomic.
template <std::size_t kSize>
class EventRing final {
  static_assert((kSize & (kSize - 1)) == 0,
                "slots must stay aligned when sequence numbers wrap "
                "around");
  static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

 public:
  /// The position of a reader. A new reader starts at 0; its first Take returns kOverflow.
  using Cursor = std::uint64_t;

  /// What the id stands for has changed, visibly for everybody. False if the newest event already
  /// says so.
  bool Publish(std::uint32_t id) noexcept {
    std::atomic_thread_fence(std::memory_order_seq_cst);
    const Cursor end = next_.load();
    if (SlotOf(end - 1).load() == Stamped(end - 1, id) && taken_.load() < end) {
      return false;
    }
    const Cursor sequence = next_.fetch_add(1);
    SlotOf(sequence).store(Stamped(sequence, id));
    return true;
  }

  /// Whether there are events to take.
  bool HasEvents(Cursor cursor) const noexcept { return next_.load() != cursor; }

  /// Returns the cursor after all events so far, without reading them. Read what they stand for
  /// afterwards, not before.
  Cursor SkipAll() noexcept {
    const Cursor end = next_.load();
    NoteTaken(end);
    std::atomic_thread_fence(std::memory_order_seq_cst);
    return end;
  }

  /// Calls each(id) for every event since the cursor, and advances it. Read what the ids stand for
  /// afterwards, not before.
  template <typename Each>
  Taken Take(Cursor& cursor, Each&& each) {
    const Cursor end = SkipAll();
    Taken result = end - cursor > kSize ? Taken::kOverflow : Taken::kAll;
    for (; result == Taken::kAll && cursor != end; ++cursor) {
      const std::uint64_t entry = SlotOf(cursor).load();
      const auto id = static_cast<std::uint32_t>(entry);
      if (entry != Stamped(cursor, id)) {
        result = Taken::kOverflow;
      } else {
        each(id);
      }
    }
    cursor = end;
    return result;
  }

 private:
  static std::uint64_t Stamped(Cursor sequence, std::uint32_t id) noexcept {
    return sequence << 32 | id;
  }

  std::atomic<std::uint64_t>& SlotOf(Cursor sequence) noexcept { return slots_[sequence % kSize]; }

  void NoteTaken(Cursor end) noexcept {
    Cursor taken = taken_.load();
    while (taken < end && !taken_.compare_exchange_weak(taken, end)) {
    }
  }

  std::atomic<Cursor> next_{kSize + 1};  // sequence number; a new cursor is too far behind
  std::atomic<Cursor> taken_{0};         // the maximum of all cursors
  std::atomic<std::uint64_t> slots_[kSize] = {};
};

}  // namespace ai::pipeline
