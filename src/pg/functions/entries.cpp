// Counts the entries of a vectorizer's queue, work table and failed table, by reading the first
// entries of each: for views over many vectorizers, where planning a query for each would dominate.
// Never waits and keeps no lock: a thousand vectorizers in one transaction would exhaust the lock
// table.
//
// INVARIANT: nothing here owns C++ memory, so an ereport may pass through.
#include <algorithm>
#include <cmath>

#include "pg/free_table.hpp"
#include "pg/guard.hpp"

namespace {

/// Up to this many entries of a table are counted; beyond that, the number is estimated.
constexpr std::int64_t kMax = 10'000;

/// The entries of a table that were read, and the pages they are in.
struct Count {
  std::int64_t entries = 0;
  BlockNumber first = 0;
  BlockNumber last = 0;
  BlockNumber pages = 0;  // of the table

  bool IsWhole() const { return entries <= kMax; }

  /// A table is consumed from its start, so the estimate covers the pages from that of the first
  /// entry on.
  std::int64_t All() const {
    const double density = static_cast<double>(entries) / (last - first + 1.0);
    return IsWhole() ? entries
                     : std::max<std::int64_t>(entries, std::llrint(density * (pages - first)));
  }

  /// Extrapolates a count of the entries read to all entries.
  std::int64_t Share(std::int64_t some) const {
    return IsWhole() ? some
                     : std::llrint(static_cast<double>(some) / static_cast<double>(entries) *
                                   static_cast<double>(All()));
  }
};

struct Hashes {
  std::uint64_t* values = nullptr;
  std::size_t count = 0;

  std::uint64_t* begin() const { return values; }
  std::uint64_t* end() const { return values + count; }

  void Add(std::uint64_t hash) {
    constexpr std::size_t kFirst = 64;
    if (count == 0) {
      values = static_cast<std::uint64_t*>(palloc(kFirst * sizeof(hash)));
    } else if (count >= kFirst && (count & (count - 1)) == 0) {
      values = static_cast<std::uint64_t*>(repalloc(values, 2 * count * sizeof(hash)));
    }
    values[count++] = hash;
  }
};

/// Hashes of the keys of two tables. Equal keys have equal hashes. User-defined types are left to
/// queries, which treat them as workers do.
struct Hasher {
  int columns = 0;  // the first ones
  bool works = true;
  TypeCacheEntry* types[INDEX_MAX_KEYS];
  Oid collations[INDEX_MAX_KEYS];
  MemoryContext scratch = nullptr;

  void Prepare(TupleDesc table, TupleDesc other) {
    works = columns > 0 && columns <= std::min({INDEX_MAX_KEYS, table->natts, other->natts});
    for (int i = 0; works && i < columns; ++i) {
      const FormData_pg_attribute* column = TupleDescAttr(table, i);
      types[i] = lookup_type_cache(column->atttypid, TYPECACHE_HASH_EXTENDED_PROC_FINFO);
      collations[i] = column->attcollation;
      works = column->atttypid == TupleDescAttr(other, i)->atttypid &&
              types[i]->typtype == TYPTYPE_BASE &&
              OidIsValid(types[i]->hash_extended_proc_finfo.fn_oid);
    }
  }

  std::uint64_t Hash(TupleTableSlot* slot) {
    MemoryContext before = MemoryContextSwitchTo(scratch);
    std::uint64_t hash = 0;
    for (int i = 0; works && i < columns; ++i) {
      bool is_null = false;
      const Datum value = slot_getattr(slot, i + 1, &is_null);
      hash = hash_combine64(
          hash, DatumGetUInt64(FunctionCall2Coll(&types[i]->hash_extended_proc_finfo, collations[i],
                                                 value, UInt64GetDatum(0))));
    }
    MemoryContextSwitchTo(before);
    MemoryContextReset(scratch);
    return hash;
  }
};

/// Reads the first entries, from the first page on, without synchronized scanning.
template <typename Visit>
Count ReadFirst(Relation table, const Visit& visit) {
  Count count{.pages = RelationGetNumberOfBlocks(table)};
  if (count.pages == 0) {
    return count;
  }
  TableScanDesc scan = table_beginscan_strat(table, GetActiveSnapshot(), 0, nullptr, true, false);
  TupleTableSlot* slot = table_slot_create(table, nullptr);
  while (count.IsWhole() && table_scan_getnextslot(scan, ForwardScanDirection, slot)) {
    count.last = ItemPointerGetBlockNumber(&slot->tts_tid);
    count.first = count.entries == 0 ? count.last : count.first;
    ++count.entries;
    visit(slot);
  }
  ExecDropSingleTupleTableSlot(slot);
  table_endscan(scan);
  return count;
}

/// A column of a table that has it.
struct Column {
  AttrNumber number;

  Column(Relation table, const char* name)
      : number(static_cast<AttrNumber>(SPI_fnumber(RelationGetDescr(table), name))) {
    if (number <= 0) {
      elog(ERROR, "\"%s\" has no column \"%s\"", RelationGetRelationName(table), name);
    }
  }

  std::optional<Datum> Of(TupleTableSlot* slot) const {
    bool is_null = false;
    const Datum value = slot_getattr(slot, number, &is_null);
    return is_null ? std::nullopt : std::optional(value);
  }
};

/// The earlier of two times, ignoring unset ones.
std::optional<TimestampTz> Earlier(std::optional<TimestampTz> one, std::optional<Datum> other) {
  if (!other) {
    return one;
  }
  const TimestampTz time = DatumGetTimestampTz(*other);
  return one ? std::min(*one, time) : time;
}

struct Entries {
  Count queue;
  Count work;
  Count failed;
  std::int64_t running = 0;
  std::int64_t retrying = 0;
  std::optional<std::int64_t> fresh;  // rows in the queue and not in the work table
  std::optional<TimestampTz> oldest;
  std::optional<TimestampTz> next_retry;
  std::optional<Datum> error;  // of the row that was tried last
  std::optional<TimestampTz> error_at;
};

/// Rows in the queue that are not in the work table, each once.
std::int64_t CountFresh(const Hashes& queue, const Hashes& work) {
  std::sort(queue.begin(), queue.end());
  std::sort(work.begin(), work.end());
  return std::count_if(
      queue.begin(), std::unique(queue.begin(), queue.end()),
      [&](std::uint64_t hash) { return !std::binary_search(work.begin(), work.end(), hash); });
}

void ReadWork(Relation work, Entries& found, Hasher& hasher, Hashes& hashes) {
  const Column queued_at(work, "queued_at"), retry_at(work, "retry_at"), lease(work, "lease"),
      taken_at(work, "taken_at"), error(work, "error");
  const TimestampTz now = GetCurrentTransactionStartTimestamp();
  found.work = ReadFirst(work, [&](TupleTableSlot* slot) {
    const auto retry = retry_at.Of(slot);
    found.oldest = Earlier(found.oldest, queued_at.Of(slot));
    if (found.queue.entries > 0) {
      hashes.Add(hasher.Hash(slot));
    }
    if (lease.Of(slot)) {
      ++found.running;
    } else if (retry && DatumGetTimestampTz(*retry) > now) {
      ++found.retrying;
      found.next_retry = Earlier(found.next_retry, retry);
    }
    const auto message = error.Of(slot);
    const auto at = taken_at.Of(slot);
    if (message &&
        (!found.error || (at && (!found.error_at || DatumGetTimestampTz(*at) > *found.error_at)))) {
      found.error = PointerGetDatum(PG_DETOAST_DATUM_COPY(*message));
      found.error_at = Earlier(std::nullopt, at);
    }
  });
}

Entries ReadAll(Relation queue, Relation work, Relation failed, int key_columns) {
  Entries found;
  Hasher hasher{.columns = key_columns};
  hasher.scratch = AllocSetContextCreate(CurrentMemoryContext, "ai keys", ALLOCSET_DEFAULT_SIZES);
  hasher.Prepare(RelationGetDescr(queue), RelationGetDescr(work));
  Hashes in_queue;
  Hashes in_work;
  const Column queued_at(queue, "queued_at");
  found.queue = ReadFirst(queue, [&](TupleTableSlot* slot) {
    found.oldest = Earlier(found.oldest, queued_at.Of(slot));
    in_queue.Add(hasher.Hash(slot));
  });
  ReadWork(work, found, hasher, in_work);
  found.failed = ReadFirst(failed, [](TupleTableSlot*) {});
  if (found.queue.entries == 0 || !found.queue.IsWhole()) {
    found.fresh = found.queue.All();
  } else if (hasher.works && found.work.IsWhole()) {
    found.fresh = CountFresh(in_queue, in_work);
  }
  return found;
}

}  // namespace

// ai._vectorizer_count_entries(queue, work, failed, key_columns): all null if a table was dropped
// or is locked.
AI_FUNCTION(ai_vectorizer_count_entries) {
  TupleDesc columns = nullptr;
  get_call_result_type(fcinfo, nullptr, &columns);
  Datum values[8] = {};
  bool nulls[8];
  std::fill(std::begin(nulls), std::end(nulls), true);
  ai::pg::FreeTable tables[] = {ai::pg::FreeTable(PG_GETARG_OID(0)),
                                ai::pg::FreeTable(PG_GETARG_OID(1)),
                                ai::pg::FreeTable(PG_GETARG_OID(2))};
  const bool all_there = std::all_of(std::begin(tables), std::end(tables), [](const auto& table) {
    return table.state == ai::pg::TableState::kOpen;
  });
  if (all_there) {
    const Entries found =
        ReadAll(tables[0].relation, tables[1].relation, tables[2].relation, PG_GETARG_INT32(3));
    const std::int64_t running = found.work.Share(found.running);
    const std::int64_t retrying = found.work.Share(found.retrying);
    const std::int64_t due = std::max<std::int64_t>(found.work.All() - running - retrying, 0);
    int column = 0;
    const auto put = [&](std::optional<Datum> value) {
      values[column] = value.value_or(0);
      nulls[column++] = !value;
    };
    const auto number = [](std::optional<std::int64_t> value, std::int64_t more = 0) {
      return value ? std::optional(Int64GetDatum(*value + more)) : std::nullopt;
    };
    put(number(found.fresh, due));
    put(number(running));
    put(number(retrying));
    put(number(found.failed.All()));
    put(number(found.oldest));
    put(number(found.next_retry));
    put(found.error);
    put(number(found.error_at));
  }
  for (ai::pg::FreeTable& table : tables) {
    table.Close();
  }
  return HeapTupleGetDatum(heap_form_tuple(columns, values, nulls));
}
