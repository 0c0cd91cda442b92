#include "core/pipeline/capacity.hpp"

#include <algorithm>

namespace ai::pipeline {
namespace {

/// Requests guaranteed to each endpoint, independent of other endpoints.
constexpr std::size_t kOfEachEndpoint = 4;

}  // namespace

/// Each endpoint has some requests of its own, so one that does not reply cannot use up all. Null
/// is an endpoint that is not known yet. Each owner has one as well, however long the requests of
/// others take.
std::size_t Capacity::FreeAt(const Limiter* limiter, OwnerId owner) const {
  const std::size_t most = settings_.max_in_flight;
  if (in_flight_.count() < most) {
    return most - in_flight_.count();
  }
  const std::size_t own = std::min(kOfEachEndpoint, most);
  const std::size_t used = limiter == nullptr ? 0 : limiter->in_flight();
  if (used < own) {
    return own - used;
  }
  return in_flight_.HasAnyOf(owner) ? 0 : 1;
}

std::size_t Capacity::FreeFor(const Queue& queue) const {
  const auto& route = queue.outbox.route();
  const std::size_t all = FreeAt(route ? route->limiter : nullptr, queue.owner());
  if (queue.source == nullptr) {
    return all;
  }
  const SourceTraits& source = queue.source->traits();
  if (source.provider == nullptr) {
    return model_.busy() ? 0 : 1;
  }
  const std::size_t own =
      std::min(source.concurrency.value_or(settings_.max_in_flight), settings_.max_in_flight);
  const std::size_t used = queue.outbox.used();
  return std::min(all, own > used ? own - used : 0);
}

bool Capacity::HasRoom(const Queue& queue, const Request& request) const {
  return queue.outbox.in_flight() < queue.outbox.kept_requests &&
         FreeAt(request.route.limiter, queue.owner()) > 0;
}

std::size_t Capacity::Keep(Queue& queue, std::size_t wanted) {
  const auto& concurrency = queue.source->traits().concurrency;
  queue.outbox.kept_requests =
      concurrency ? peers_.KeepRequests(queue.id, wanted, *concurrency) : wanted;
  return queue.outbox.kept_requests;
}

void Capacity::Free(Queue& queue) {
  const std::size_t used = queue.outbox.used();
  if (queue.outbox.unsent() > 0 || queue.has_unread() || used >= queue.outbox.kept_requests) {
    return;
  }
  queue.outbox.kept_requests = queue.is_job() ? used : peers_.KeepRequests(queue.id, used, 0);
}

void Capacity::FreeAll(Queue& queue) {
  if (std::exchange(queue.outbox.kept_requests, 0) > 0 && !queue.is_job()) {
    peers_.KeepRequests(queue.id, 0, 0);
  }
}

}  // namespace ai::pipeline
