// Sessions' access to the shared state of providers: reads counters, and notifies workers of
// changes. The functions of sql/tables/provider.sql.
#include "pg/datum.hpp"
#include "pg/guard.hpp"
#include "worker/endpoint/endpoint_limiter.hpp"
#include "worker/endpoint/provider_table.hpp"
#include "worker/endpoint/shared_providers.hpp"
#include "worker/shared/wake.hpp"

namespace {

using ai::worker::DatabaseSlot;
using ai::worker::FindDatabase;
using ai::worker::Providers;
using ai::worker::ProvidersLock;
using ai::worker::SharedEndpoint;

bool providers_changed = false;  // in the current transaction

/// INVARIANT: nothing here fails.
void OnTransactionEnd(XactEvent event, void* /*argument*/) {
  if (event == XACT_EVENT_COMMIT && providers_changed) {
    if (DatabaseSlot* slot = FindDatabase(MyDatabaseId); slot != nullptr) {
      slot->provider_changes.fetch_add(1);
      ai::worker::WakeWorkers(*slot);
    }
  }
  if (event == XACT_EVENT_COMMIT || event == XACT_EVENT_ABORT || event == XACT_EVENT_PREPARE) {
    providers_changed = false;
  }
}

Datum DoubleArray(std::span<const double> values) {
  std::vector<Datum> elements;
  for (const double value : values) {
    elements.push_back(Float8GetDatum(value));
  }
  return ai::pg::ArrayDatum(FLOAT8OID, elements);
}

Datum CountArray(std::span<const std::uint64_t> values) {
  std::vector<Datum> elements;
  for (const std::uint64_t value : values) {
    elements.push_back(Int64GetDatum(static_cast<std::int64_t>(value)));
  }
  return ai::pg::ArrayDatum(INT8OID, elements);
}

/// A copy of an entry; its id is 0 if there is none.
std::unique_ptr<SharedEndpoint> CopyOf(int index) {
  auto copy = std::make_unique<SharedEndpoint>();
  const ProvidersLock lock;
  *copy = Providers()->endpoints[index];
  return copy;
}

void PutRow(const ReturnSetInfo& result, std::span<const Datum> values) {
  ai::pg::Call([&] {
    auto* nulls = static_cast<bool*>(palloc0(values.size()));
    tuplestore_putvalues(result.setResult, result.setDesc, const_cast<Datum*>(values.data()),
                         nulls);
  });
}

void PutCounters(const ReturnSetInfo& result, const SharedEndpoint& endpoint,
                 ai::policy::Micros now) {
  std::vector<Datum> values = {
      ai::pg::TextDatum(endpoint.address), ai::pg::TextDatum(endpoint.key_name),
      ai::pg::TextDatum(ai::worker::Fingerprint(endpoint.id)),
      ai::pg::TextDatum(
          ai::worker::NameOf(endpoint.state.breaker.State(ai::worker::BreakerSettings(), now))),
      Float8GetDatum(60 * endpoint.state.pace.PerSecond(now))};
  for (const std::uint64_t count : endpoint.outcomes) {
    values.push_back(Int64GetDatum(static_cast<std::int64_t>(count)));
  }
  values.push_back(Int64GetDatum(static_cast<std::int64_t>(endpoint.tokens)));
  values.push_back(DoubleArray(ai::policy::kLatencyBounds));
  values.push_back(CountArray(endpoint.latency.counts));
  values.push_back(Float8GetDatum(endpoint.latency.sum));
  PutRow(result, values);
}

}  // namespace

AI_FUNCTION(ai_provider_changed) {
  static bool registered = false;
  ai::pg::Call([] {
    if (!registered) {
      RegisterXactCallback(OnTransactionEnd, nullptr);
      registered = true;
    }
  });
  providers_changed = true;
  return Datum{0};
}

AI_FUNCTION(ai_provider_counters) {
  ai::pg::Call([fcinfo] { InitMaterializedSRF(fcinfo, 0); });
  if (Providers() == nullptr) {
    return Datum{0};
  }
  const ai::policy::Micros now = ai::worker::SteadyMicros(ai::SystemClock());
  for (int i = 0; i < ai::worker::kMaxEndpoints; ++i) {
    const auto endpoint = CopyOf(i);
    if (endpoint->id != 0) {
      PutCounters(*reinterpret_cast<ReturnSetInfo*>(fcinfo->resultinfo), *endpoint, now);
    }
  }
  return Datum{0};
}

AI_FUNCTION(ai_lag_histogram) {
  ai::pg::Call([fcinfo] { InitMaterializedSRF(fcinfo, 0); });
  ai::policy::LagHistogram histogram;
  const DatabaseSlot* slot = FindDatabase(MyDatabaseId);
  if (slot != nullptr) {
    const ProvidersLock lock;
    const ai::worker::SharedLag& lag = Providers()->lags[slot - ai::worker::Shared()->databases];
    histogram = lag.database == MyDatabaseId ? lag.histogram : histogram;
  }
  const Datum values[] = {DoubleArray(ai::policy::kLagBounds), CountArray(histogram.counts),
                          Float8GetDatum(histogram.sum)};
  PutRow(*reinterpret_cast<ReturnSetInfo*>(fcinfo->resultinfo), values);
  return Datum{0};
}
