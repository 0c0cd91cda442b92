// How many more requests may be in flight.
#pragma once

#include "core/pipeline/embedded_model.hpp"
#include "core/pipeline/in_flight.hpp"
#include "core/pipeline/peers.hpp"
#include "core/pipeline/settings.hpp"

namespace ai::pipeline {

class Capacity final {
 public:
  Capacity(const Settings& settings, const InFlight& in_flight, const ModelRunner& model,
           Peers& peers)
      : settings_(settings), in_flight_(in_flight), model_(model), peers_(peers) {}

  /// For a queue, by this worker.
  std::size_t FreeFor(const Queue& queue) const;

  /// Whether a request may be retried now.
  bool HasRoom(const Queue& queue, const Request& request) const;

  /// Reserves request slots of a queue for this worker. Returns how many it has reserved now.
  std::size_t Keep(Queue& queue, std::size_t wanted);

  /// Gives unused slots back to other workers; or all of them, when the queue is released.
  void Free(Queue& queue);
  void FreeAll(Queue& queue);

 private:
  std::size_t FreeAt(const Limiter* limiter, OwnerId owner) const;

  const Settings& settings_;
  const InFlight& in_flight_;
  const ModelRunner& model_;
  Peers& peers_;
};

}  // namespace ai::pipeline
