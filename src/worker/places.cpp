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

Taken LockClaims(pg::Spi& spi, std::int32_t vectorizer) {
  constexpr std::int32_t kClaims = 0x61695F71;  // the first half of the key of the advisory lock
  const pg::Argument arguments[] = {{INT4OID, Int32GetDatum(kClaims)},
                                    {INT4OID, Int32GetDatum(vectorizer)},
                                    {TEXTOID, pg::TextDatum(MyComponent())}};
  const pg::Rows rows = spi.Execute(
      "SELECT pg_catalog.pg_try_advisory_xact_lock($1, $2), ai._pause_left($3, $2)", arguments);
  Taken taken;
  taken.busy = !DatumGetBool(*rows.At(0, 0));
  if (const auto left = rows.At(0, 1)) {
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
