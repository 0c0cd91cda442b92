#include "pg/settings_transport.hpp"

#include "core/http/host_policy.hpp"
#include "pg/settings.hpp"

namespace ai::pg {

http::Transport& SettingsTransport::get() {
  if (transport_ == nullptr) {
    FollowSettings();
  }
  return *transport_;
}

void SettingsTransport::FollowSettings() {
  const std::string hosts = StringSetting("ai.allowed_hosts");
  const std::string authorities = StringSetting("ai.ca_file");
  const std::string wanted = hosts + '\n' + authorities;
  if (transport_ != nullptr && made_for_ == wanted) {
    return;
  }
  http::TransportOptions options;
  options.allowed_hosts = http::HostList::Parse(hosts);
  options.ca_file = authorities;
  options.user_agent = "ai/" AI_VERSION;
  transport_ = std::make_unique<http::CurlTransport>(std::move(options));
  made_for_ = wanted;
}

}  // namespace ai::pg
