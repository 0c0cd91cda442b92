#include "worker/process/freed_memory.hpp"

#include <malloc.h>

namespace ai::worker {
namespace {

constexpr int kMaxKept = 8 << 20;

}  // namespace

void FreedMemory::KeepSome() {
  mallopt(M_MMAP_THRESHOLD, 512 << 10);
  mallopt(M_TRIM_THRESHOLD, kMaxKept);
}

void FreedMemory::Return(SteadyTime now) {
  constexpr std::chrono::seconds kInterval{1};
  if (now < next_) {
    return;
  }
  next_ = now + kInterval;
  if (mallinfo2().fordblks > kMaxKept) {
    malloc_trim(kMaxKept / 2);
  }
}

}  // namespace ai::worker
