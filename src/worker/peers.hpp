// What this worker shares with others of its database, in shared memory.
#pragma once

#include "core/pipeline/peers.hpp"
#include "worker/request_slots.hpp"

namespace ai::worker {

class WorkerPeers final : public pipeline::Peers {
 public:
  std::size_t KeepRequests(pipeline::QueueId queue, std::size_t wanted,
                           std::size_t limit) override {
    return slots_.Keep(queue, wanted, limit);
  }
  bool EnterIsolation() override;
  void LeaveIsolation() override;
  std::uint32_t Deaths() const override;
  bool IsSlow(pipeline::OwnerId owner) const override;
  bool HasSlowOwners() const override;
  bool BeginFullPoll(std::chrono::milliseconds interval) override;
  void Share(pipeline::QueueId queue) override;

 private:
  RequestSlots slots_;
};

}  // namespace ai::worker
