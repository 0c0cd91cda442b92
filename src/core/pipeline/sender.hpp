// Sends requests: retries first, then new ones in the order of fair shares.
#pragma once

#include "core/pipeline/leases.hpp"
#include "core/pipeline/plan.hpp"

namespace ai::pipeline {

class Sender final {
 public:
  Sender(const Clock& clock, Queues& queues, InFlight& in_flight, ModelRunner& model,
         Capacity& capacity, Leases& leases, const Planner& planner, InterruptCheck interrupt)
      : clock_(clock),
        queues_(queues),
        in_flight_(in_flight),
        model_(model),
        capacity_(capacity),
        leases_(leases),
        planner_(planner),
        interrupt_(interrupt) {}

  void Run();

  /// Sends a request of the queue if one is due; otherwise false.
  bool SendOne(Queue& queue);

 private:
  using Shares = std::map<const Limiter*, policy::FairShare>;  // of each endpoint

  void SendDelayed(Queue& queue);
  void SendUnsent(policy::FairShare& share, std::vector<Queue*>& queues);
  bool FindRoute(Queue& queue);
  void SendToModel(Queue& queue);
  void Charge(const Queue& queue, std::size_t texts);
  void ChargeProbe(const Queue& queue);
  void Submit(Queue& queue, Request request);

  const Clock& clock_;
  Queues& queues_;
  InFlight& in_flight_;
  ModelRunner& model_;
  Capacity& capacity_;
  Leases& leases_;
  const Planner& planner_;
  InterruptCheck interrupt_;
  Shares shares_;        // by texts
  Shares probe_shares_;  // by probes
};

}  // namespace ai::pipeline
