#include "worker/shared/muted_queues.hpp"

#include <algorithm>

namespace ai::worker {
namespace {

constexpr std::chrono::milliseconds kLongest = std::chrono::minutes(1);

std::uint64_t KeyOf(Oid queue, std::uint32_t changes) noexcept {
  return std::uint64_t{queue} << 32 | changes;
}

/// If two queues share an entry, only one of them is muted, and the other wakes workers needlessly.
constexpr int IndexOf(Oid queue) noexcept {
  return static_cast<int>(queue % kMaxMuted);
}

}  // namespace

bool IsMuted(const DatabaseSlot& slot, Oid queue) noexcept {
  const MutedQueue& entry = slot.muted[IndexOf(queue)];
  return entry.key.load() == KeyOf(queue, slot.catalog_changes.load()) &&
         std::chrono::steady_clock::now() < entry.until.load();
}

void Mute(DatabaseSlot& slot, Oid queue, std::uint32_t catalog_changes,
          std::chrono::milliseconds time) {
  MutedQueue& entry = slot.muted[IndexOf(queue)];
  const SharedLock lock;
  entry.key = 0;
  entry.until = std::chrono::steady_clock::now() + std::min(time, kLongest);
  entry.key = KeyOf(queue, catalog_changes);
}

}  // namespace ai::worker
