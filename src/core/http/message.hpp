// What goes out and what comes back, as plain values. A provider builds a Request and reads a
// Response without knowing how either travels.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

#include "core/http/headers.hpp"

namespace ai::http {

enum class Method { kGet, kPost };

struct Timeouts {
  std::chrono::milliseconds connect{std::chrono::seconds(10)};  // until the connection stands
  std::chrono::milliseconds total{std::chrono::seconds(120)};   // until the last byte of the answer
};

struct Request {
  Method method = Method::kPost;
  std::string url = {};
  Headers headers = {};
  std::string body = {};
  Timeouts timeouts = {};
  std::size_t max_response_bytes = std::size_t{64} << 20;
};

struct Response {
  int status = 0;
  Headers headers = {};
  std::string body = {};
};

}  // namespace ai::http
