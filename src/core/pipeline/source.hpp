// Where the texts of one queue come from and its vectors go to: the rows of a vectorizer, or the
// jobs of a role with one embedding configuration. The pipeline knows no more of them than this.
//
// Each step is a short transaction of its own. It touches only what this process has the lease of;
// what another process has by now is left alone.
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

/// Of a vectorizer; below 0 for jobs, and known in one process only.
using QueueId = std::int32_t;

/// The role whose tables or jobs these are.
using OwnerId = std::uint32_t;

/// Which rows to claim.
enum class Wanted : std::uint8_t {
  kChanges,   // from the queue
  kRetries,   // those whose time has come, then changes
  kSuspects,  // that a process has died with: one that two have died with, or else a small group
};

struct ClaimRequest {
  Wanted wanted = Wanted::kChanges;
  std::size_t most = 0;
  bool changes = false;  // the queue may have some
  Tid from = {};         // none is known before it
  bool in_hand = false;  // rows that were claimed before are
};

/// What came of a claim. The rows are kept by the source until they are loaded.
struct Claimed {
  bool busy = false;  // another worker is just claiming; nothing was
  std::optional<std::chrono::milliseconds> pause_left = std::nullopt;  // nothing was claimed
  bool more_changes = false;
  bool more_retries = false;
  bool more_suspects = false;
  std::optional<std::int32_t> priority = std::nullopt;  // of what is left, at most
  bool scan_began = false;                              // from where the request says
  /// A scan has come to its end: what it has seen and left begins here.
  std::optional<Tid> left_from = std::nullopt;
  Usage usage = {};  // of jobs that were answered at once
};

struct Stored {
  std::vector<RowPtr> locked = {};  // that somebody else has locked; they stay in hand
  Usage usage = {};
};

/// Where requests go, and what lets them.
struct Route {
  provider::Endpoint endpoint;
  Limiter* limiter = nullptr;
  policy::RoleId role = 0;  // whose requests these are

  std::optional<std::chrono::milliseconds> Closed() const { return limiter->Closed(role); }
};

/// A request as it goes out.
struct Message {
  http::Request request;
  bool may_shrink = false;  // its reply may rightly be larger than we take
};

/// What does not change while a source is open.
struct SourceTraits {
  OwnerId owner = 0;  // with whose rights all is done: which keys may be used
  std::string model;
  std::size_t dimensions = 0;
  std::size_t batch_size = 1;                      // texts of a request
  std::optional<std::size_t> concurrency;          // requests at a time, of all workers together
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

  /// Claims rows, which are unread then, unless this worker or the queue is paused.
  virtual Step<Claimed> Claim(const ClaimRequest& request) = 0;

  /// Rows that were claimed and not loaded.
  virtual std::span<const Tid> unread() const = 0;

  /// Loads unread rows until there are none or their texts have so many bytes together.
  virtual Step<std::vector<LoadedRow>> Load(std::size_t bytes) = 0;

  /// Releases what is unread beyond so many rows, uncharged: other workers may have it.
  virtual Step<> ReleaseUnread(std::size_t keep) = 0;

  /// Cuts, formats and compares with what is there already. No transaction is open: a text may be
  /// long. A failure is the row's own.
  virtual Result<RowPtr> MakeChunks(const LoadedRow& row) const = 0;

  /// Gives vectors that are known already to rows that were loaded. Rows whose work others in hand
  /// do along with their own are removed. Returns how many chunks that are.
  virtual Step<std::int64_t> Reuse(std::span<const RowPtr> in_hand, std::vector<RowPtr>& rows) = 0;

  /// Where requests go now.
  virtual Step<Route> FindRoute() = 0;

  /// The request for these texts.
  virtual Step<Message> Build(std::span<const std::string_view> texts,
                              const provider::Endpoint& endpoint) const = 0;

  /// Stores rows whose vectors are all there and ends their leases, in one transaction.
  virtual Step<Stored> Store(std::span<const RowPtr> rows) = 0;

  /// Whether the source has no such row any more: a reason why it could not be stored.
  virtual Step<bool> IsGone(const RowPtr& row) = 0;

  /// Those of the rows whose lease this process still has.
  virtual Step<std::vector<RowPtr>> StillHeld(std::span<const RowPtr> rows) = 0;

  /// Uncharged; others may claim the rows after the delay.
  virtual Step<> Release(std::span<const RowPtr> rows, std::chrono::milliseconds delay) = 0;
  /// All that this process has of the queue.
  virtual Step<> ReleaseAll() = 0;
  /// Rows that this process lets go of and could not release yet, because somebody has locked them.
  virtual bool HasUnreleased() const { return false; }

  /// One attempt is charged: rows that have more are tried again later, others are dead letters.
  virtual Step<> Retry(std::span<const RowPtr> rows, std::string_view step,
                       const Failure& failure) = 0;
  /// Rows that nobody shall try again.
  virtual Step<> DeadLetter(std::span<const RowPtr> rows, std::string_view step,
                            const Failure& failure) = 0;
};

}  // namespace ai::pipeline
