#include "worker/barred_queues.hpp"

#include <algorithm>
#include <cmath>

#include "pg/datum.hpp"
#include "worker/extension.hpp"
#include "worker/process.hpp"

namespace ai::worker {

namespace {

constexpr std::chrono::minutes kLongest{1};
constexpr std::chrono::seconds kAfterError{1};

std::uint64_t KeyOf(Oid queue, std::uint32_t changes) noexcept {
  return std::uint64_t{queue} << 32 | changes;
}

/// Two queues at one place: only one of them is known, and the other wakes workers in vain.
constexpr int PlaceOf(Oid queue) noexcept {
  return static_cast<int>(queue % kMaxBarred);
}

}  // namespace

bool IsBarred(const DatabaseSlot& slot, Oid queue) noexcept {
  const BarredQueue& place = slot.barred[PlaceOf(queue)];
  return place.key.load() == KeyOf(queue, slot.catalog_changes.load()) &&
         std::chrono::steady_clock::now() < place.until.load();
}

void BarredQueues::Note(Oid queue, std::uint32_t changes, SteadyTime until) {
  BarredQueue& place = slot_.barred[PlaceOf(queue)];
  const SharedLock lock;
  place.key = 0;
  place.until = until;
  place.key = KeyOf(queue, changes);
}

void BarredQueues::Ask(std::span<const Datum> queues, SteadyTime now) {
  const std::uint32_t changes = slot_.catalog_changes;
  WithExtension([&](pg::Spi& spi) {
    const pg::Argument arguments[] = {{OIDARRAYOID, pg::ArrayDatum(OIDOID, queues)}};
    const pg::Rows rows =
        spi.Execute("SELECT b.queue, b.left_ms FROM ai._barred_queues($1) b", arguments);
    for (std::uint64_t i = 0; i < rows.count(); ++i) {
      const Oid queue = DatumGetObjectId(*rows.At(i, 0));
      const double left = DatumGetFloat8(*rows.At(i, 1));
      const std::chrono::duration<double, std::milli> most = kLongest;
      const SteadyTime until =
          now + std::chrono::milliseconds(std::lround(std::min(left, most.count())));
      ask_again_[queue] = until;
      Note(queue, changes, until);
    }
  });
}

void BarredQueues::Look(const QueueEvents& events, SteadyTime now) {
  if (const std::uint32_t changes = slot_.catalog_changes; changes != changes_) {
    changes_ = changes;
    ask_again_.clear();
  }
  std::vector<Datum> unknown;
  for (const Oid queue : events.queues) {
    SteadyTime& when = ask_again_.try_emplace(queue, now).first->second;
    if (when <= now) {
      when = SteadyTime::max();
      unknown.push_back(ObjectIdGetDatum(queue));
    }
  }
  if (unknown.empty()) {
    return;
  }
  try {
    Ask(unknown, now);
  } catch (const pg::Error& error) {
    if (EndsProcess(error)) {
      throw;
    }
    // It saves work, no more.
    for (const Datum queue : unknown) {
      ask_again_[DatumGetObjectId(queue)] = now + kAfterError;
    }
  }
}

}  // namespace ai::worker
