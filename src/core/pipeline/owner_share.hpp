// Which work a worker leaves to others, so that no owner holds up another. An owner's code
// (triggers, policies, constraints) usually takes no time, and every worker runs it. Code of slow
// owners is run by half of the workers only, while they hold no rows of others. If there is only
// one owner, none of this applies.
#pragma once

#include "core/pipeline/peers.hpp"
#include "core/pipeline/queue.hpp"
#include "core/pipeline/settings.hpp"

namespace ai::pipeline {

class OwnerShare final {
 public:
  OwnerShare(const Settings& settings, const Queues& queues, const Peers& peers)
      : settings_(settings), queues_(queues), peers_(peers) {}

  /// Until when rows of the queue's owner must not be claimed, for the sake of other owners; not
  /// after now if they may be.
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
