// Claiming rows: from the queue, or from those whose time to be tried again has come; and loading
// their texts. This worker has their leases when the transaction has committed.
#include "core/text/utf8.hpp"
#include "pg/datum.hpp"
#include "pg/guard.hpp"
#include "pg/owner_scope.hpp"
#include "pg/settings.hpp"
#include "worker/extension.hpp"
#include "worker/vectorizer.hpp"

namespace ai::worker {

using pipeline::LoadedRow;

namespace {

/// Rows that are read at once, unless they are large; those are read one by one.
constexpr long kReadPart = 16;
constexpr std::size_t kLargeRow = std::size_t{256} << 10;

/// Suspects that are taken together: few enough to be taken one by one when a process dies with
/// them, and so many that thousands are soon through.
constexpr std::int64_t kSuspectGroup = 100;

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

LoadedRow LoadRow(const pg::Rows& rows, std::uint64_t row, std::size_t columns) {
  LoadedRow read{.tid = TidOf(pg::TidAt(*rows.At(row, 0))),
                 .attempts = DatumGetInt32(*rows.At(row, 1))};
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

/// Loads rows until their texts have so many bytes together, large ones at the end.
class Loader final {
 public:
  Loader(Vectorizer& vectorizer, pg::Spi& spi, std::size_t bytes)
      : vectorizer_(vectorizer), spi_(spi), bytes_(bytes) {}

  /// False if some were not loaded.
  bool Run(std::span<const Tid> tids) {
    bool all = true;
    Fetch(tids, std::min(kLargeRow, LongestText()), [&] { return all = total_ < bytes_; });
    const std::vector<LoadedRow> large = std::exchange(large_, {});
    for (const LoadedRow& row : large) {
      if (total_ >= bytes_) {
        return false;
      }
      Fetch(std::span(&row.tid, 1), LongestText(), [] { return true; });
    }
    return all;
  }

  std::vector<LoadedRow> rows;

 private:
  template <typename Continue>
  void Fetch(std::span<const Tid> tids, std::size_t most, Continue goes_on) {
    const Datum limit = Int64GetDatum(static_cast<std::int64_t>(most));
    const TidDatums datums(tids);
    vectorizer_.statements().read.Fetch(
        spi_, {datums.Array(), limit}, kReadPart, [&](const pg::Rows& found) {
          for (std::uint64_t i = 0; i < found.count(); ++i) {
            Take(LoadRow(found, i, vectorizer_.columns().size()), most);
          }
          return goes_on();
        });
  }

  void Take(LoadedRow read, std::size_t most) {
    if (read.size > LongestText()) {
      read.problem = TooLong(read.size);
    } else if (read.size > most) {
      large_.push_back(std::move(read));
      return;
    } else {
      total_ += read.size;
    }
    rows.push_back(std::move(read));
  }

  Vectorizer& vectorizer_;
  pg::Spi& spi_;
  const std::size_t bytes_;
  std::size_t total_ = 0;
  std::vector<LoadedRow> large_;
};

void LoadOldChunks(Vectorizer& vectorizer, pg::Spi& spi, std::vector<LoadedRow>& loaded) {
  std::map<Tid, LoadedRow*> by_tid;
  std::vector<Tid> tids;
  for (LoadedRow& row : loaded) {
    by_tid[row.tid] = &row;
    tids.push_back(row.tid);
  }
  const pg::Rows rows = vectorizer.statements().chunks->Execute(spi, {TidDatums(tids).Array()});
  for (std::uint64_t i = 0; i < rows.count(); ++i) {
    const auto found = by_tid.find(TidOf(pg::TidAt(*rows.At(i, 0))));
    if (found != by_tid.end()) {
      found->second->old_chunks.emplace_back(DatumGetInt32(*rows.At(i, 1)), HashOf(rows.At(i, 2)));
    }
  }
  for (LoadedRow& row : loaded) {
    std::sort(row.old_chunks.begin(), row.old_chunks.end());
  }
}

}  // namespace

pipeline::Step<pipeline::Claimed> Vectorizer::Claim(const pipeline::ClaimRequest& request) {
  return Attempt([&] {
    pipeline::Claimed claimed;
    WorkTransaction transaction;
    {
      pg::Spi spi;
      if (const auto not_now = LockClaims(spi, work, id)) {
        return *not_now;
      }
      LockForStoring();
      if (!request.in_hand) {
        work_file_ = FileOf(work).number;
      }
      CheckWorkTable();
      if (request.wanted == pipeline::Wanted::kSuspects) {
        ClaimSuspects(spi, claimed);
      }
      if (request.wanted == pipeline::Wanted::kRetries) {
        ClaimRetries(spi, request.most, claimed);
      }
      claimed.more_changes = request.changes;
      if (request.wanted != pipeline::Wanted::kSuspects && request.changes &&
          unread_.size() < request.most) {
        ClaimChanges(spi, request, claimed);
      }
    }
    transaction.Commit();
    return claimed;
  });
}

void Vectorizer::ClaimRetries(pg::Spi& spi, std::size_t most, pipeline::Claimed& claimed) {
  const std::vector<Tid> tids = TidsFrom(statements().retry_due.Execute(
      spi, {Int64GetDatum(static_cast<std::int64_t>(most)), lease()}));
  unread_.insert(unread_.end(), tids.begin(), tids.end());
  claimed.more_retries = tids.size() >= most;
}

/// One that two processes have died with, or else some that one has: whichever has waited longest.
void Vectorizer::ClaimSuspects(pg::Spi& spi, pipeline::Claimed& claimed) {
  const auto claim = [&](bool alone, std::int64_t most) {
    const std::vector<Tid> tids = TidsFrom(
        statements().suspects.Execute(spi, {BoolGetDatum(alone), Int64GetDatum(most), lease()}));
    unread_.insert(unread_.end(), tids.begin(), tids.end());
    return !tids.empty();
  };
  const bool alone_first = !std::exchange(alone_last_, !alone_last_);
  claimed.more_suspects = alone_first ? claim(true, 1) || claim(false, kSuspectGroup)
                                      : claim(false, kSuspectGroup) || claim(true, 1);
}

void Vectorizer::ClaimChanges(pg::Spi& spi, const pipeline::ClaimRequest& request,
                              pipeline::Claimed& claimed) {
  const std::size_t most = request.most - unread_.size();
  if (!scan_.under_way) {
    scan_ = {{request.from.block, 0}, FileOf(queue).blocks, true, false};
  }
  const Tid range[] = {scan_.next, {scan_.end, 0}};
  const TidDatums datums(range);
  const pg::Rows rows = statements().claim.Execute(
      spi, {datums.At(0), datums.At(1), Int64GetDatum(static_cast<std::int64_t>(most)), lease()});
  if (const auto tids = rows.At(0, 0)) {
    for (const ItemPointerData& tid : pg::TidArray(*tids)) {
      unread_.push_back(TidOf(tid));
    }
    scan_.found = true;
  }
  const auto seen = static_cast<std::size_t>(DatumGetInt64(*rows.At(0, 1)));
  if (const auto priority = rows.At(0, 3); priority && by_priority()) {
    claimed.priority = DatumGetInt32(*priority);  // nothing above it is left
  }
  if (seen < most) {
    claimed.more_changes = scan_.found;  // if a scan finds nothing, there is nothing
    scan_.under_way = false;
    return;
  }
  scan_.next = TidOf(pg::TidAt(*rows.At(0, 2)));
  ++scan_.next.offset;
}

/// As the owner of the source.
pipeline::Step<std::vector<LoadedRow>> Vectorizer::Load(std::size_t bytes) {
  return Attempt([&] {
    std::vector<LoadedRow> rows;
    bool all = true;
    WorkTransaction transaction;
    {
      LockForReading();
      pg::Spi spi;
      pg::RunAsOwner(owner(), [&] {
        Loader loader(*this, spi, bytes);
        all = loader.Run(unread_);
        rows = std::move(loader.rows);
        if (!column() && !rows.empty()) {
          LoadOldChunks(*this, spi, rows);
        }
      });
    }
    transaction.Commit();
    // Rows that are not in the work table any more are with somebody else by now.
    unread_ = all ? std::vector<Tid>() : NotLoaded(unread_, rows);
    return rows;
  });
}

}  // namespace ai::worker
