// worker.hpp: one thread with its connections: waits for sockets, timers and messages, and hands
// them on. Decides nothing about what they mean.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "mock/context.hpp"
#include "mock/file_descriptor.hpp"
#include "mock/timers.hpp"

namespace ai::mock {

class Connection;

/// Through which port a connection came.
enum class Door { kPlain, kTls, kControl };

class Worker {
 public:
  explicit Worker(Context& context);
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  /// Serves until Stop; all its connections end with it.
  void Run();

  /// Any thread may call these.
  void Stop();
  void Adopt(FileDescriptor socket, Door door);
  void PostTo(uint64_t connection, std::function<void(Connection&)> message);

  /// Calls when the listening socket has something to accept. Before Run only.
  void ApplyAdvertised(int socket, std::function<void()> ready);

  /// For connections of this worker, in its thread.
  void Schedule(Clock::duration delay, uint64_t connection, uint64_t token);

 private:
  void Post(std::function<void()> message);
  void Watch(int fd, uint32_t events, uint64_t id);
  void Dispatch(uint64_t id, uint32_t events);
  void RunMessages();
  void RunTimers();
  void ArmTimer();
  template <typename Action>
  void With(uint64_t connection, const Action& action);

  Context& context_;
  FileDescriptor epoll_;
  FileDescriptor wakeup_;
  FileDescriptor timer_;
  std::vector<std::function<void()>> listeners_;
  Timers timers_;
  Clock::time_point armed_ = Clock::time_point::max();
  uint64_t last_id_;
  std::unordered_map<uint64_t, std::unique_ptr<Connection>> connections_;
  bool stopped_ = false;
  std::mutex mutex_;
  std::vector<std::function<void()>> messages_;
};

}  // namespace ai::mock
