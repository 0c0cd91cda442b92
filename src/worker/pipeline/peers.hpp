// What this worker shares with the other workers of its database, in shared memory.
#pragma once

#include <map>

#include "core/pipeline/peers.hpp"
#include "worker/pipeline/request_slots.hpp"

namespace ai::worker {

/// The queue tables that this worker knows.
using QueueTables = std::map<pipeline::QueueId, Oid>;

class WorkerPeers final : public pipeline::Peers {
 public:
  explicit WorkerPeers(const QueueTables& tables) : tables_(tables) {}

  std::size_t KeepRequests(pipeline::QueueId queue, std::size_t wanted,
                           std::size_t limit) override {
    return slots_.Keep(queue, wanted, limit);
  }
  bool EnterIsolation() override;
  void LeaveIsolation() override;
  std::uint32_t Crashes() const override;
  bool IsSlow(pipeline::OwnerId owner) const override;
  bool HasSlowOwners() const override;
  bool BeginFullPoll(std::chrono::milliseconds interval) override;
  void Share(pipeline::QueueId queue) override;

 private:
  const QueueTables& tables_;
  RequestSlots slots_;
};

}  // namespace ai::worker
