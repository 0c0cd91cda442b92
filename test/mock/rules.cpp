// rules.cpp: the rules in force, and which of them apply to a request.
#include "mock/rules.hpp"

#include <algorithm>
#include <utility>

#include "mock/json.hpp"
#include "mock/random.hpp"

namespace ai::mock {

namespace {

// The sequence that picks latencies is not the one that picks the share, or the requests that are
// picked would all get the low latencies.
constexpr uint64_t kLatencySeed = 0x5bd1e995;

bool PathMatches(std::string_view pattern, std::string_view path) {
  if (pattern.ends_with('*')) {
    return path.starts_with(pattern.substr(0, pattern.size() - 1));
  }
  return pattern.empty() || pattern == path;
}

bool Matches(const Match& match, const Request& request, const Call& call) {
  const auto holds_text = [&](const std::string& text) {
    return text.find(match.text) != std::string::npos;
  };
  return PathMatches(match.path, request.path) &&
         (match.method.empty() || match.method == request.method) &&
         (match.model.empty() || match.model == call.model) &&
         (match.key.empty() || match.key == request.BearerKey()) &&
         (match.text.empty() || std::any_of(call.texts.begin(), call.texts.end(), holds_text));
}

// Whether the rule applies to a request that it matches. Counts; each request is asked about once.
bool Picks(Rule& rule) {
  const Match& match = rule.spec.match;
  const uint64_t matched = rule.matched.fetch_add(1, std::memory_order_relaxed);
  if (match.share < 1 && ShareAt(match.seed, matched) >= match.share) {
    return false;
  }
  const uint64_t picked = rule.picked.fetch_add(1, std::memory_order_relaxed);
  if (picked < match.skip || (match.count > 0 && picked - match.skip >= match.count)) {
    return false;
  }
  rule.applied.fetch_add(1, std::memory_order_relaxed);
  return true;
}

std::chrono::microseconds LatencyOf(const Rule& rule, size_t items) {
  const Latency& latency = rule.spec.latency;
  const uint64_t turn = rule.applied.load(std::memory_order_relaxed);
  const double share = ShareAt(rule.spec.match.seed ^ kLatencySeed, turn);
  const auto range = static_cast<double>((latency.most - latency.least).count());
  return latency.least + std::chrono::microseconds(static_cast<int64_t>(range * share)) +
         latency.per_item * static_cast<int64_t>(items);
}

}  // namespace

void RuleBook::Set(std::vector<RuleSpec> specs) {
  auto rules = std::make_shared<Rules>();
  for (RuleSpec& spec : specs) {
    rules->push_back(std::make_shared<Rule>(std::move(spec)));
  }
  const std::lock_guard lock(mutex_);
  rules_ = std::move(rules);
}

void RuleBook::Add(std::vector<RuleSpec> specs) {
  const std::lock_guard lock(mutex_);
  auto rules = std::make_shared<Rules>(*rules_);
  for (RuleSpec& spec : specs) {
    rules->push_back(std::make_shared<Rule>(std::move(spec)));
  }
  rules_ = std::move(rules);
}

std::shared_ptr<const RuleBook::Rules> RuleBook::Get() const {
  const std::lock_guard lock(mutex_);
  return rules_;
}

Verdict RuleBook::Judge(const Request& request, const Call& call) const {
  Verdict verdict;
  const std::shared_ptr<const Rules> rules = Get();
  for (const std::shared_ptr<Rule>& rule : *rules) {
    const bool decides = rule->spec.outcome.decides;
    if ((decides && verdict.decider != nullptr) || !Matches(rule->spec.match, request, call) ||
        !Picks(*rule)) {
      continue;
    }
    verdict.latency += LatencyOf(*rule, call.texts.size());
    if (decides) {
      verdict.decider = rule;
    }
  }
  return verdict;
}

std::string RuleBook::Describe() const {
  std::string out = "[";
  const std::shared_ptr<const Rules> rules = Get();
  for (const std::shared_ptr<Rule>& rule : *rules) {
    out += out.size() > 1 ? ",{" : "{";
    AppendJsonField(out, "name", rule->spec.name);
    AppendJsonField(out, "matched", rule->matched.load());
    AppendJsonField(out, "applied", rule->applied.load());
    out += '}';
  }
  return out + "]";
}

}  // namespace ai::mock
