// See fetch.hpp.
#include "core/http/fetch.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <utility>

namespace ai::http {
namespace {

constexpr std::chrono::milliseconds kSlice{50};

/// Whatever way the caller is left, nothing stays under way.
class CancelAtEnd {
 public:
  explicit CancelAtEnd(Transport& transport) : transport_(transport) {}
  ~CancelAtEnd() {
    try {
      transport_.CancelAll();
    } catch (...) {  // NOLINT(bugprone-empty-catch): only in a forked child, where nothing is ours
    }
  }
  CancelAtEnd(const CancelAtEnd&) = delete;
  CancelAtEnd& operator=(const CancelAtEnd&) = delete;

 private:
  Transport& transport_;
};

/// Waits until something finished.
std::vector<Completion> NextCompletions(Transport& transport, InterruptCheck interrupted,
                                        int wake_fd) {
  bool woken = false;
  while (true) {
    CheckInterrupt(interrupted);
    // A descriptor that woke us for nothing stays readable: it sits out one slice.
    woken = transport.Poll(kSlice, woken ? kNoFd : wake_fd);
    std::vector<Completion> finished = transport.Collect();
    if (!finished.empty()) {
      return finished;
    }
  }
}

}  // namespace

Result<std::vector<Response>> FetchAll(Transport& transport, std::vector<Request> requests,
                                       std::size_t most_in_flight, InterruptCheck interrupted,
                                       int wake_fd) {
  const CancelAtEnd cancel_at_end(transport);
  most_in_flight = std::max<std::size_t>(most_in_flight, 1);
  std::vector<Response> responses(requests.size());
  std::map<RequestId, std::size_t> positions;
  std::size_t next = 0;
  while (next < requests.size() || !positions.empty()) {
    while (next < requests.size() && positions.size() < most_in_flight) {
      positions.emplace(transport.Submit(std::move(requests[next])), next);
      ++next;
    }
    for (Completion& finished : NextCompletions(transport, interrupted, wake_fd)) {
      if (!finished.result) {
        return finished.result.failure();
      }
      const auto position = positions.find(finished.id);
      responses[position->second] = std::move(finished.result).value();
      positions.erase(position);
    }
  }
  return responses;
}

Result<Response> Fetch(Transport& transport, Request request, InterruptCheck interrupted,
                       int wake_fd) {
  std::vector<Request> requests;
  requests.push_back(std::move(request));
  auto responses = FetchAll(transport, std::move(requests), 1, interrupted, wake_fd);
  if (!responses) {
    return responses.failure();
  }
  return std::move(responses.value().front());
}

}  // namespace ai::http
