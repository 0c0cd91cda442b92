// openai_errors.cpp: how OpenAI words its errors.
#include "mock/openai_errors.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <string>

#include "mock/vectors.hpp"

namespace ai::mock {

namespace {

constexpr std::string_view kReference =
    " Please check the API reference: https://platform.openai.com/docs/api-reference.";
constexpr std::string_view kInvalidRequest = "invalid_request_error";

struct Wording {
  std::string message;
  std::string_view type;
  std::string_view code;  // empty is null
};

std::string RateLimitMessage(const Call& call) {
  const QuotaState& quota = call.quota;
  const std::string what =
      quota.by_tokens ? "tokens per min (TPM): Limit " : "requests per min (RPM): Limit ";
  const uint64_t limit = quota.by_tokens ? quota.limit_tokens : quota.limit_requests;
  const uint64_t left = quota.by_tokens ? quota.remaining_tokens : quota.remaining_requests;
  return "Rate limit reached for " + call.model + " in organization org-mock on " + what +
         std::to_string(limit) + ", Used " + std::to_string(limit - std::min(limit, left)) +
         ", Requested " + std::to_string(quota.by_tokens ? call.tokens : 1) +
         ". Please try again in " + OpenAiSeconds(quota.retry_after) +
         ". Visit https://platform.openai.com/account/rate-limits to learn more.";
}

std::string ContextMessage(const Call& call) {
  uint64_t longest = 0;
  for (const std::string& text : call.texts) {
    longest = std::max(longest, CountTokens(text));
  }
  const std::string tokens = std::to_string(longest);
  return "This model's maximum context length is 8192 tokens, however you requested " + tokens +
         " tokens (" + tokens + " in your prompt; 0 for the completion)." +
         " Please reduce your prompt; or completion length.";
}

Wording WordingOf(ErrorKind kind, const Call& call) {
  switch (kind) {
    case ErrorKind::kContextLength:
      return {ContextMessage(call), kInvalidRequest, ""};
    case ErrorKind::kTooManyItems:
      return {
          "Invalid 'input': array too long. Expected an array with maximum length 2048, but got"
          " an array with length " +
              std::to_string(call.texts.size()) + " instead.",
          kInvalidRequest, "array_above_max_length"};
    case ErrorKind::kTooManyTokens:
      return {"Requested " + std::to_string(call.tokens) + " tokens, max 300000 tokens per request",
              "max_tokens_per_request", "max_tokens_per_request"};
    case ErrorKind::kMissingKey:
      return {
          "You didn't provide an API key. You need to provide your API key in an Authorization"
          " header using Bearer auth (i.e. Authorization: Bearer YOUR_KEY).",
          kInvalidRequest, ""};
    case ErrorKind::kInvalidKey:
      return {
          "Incorrect API key provided: sk-mock*******mock. You can find your API key at"
          " https://platform.openai.com/account/api-keys.",
          kInvalidRequest, "invalid_api_key"};
    case ErrorKind::kForbidden:
      return {"You are not allowed to generate embeddings from this model", kInvalidRequest, ""};
    case ErrorKind::kModelNotFound:
      return {"The model `" + call.model + "` does not exist or you do not have access to it.",
              kInvalidRequest, "model_not_found"};
    case ErrorKind::kRateLimit:
      return {RateLimitMessage(call), call.quota.by_tokens ? "tokens" : "requests",
              "rate_limit_exceeded"};
    case ErrorKind::kQuota:
      return {"You exceeded your current quota, please check your plan and billing details.",
              "insufficient_quota", "insufficient_quota"};
    case ErrorKind::kNotFound:
      return {"Invalid URL", kInvalidRequest, ""};
    case ErrorKind::kMethodNotAllowed:
      return {"Not allowed to do that on this URL", kInvalidRequest, "method_not_supported"};
    case ErrorKind::kTimeout:
      return {"Request timed out.", "timeout", ""};
    case ErrorKind::kConflict:
      return {"The resource is being changed by another request.", kInvalidRequest, "conflict"};
    case ErrorKind::kTooLarge:
      return {"Maximum content size limit exceeded.", kInvalidRequest, ""};
    case ErrorKind::kServer:
      return {"The server had an error while processing your request. Sorry about that!",
              "server_error", ""};
    case ErrorKind::kOverloaded:
      return {"The engine is currently overloaded, please try again later", "server_error", ""};
    default:
      return {"'$.input' is invalid." + std::string(kReference), kInvalidRequest, ""};
  }
}

// The page that OpenAI's front door shows when what is behind it does not answer.
Reply GatewayPage(int status) {
  Reply reply;
  reply.status = status;
  reply.content_type = "text/html; charset=UTF-8";
  const std::string title = std::to_string(status) + " " + std::string(ReasonOf(status));
  reply.body = "<html>\r\n<head><title>" + title + "</title></head>\r\n<body>\r\n<center><h1>" +
               title +
               "</h1></center>\r\n<hr><center>cloudflare</center>\r\n</body>\r\n</html>\r\n";
  return reply;
}

void AppendOptional(std::string& out, std::string_view name, std::string_view value) {
  if (value.empty()) {
    AppendJsonName(out, name);
    out += "null";
    return;
  }
  AppendJsonField(out, name, value);
}

}  // namespace

std::string OpenAiSeconds(std::chrono::milliseconds time) {
  std::array<char, 32> buffer;
  std::snprintf(buffer.data(), buffer.size(), "%.3gs", static_cast<double>(time.count()) / 1000);
  return buffer.data();
}

Reply OpenAiError(ErrorKind kind, int status, const Call& call, std::string_view message,
                  std::string_view param) {
  if (kind == ErrorKind::kBadGateway || kind == ErrorKind::kGatewayTimeout) {
    return GatewayPage(status);
  }
  const Wording wording = WordingOf(kind, call);
  Reply reply;
  reply.status = status;
  reply.body = R"({"error":{)";
  AppendJsonField(reply.body, "message", message.empty() ? wording.message : message);
  AppendJsonField(reply.body, "type", wording.type);
  AppendOptional(reply.body, "param", param);
  AppendOptional(reply.body, "code", wording.code);
  reply.body += "}}";
  return reply;
}

}  // namespace ai::mock
