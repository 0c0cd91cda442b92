// What a worker leaves to others, so that no owner holds up another. An owner's code (triggers,
// policies, constraints) is usually done in no time, and every worker runs it. That of an owner
// whose code takes long is run by half of the workers only, when they have nothing of others in
// hand. Where there is only one owner, none of this applies.
#pragma once

#include "core/pipeline/peers.hpp"
#include "core/pipeline/queue.hpp"
#include "core/pipeline/settings.hpp"

namespace ai::pipeline {

class OwnerShare final {
 public:
  OwnerShare(const Settings& settings, const Queues& queues, const Peers& peers)
      : settings_(settings), queues_(queues), peers_(peers) {}

  /// Until when rows of the queue's owner have to be left alone, as far as that is for the sake of
  /// others; not after now if they may be claimed.
  SteadyTime MayClaim(const Queue& queue, SteadyTime now) const;

  /// The same for storing.
  SteadyTime MayStore(const Queue& queue, SteadyTime now) const;

 private:
  bool ServesSlow() const;
  bool HasRowsOfOthers(OwnerId owner) const;
  bool HasWorkOfSlowOwners(SteadyTime now) const;
  bool HoldsTooMuch(OwnerId owner) const;

  const Settings& settings_;
  const Queues& queues_;
  const Peers& peers_;
};

}  // namespace ai::pipeline
