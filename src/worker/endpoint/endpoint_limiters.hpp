// The limiters of a worker, kept in step with ai.provider: what somebody decides there reaches the
// limiters, what the limiters find out is written there. The table is read when a commit has
// changed it and with the heartbeat; written when a breaker opens or closes, and otherwise with the
// heartbeat: never for a request.
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

  /// The limiter of an endpoint and its key, which a configuration knows by that name. No
  /// transaction is open.
  EndpointLimiter& Find(const provider::Endpoint& endpoint, const std::string& key_name);

  /// Takes up changes of ai.provider. True if somebody has made any.
  bool Follow();

  /// Writes what is new to ai.provider.
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
  RecurringError read_trouble_{"read the table of providers"};
  RecurringError write_trouble_{"write to the table of providers"};
};

}  // namespace ai::worker
