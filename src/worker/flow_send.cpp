// See flow.hpp: sending and receiving.
#include "core/provider/batch.hpp"
#include "pg/guard.hpp"
#include "pg/provider_access.hpp"
#include "pg/settings.hpp"
#include "worker/extension.hpp"
#include "worker/flow.hpp"

namespace ai::worker {

void Flow::Send() {
  SendDelayed();
  std::vector<Lane*> lanes;
  for (auto& [id, lane] : lanes_) {
    if (!lane.unsent.empty()) {
      lanes.push_back(&lane);
    }
  }
  while (!lanes.empty()) {
    Lane* next = NextOf(sending_share_, lanes);
    if (!SendOne(*next)) {
      std::erase(lanes, next);
    }
  }
  transport().Drive();
  governor_.Write();
}

void Flow::SendDelayed() {
  const SteadyTime now = clock_.Now();
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
    if (HasSlot(request)) {
      request.ticket = request.route.Admit();
    }
    if (request.ticket) {
      if (request.ticket->probe() && request.items.size() > 1) {
        Delay(CutOff(request, request.items.begin() + 1), std::chrono::milliseconds(0));
      }
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
  const std::size_t most = lane.most_items.value_or(lane.vectorizer->batch_size());
  const bool may_take = lane.paused_until <= clock_.Now() && !isolating_;
  const bool has_more = !lane.unread.empty() || (lane.changes && may_take);
  if (!FindRoute(lane) || ((taking_ || take_again_soon_) && has_more && WantsMore(lane))) {
    return false;
  }
  auto ticket = lane.route->Admit();
  if (!ticket) {
    return false;
  }
  // A provider that answers nobody is asked for one text: it is not the row's fault.
  Request request{&lane, NextItems(lane, ticket->probe() ? 1 : most), *lane.route,
                  std::move(ticket)};
  request.failing = lane.failing;
  sending_share_.Charge(lane.contender(), static_cast<double>(request.items.size()));
  if (!request.items.empty()) {
    Submit(std::move(request));
  }
  return true;
}

/// As many as fit into one request.
std::vector<Item> Flow::NextItems(Lane& lane, std::size_t most) {
  std::vector<Item> items;
  const auto& limits = lane.vectorizer->provider().limits();
  provider::Batch size(limits);
  while (!lane.unsent.empty() && items.size() < most) {
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
      chunk.tokens = prepared.tokens;
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
  std::size_t tokens = 0;
  for (const Item& item : request.items) {
    tokens += item.get().tokens;
    texts.push_back(std::string_view(item.get().text).substr(0, item.get().sent_bytes));
  }
  http::Request message;
  const bool sendable = Guarded(lane, "embedding", [&] {
    message = lane.vectorizer->provider().Build(texts, request.route.endpoint);
    const std::size_t expected = message.max_response_bytes;
    pg::ApplyLimits(lane.vectorizer->embedding(), message);
    request.may_shrink = message.max_response_bytes < expected;
  });
  if (!sendable) {
    return;
  }
  ++lane.in_flight;
  ++lane.usage.requests;
  request.ticket->Charge(tokens);
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
    sending_share_.Charge(lane.contender(), static_cast<double>(items.size()));
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
  FollowProviders();
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
      const auto& provider = request.lane->vectorizer->provider();
      OnFailure(std::move(request), {}, provider.Explain(completion.result.failure()));
    }
  }
}

void Flow::OnReply(Request request, const http::Response& response) {
  auto embeddings = std::make_shared<provider::Embeddings>();
  const auto parsed = request.lane->vectorizer->provider().Parse(
      response, request.route.endpoint, request.items.size(), clock_.WallNow(), *embeddings);
  const auto limits = provider::ReadRateLimits(response.headers);
  if (!parsed) {
    OnFailure(std::move(request), limits, parsed.failure());
    return;
  }
  request.lane->failing.Succeeded(request.ticket->probe());
  request.ticket->Succeeded(limits, embeddings->input_tokens);
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

}  // namespace ai::worker
