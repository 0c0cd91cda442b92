#include "bench/engine/parts.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>

namespace ai::bench {

std::size_t FromEnvironment(const char* name, std::size_t fallback) {
  const char* value = std::getenv(name);
  return value == nullptr ? fallback : std::strtoull(value, nullptr, 10);
}

double Quantile(std::vector<double> values, double part) {
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(static_cast<double>(values.size() - 1) * part)];
}

double WallSeconds(const std::function<void()>& body) {
  const auto start = std::chrono::steady_clock::now();
  body();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void SetLatency(test::MockProvider& mock, int milliseconds) {
  mock.Rules(R"([{"latency_ms": )" + std::to_string(milliseconds) + "}]");
}

}  // namespace ai::bench
