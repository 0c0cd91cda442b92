// stats_json.cpp: the counters as JSON. Keys appear as their SHA-256 only.
#include <openssl/sha.h>

#include <array>
#include <cstdio>
#include <string>
#include <utility>

#include "mock/json.hpp"
#include "mock/stats.hpp"

namespace ai::mock {

namespace {

std::string HashKey(std::string_view key) {
  std::array<unsigned char, SHA256_DIGEST_LENGTH> digest;
  SHA256(reinterpret_cast<const unsigned char*>(key.data()), key.size(), digest.data());
  std::string out = "sha256:";
  for (const unsigned char byte : digest) {
    std::array<char, 3> hex;
    std::snprintf(hex.data(), hex.size(), "%02x", byte);
    out += hex.data();
  }
  return out;
}

// The value of a header, without the secret if it is one that carries a secret.
std::string Redact(const Request& request, const Header& header) {
  if (EqualsIgnoringCase(header.name, "Authorization")) {
    const std::string_view key = request.BearerKey();
    return key.empty() ? HashKey(header.value) : "Bearer " + HashKey(key);
  }
  if (EqualsIgnoringCase(header.name, "api-key") || EqualsIgnoringCase(header.name, "x-api-key")) {
    return HashKey(header.value);
  }
  return header.value;
}

void AppendHeaders(std::string& out, const Request& request) {
  AppendJsonName(out, "headers");
  out += '[';
  for (const Header& header : request.headers) {
    out += out.back() == '[' ? "[" : ",[";
    AppendJsonString(out, header.name);
    out += ',';
    AppendJsonString(out, Redact(request, header));
    out += ']';
  }
  out += ']';
}

constexpr std::array<std::pair<std::string_view, uint64_t Counters::*>, 17> kNames{{
    {"requests", &Counters::requests},
    {"bad_requests", &Counters::bad_requests},
    {"items", &Counters::items},
    {"tokens", &Counters::tokens},
    {"replies", &Counters::replies},
    {"dropped", &Counters::dropped},
    {"aborted", &Counters::aborted},
    {"connections", &Counters::connections},
    {"open", &Counters::open},
    {"most_open", &Counters::most_open},
    {"tls_failures", &Counters::tls_failures},
    {"in_flight", &Counters::in_flight},
    {"most_in_flight", &Counters::most_in_flight},
    {"hanging", &Counters::hanging},
    {"distinct_texts", &Counters::distinct_texts},
    {"repeated_texts", &Counters::repeated_texts},
    {"repeats", &Counters::repeats},
}};

void AppendCounters(std::string& out, const Counters& counters) {
  for (const auto& [name, counter] : kNames) {
    AppendJsonField(out, name, counters.*counter);
  }
}

}  // namespace

void Stats::AppendPath(std::string& out, const PathStats& path) const {
  out += '{';
  AppendJsonField(out, "requests", path.requests);
  AppendJsonField(out, "items", path.items);
  AppendJsonName(out, "last");
  out += '{';
  AppendJsonField(out, "method", path.last.method);
  AppendJsonField(out, "query", path.last.query);
  AppendHeaders(out, path.last);
  AppendJsonField(out, "body_bytes", path.last_body_bytes);
  AppendJsonField(out, "body", path.last.body);
  out += "}}";
}

std::string Stats::ToJson() const {
  const std::lock_guard lock(mutex_);
  std::string out = "{";
  AppendCounters(out, counters_);
  AppendJsonName(out, "by_status");
  out += '{';
  for (const auto& [status, count] : by_status_) {
    AppendJsonField(out, std::to_string(status), count);
  }
  out += '}';
  AppendJsonName(out, "by_path");
  out += '{';
  for (const auto& [name, path] : by_path_) {
    AppendJsonName(out, name);
    AppendPath(out, path);
  }
  out += '}';
  AppendJsonName(out, "keys");
  out += '{';
  for (const auto& [key, count] : by_key_) {
    AppendJsonField(out, HashKey(key), count);
  }
  return out + "}}";
}

}  // namespace ai::mock
