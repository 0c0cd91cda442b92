// See flow.hpp: sending and receiving.
#include "core/policy/backoff.hpp"
#include "core/provider/batch.hpp"
#include "pg/guard.hpp"
#include "pg/provider_access.hpp"
#include "pg/settings.hpp"
#include "worker/extension.hpp"
#include "worker/flow.hpp"

namespace ai::worker {

using std::chrono::milliseconds;

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
  transport().Drive();
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
    const bool has_slot = request.lane->in_flight < request.lane->slots;
    if (has_slot && in_flight_.size() < most && !request.route.gate->Closed()) {
      Submit(std::move(request));
    } else {
      ++request.lane->delayed;
      delayed_.push_back(std::move(request));
    }
  }
}

/// False if there is nothing to send, or no way to.
bool Flow::SendOne(Lane& lane) {
  if (lane.unsent.empty() || SlotsFor(lane) == 0 || lane.in_flight + lane.delayed >= lane.slots) {
    return false;
  }
  if (lane.vectorizer->local_model() != nullptr) {
    SendLocally(lane);
    return false;
  }
  if (!FindRoute(lane)) {
    return false;
  }
  Request request{&lane, NextItems(lane), *lane.route};
  if (!request.items.empty()) {
    Submit(std::move(request));
  }
  return true;
}

/// Where the lane's requests go, looked up once for the rows that were taken together, and again as
/// long as nobody may ask there: a new key opens a gate of its own. False if there is no way.
bool Flow::FindRoute(Lane& lane) {
  if (!lane.route || lane.route->gate->Closed()) {
    const bool found = Guarded(lane, "embedding", [&] {
      WorkTransaction transaction;
      auto endpoint =
          pg::ResolveEndpoint(lane.vectorizer->embedding(), lane.vectorizer->owner, std::nullopt);
      transaction.Commit();
      policy::EndpointGate& gate = GateOf(endpoint);
      lane.route = {std::move(endpoint), &gate};
    });
    if (!found) {
      return false;
    }
  }
  return !lane.route->gate->Closed();
}

policy::EndpointGate& Flow::GateOf(const provider::Endpoint& endpoint) {
  const policy::GateLimits limits{pg::settings.breaker_failures,
                                  milliseconds(pg::settings.breaker_pause)};
  const std::string key = endpoint.base_url + '\n' + endpoint.api_key;
  policy::EndpointGate& gate = gates_.try_emplace(key, clock_, limits).first->second;
  gate.SetLimits(limits);
  return gate;
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
    message = lane.vectorizer->provider().Build(texts, request.route.endpoint);
    pg::ApplyLimits(lane.vectorizer->embedding(), message);
  });
  if (!sendable) {
    return;
  }
  ++lane.in_flight;
  ++lane.usage.requests;
  request.route.gate->Sent();
  const auto id = transport().Submit(std::move(message));
  in_flight_.emplace(static_cast<std::uint64_t>(id), std::move(request));
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
  if (in_flight_.empty()) {
    transport_.FollowSettings();
  }
  transport().Drive();
  for (http::Completion& completion : transport().Collect()) {
    const auto found = in_flight_.find(static_cast<std::uint64_t>(completion.id));
    if (found == in_flight_.end()) {
      continue;
    }
    Request request = std::move(found->second);
    in_flight_.erase(found);
    --request.lane->in_flight;
    if (completion.result) {
      OnReply(std::move(request), completion.result.value());
      transport().Recycle(std::move(completion.result.value().body));
    } else {
      OnFailure(std::move(request), completion.result.failure());
    }
  }
}

void Flow::OnReply(Request request, const http::Response& response) {
  auto embeddings = std::make_shared<provider::Embeddings>();
  const auto parsed = request.lane->vectorizer->provider().Parse(
      response, request.route.endpoint, request.items.size(), clock_.WallNow(), *embeddings);
  if (!parsed) {
    OnFailure(std::move(request), parsed.failure());
    return;
  }
  request.route.gate->Succeeded();
  Guarded(*request.lane, "embedding", [&] { OnVectors(*request.lane, request.items, embeddings); });
}

void Flow::OnVectors(Lane& lane, std::span<const Item> items,
                     const std::shared_ptr<provider::Embeddings>& embeddings) {
  lane.usage.input_tokens += embeddings->input_tokens.value_or(0);
  lane.usage.sent_chunks += static_cast<std::int64_t>(items.size());
  for (std::size_t i = 0; i < items.size(); ++i) {
    const Item& item = items[i];
    if (item.row->spill == nullptr) {
      item.get().vector = {embeddings, i};
    } else if (!item.row->over) {
      item.get().vector = {nullptr, item.row->spill->Append((*embeddings)[i]), item.row->spill};
    }
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
  request.route.gate->Failed(failure);
  if (failure.failure_class == FailureClass::kDeferred) {
    Delay(std::move(request), milliseconds(0));
    return;
  }
  Count(failure);
  const std::vector<RowPtr> rows = RowsOf(request);
  switch (failure.failure_class) {
    case FailureClass::kConfiguration:
      Guarded(lane, "embedding",
              [&] { lane.vectorizer->GiveBack(lane, lease(), rows, milliseconds(0)); });
      End(lane, rows);
      look_ = true;
      Rest(lane, "embedding", failure);
      return;
    case FailureClass::kSuspect:
      if (rows.size() > 1) {
        Split(std::move(request), rows);
        return;
      }
      Guarded(lane, "embedding",
              [&] { lane.vectorizer->GiveUp(lane, lease(), rows, "embedding", failure); });
      End(lane, rows);
      return;
    default:
      if (failure.failure_class == FailureClass::kTransient && ++request.tries < kTries) {
        const auto pause = between_tries.After(request.tries, random_);
        Delay(std::move(request), pause);
        return;
      }
      Guarded(lane, "embedding",
              [&] { lane.vectorizer->TryAgain(lane, lease(), rows, "embedding", failure); });
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
void Flow::Split(Request request, std::span<const RowPtr> rows) {
  const RowPtr& middle = rows[rows.size() / 2];
  const auto cut = std::find_if(request.items.begin(), request.items.end(),
                                [&](const Item& item) { return item.row == middle; });
  Request second = request;
  second.items.assign(cut, request.items.end());
  request.items.erase(cut, request.items.end());
  Delay(std::move(request), milliseconds(0));
  Delay(std::move(second), milliseconds(0));
}

}  // namespace ai::worker
