// A provider of embeddings as pure code: it builds a request from texts and takes a reply apart
// into floats or a Failure of the right class. It never opens a connection, waits, retries or logs,
// and no message of it shows a key or a text.
//
// What all providers share is done here; one of them says only where its requests go, what is in
// their body and where in a reply the vectors are. See registry.hpp for the list.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "core/clock.hpp"
#include "core/http/message.hpp"
#include "core/json/writer.hpp"
#include "core/provider/embeddings.hpp"
#include "core/provider/endpoint.hpp"
#include "core/provider/limits.hpp"
#include "core/provider/reply.hpp"
#include "core/result.hpp"

namespace ai::provider {

/// Immutable: one object serves any number of requests.
class Provider {
 public:
  virtual ~Provider() = default;
  Provider(const Provider&) = delete;
  Provider& operator=(const Provider&) = delete;

  /// The request for these texts. Throws Error if the base URL or the key cannot be used, if there
  /// is no text, or if one is not UTF-8.
  http::Request Build(std::span<const std::string_view> texts, const Endpoint& endpoint) const;

  /// Takes the reply to a request of count texts apart: one vector for each text, in their order.
  /// Reuses the memory of embeddings; after a failure it is empty. The body is read in place: its
  /// content is unspecified afterwards.
  Result<void> Parse(http::Response& response, const Endpoint& endpoint, std::size_t count,
                     WallTime now, Embeddings& embeddings) const;
  Result<Embeddings> Parse(http::Response response, const Endpoint& endpoint, std::size_t count,
                           WallTime now) const;

  /// A failure of the transport, which knows the endpoint, with the model and the status.
  Failure Explain(Failure failure) const;

  const std::string& model() const { return traits_.model; }
  /// Of the vectors; 0 if the configuration does not say.
  std::size_t dimensions() const { return traits_.dimensions; }
  /// How much one request may hold.
  const Limits& limits() const { return traits_.limits; }

 protected:
  /// What tells one provider from the other, apart from the body of a request.
  struct Traits {
    std::string model;
    std::size_t dimensions;
    Limits limits;
    std::string_view path;  // what follows the base URL
    ReplyShape shape;
  };

  explicit Provider(Traits traits) : traits_(std::move(traits)) {}

  /// Writes the members of the request's body, the model apart.
  virtual void WriteBody(json::Writer& writer, std::span<const std::string_view> texts) const = 0;

  /// A request whose body has the model and the members that write adds.
  http::Request Post(const Endpoint& endpoint, std::size_t count,
                     const std::function<void(json::Writer&)>& write) const;

 private:
  Traits traits_;
};

/// Writes texts as an array of strings.
void WriteTexts(json::Writer& writer, std::span<const std::string_view> texts);

}  // namespace ai::provider
