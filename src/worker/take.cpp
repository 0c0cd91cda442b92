// Taking rows: from the queue, or from those whose time to be tried again has come; and reading
// their texts. The rows are with this worker when the transaction has committed.
#include "core/text/utf8.hpp"
#include "pg/datum.hpp"
#include "pg/guard.hpp"
#include "pg/owner_scope.hpp"
#include "pg/settings.hpp"
#include "worker/extension.hpp"
#include "worker/lane.hpp"
#include "worker/places.hpp"
#include "worker/vectorizer.hpp"

namespace ai::worker {
namespace {

/// Rows that are read at once, unless they are large; those are read one by one.
constexpr long kReadPart = 16;
constexpr std::size_t kLargeRow = std::size_t{256} << 10;

/// Suspects that are taken together: few enough to be taken one by one when a process dies with
/// them, and so many that thousands are soon through.
constexpr std::int64_t kSuspectGroup = 100;

Place At(BlockNumber block, OffsetNumber offset) {
  Place place;
  ItemPointerSet(&place, block, offset);
  return place;
}

void TakeDueRetries(Vectorizer& vectorizer, Lane& lane, pg::Spi& spi, Datum lease,
                    std::size_t most) {
  const pg::Rows rows = vectorizer.statements().retry_due.Execute(
      spi, {Int64GetDatum(static_cast<std::int64_t>(most)), lease});
  for (std::uint64_t i = 0; i < rows.count(); ++i) {
    lane.unread.push_back(pg::TidAt(*rows.At(i, 0)));
  }
  if (rows.count() < most) {
    lane.next_retry.reset();
  }
}

void TakeSuspects(Vectorizer& vectorizer, Lane& lane, pg::Spi& spi, Datum lease) {
  const auto take = [&](bool alone, std::int64_t most) {
    const pg::Rows rows = vectorizer.statements().suspects.Execute(
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

void TakeChanges(Vectorizer& vectorizer, Lane& lane, pg::Spi& spi, Datum lease, std::size_t most) {
  Walk& walk = lane.walk;
  if (!walk.under_way) {
    walk = {At(lane.walk_from, 0), FileOf(vectorizer.queue).blocks, true, false};
  }
  Place end = At(walk.end, 0);
  const pg::Rows rows = vectorizer.statements().claim.Execute(
      spi, {pg::TidDatum(&walk.next), pg::TidDatum(&end),
            Int64GetDatum(static_cast<std::int64_t>(most)), lease});
  if (const auto places = rows.At(0, 0)) {
    const std::vector<Place> taken = pg::TidArray(*places);
    lane.unread.insert(lane.unread.end(), taken.begin(), taken.end());
    walk.found = walk.found || !taken.empty();
  }
  const auto seen = static_cast<std::size_t>(DatumGetInt64(*rows.At(0, 1)));
  if (const auto priority = rows.At(0, 3); priority && vectorizer.by_priority()) {
    lane.priority = DatumGetInt32(*priority);  // nothing above it is left
  }
  if (seen < most) {
    lane.changes = walk.found;  // the walk has ended; if it found nothing, there is nothing
    walk.under_way = false;
    return;
  }
  walk.next = pg::TidAt(*rows.At(0, 2));
  walk.next.ip_posid += 1;
}

/// A text, or bytes that are one.
std::optional<std::string> TextAt(const pg::Rows& rows, std::uint64_t row, int column) {
  const auto value = rows.At(row, column);
  if (!value) {
    return std::nullopt;
  }
  if (rows.TypeOf(column) == BYTEAOID) {
    const auto bytes = pg::ByteaView(*value);
    return std::string(bytes.begin(), bytes.end());
  }
  return std::string(pg::Utf8View(*value));
}

Read ReadRow(const pg::Rows& rows, std::uint64_t row, std::size_t columns) {
  Read read{pg::TidAt(*rows.At(row, 0)), DatumGetInt32(*rows.At(row, 1)), std::nullopt, {}, {}};
  read.size = static_cast<std::size_t>(DatumGetInt64(rows.At(row, 2).value_or(Int64GetDatum(0))));
  read.text = TextAt(rows, row, 3);
  for (std::size_t i = 0; i < columns; ++i) {
    read.columns.push_back(TextAt(rows, row, static_cast<int>(4 + i)));
  }
  if (rows.TypeOf(3) == BYTEAOID && read.text &&
      (!utf8::IsValid(*read.text) || read.text->find('\0') != std::string::npos)) {
    read.problem = "the bytes of the row are not a text in UTF-8";
  }
  return read;
}

std::size_t LongestText() {
  return static_cast<std::size_t>(pg::settings.max_text_size) << 10;
}

std::string TooLong(std::size_t size) {
  return "the text of the row has " + std::to_string(size) +
         " bytes, more than ai.max_text_size (" + std::to_string(pg::settings.max_text_size) +
         " kB); shorten it, or raise the setting and call ai.retry_failed";
}

/// Reads rows until their texts have so many bytes together, large ones at the end.
class Reader final {
 public:
  Reader(Vectorizer& vectorizer, pg::Spi& spi, std::size_t bytes)
      : vectorizer_(vectorizer), spi_(spi), bytes_(bytes) {}

  /// False if some were not read.
  bool Run(std::span<const Place> places) {
    bool all = true;
    Fetch(places, std::min(kLargeRow, LongestText()), [&] { return all = total_ < bytes_; });
    const std::vector<Read> large = std::exchange(large_, {});
    for (const Read& row : large) {
      if (total_ >= bytes_) {
        return false;
      }
      Fetch(std::span(&row.place, 1), LongestText(), [] { return true; });
    }
    return all;
  }

  std::vector<Read> reads;

 private:
  template <typename Continue>
  void Fetch(std::span<const Place> places, std::size_t most, Continue goes_on) {
    const Datum limit = Int64GetDatum(static_cast<std::int64_t>(most));
    vectorizer_.statements().read.Fetch(
        spi_, {PlacesDatum(places), limit}, kReadPart, [&](const pg::Rows& rows) {
          for (std::uint64_t i = 0; i < rows.count(); ++i) {
            Take(ReadRow(rows, i, vectorizer_.columns().size()), most);
          }
          return goes_on();
        });
  }

  void Take(Read read, std::size_t most) {
    if (read.size > LongestText()) {
      read.problem = TooLong(read.size);
    } else if (read.size > most) {
      large_.push_back(std::move(read));
      return;
    } else {
      total_ += read.size;
    }
    reads.push_back(std::move(read));
  }

  Vectorizer& vectorizer_;
  pg::Spi& spi_;
  const std::size_t bytes_;
  std::size_t total_ = 0;
  std::vector<Read> large_;
};

void ReadOldChunks(Vectorizer& vectorizer, pg::Spi& spi, std::vector<Read>& reads) {
  std::map<Place, Read*, PlaceOrder> by_place;
  std::vector<Place> places;
  for (Read& read : reads) {
    by_place[read.place] = &read;
    places.push_back(read.place);
  }
  const pg::Rows rows = vectorizer.statements().chunks->Execute(spi, {PlacesDatum(places)});
  for (std::uint64_t i = 0; i < rows.count(); ++i) {
    const auto found = by_place.find(pg::TidAt(*rows.At(i, 0)));
    if (found != by_place.end()) {
      found->second->old_chunks.emplace_back(DatumGetInt32(*rows.At(i, 1)), HashOf(rows.At(i, 2)));
    }
  }
  for (Read& read : reads) {
    std::sort(read.old_chunks.begin(), read.old_chunks.end());
  }
}

}  // namespace

Taken Vectorizer::Take(Lane& lane, Datum lease, std::size_t most, Wanted wanted) {
  WorkTransaction transaction;
  {
    pg::Spi spi;
    const Taken taken = LockClaims(spi, work, id);
    if (taken.busy || taken.pause_left) {
      return taken;
    }
    LockForStoring();
    if (lane.idle()) {
      lane.work_file = FileOf(work).number;
    }
    CheckPlaces(lane);
    if (wanted == Wanted::kSuspects) {
      TakeSuspects(*this, lane, spi, lease);
    }
    if (wanted == Wanted::kRetries) {
      TakeDueRetries(*this, lane, spi, lease, most);
    }
    if (wanted != Wanted::kSuspects && lane.changes && lane.unread.size() < most) {
      TakeChanges(*this, lane, spi, lease, most - lane.unread.size());
    }
  }
  transaction.Commit();
  return {};
}

/// As the owner of the source.
std::vector<Read> Vectorizer::ReadTaken(Lane& lane, Datum /*lease*/, std::size_t bytes) {
  std::vector<Read> reads;
  bool all = true;
  WorkTransaction transaction;
  {
    LockForReading();
    pg::Spi spi;
    pg::RunAsOwner(owner, [&] {
      Reader reader(*this, spi, bytes);
      all = reader.Run(lane.unread);
      reads = std::move(reader.reads);
      if (!column() && !reads.empty()) {
        ReadOldChunks(*this, spi, reads);
      }
    });
  }
  transaction.Commit();
  // Rows that are not in the table of work any more are with somebody else by now.
  lane.unread = all ? std::vector<Place>() : NotRead(lane.unread, reads);
  return reads;
}

}  // namespace ai::worker
