#include "worker/shared/queue_events.hpp"

#include <algorithm>

namespace ai::worker {

QueueEvents TakeEvents(EventRing& ring, EventRing::Cursor& cursor) {
  QueueEvents events;
  if (!ring.HasEvents(cursor)) {
    return events;
  }
  const auto taken = ring.Take(cursor, [&](Oid id) {
    if (id == pg::kEverything) {
      events.everything = true;
    } else if (id == pg::kJobs) {
      events.jobs = true;
    } else {
      events.queues.push_back(id);
    }
  });
  events.everything = events.everything || taken == pipeline::Taken::kOverflow;
  std::sort(events.queues.begin(), events.queues.end());
  const auto repeated = std::unique(events.queues.begin(), events.queues.end());
  events.queues.erase(repeated, events.queues.end());
  return events;
}

}  // namespace ai::worker
