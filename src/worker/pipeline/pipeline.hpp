// What a worker does between two waits: the scheduler of core/pipeline on a real database, with
// real providers. The process around it (worker.cpp) waits, beats and ends.
//
// No transaction is open when Turn returns: between two turns a worker holds nothing but memory,
// sockets and the leases of the rows it has taken.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "core/pipeline/pipeline.hpp"
#include "worker/shared/queue_events.hpp"

namespace ai::worker {

/// What to wait for before the next turn, the latch apart.
struct WaitFor {
  int fd = -1;  // readable when a provider has answered; -1: none
  std::chrono::milliseconds at_most{0};
};

class Pipeline {
 public:
  /// The lease is the id of this process in ai.vectorizer_worker_process, as text. Connected to the
  /// database, no transaction open.
  explicit Pipeline(std::string lease);
  ~Pipeline();
  Pipeline(const Pipeline&) = delete;
  Pipeline& operator=(const Pipeline&) = delete;

  /// Does what can be done without waiting for anybody. Errors of rows and vectorizers are dealt
  /// with inside; what comes out as pg::Error is an interrupt or a broken database, and ends the
  /// process.
  WaitFor Turn();

  /// Commits have changed something: the next turn looks at it.
  void Notify(const QueueEvents& events);

  /// Stores what can be stored at once and releases the rest, uncharged. The last thing to call.
  void Stop();

  pipeline::Tally TakeTally();
  pipeline::InHand CountInHand() const;

  /// Whether nothing is in hand. What is not due yet does not count.
  bool IsIdle() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace ai::worker
