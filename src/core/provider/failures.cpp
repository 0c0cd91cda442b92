// See failures.hpp.
#include "core/provider/failures.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "core/provider/classify.hpp"
#include "core/provider/complaint.hpp"
#include "core/provider/rate_limits.hpp"
#include "core/provider/words.hpp"

namespace ai::provider {
namespace {

constexpr std::size_t kMaxName = 100;  // bytes of a model, a host or a code in a message

/// " from https://api.example.com/v1/embeddings for model "m""
std::string Describe(const Origin& origin) {
  std::string text = " from " + JoinUrl(origin.endpoint.base_url, origin.path);
  if (!origin.model.empty()) {
    text += " for model \"" + CleanWords(origin.model, origin.endpoint.api_key, kMaxName) + "\"";
  }
  return text;
}

/// Some servers repeat the input that they do not like; nothing from there on is kept.
std::string_view WithoutInput(std::string_view message) {
  constexpr std::array<std::string_view, 6> kMarks = {
      ", 'input':", "{'input':", ",\"input\":", ", \"input\":", "{\"input\":", "input_value="};
  for (const std::string_view mark : kMarks) {
    message = message.substr(0, message.find(mark));
  }
  return message;
}

bool IsRedirect(int status) {
  return status >= 300 && status < 400;
}

/// Only the host: what follows may hold anything.
std::string DescribeRedirect(const http::Response& response) {
  const std::string_view location = response.headers.Find("location").value_or(std::string_view());
  const std::string host = CleanWords(HostOf(location), {}, kMaxName);
  return host.empty() ? "a redirect, which is not followed"
                      : "a redirect to host \"" + host + "\", which is not followed";
}

/// What to do where the class of a failure does not say enough.
std::string HintFor(std::string_view message) {
  const auto says = [&](std::string_view words) { return message.find(words) != message.npos; };
  return says("matryoshka") || says("dimension") || says("Extra inputs")
             ? "If the model has vectors of one length only, use send_dimensions => false in "
               "ai.embedding_openai, and no dimensions in ai.openai_embed."
             : "";
}

Failure Explain(const Origin& origin, const http::Response& response, const Complaint& complaint,
                WallTime now) {
  const std::string& key = origin.endpoint.api_key;
  const std::string words = IsRedirect(response.status)
                                ? DescribeRedirect(response)
                                : CleanWords(WithoutInput(complaint.message), key);
  Failure failure;
  failure.failure_class = Classify(response.status, complaint);
  failure.http_status = response.status;
  failure.provider_code =
      CleanWords(complaint.code.empty() ? complaint.type : complaint.code, key, kMaxName);
  failure.message = "HTTP status " + std::to_string(response.status) + Describe(origin) +
                    (words.empty() ? "" : ": " + words);
  failure.retry_after = ReadRetryAfter(response.headers, complaint.message, now);
  if (failure.failure_class == FailureClass::kConfiguration) {
    failure.hint = HintFor(complaint.message);
  }
  return failure;
}

}  // namespace

Failure ErrorReply(const Origin& origin, const http::Response& response, WallTime now) {
  return Explain(origin, response, ReadComplaint(response.body), now);
}

Failure InvalidReply(const Origin& origin, const http::Response& response, std::string_view problem,
                     WallTime now) {
  const Complaint complaint = ReadComplaint(response.body);
  if (complaint.is_explicit) {
    return Explain(origin, response, complaint, now);
  }
  Failure failure;
  failure.failure_class = FailureClass::kInvalidReply;
  failure.http_status = response.status;
  failure.message = "reply" + Describe(origin) + " ";
  const bool is_page = complaint.message.starts_with("an HTML page");
  failure.message += is_page ? "is " + CleanWords(complaint.message, origin.endpoint.api_key)
                             : std::string(problem);
  return failure;
}

}  // namespace ai::provider
