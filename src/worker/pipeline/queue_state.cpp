// INVARIANT: nothing owns C++ memory while the tables are open, so an ereport may pass through.
#include "worker/pipeline/queue_state.hpp"

#include <algorithm>

#include "pg/compat.hpp"
#include "pg/guard.hpp"

namespace ai::worker {
namespace {

/// Changes are added at the end of the queue, and a scan from its start has to skip dead entries
/// until the next vacuum; so the last pages are read first.
constexpr BlockNumber kLastPages = 8;

/// The first entry that a scan finds; from an index also the values of its columns.
struct Entry {
  bool found = false;
  ItemPointerData tid = {};
  Datum values[2] = {};
  bool nulls[2] = {};
};

Entry FirstFrom(Relation queue, BlockNumber block, Snapshot snapshot) {
  ItemPointerData least;
  ItemPointerData most;
  ItemPointerSet(&least, block, 0);
  ItemPointerSet(&most, MaxBlockNumber, MaxOffsetNumber);
  TupleTableSlot* slot = table_slot_create(queue, nullptr);
  TableScanDesc scan = table_beginscan_tidrange(queue, snapshot, &least, &most);
  Entry entry{.found = table_scan_getnextslot_tidrange(scan, ForwardScanDirection, slot)};
  entry.tid = slot->tts_tid;
  table_endscan(scan);
  ExecDropSingleTupleTableSlot(slot);
  return entry;
}

/// The index on these two columns, by name; null if it was dropped.
Relation OpenIndex(Relation table, const char* first, const char* second) {
  const int columns[] = {SPI_fnumber(RelationGetDescr(table), first),
                         SPI_fnumber(RelationGetDescr(table), second)};
  Relation result = nullptr;
  List* indexes = RelationGetIndexList(table);
  ListCell* cell = nullptr;
  foreach (cell, indexes) {
    Relation index = index_open(lfirst_oid(cell), AccessShareLock);
    const Form_pg_index form = index->rd_index;
    if (result == nullptr && form->indnkeyatts == 2 && form->indisvalid &&
        form->indkey.values[0] == columns[0] && form->indkey.values[1] == columns[1]) {
      result = index;
    } else {
      index_close(index, AccessShareLock);
    }
  }
  list_free(indexes);
  return result;
}

/// The first entry of an index, of those whose first column, a smallint, is above a number.
Entry FirstAbove(Relation table, Relation index, std::int16_t number, Snapshot snapshot) {
  ScanKeyData key;
  ScanKeyInit(&key, 1, BTGreaterStrategyNumber, F_INT2GT, Int16GetDatum(number));
  IndexScanDesc scan = pg::BeginIndexScan(table, index, snapshot, 1);
  index_rescan(scan, &key, 1, nullptr, 0);
  TupleTableSlot* slot = table_slot_create(table, nullptr);
  Entry entry{.found = index_getnext_slot(scan, ForwardScanDirection, slot)};
  for (int i = 0; entry.found && i < 2; ++i) {
    entry.values[i] = slot_getattr(slot, index->rd_index->indkey.values[i], &entry.nulls[i]);
  }
  index_endscan(scan);
  ExecDropSingleTupleTableSlot(slot);
  return entry;
}

void PollChanges(Relation queue, const QueueRequest& request, Snapshot snapshot,
                 QueueState& state) {
  const BlockNumber blocks = RelationGetNumberOfBlocks(queue);
  state.whole = request.whole || blocks <= kLastPages;
  if (blocks == 0) {
    return;
  }
  const Entry first = FirstFrom(queue, state.whole ? 0 : blocks - kLastPages, snapshot);
  if (first.found) {
    state.first_change = pipeline::Tid{ItemPointerGetBlockNumber(&first.tid),
                                       ItemPointerGetOffsetNumber(&first.tid)};
  }
  // The index begins with the highest priority.
  Relation index =
      first.found && request.by_priority ? OpenIndex(queue, "priority", "queued_at") : nullptr;
  if (index != nullptr) {
    const Entry highest = FirstAbove(queue, index, PG_INT16_MIN, snapshot);
    if (highest.found) {
      state.priority = DatumGetInt16(highest.values[0]);
    }
    index_close(index, AccessShareLock);
  }
}

/// Rows without a lease are indexed by the number of crashes and the time of their next attempt.
void PollRetries(Relation work, const QueueRequest& request, Snapshot snapshot, QueueState& state) {
  if (RelationGetNumberOfBlocks(work) == 0) {
    return;
  }
  Relation index = OpenIndex(work, "crashes", "retry_at");
  if (index == nullptr) {
    state.next_retry = GetCurrentTimestamp();  // the claim will find out
    return;
  }
  for (Entry entry = FirstAbove(work, index, -1, snapshot); entry.found;) {
    const std::int16_t crashes = DatumGetInt16(entry.values[0]);
    if (crashes > 0 && !request.suspects) {
      break;
    }
    std::optional<TimestampTz>& next = crashes == 0 ? state.next_retry : state.next_suspect;
    const TimestampTz retry_at = DatumGetTimestampTz(entry.values[1]);
    if (!entry.nulls[1]) {
      next = next ? std::min(*next, retry_at) : retry_at;
    }
    entry = FirstAbove(work, index, crashes, snapshot);
  }
  index_close(index, AccessShareLock);
}

}  // namespace

QueueState PollQueue(const QueueRequest& request) {
  QueueState state;
  pg::Call([&] {
    pg::FreeTable tables[] = {pg::FreeTable(request.queue), pg::FreeTable(request.work),
                              pg::FreeTable(request.failed)};
    for (const pg::FreeTable& table : tables) {
      state.tables = state.tables == pg::TableState::kOpen ? table.state : state.tables;
    }
    if (state.tables == pg::TableState::kOpen) {
      Snapshot snapshot = RegisterSnapshot(GetLatestSnapshot());
      PollChanges(tables[0].relation, request, snapshot, state);
      PollRetries(tables[1].relation, request, snapshot, state);
      UnregisterSnapshot(snapshot);
    }
    for (pg::FreeTable& table : tables) {
      table.Close();
    }
  });
  return state;
}

}  // namespace ai::worker
