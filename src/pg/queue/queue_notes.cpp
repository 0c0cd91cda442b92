// INVARIANT: nothing in this file throws or owns C++ memory, so an ereport may pass through all of
// it.
#include "pg/queue/queue_notes.hpp"

#include <algorithm>

namespace ai::pg {

namespace {

constexpr int kMaxNotes = 16;

// Of the current transaction.
Oid notes[kMaxNotes];
int note_count = 0;

QueuedHook queued_hook = nullptr;

void OnTransactionEnd(XactEvent event, void* /*argument*/) {
  if (event != XACT_EVENT_COMMIT && event != XACT_EVENT_ABORT && event != XACT_EVENT_PREPARE) {
    return;
  }
  if (event == XACT_EVENT_COMMIT && note_count > 0 && queued_hook != nullptr) {
    queued_hook(notes, note_count);
  }
  note_count = 0;
}

}  // namespace

void InstallQueueNotes() {
  RegisterXactCallback(OnTransactionEnd, nullptr);
}

void NoteQueueWritten(Oid queue) noexcept {
  Oid* end = notes + note_count;
  if (std::find(notes, end, queue) != end) {
    return;
  }
  if (note_count == kMaxNotes) {
    notes[0] = kEverything;
    note_count = 1;
    return;
  }
  notes[note_count++] = queue;
}

void SetQueuedHook(QueuedHook hook) {
  queued_hook = hook;
}

}  // namespace ai::pg
