// How many requests may be added to those in flight.
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

  /// Of a queue, by this worker.
  std::size_t FreeFor(const Queue& queue) const;

  /// Whether a request that was sent before may go again.
  bool HasRoom(const Queue& queue, const Request& request) const;

  /// Keeps requests of a queue for this worker, which no other worker may have then. Returns how
  /// many it has now.
  std::size_t Keep(Queue& queue, std::size_t wanted);

  /// Others may have what this worker does not need; and all, if the queue is let go of.
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
