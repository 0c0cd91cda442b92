// Adds the usage of queues, tokens and chunks, to the database: periodically, not with each batch.
#pragma once

#include "core/pipeline/backlog.hpp"
#include "core/pipeline/queue.hpp"
#include "core/pipeline/settings.hpp"

namespace ai::pipeline {

class UsageReporter final {
 public:
  UsageReporter(const Clock& clock, const Settings& settings, Backlog& backlog, Queues& queues)
      : clock_(clock), settings_(settings), backlog_(backlog), queues_(queues) {}

  /// For queues whose last report is a heartbeat interval ago.
  void Report();
  /// For all queues, before the process exits.
  void ReportAll();

 private:
  bool Report(QueueId id, UsageMeter& meter);

  const Clock& clock_;
  const Settings& settings_;
  Backlog& backlog_;
  Queues& queues_;
};

}  // namespace ai::pipeline
