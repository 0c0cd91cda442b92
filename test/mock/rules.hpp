// rules.hpp: the rules in force, and which of them apply to a request.
//
// All rules that match add their latency; the first that also says what to answer decides that, and
// later ones that would are passed over and not used up.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "mock/call.hpp"
#include "mock/http_message.hpp"
#include "mock/rule_spec.hpp"

namespace ai::mock {

/// A rule in force; it counts how often it was used.
struct Rule {
  explicit Rule(RuleSpec given) : spec(std::move(given)) {}

  RuleSpec spec;
  std::atomic<uint64_t> matched{0};  // before the share is picked
  std::atomic<uint64_t> picked{0};   // after it
  std::atomic<uint64_t> applied{0};
};

/// What the rules say about one request.
struct Verdict {
  std::chrono::microseconds latency{0};
  std::shared_ptr<Rule> decider;  // null leaves all to the provider
};

class RuleBook {
 public:
  void Set(std::vector<RuleSpec> specs);
  void Add(std::vector<RuleSpec> specs);

  Verdict Judge(const Request& request, const Call& call) const;

  /// The rules with their counters, as JSON.
  std::string Describe() const;

 private:
  using Rules = std::vector<std::shared_ptr<Rule>>;

  std::shared_ptr<const Rules> Get() const;

  mutable std::mutex mutex_;
  std::shared_ptr<const Rules> rules_ = std::make_shared<const Rules>();
};

}  // namespace ai::mock
