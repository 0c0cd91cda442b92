#include "unit/simulation/world.hpp"

#include <algorithm>

namespace ai::simulation {

std::string TextOf(QueueId queue, Key key, int version) {
  return "q" + std::to_string(queue) + " k" + std::to_string(key) + " v" + std::to_string(version);
}

milliseconds World::time() const {
  static const SteadyTime start = test::ManualClock().Now();
  return std::chrono::duration_cast<milliseconds>(now() - start);
}

bool World::Fault(const char* name, double probability) {
  if (calm || !Chance(probability)) {
    return false;
  }
  Count(name);
  return true;
}

void World::Note(std::string what) {
  history.push_back(std::to_string(time().count()) + " ms: " + std::move(what));
}

SimQueue* World::Find(QueueId id) {
  const auto found = std::find_if(queues.begin(), queues.end(),
                                  [id](const SimQueue& queue) { return queue.id == id; });
  return found == queues.end() || found->dropped ? nullptr : &*found;
}

void World::Change(SimQueue& queue, Key key, Poison poison, std::size_t bytes) {
  SourceRow& row = queue.source[key];
  row = {.version = ++queue.versions[key], .poison = poison, .bytes = bytes, .changed_at = time()};
  AddEntry(queue, key);
}

void World::Delete(SimQueue& queue, Key key) {
  queue.source.erase(key);
  AddEntry(queue, key);
}

Tid World::NewTid() {
  if (!free_tids.empty() && Chance(0.5)) {
    const Tid tid = free_tids.back();
    free_tids.pop_back();
    return tid;
  }
  return {0, next_offset++};
}

void World::EraseWork(SimQueue& queue, Key key) {
  free_tids.push_back(queue.work.at(key).tid);
  queue.work.erase(key);
}

void World::Reclaim(WorkerId lease, bool died) {
  for (SimQueue& queue : queues) {
    for (auto row = queue.work.begin(); row != queue.work.end();) {
      WorkRow& work = row->second;
      if (work.lease != lease) {
        ++row;
        continue;
      }
      const bool to_blame = died && work.crashes >= 2;
      ++work.attempts;
      work.crashes += died ? 1 : 0;
      work.lease = 0;
      work.retry_at = now();
      if (to_blame || work.attempts >= kMaxAttempts) {
        queue.dead_letters[row->first] = to_blame ? "killer" : "attempts";
        free_tids.push_back(work.tid);
        row = queue.work.erase(row);
      } else {
        ++row;
      }
    }
  }
  crash_count += died ? 1 : 0;
}

namespace {

/// Alone, a row that its provider or its table fails by cannot be told from a provider or a table
/// that is out of order: it is tried again, and nothing is charged.
bool LooksLikeOutage(const SimQueue& queue, Key key) {
  const auto row = queue.source.find(key);
  return row != queue.source.end() && queue.work.contains(key) &&
         (row->second.poison == Poison::kFails || row->second.poison == Poison::kGarbage ||
          row->second.poison == Poison::kBadCode);
}

bool HasOutages(const SimQueue& queue) {
  return std::any_of(queue.work.begin(), queue.work.end(),
                     [&](const auto& entry) { return LooksLikeOutage(queue, entry.first); });
}

}  // namespace

/// As long as such rows keep the circuit breaker of a provider half-open, how often rows that a
/// process has died with come to its probes is not promised.
bool World::MayWait(const SimQueue& queue, Key key) const {
  const auto work = queue.work.find(key);
  const bool is_suspect = work != queue.work.end() && work->second.crashes > 0;
  const bool has_outages = std::any_of(queues.begin(), queues.end(), [&](const SimQueue& other) {
    return other.provider == queue.provider && HasOutages(other);
  });
  return LooksLikeOutage(queue, key) || (has_outages && is_suspect);
}

std::string World::Unfinished() const {
  for (const SimQueue& queue : queues) {
    if (queue.dropped || queue.disabled) {
      continue;
    }
    const std::string of = " of queue " + std::to_string(queue.id);
    for (const Entry& entry : queue.entries) {
      if (!MayWait(queue, entry.key)) {
        return "entry for key " + std::to_string(entry.key) + of;
      }
    }
    for (const auto& [key, work] : queue.work) {
      if (MayWait(queue, key) && work.lease == 0) {
        continue;
      }
      return "work row for key " + std::to_string(key) + of + ", lease " +
             std::to_string(work.lease) + ", attempts " + std::to_string(work.attempts);
    }
    for (const auto& [key, row] : queue.source) {
      const auto target = queue.target.find(key);
      const bool is_done = target != queue.target.end() && target->second.version == row.version;
      if (!is_done && !queue.dead_letters.contains(key) && !MayWait(queue, key)) {
        return "row " + std::to_string(key) + of + " was lost";
      }
    }
    for (const auto& [key, row] : queue.target) {
      if (!queue.source.contains(key) && !queue.dead_letters.contains(key)) {
        return "chunks of deleted row " + std::to_string(key) + of;
      }
    }
  }
  return {};
}

}  // namespace ai::simulation
