// See fake_transport.hpp.
#include "unit/fakes/fake_transport.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace ai::test {
namespace {

using std::chrono::milliseconds;

/// What the request's own limits make of the scene.
Result<http::Response> Outcome(const http::Request& request, const Scene& scene) {
  if (!scene.result || scene.latency > request.timeouts.total) {
    return Failure{FailureClass::kTransient, "request timed out"};
  }
  if (scene.result->ok() && scene.result->value().body.size() > request.max_response_bytes) {
    return Failure{FailureClass::kInvalidReply, "reply is larger than the limit"};
  }
  return *scene.result;
}

milliseconds Duration(const http::Request& request, const Scene& scene) {
  return scene.result ? std::min(scene.latency, request.timeouts.total) : request.timeouts.total;
}

}  // namespace

Scene Reply(int status, std::string body, milliseconds latency, http::Headers headers) {
  return {latency, http::Response{status, std::move(headers), std::move(body)}};
}

Scene ConnectionFailure(milliseconds latency) {
  return {latency, Failure{FailureClass::kTransient, "could not connect"}};
}

Scene Hang() {
  return {};
}

Scene FakeTransport::NextScene(const http::Request& request) {
  if (!script_.empty()) {
    Scene scene = std::move(script_.front());
    script_.pop_front();
    return scene;
  }
  if (!responder_) {
    throw std::logic_error("FakeTransport: no scene for a request to " + request.url);
  }
  return responder_(request);
}

http::RequestId FakeTransport::Submit(http::Request request) {
  const Scene scene = NextScene(request);
  requests_.push_back(std::move(request));
  const auto id = static_cast<http::RequestId>(requests_.size());
  const http::Request& kept = requests_.back();
  running_.push_back({id, clock_.Now() + Duration(kept, scene), Outcome(kept, scene)});
  return id;
}

void FakeTransport::Drive() {
  const auto is_running = [now = clock_.Now()](const Running& r) { return r.finishes > now; };
  const auto first_due = std::stable_partition(running_.begin(), running_.end(), is_running);
  std::stable_sort(first_due, running_.end(),
                   [](const Running& a, const Running& b) { return a.finishes < b.finishes; });
  for (auto due = first_due; due != running_.end(); ++due) {
    finished_.push_back({due->id, std::move(due->result)});
  }
  running_.erase(first_due, running_.end());
}

std::optional<SteadyTime> FakeTransport::NextEvent() const {
  std::optional<SteadyTime> next;
  for (const Running& running : running_) {
    next = next ? std::min(*next, running.finishes) : running.finishes;
  }
  return next;
}

http::WaitHint FakeTransport::NextWait() const {
  http::WaitHint wait;
  if (const std::optional<SteadyTime> next = NextEvent()) {
    const auto left = std::chrono::ceil<milliseconds>(*next - clock_.Now());
    wait.timeout = std::max(left, milliseconds(0));
  }
  return wait;
}

bool FakeTransport::Poll(milliseconds at_most, int wake_fd) {
  Drive();
  SteadyTime until = clock_.Now() + (finished_.empty() ? at_most : milliseconds(0));
  if (const std::optional<SteadyTime> next = NextEvent()) {
    until = std::min(until, *next);
  }
  const bool woken = wake_fd != http::kNoFd && wake_at_ && *wake_at_ <= until;
  if (woken) {
    until = std::max(*wake_at_, clock_.Now());
    wake_at_.reset();
  }
  clock_.Advance(until - clock_.Now());
  Drive();
  return woken;
}

std::vector<http::Completion> FakeTransport::Collect() {
  return std::exchange(finished_, {});
}

bool FakeTransport::Cancel(http::RequestId id) {
  const auto same = [id](const auto& entry) { return entry.id == id; };
  return std::erase_if(running_, same) + std::erase_if(finished_, same) > 0;
}

void FakeTransport::CancelAll() {
  running_.clear();
  finished_.clear();
}

}  // namespace ai::test
