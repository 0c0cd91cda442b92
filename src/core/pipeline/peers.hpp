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

  /// Keeps so many requests of a queue for this worker, or as many as others have left of the
  /// limit. Returns how many there are now.
  virtual std::size_t KeepRequests(QueueId queue, std::size_t wanted, std::size_t limit) = 0;

  /// Becomes the only worker of the database that works on suspects. False if another one is.
  virtual bool EnterIsolation() = 0;
  virtual void LeaveIsolation() = 0;

  /// How often rows of processes that died were released.
  virtual std::uint32_t Deaths() const = 0;

  /// Whether the code of an owner took long lately. Nobody is, as long as there is one owner.
  virtual bool IsSlow(OwnerId owner) const = 0;
  virtual bool HasSlowOwners() const = 0;

  /// Whether it is this worker's turn to poll all queues: none has for so long.
  virtual bool BeginFullPoll(std::chrono::milliseconds interval) = 0;

  /// This worker has released rows of a queue that it cannot do at once: another one may wake for
  /// them.
  virtual void Share(QueueId queue) = 0;
};

}  // namespace ai::pipeline
