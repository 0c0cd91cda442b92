// The requests of a worker that are in flight.
#pragma once

#include <unordered_map>

#include "core/http/transport.hpp"
#include "core/pipeline/queue.hpp"

namespace ai::pipeline {

class InFlight final {
 public:
  InFlight(http::Transport& transport, Memory& memory) : transport_(transport), memory_(memory) {}

  void Submit(Queue& queue, Request request, http::Request message);

  struct Ended {
    Queue* queue;
    Request request;
    Result<http::Response> result;
  };
  /// Those that have completed since the last call.
  std::vector<Ended> Collect();
  /// Returns the reply's buffer to the pool.
  void Recycle(http::Response& response) { transport_.Recycle(std::move(response.body)); }
  void Drive() { transport_.Drive(); }

  /// Cancels the requests of a queue.
  void Cancel(Queue& queue);
  void CancelAll();

  std::size_t count() const { return requests_.size(); }
  bool HasAnyOf(OwnerId owner) const;

 private:
  struct Entry {
    Queue* queue;
    Request request;
    std::size_t bytes;  // of the message, which contains a copy of the texts
  };
  using Entries = std::unordered_map<std::uint64_t, Entry>;

  Entries::iterator End(Entries::iterator entry);

  http::Transport& transport_;
  Memory& memory_;
  Entries requests_;
};

}  // namespace ai::pipeline
