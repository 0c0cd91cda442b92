#include "worker/places.hpp"

#include "pg/compat.hpp"
#include "pg/guard.hpp"
#include "worker/lane.hpp"

namespace ai::worker {

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

bool LockClaims(pg::Spi& spi, std::int32_t vectorizer) {
  constexpr std::int32_t kClaims = 0x61695F71;  // the first half of the key of the advisory lock
  const pg::Argument arguments[] = {{INT4OID, Int32GetDatum(kClaims)},
                                    {INT4OID, Int32GetDatum(vectorizer)}};
  const pg::Rows rows =
      spi.Execute("SELECT pg_catalog.pg_try_advisory_xact_lock($1, $2)", arguments);
  return DatumGetBool(*rows.At(0, 0));
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
