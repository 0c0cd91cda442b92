#include "worker/pipeline/request_slots.hpp"

#include <algorithm>

#include "worker/process/child.hpp"

namespace ai::worker {

namespace {

/// What a worker has reserved for a vectorizer, or null.
SlotNote* NoteOf(WorkerSlot& worker, std::int32_t vectorizer) {
  const auto found = std::find_if(
      std::begin(worker.slot_notes), std::end(worker.slot_notes),
      [&](const SlotNote& note) { return note.count > 0 && note.vectorizer == vectorizer; });
  return found == std::end(worker.slot_notes) ? nullptr : found;
}

SlotNote* FreeNote(WorkerSlot& worker) {
  const auto found = std::find_if(std::begin(worker.slot_notes), std::end(worker.slot_notes),
                                  [](const SlotNote& note) { return note.count == 0; });
  return found == std::end(worker.slot_notes) ? nullptr : found;
}

/// Without those of a process that was declared dead, however long it takes to exit.
std::size_t TakenByOthers(DatabaseSlot& database, const WorkerSlot& mine, std::int32_t vectorizer) {
  std::size_t taken = 0;
  for (WorkerSlot& worker : database.workers) {
    if (&worker != &mine && worker.process.pid != 0 && !worker.process.life.declared_dead) {
      const SlotNote* note = NoteOf(worker, vectorizer);
      taken += note != nullptr ? note->count : 0;
    }
  }
  return taken;
}

}  // namespace

RequestSlots::RequestSlots()
    : database_(*FindDatabase(MyDatabaseId)), mine_(database_.workers[MyNumber()]) {
  const SharedLock lock;
  for (SlotNote& note : mine_.slot_notes) {
    note = {};
  }
}

std::size_t RequestSlots::Keep(std::int32_t vectorizer, std::size_t wanted, std::size_t limit) {
  const SharedLock lock;
  const std::size_t taken = TakenByOthers(database_, mine_, vectorizer);
  SlotNote* note = NoteOf(mine_, vectorizer);
  const std::size_t had = note != nullptr ? note->count : 0;
  // It may keep what it has, even if the limit was lowered.
  const std::size_t left = limit > taken ? limit - taken : 0;
  const std::size_t kept = std::min(wanted, std::max(left, had));
  if (note == nullptr) {
    note = FreeNote(mine_);
  }
  if (note == nullptr) {
    return 0;
  }
  *note = {vectorizer, static_cast<std::uint32_t>(kept)};
  return kept;
}

}  // namespace ai::worker
