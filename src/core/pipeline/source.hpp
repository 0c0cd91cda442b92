// Where the texts of one queue come from and its vectors go to: the rows of a vectorizer, or the
// jobs of a role with one embedding configuration. This interface is all that the pipeline knows of
// them.
//
// Each step is a short transaction of its own. It touches only rows of which this process holds the
// lease, and not those that another process has claimed since.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/pipeline/limiter.hpp"
#include "core/pipeline/row.hpp"
#include "core/pipeline/usage.hpp"
#include "core/policy/fair_share.hpp"
#include "core/provider/provider.hpp"
#include "core/token/encoding.hpp"

namespace ai::model {
class Model;
}

namespace ai::pipeline {

/// The id of a vectorizer; negative for jobs, and local to the process.
using QueueId = std::int32_t;

/// The role that owns the tables or jobs.
using OwnerId = std::uint32_t;

/// Which rows to claim.
enum class Wanted : std::uint8_t {
  kChanges,   // from the queue
  kRetries,   // those that are due, then changes
  kSuspects,  // rows that a process crashed with: a small group, or one that two crashed with
};

struct ClaimRequest {
  Wanted wanted = Wanted::kChanges;
  std::size_t most = 0;
  bool changes = false;      // the queue may have changes
  Tid from = {};             // none is known before this position
  bool in_progress = false;  // rows claimed earlier are in progress
};

/// The result of a claim. The source keeps the rows until they are loaded.
struct Claimed {
  bool busy = false;  // another worker is claiming; nothing was claimed
  std::optional<std::chrono::milliseconds> pause_left = std::nullopt;  // nothing was claimed
  bool more_changes = false;
  bool more_retries = false;
  bool more_suspects = false;
  std::optional<std::int32_t> priority = std::nullopt;  // maximum of the remaining rows
  bool scan_began = false;                              // at the position in the request
  /// A scan has completed: entries that it has seen and not claimed begin here.
  std::optional<Tid> left_from = std::nullopt;
  Usage usage = {};  // of jobs that were completed immediately
};

struct Stored {
  std::vector<RowPtr> locked = {};  // locked by others; they stay held
  Usage usage = {};
};

/// Where requests are sent, and what admits them.
struct Route {
  provider::Endpoint endpoint;
  Limiter* limiter = nullptr;
  policy::RoleId role = 0;  // whose requests these are

  std::optional<std::chrono::milliseconds> BlockedFor() const { return limiter->BlockedFor(role); }
};

/// A request as it is sent.
struct Message {
  http::Request request;
  bool may_shrink = false;  // its reply may rightly be larger than we take
};

/// What does not change while a source is open.
struct SourceTraits {
  OwnerId owner = 0;  // the role whose privileges apply, also to keys
  std::string model;
  std::size_t dimensions = 0;
  std::size_t batch_size = 1;                      // texts per request
  std::optional<std::size_t> concurrency;          // requests in flight, of all workers together
  const provider::Provider* provider = nullptr;    // null with an embedded model
  const token::Encoding* encoding = nullptr;       // null: tokens are estimated
  std::shared_ptr<const model::Model> local = {};  // the embedded model
};

class Source {
 public:
  Source() = default;
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;
  virtual ~Source() = default;

  virtual const SourceTraits& traits() const = 0;

  /// Claims rows, which are then unread, unless this worker or the queue is paused.
  virtual Step<Claimed> Claim(const ClaimRequest& request) = 0;

  /// Rows that were claimed and not loaded yet.
  virtual std::span<const Tid> unread() const = 0;

  /// Loads unread rows until there are none left or their texts have reached so many bytes.
  virtual Step<std::vector<LoadedRow>> Load(std::size_t bytes) = 0;

  /// Releases unread rows beyond so many, uncharged, for other workers.
  virtual Step<> ReleaseUnread(std::size_t keep) = 0;

  /// Chunks, formats and compares with the chunks in the target. No transaction is open: a text may
  /// be long. A failure is the row's fault.
  virtual Result<RowPtr> MakeChunks(const LoadedRow& row) const = 0;

  /// Assigns vectors that are known already to loaded rows. Removes rows that are covered by others
  /// in progress. Returns the number of chunks reused.
  virtual Step<std::int64_t> Reuse(std::span<const RowPtr> in_progress,
                                   std::vector<RowPtr>& rows) = 0;

  /// Where requests are to be sent now.
  virtual Step<Route> FindRoute() = 0;

  /// The request for these texts.
  virtual Step<Message> Build(std::span<const std::string_view> texts,
                              const provider::Endpoint& endpoint) const = 0;

  /// Stores rows that have all their vectors and ends their leases, in one transaction.
  virtual Step<Stored> Store(std::span<const RowPtr> rows) = 0;

  /// Whether the row no longer exists in the source table: a reason why it could not be stored.
  virtual Step<bool> IsGone(const RowPtr& row) = 0;

  /// Those of the rows of which this process still holds the lease.
  virtual Step<std::vector<RowPtr>> StillHeld(std::span<const RowPtr> rows) = 0;

  /// Releases rows uncharged; others may claim them after the delay.
  virtual Step<> Release(std::span<const RowPtr> rows, std::chrono::milliseconds delay) = 0;
  /// Releases all rows of the queue that this process holds.
  virtual Step<> ReleaseAll() = 0;
  /// Whether there are rows that could not be released yet, because they are locked.
  virtual bool HasUnreleased() const { return false; }

  /// Charges one attempt: rows with attempts left are retried later, others become dead letters.
  virtual Step<> Retry(std::span<const RowPtr> rows, std::string_view step,
                       const Failure& failure) = 0;
  /// Rows that will not be retried.
  virtual Step<> DeadLetter(std::span<const RowPtr> rows, std::string_view step,
                            const Failure& failure) = 0;
};

}  // namespace ai::pipeline
