// See classify.hpp.
#include "core/provider/classify.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "core/provider/ascii.hpp"

namespace ai::provider {
namespace {

using enum FailureClass;

enum class In { kCode, kWords };

struct Rule {
  int status;  // 0: any
  In in;
  std::string_view text;  // lower case; in words, '*' stands for anything
  FailureClass failure_class;
};

// The first that fits decides.
constexpr std::array kRules = {
    // Will never fit into the rate, however long one waits: smaller batches will.
    Rule{429, In::kWords, "request too large", kSuspect},

    Rule{0, In::kCode, "insufficient_quota", kConfiguration},
    Rule{0, In::kCode, "billing_hard_limit_reached", kConfiguration},
    Rule{0, In::kCode, "billing_not_active", kConfiguration},
    Rule{0, In::kCode, "account_deactivated", kConfiguration},
    Rule{0, In::kCode, "invalid_api_key", kConfiguration},
    Rule{0, In::kCode, "authentication_error", kConfiguration},
    Rule{0, In::kCode, "permission_error", kConfiguration},
    Rule{0, In::kCode, "model_not_found", kConfiguration},
    Rule{0, In::kCode, "deploymentnotfound", kConfiguration},
    Rule{0, In::kCode, "unsupported_country_region_territory", kConfiguration},
    Rule{0, In::kCode, "context_length_exceeded", kSuspect},
    Rule{0, In::kCode, "max_tokens_per_request", kSuspect},
    Rule{0, In::kCode, "array_above_max_length", kSuspect},
    Rule{0, In::kCode, "string_above_max_length", kSuspect},
    Rule{0, In::kCode, "content_filter", kSuspect},
    Rule{0, In::kCode, "rate_limit_exceeded", kDeferred},
    Rule{0, In::kCode, "rate_limit_error", kDeferred},
    Rule{0, In::kCode, "resource_exhausted", kDeferred},
    Rule{0, In::kCode, "server_error", kTransient},
    Rule{0, In::kCode, "overloaded_error", kTransient},

    Rule{0, In::kWords, "exceeded your current quota", kConfiguration},
    Rule{0, In::kWords, "billing details", kConfiguration},
    Rule{0, In::kWords, "billing hard limit", kConfiguration},
    Rule{0, In::kWords, "api calls / month", kConfiguration},  // Cohere's trial keys
    Rule{0, In::kWords, "account is not active", kConfiguration},
    Rule{0, In::kWords, "insufficient*credit", kConfiguration},
    Rule{0, In::kWords, "insufficient*balance", kConfiguration},
    // What else comes with a 429 is about the rate.
    Rule{429, In::kWords, "", kDeferred},
    Rule{0, In::kWords, "quota exceeded", kConfiguration},
    Rule{0, In::kWords, "invalid api key", kConfiguration},
    Rule{0, In::kWords, "incorrect api key", kConfiguration},
    Rule{0, In::kWords, "api key*invalid", kConfiguration},
    Rule{0, In::kWords, "api key not valid", kConfiguration},
    Rule{0, In::kWords, "no api key", kConfiguration},
    Rule{0, In::kWords, "invalid api token", kConfiguration},
    Rule{0, In::kWords, "model*not found", kConfiguration},
    Rule{0, In::kWords, "model*does not exist", kConfiguration},
    Rule{0, In::kWords, "model*is not supported", kConfiguration},
    Rule{0, In::kWords, "does not support embedding", kConfiguration},
    Rule{0, In::kWords, "does not support*dimension", kConfiguration},
    Rule{0, In::kWords, "does not support matryoshka", kConfiguration},
    Rule{0, In::kWords, "extra inputs are not permitted", kConfiguration},
    Rule{0, In::kWords, "output_dimension*not supported", kConfiguration},
    // There is nothing at this URL, whatever the texts are.
    Rule{404, In::kWords, "not found", kConfiguration},
    Rule{404, In::kWords, "invalid url", kConfiguration},

    Rule{0, In::kWords, "context length", kSuspect},
    Rule{0, In::kWords, "context window", kSuspect},
    Rule{0, In::kWords, "too many tokens", kSuspect},
    Rule{0, In::kWords, "too many requests", kDeferred},
    Rule{0, In::kWords, "rate limit", kDeferred},
    Rule{0, In::kWords, "temporarily unavailable", kTransient},
    Rule{0, In::kWords, "temporarily overloaded", kTransient},
    Rule{0, In::kWords, "currently overloaded", kTransient},
    Rule{0, In::kWords, "try again later", kTransient},
    Rule{0, In::kWords, "timed out", kTransient},
};

FailureClass ClassOf(int status) {
  switch (status) {
    case 400:
    case 404:
    case 413:
    case 422:
      return kSuspect;
    case 401:
    case 402:
    case 403:
    case 405:
    case 410:
      return kConfiguration;
    case 429:
      return kDeferred;
    default:
      return status >= 300 && status < 400 ? kConfiguration : kTransient;
  }
}

std::string LowerAll(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(), Lower);
  return lower;
}

/// The parts of the pattern between its stars are there, one after the other.
bool Matches(std::string_view words, std::string_view pattern) {
  while (true) {
    const std::size_t star = pattern.find('*');
    const std::string_view part = pattern.substr(0, star);
    const std::size_t at = words.find(part);
    if (at == std::string_view::npos) {
      return false;
    }
    if (star == std::string_view::npos) {
      return true;
    }
    words.remove_prefix(at + part.size());
    pattern.remove_prefix(star + 1);
  }
}

}  // namespace

FailureClass Classify(int status, const Complaint& complaint) {
  const FailureClass by_status = ClassOf(status);
  if (by_status == kConfiguration) {
    return kConfiguration;  // nothing in the body makes it better
  }
  const std::string code = LowerAll(complaint.code);
  const std::string type = LowerAll(complaint.type);
  const std::string words = LowerAll(complaint.message);
  for (const Rule& rule : kRules) {
    const bool fits =
        rule.in == In::kCode ? code == rule.text || type == rule.text : Matches(words, rule.text);
    if (fits && (rule.status == 0 || rule.status == status)) {
      return rule.failure_class;
    }
  }
  return by_status;
}

}  // namespace ai::provider
