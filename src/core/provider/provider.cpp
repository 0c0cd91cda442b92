// See provider.hpp.
#include "core/provider/provider.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "core/error.hpp"
#include "core/json/limits.hpp"
#include "core/provider/failures.hpp"
#include "core/provider/words.hpp"

namespace ai::provider {
namespace {

constexpr std::size_t kReplyOverhead = std::size_t{1} << 20;
constexpr std::size_t kBytesPerValue = 32;  // a double in JSON has at most 24, and a comma
constexpr std::size_t kMaxExplanation = std::size_t{64} << 10;  // that a bad reply is quoted from
constexpr std::size_t kMaxModel = 100;                          // bytes of its name in a message
constexpr std::size_t kBytesPerEscaped = 6;  // Cohere sends the texts back; é may become \u00e9

/// What a reply may need at most, so that a provider gone wrong cannot fill our memory.
std::size_t MaxReplyBytes(std::size_t count, std::size_t dimensions, std::size_t body) {
  const std::size_t values = count * (dimensions == 0 ? kMaxDimensions : dimensions);
  return std::min(kReplyOverhead + values * kBytesPerValue + body * kBytesPerEscaped,
                  json::kReadLimits.max_bytes);
}

}  // namespace

http::Request Provider::Build(std::span<const std::string_view> texts,
                              const Endpoint& endpoint) const {
  return Post(endpoint, texts.size(), [&](json::Writer& writer) { WriteBody(writer, texts); });
}

http::Request Provider::Post(const Endpoint& endpoint, std::size_t count,
                             const std::function<void(json::Writer&)>& write) const {
  if (count == 0) {
    throw Error(ErrorCode::kInvalidParameter, "there is no text to embed");
  }
  http::Request request = MakeRequest(http::Method::kPost, endpoint, traits_.path);
  json::Writer writer(request.body);
  writer.BeginObject().Key("model").String(model());
  write(writer);
  writer.EndObject();
  request.max_response_bytes = MaxReplyBytes(count, dimensions(), request.body.size());
  return request;
}

Result<void> Provider::Parse(http::Response& response, const Endpoint& endpoint, std::size_t count,
                             WallTime now, Embeddings& embeddings) const {
  const Origin origin{endpoint, traits_.path, model()};
  if (response.status != 200) {
    embeddings.Clear();
    return ErrorReply(origin, response, now);
  }
  std::string beginning = response.body.substr(0, kMaxExplanation);
  const std::optional<std::string> problem =
      ReadReply(response.body, traits_.shape, {count, dimensions()}, embeddings);
  if (!problem.has_value()) {
    return {};
  }
  response.body = std::move(beginning);
  return InvalidReply(origin, response, *problem, now);
}

Result<Embeddings> Provider::Parse(http::Response response, const Endpoint& endpoint,
                                   std::size_t count, WallTime now) const {
  Embeddings embeddings;
  const Result<void> result = Parse(response, endpoint, count, now, embeddings);
  if (!result.ok()) {
    return result.failure();
  }
  return embeddings;
}

Failure Provider::Explain(Failure failure) const {
  failure.message +=
      " (model \"" + CleanWords(model(), {}, kMaxModel) + "\"" +
      (failure.http_status == 0 ? ")"
                                : ", HTTP status " + std::to_string(failure.http_status) + ")");
  return failure;
}

void WriteTexts(json::Writer& writer, std::span<const std::string_view> texts) {
  writer.BeginArray();
  for (const std::string_view text : texts) {
    writer.String(text);
  }
  writer.EndArray();
}

}  // namespace ai::provider
