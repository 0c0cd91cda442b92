#include "worker/vectorizer/embedding_source.hpp"

#include "core/provider/registry.hpp"
#include "pg/datum.hpp"
#include "pg/local_model.hpp"
#include "pg/provider_access.hpp"
#include "pg/token_tables.hpp"
#include "worker/process/extension.hpp"

namespace ai::worker {
namespace {

constexpr std::size_t kDefaultBatchSize = 200;
/// Larger batches do not speed up the embedded model, and smaller ones are stored sooner.
constexpr std::size_t kDefaultLocalBatchSize = 32;

}  // namespace

void EmbeddingSource::OpenModel(Oid owner) {
  const json::Value config = embedding();
  traits_.owner = owner;
  traits_.model = config.GetString("model");
  traits_.dimensions = static_cast<std::size_t>(config.GetInteger("dimensions"));
  if (config.GetString("implementation") == "local") {
    traits_.local = pg::OpenLocalModel(traits_.model, config.GetInteger("dimensions"));
    traits_.batch_size = kDefaultLocalBatchSize;
  } else {
    provider_ = provider::MakeProvider(config, pg::ProviderEnvironment());
    encoding_ = pg::FindModelEncoding(traits_.model);
    traits_.provider = provider_.get();
    traits_.encoding = encoding_.get();
    traits_.batch_size = kDefaultBatchSize;
  }
}

/// A new key is a different route.
pipeline::Step<pipeline::Route> EmbeddingSource::FindRoute() {
  return RunStep([this] {
    const json::Value config = embedding();
    WorkTransaction transaction;
    auto endpoint = pg::ResolveEndpoint(config, owner(), std::nullopt);
    transaction.Commit();
    EndpointLimiter& limiter =
        context_.limiters.Find(endpoint, std::string(config.GetString("api_key_name", "")));
    return pipeline::Route{std::move(endpoint), &limiter, RoleIdOf(owner())};
  });
}

pipeline::Step<pipeline::Message> EmbeddingSource::Build(std::span<const std::string_view> texts,
                                                         const provider::Endpoint& endpoint) const {
  return RunStep([&] {
    pipeline::Message message{provider_->Build(texts, endpoint)};
    const std::size_t expected = message.request.max_response_bytes;
    pg::ApplyLimits(embedding(), message.request);
    message.may_shrink = message.request.max_response_bytes < expected;
    return message;
  });
}

}  // namespace ai::worker
