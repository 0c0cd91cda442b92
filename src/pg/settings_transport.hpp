// The transport of a process, as configured by the settings: allowed hosts, certificate
// authorities.
#pragma once

#include <memory>
#include <string>

#include "core/http/curl_transport.hpp"

namespace ai::pg {

class SettingsTransport final {
 public:
  http::Transport& get();

  /// Applies changed settings. INVARIANT: no request is in flight; it would be lost.
  void FollowSettings();

 private:
  std::unique_ptr<http::CurlTransport> transport_;
  std::string made_for_;
};

}  // namespace ai::pg
