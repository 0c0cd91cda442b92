// What has changed, told by many processes to many: a ring of ids in shared memory, and a cursor in
// each process that reads. Nobody waits for anybody, and who publishes takes no lock.
//
// INVARIANT: no change is missed. Of a change that was made and then published, every reader is
// told by its next Take, by its id or by kOverflow; unless it was told before and looks only now,
// so that it sees the change.
//
//   Publish draws a ticket and writes the id, stamped with the ticket, to the ticket's place. Take
//   reads the places of all tickets that were drawn since its cursor. A place with another stamp
//   was not written yet, or has been overwritten, perhaps by somebody who was slow: either way Take
//   says kOverflow, and the change can be seen already, since it came before the ticket. So a
//   ticket is read or known to be missed, never passed over. (A stamp has 32 bits: nobody is slow
//   for exactly 2^32 events.)
//
//   An id is not published again while it is the newest and no reader has taken it. The publisher
//   makes its change, then (fence) sees that nobody has taken the entry; the reader notes that it
//   takes the entry, then (fence) looks at what has changed. One of the two fences is the first:
//   either the publisher sees the note, and publishes, or the reader sees the change.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace ai::pipeline {

enum class Taken : std::uint8_t { kAll, kOverflow };

/// Plain data for shared memory: trivially destructible, no pointers, all of it atomic.
template <std::size_t kSize>
class EventRing final {
  static_assert((kSize & (kSize - 1)) == 0, "so that places are right when tickets begin anew");
  static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

 public:
  /// Up to where a reader has read. 0 is a new one's, whose first Take says kOverflow.
  using Cursor = std::uint64_t;

  /// What the id stands for has changed, and that can be seen by everybody. False if the last event
  /// says so already.
  bool Publish(std::uint32_t id) noexcept {
    std::atomic_thread_fence(std::memory_order_seq_cst);
    const Cursor end = next_.load();
    if (PlaceOf(end - 1).load() == Stamped(end - 1, id) && taken_.load() < end) {
      return false;
    }
    const Cursor ticket = next_.fetch_add(1);
    PlaceOf(ticket).store(Stamped(ticket, id));
    return true;
  }

  /// Whether there is something to take.
  bool HasNews(Cursor cursor) const noexcept { return next_.load() != cursor; }

  /// The cursor behind all events so far, for one who does not want to know which they are. Look at
  /// what they stand for afterwards, not before.
  Cursor PassOver() noexcept {
    const Cursor end = next_.load();
    NoteTaken(end);
    std::atomic_thread_fence(std::memory_order_seq_cst);
    return end;
  }

  /// Calls each(id) for every event since the cursor, and moves it. Look at what the ids stand for
  /// afterwards, not before.
  template <typename Each>
  Taken Take(Cursor& cursor, Each&& each) {
    const Cursor end = PassOver();
    Taken result = end - cursor > kSize ? Taken::kOverflow : Taken::kAll;
    for (; result == Taken::kAll && cursor != end; ++cursor) {
      const std::uint64_t entry = PlaceOf(cursor).load();
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
  static std::uint64_t Stamped(Cursor ticket, std::uint32_t id) noexcept {
    return ticket << 32 | id;
  }

  std::atomic<std::uint64_t>& PlaceOf(Cursor ticket) noexcept { return places_[ticket % kSize]; }

  void NoteTaken(Cursor end) noexcept {
    Cursor taken = taken_.load();
    while (taken < end && !taken_.compare_exchange_weak(taken, end)) {
    }
  }

  std::atomic<Cursor> next_{kSize + 1};  // ticket; a new cursor is too far behind the first one
  std::atomic<Cursor> taken_{0};         // the newest cursor of all readers
  std::atomic<std::uint64_t> places_[kSize] = {};
};

}  // namespace ai::pipeline
