// Lets requests to one endpoint with one key through, or not: what this process knows of it, and
// its part of the state that all processes share.
#pragma once

#include <optional>
#include <string>

#include "core/clock.hpp"
#include "worker/shared_providers.hpp"
#include "worker/ticket.hpp"

namespace ai::worker {

/// The time that all processes of the machine share.
inline policy::Micros SteadyMicros(const Clock& clock) {
  return std::chrono::duration_cast<std::chrono::microseconds>(clock.Now().time_since_epoch())
      .count();
}

policy::BreakerRules BreakerSettings();

/// Whose request it is, in the whole server.
inline policy::RoleId RoleIdOf(Oid role) {
  return policy::RoleId{MyDatabaseId} << 32 | role;
}

/// What somebody decided for the vectorizers of this database, in ai.provider.
struct Control {
  bool enabled = true;
  TimestampTz paused_until = 0;  // 0: not at all
  policy::EndpointLimits limits = {};
};

/// That a breaker is open, or half-open, and why.
struct Opening {
  TimestampTz since = 0;
  Failure failure = {};  // the last one, worded for those who wait
};

class Gate final {
 public:
  Gate(const Clock& clock, std::uint64_t id_of_endpoint, std::string its_address,
       std::string its_key_name)
      : id(id_of_endpoint),
        address(std::move(its_address)),
        key_name(std::move(its_key_name)),
        clock_(clock) {}
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;

  const std::uint64_t id;
  const std::string address;
  const std::string key_name;
  Control control = {};
  bool written = false;       // this process has written to its row of ai.provider
  std::size_t under_way = 0;  // requests of this process

  /// How long a role may not ask; nothing if its request may go now. What has no end, as far as is
  /// known, takes a day.
  std::optional<std::chrono::milliseconds> Closed(policy::RoleId role) const;

  /// The breaker is not closed: the endpoint answers nobody.
  bool Broken() const;

  /// The same with what is to be told of it; nothing if that is not known since a restart.
  std::optional<Opening> Opened() const;

  /// Whether requests have to be few: then they should be full.
  bool Limited() const;

  /// About how many requests may go within a time, at least one.
  std::size_t RequestsWithin(std::chrono::milliseconds time) const;

  /// Lets a request of a role through unless the gate is closed for it.
  std::optional<Ticket> Admit(policy::RoleId role);

  /// Runs body on the shared entry, with the lock.
  template <typename Body>
  auto WithEntry(const Body& body) const {
    const policy::Micros now = SteadyMicros(clock_);
    const ProvidersLock lock;
    return body(Entry(now), now);
  }

 private:
  SharedEndpoint& Entry(policy::Micros now) const;

  const Clock& clock_;
  mutable int place_ = 0;  // where the entry was the last time
};

}  // namespace ai::worker
