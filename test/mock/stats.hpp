// stats.hpp: what happened so far, and waiting for it to happen. Control requests do not count.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "mock/counters.hpp"
#include "mock/http_message.hpp"

namespace ai::mock {

class Stats {
 public:
  void ConnectionOpened();
  void ConnectionClosed();
  void TlsFailed();

  void BadRequest();
  /// Returns the epoch, which changes with every Reset: the end of a request that began before it
  /// ends a flight and is otherwise no longer counted.
  uint64_t RequestArrived(Request request, const std::vector<std::string>& texts, uint64_t tokens);
  void ReplyStarted(uint64_t epoch, int status);
  /// INVARIANT: exactly one of these three follows an arrival.
  void ReplyFinished(uint64_t epoch);
  void Dropped(uint64_t epoch);
  void Aborted(uint64_t epoch);
  void HangStarted();
  void HangEnded();

  /// Sets everything to zero but what is going on now.
  void Reset();
  std::string ToJson() const;

  /// Calls back once when the condition holds, from the thread that makes it so; returns 0 and does
  /// not call when it holds already.
  uint64_t Wait(Condition condition, std::function<void()> reached);
  /// False when it has called back already.
  bool StopWaiting(uint64_t waiter);

 private:
  struct PathStats {
    uint64_t requests = 0;
    uint64_t items = 0;
    Request last;
    size_t last_body_bytes = 0;  // before it was clipped
  };
  struct Waiter {
    uint64_t id;
    Condition condition;
    std::function<void()> reached;
  };

  void CountText(uint64_t hash);
  void Remember(Request request, size_t items);
  void WakeWaiters();
  void EndFlight(uint64_t epoch, uint64_t Counters::*how);
  void AppendPath(std::string& out, const PathStats& path) const;

  mutable std::mutex mutex_;
  Counters counters_;
  uint64_t epoch_ = 0;
  std::map<int, uint64_t> by_status_;
  std::map<std::string, PathStats, std::less<>> by_path_;
  std::map<std::string, uint64_t, std::less<>> by_key_;
  std::unordered_map<uint64_t, uint32_t> seen_;  // by the hash of the text
  std::vector<Waiter> waiters_;
  uint64_t last_waiter_ = 0;
};

}  // namespace ai::mock
