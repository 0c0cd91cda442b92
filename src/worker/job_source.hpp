// The jobs of a role with one embedding configuration, as a source of the pipeline. Like rows of a
// vectorizer they are claimed with a lease, and written only by the process that has it; unlike
// those they have a priority each, and jobs of the same text share one request.
//
// A job is known by its id. What a user has locked (a job that is being cancelled) is passed over
// and given back later, if it is still this worker's then: see Lane::strays.
#pragma once

#include "pg/error.hpp"
#include "worker/job_statements.hpp"
#include "worker/job_waiters.hpp"
#include "worker/lane.hpp"

namespace ai::worker {

/// The configuration of a group, as JSON; nothing if it has no job that is at work or waits.
std::optional<std::string> FindJobConfig(pg::Spi& spi, const JobGroup& group);

class JobSource final : public Source {
 public:
  /// Throws ai::Error if the configuration cannot be used. The statements outlive this.
  JobSource(const JobGroup& group, std::string_view config, JobStatements& statements);

  const json::Value embedding() const override { return document_.root(); }

  Taken Take(Lane& lane, Datum lease, std::size_t most, Wanted wanted) override;
  std::vector<Read> ReadTaken(Lane& lane, Datum lease, std::size_t bytes) override;
  RowPtr Cut(const Read& read) const override;
  /// Jobs of a text that is in hand already go along with it.
  void Reuse(Lane& lane, std::vector<RowPtr>& rows) override;
  std::vector<RowPtr> Store(Lane& lane, Datum lease, std::span<const RowPtr> rows) override;
  void GiveBack(Lane& lane, Datum lease, std::span<const RowPtr> rows,
                std::chrono::milliseconds delay) override;
  void GiveBackAll(Datum lease) override;
  void TryAgain(Lane& lane, Datum lease, std::span<const RowPtr> rows, std::string_view step,
                const Failure& failure) override;
  void GiveUp(Lane& lane, Datum lease, std::span<const RowPtr> rows, std::string_view step,
              const Failure& failure) override;

 private:
  struct Claimed {
    std::vector<Uuid> answered;  // completed at once: their text has a vector already
    std::vector<Read> reads;     // those with short texts, which come along
  };

  /// Whether a user may have locked some of the jobs.
  bool MindLocks() const { return met_lock_ || JobsAreChanging(); }
  /// Runs body; if it meets a lock, locks are minded from then on.
  template <typename Body>
  void WatchForLocks(const Body& body);
  void TakeSuspects(Lane& lane, pg::Spi& spi, Datum lease);
  Claimed Claim(Lane& lane, pg::Spi& spi, Datum lease, std::size_t most);
  void Fetch(pg::Spi& spi, Datum lease, std::span<const Place> places, std::size_t most,
             const std::function<bool(Read)>& take);
  void ReturnStrays(Lane& lane, pg::Spi& spi, Datum lease);
  void NoteStrays(Lane& lane, pg::Spi& spi, Datum lease, std::vector<Uuid> jobs,
                  const pg::Rows& ended);
  void Fail(Lane& lane, Datum lease, std::span<const RowPtr> rows, std::string_view step,
            const Failure& failure, bool final);

  JobGroup group_;
  json::Document document_;
  JobStatements& statements_;
  std::vector<Read> reads_;  // of lane.unread, known since the claim
  bool met_lock_ = false;    // that nobody had announced
};

template <typename Body>
void JobSource::WatchForLocks(const Body& body) {
  try {
    body();
  } catch (const pg::Error& error) {
    met_lock_ = met_lock_ || pg::MeetsLock(error);
    throw;
  }
}

}  // namespace ai::worker
