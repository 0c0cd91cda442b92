// Where a lane's texts come from and its vectors go to: the rows of a vectorizer, or the jobs of a
// role with one embedding configuration. The stations of the pipeline know no more of it than this.
//
// Each step is a short transaction of its own. Work that another process has by now is left alone.
#pragma once

#include "core/failure.hpp"
#include "core/json/document.hpp"
#include "core/model/model.hpp"
#include "core/provider/provider.hpp"
#include "core/token/encoding.hpp"
#include "worker/row.hpp"

namespace ai::worker {

struct Lane;

/// Some of the rows are with another process by now; nothing was written.
struct LostLease final : std::exception {
  const char* what() const noexcept override { return "rows were taken back"; }
};

/// The table of work was rewritten (VACUUM FULL, for one): no place in it can be told any more.
struct LostPlaces final : std::exception {
  const char* what() const noexcept override { return "the table of work was rewritten"; }
};

/// Somebody has locked a table that is needed. Nobody waits for that, and nothing was changed.
struct TableLocked final : std::exception {
  const char* what() const noexcept override { return "a table is locked"; }
};

/// Which rows to take.
enum class Wanted : std::uint8_t {
  kChanges,   // from the queue
  kRetries,   // those whose time has come, then changes
  kSuspects,  // that a process has died with: one that two have died with, or else a small group
};

struct Taken {
  bool busy = false;  // another worker is just taking rows
  std::optional<std::chrono::milliseconds> pause_left;
};

/// A count of milliseconds from the database, never early: who looks before the time finds nothing.
inline std::chrono::milliseconds RoundedUp(double count) {
  return std::chrono::milliseconds(static_cast<std::int64_t>(std::clamp(count, 0.0, 1e9)) + 1);
}

class Source {
 public:
  Source() = default;
  virtual ~Source() = default;
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;

  Oid owner = InvalidOid;  // with whose rights all is done: which keys may be used
  Oid work = InvalidOid;   // the table that places are in
  Oid vector_type = InvalidOid;

  virtual const json::Value embedding() const = 0;
  /// The embedded model; null if a provider is asked.
  const std::shared_ptr<const model::Model>& local_model() const { return local_model_; }
  /// INVARIANT: not with an embedded model.
  const provider::Provider& provider() const { return *provider_; }
  std::string model() const { return std::string(embedding().GetString("model")); }
  std::size_t dimensions() const {
    return static_cast<std::size_t>(embedding().GetInteger("dimensions"));
  }
  const token::Encoding* encoding() const { return encoding_.get(); }
  std::size_t batch_size() const { return batch_size_; }
  std::size_t concurrency() const { return concurrency_; }

  /// Whether its statements would be others by now: a table or a column has another name.
  virtual bool IsOutdated() { return false; }

  /// Takes up to so many rows into lane.unread, unless this worker or the source is paused.
  virtual Taken Take(Lane& lane, Datum lease, std::size_t most, Wanted wanted) = 0;

  /// Reads rows of lane.unread until there are none or their texts have so many bytes together.
  virtual std::vector<Read> ReadTaken(Lane& lane, Datum lease, std::size_t bytes) = 0;

  /// Cuts, formats and compares with what is there already. No transaction is open: a text may be
  /// long. Throws ai::Error if the text cannot be cut.
  virtual RowPtr Cut(const Read& read) const = 0;

  /// Gives vectors that are known already to the rows that were read.
  virtual void Reuse(Lane& lane, std::vector<RowPtr>& rows) = 0;

  /// Writes rows whose vectors are all there and ends the hold on them, in one transaction. Returns
  /// the rows that somebody else has locked, which stay in hand. Throws LostLease, LostPlaces,
  /// TableLocked, OwnerCancelled, pg::Error; then nothing was written.
  virtual std::vector<RowPtr> Store(Lane& lane, Datum lease, std::span<const RowPtr> rows) = 0;

  /// Whether the source has no such row any more: a reason why it could not be stored.
  virtual bool IsGone(Lane& /*lane*/, const RowPtr& /*row*/) { return false; }

  /// Those of the rows that this process still has, after LostLease.
  virtual std::vector<RowPtr> StillHeld(Lane& /*lane*/, Datum /*lease*/,
                                        std::span<const RowPtr> /*rows*/) {
    return {};
  }

  /// Uncharged; others may take the rows after the delay.
  virtual void GiveBack(Lane& lane, Datum lease, std::span<const RowPtr> rows,
                        std::chrono::milliseconds delay) = 0;

  /// All that this process has of it.
  virtual void GiveBackAll(Datum lease) = 0;

  /// One attempt is used up: rows that have more are tried again later, the others are given up.
  virtual void TryAgain(Lane& lane, Datum lease, std::span<const RowPtr> rows,
                        std::string_view step, const Failure& failure) = 0;

  /// Rows that nobody shall try again, with an error for each.
  virtual void GiveUp(Lane& lane, Datum lease, std::span<const RowPtr> rows, std::string_view step,
                      const Failure& failure) = 0;

 protected:
  /// Sets the members above from embedding() and what its configuration leaves open. Throws
  /// ai::Error if it cannot be used.
  void OpenModel();

  std::unique_ptr<provider::Provider> provider_;
  std::shared_ptr<const model::Model> local_model_;
  std::shared_ptr<const token::Encoding> encoding_;
  std::size_t batch_size_ = 0;
  std::size_t concurrency_ = 0;
};

}  // namespace ai::worker
