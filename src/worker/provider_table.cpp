#include "worker/provider_table.hpp"

#include <charconv>

#include "pg/datum.hpp"
#include "worker/extension.hpp"

namespace ai::worker {
namespace {

std::uint64_t ParseFingerprint(const std::string& text) {
  std::uint64_t id = 0;
  std::from_chars(text.data(), text.data() + text.size(), id, 16);
  return id;
}

ProviderRow RowAt(const pg::Rows& rows, std::uint64_t row) {
  const auto number = [&](int column) {
    const auto value = rows.At(row, column);
    return value ? DatumGetInt64(*value) : std::int64_t{0};
  };
  const auto time = [&](int column) {
    const auto value = rows.At(row, column);
    return value ? DatumGetTimestampTz(*value) : TimestampTz{0};
  };
  return {.address = std::string(pg::Utf8View(*rows.At(row, 0))),
          .key_name = std::string(pg::Utf8View(*rows.At(row, 1))),
          .id = ParseFingerprint(rows.TextAt(row, 2).value_or("")),
          .control = {.enabled = DatumGetBool(*rows.At(row, 3)),
                      .paused_until = time(4),
                      .limits = {.requests_per_minute = number(5), .tokens_per_minute = number(6)}},
          .resumed = time(7),
          .broken = DatumGetBool(*rows.At(row, 8)),
          .failures = DatumGetInt32(*rows.At(row, 9)),
          .opened = time(10),
          .next_probe = time(11),
          .cooling_until = time(12)};
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
  const Extension extension = WithExtension([&](pg::Spi& spi) {
    const pg::Rows rows = spi.Execute(
        "SELECT endpoint, api_key_name, fingerprint, enabled, paused_until, requests_per_minute, "
        "tokens_per_minute, resumed_at, breaker OPERATOR(pg_catalog.<>) 'closed', failure_streak, "
        "opened_at, next_probe, cooldown_until FROM ai.provider");
    for (std::uint64_t i = 0; i < rows.count(); ++i) {
      providers.push_back(RowAt(rows, i));
    }
  });
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
