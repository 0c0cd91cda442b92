#include "worker/shared/muted_queues.hpp"

#include <algorithm>

namespace ai::worker {
namespace {

constexpr std::chrono::milliseconds kLongest = std::chrono::minutes(1);

std::uint64_t KeyOf(Oid queue, std::uint32_t changes) noexcept {
  return std::uint64_t{queue} << 32 | changes;
}

/// Two queues at one place: only one of them is known, and the other wakes workers in vain.
constexpr int PlaceOf(Oid queue) noexcept {
  return static_cast<int>(queue % kMaxMuted);
}

}  // namespace

bool IsMuted(const DatabaseSlot& slot, Oid queue) noexcept {
  const MutedQueue& place = slot.muted[PlaceOf(queue)];
  return place.key.load() == KeyOf(queue, slot.catalog_changes.load()) &&
         std::chrono::steady_clock::now() < place.until.load();
}

void Mute(DatabaseSlot& slot, Oid queue, std::uint32_t catalog_changes,
          std::chrono::milliseconds time) {
  MutedQueue& place = slot.muted[PlaceOf(queue)];
  const SharedLock lock;
  place.key = 0;
  place.until = std::chrono::steady_clock::now() + std::min(time, kLongest);
  place.key = KeyOf(queue, catalog_changes);
}

}  // namespace ai::worker
