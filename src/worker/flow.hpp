// The stations of the pipeline: what is taken from the queues, sent to providers, received from
// them, and stored. Bounded: rows are only taken while there is room for their texts and vectors,
// whatever their number and size; requests only sent while there are connections for them.
//
//   queue --Take--> unsent --Send--> in flight --Receive--> ready --Store--> target
//                      ^                 |
//                      +---- halves, or after a pause
#pragma once

#include <list>
#include <map>
#include <unordered_map>

#include "core/clock.hpp"
#include "core/policy/blame.hpp"
#include "core/policy/fair_share.hpp"
#include "core/random.hpp"
#include "pg/error.hpp"
#include "pg/owner_scope.hpp"
#include "pg/settings_transport.hpp"
#include "worker/governor.hpp"
#include "worker/job_source.hpp"
#include "worker/lane.hpp"
#include "worker/local_embedder.hpp"
#include "worker/pipeline.hpp"
#include "worker/process.hpp"
#include "worker/request_slots.hpp"

namespace ai::worker {

/// Texts and vectors in hand; above it no more rows are taken.
inline constexpr std::size_t kMostHeldBytes = std::size_t{48} << 20;
/// Texts that are read at once.
inline constexpr std::size_t kMostReadBytes = std::size_t{8} << 20;
/// How long to leave alone a row or a table that somebody else has locked.
inline constexpr std::chrono::milliseconds kLocked = std::chrono::seconds(1);
/// After those that are given back in the same turn.
inline constexpr std::chrono::milliseconds kBehindOthers = std::chrono::seconds(1);

inline Failure FailureOf(FailureClass failure_class, std::string message) {
  return {.failure_class = failure_class, .message = std::move(message)};
}

class Flow {
 public:
  explicit Flow(std::string lease);

  void Receive();
  void Store();
  void Take();
  void Send();
  /// At the end of a turn: other workers may have what this one does not need.
  void FreeSlots();
  /// Adds what was counted to the tables, if it is time.
  void CountUsage();
  WaitFor NextWait();

  void LookAgain() { look_ = true; }
  void GiveBack();
  InHand CountInHand() const;
  /// Lets go of all that is in hand, in memory only; the rows are given back later.
  void ForgetAll();
  Tally TakeTally();

 private:
  /// A request: sent, or to be sent again.
  struct Request {
    Lane* lane;
    std::vector<Item> items;
    Route route;
    std::optional<Ticket> ticket = std::nullopt;  // while it is under way
    int failures = 0;                             // of its rows since they were taken
    policy::FailingSince failing = {};            // they, or all of the lane's
    SteadyTime not_before = {};
    bool may_shrink = false;  // its reply may rightly be larger than ai.max_response_size
  };

  /// What became of rows that were to be stored together.
  struct Storing {
    bool any = false;            // some are
    std::vector<Doubt> unclear;  // are not, by their own fault or the table's
  };

  // Looking and taking.
  void Look(bool whole);
  void LookForJobs(pg::Spi& spi, bool suspects);
  void ForgetIdleJobs();
  Lane& LaneOf(const JobGroup& group);
  void LoadJobs(Lane& lane, pg::Spi& spi);
  void NoteJobError(Lane& lane, const Failure& failure);
  void TakeAll();
  Lane* NextLane();
  bool IsDue(const Lane& lane, SteadyTime now) const;
  bool MayServe(const Lane& lane) const;
  bool HasRowsOfOthers(Oid owner) const;
  bool HasWorkOfSlowOwners() const;
  bool HoldsTooMuch(Oid owner) const;
  bool TakeRowsOf(Lane& lane, Wanted wanted, std::size_t most);
  void EndLost(Lane& lane);
  void TakeInto(Lane& lane);

  // Rows that may have killed a process.
  bool LooksForSuspects();
  bool Isolate();
  bool BeginIsolation();
  Lane* NextSuspects();
  void TakeSuspects(Lane& lane);
  bool AllIdle() const;
  bool IsHeldUp(const Lane& lane) const;
  void LetGoOfHeldUp();
  void EndIsolation();
  void Accept(Lane& lane, std::vector<Read> reads);
  bool Load(Lane& lane);
  std::size_t SlotsFor(const Lane& lane) const;
  std::size_t KeepSlots(Lane& lane, std::size_t wanted);
  std::optional<std::chrono::milliseconds> NextTake(const Lane& lane, SteadyTime now) const;

  // Sending and receiving.
  void SendDelayed();
  bool SendOne(Lane& lane);
  bool FindRoute(Lane& lane);
  void LookUpRoute(Lane& lane);
  std::vector<Item> NextItems(Lane& lane, std::size_t most);
  void Submit(Request request);
  void SendLocally(Lane& lane);
  void ReceiveLocally();
  void OnVectors(Lane& lane, std::span<const Item> items,
                 const std::shared_ptr<provider::Embeddings>& embeddings);
  void OnReply(Request request, const http::Response& response);
  void OnFailure(Request request, const provider::RateLimits& limits, const Failure& failure);
  void OnTrouble(Request request, std::span<const RowPtr> rows, const Failure& failure,
                 const policy::Verdict& verdict);
  void NoteBreaker(Lane& lane, const Gate& gate);
  void Charge(Lane& lane, std::span<const RowPtr> rows, const Failure& failure);
  void GiveBackUncharged(Lane& lane, std::span<const RowPtr> rows, std::chrono::milliseconds delay);
  void Delay(Request request, std::chrono::milliseconds delay);
  void AskForLess(Request request, const provider::RateLimits& limits, Failure failure);
  void SplitBetween(Request request, std::span<const RowPtr> rows, std::chrono::milliseconds delay);
  void Split(Request request, std::vector<Item>::iterator cut, std::chrono::milliseconds delay);
  static Request CutOff(Request& request, std::vector<Item>::iterator cut);

  // Keeping to what providers allow.
  void FollowProviders();
  static Lane* NextOf(policy::FairShare& share, const std::vector<Lane*>& lanes);
  std::size_t FreeSlots(const Gate* gate, Oid owner) const;
  bool HasSlot(const Request& request) const;
  bool MayTake(Lane& lane);
  bool IsBarred(const Lane& lane) const;
  bool WantsMore(const Lane& lane) const;
  std::size_t RowsFor(const Lane& lane) const;
  void GiveBackBarred();
  std::chrono::milliseconds UntilTake(const Lane& lane) const;

  // Storing and ending.
  void StoreLane(Lane& lane, SteadyTime until);
  bool MayStore(const Lane& lane) const;
  void StoreSome(Lane& lane, std::span<const RowPtr> rows, Storing& storing);
  void OnStoreError(Lane& lane, std::span<const RowPtr> rows, const pg::Error& error,
                    Storing& storing);
  void OnOwnerCancelled(Lane& lane, std::span<const RowPtr> rows, const pg::OwnerCancelled& error);
  bool StoreAsGone(Lane& lane, const RowPtr& row, Storing& storing);
  void StoreLater(Lane& lane, std::span<const RowPtr> rows);
  void KeepLocked(Lane& lane, std::span<const RowPtr> rows);
  void TryLockedAgain(Lane& lane);
  std::chrono::milliseconds LockPause(Lane& lane);
  void Judge(Lane& lane, Storing storing);
  void RestForTable(Lane& lane);
  void ChargeUnwritten(Lane& lane, std::span<const RowPtr> rows, const Failure& failure);
  void Count(const Failure& failure);
  void CountUsage(Lane& lane);
  void CountAllUsage();
  void End(Lane& lane, std::span<const RowPtr> rows);
  void Rest(Lane& lane, std::string_view step, const Failure& failure);
  static bool IsRenamed(Lane& lane, const pg::Error& error);
  void Forget(Lane& lane);
  void Drop(Lane& lane);
  void ReturnRows(Lane& lane);
  std::vector<RowPtr> RowsOf(const Request& request) const;

  /// Runs body; an error of the database makes the lane rest.
  template <typename Body>
  bool Guarded(Lane& lane, std::string_view step, const Body& body);

  std::string lease_;
  pg_uuid_t lease_uuid_;
  Datum lease() { return UUIDPGetDatum(&lease_uuid_); }
  http::Transport& transport() { return transport_.get(); }

  SystemClock clock_;
  SystemRandom random_;
  pg::SettingsTransport transport_;
  std::map<std::int32_t, Lane> lanes_;
  std::map<JobGroup, std::int32_t> groups_;  // which lane each has
  std::int32_t last_group_ = 0;
  std::unique_ptr<JobStatements> job_statements_;
  Governor governor_{clock_};
  std::unordered_map<std::uint64_t, Request> in_flight_;
  std::list<Request> delayed_;
  RequestSlots request_slots_;
  LocalEmbedder local_;
  std::size_t held_bytes_ = 0;
  policy::FairShare taking_share_;   // by rows
  policy::FairShare sending_share_;  // by texts
  bool look_ = true;
  bool look_at_whole_ = false;  // the last look was at the ends of long queues only
  SteadyTime next_whole_look_ = {};
  bool take_again_soon_ = false;  // another worker was just taking rows of a lane
  std::uint32_t deaths_seen_ = 0;
  SteadyTime next_look_for_suspects_ = {};
  bool isolating_ = false;    // nothing else is taken
  Lane* isolated_ = nullptr;  // whose suspects are in hand
  SteadyTime isolated_since_ = {};
  SteadyTime isolate_after_ = {};       // if there is something else to do
  SteadyTime isolate_not_before_ = {};  // another worker does it
  bool taking_ = false;                 // more rows may come before the next request has to go
  Tally tally_;
};

template <typename Body>
bool Flow::Guarded(Lane& lane, std::string_view step, const Body& body) {
  try {
    body();
    return true;
  } catch (const LostPlaces&) {
    Drop(lane);
  } catch (const TableLocked&) {
    lane.rests_until = clock_.Now() + LockPause(lane);
  } catch (const pg::OwnerCancelled& error) {
    const bool is_shared = error.reason() == pg::OwnerCancelled::Reason::kShare;
    Drop(lane);
    if (!is_shared) {
      Rest(lane, step, FailureOf(FailureClass::kTransient, error.what()));
    }
  } catch (const pg::Error& error) {
    if (EndsProcess(error)) {
      throw;
    }
    const bool renamed = IsRenamed(lane, error);
    Drop(lane);
    if (pg::MeetsLock(error)) {
      lane.rests_until = clock_.Now() + kLocked;
    } else if (!renamed) {
      Rest(lane, step, FailureOf(FailureClass::kTransient, error.what()));
    }
  } catch (const ai::Error& error) {
    if (error.code() == ErrorCode::kCancelled) {
      throw;
    }
    Drop(lane);
    // Rows of a vectorizer that was dropped are gone with it.
    lane.owes_rows = lane.owes_rows && error.code() != ErrorCode::kUndefinedObject;
    Failure failure = FailureOf(FailureClass::kConfiguration, error.what());
    failure.hint = error.hint();
    Rest(lane, step, failure);
  }
  return false;
}

}  // namespace ai::worker
