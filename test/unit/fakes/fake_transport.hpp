// A transport without a network, in the time of a ManualClock. A test says how each request will be
// answered; Poll moves the clock instead of waiting.
#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/http/transport.hpp"
#include "unit/fakes/manual_clock.hpp"

namespace ai::test {

/// What happens to one request. No result: nothing, until its own time-out.
struct Scene {
  std::chrono::milliseconds latency{0};
  std::optional<Result<http::Response>> result;
};

Scene Reply(int status, std::string body, std::chrono::milliseconds latency = {},
            http::Headers headers = {});
Scene ConnectionFailure(std::chrono::milliseconds latency = {});
Scene Hang();

class FakeTransport final : public http::Transport {
 public:
  using Responder = std::function<Scene(const http::Request&)>;

  explicit FakeTransport(ManualClock& clock) : clock_(clock) {}

  /// The scenes are played in the order of submission; when they are used up the responder is
  /// asked; a request for which there is neither fails the test.
  void Enqueue(Scene scene) { script_.push_back(std::move(scene)); }
  void SetResponder(Responder responder) { responder_ = std::move(responder); }

  /// From that time on wake_fd counts as readable; Poll notices if it was given one, and takes it.
  void WakeAfter(std::chrono::milliseconds delay) { wake_at_ = clock_.Now() + delay; }

  /// Everything that was ever submitted.
  const std::vector<http::Request>& requests() const { return requests_; }

  http::RequestId Submit(http::Request request) override;
  void Drive() override;
  http::WaitHint NextWait() const override;
  bool Poll(std::chrono::milliseconds at_most, int wake_fd = http::kNoFd) override;
  std::vector<http::Completion> Collect() override;
  bool Cancel(http::RequestId id) override;
  void CancelAll() override;
  std::size_t in_flight() const override { return running_.size(); }

 private:
  struct Running {
    http::RequestId id;
    SteadyTime finishes;
    Result<http::Response> result;
  };

  Scene NextScene(const http::Request& request);
  std::optional<SteadyTime> NextEvent() const;

  ManualClock& clock_;
  std::deque<Scene> script_;
  Responder responder_;
  std::optional<SteadyTime> wake_at_;
  std::vector<http::Request> requests_;
  std::vector<Running> running_;  // in order of submission
  std::vector<http::Completion> finished_;
};

}  // namespace ai::test
