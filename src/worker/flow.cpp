#include "worker/flow.hpp"

#include "core/http/host_policy.hpp"
#include "pg/datum.hpp"
#include "pg/guard.hpp"
#include "pg/provider_access.hpp"
#include "pg/settings.hpp"
#include "worker/cut.hpp"
#include "worker/ending.hpp"
#include "worker/extension.hpp"
#include "worker/places.hpp"
#include "worker/store.hpp"
#include "worker/take.hpp"

namespace ai::worker {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t kMostHeldBytes = std::size_t{48} << 20;
constexpr std::size_t kMostReadBytes = std::size_t{8} << 20;
constexpr std::size_t kMostTaken = 4000;  // rows in one claim
constexpr std::size_t kMostStoredBytes = std::size_t{2} << 20;
constexpr int kWholeLookRest = 10;     // times what a look at all of the queues takes
constexpr milliseconds kTakeAgain{2};  // after another worker has taken rows
constexpr milliseconds kRest = std::chrono::seconds(10);
constexpr milliseconds kLocked = std::chrono::seconds(1);  // a row or a table, by somebody else

/// Never early: who looks before the time finds nothing.
milliseconds RoundedUp(double count) {
  return milliseconds(static_cast<std::int64_t>(std::clamp(count, 0.0, 1e9)) + 1);
}

Failure FailureOf(FailureClass failure_class, std::string message) {
  return {.failure_class = failure_class, .message = std::move(message)};
}

/// Walks begin at the first change that is known.
void NoteChange(Lane& lane, const Place& place) {
  const BlockNumber block = ItemPointerGetBlockNumber(&place);
  lane.walk_from = lane.changes ? std::min(lane.walk_from, block) : block;
  lane.changes = true;
  // It may be behind the walk that is under way: that is not the last one then.
  lane.walk.found = true;
}

}  // namespace

Flow::Flow(std::string lease) : lease_(std::move(lease)) {
  const Datum uuid =
      pg::Call([this] { return DirectFunctionCall1(uuid_in, CStringGetDatum(lease_.c_str())); });
  lease_uuid_ = *DatumGetUUIDP(uuid);
  http::TransportOptions options;
  options.allowed_hosts = http::HostList::Parse(pg::StringSetting("ai.allowed_hosts"));
  options.ca_file = pg::StringSetting("ai.ca_file");
  options.user_agent = "ai/" AI_VERSION;
  transport_ = std::make_unique<http::CurlTransport>(std::move(options));
}

// ---- looking and taking ----

template <typename Body>
bool Flow::Guarded(Lane& lane, std::string_view step, const Body& body) {
  try {
    body();
    return true;
  } catch (const LostPlaces&) {
    Drop(lane);
  } catch (const pg::Error& error) {
    if (pg::EndsProcess(error)) {
      throw;
    }
    Drop(lane);
    if (pg::MeetsLock(error)) {
      lane.rests_until = clock_.Now() + kLocked;
    } else {
      Rest(lane, step, FailureOf(FailureClass::kTransient, error.what()));
    }
  } catch (const ai::Error& error) {
    if (error.code() == ErrorCode::kCancelled) {
      throw;
    }
    Drop(lane);
    // Rows of a vectorizer that was dropped are gone with it.
    lane.owes_rows = lane.owes_rows && error.code() != ErrorCode::kUndefinedObject;
    Rest(lane, step, FailureOf(FailureClass::kConfiguration, error.what()));
  }
  return false;
}

/// A change is first looked for where changes are added, which takes no time; then everywhere, but
/// not more often than that is worth.
void Flow::Look(bool whole) {
  (whole ? look_at_whole_ : look_) = false;
  const SteadyTime now = clock_.Now();
  std::set<std::int32_t> seen;
  std::vector<Lane*> outdated;
  WorkTransaction transaction;
  {
    pg::Spi spi;
    const pg::Argument arguments[] = {{BOOLOID, BoolGetDatum(whole)}};
    const pg::Rows rows = spi.Execute(
        "SELECT id, version, priority, first_change, retry_in_ms, whole "
        "FROM ai._look_for_work($1)",
        arguments);
    for (std::uint64_t i = 0; i < rows.count(); ++i) {
      const std::int32_t id = DatumGetInt32(*rows.At(i, 0));
      Lane& lane = lanes_[id];
      seen.insert(id);
      const std::string version(pg::Utf8View(*rows.At(i, 1)));
      if (version != lane.version) {
        outdated.push_back(&lane);
        lane.version = version;
        lane.rests_until = {};
      }
      lane.priority = DatumGetInt32(*rows.At(i, 2));
      if (const auto change = rows.At(i, 3)) {
        NoteChange(lane, pg::TidAt(*change));
      }
      look_at_whole_ = look_at_whole_ || !DatumGetBool(*rows.At(i, 5));
      const auto retry = rows.At(i, 4);
      lane.next_retry =
          retry ? std::optional(now + RoundedUp(DatumGetFloat8(*retry))) : std::nullopt;
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
    if (seen.contains(lane->first)) {
      ++lane;
      continue;
    }
    Drop(lane->second);
    lane = lane->second.owes_rows ? std::next(lane) : lanes_.erase(lane);
  }
}

std::size_t Flow::SlotsFor(const Lane& lane) const {
  const auto most = static_cast<std::size_t>(pg::settings.max_in_flight);
  const std::size_t taken = in_flight_.size();
  const std::size_t all = most > taken ? most - taken : 0;
  if (lane.vectorizer == nullptr) {
    return all;
  }
  if (lane.vectorizer->local_model() != nullptr) {
    return local_.busy() ? 0 : 1;
  }
  const std::size_t own = lane.vectorizer->concurrency(most);
  const std::size_t used = lane.in_flight + lane.delayed;
  return std::min(all, own > used ? own - used : 0);
}

/// By priority, then the one that has the least under way, then the one whose turn was longest ago.
bool Flow::Before(const Lane& left, const Lane& right) {
  return std::tuple(-left.priority, left.in_flight, left.turn) <
         std::tuple(-right.priority, right.in_flight, right.turn);
}

Lane* Flow::NextLane() {
  const SteadyTime now = clock_.Now();
  Lane* best = nullptr;
  for (auto& [id, lane] : lanes_) {
    const bool due = lane.changes || lane.owes_rows || !lane.unread.empty() ||
                     (lane.next_retry && *lane.next_retry <= now);
    if (!due || lane.rests_until > now || !lane.unsent.empty() || SlotsFor(lane) == 0) {
      continue;
    }
    if (best == nullptr || Before(lane, *best)) {
      best = &lane;
    }
  }
  return best;
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
  while (held_bytes_ < kMostHeldBytes) {
    Lane* lane = NextLane();
    if (lane == nullptr || take_again_soon_) {
      return;
    }
    lane->turn = ++turns_;
    TakeInto(*lane);
    while (SendOne(*lane)) {
    }
  }
}

bool Flow::Load(Lane& lane) {
  if (lane.vectorizer != nullptr) {
    return true;
  }
  std::int32_t id = 0;
  for (const auto& [key, value] : lanes_) {
    id = &value == &lane ? key : id;
  }
  return Guarded(lane, "configuration", [&] {
    WorkTransaction transaction;
    {
      pg::Spi spi;
      lane.vectorizer = std::make_unique<Vectorizer>(spi, id);
    }
    transaction.Commit();
  });
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
  const std::size_t most = std::min(SlotsFor(lane) * lane.vectorizer->batch_size(), kMostTaken);
  const bool retries = lane.next_retry && *lane.next_retry <= clock_.Now();
  Guarded(lane, "loading", [&] {
    if (lane.unread.empty()) {
      if (!TakeRows(lane, lease(), most, retries)) {
        take_again_soon_ = true;
        return;
      }
      look_ = look_ || retries;  // for the time of the next one
    }
    if (!lane.unread.empty()) {
      Accept(lane, ReadRows(lane, kMostReadBytes));
    }
  });
}

void Flow::Accept(Lane& lane, std::vector<Read> reads) {
  std::vector<RowPtr> rows;
  for (Read& read : reads) {
    try {
      rows.push_back(CutRow(*lane.vectorizer, read));
    } catch (const ai::Error& error) {
      if (error.code() == ErrorCode::kCancelled) {
        throw;
      }
      ++tally_.errors;
      tally_.last_error = error.what();
      const Place places[] = {read.place};
      GiveUp(lane, lease(), places, "chunking", FailureOf(FailureClass::kSuspect, error.what()));
    }
  }
  ReuseVectors(lane, rows);
  for (const RowPtr& row : rows) {
    held_bytes_ += row->bytes;
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

/// A chunk that moved within its row, or that another row has if that is wanted, has its vector
/// already.
void Flow::ReuseVectors(Lane& lane, std::vector<RowPtr>& rows) {
  if (lane.vectorizer->column()) {
    return;
  }
  std::vector<Place> places;
  std::vector<policy::ContentHash> hashes;
  for (const RowPtr& row : rows) {
    if (row->waiting == 0 || (row->old_chunks == 0 && !lane.vectorizer->reuse())) {
      continue;
    }
    places.push_back(row->place);
    for (const Chunk& chunk : row->chunks) {
      if (!chunk.kept) {
        hashes.push_back(chunk.hash);
      }
    }
  }
  if (places.empty()) {
    return;
  }
  std::map<policy::ContentHash, VectorOf> known;
  for (auto& [hash, vector] : FindVectors(*lane.vectorizer, places, hashes)) {
    known.emplace(hash, std::move(vector));
  }
  for (const RowPtr& row : rows) {
    for (Chunk& chunk : row->chunks) {
      const auto found = chunk.kept ? known.end() : known.find(chunk.hash);
      if (found != known.end()) {
        chunk.vector = found->second;
        --row->waiting;
      }
    }
  }
}

// ---- sending and receiving ----

void Flow::Send() {
  SendDelayed();
  std::vector<Lane*> lanes;
  for (auto& [id, lane] : lanes_) {
    lanes.push_back(&lane);
  }
  while (!lanes.empty()) {
    const auto next = std::min_element(
        lanes.begin(), lanes.end(), [](Lane* left, Lane* right) { return Before(*left, *right); });
    if (SendOne(**next)) {
      (*next)->turn = ++turns_;
    } else {
      lanes.erase(next);
    }
  }
  transport_->Drive();
}

void Flow::SendDelayed() {
  const SteadyTime now = clock_.Now();
  const auto most = static_cast<std::size_t>(pg::settings.max_in_flight);
  std::list<Request> due;
  for (auto request = delayed_.begin(); request != delayed_.end();) {
    const auto next = std::next(request);
    if (request->not_before <= now) {
      --request->lane->delayed;
      due.splice(due.end(), delayed_, request);
    }
    request = next;
  }
  for (Request& request : due) {
    std::erase_if(request.items, [](const Item& item) { return item.row->over; });
    if (request.items.empty()) {
      continue;
    }
    if (in_flight_.size() < most && !request.gate->Closed()) {
      Submit(std::move(request));
    } else {
      ++request.lane->delayed;
      delayed_.push_back(std::move(request));
    }
  }
}

/// False if there is nothing to send, or no way to.
bool Flow::SendOne(Lane& lane) {
  if (lane.unsent.empty() || SlotsFor(lane) == 0) {
    return false;
  }
  if (lane.vectorizer->local_model() != nullptr) {
    SendLocally(lane);
    return false;
  }
  Request request{&lane, {}, {}, nullptr};
  const bool sendable = Guarded(lane, "embedding", [&] {
    WorkTransaction transaction;
    request.endpoint =
        pg::ResolveEndpoint(lane.vectorizer->embedding(), lane.vectorizer->owner, std::nullopt);
    transaction.Commit();
  });
  if (!sendable) {
    return false;
  }
  request.gate = &GateOf(request.endpoint);
  lane.gate = request.gate;
  if (request.gate->Closed()) {
    return false;
  }
  request.items = NextItems(lane);
  if (!request.items.empty()) {
    Submit(std::move(request));
  }
  return true;
}

/// As many as fit into one request.
std::vector<Item> Flow::NextItems(Lane& lane) {
  std::vector<Item> items;
  const auto& limits = lane.vectorizer->provider().limits();
  provider::Batch size(limits);
  while (!lane.unsent.empty() && items.size() < lane.vectorizer->batch_size()) {
    const Item& item = lane.unsent.front();
    if (!item.row->over) {
      Chunk& chunk = item.get();
      const auto prepared =
          provider::Prepare(chunk.text, limits, lane.vectorizer->encoding(), pg::ServeInterrupts);
      if (!size.Fits(prepared)) {
        break;
      }
      size.Add(prepared);
      chunk.sent_bytes = prepared.text.size();
      lane.usage.truncated_chunks += prepared.truncated ? 1 : 0;
      items.push_back(item);
    }
    lane.unsent.pop_front();
  }
  return items;
}

void Flow::Submit(Request request) {
  Lane& lane = *request.lane;
  std::vector<std::string_view> texts;
  texts.reserve(request.items.size());
  for (const Item& item : request.items) {
    texts.push_back(std::string_view(item.get().text).substr(0, item.get().sent_bytes));
  }
  http::Request message;
  const bool sendable = Guarded(lane, "embedding", [&] {
    message = lane.vectorizer->provider().Build(texts, request.endpoint);
    pg::ApplyLimits(lane.vectorizer->embedding(), message);
  });
  if (!sendable) {
    return;
  }
  ++lane.in_flight;
  ++lane.usage.requests;
  request.gate->Sent();
  const auto id = transport_->Submit(std::move(message));
  in_flight_.emplace(static_cast<std::uint64_t>(id), std::move(request));
}

policy::EndpointGate& Flow::GateOf(const provider::Endpoint& endpoint) {
  const policy::GateLimits limits{pg::settings.breaker_failures,
                                  milliseconds(pg::settings.breaker_pause)};
  const std::string key = endpoint.base_url + '\n' + endpoint.api_key;
  policy::EndpointGate& gate = gates_.try_emplace(key, clock_, limits).first->second;
  gate.SetLimits(limits);
  return gate;
}

void Flow::SendLocally(Lane& lane) {
  std::vector<Item> items;
  while (!local_.busy() && !lane.unsent.empty() && items.size() < lane.vectorizer->batch_size()) {
    if (!lane.unsent.front().row->over) {
      items.push_back(std::move(lane.unsent.front()));
    }
    lane.unsent.pop_front();
  }
  if (!items.empty()) {
    ++lane.in_flight;
    ++lane.usage.requests;
    local_.Start(lane, std::move(items));
  }
}

void Flow::ReceiveLocally() {
  Lane* lane = local_.lane();
  if (lane == nullptr) {
    return;
  }
  Guarded(*lane, "embedding", [&] {
    if (local_.Step()) {
      const LocalEmbedder::Done done = local_.Take();
      --lane->in_flight;
      lane->usage.truncated_chunks += done.truncated;
      OnVectors(*lane, done.items, done.embeddings);
    }
  });
}

void Flow::Receive() {
  ReceiveLocally();
  transport_->Drive();
  for (http::Completion& completion : transport_->Collect()) {
    const auto found = in_flight_.find(static_cast<std::uint64_t>(completion.id));
    if (found == in_flight_.end()) {
      continue;
    }
    Request request = std::move(found->second);
    in_flight_.erase(found);
    --request.lane->in_flight;
    if (completion.result) {
      OnReply(std::move(request), completion.result.value());
      transport_->Recycle(std::move(completion.result.value().body));
    } else {
      OnFailure(std::move(request), completion.result.failure());
    }
  }
}

void Flow::OnReply(Request request, const http::Response& response) {
  auto embeddings = std::make_shared<provider::Embeddings>();
  const auto parsed = request.lane->vectorizer->provider().Parse(
      response, request.endpoint, request.items.size(), clock_.WallNow(), *embeddings);
  if (!parsed) {
    OnFailure(std::move(request), parsed.failure());
    return;
  }
  request.gate->Succeeded();
  OnVectors(*request.lane, request.items, embeddings);
}

void Flow::OnVectors(Lane& lane, std::span<const Item> items,
                     const std::shared_ptr<provider::Embeddings>& embeddings) {
  lane.usage.input_tokens += embeddings->input_tokens.value_or(0);
  lane.usage.sent_chunks += static_cast<std::int64_t>(items.size());
  for (std::size_t i = 0; i < items.size(); ++i) {
    const Item& item = items[i];
    item.get().vector = {embeddings, i};
    if (--item.row->waiting == 0 && !item.row->over) {
      lane.ready.push_back(item.row);
    }
  }
}

std::vector<RowPtr> Flow::RowsOf(const Request& request) const {
  std::vector<RowPtr> rows;
  for (const Item& item : request.items) {
    if (!item.row->over && (rows.empty() || rows.back() != item.row)) {
      rows.push_back(item.row);
    }
  }
  return rows;
}

void Flow::OnFailure(Request request, const Failure& failure) {
  constexpr int kTries = 3;
  const policy::Backoff between_tries{std::chrono::seconds(1), std::chrono::seconds(10)};
  Lane& lane = *request.lane;
  request.gate->Failed(failure);
  ++tally_.errors;
  tally_.last_error = failure.message;
  const std::vector<RowPtr> rows = RowsOf(request);
  switch (failure.failure_class) {
    case FailureClass::kDeferred:
      --tally_.errors;
      Delay(std::move(request), milliseconds(0));
      return;
    case FailureClass::kConfiguration:
      Guarded(lane, "embedding",
              [&] { GiveBackRows(lane, lease(), PlacesOf(rows), milliseconds(0)); });
      End(lane, rows);
      look_ = true;
      Rest(lane, "embedding", failure);
      return;
    case FailureClass::kSuspect:
      if (rows.size() > 1) {
        Split(std::move(request));
        return;
      }
      Guarded(lane, "embedding",
              [&] { GiveUp(lane, lease(), PlacesOf(rows), "embedding", failure); });
      End(lane, rows);
      return;
    default:
      if (failure.failure_class == FailureClass::kTransient && ++request.tries < kTries) {
        const auto pause = between_tries.After(request.tries, random_);
        Delay(std::move(request), pause);
        return;
      }
      Guarded(lane, "embedding", [&] {
        TryAgain(lane, lease(), rows, "embedding", failure, milliseconds(pg::settings.retry_delay));
      });
      End(lane, rows);
      look_ = true;
  }
}

void Flow::Delay(Request request, milliseconds delay) {
  request.not_before = clock_.Now() + delay;
  ++request.lane->delayed;
  delayed_.push_back(std::move(request));
}

/// One of the rows is to blame: each half is asked for itself, so that the others get through.
void Flow::Split(Request request) {
  const RowPtr middle = RowsOf(request)[RowsOf(request).size() / 2];
  const auto cut = std::find_if(request.items.begin(), request.items.end(),
                                [&](const Item& item) { return item.row == middle; });
  Request second = request;
  second.items.assign(cut, request.items.end());
  request.items.erase(cut, request.items.end());
  Delay(std::move(request), milliseconds(0));
  Delay(std::move(second), milliseconds(0));
}

// ---- storing and ending ----

void Flow::Store() {
  for (auto& [id, lane] : lanes_) {
    StoreLane(lane);
  }
}

void Flow::StoreLane(Lane& lane) {
  if (lane.store_after > clock_.Now()) {
    return;
  }
  std::vector<RowPtr> rows;
  rows.swap(lane.ready);
  std::erase_if(rows, [](const RowPtr& row) { return row->over; });
  for (std::size_t from = 0; from < rows.size();) {
    std::size_t to = from;
    for (std::size_t bytes = 0; to < rows.size() && bytes < kMostStoredBytes; ++to) {
      bytes += rows[to]->bytes;
    }
    StoreSome(lane, std::span(rows).subspan(from, to - from));
    transport_->Drive();
    from = to;
  }
}

void Flow::StoreSome(Lane& lane, std::span<const RowPtr> some) {
  std::vector<RowPtr> rows;
  std::copy_if(some.begin(), some.end(), std::back_inserter(rows),
               [](const RowPtr& row) { return !row->over; });
  if (rows.empty()) {
    return;
  }
  if (lane.store_after > clock_.Now()) {
    lane.ready.insert(lane.ready.end(), rows.begin(), rows.end());
    return;
  }
  try {
    const std::vector<RowPtr> later = StoreRows(lane, lease(), lease_, rows);
    std::vector<RowPtr> done;
    std::copy_if(rows.begin(), rows.end(), std::back_inserter(done), [&](const RowPtr& row) {
      return std::find(later.begin(), later.end(), row) == later.end();
    });
    tally_.rows_done += static_cast<std::int64_t>(done.size());
    End(lane, done);
    if (!later.empty()) {
      GiveBackRows(lane, lease(), PlacesOf(later), kLocked);
      End(lane, later);
      look_ = true;
    }
    if (!done.empty()) {
      lane.last_error.clear();
    }
    // What came for these rows meanwhile was passed over.
    lane.changes = true;
  } catch (const LostLease&) {
    Guarded(lane, "writing", [&] {
      const std::vector<RowPtr> held = StillHeld(lane, lease(), rows);
      std::vector<RowPtr> lost;
      std::copy_if(rows.begin(), rows.end(), std::back_inserter(lost), [&](const RowPtr& row) {
        return std::find(held.begin(), held.end(), row) == held.end();
      });
      End(lane, lost);
      lane.ready.insert(lane.ready.end(), held.begin(), held.end());
    });
  } catch (const LostPlaces&) {
    Drop(lane);
  } catch (const pg::Error& error) {
    OnStoreError(lane, rows, error);
  }
}

void Flow::OnStoreError(Lane& lane, std::span<const RowPtr> rows, const pg::Error& error) {
  if (pg::EndsProcess(error)) {
    throw error;
  }
  if (pg::MeetsLock(error)) {
    lane.ready.insert(lane.ready.end(), rows.begin(), rows.end());
    lane.store_after = clock_.Now() + kLocked;
    return;
  }
  const Failure failure = FailureOf(FailureClass::kTransient, error.what());
  if (!pg::BlamesRow(error)) {
    Drop(lane);
    Rest(lane, "writing", failure);
    return;
  }
  if (rows.size() > 1) {
    StoreSome(lane, rows.first(rows.size() / 2));
    StoreSome(lane, rows.subspan(rows.size() / 2));
    return;
  }
  ++tally_.errors;
  tally_.last_error = failure.message;
  Guarded(lane, "writing", [&] {
    TryAgain(lane, lease(), rows, "writing", failure, milliseconds(pg::settings.retry_delay));
  });
  End(lane, rows);
  look_ = true;
}

void Flow::End(Lane& lane, std::span<const RowPtr> rows) {
  for (const RowPtr& row : rows) {
    if (!row->over) {
      row->over = true;
      held_bytes_ -= row->bytes;
    }
  }
  std::erase_if(lane.held, [](const RowPtr& row) { return row->over; });
}

void Flow::Rest(Lane& lane, std::string_view step, const Failure& failure) {
  ++tally_.errors;
  tally_.last_error = failure.message;
  lane.rests_until = clock_.Now() + std::min(kRest, milliseconds(pg::settings.breaker_pause));
  std::int32_t id = 0;
  for (const auto& [key, value] : lanes_) {
    id = &value == &lane ? key : id;
  }
  if (failure.message != lane.last_error) {
    lane.last_error = failure.message;
    RecordError(id, lease_, step, failure);
  }
}

/// Lets go of all that the lane has in hand, in memory only.
void Flow::Forget(Lane& lane) {
  for (auto request = in_flight_.begin(); request != in_flight_.end();) {
    if (request->second.lane == &lane) {
      transport_->Cancel(http::RequestId(request->first));
      request->second.gate->Cancelled();
      request = in_flight_.erase(request);
    } else {
      ++request;
    }
  }
  delayed_.remove_if([&](const Request& request) { return request.lane == &lane; });
  if (local_.lane() == &lane) {
    local_.Forget();
  }
  lane.in_flight = lane.delayed = 0;
  End(lane, std::vector<RowPtr>(lane.held));
  lane.unread.clear();
  lane.unsent.clear();
  lane.ready.clear();
  lane.walk = {};
  lane.owes_rows = lane.owes_rows || lane.vectorizer != nullptr;
}

/// Drops the lane and gives its rows back at once, or when it is used again.
void Flow::Drop(Lane& lane) {
  Forget(lane);
  if (lane.vectorizer == nullptr) {
    return;
  }
  try {
    ReturnRows(lane);
  } catch (const pg::Error& error) {
    if (pg::EndsProcess(error)) {
      throw;
    }
    lane.owes_rows = error.sqlstate() != ERRCODE_UNDEFINED_TABLE;
  }
  lane.vectorizer.reset();
}

void Flow::ReturnRows(Lane& lane) {
  GiveBackAll(*lane.vectorizer, lease());
  lane.owes_rows = false;
  look_ = true;
}

void Flow::ForgetAll() {
  for (auto& [id, lane] : lanes_) {
    Forget(lane);
  }
}

// ---- the outer loop's business ----

WaitFor Flow::NextWait() {
  const SteadyTime now = clock_.Now();
  const http::WaitHint hint = transport_->NextWait();
  milliseconds wait(pg::settings.poll_interval);
  const auto at_most = [&](milliseconds limit) { wait = std::clamp(limit, milliseconds(0), wait); };
  const auto until = [&](SteadyTime when) {
    at_most(std::chrono::duration_cast<milliseconds>(when - now) + milliseconds(1));
  };
  if (hint.timeout) {
    at_most(*hint.timeout);
  }
  if (look_ || local_.busy()) {
    at_most(milliseconds(0));
  }
  const bool full = in_flight_.size() >= static_cast<std::size_t>(pg::settings.max_in_flight);
  for (const Request& request : delayed_) {
    if (const auto closed = request.gate->Closed()) {
      at_most(*closed);
    } else if (!full) {
      until(request.not_before);
    }
  }
  if (look_at_whole_) {
    until(next_whole_look_);
  }
  for (const auto& [id, lane] : lanes_) {
    if (!lane.ready.empty()) {
      until(lane.store_after);
    }
    if (!lane.unsent.empty() && lane.gate != nullptr) {
      at_most(lane.gate->Closed().value_or(wait));
    }
    const bool room = SlotsFor(lane) > 0 && lane.unsent.empty() && held_bytes_ < kMostHeldBytes;
    if (lane.rests_until > now) {
      until(lane.rests_until);
    } else if (room && (lane.changes || lane.owes_rows || !lane.unread.empty())) {
      at_most(take_again_soon_ ? kTakeAgain : milliseconds(0));
    } else if (room && lane.next_retry) {
      until(std::max(*lane.next_retry, now + (take_again_soon_ ? kTakeAgain : milliseconds(0))));
    }
  }
  return {in_flight_.empty() ? -1 : hint.fd, wait};
}

void Flow::GiveBack() {
  transport_->CancelAll();
  for (auto& [id, lane] : lanes_) {
    if (lane.vectorizer == nullptr || lane.idle()) {
      continue;
    }
    try {
      GiveBackAll(*lane.vectorizer, lease());
    } catch (const pg::Error& error) {
      if (pg::EndsProcess(error)) {
        throw;
      }
    }
  }
}

Tally Flow::TakeTally() {
  return std::exchange(tally_, {});
}

}  // namespace ai::worker
