// Claims rows from the queue or those due for a retry, and loads their texts. This worker holds
// their leases once the transaction has committed.
#include "pg/owner_scope.hpp"
#include "pg/settings.hpp"
#include "worker/process/extension.hpp"
#include "worker/vectorizer/vectorizer.hpp"

namespace ai::worker {

using pipeline::LoadedRow;

namespace {

/// Larger rows are loaded one by one.
constexpr std::size_t kLargeRow = std::size_t{256} << 10;

/// Suspects that are claimed together: few enough to be claimed one by one after a crash, and
/// enough to get through thousands quickly.
constexpr std::size_t kSuspectGroup = 100;

std::size_t LongestText() {
  return static_cast<std::size_t>(pg::settings.max_text_size) << 10;
}

std::string TooLong(std::size_t size) {
  return "text of the row has " + std::to_string(size) + " bytes, more than ai.max_text_size (" +
         std::to_string(pg::settings.max_text_size) +
         " kB); shorten it, or increase the setting and call ai.retry_failed";
}

/// Loads rows until their texts have reached so many bytes, large ones at the end.
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
    vectorizer_.statements().load_rows.Execute(spi_, tids, most, [&](LoadedRow row) {
      Take(std::move(row), most);
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
  for (const auto& old : vectorizer.statements().table->load_chunk_hashes.Execute(spi, tids)) {
    if (const auto found = by_tid.find(old.tid); found != by_tid.end()) {
      found->second->old_chunks.emplace_back(old.number, old.hash);
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
      if (const auto not_now = LockClaims(spi, definition.work, id)) {
        return *not_now;
      }
      LockForStoring();
      if (!request.in_progress) {
        work_file_ = FileOf(definition.work).number;
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
  const std::vector<Tid> tids = statements().claim_retries.Execute(spi, most, lease());
  unread_.insert(unread_.end(), tids.begin(), tids.end());
  claimed.more_retries = tids.size() >= most;
}

/// A row that two processes crashed with, or some that one crashed with: whichever has waited
/// longest.
void Vectorizer::ClaimSuspects(pg::Spi& spi, pipeline::Claimed& claimed) {
  const auto claim = [&](bool alone, std::size_t most) {
    const std::vector<Tid> tids = statements().claim_suspects.Execute(spi, alone, most, lease());
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
    scan_ = {{request.from.block, 0}, FileOf(definition.queue).blocks, true, false, std::nullopt};
    claimed.scan_began = true;
  }
  const auto found = statements().claim_changes.Execute(
      spi, {.begin = scan_.next, .end = {scan_.end, 0}}, most, lease());
  unread_.insert(unread_.end(), found.claimed.begin(), found.claimed.end());
  scan_.found = scan_.found || !found.claimed.empty();
  if (definition.names.by_priority && found.lowest_priority) {
    claimed.priority = found.lowest_priority;  // no higher one is left
  }
  if (!scan_.skipped) {
    scan_.skipped = found.first_held;
  }
  if (found.seen < most) {
    claimed.more_changes = scan_.found;  // if a scan finds nothing, there are none
    // Changes may be added to the last page.
    claimed.left_from = scan_.skipped.value_or(Tid{std::max<BlockNumber>(scan_.end, 1) - 1, 0});
    scan_.under_way = false;
    return;
  }
  scan_.next = found.last;
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
        if (!IntoColumn() && !rows.empty()) {
          LoadOldChunks(*this, spi, rows);
        }
      });
    }
    transaction.Commit();
    // Rows no longer in the work table were claimed by another process.
    unread_ = all ? std::vector<Tid>() : NotLoaded(unread_, rows);
    return rows;
  });
}

}  // namespace ai::worker
