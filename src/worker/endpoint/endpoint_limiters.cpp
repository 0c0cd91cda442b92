#include "worker/endpoint/endpoint_limiters.hpp"

#include <algorithm>

#include "core/http/url.hpp"
#include "core/policy/content_hash.hpp"
#include "pg/settings.hpp"

namespace ai::worker {
namespace {

using policy::Micros;
using std::chrono::milliseconds;

constexpr std::chrono::seconds kTryAgain{1};  // while the table is locked

std::string AddressOf(const std::string& base_url) {
  const auto url = http::ParseUrl(base_url, http::UrlKind::kBase);
  return url ? url->Address() : base_url;
}

std::uint64_t IdOf(const std::string& address, const std::string& key) {
  const policy::ContentHash hash = policy::ContentHasher(address)(key);
  std::uint64_t id = 0;
  std::memcpy(&id, hash.data(), sizeof(id));
  return id == 0 ? 1 : id;
}

/// Both clocks at one instant: times in shared memory are monotonic, those in tables wall-clock.
struct Moment {
  Micros steady;
  TimestampTz wall;

  /// 0 if it has passed.
  TimestampTz ToWall(Micros time) const { return time > steady ? wall + (time - steady) : 0; }
  Micros FromWall(TimestampTz time) const {
    constexpr Micros kDay = 86'400 * policy::kSecond;
    return time > wall ? steady + std::min(time - wall, kDay) : 0;
  }
};

using Rows = std::vector<const ProviderRow*>;

/// Restores the state from before the server start. Resumes from before that have been applied; and
/// the state of another key with the same name does not concern this one.
void Restore(SharedEndpoint& entry, const Rows& rows, const Moment& now) {
  entry.restored = true;
  entry.resumed = now.wall;
  for (const ProviderRow* row : rows) {
    if (row->id != entry.id) {
      continue;
    }
    entry.state.breaker.tripped = entry.state.breaker.tripped || row->broken;
    // The contributors are no longer known.
    entry.state.breaker.contributors.everybody = entry.state.breaker.tripped;
    entry.state.breaker.failures = std::max(entry.state.breaker.failures, row->failures);
    // Keeps the time of the next probe, as if it had opened now for the remaining time.
    entry.state.breaker.opened_at = now.steady;
    entry.state.breaker.wait =
        std::max(entry.state.breaker.wait, now.FromWall(row->next_probe) - now.steady);
    entry.opened = std::max(entry.opened, row->opened);
    entry.state.cooling_until =
        std::max(entry.state.cooling_until, now.FromWall(row->cooling_until));
  }
}

/// Applies the rows of this database to an endpoint. True if an administrator has resumed it.
bool TakeUp(SharedEndpoint& entry, const Rows& rows, const Moment& now) {
  if (!entry.restored) {
    Restore(entry, rows, now);
  }
  policy::EndpointLimits limits;
  TimestampTz resumed = 0;
  for (const ProviderRow* row : rows) {
    limits = policy::Strictest(limits, row->control.limits);
    resumed = std::max(resumed, row->resumed);
  }
  MyView(entry).limits = limits;
  CombineLimits(entry, now.steady);
  if (resumed <= entry.resumed) {
    return false;
  }
  entry.resumed = resumed;
  entry.state.Reset();
  ++entry.state_changes;
  return true;
}

bool IsDue(const SharedEndpoint& entry, const DatabaseView& view, Micros now) {
  const Micros heartbeat = pg::settings.heartbeat_interval * (policy::kSecond / 1000);
  return view.written_at == 0 || view.written_state != entry.state_changes ||
         view.written_probe != entry.state.breaker.NextProbe(BreakerSettings()) ||
         (view.written_requests != entry.requests() && now - view.written_at >= heartbeat);
}

ProviderReport ReportOn(const EndpointLimiter& limiter) {
  SharedEndpoint copy;
  Moment now{0, GetCurrentTimestamp()};
  limiter.WithEntry([&](const SharedEndpoint& entry, Micros steady_now) {
    copy = entry;
    now.steady = steady_now;
  });
  const policy::EndpointState& state = copy.state;
  return {.address = limiter.address,
          .key_name = limiter.key_name,
          .id = limiter.id,
          .breaker = state.breaker.State(BreakerSettings(), now.steady),
          .failures = state.breaker.failures,
          .opened = state.breaker.tripped ? copy.opened : 0,
          .next_probe = now.ToWall(state.breaker.NextProbe(BreakerSettings())),
          .cooling_until = now.ToWall(state.cooling_until),
          .last_success = copy.last_success,
          .last_failure = copy.last_failure,
          .last_error = copy.last_error};
}

}  // namespace

EndpointLimiters::EndpointLimiters(const Clock& clock)
    : clock_(clock), slot_(FindDatabase(MyDatabaseId)), changes_seen_(slot_->provider_changes) {
  ReleaseProbesAtExit();
}

EndpointLimiter& EndpointLimiters::Find(const provider::Endpoint& endpoint,
                                        const std::string& key_name) {
  const std::string address = AddressOf(endpoint.base_url);
  const std::uint64_t id = IdOf(address, endpoint.api_key);
  const auto [found, is_new] = limiters_.try_emplace({key_name, id}, clock_, id, address, key_name);
  if (is_new) {
    found->second.WithEntry([](SharedEndpoint&, Micros) {});
    try {
      Read();
    } catch (...) {
      limiters_.erase(found);  // whether requests may be sent there is not known
      throw;
    }
  }
  return found->second;
}

bool EndpointLimiters::Follow() {
  const std::uint32_t changes = slot_->provider_changes;
  const bool changed = changes != changes_seen_;
  const bool is_due = changed || (!limiters_.empty() && clock_.Now() >= next_read_);
  if (!is_due || clock_.Now() < read_after_) {
    return false;
  }
  try {
    Read();
    changes_seen_ = changes;
    read_trouble_.Succeeded();
    return changed;
  } catch (const std::exception& error) {
    read_trouble_.Failed(error);
    read_after_ = clock_.Now() + kTryAgain;
    return false;
  }
}

void EndpointLimiters::Read() {
  next_read_ = clock_.Now() + milliseconds(pg::settings.heartbeat_interval);
  if (const auto rows = ReadProviders()) {
    Apply(*rows);
  }
}

void EndpointLimiters::Apply(const std::vector<ProviderRow>& rows) {
  std::map<std::uint64_t, Rows> by_id;
  for (const ProviderRow& row : rows) {
    by_id[row.id].push_back(&row);
  }
  // A key may have changed since its row was written.
  for (auto& [name, limiter] : limiters_) {
    limiter.control = {};
    Rows& of_limiter = by_id[limiter.id];
    for (const ProviderRow& row : rows) {
      if (row.address == limiter.address && row.key_name == limiter.key_name) {
        limiter.control = row.control;
        of_limiter.push_back(&row);
      }
    }
  }
  bool was_resumed = false;
  const Moment now{SteadyMicros(clock_), GetCurrentTimestamp()};
  {
    const ProvidersLock lock;
    for (SharedEndpoint& entry : Providers()->endpoints) {
      const auto known = by_id.find(entry.id);
      if (entry.id == 0) {
        continue;
      }
      if (known != by_id.end()) {
        was_resumed = TakeUp(entry, known->second, now) || was_resumed;
      } else if (MyView(entry).limits != policy::EndpointLimits{}) {
        TakeUp(entry, {}, now);
      }
    }
  }
  if (was_resumed) {
    WakeAllWorkers();
  }
}

/// The endpoints with changes to write, which are this process's to write from here on.
std::set<std::uint64_t> EndpointLimiters::DueReports() const {
  std::set<std::uint64_t> due;
  for (const auto& [name, limiter] : limiters_) {
    const bool is_due = limiter.WithEntry([](SharedEndpoint& entry, Micros now) {
      DatabaseView& view = MyView(entry);
      const bool result = IsDue(entry, view, now);
      if (result) {
        view.written_at = now;
        view.written_state = entry.state_changes;
        view.written_probe = entry.state.breaker.NextProbe(BreakerSettings());
        view.written_requests = entry.requests();
      }
      return result;
    });
    if (is_due || !limiter.written) {
      due.insert(limiter.id);
    }
  }
  return due;
}

void EndpointLimiters::Write() {
  if (clock_.Now() < write_after_) {
    return;
  }
  const std::set<std::uint64_t> due = DueReports();
  std::vector<ProviderReport> reports;
  for (auto& [name, limiter] : limiters_) {
    if (due.contains(limiter.id)) {
      reports.push_back(ReportOn(limiter));
      limiter.written = true;
    }
  }
  if (reports.empty()) {
    return;
  }
  bool all = false;
  try {
    all = WriteProviders(reports);
    write_trouble_.Succeeded();
  } catch (const std::exception& error) {
    write_trouble_.Failed(error);
  }
  if (!all) {
    write_after_ = clock_.Now() + kTryAgain;
    for (auto& [name, limiter] : limiters_) {
      limiter.written = limiter.written && !due.contains(limiter.id);
    }
  }
}

}  // namespace ai::worker
