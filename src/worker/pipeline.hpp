// What a worker does between two waits: takes changed rows from the queues, has their texts
// embedded, writes the vectors. The process around it (worker.cpp) waits, beats and ends.
//
// No transaction is open when Turn returns: between two turns a worker holds nothing but memory,
// sockets and the leases of the rows it has taken.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace ai::worker {

/// What to wait for before the next turn, the latch apart.
struct WaitFor {
  int fd = -1;  // readable when a provider has answered; -1: none
  std::chrono::milliseconds at_most{0};
};

/// What happened since the last heartbeat.
struct Tally {
  std::int64_t rows_done = 0;
  std::int64_t errors = 0;
  std::string last_error = {};
};

/// What a worker has taken and not finished.
struct InHand {
  std::size_t rows = 0;
  std::size_t requests = 0;                // under way
  std::optional<std::int32_t> vectorizer;  // of which it has most rows; 0: jobs
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

  /// There may be new work, because a commit said so or because it is time: the next turn looks.
  void LookAgain();

  /// Cancels what is under way and gives the rows back, uncharged. The last thing to call.
  void GiveBack();

  Tally TakeTally();
  InHand CountInHand() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace ai::worker
