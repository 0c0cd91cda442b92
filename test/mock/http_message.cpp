// http_message.cpp: an HTTP request as it was read, and the words of HTTP that others need.
#include "mock/http_message.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <ctime>

namespace ai::mock {

namespace {

struct Reason {
  int status;
  std::string_view text;
};

constexpr std::array<Reason, 32> kReasons{{
    {200, "OK"},
    {201, "Created"},
    {202, "Accepted"},
    {204, "No Content"},
    {301, "Moved Permanently"},
    {302, "Found"},
    {303, "See Other"},
    {307, "Temporary Redirect"},
    {308, "Permanent Redirect"},
    {400, "Bad Request"},
    {401, "Unauthorized"},
    {402, "Payment Required"},
    {403, "Forbidden"},
    {404, "Not Found"},
    {405, "Method Not Allowed"},
    {408, "Request Timeout"},
    {409, "Conflict"},
    {411, "Length Required"},
    {413, "Payload Too Large"},
    {415, "Unsupported Media Type"},
    {422, "Unprocessable Entity"},
    {429, "Too Many Requests"},
    {431, "Request Header Fields Too Large"},
    {499, "Client Closed Request"},
    {500, "Internal Server Error"},
    {501, "Not Implemented"},
    {502, "Bad Gateway"},
    {503, "Service Unavailable"},
    {504, "Gateway Timeout"},
    {505, "HTTP Version Not Supported"},
    {520, "Web Server Returned an Unknown Error"},
    {529, "Site is overloaded"},
}};

constexpr std::string_view kBearer = "Bearer ";
constexpr std::string_view kBlank = " \t";

}  // namespace

bool EqualsIgnoringCase(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](unsigned char x, unsigned char y) {
    return std::tolower(x) == std::tolower(y);
  });
}

std::string_view Trim(std::string_view text) {
  const size_t first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) {
    return {};
  }
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

std::string_view Request::Find(std::string_view name) const {
  for (const Header& header : headers) {
    if (EqualsIgnoringCase(header.name, name)) {
      return header.value;
    }
  }
  return {};
}

bool Request::HasToken(std::string_view header, std::string_view token) const {
  std::string_view list = Find(header);
  while (!list.empty()) {
    const size_t comma = list.find(',');
    const std::string_view item = list.substr(0, comma);
    if (EqualsIgnoringCase(Trim(item.substr(0, item.find(';'))), token)) {
      return true;
    }
    list = comma == std::string_view::npos ? std::string_view() : list.substr(comma + 1);
  }
  return false;
}

bool Request::KeepsAlive() const {
  if (minor_version == 0) {
    return HasToken("Connection", "keep-alive");
  }
  return !HasToken("Connection", "close");
}

std::string_view Request::BearerKey() const {
  const std::string_view value = Find("Authorization");
  if (value.size() < kBearer.size() ||
      !EqualsIgnoringCase(value.substr(0, kBearer.size()), kBearer)) {
    return {};
  }
  return Trim(value.substr(kBearer.size()));
}

std::string_view ReasonOf(int status) {
  for (const Reason& reason : kReasons) {
    if (reason.status == status) {
      return reason.text;
    }
  }
  return "Unknown";
}

std::string HttpDate(std::chrono::system_clock::time_point when) {
  const std::time_t seconds = std::chrono::system_clock::to_time_t(when);
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  std::array<char, 40> buffer;
  const size_t size =
      std::strftime(buffer.data(), buffer.size(), "%a, %d %b %Y %H:%M:%S GMT", &parts);
  return {buffer.data(), size};
}

}  // namespace ai::mock
