// timers.cpp: what a worker has to do later, in the order of time.
#include "mock/timers.hpp"

namespace ai::mock {

std::optional<Timer> Timers::TakeDue(Clock::time_point now) {
  if (queue_.empty() || queue_.top().when > now) {
    return std::nullopt;
  }
  const Timer timer = queue_.top();
  queue_.pop();
  return timer;
}

std::optional<Clock::time_point> Timers::Next() const {
  if (queue_.empty()) {
    return std::nullopt;
  }
  return queue_.top().when;
}

}  // namespace ai::mock
