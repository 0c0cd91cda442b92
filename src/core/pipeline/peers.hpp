// What a worker shares with the other workers of its database.
#pragma once

#include <chrono>
#include <cstdint>

#include "core/pipeline/source.hpp"

namespace ai::pipeline {

class Peers {
 public:
  Peers() = default;
  Peers(const Peers&) = delete;
  Peers& operator=(const Peers&) = delete;
  virtual ~Peers() = default;

  /// Reserves so many requests of a queue for this worker, or as many as others leave within the
  /// limit. Returns how many are reserved.
  virtual std::size_t KeepRequests(QueueId queue, std::size_t wanted, std::size_t limit) = 0;

  /// Makes this the only worker of the database that processes suspects. False if another one does.
  virtual bool EnterIsolation() = 0;
  virtual void LeaveIsolation() = 0;

  /// How often rows of crashed processes were released.
  virtual std::uint32_t Crashes() const = 0;

  /// Whether the code of an owner was recently slow. Always false if there is only one owner.
  virtual bool IsSlow(OwnerId owner) const = 0;
  virtual bool HasSlowOwners() const = 0;

  /// Whether this worker should poll all queues, because none has for so long.
  virtual bool BeginFullPoll(std::chrono::milliseconds interval) = 0;

  /// This worker has released rows of a queue that it cannot process now: wakes another one for
  /// them.
  virtual void Share(QueueId queue) = 0;
};

}  // namespace ai::pipeline
