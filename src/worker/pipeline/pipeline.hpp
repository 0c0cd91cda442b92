// What a worker does between two waits: the scheduler of core/pipeline on a real database, with
// real providers. The process around it (worker.cpp) waits, sends heartbeats and exits.
//
// No transaction is open when Turn returns: between two turns a worker holds nothing but memory,
// sockets and the leases of the rows it has claimed.
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
  int fd = -1;  // readable when a provider has replied; -1: none
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

  /// Does everything that can be done without waiting. Errors of rows and vectorizers are handled
  /// inside; a pg::Error that is thrown is an interrupt or a damaged database, and ends the
  /// process.
  WaitFor Turn();

  /// Commits have changed something: the next turn polls it.
  void Notify(const QueueEvents& events);

  /// Stores what can be stored immediately and releases everything else, uncharged. The last call.
  void Stop();

  pipeline::Tally TakeTally();
  pipeline::InProgress CountInProgress() const;

  /// Whether no rows are in progress. Work that is not due yet does not count.
  bool IsIdle() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace ai::worker
