// Many requests under way at once, driven by one thread that also has other things to wait for.
//
// A transport only moves bytes. A status of 429 or 500 is a Response like any other: what it means
// is the provider's knowledge. A Failure says that there is no usable answer: connection or
// time-out (transient), a URL that cannot be used (configuration), an answer above the limit
// (invalid reply). It never retries, never follows a redirect, never blocks except in Poll.
//
// Two ways to wait, for two kinds of callers:
//
//   with an event loop of its own (a worker with a latch)     without one
//     wait = transport.NextWait()                               transport.Poll(timeout, wake_fd)
//     wait for the latch, wait.fd readable, or wait.timeout     transport.Collect()
//     transport.Drive()
//     transport.Collect()
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/http/message.hpp"
#include "core/result.hpp"

namespace ai::http {

enum class RequestId : std::uint64_t {};

struct Completion {
  RequestId id;
  Result<Response> result;
};

struct WaitHint {
  int fd = -1;  // readable when there is work for Drive; -1: only the timeout counts
  std::optional<std::chrono::milliseconds> timeout;  // until Drive is due anyway; none: not at all
};

inline constexpr int kNoFd = -1;

class Transport {
 public:
  Transport() = default;
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;
  virtual ~Transport() = default;

  /// Takes the request over and starts it with the next Drive or Poll. Ids are never used twice. A
  /// request that cannot even start ends as a Completion with a Failure, not as an exception.
  virtual RequestId Submit(Request request) = 0;

  /// Does what can be done without waiting.
  virtual void Drive() = 0;

  /// What to wait for before the next Drive. It holds until the next call of anything else here;
  /// the descriptor itself stays the same for the life of the transport.
  virtual WaitHint NextWait() const = 0;

  /// Drives, and if nothing finished waits for at most the time given, then drives again. Returns
  /// early when a request finished or wake_fd became readable; true in the latter case. Never reads
  /// from wake_fd. A signal may also end the wait early.
  virtual bool Poll(std::chrono::milliseconds at_most, int wake_fd = kNoFd) = 0;

  /// The requests that finished since the last call, each exactly once, in the order of finishing.
  virtual std::vector<Completion> Collect() = 0;

  /// Forgets a request: no Completion will come, not even if it finished already but was not yet
  /// collected. Returns at once even if the provider hangs. False if the id is not known (any
  /// more).
  virtual bool Cancel(RequestId id) = 0;
  virtual void CancelAll() = 0;

  /// How many are submitted and neither finished nor cancelled.
  virtual std::size_t in_flight() const = 0;

  /// Gives the body of a response back when it has been read, so that a later one goes into memory
  /// that is already there: for large answers that is most of a client's cost. Never needed.
  virtual void Recycle(std::string&& /*body*/) {}
};

}  // namespace ai::http
