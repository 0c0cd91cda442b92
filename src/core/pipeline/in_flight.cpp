#include "core/pipeline/in_flight.hpp"

#include <algorithm>

namespace ai::pipeline {

void InFlight::Submit(Queue& queue, Request request, http::Request message) {
  const std::size_t bytes = message.body.size();
  queue.outbox.OnSent();
  memory_.bytes += bytes;
  const auto id = transport_.Submit(std::move(message));
  requests_.emplace(static_cast<std::uint64_t>(id), Entry{&queue, std::move(request), bytes});
}

/// Returns the next entry.
InFlight::Entries::iterator InFlight::End(Entries::iterator entry) {
  entry->second.queue->outbox.OnEnded();
  memory_.bytes -= entry->second.bytes;
  return requests_.erase(entry);
}

std::vector<InFlight::Ended> InFlight::Collect() {
  std::vector<Ended> ended;
  transport_.Drive();
  for (http::Completion& completion : transport_.Collect()) {
    const auto found = requests_.find(static_cast<std::uint64_t>(completion.id));
    if (found != requests_.end()) {
      Entry& entry = found->second;
      ended.push_back({entry.queue, std::move(entry.request), std::move(completion.result)});
      End(found);
    }
  }
  return ended;
}

void InFlight::Cancel(Queue& queue) {
  for (auto entry = requests_.begin(); entry != requests_.end();) {
    if (entry->second.queue == &queue) {
      transport_.Cancel(http::RequestId(entry->first));
      entry = End(entry);
    } else {
      ++entry;
    }
  }
}

void InFlight::CancelAll() {
  transport_.CancelAll();
  for (auto entry = requests_.begin(); entry != requests_.end();) {
    entry = End(entry);
  }
}

bool InFlight::HasAnyOf(OwnerId owner) const {
  return std::any_of(requests_.begin(), requests_.end(),
                     [owner](const auto& entry) { return entry.second.queue->owner() == owner; });
}

}  // namespace ai::pipeline
