// gate.cpp: the requests that hang until somebody releases them.
#include "mock/gate.hpp"

#include <utility>

namespace ai::mock {

uint64_t Gate::Hold(std::function<void()> release) {
  const std::lock_guard lock(mutex_);
  held_.emplace(++last_, std::move(release));
  return last_;
}

void Gate::Forget(uint64_t ticket) {
  const std::lock_guard lock(mutex_);
  held_.erase(ticket);
}

size_t Gate::ReleaseAll() {
  std::map<uint64_t, std::function<void()>> released;
  {
    const std::lock_guard lock(mutex_);
    released.swap(held_);
  }
  for (const auto& [ticket, release] : released) {
    release();
  }
  return released.size();
}

}  // namespace ai::mock
