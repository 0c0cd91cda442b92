// The base of all sources of a worker: a parsed embedding configuration, the lease that rows are
// claimed with, and the route to the provider.
#pragma once

#include "core/json/document.hpp"
#include "core/pipeline/source.hpp"
#include "worker/endpoint/endpoint_limiters.hpp"
#include "worker/statements/step.hpp"

namespace ai::worker {

/// What a worker provides to its sources.
struct SourceContext {
  const pg_uuid_t& lease;  // the id of this process in ai.vectorizer_worker_process
  EndpointLimiters& limiters;
};

class EmbeddingSource : public pipeline::Source {
 public:
  explicit EmbeddingSource(const SourceContext& context) : context_(context) {}

  const pipeline::SourceTraits& traits() const override { return traits_; }
  std::span<const pipeline::Tid> unread() const override { return unread_; }
  pipeline::Step<pipeline::Route> FindRoute() override;
  pipeline::Step<pipeline::Message> Build(std::span<const std::string_view> texts,
                                          const provider::Endpoint& endpoint) const override;

  virtual const json::Value embedding() const = 0;

 protected:
  /// Sets the traits from embedding() and its defaults. Throws ai::Error if the configuration is
  /// invalid.
  void OpenModel(Oid owner);

  const pg_uuid_t& lease() const { return context_.lease; }
  Oid owner() const { return traits_.owner; }
  std::size_t dimensions() const { return traits_.dimensions; }

  pipeline::SourceTraits traits_;
  std::vector<pipeline::Tid> unread_;  // claimed, not yet loaded

 private:
  SourceContext context_;
  std::unique_ptr<provider::Provider> provider_;
  std::shared_ptr<const token::Encoding> encoding_;
};

}  // namespace ai::worker
