// Processes the replies of providers and the embedded model: assigns vectors to rows, or handles
// the failure.
#pragma once

#include "core/pipeline/leases.hpp"

namespace ai::pipeline {

class Receiver final {
 public:
  Receiver(const Clock& clock, Random& random, const Settings& settings, InFlight& in_flight,
           ModelRunner& model, Leases& leases, Tally& tally)
      : clock_(clock),
        random_(random),
        settings_(settings),
        in_flight_(in_flight),
        model_(model),
        leases_(leases),
        tally_(tally) {}

  void Run();

 private:
  void RunModel();
  void OnReply(Queue& queue, Request request, http::Response& response);
  void OnVectors(Queue& queue, std::span<const Item> items,
                 const std::shared_ptr<provider::Embeddings>& embeddings);
  void OnFailure(Queue& queue, Request request, const provider::RateLimits& limits,
                 const Failure& failure);
  void OnUnusable(Queue& queue, const Failure& failure);
  void OnRefused(Queue& queue, Request request, const Failure& failure);
  void OnTransient(Queue& queue, Request request, const Failure& failure,
                   const policy::Verdict& verdict);
  void AskForLess(Queue& queue, Request request, const provider::RateLimits& limits,
                  Failure failure);
  void Bisect(Queue& queue, Request request, std::chrono::milliseconds delay);
  void Split(Queue& queue, Request request, std::size_t items, std::chrono::milliseconds delay);

  const Clock& clock_;
  Random& random_;
  const Settings& settings_;
  InFlight& in_flight_;
  ModelRunner& model_;
  Leases& leases_;
  Tally& tally_;
};

}  // namespace ai::pipeline
