#include "worker/places.hpp"

#include "pg/compat.hpp"
#include "pg/guard.hpp"
#include "worker/lane.hpp"
#include "worker/process.hpp"
#include "worker/shared_state.hpp"

namespace ai::worker {
namespace {

/// When the server goes down, the last claims are lost, since nobody waits for the disk: the rows
/// are in the queue still. But if it was one of them that took it down, nobody would ever know; so
/// after a crash claims are made to last.
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

/// Claimers of a table of work come one by one, until the end of their transactions. An advisory
/// lock could be taken by any role; a lock on a part of an object, as this one is, by none:
/// PostgreSQL has no statement for it, and takes such locks on catalogs' objects as a whole only.
bool TryLockClaims(Oid work) {
  constexpr std::uint16_t kClaims = 1;
  return pg::Call([work] {
    LOCKTAG tag;
    SET_LOCKTAG_OBJECT(tag, MyDatabaseId, RelationRelationId, work, kClaims);
    return LockAcquire(&tag, ExclusiveLock, false, true) != LOCKACQUIRE_NOT_AVAIL;
  });
}

}  // namespace

void CheckPlaces(const Lane& lane) {
  if (FileOf(lane.vectorizer->work).number != lane.work_file) {
    throw LostPlaces();
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

std::vector<Place> NotRead(std::span<const Place> places, std::span<const Read> reads) {
  std::set<Place, PlaceOrder> done;
  for (const Read& read : reads) {
    done.insert(read.place);
  }
  std::vector<Place> rest;
  std::copy_if(places.begin(), places.end(), std::back_inserter(rest),
               [&](const Place& place) { return !done.contains(place); });
  return rest;
}

Taken LockClaims(pg::Spi& spi, Oid work, std::int32_t vectorizer) {
  Taken taken;
  if (!TryLockClaims(work)) {
    taken.busy = true;
    return taken;
  }
  const pg::Argument arguments[] = {{TEXTOID, pg::TextDatum(MyComponent())},
                                    {INT4OID, Int32GetDatum(vectorizer)}};
  const pg::Rows rows = spi.Execute("SELECT ai._pause_left($1, $2)", arguments);
  if (const auto left = rows.At(0, 0)) {
    taken.pause_left = RoundedUp(DatumGetFloat8(*left));
  }
  CommitDurably();
  return taken;
}

policy::ContentHash HashOf(std::optional<Datum> bytea) {
  policy::ContentHash hash = {};
  if (bytea) {
    const auto bytes = pg::ByteaView(*bytea);
    if (bytes.size() == hash.size()) {
      std::copy(bytes.begin(), bytes.end(), hash.begin());
    }
  }
  return hash;
}

}  // namespace ai::worker
