// worker.cpp: one thread with its connections.
#include "mock/worker.hpp"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>

#include <array>
#include <cerrno>
#include <system_error>
#include <utility>

#include "mock/connection.hpp"

namespace ai::mock {

namespace {

// The numbers in epoll's data: first what every worker has, then listeners, then connections.
constexpr uint64_t kWakeup = 0;
constexpr uint64_t kTimer = 1;
constexpr uint64_t kFirstListener = 2;
constexpr uint64_t kFirstConnection = 16;

int Checked(int result, const char* what) {
  if (result < 0) {
    throw std::system_error(errno, std::generic_category(), what);
  }
  return result;
}

void Drain(int fd) {
  uint64_t count = 0;
  // Nothing to read is as good as something: the descriptor only wakes the loop.
  if (read(fd, &count, sizeof(count)) < 0) {
    return;
  }
}

constexpr int64_t kNanosecondsPerSecond = 1'000'000'000;

}  // namespace

Worker::Worker(Context& context)
    : context_(context),
      epoll_(Checked(epoll_create1(EPOLL_CLOEXEC), "epoll_create1")),
      wakeup_(Checked(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC), "eventfd")),
      timer_(
          Checked(timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC), "timerfd_create")),
      last_id_(kFirstConnection) {
  Watch(wakeup_.get(), EPOLLIN, kWakeup);
  Watch(timer_.get(), EPOLLIN, kTimer);
}

Worker::~Worker() = default;

void Worker::Watch(int fd, uint32_t events, uint64_t id) {
  epoll_event event{};
  event.events = events;
  event.data.u64 = id;
  Checked(epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event), "epoll_ctl");
}

void Worker::ApplyAdvertised(int socket, std::function<void()> ready) {
  Watch(socket, EPOLLIN, kFirstListener + listeners_.size());
  listeners_.push_back(std::move(ready));
}

void Worker::Post(std::function<void()> message) {
  {
    const std::lock_guard lock(mutex_);
    messages_.push_back(std::move(message));
  }
  const uint64_t one = 1;
  Checked(static_cast<int>(write(wakeup_.get(), &one, sizeof(one))), "write");
}

void Worker::Stop() {
  Post([this] { stopped_ = true; });
}

void Worker::Adopt(FileDescriptor socket, Door door) {
  // A function must be copyable, a descriptor is not.
  auto shared = std::make_shared<FileDescriptor>(std::move(socket));
  Post([this, shared, door] {
    const uint64_t id = ++last_id_;
    const int fd = shared->get();
    connections_.emplace(
        id, std::make_unique<Connection>(*this, context_, id, std::move(*shared), door));
    // Edge-triggered and for everything at once: the connection remembers what it has not used.
    Watch(fd, EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, id);
    With(id, [](Connection& connection) { connection.OnOpen(); });
  });
}

void Worker::PostTo(uint64_t connection, std::function<void(Connection&)> message) {
  Post([this, connection, message = std::move(message)] { With(connection, message); });
}

// Does something with a connection that may be gone, and may be gone afterwards.
template <typename Action>
void Worker::With(uint64_t connection, const Action& action) {
  const auto found = connections_.find(connection);
  if (found == connections_.end()) {
    return;
  }
  action(*found->second);
  if (found->second->ended()) {
    connections_.erase(found);
  }
}

void Worker::Schedule(Clock::duration delay, uint64_t connection, uint64_t token) {
  timers_.Add({Clock::now() + delay, connection, token});
}

void Worker::RunMessages() {
  Drain(wakeup_.get());
  std::vector<std::function<void()>> messages;
  {
    const std::lock_guard lock(mutex_);
    messages.swap(messages_);
  }
  for (const auto& message : messages) {
    message();
  }
}

void Worker::RunTimers() {
  Drain(timer_.get());
  armed_ = Clock::time_point::max();
  const Clock::time_point now = Clock::now();
  while (const std::optional<Timer> due = timers_.TakeDue(now)) {
    With(due->connection, [&](Connection& connection) { connection.OnTimer(due->token); });
  }
}

void Worker::ArmTimer() {
  const std::optional<Clock::time_point> next = timers_.Next();
  if (!next.has_value() || *next == armed_) {
    return;
  }
  armed_ = *next;
  const auto since_start =
      std::chrono::duration_cast<std::chrono::nanoseconds>(armed_.time_since_epoch()).count();
  itimerspec when{};
  when.it_value.tv_sec = since_start / kNanosecondsPerSecond;
  when.it_value.tv_nsec = since_start % kNanosecondsPerSecond;
  // steady_clock is CLOCK_MONOTONIC, so its moments are the timer's.
  Checked(timerfd_settime(timer_.get(), TFD_TIMER_ABSTIME, &when, nullptr), "timerfd_settime");
}

void Worker::Dispatch(uint64_t id, uint32_t events) {
  if (id == kWakeup) {
    RunMessages();
  } else if (id == kTimer) {
    RunTimers();
  } else if (id < kFirstConnection) {
    listeners_[id - kFirstListener]();
  } else {
    With(id, [events](Connection& connection) { connection.OnEvents(events); });
  }
}

void Worker::Run() {
  std::array<epoll_event, 256> events;
  while (!stopped_) {
    ArmTimer();
    const int count = epoll_wait(epoll_.get(), events.data(), events.size(), -1);
    if (count < 0 && errno != EINTR) {
      throw std::system_error(errno, std::generic_category(), "epoll_wait");
    }
    for (int i = 0; i < count; ++i) {
      Dispatch(events[i].data.u64, events[i].events);
    }
  }
  connections_.clear();
}

}  // namespace ai::mock
