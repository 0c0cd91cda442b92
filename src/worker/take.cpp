#include "worker/take.hpp"

#include "pg/compat.hpp"
#include "pg/datum.hpp"
#include "pg/guard.hpp"
#include "pg/role.hpp"
#include "worker/extension.hpp"
#include "worker/places.hpp"
#include "worker/process.hpp"
#include "worker/shared_state.hpp"

namespace ai::worker {
namespace {

using std::chrono::milliseconds;

/// The first half of our advisory locks' keys; the second is the vectorizer's number.
constexpr std::int32_t kClaimLock = 0x61695F71;
/// Rows that are read at once: what a row holds is only known when it is there.
constexpr long kReadPart = 16;

/// Suspects that are taken together: few enough to be taken one by one when a process dies with
/// them, and so many that thousands are soon through.
constexpr std::int64_t kSuspectGroup = 100;

/// One claim at a time for each vectorizer, so that every claimer sees what the others have; and
/// none while there is a pause.
Taken LockClaims(pg::Spi& spi, std::int32_t id) {
  const pg::Argument arguments[] = {{INT4OID, Int32GetDatum(kClaimLock)},
                                    {INT4OID, Int32GetDatum(id)},
                                    {TEXTOID, pg::TextDatum(MyComponent())}};
  const pg::Rows rows = spi.Execute(
      "SELECT pg_catalog.pg_try_advisory_xact_lock($1, $2), ai._pause_left($3, $2)", arguments);
  Taken taken;
  taken.busy = !DatumGetBool(*rows.At(0, 0));
  if (const auto left = rows.At(0, 1)) {
    taken.pause_left = RoundedUp(DatumGetFloat8(*left));
  }
  return taken;
}

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

/// The table's file and its number of pages.
struct File {
  Oid number;
  BlockNumber blocks;
};

File FileOf(Oid table) {
  return pg::Call([table] {
    Relation relation = table_open(table, AccessShareLock);
    const File file = {pg::FileNumber(relation), RelationGetNumberOfBlocks(relation)};
    table_close(relation, NoLock);
    return file;
  });
}

Place At(BlockNumber block, OffsetNumber offset) {
  Place place;
  ItemPointerSet(&place, block, offset);
  return place;
}

void TakeDueRetries(Lane& lane, pg::Spi& spi, Datum lease, std::size_t most) {
  const pg::Rows rows = lane.vectorizer->statements().retry_due.Execute(
      spi, {Int64GetDatum(static_cast<std::int64_t>(most)), lease});
  for (std::uint64_t i = 0; i < rows.count(); ++i) {
    lane.unread.push_back(pg::TidAt(*rows.At(i, 0)));
  }
  if (rows.count() < most) {
    lane.next_retry.reset();
  }
}

void TakeSuspects(Lane& lane, pg::Spi& spi, Datum lease) {
  const auto take = [&](bool alone, std::int64_t most) {
    const pg::Rows rows = lane.vectorizer->statements().suspects.Execute(
        spi, {BoolGetDatum(alone), Int64GetDatum(most), lease});
    for (std::uint64_t i = 0; i < rows.count(); ++i) {
      lane.unread.push_back(pg::TidAt(*rows.At(i, 0)));
    }
    return rows.count() > 0;
  };
  if (!take(true, 1) && !take(false, kSuspectGroup)) {
    lane.next_suspect.reset();
  }
}

void TakeChanges(Lane& lane, pg::Spi& spi, Datum lease, std::size_t most) {
  Walk& walk = lane.walk;
  if (!walk.under_way) {
    walk = {At(lane.walk_from, 0), FileOf(lane.vectorizer->queue).blocks, true, false};
  }
  Place end = At(walk.end, 0);
  const pg::Rows rows = lane.vectorizer->statements().claim.Execute(
      spi, {pg::TidDatum(&walk.next), pg::TidDatum(&end),
            Int64GetDatum(static_cast<std::int64_t>(most)), lease});
  if (const auto places = rows.At(0, 0)) {
    const std::vector<Place> taken = pg::TidArray(*places);
    lane.unread.insert(lane.unread.end(), taken.begin(), taken.end());
    walk.found = walk.found || !taken.empty();
  }
  const auto seen = static_cast<std::size_t>(DatumGetInt64(*rows.At(0, 1)));
  if (seen < most) {
    lane.changes = walk.found;  // the walk has ended; if it found nothing, there is nothing
    walk.under_way = false;
    return;
  }
  walk.next = pg::TidAt(*rows.At(0, 2));
  walk.next.ip_posid += 1;
}

Read ReadRow(const pg::Rows& rows, std::uint64_t row, std::size_t columns) {
  Read read{pg::TidAt(*rows.At(row, 0)), DatumGetInt32(*rows.At(row, 1)), std::nullopt, {}, {}};
  const auto text_at = [&](int column) -> std::optional<std::string> {
    const auto value = rows.At(row, column);
    return value ? std::optional(std::string(pg::Utf8View(*value))) : std::nullopt;
  };
  read.text = text_at(2);
  for (std::size_t i = 0; i < columns; ++i) {
    read.columns.push_back(text_at(static_cast<int>(3 + i)));
  }
  return read;
}

std::size_t SizeOf(const Read& read) {
  std::size_t size = read.text ? read.text->size() : 0;
  for (const auto& column : read.columns) {
    size += column ? column->size() : 0;
  }
  return size;
}

policy::ContentHash HashFrom(std::optional<Datum> bytea) {
  policy::ContentHash hash = {};
  if (bytea) {
    const auto bytes = pg::ByteaView(*bytea);
    if (bytes.size() == hash.size()) {
      std::copy(bytes.begin(), bytes.end(), hash.begin());
    }
  }
  return hash;
}

void ReadOldChunks(Lane& lane, pg::Spi& spi, std::vector<Read>& reads) {
  std::map<Place, Read*, PlaceOrder> by_place;
  std::vector<Place> places;
  for (Read& read : reads) {
    by_place[read.place] = &read;
    places.push_back(read.place);
  }
  const pg::Rows rows = lane.vectorizer->statements().chunks->Execute(spi, {PlacesDatum(places)});
  for (std::uint64_t i = 0; i < rows.count(); ++i) {
    const auto found = by_place.find(pg::TidAt(*rows.At(i, 0)));
    if (found != by_place.end()) {
      found->second->old_chunks.emplace_back(DatumGetInt32(*rows.At(i, 1)),
                                             HashFrom(rows.At(i, 2)));
    }
  }
}

/// Those of places that are not among the reads.
std::vector<Place> Without(const std::vector<Place>& places, const std::vector<Read>& reads) {
  std::set<Place, PlaceOrder> done;
  for (const Read& read : reads) {
    done.insert(read.place);
  }
  std::vector<Place> rest;
  std::copy_if(places.begin(), places.end(), std::back_inserter(rest),
               [&](const Place& place) { return !done.contains(place); });
  return rest;
}

}  // namespace

void CheckPlaces(const Lane& lane) {
  if (FileOf(lane.vectorizer->work).number != lane.work_file) {
    throw LostPlaces();
  }
}

milliseconds RoundedUp(double count) {
  return milliseconds(static_cast<std::int64_t>(std::clamp(count, 0.0, 1e9)) + 1);
}

Taken TakeRows(Lane& lane, Datum lease, std::size_t most, Wanted wanted) {
  WorkTransaction transaction;
  {
    pg::Spi spi;
    const Taken taken = LockClaims(spi, lane.vectorizer->id);
    if (taken.busy || taken.pause_left) {
      return taken;
    }
    CommitDurably();
    if (lane.idle()) {
      lane.work_file = FileOf(lane.vectorizer->work).number;
    }
    CheckPlaces(lane);
    if (wanted == Wanted::kSuspects) {
      TakeSuspects(lane, spi, lease);
    }
    if (wanted == Wanted::kRetries) {
      TakeDueRetries(lane, spi, lease, most);
    }
    if (wanted != Wanted::kSuspects && lane.changes && lane.unread.size() < most) {
      TakeChanges(lane, spi, lease, most - lane.unread.size());
    }
  }
  transaction.Commit();
  return {};
}

std::vector<Read> ReadRows(Lane& lane, std::size_t bytes) {
  std::vector<Read> reads;
  Vectorizer& vectorizer = *lane.vectorizer;
  bool all = true;
  WorkTransaction transaction;
  {
    const pg::RoleScope as_owner(vectorizer.owner, pg::RoleTrust::kUsers);
    pg::Spi spi;
    std::size_t total = 0;
    const Datum places = PlacesDatum(lane.unread);
    vectorizer.statements().read.Fetch(spi, {places}, kReadPart, [&](const pg::Rows& rows) {
      for (std::uint64_t i = 0; i < rows.count(); ++i) {
        reads.push_back(ReadRow(rows, i, vectorizer.columns().size()));
        total += SizeOf(reads.back());
      }
      all = total < bytes;
      return all;
    });
    if (!vectorizer.column() && !reads.empty()) {
      ReadOldChunks(lane, spi, reads);
    }
  }
  transaction.Commit();
  // Rows that are not in the table of work any more are with somebody else by now.
  lane.unread = all ? std::vector<Place>() : Without(lane.unread, reads);
  return reads;
}

std::vector<std::pair<policy::ContentHash, VectorOf>> FindVectors(
    Vectorizer& vectorizer, std::span<const Place> places,
    std::span<const policy::ContentHash> hashes) {
  std::vector<std::pair<policy::ContentHash, VectorOf>> found;
  WorkTransaction transaction;
  {
    const pg::RoleScope as_owner(vectorizer.owner, pg::RoleTrust::kUsers);
    pg::Spi spi;
    const auto keep = [&](const pg::Rows& rows, int hash_column) {
      for (std::uint64_t i = 0; i < rows.count(); ++i) {
        const auto values = pg::VectorView(*rows.At(i, hash_column + 1));
        auto reply = std::make_shared<provider::Embeddings>();
        reply->dimensions = values.size();
        reply->values.assign(values.begin(), values.end());
        found.emplace_back(HashFrom(rows.At(i, hash_column)), VectorOf{std::move(reply), 0});
      }
    };
    if (vectorizer.reuse()) {
      std::vector<Datum> elements;
      for (const policy::ContentHash& hash : hashes) {
        elements.push_back(pg::ByteaDatum(hash));
      }
      keep(vectorizer.statements().reuse->Execute(spi, {pg::ArrayDatum(BYTEAOID, elements)}), 0);
    } else {
      keep(vectorizer.statements().vectors->Execute(spi, {PlacesDatum(places)}), 1);
    }
  }
  transaction.Commit();
  return found;
}

}  // namespace ai::worker
