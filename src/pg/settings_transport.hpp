// The transport of a process as the settings want it: which hosts, which authorities.
#pragma once

#include <memory>
#include <string>

#include "core/http/curl_transport.hpp"

namespace ai::pg {

class SettingsTransport final {
 public:
  http::Transport& get();

  /// Takes up what was changed. INVARIANT: nothing is under way; what was would be lost.
  void FollowSettings();

 private:
  std::unique_ptr<http::CurlTransport> transport_;
  std::string made_for_;
};

}  // namespace ai::pg
