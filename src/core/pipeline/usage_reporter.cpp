#include "core/pipeline/usage_reporter.hpp"

namespace ai::pipeline {

bool UsageReporter::Report(QueueId id, UsageMeter& meter) {
  meter.report_after = clock_.Now() + settings_.heartbeat_interval;
  const bool reported = backlog_.AddUsage(id, meter.model, meter.usage).ok();
  if (reported) {
    meter.usage = {};
  }
  return reported;
}

void UsageReporter::Report() {
  for (auto& [id, queue] : queues_) {
    UsageMeter& meter = queue.meter;
    if (meter.usage == Usage() || meter.report_after > clock_.Now() || Report(id, meter)) {
      continue;
    }
    // Most likely the counters are locked, which are the same tables for all queues.
    for (auto& [other, its] : queues_) {
      its.meter.report_after = meter.report_after;
    }
    return;
  }
}

void UsageReporter::ReportAll() {
  for (auto& [id, queue] : queues_) {
    if (queue.meter.usage != Usage()) {
      Report(id, queue.meter);
    }
  }
}

}  // namespace ai::pipeline
