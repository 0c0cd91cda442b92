// See flow.hpp: looking and taking.
#include <set>

#include "pg/datum.hpp"
#include "pg/guard.hpp"
#include "pg/settings.hpp"
#include "worker/extension.hpp"
#include "worker/flow.hpp"
#include "worker/owner_share.hpp"
#include "worker/places.hpp"
#include "worker/process.hpp"
#include "worker/vectorizer.hpp"

namespace ai::worker {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t kMostTaken = 4000;  // rows in one claim
constexpr milliseconds kNoSlots{200};     // while other workers have all requests of a vectorizer
constexpr int kWholeLookRest = 10;        // times what a look at all of the queues takes

/// Walks begin at the first change that is known.
void NoteChange(Lane& lane, const Place& place) {
  const BlockNumber block = ItemPointerGetBlockNumber(&place);
  lane.walk_from = lane.changes ? std::min(lane.walk_from, block) : block;
  lane.changes = true;
  // It may be behind the walk that is under way: that is not the last one then.
  lane.walk.found = true;
}

}  // namespace

/// A change is first looked for where changes are added, which takes no time; then everywhere, but
/// not more often than that is worth.
void Flow::Look(bool whole) {
  (whole ? look_at_whole_ : look_) = false;
  const SteadyTime now = clock_.Now();
  std::set<std::int32_t> seen;
  std::vector<Lane*> outdated;
  const bool suspects = LooksForSuspects();
  WorkTransaction transaction;
  {
    pg::Spi spi;
    const pg::Argument arguments[] = {{BOOLOID, BoolGetDatum(whole)},
                                      {BOOLOID, BoolGetDatum(suspects)},
                                      {TEXTOID, pg::TextDatum(MyComponent())}};
    const pg::Rows rows = spi.Execute(
        "SELECT id, version, priority, first_change, retry_in_ms, whole, suspect_in_ms, "
        "pause_left_ms, owner, granted FROM ai._look_for_work($1, $2, $3)",
        arguments);
    const auto in_ms = [&](std::uint64_t row, int column) -> std::optional<SteadyTime> {
      const auto count = rows.At(row, column);
      return count ? std::optional(now + RoundedUp(DatumGetFloat8(*count))) : std::nullopt;
    };
    for (std::uint64_t i = 0; i < rows.count(); ++i) {
      const std::int32_t id = DatumGetInt32(*rows.At(i, 0));
      Lane& lane = lanes_[id];
      lane.id = id;
      seen.insert(id);
      const std::string version(pg::Utf8View(*rows.At(i, 1)));
      if (version != lane.version) {
        outdated.push_back(&lane);
        lane.version = version;
        lane.rests_until = {};
        lane.rests = 0;
        lane.failing = {};
      }
      lane.priority = DatumGetInt32(*rows.At(i, 2));
      lane.granted = DatumGetInt32(*rows.At(i, 9));
      const auto owner = rows.At(i, 8);
      lane.owner = owner ? DatumGetObjectId(*owner) : InvalidOid;
      if (const auto change = rows.At(i, 3)) {
        NoteChange(lane, pg::TidAt(*change));
      }
      look_at_whole_ = look_at_whole_ || !DatumGetBool(*rows.At(i, 5));
      lane.next_retry = in_ms(i, 4);
      lane.next_suspect = in_ms(i, 6);
      lane.paused_until = in_ms(i, 7).value_or(SteadyTime());
    }
    if (!whole) {
      LookForJobs(spi, suspects);
    }
  }
  transaction.Commit();
  if (whole) {
    next_whole_look_ = clock_.Now() + kWholeLookRest * (clock_.Now() - now);
  }
  // Nothing of it is finished by the old definition, or for one who does not want it any more.
  for (Lane* lane : outdated) {
    Drop(*lane);
  }
  for (auto lane = lanes_.begin(); lane != lanes_.end();) {
    if (lane->second.jobs || seen.contains(lane->first)) {
      ++lane;
      continue;
    }
    Drop(lane->second);
    lane = lane->second.owes_rows ? std::next(lane) : lanes_.erase(lane);
  }
  ForgetIdleJobs();
  SetSeveralOwners(std::any_of(lanes_.begin(), lanes_.end(), [this](const auto& entry) {
    return entry.second.owner != lanes_.begin()->second.owner;
  }));
}

std::size_t Flow::SlotsFor(const Lane& lane) const {
  const auto most = static_cast<std::size_t>(pg::settings.max_in_flight);
  const std::size_t all = FreeSlots(lane.route ? lane.route->gate : nullptr, lane.owner);
  if (lane.vectorizer == nullptr) {
    return all;
  }
  if (lane.vectorizer->local_model() != nullptr) {
    return local_.busy() ? 0 : 1;
  }
  const std::size_t own = std::min(lane.vectorizer->concurrency(), most);
  const std::size_t used = lane.in_flight + lane.delayed;
  return std::min(all, own > used ? own - used : 0);
}

std::size_t Flow::KeepSlots(Lane& lane, std::size_t wanted) {
  // Jobs have no limit of their own.
  lane.slots =
      lane.jobs ? wanted : request_slots_.Keep(lane.id, wanted, lane.vectorizer->concurrency());
  return lane.slots;
}

/// Whether there are rows to be taken, or to be read.
bool Flow::IsDue(const Lane& lane, SteadyTime now) const {
  const bool may_take = lane.paused_until <= now && !isolating_;
  return lane.owes_rows || !lane.unread.empty() ||
         (may_take && (lane.changes || (lane.next_retry && *lane.next_retry <= now)));
}

Lane* Flow::NextLane() {
  const SteadyTime now = clock_.Now();
  std::vector<Lane*> lanes;
  for (auto& [id, lane] : lanes_) {
    if (IsDue(lane, now) && lane.rests_until <= now && WantsMore(lane) && SlotsFor(lane) > 0 &&
        !IsBarred(lane) && MayServe(lane)) {
      lanes.push_back(&lane);
    }
  }
  return NextOf(taking_share_, lanes);
}

void Flow::Take() {
  if (look_) {
    Look(false);
  }
  TakeAll();
  if (look_at_whole_ && clock_.Now() >= next_whole_look_) {
    Look(true);
  }
}

void Flow::TakeAll() {
  take_again_soon_ = false;
  isolating_ = Isolate();
  taking_ = true;
  while (held_bytes_ < kMostHeldBytes) {
    Lane* lane = NextLane();
    if (lane == nullptr || take_again_soon_) {
      break;
    }
    const std::size_t held = lane->held.size() + lane->unread.size();
    TakeInto(*lane);
    const std::size_t taken = lane->held.size() + lane->unread.size();
    taking_share_.Charge(lane->contender(), static_cast<double>(taken) - static_cast<double>(held));
    while (SendOne(*lane)) {
    }
  }
  taking_ = false;
}

bool Flow::Load(Lane& lane) {
  if (lane.vectorizer == nullptr) {
    if (lane.usage != Usage()) {
      CountUsage(lane);  // the model may be another one from now on
    }
    lane.most_items.reset();
    Guarded(lane, "configuration", [&] {
      WorkTransaction transaction;
      {
        pg::Spi spi;
        if (lane.jobs) {
          LoadJobs(lane, spi);
        } else {
          lane.vectorizer = std::make_unique<Vectorizer>(spi, lane.id);
        }
      }
      transaction.Commit();
    });
    if (lane.vectorizer != nullptr) {
      lane.owner = lane.vectorizer->owner;
      lane.usage_model = lane.vectorizer->model();
    }
  }
  return lane.vectorizer != nullptr;
}

/// A place that comes again while a row is in hand for it: that row was taken from this process,
/// which did not beat for too long, and the place is another row's by now. What comes for the first
/// one must not be written there.
void Flow::EndLost(Lane& lane) {
  if (lane.jobs || lane.held.empty()) {
    return;
  }
  std::vector<Place> taken = lane.unread;
  std::sort(taken.begin(), taken.end(), PlaceOrder());
  const auto is_lost = [&](const RowPtr& row) {
    return std::binary_search(taken.begin(), taken.end(), row->place, PlaceOrder());
  };
  std::vector<RowPtr> lost;
  std::copy_if(lane.held.begin(), lane.held.end(), std::back_inserter(lost), is_lost);
  if (!lost.empty()) {
    End(lane, lost);
  }
}

/// False if others come first, or there is a pause.
bool Flow::TakeRowsOf(Lane& lane, Wanted wanted, std::size_t most) {
  const Taken taken = lane.vectorizer->Take(lane, lease(), most, wanted);
  EndLost(lane);
  if (lane.jobs && wanted == Wanted::kRetries && lane.unread.empty()) {
    lane.retries_after = clock_.Now() + kLocked;
  }
  if (taken.pause_left) {
    lane.paused_until = clock_.Now() + *taken.pause_left;
  } else if (taken.busy) {
    take_again_soon_ = true;
  }
  return !taken.busy && !taken.pause_left;
}

void Flow::TakeInto(Lane& lane) {
  if (!Load(lane)) {
    return;
  }
  if (lane.owes_rows) {
    Drop(lane);
    lane.rests_until = clock_.Now() + (lane.owes_rows ? kLocked : milliseconds(0));
    return;
  }
  if (!MayTake(lane)) {
    return;
  }
  const std::size_t used = lane.in_flight + lane.delayed;
  if (KeepSlots(lane, used + SlotsFor(lane)) <= used) {
    lane.rests_until = clock_.Now() + kNoSlots;
    return;
  }
  const std::size_t most =
      std::min({RowsFor(lane), (lane.slots - used) * lane.vectorizer->batch_size(), kMostTaken});
  const bool retries = lane.next_retry && *lane.next_retry <= clock_.Now();
  Guarded(lane, "loading", [&] {
    if (lane.unread.empty()) {
      if (!TakeRowsOf(lane, retries ? Wanted::kRetries : Wanted::kChanges, most)) {
        return;
      }
      look_ = look_ || retries;  // for the time of the next one
    }
    if (!lane.unread.empty()) {
      Accept(lane, lane.vectorizer->ReadTaken(lane, lease(), kMostReadBytes));
    }
  });
}

void Flow::Accept(Lane& lane, std::vector<Read> reads) {
  std::vector<RowPtr> rows;
  for (Read& read : reads) {
    try {
      if (!read.problem.empty()) {
        throw ai::Error(ErrorCode::kLimitExceeded, read.problem);
      }
      rows.push_back(lane.vectorizer->Cut(read));
      read.text.reset();  // it may be long
    } catch (const ai::Error& error) {
      if (error.code() == ErrorCode::kCancelled) {
        throw;
      }
      const Failure failure = FailureOf(FailureClass::kSuspect, error.what());
      Count(failure);
      const RowPtr row[] = {
          std::make_shared<Row>(Row{.place = read.place, .jobs = {{read.job, read.place}}})};
      lane.vectorizer->GiveUp(lane, lease(), row, read.problem.empty() ? "chunking" : "loading",
                              failure);
    }
  }
  lane.vectorizer->Reuse(lane, rows);
  for (const RowPtr& row : rows) {
    held_bytes_ += row->bytes;
    lane.held_bytes += row->bytes;
    lane.held.push_back(row);
    if (row->waiting == 0) {
      lane.ready.push_back(row);
    }
    for (std::size_t i = 0; i < row->chunks.size(); ++i) {
      const Chunk& chunk = row->chunks[i];
      if (chunk.kept || chunk.vector) {
        ++lane.usage.reused_chunks;
      } else {
        lane.unsent.push_back({row, i});
      }
    }
  }
}

}  // namespace ai::worker
