// The limiters of a worker, synchronized with ai.provider: what administrators set there is applied
// to the limiters, and the state of the limiters is written there. The table is read when a commit
// has changed it and with each heartbeat; it is written when a breaker opens or closes, and with
// each heartbeat, but never per request.
#pragma once

#include <map>
#include <set>

#include "core/provider/endpoint.hpp"
#include "worker/endpoint/endpoint_limiter.hpp"
#include "worker/endpoint/provider_table.hpp"
#include "worker/process/process.hpp"

namespace ai::worker {

class EndpointLimiters final {
 public:
  explicit EndpointLimiters(const Clock& clock);

  /// The limiter of an endpoint and its key, which has that name in the configuration. No
  /// transaction is open.
  EndpointLimiter& Find(const provider::Endpoint& endpoint, const std::string& key_name);

  /// Applies changes of ai.provider. True if there were any.
  bool Follow();

  /// Writes changes to ai.provider.
  void Write();

 private:
  void Read();
  void Apply(const std::vector<ProviderRow>& rows);
  std::set<std::uint64_t> DueReports() const;

  const Clock& clock_;
  const DatabaseSlot* slot_;
  std::uint32_t changes_seen_;
  SteadyTime next_read_ = {};
  SteadyTime read_after_ = {};
  SteadyTime write_after_ = {};
  std::map<std::pair<std::string, std::uint64_t>, EndpointLimiter>
      limiters_;  // by name of the key, and id
  RecurringError read_trouble_{"read ai.provider"};
  RecurringError write_trouble_{"update ai.provider"};
};

}  // namespace ai::worker
