#include "worker/endpoint/provider_table.hpp"

#include <charconv>

#include "pg/column.hpp"
#include "worker/process/extension.hpp"

namespace ai::worker {
namespace {

std::uint64_t ParseFingerprint(std::string_view text) {
  std::uint64_t id = 0;
  std::from_chars(text.data(), text.data() + text.size(), id, 16);
  return id;
}

std::vector<ProviderRow> ReadRows(pg::Spi& spi) {
  const pg::Rows rows = spi.Execute(
      "SELECT endpoint, api_key_name, fingerprint, enabled, paused_until, requests_per_minute, "
      "tokens_per_minute, resumed_at, breaker OPERATOR(pg_catalog.<>) 'closed' AS is_broken, "
      "failure_streak, opened_at, next_probe, cooldown_until FROM ai.provider");
  const pg::TextColumn endpoint(rows, "endpoint"), key_name(rows, "api_key_name"),
      fingerprint(rows, "fingerprint");
  const pg::BoolColumn enabled(rows, "enabled"), is_broken(rows, "is_broken");
  const pg::Int8Column requests(rows, "requests_per_minute"), tokens(rows, "tokens_per_minute");
  const pg::Int4Column failures(rows, "failure_streak");
  const pg::TimeColumn paused_until(rows, "paused_until"), resumed(rows, "resumed_at"),
      opened(rows, "opened_at"), next_probe(rows, "next_probe"),
      cooling_until(rows, "cooldown_until");
  std::vector<ProviderRow> providers;
  for (std::uint64_t i = 0; i < rows.count(); ++i) {
    providers.push_back({.address = std::string(endpoint[i]),
                         .key_name = std::string(key_name[i]),
                         .id = ParseFingerprint(fingerprint.Find(i, {})),
                         .control = {.enabled = enabled[i],
                                     .paused_until = paused_until.Find(i, 0),
                                     .limits = {.requests_per_minute = requests.Find(i, 0),
                                                .tokens_per_minute = tokens.Find(i, 0)}},
                         .resumed = resumed.Find(i, 0),
                         .broken = is_broken[i],
                         .failures = failures[i],
                         .opened = opened.Find(i, 0),
                         .next_probe = next_probe.Find(i, 0),
                         .cooling_until = cooling_until.Find(i, 0)});
  }
  return providers;
}

pg::Argument TimeArgument(TimestampTz time) {
  return {TIMESTAMPTZOID, TimestampTzGetDatum(time), time == 0};
}

bool Write(pg::Spi& spi, const ProviderReport& report) {
  const bool no_error = report.last_error.empty();
  const pg::Argument arguments[] = {
      {TEXTOID, pg::TextDatum(report.address)},
      {TEXTOID, pg::TextDatum(report.key_name)},
      {TEXTOID, pg::TextDatum(Fingerprint(report.id))},
      {TEXTOID, pg::TextDatum(NameOf(report.breaker))},
      {INT4OID, Int32GetDatum(report.failures)},
      TimeArgument(report.opened),
      TimeArgument(report.next_probe),
      TimeArgument(report.cooling_until),
      TimeArgument(report.last_success),
      TimeArgument(report.last_failure),
      {TEXTOID, no_error ? Datum{0} : pg::MessageDatum(report.last_error), no_error},
  };
  const pg::Rows rows = spi.Execute(
      "SELECT ai._provider_note($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)", arguments);
  return DatumGetBool(*rows.At(0, 0));
}

}  // namespace

std::optional<std::vector<ProviderRow>> ReadProviders() {
  std::vector<ProviderRow> providers;
  const Extension extension = WithExtension([&](pg::Spi& spi) { providers = ReadRows(spi); });
  if (extension.presence != Presence::kThere) {
    return std::nullopt;
  }
  return providers;
}

bool WriteProviders(std::span<const ProviderReport> reports) {
  bool all = true;
  WithExtension([&](pg::Spi& spi) {
    for (const ProviderReport& report : reports) {
      all = Write(spi, report) && all;
    }
  });
  return all;
}

std::string Fingerprint(std::uint64_t id) {
  char text[17];
  std::snprintf(text, sizeof(text), "%016llx", static_cast<unsigned long long>(id));
  return text;
}

const char* NameOf(policy::BreakerState state) {
  switch (state) {
    case policy::BreakerState::kOpen:
      return "open";
    case policy::BreakerState::kHalfOpen:
      return "half-open";
    default:
      return "closed";
  }
}

}  // namespace ai::worker
