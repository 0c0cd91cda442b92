// connection.cpp: one connection: what comes in. connection_reply.cpp has what goes out.
#include "mock/connection.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <array>
#include <utility>

#include "mock/control.hpp"

namespace ai::mock {

namespace {

constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";

std::unique_ptr<Stream> MakeStream(const Context& context, int socket, Door door) {
  return door == Door::kTls ? context.tls->MakeStream(socket) : MakePlainStream(socket);
}

}  // namespace

Connection::Connection(Worker& worker, Context& context, uint64_t id, FileDescriptor socket,
                       Door door)
    : worker_(worker),
      context_(context),
      id_(id),
      door_(door),
      socket_(std::move(socket)),
      stream_(MakeStream(context, socket_.get(), door)),
      control_(door == Door::kControl) {}

Connection::~Connection() {
  // Still open when the worker stops.
  if (phase_ != Phase::kEnded) {
    Lost();
  }
}

void Connection::OnOpen() {
  const OnConnect what =
      door_ == Door::kControl ? OnConnect::kServe : context_.settings.Get()->on_connect;
  if (what == OnConnect::kServe) {
    StartIdleTimer();
    return;
  }
  CountOpen();
  if (what == OnConnect::kHang) {
    phase_ = Phase::kIgnoring;
  } else if (what == OnConnect::kReset) {
    Reset();
  } else {
    Close();
  }
}

void Connection::OnEvents(uint32_t events) {
  readable_ = readable_ || (events & (EPOLLIN | EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0;
  peer_ended_ = peer_ended_ || (events & EPOLLRDHUP) != 0;
  if ((events & (EPOLLHUP | EPOLLERR)) != 0 && phase_ != Phase::kReading) {
    Lost();
    return;
  }
  switch (phase_) {
    case Phase::kReading:
    case Phase::kLingering:
      Pump();
      return;
    case Phase::kSending:
      Continue();
      Pump();
      return;
    case Phase::kDelaying:
    case Phase::kHanging:
    case Phase::kAwaiting:
    case Phase::kPausing:
    case Phase::kIgnoring:
      // Who has stopped sending is taken to have left: nothing else tells it from waiting.
      if (peer_ended_) {
        Lost();
      }
      return;
    case Phase::kEnded:
      return;
  }
}

void Connection::OnTimer(uint64_t token) {
  if (token != token_) {
    return;
  }
  switch (phase_) {
    case Phase::kDelaying:
      Answer();
      Pump();
      return;
    case Phase::kPausing:
      Continue();
      Pump();
      return;
    case Phase::kAwaiting:
      if (context_.stats.StopWaiting(waiter_)) {
        OnReached(false);
      }
      return;
    case Phase::kReading:
      // Idle for too long; amid a request it is the client's turn to time out.
      if (parser_.idle()) {
        Linger();
      }
      return;
    case Phase::kLingering:
      Close();
      return;
    default:
      return;
  }
}

// Reads and serves until there is nothing to read or something to wait for.
void Connection::Pump() {
  while (phase_ == Phase::kReading || phase_ == Phase::kLingering) {
    if (phase_ == Phase::kReading && !pending_.empty()) {
      Consume(std::exchange(pending_, {}));
    } else if (!readable_ || !ReadMore()) {
      return;
    }
  }
}

// Reads once; false when there was nothing or the connection has ended.
bool Connection::ReadMore() {
  std::array<char, size_t{64} << 10> buffer;
  const IoResult got = stream_->Read(buffer.data(), buffer.size());
  switch (got.status) {
    case IoStatus::kOk:
      if (phase_ == Phase::kReading) {
        Consume({buffer.data(), got.bytes});
      }
      return true;
    case IoStatus::kWouldBlock:
      readable_ = false;
      return false;
    case IoStatus::kEnd:
    case IoStatus::kFailed:
      Lost();
      return false;
  }
  return false;
}

void Connection::Consume(std::string_view data) {
  if (parser_.idle()) {
    ++token_;  // the idle timer is not wanted any more
    parser_.set_max_body(control_ ? kMaxBody : context_.settings.Get()->max_body_bytes);
  }
  const size_t taken = parser_.Feed(data);
  pending_.assign(data.substr(taken));
  if (parser_.failed()) {
    RefuseRequest();
  } else if (parser_.done()) {
    Begin(parser_.Take());
  } else if (parser_.TakeExpectation() && stream_->Write(kContinue).bytes != kContinue.size()) {
    Lost();
  } else {
    // A client that sends head and body apart holds the body back until the head is acknowledged,
    // which the kernel would put off for 40 ms.
    const int on = 1;
    setsockopt(socket_.get(), IPPROTO_TCP, TCP_QUICKACK, &on, sizeof(on));
  }
}

void Connection::Begin(Request request) {
  if (IsControl(request.path) || door_ == Door::kControl) {
    BeginControl(request);
    return;
  }
  CountOpen();
  ++served_;
  exchange_ = Admit(std::move(request), context_);
  const uint64_t limit = exchange_->settings->requests_per_connection;
  exchange_->to.keep_alive = exchange_->to.keep_alive && (limit == 0 || served_ < limit);
  if (exchange_->verdict.latency.count() > 0) {
    Pause(Phase::kDelaying, exchange_->verdict.latency);
    return;
  }
  Answer();
}

void Connection::BeginControl(const Request& request) {
  control_ = true;
  control_to_ = {};
  control_to_.keep_alive = request.KeepsAlive();
  ControlAnswer answer = HandleControl(request, context_);
  if (!answer.waiting.has_value()) {
    Send(std::move(answer.reply), {}, control_to_);
    return;
  }
  Worker& worker = worker_;
  const uint64_t id = id_;
  waiter_ = context_.stats.Wait(std::move(answer.waiting->condition), [&worker, id] {
    worker.PostTo(id, [](Connection& connection) { connection.OnReached(true); });
  });
  if (waiter_ == 0) {
    Send(WriteWaitEnd(true), {}, control_to_);
    return;
  }
  Pause(Phase::kAwaiting, answer.waiting->timeout);
}

void Connection::OnReached(bool reached) {
  if (phase_ != Phase::kAwaiting) {
    return;
  }
  ++token_;
  Send(WriteWaitEnd(reached), {}, control_to_);
  Pump();
}

// What is no request gets an answer and no second chance: where the next one would start is
// unknown.
void Connection::RefuseRequest() {
  CountOpen();
  context_.stats.BadRequest();
  ReplyTo to;
  to.keep_alive = false;
  Send(WriteBadRequest(parser_.error_status(), parser_.error_text()), {}, to);
}

}  // namespace ai::mock
