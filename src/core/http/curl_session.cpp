// See curl_session.hpp.
#include "core/http/curl_session.hpp"

#include <poll.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <new>
#include <string>
#include <system_error>
#include <utility>

#include "core/error.hpp"

namespace ai::http {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

template <typename Value>
void SetMultiOption(CURLM* multi, CURLMoption option, Value value) {
  if (const CURLMcode code = curl_multi_setopt(multi, option, value); code != CURLM_OK) {
    throw Error(ErrorCode::kInternal,
                "could not set up curl: " + std::string(curl_multi_strerror(code)));
  }
}

milliseconds Until(SteadyTime when) {
  return std::max(std::chrono::ceil<milliseconds>(when - steady_clock::now()), milliseconds(0));
}

enum class Woken { kByTime, kByTransport, kByCaller, kBySignal };

/// Waits for one of the two descriptors; the caller's may be kNoFd.
Woken WaitFor(int transport_fd, int wake_fd, milliseconds at_most) {
  // Longer than a day is as good as a day, and fits.
  const auto timeout =
      static_cast<int>(std::min<milliseconds>(at_most, std::chrono::hours(24)) / milliseconds(1));
  std::array<pollfd, 2> fds = {{{transport_fd, POLLIN, 0}, {wake_fd, POLLIN, 0}}};
  // poll passes over a negative descriptor.
  if (poll(fds.data(), fds.size(), timeout) < 0) {
    return Woken::kBySignal;
  }
  if (fds[1].revents != 0) {
    return Woken::kByCaller;
  }
  return fds[0].revents != 0 ? Woken::kByTransport : Woken::kByTime;
}

}  // namespace

CurlSession::CurlSession(TransportOptions options)
    : options_(std::move(options)), buffers_(options_.max_connections) {
  SetUpCurl();
  multi_.reset(curl_multi_init());
  if (multi_ == nullptr) {
    throw std::bad_alloc();
  }
  CURLM* const multi = multi_.get();
  void* const self = this;
  SetMultiOption(multi, CURLMOPT_SOCKETFUNCTION, &CurlSession::OnSocket);
  SetMultiOption(multi, CURLMOPT_SOCKETDATA, self);
  SetMultiOption(multi, CURLMOPT_TIMERFUNCTION, &CurlSession::OnTimer);
  SetMultiOption(multi, CURLMOPT_TIMERDATA, self);
  // One request at a time on a connection, HTTP/2 or not: curl 7.88 now and then forgets one of
  // several answers that share a connection, and a broken connection fails one request, not all.
  SetMultiOption(multi, CURLMOPT_PIPELINING, long{CURLPIPE_NOTHING});
  const auto total = static_cast<long>(options_.max_connections);
  SetMultiOption(multi, CURLMOPT_MAX_TOTAL_CONNECTIONS, total);
  SetMultiOption(multi, CURLMOPT_MAXCONNECTS, total);
  SetMultiOption(multi, CURLMOPT_MAX_HOST_CONNECTIONS,
                 static_cast<long>(options_.max_connections_per_host));
}

CurlSession::~CurlSession() {
  CancelAll();
}

RequestId CurlSession::Submit(Request request) {
  const auto id = static_cast<RequestId>(++last_id_);
  if (std::optional<Failure> failure = Start(id, std::move(request))) {
    finished_.push_back({id, *std::move(failure)});
  }
  return id;
}

std::optional<Failure> CurlSession::Start(RequestId id, Request request) {
  Result<Url> url = ParseUrl(request.url);
  if (!url) {
    return url.failure();
  }
  if (std::optional<Failure> refused = options_.allowed_hosts.RefuseHost(url.value())) {
    return refused;
  }
  if (options_.proxy_from_environment && !options_.allowed_hosts.Allows(url.value())) {
    return Failure{FailureClass::kConfiguration,
                   "request to " + url->Endpoint() +
                       " was refused: behind a proxy only hosts listed by name in "
                       "ai.allowed_hosts can be asked"};
  }
  std::unique_ptr<CurlTransfer> transfer = TakeIdle();
  transfer->Prepare(id, std::move(request), std::move(url).value(), buffers_);
  CURL* const easy = transfer->easy();
  const auto started = active_.emplace(id, std::move(transfer)).first;
  if (const CURLMcode code = curl_multi_add_handle(multi_.get(), easy); code != CURLM_OK) {
    active_.erase(started);
    CheckMulti(code, "could not start a request");
  }
  if (!speed_check_) {
    speed_check_ = steady_clock::now() + options_.low_speed.window / 2;
  }
  return std::nullopt;
}

std::unique_ptr<CurlTransfer> CurlSession::TakeIdle() {
  if (idle_.empty()) {
    return std::make_unique<CurlTransfer>(options_);
  }
  std::unique_ptr<CurlTransfer> transfer = std::move(idle_.back());
  idle_.pop_back();
  return transfer;
}

void CurlSession::CheckMulti(CURLMcode code, const char* what) const {
  if (code == CURLM_OUT_OF_MEMORY) {
    throw std::bad_alloc();
  }
  if (code != CURLM_OK) {
    throw Error(ErrorCode::kInternal, std::string(what) + ": " + curl_multi_strerror(code));
  }
}

void CurlSession::Act(curl_socket_t socket, int ready) {
  int running = 0;
  CheckMulti(curl_multi_socket_action(multi_.get(), socket, ready, &running),
             "could not go on with requests");
}

void CurlSession::Drive() {
  const SteadyTime now = steady_clock::now();
  {
    const SignalsBlocked blocked;  // curl may start a thread that resolves a name
    std::array<SocketSet::Ready, SocketSet::kMaxReady> ready;
    const std::size_t count = sockets_.Take(ready);
    for (std::size_t i = 0; i < count; ++i) {
      Act(ready[i].socket,
          (ready[i].readable ? CURL_CSELECT_IN : 0) | (ready[i].writable ? CURL_CSELECT_OUT : 0));
    }
    if (timer_ && *timer_ <= now) {
      timer_.reset();
      Act(CURL_SOCKET_TIMEOUT, 0);
    }
  }
  FinishDone();
  CheckSpeeds(now);
  if (const int error = std::exchange(watch_error_, 0); error != 0) {
    throw Error(ErrorCode::kInternal,
                "could not watch a socket: " + std::generic_category().message(error));
  }
}

void CurlSession::FinishDone() {
  int left = 0;
  while (const CURLMsg* const message = curl_multi_info_read(multi_.get(), &left)) {
    if (message->msg != CURLMSG_DONE) {
      continue;
    }
    const CURLcode code = message->data.result;  // the message ends with the next call
    CurlTransfer& transfer = CurlTransfer::Of(message->easy_handle);
    End(active_.find(transfer.id()), transfer.Finish(code));
  }
}

void CurlSession::CheckSpeeds(SteadyTime now) {
  if (!speed_check_ || now < *speed_check_) {
    return;
  }
  for (auto next = active_.begin(); next != active_.end();) {
    const auto current = next++;
    if (std::optional<Failure> slow = current->second->CheckSpeed(now)) {
      End(current, *std::move(slow));
    }
  }
  speed_check_.reset();
  if (!active_.empty()) {
    speed_check_ = now + options_.low_speed.window / 2;
  }
}

void CurlSession::End(Active::iterator ended, Result<Response> result) {
  finished_.push_back({ended->first, std::move(result)});
  Release(ended);
}

void CurlSession::Release(Active::iterator ended) noexcept {
  std::unique_ptr<CurlTransfer> transfer = std::move(ended->second);
  active_.erase(ended);
  curl_multi_remove_handle(multi_.get(), transfer->easy());
  if (idle_.size() >= options_.max_connections) {
    return;
  }
  try {
    transfer->Reset();
    idle_.push_back(std::move(transfer));
  } catch (const std::bad_alloc&) {
    // Then the next request gets a new one.
  }
}

WaitHint CurlSession::NextWait() const {
  WaitHint wait;
  wait.fd = sockets_.descriptor();
  if (!finished_.empty()) {
    wait.timeout = milliseconds(0);
    return wait;
  }
  if (timer_) {
    wait.timeout = Until(*timer_);
  }
  if (speed_check_ && !active_.empty()) {
    const milliseconds check = Until(*speed_check_);
    wait.timeout = wait.timeout ? std::min(*wait.timeout, check) : check;
  }
  return wait;
}

bool CurlSession::Poll(milliseconds at_most, int wake_fd) {
  const SteadyTime until =
      steady_clock::now() + std::min<milliseconds>(at_most, std::chrono::hours(24));
  Drive();
  while (true) {
    const WaitHint wait = NextWait();
    const milliseconds left = Until(until);
    const Woken woken =
        WaitFor(wait.fd, wake_fd, wait.timeout ? std::min(left, *wait.timeout) : left);
    Drive();
    if (woken == Woken::kByCaller) {
      return true;
    }
    if (woken == Woken::kBySignal || !finished_.empty() || left == milliseconds(0)) {
      return false;
    }
  }
}

std::vector<Completion> CurlSession::Collect() {
  return std::exchange(finished_, {});
}

bool CurlSession::Cancel(RequestId id) {
  if (const auto found = active_.find(id); found != active_.end()) {
    Release(found);
    return true;
  }
  return std::erase_if(finished_, [id](const Completion& done) { return done.id == id; }) > 0;
}

void CurlSession::CancelAll() {
  while (!active_.empty()) {
    Release(active_.begin());
  }
  finished_.clear();
}

int CurlSession::OnSocket(CURL*, curl_socket_t socket, int what, void* self, void*) noexcept {
  auto& session = *static_cast<CurlSession*>(self);
  if (what == CURL_POLL_REMOVE) {
    session.sockets_.Forget(socket);
    return 0;
  }
  const int error =
      session.sockets_.Watch(socket, (what & CURL_POLL_IN) != 0, (what & CURL_POLL_OUT) != 0);
  if (error != 0) {
    session.watch_error_ = error;
  }
  return 0;
}

int CurlSession::OnTimer(CURLM*, long timeout_ms, void* self) noexcept {
  auto& session = *static_cast<CurlSession*>(self);
  if (timeout_ms < 0) {
    session.timer_.reset();
  } else {
    session.timer_ = steady_clock::now() + milliseconds(timeout_ms);
  }
  return 0;
}

}  // namespace ai::http
