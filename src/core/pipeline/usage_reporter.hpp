// What queues have used, tokens and chunks: told to the database now and then, not with each batch.
#pragma once

#include "core/pipeline/backlog.hpp"
#include "core/pipeline/queue.hpp"
#include "core/pipeline/settings.hpp"

namespace ai::pipeline {

class UsageReporter final {
 public:
  UsageReporter(const Clock& clock, const Settings& settings, Backlog& backlog, Queues& queues)
      : clock_(clock), settings_(settings), backlog_(backlog), queues_(queues) {}

  /// Of queues whose last report is a heartbeat ago.
  void Report();
  /// Of all, before the process ends.
  void ReportAll();

 private:
  bool Report(QueueId id, UsageMeter& meter);

  const Clock& clock_;
  const Settings& settings_;
  Backlog& backlog_;
  Queues& queues_;
};

}  // namespace ai::pipeline
