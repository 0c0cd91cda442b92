// settings.hpp: how the whole program behaves, for all requests: keys, limits, models, connections.
// What concerns some requests only is a rule.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "mock/http_parser.hpp"

namespace ai::mock {

struct RateLimit {
  uint64_t requests_per_minute = 0;  // 0 is no limit
  uint64_t tokens_per_minute = 0;
  uint64_t burst = 0;  // requests at once after a rest; 0 is a minute's worth
};

/// What becomes of a connection to a provider's port when it is accepted.
enum class OnConnect { kServe, kClose, kReset, kHang };

struct Settings {
  std::vector<std::string> api_keys;                  // empty lets everybody in
  std::map<std::string, size_t, std::less<>> models;  // beyond the known ones, with dimensions
  RateLimit rate_limit;
  OnConnect on_connect = OnConnect::kServe;
  std::chrono::milliseconds idle_timeout{0};  // 0 keeps connections open
  uint64_t requests_per_connection = 0;       // 0 is no limit
  size_t max_body_bytes = kMaxBody;
  uint64_t max_input_tokens = 0;    // of one text; 0 is no limit
  uint64_t max_request_tokens = 0;  // of all texts of a request; 0 is no limit
};

/// The settings now in force, handed out as something that never changes.
class SettingsStore {
 public:
  explicit SettingsStore(Settings initial);

  std::shared_ptr<const Settings> Get() const;

  /// Changes what the JSON object names and nothing else; throws ControlError for what it does not
  /// understand, and then changes nothing.
  void Update(std::string_view json);
  void Reset();

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<const Settings> initial_;
  std::shared_ptr<const Settings> current_;
};

/// Returns the settings with what the JSON object names changed.
Settings ParseSettings(std::string_view json, Settings settings);

}  // namespace ai::mock
