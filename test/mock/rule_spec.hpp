// rule_spec.hpp: what a rule says: when it applies and what then. README.md lists the fields.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mock/body_fault.hpp"
#include "mock/errors.hpp"
#include "mock/http_message.hpp"
#include "mock/reply.hpp"

namespace ai::mock {

struct Match {
  std::string path;  // empty matches all; a star at the end matches any rest
  std::string method;
  std::string text;  // in one of the request's texts
  std::string model;
  std::string key;
  double share = 1;    // of the requests that match otherwise
  uint64_t seed = 0;   // of the sequence that picks the share
  uint64_t skip = 0;   // so many matches before the rule starts to apply
  uint64_t count = 0;  // and so many to which it applies; 0 is all
};

struct Latency {
  std::chrono::microseconds least{0};
  std::chrono::microseconds most{0};
  std::chrono::microseconds per_item{0};
};

/// What is done to a request, apart from waiting.
struct Outcome {
  bool decides = false;  // any of the below is set
  int status = 0;        // 0 leaves the status to the provider
  std::optional<ErrorKind> error;
  std::optional<std::string> body;
  std::string content_type;
  std::vector<Header> headers;
  std::optional<uint64_t> retry_after;       // seconds, as a number
  std::optional<uint64_t> retry_after_date;  // seconds from now, as a date
  BodyFault fault = BodyFault::kNone;
  size_t wrong_dimensions = 0;
  Delivery delivery;
};

struct RuleSpec {
  std::string name;
  Match match;
  Latency latency;
  Outcome outcome;
};

/// Reads one rule or a list of rules; throws ControlError.
std::vector<RuleSpec> ParseRules(std::string_view json);

}  // namespace ai::mock
