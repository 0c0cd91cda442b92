// context.hpp: what all threads share. Everything in it guards itself.
#pragma once

#include <memory>
#include <vector>

#include "mock/gate.hpp"
#include "mock/rate_limit.hpp"
#include "mock/rules.hpp"
#include "mock/settings.hpp"
#include "mock/stats.hpp"
#include "mock/tls.hpp"

namespace ai::mock {

struct Context {
  explicit Context(Settings initial) : settings(std::move(initial)) {}

  SettingsStore settings;
  RuleBook rules;
  RateLimiter limiter;
  Stats stats;
  Gate gate;
  std::unique_ptr<const TlsContext> tls;  // null without TLS
};

}  // namespace ai::mock
