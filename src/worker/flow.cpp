#include "worker/flow.hpp"

#include "core/http/host_policy.hpp"
#include "pg/datum.hpp"
#include "pg/guard.hpp"
#include "pg/provider_access.hpp"
#include "pg/settings.hpp"
#include "pg/transaction.hpp"
#include "worker/cut.hpp"
#include "worker/ending.hpp"
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
constexpr milliseconds kLockedRow = std::chrono::seconds(1);

Failure FailureOf(FailureClass failure_class, std::string message) {
  return {.failure_class = failure_class, .message = std::move(message)};
}

/// Walks begin at the first change that is known.
void NoteChange(Lane& lane, const Place& place) {
  const BlockNumber block = ItemPointerGetBlockNumber(&place);
  lane.walk_from = lane.changes ? std::min(lane.walk_from, block) : block;
  lane.changes = true;
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
    Rest(lane, step, FailureOf(FailureClass::kTransient, error.what()));
  } catch (const ai::Error& error) {
    if (error.code() == ErrorCode::kCancelled) {
      throw;
    }
    Drop(lane);
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
  pg::Transaction transaction;
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
      if (version != lane.version && lane.idle()) {
        lane.vectorizer.reset();
        lane.version = version;
        lane.rests_until = {};
      }
      lane.priority = DatumGetInt32(*rows.At(i, 2));
      if (const auto change = rows.At(i, 3)) {
        NoteChange(lane, pg::TidAt(*change));
      }
      look_at_whole_ = look_at_whole_ || !DatumGetBool(*rows.At(i, 5));
      const auto retry = rows.At(i, 4);
      lane.next_retry = retry ? std::optional(now + milliseconds(static_cast<std::int64_t>(
                                                        std::max(0.0, DatumGetFloat8(*retry)))))
                              : std::nullopt;
    }
  }
  transaction.Commit();
  if (whole) {
    next_whole_look_ = clock_.Now() + kWholeLookRest * (clock_.Now() - now);
  }
  for (auto lane = lanes_.begin(); lane != lanes_.end();) {
    const bool gone = !seen.contains(lane->first);
    lane->second.changes = lane->second.changes && !gone;
    lane = gone && lane->second.idle() ? lanes_.erase(lane) : std::next(lane);
  }
}

std::size_t Flow::SlotsFor(const Lane& lane) const {
  const auto most = static_cast<std::size_t>(pg::settings.max_in_flight);
  const std::size_t taken = in_flight_.size();
  const std::size_t all = most > taken ? most - taken : 0;
  if (lane.vectorizer == nullptr) {
    return all;
  }
  const std::size_t own = lane.vectorizer->concurrency(most);
  const std::size_t used = lane.in_flight + lane.delayed;
  return std::min(all, own > used ? own - used : 0);
}

/// By priority, then the one that has the least under way.
Lane* Flow::NextLane() {
  const SteadyTime now = clock_.Now();
  Lane* best = nullptr;
  for (auto& [id, lane] : lanes_) {
    const bool due =
        lane.changes || !lane.unread.empty() || (lane.next_retry && *lane.next_retry <= now);
    if (!due || lane.rests_until > now || !lane.unsent.empty() || SlotsFor(lane) == 0) {
      continue;
    }
    if (best == nullptr || lane.priority > best->priority ||
        (lane.priority == best->priority && lane.in_flight < best->in_flight)) {
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
    TakeInto(*lane);
    SendFrom(*lane);
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
    pg::Transaction transaction;
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
  const std::size_t most = std::min(SlotsFor(lane) * lane.vectorizer->batch_size(), kMostTaken);
  Guarded(lane, "loading", [&] {
    if (lane.unread.empty() && !TakeRows(lane, lease(), most)) {
      take_again_soon_ = true;
      return;
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
  for (auto& [id, lane] : lanes_) {
    SendFrom(lane);
  }
  transport_->Drive();
}

void Flow::SendDelayed() {
  const SteadyTime now = clock_.Now();
  const auto most = static_cast<std::size_t>(pg::settings.max_in_flight);
  for (auto request = delayed_.begin(); request != delayed_.end() && in_flight_.size() < most;) {
    if (request->not_before > now || request->gate->Closed()) {
      ++request;
      continue;
    }
    Request due = std::move(*request);
    request = delayed_.erase(request);
    --due.lane->delayed;
    std::erase_if(due.items, [](const Item& item) { return item.row->over; });
    if (!due.items.empty()) {
      Submit(std::move(due));
    }
  }
}

void Flow::SendFrom(Lane& lane) {
  while (!lane.unsent.empty() && SlotsFor(lane) > 0) {
    Request request{&lane, {}, {}, nullptr};
    const bool sendable = Guarded(lane, "embedding", [&] {
      pg::Transaction transaction;
      request.endpoint =
          pg::ResolveEndpoint(lane.vectorizer->embedding(), lane.vectorizer->owner, std::nullopt);
      transaction.Commit();
    });
    if (!sendable) {
      return;
    }
    request.gate = &GateOf(request.endpoint);
    if (request.gate->Closed()) {
      return;
    }
    const auto& limits = lane.vectorizer->provider().limits();
    provider::Batch size(limits);
    while (!lane.unsent.empty() && request.items.size() < lane.vectorizer->batch_size()) {
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
        request.items.push_back(item);
      }
      lane.unsent.pop_front();
    }
    if (!request.items.empty()) {
      Submit(std::move(request));
    }
  }
}

void Flow::Submit(Request request) {
  Lane& lane = *request.lane;
  std::vector<std::string_view> texts;
  texts.reserve(request.items.size());
  for (const Item& item : request.items) {
    texts.push_back(std::string_view(item.get().text).substr(0, item.get().sent_bytes));
  }
  http::Request message = lane.vectorizer->provider().Build(texts, request.endpoint);
  pg::ApplyLimits(lane.vectorizer->embedding(), message);
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

void Flow::Receive() {
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
  Lane& lane = *request.lane;
  lane.usage.input_tokens += embeddings->input_tokens.value_or(0);
  lane.usage.sent_chunks += static_cast<std::int64_t>(request.items.size());
  for (std::size_t i = 0; i < request.items.size(); ++i) {
    const Item& item = request.items[i];
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

void Flow::StoreSome(Lane& lane, std::span<const RowPtr> rows) {
  if (rows.empty() || rows[0]->over) {
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
      GiveBackRows(lane, lease(), PlacesOf(later), kLockedRow);
      End(lane, later);
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
  lane.rests_until = clock_.Now() + kRest;
  std::int32_t id = 0;
  for (const auto& [key, value] : lanes_) {
    id = &value == &lane ? key : id;
  }
  if (failure.message != lane.last_error) {
    lane.last_error = failure.message;
    RecordError(id, lease_, step, failure);
  }
}

/// Lets go of all that the lane has in hand; the rows are given back if that is possible.
void Flow::Drop(Lane& lane) {
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
  lane.in_flight = lane.delayed = 0;
  End(lane, std::vector<RowPtr>(lane.held));
  lane.unread.clear();
  lane.unsent.clear();
  lane.ready.clear();
  lane.walk = {};
  if (lane.vectorizer != nullptr) {
    try {
      GiveBackAll(*lane.vectorizer, lease());
    } catch (const pg::Error& error) {
      if (pg::EndsProcess(error)) {
        throw;
      }
    }
    lane.vectorizer.reset();
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
  for (const Request& request : delayed_) {
    if (const auto closed = request.gate->Closed()) {
      at_most(*closed);
    } else {
      until(request.not_before);
    }
  }
  if (look_at_whole_) {
    until(next_whole_look_);
  }
  for (const auto& [id, lane] : lanes_) {
    if (!lane.ready.empty()) {
      at_most(milliseconds(0));
    }
    if (lane.rests_until > now) {
      until(lane.rests_until);
    } else if (lane.changes && SlotsFor(lane) > 0 && lane.unsent.empty() &&
               held_bytes_ < kMostHeldBytes) {
      at_most(take_again_soon_ ? kTakeAgain : milliseconds(0));
    } else if (lane.next_retry) {
      until(*lane.next_retry);
    }
  }
  return {in_flight_.empty() ? -1 : hint.fd, wait};
}

void Flow::GiveBack() {
  transport_->CancelAll();
  for (auto& [id, lane] : lanes_) {
    if (lane.vectorizer != nullptr && !lane.idle()) {
      GiveBackAll(*lane.vectorizer, lease());
    }
  }
}

Tally Flow::TakeTally() {
  return std::exchange(tally_, {});
}

}  // namespace ai::worker
