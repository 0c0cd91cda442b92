#include "unit/simulation/sim_source.hpp"

#include <algorithm>

namespace ai::simulation {
namespace {

using pipeline::Row;
using pipeline::RowPtr;
using pipeline::Step;
using pipeline::StepError;
using pipeline::StepFailure;

constexpr std::uint64_t kMaxStepsOfTurn = 20'000;

std::size_t ChunksOf(Key key) {
  return 1 + key % 3;
}

const json::Document& OpenAiConfig() {
  static const json::Document config = json::Document::Parse(
      R"({"implementation": "openai", "model": "simulated", "dimensions": 3})");
  return config;
}

}  // namespace

StepScope::StepScope(World& world, WorkerState& worker, const char* name) : world_(world) {
  ++worker.steps;
  if (++worker.steps_of_turn > kMaxStepsOfTurn) {
    throw Violation("a turn that does not end");
  }
  world.clock.Advance(std::chrono::microseconds(100 + world.random.Below(2000)));
  if (world.Fault("slow step", 0.005)) {
    world.clock.Advance(milliseconds(world.random.Below(3000)));
  }
  if (world.Fault("crash before a step", 0.0015)) {
    world.Note("worker " + std::to_string(worker.lease) + " dies before " + name);
    throw Crash();
  }
  if (world.Fault("crash after a step", 0.0015)) {
    world.Note("worker " + std::to_string(worker.lease) + " dies after " + name);
    dies_after_ = true;
  }
}

void StepScope::End() {
  if (dies_after_) {
    throw Crash();
  }
}

SimSource::SimSource(World& world, WorkerState& worker, QueueId id, SimLimiter* limiter)
    : world_(world),
      worker_(worker),
      queue_(*world.Find(id)),
      limiter_(limiter),
      definition_(queue_.definition) {
  traits_.owner = queue_.owner;
  traits_.model = "simulated";
  traits_.dimensions = kDimensions;
  traits_.batch_size = queue_.batch_size;
  traits_.concurrency = queue_.concurrency;
  if (!queue_.local) {
    provider_ = provider::MakeProvider(OpenAiConfig().root());
    traits_.provider = provider_.get();
  }
}

std::optional<StepFailure> SimSource::Trouble(const char* step, bool of_tables) {
  if (queue_.dropped) {
    return StepFailure(StepError::kDropped, "the queue was dropped");
  }
  if (definition_ != queue_.definition && world_.Chance(0.5)) {
    return StepFailure(StepError::kOutdated, "another definition");
  }
  if (of_tables && queue_.locked_until > world_.now()) {
    return StepFailure(StepError::kTableLocked, "a table is locked");
  }
  if (world_.Fault("row locked", 0.003)) {
    return StepFailure(StepError::kRowLocked, "somebody has locked it");
  }
  if (world_.Fault("work table rewritten", 0.001)) {
    return StepFailure(StepError::kTableGone, "rewritten");
  }
  if (world_.Fault("error of the server", 0.003)) {
    return StepFailure(StepError::kServer, std::string("out of something in ") + step);
  }
  return std::nullopt;
}

Key SimSource::KeyAt(Tid tid) const {
  for (const auto& [key, work] : queue_.work) {
    if (work.tid == tid) {
      return key;
    }
  }
  return 0;
}

/// It has changed since it was claimed: what was wrong may have been with the text before.
bool SimSource::HasEntry(Key key) const {
  return std::any_of(queue_.entries.begin(), queue_.entries.end(),
                     [key](const Entry& entry) { return entry.key == key; });
}

WorkRow* SimSource::Held(Tid tid) {
  const auto found = queue_.work.find(KeyAt(tid));
  return found != queue_.work.end() && found->second.lease == worker_.lease ? &found->second
                                                                            : nullptr;
}

void SimSource::Note(const std::string& what) {
  world_.Note("worker " + std::to_string(worker_.lease) + " " + what + " of queue " +
              std::to_string(queue_.id));
}

void SimSource::ClaimRow(Key key, WorkRow& row, bool anew) {
  row.lease = worker_.lease;
  row.claimed_at = world_.now();
  row.attempts = anew ? 0 : row.attempts;
  row.retry_at = anew ? world_.now() : row.retry_at;
  unread_.push_back(row.tid);
  Note("claims " + std::to_string(key));
}

Step<pipeline::Claimed> SimSource::Claim(const pipeline::ClaimRequest& request) {
  StepScope scope(world_, worker_, "claim");
  if (const auto trouble = Trouble("claim", true)) {
    return *trouble;
  }
  pipeline::Claimed claimed;
  if (world_.Fault("another worker claims", 0.05)) {
    claimed.busy = true;
    return claimed;
  }
  if (queue_.paused_until > world_.now()) {
    claimed.pause_left = std::chrono::ceil<milliseconds>(queue_.paused_until - world_.now());
    return claimed;
  }
  const SteadyTime now = world_.now();
  if (request.wanted == pipeline::Wanted::kSuspects) {
    std::multimap<SteadyTime, Key> due;
    for (const auto& [key, work] : queue_.work) {
      if (work.lease == 0 && work.crashes > 0 && work.retry_at <= now) {
        due.emplace(work.retry_at, key);
      }
    }
    const bool alone = !due.empty() && queue_.work.at(due.begin()->second).crashes > 1;
    for (const auto& [retry_at, key] : due) {
      WorkRow& work = queue_.work.at(key);
      if (unread_.size() < (alone ? 1 : 3) && (work.crashes > 1) == alone) {
        ClaimRow(key, work, false);
      }
    }
    claimed.more_suspects = !unread_.empty();
  }
  if (request.wanted == pipeline::Wanted::kRetries) {
    std::multimap<SteadyTime, Key> due;
    for (const auto& [key, work] : queue_.work) {
      if (work.lease == 0 && work.crashes == 0 && work.retry_at <= now) {
        due.emplace(work.retry_at, key);
      }
    }
    for (const auto& [retry_at, key] : due) {
      if (unread_.size() < request.most) {
        ClaimRow(key, queue_.work.at(key), false);
      }
    }
    claimed.more_retries = unread_.size() >= request.most;
  }
  if (request.wanted != pipeline::Wanted::kSuspects && request.changes) {
    std::erase_if(queue_.entries, [&](const Entry& entry) {
      const auto [work, is_new] = queue_.work.try_emplace(entry.key);
      if (is_new) {
        work->second.tid = world_.NewTid();
      }
      const bool held = work->second.lease != 0 || work->second.crashes > 0;
      if (held && work->second.lease == worker_.lease && is_new == false &&
          std::find(unread_.begin(), unread_.end(), work->second.tid) != unread_.end()) {
        return true;  // two changes of one row are one
      }
      if (held || unread_.size() >= request.most) {
        if (is_new) {
          world_.EraseWork(queue_, entry.key);
        }
        return worker_.defect == Defect::kLostEvent && held;
      }
      ClaimRow(entry.key, work->second, true);
      return true;
    });
    claimed.more_changes = !unread_.empty() || worker_.defect == Defect::kBusyLoop;
  }
  scope.End();
  return claimed;
}

Step<std::vector<pipeline::LoadedRow>> SimSource::Load(std::size_t bytes) {
  StepScope scope(world_, worker_, "load");
  if (const auto trouble = Trouble("load", true)) {
    return *trouble;
  }
  std::vector<pipeline::LoadedRow> rows;
  std::size_t total = 0;
  std::size_t next = 0;
  for (; next < unread_.size() && total < bytes; ++next) {
    const Tid tid = unread_[next];
    const WorkRow* work = Held(tid);
    if (work == nullptr) {
      continue;  // with somebody else by now
    }
    const Key key = KeyAt(tid);
    const auto source = queue_.source.find(key);
    pipeline::LoadedRow row{.tid = tid, .attempts = work->attempts};
    if (source != queue_.source.end()) {
      if (source->second.poison == Poison::kKiller && !world_.calm) {
        world_.Count("row that kills a worker");
        world_.Note("row " + std::to_string(key) + " kills worker " +
                    std::to_string(worker_.lease));
        throw Crash();
      }
      const int stale = worker_.defect == Defect::kStaleWrite && source->second.version > 1 ? 1 : 0;
      row.text = TextOf(queue_.id, key, source->second.version - stale);
      row.size = source->second.bytes;
      if (source->second.poison == Poison::kUncutable) {
        row.problem = "cannot be cut";
      }
    }
    total += row.size;
    rows.push_back(std::move(row));
  }
  unread_.erase(unread_.begin(), unread_.begin() + static_cast<std::ptrdiff_t>(next));
  scope.End();
  return rows;
}

Step<> SimSource::ReleaseUnread(std::size_t keep) {
  StepScope scope(world_, worker_, "release unread");
  if (const auto trouble = Trouble("release unread", false)) {
    return *trouble;
  }
  while (unread_.size() > keep) {
    if (WorkRow* work = Held(unread_.back())) {
      work->lease = 0;
    }
    unread_.pop_back();
  }
  scope.End();
  return {};
}

Result<RowPtr> SimSource::MakeChunks(const pipeline::LoadedRow& loaded) const {
  auto row = std::make_shared<Row>();
  row->tid = loaded.tid;
  row->attempts = loaded.attempts;
  row->bytes = loaded.size + 100;
  const Key key = KeyAt(loaded.tid);
  const auto target = queue_.target.find(key);
  row->old_chunks = target == queue_.target.end() ? 0 : ChunksOf(key);
  if (!loaded.text) {
    return row;
  }
  for (std::size_t i = 0; i < ChunksOf(key); ++i) {
    const bool kept = target != queue_.target.end() &&
                      TextOf(queue_.id, key, target->second.version) == *loaded.text;
    row->chunks.push_back(
        {.text = *loaded.text + " c" + std::to_string(i), .hash = {}, .kept = kept});
    row->waiting += kept ? 0 : 1;
  }
  return row;
}

Step<std::int64_t> SimSource::Reuse(std::span<const RowPtr> /*in_progress*/,
                                    std::vector<RowPtr>& /*rows*/) {
  StepScope scope(world_, worker_, "reuse");
  if (const auto trouble = Trouble("reuse", false)) {
    return *trouble;
  }
  return std::int64_t{0};
}

Step<pipeline::Route> SimSource::FindRoute() {
  if (const auto trouble = Trouble("find route", false)) {
    return *trouble;
  }
  return pipeline::Route{
      {.base_url = "http://provider" + std::to_string(queue_.provider), .api_key = "key"},
      limiter_,
      queue_.owner};
}

Step<pipeline::Message> SimSource::Build(std::span<const std::string_view> texts,
                                         const provider::Endpoint& endpoint) const {
  return pipeline::Message{provider_->Build(texts, endpoint)};
}

std::optional<StepFailure> SimSource::StoreTrouble(std::span<const RowPtr> rows) {
  if (queue_.broken_until > world_.now()) {
    return StepFailure(StepError::kOther, "the table takes nothing");
  }
  if (world_.Fault("store timed out", 0.002)) {
    return StepFailure(StepError::kTimedOut, "timed out");
  }
  if (world_.Fault("store yielded", 0.002)) {
    return StepFailure(StepError::kYielded, "yielded");
  }
  for (const RowPtr& row : rows) {
    const auto source = queue_.source.find(KeyAt(row->tid));
    const Poison poison = source == queue_.source.end() || row->chunks.empty()
                              ? Poison::kNone
                              : source->second.poison;
    if (poison == Poison::kBadValue) {
      return StepFailure(StepError::kRowRejected, "a constraint");
    }
    if (poison == Poison::kBadCode) {
      return StepFailure(world_.Chance(0.5) ? StepError::kOther : StepError::kServer, "a trigger");
    }
  }
  return std::nullopt;
}

Step<pipeline::Stored> SimSource::Store(std::span<const RowPtr> rows) {
  StepScope scope(world_, worker_, "store");
  auto trouble = Trouble("store", true);
  if (!trouble) {
    trouble = StoreTrouble(rows);
  }
  if (trouble) {
    world_.Note("worker " + std::to_string(worker_.lease) + " cannot store " +
                std::to_string(rows.size()) + " rows of queue " + std::to_string(queue_.id) +
                ", the first for key " + std::to_string(KeyAt(rows[0]->tid)) + ": " +
                trouble->message);
    return *trouble;
  }
  pipeline::Stored stored;
  std::vector<std::pair<Key, RowPtr>> done;
  for (const RowPtr& row : rows) {
    const Key key = KeyAt(row->tid);
    const auto lock = queue_.locked_rows.find(key);
    if (lock != queue_.locked_rows.end() && lock->second > world_.now()) {
      stored.locked.push_back(row);
    } else if (Held(row->tid) != nullptr) {
      done.emplace_back(key, row);
    } else {
      return StepFailure(StepError::kLeaseLost, "rows were taken back");
    }
  }
  for (const auto& [key, row] : done) {
    StoreRow(key, *row);
    if (worker_.defect == Defect::kDoubleStore) {
      StoreRow(key, *row);
    }
    world_.EraseWork(queue_, key);
  }
  stored.usage.rows = static_cast<std::int64_t>(done.size());
  scope.End();
  return stored;
}

/// What is checked here are the promises: a row's chunks are of its newest text, stored once, with
/// the vectors of just these chunks.
void SimSource::StoreRow(Key key, const Row& row) {
  const std::string of = "row " + std::to_string(key) + " of queue " + std::to_string(queue_.id);
  const auto source = queue_.source.find(key);
  const bool has_new = std::any_of(row.chunks.begin(), row.chunks.end(),
                                   [](const auto& chunk) { return !chunk.kept; });
  if (source == queue_.source.end() || row.chunks.empty()) {
    queue_.target.erase(key);
  } else if (has_new) {
    const std::string& text = row.chunks[0].text;
    const int version = std::stoi(text.substr(text.find('v') + 1));
    TargetRow& target = queue_.target[key];
    if (version == target.version) {
      throw Violation(of + " is stored twice in version " + std::to_string(version));
    }
    if (version < target.version) {
      throw Violation(of + " is stored from an older text");
    }
    for (std::size_t i = 0; i < row.chunks.size(); ++i) {
      const auto& chunk = row.chunks[i];
      const std::string expected = TextOf(queue_.id, key, version) + " c" + std::to_string(i);
      const auto vector = chunk.vector.view();
      const bool is_right = chunk.text == expected && vector[0] == static_cast<float>(queue_.id) &&
                            vector[1] == static_cast<float>(key * 4 + i) &&
                            vector[2] == static_cast<float>(version);
      if (!is_right) {
        throw Violation(of + " has the vector of another text");
      }
    }
    target.version = version;
    world_.Note("worker " + std::to_string(worker_.lease) + " stores " + of + " in version " +
                std::to_string(version));
  }
  queue_.dead_letters.erase(key);
}

Step<bool> SimSource::IsGone(const RowPtr& row) {
  StepScope scope(world_, worker_, "is gone");
  if (const auto trouble = Trouble("is gone", true)) {
    return *trouble;
  }
  return !queue_.source.contains(KeyAt(row->tid));
}

Step<std::vector<RowPtr>> SimSource::StillHeld(std::span<const RowPtr> rows) {
  StepScope scope(world_, worker_, "still held");
  if (const auto trouble = Trouble("still held", false)) {
    return *trouble;
  }
  std::vector<RowPtr> held;
  std::copy_if(rows.begin(), rows.end(), std::back_inserter(held),
               [&](const RowPtr& row) { return Held(row->tid) != nullptr; });
  return held;
}

Step<> SimSource::Release(std::span<const RowPtr> rows, milliseconds delay) {
  StepScope scope(world_, worker_, "release");
  if (const auto trouble = Trouble("release", false)) {
    return *trouble;
  }
  for (const RowPtr& row : rows) {
    WorkRow* work = Held(row->tid);
    if (work != nullptr && worker_.defect != Defect::kLostRelease) {
      work->lease = 0;
      work->retry_at = world_.now() + delay;
    }
  }
  Note("releases " + std::to_string(rows.size()) + " rows");
  scope.End();
  return {};
}

Step<> SimSource::ReleaseAll() {
  StepScope scope(world_, worker_, "release all");
  if (const auto trouble = Trouble("release all", false)) {
    return *trouble;
  }
  unread_.clear();
  for (auto& [key, work] : queue_.work) {
    if (work.lease == worker_.lease && worker_.defect != Defect::kLostRelease) {
      work.lease = 0;  // and keeps its place in the line
    }
  }
  Note("releases all rows");
  scope.End();
  return {};
}

/// No row pays for what is not its fault, as far as anybody could know: an outage, a refusal, a
/// table that takes nothing, as long as it lasted from before the row was claimed until now.
void SimSource::CheckCharge(Key key, std::string_view step, const Failure& failure) const {
  const auto source = queue_.source.find(key);
  if (source == queue_.source.end() || source->second.poison != Poison::kNone || HasEntry(key)) {
    return;
  }
  const std::string of = "row " + std::to_string(key) + " of queue " + std::to_string(queue_.id);
  const SteadyTime claimed = queue_.work.at(key).claimed_at;
  if (step == "embedding" && !queue_.local) {
    const SimProvider& provider = world_.providers[static_cast<std::size_t>(queue_.provider)];
    const bool outage = provider.mood == Mood::kDown || provider.mood == Mood::kUnreachable ||
                        provider.mood == Mood::kHangs || provider.mood == Mood::kRefuses ||
                        provider.mood == Mood::kNoKey;
    if (outage && provider.since <= claimed && provider.until > world_.now()) {
      throw Violation(of + " is charged for an outage: " + failure.message);
    }
    if (failure.http_status == 429) {
      throw Violation(of + " is charged for being early");
    }
  }
  if (step == "writing" && failure.message == "the table takes nothing" &&
      queue_.broken_since <= claimed && queue_.broken_until > world_.now() &&
      queue_.work.at(key).attempts == 0) {
    throw Violation(of + " is charged for its table");
  }
}

Step<> SimSource::Retry(std::span<const RowPtr> rows, std::string_view step,
                        const Failure& failure) {
  StepScope scope(world_, worker_, "retry");
  if (const auto trouble = Trouble("retry", false)) {
    return *trouble;
  }
  for (const RowPtr& row : rows) {
    WorkRow* work = Held(row->tid);
    if (work == nullptr) {
      continue;
    }
    const Key key = KeyAt(row->tid);
    CheckCharge(key, step, failure);
    world_.Count("attempt charged");
    if (++work->attempts >= kMaxAttempts) {
      queue_.dead_letters[key] = failure.message;
      world_.EraseWork(queue_, key);
      continue;
    }
    work->lease = 0;
    work->retry_at = world_.now() + std::chrono::seconds(10) * (1 << (work->attempts - 1));
  }
  scope.End();
  return {};
}

Step<> SimSource::DeadLetter(std::span<const RowPtr> rows, std::string_view step,
                             const Failure& failure) {
  StepScope scope(world_, worker_, "dead letter");
  if (const auto trouble = Trouble("dead letter", false)) {
    return *trouble;
  }
  for (const RowPtr& row : rows) {
    if (Held(row->tid) == nullptr) {
      continue;
    }
    Key key = KeyAt(row->tid);
    if (worker_.defect == Defect::kWrongBisect) {
      const auto other = std::find_if(queue_.work.begin(), queue_.work.end(), [&](const auto& w) {
        return w.first != key && w.second.lease == worker_.lease;
      });
      key = other == queue_.work.end() ? key : other->first;
    }
    const auto source = queue_.source.find(key);
    const bool is_right = source == queue_.source.end() ||
                          source->second.poison == Poison::kRefused ||
                          source->second.poison == Poison::kUncutable;
    if (!is_right && !HasEntry(key)) {
      throw Violation("row " + std::to_string(key) + " of queue " + std::to_string(queue_.id) +
                      " is a dead letter, and nothing is wrong with it: " + std::string(step));
    }
    queue_.dead_letters[key] = failure.message;
    world_.EraseWork(queue_, key);
  }
  scope.End();
  return {};
}

}  // namespace ai::simulation
