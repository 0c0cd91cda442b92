// Polls vectorizers: all of them in slices, or only those given.
#pragma once

#include "core/pipeline/backlog.hpp"
#include "pg/statement.hpp"
#include "worker/pipeline/peers.hpp"

namespace ai::worker {

class VectorizerPoll final {
 public:
  VectorizerPoll();

  /// Adds its findings to the result and to the known tables. Call in a transaction.
  void Run(pg::Spi& spi, const pipeline::PollRequest& request, pipeline::PollResult& result,
           QueueTables& tables);

 private:
  pg::Rows Find(pg::Spi& spi, const pipeline::PollRequest& request);

  pg::Statement slice_;
  pg::Statement named_;
  pg::Statement set_aside_;
};

}  // namespace ai::worker
