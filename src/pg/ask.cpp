// See ask.hpp.
#include "pg/ask.hpp"

#include "core/clock.hpp"
#include "core/http/fetch.hpp"
#include "pg/datum.hpp"
#include "pg/guard.hpp"
#include "pg/provider_access.hpp"

namespace ai::pg {
namespace {

constexpr std::size_t kMaxInFlight = 8;

/// Without the query string, which may contain a key.
void TellOf(const http::Request& request) {
  const char* method = request.method == http::Method::kPost ? "POST " : "GET ";
  Tell(INFO, method + request.url.substr(0, request.url.find('?')) + ", " +
                 std::to_string(request.body.size()) + " bytes");
}

void TellOf(const http::Response& response, std::chrono::milliseconds time) {
  Tell(INFO, "HTTP status " + std::to_string(response.status) + ", " +
                 std::to_string(response.body.size()) + " bytes, all within " +
                 std::to_string(time.count()) + " ms");
}

}  // namespace

void Tell(int level, const std::string& message) {
  const Datum datum = TextDatum(message);
  Call([&] { ereport(level, errmsg("%s", TextDatumGetCString(datum))); });
}

std::vector<http::Response> Ask(const json::Value& config, std::vector<http::Request> requests,
                                const provider::Provider* provider) {
  const bool verbose = config.GetBool("verbose", false);
  for (http::Request& request : requests) {
    ApplyLimits(config, request);
    if (verbose) {
      TellOf(request);
    }
  }
  const SteadyTime start = SystemClock().Now();
  auto responses =
      http::FetchAll(SessionTransport(), std::move(requests), kMaxInFlight, ServeInterrupts);
  if (!responses) {
    ThrowFailure(provider == nullptr ? responses.failure()
                                     : provider->Explain(responses.failure()));
  }
  if (verbose) {
    const auto time = SystemClock().Now() - start;
    for (const http::Response& response : responses.value()) {
      TellOf(response, std::chrono::duration_cast<std::chrono::milliseconds>(time));
    }
  }
  return std::move(responses).value();
}

}  // namespace ai::pg
