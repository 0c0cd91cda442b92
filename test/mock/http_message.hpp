// http_message.hpp: an HTTP request as it was read, and the words of HTTP that others need.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

namespace ai::mock {

struct Header {
  std::string name;
  std::string value;
};

struct Request {
  std::string method;
  std::string path;   // of the target, before the question mark
  std::string query;  // after it
  int minor_version = 1;
  std::vector<Header> headers;
  std::string body;

  /// The first header of that name in any case, or an empty text.
  std::string_view Find(std::string_view name) const;

  /// Whether a comma-separated header names the token, in any case.
  bool HasToken(std::string_view header, std::string_view token) const;

  /// Whether the client lets the connection stay open after this request.
  bool KeepsAlive() const;

  /// The key of "Authorization: Bearer <key>", or an empty text.
  std::string_view BearerKey() const;
};

bool EqualsIgnoringCase(std::string_view a, std::string_view b);
std::string_view Trim(std::string_view text);

/// The reason phrase of a status.
std::string_view ReasonOf(int status);

/// A moment as HTTP writes it: "Wed, 21 Oct 2015 07:28:00 GMT".
std::string HttpDate(std::chrono::system_clock::time_point when);

}  // namespace ai::mock
