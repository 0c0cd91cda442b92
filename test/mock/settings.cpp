// settings.cpp: how the whole program behaves, for all requests.
#include "mock/settings.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "mock/fields.hpp"
#include "mock/vectors.hpp"

namespace ai::mock {

namespace {

constexpr std::array kRateLimitFields{
    FieldReader<RateLimit>{"requests_per_minute",
                           [](const Field& f, RateLimit& r) { r.requests_per_minute = f.Count(); }},
    FieldReader<RateLimit>{"tokens_per_minute",
                           [](const Field& f, RateLimit& r) { r.tokens_per_minute = f.Count(); }},
    FieldReader<RateLimit>{"burst", [](const Field& f, RateLimit& r) { r.burst = f.Count(); }},
};

void ReadApiKeys(const Field& field, Settings& settings) {
  settings.api_keys.clear();
  if (field.value.IsNull()) {
    return;
  }
  if (!field.value.IsArray()) {
    field.Refuse("an array of texts, or null");
  }
  for (const JsonValue& key : field.value.GetArray()) {
    settings.api_keys.push_back(Field{field.name, key}.Text());
  }
}

void ReadModels(const Field& field, Settings& settings) {
  if (!field.value.IsObject()) {
    field.Refuse("an object of names and dimensions");
  }
  settings.models.clear();
  for (const auto& member : field.value.GetObject()) {
    const uint64_t dimensions = Field{StringOf(member.name), member.value}.Count();
    if (dimensions == 0 || dimensions > kMaxDimensions) {
      field.Refuse("an object of names and dimensions from 1 to " + std::to_string(kMaxDimensions));
    }
    settings.models.emplace(StringOf(member.name), dimensions);
  }
}

void ReadRateLimit(const Field& field, Settings& settings) {
  settings.rate_limit = {};
  if (!field.value.IsNull()) {
    ReadFields(field.value, kRateLimitFields, settings.rate_limit);
  }
}

constexpr std::array<std::pair<std::string_view, OnConnect>, 4> kOnConnectNames{{
    {"serve", OnConnect::kServe},
    {"close", OnConnect::kClose},
    {"reset", OnConnect::kReset},
    {"hang", OnConnect::kHang},
}};

void ReadOnConnect(const Field& field, Settings& settings) {
  const std::string name = field.Text();
  for (const auto& [known, value] : kOnConnectNames) {
    if (known == name) {
      settings.on_connect = value;
      return;
    }
  }
  field.Refuse("serve, close, reset or hang");
}

constexpr std::array kSettingsFields{
    FieldReader<Settings>{"api_keys", ReadApiKeys},
    FieldReader<Settings>{"models", ReadModels},
    FieldReader<Settings>{"rate_limit", ReadRateLimit},
    FieldReader<Settings>{"on_connect", ReadOnConnect},
    FieldReader<Settings>{
        "idle_timeout_ms",
        [](const Field& f, Settings& s) { s.idle_timeout = std::chrono::milliseconds(f.Count()); }},
    FieldReader<Settings>{
        "requests_per_connection",
        [](const Field& f, Settings& s) { s.requests_per_connection = f.Count(); }},
    FieldReader<Settings>{"max_body_bytes",
                          [](const Field& f, Settings& s) {
                            s.max_body_bytes = std::min<uint64_t>(f.Count(), kMaxBody);
                          }},
    FieldReader<Settings>{"max_input_tokens",
                          [](const Field& f, Settings& s) { s.max_input_tokens = f.Count(); }},
    FieldReader<Settings>{"max_request_tokens",
                          [](const Field& f, Settings& s) { s.max_request_tokens = f.Count(); }},
};

}  // namespace

Settings ParseSettings(std::string_view json, Settings settings) {
  ReadFields(ParseJson(json), kSettingsFields, settings);
  return settings;
}

SettingsStore::SettingsStore(Settings initial)
    : initial_(std::make_shared<const Settings>(std::move(initial))), current_(initial_) {}

std::shared_ptr<const Settings> SettingsStore::Get() const {
  const std::lock_guard lock(mutex_);
  return current_;
}

void SettingsStore::Update(std::string_view json) {
  const std::lock_guard lock(mutex_);
  current_ = std::make_shared<const Settings>(ParseSettings(json, *current_));
}

void SettingsStore::Reset() {
  const std::lock_guard lock(mutex_);
  current_ = initial_;
}

}  // namespace ai::mock
