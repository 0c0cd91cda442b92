#include "worker/statements/work_rows.hpp"

#include "pg/compat.hpp"
#include "pg/guard.hpp"
#include "worker/process/process.hpp"
#include "worker/shared/shared_state.hpp"
#include "worker/statements/step.hpp"

namespace ai::worker {
namespace {

/// With asynchronous commit a server crash loses the last claims: the rows are still in the queue.
/// But if one of them caused the crash, that would never be detected; so after a crash claims are
/// committed synchronously.
void CommitDurably() {
  const DatabaseSlot* database = FindDatabase(MyDatabaseId);
  if (database == nullptr || !database->has_crashed) {
    return;
  }
  pg::Call([] {
    set_config_option("synchronous_commit", "on", PGC_USERSET, PGC_S_SESSION, GUC_ACTION_LOCAL,
                      true, 0, false);
  });
}

/// Serializes claims on a work table until the end of their transactions. An advisory lock could be
/// taken by any role; a lock with an object sub-id, as this one, by none: PostgreSQL has no
/// statement for it, and itself locks only whole objects.
bool TryLockClaims(Oid work) {
  constexpr std::uint16_t kClaims = 1;
  return pg::Call([work] {
    LOCKTAG tag;
    SET_LOCKTAG_OBJECT(tag, MyDatabaseId, RelationRelationId, work, kClaims);
    return LockAcquire(&tag, ExclusiveLock, false, true) != LOCKACQUIRE_NOT_AVAIL;
  });
}

}  // namespace

TidDatums::TidDatums(std::span<const Tid> tids) : pointers_(tids.size()) {
  for (std::size_t i = 0; i < tids.size(); ++i) {
    ItemPointerSet(&pointers_[i], tids[i].block, tids[i].offset);
  }
}

TidDatums::TidDatums(std::span<const pipeline::RowPtr> rows) : pointers_(rows.size()) {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    ItemPointerSet(&pointers_[i], rows[i]->tid.block, rows[i]->tid.offset);
  }
}

Datum TidDatums::Array() const {
  std::vector<Datum> elements;
  elements.reserve(pointers_.size());
  for (const ItemPointerData& pointer : pointers_) {
    elements.push_back(pg::TidDatum(&pointer));
  }
  return pg::ArrayDatum(TIDOID, elements);
}

namespace reading {

std::vector<Tid> TidArray(Datum value) {
  std::vector<Tid> tids;
  for (const ItemPointerData& pointer : pg::TidArray(value)) {
    tids.push_back(TidOf(pointer));
  }
  return tids;
}

policy::ContentHash Hash(Datum value) {
  policy::ContentHash hash = {};
  const auto bytes = pg::ByteaView(value);
  if (bytes.size() == hash.size()) {
    std::copy(bytes.begin(), bytes.end(), hash.begin());
  }
  return hash;
}

}  // namespace reading

std::vector<Tid> TidsFrom(const pg::Rows& rows) {
  const TidColumn tid(rows, "tid");
  std::vector<Tid> tids;
  tids.reserve(rows.count());
  for (std::uint64_t i = 0; i < rows.count(); ++i) {
    tids.push_back(tid[i]);
  }
  return tids;
}

void CheckFile(Oid table, Oid number) {
  if (FileOf(table).number != number) {
    throw TableRewritten();
  }
}

File FileOf(Oid table) {
  return pg::Call([table] {
    Relation relation = table_open(table, AccessShareLock);
    const File file = {pg::FileNumber(relation), RelationGetNumberOfBlocks(relation)};
    table_close(relation, NoLock);
    return file;
  });
}

std::vector<Tid> NotLoaded(std::span<const Tid> tids, std::span<const pipeline::LoadedRow> loaded) {
  TidSet done;
  for (const pipeline::LoadedRow& row : loaded) {
    done.insert(row.tid);
  }
  std::vector<Tid> rest;
  std::copy_if(tids.begin(), tids.end(), std::back_inserter(rest),
               [&](const Tid& tid) { return !done.contains(tid); });
  return rest;
}

std::optional<pipeline::Claimed> LockClaims(pg::Spi& spi, Oid work, std::int32_t vectorizer) {
  if (!TryLockClaims(work)) {
    return pipeline::Claimed{.busy = true};
  }
  const pg::Argument arguments[] = {{TEXTOID, pg::TextDatum(MyComponent())},
                                    {INT4OID, Int32GetDatum(vectorizer)}};
  const pg::Rows rows = spi.Execute("SELECT ai._pause_left($1, $2)", arguments);
  if (const auto left = rows.At(0, 0)) {
    return pipeline::Claimed{.pause_left = RoundedUp(DatumGetFloat8(*left))};
  }
  CommitDurably();
  return std::nullopt;
}

}  // namespace ai::worker
