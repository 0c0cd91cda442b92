// connection_reply.cpp: one connection: what goes out, and how it ends.
#include <sys/socket.h>

#include <utility>

#include "mock/connection.hpp"

namespace ai::mock {

namespace {

constexpr std::chrono::seconds kLinger{1};

}  // namespace

void Connection::Answer() {
  const Delivery& delivery = exchange_->delivery();
  if (delivery.hang == Point::kBefore && !released_) {
    Hang();
    return;
  }
  if (delivery.reset == Point::kBefore) {
    EndExchange(Ending::kDropped);
    Reset();
    return;
  }
  if (delivery.close == Point::kBefore) {
    EndExchange(Ending::kDropped);
    Close();
    return;
  }
  Reply reply = WriteReply(*exchange_);
  context_.stats.ReplyStarted(exchange_->epoch, reply.status);
  Send(std::move(reply), delivery, exchange_->to);
}

void Connection::Send(Reply reply, const Delivery& delivery, const ReplyTo& to) {
  sender_.Start(Render(std::move(reply), delivery, to));
  phase_ = Phase::kSending;
  Continue();
}

void Connection::Continue() {
  phase_ = Phase::kSending;
  Sender::Step step = sender_.Advance(*stream_);
  if (step == Sender::Step::kLast) {
    // Counted before it is sent: a client that has its reply must find it counted, and its next
    // request must not seem to be in flight together with this one.
    EndExchange(Ending::kReplied);
    step = sender_.Advance(*stream_);
  }
  switch (step) {
    case Sender::Step::kLast:
    case Sender::Step::kDone:
      EndExchange(Ending::kReplied);
      phase_ = Phase::kReading;
      StartIdleTimer();
      return;
    case Sender::Step::kBlocked:
      return;
    case Sender::Step::kPause:
      Pause(Phase::kPausing, sender_.pause());
      return;
    case Sender::Step::kHang:
      Hang();
      return;
    case Sender::Step::kClose:
      EndExchange(Ending::kReplied);
      Linger();
      return;
    case Sender::Step::kCut:
      EndExchange(Ending::kDropped);
      Close();
      return;
    case Sender::Step::kReset:
      EndExchange(Ending::kDropped);
      Reset();
      return;
    case Sender::Step::kLost:
      Lost();
      return;
  }
}

void Connection::Hang() {
  Worker& worker = worker_;
  const uint64_t id = id_;
  ticket_ = context_.gate.Hold(
      [&worker, id] { worker.PostTo(id, [](Connection& connection) { connection.OnRelease(); }); });
  phase_ = Phase::kHanging;
  // After it is held: whoever has waited for this count must be able to release it.
  context_.stats.HangStarted();
  if (peer_ended_) {
    Lost();
  }
}

void Connection::OnRelease() {
  if (phase_ != Phase::kHanging) {
    return;
  }
  context_.stats.HangEnded();
  released_ = true;
  if (exchange_->delivery().hang == Point::kBefore) {
    Answer();
  } else {
    sender_.Release();
    Continue();
  }
  Pump();
}

void Connection::Pause(Phase phase, Clock::duration delay) {
  phase_ = phase;
  worker_.Schedule(delay, id_, ++token_);
  if (peer_ended_) {
    Lost();
  }
}

void Connection::StartIdleTimer() {
  const std::chrono::milliseconds timeout = context_.settings.Get()->idle_timeout;
  if (timeout.count() > 0 && !control_) {
    worker_.Schedule(timeout, id_, ++token_);
  }
}

// A connection counts from its first request, for until then it may be one for control.
void Connection::CountOpen() {
  if (counted_ == Counted::kNot && !control_) {
    counted_ = Counted::kOpen;
    context_.stats.ConnectionOpened();
  }
}

void Connection::CountClosed() {
  CountOpen();
  if (counted_ == Counted::kOpen) {
    counted_ = Counted::kClosed;
    context_.stats.ConnectionClosed();
  }
}

void Connection::EndExchange(Ending ending) {
  released_ = false;
  if (!exchange_.has_value()) {
    return;
  }
  const uint64_t epoch = exchange_->epoch;
  exchange_.reset();
  switch (ending) {
    case Ending::kReplied:
      context_.stats.ReplyFinished(epoch);
      return;
    case Ending::kDropped:
      context_.stats.Dropped(epoch);
      return;
    case Ending::kAborted:
      context_.stats.Aborted(epoch);
      return;
  }
}

// Closing with something unread would reset the connection and could take the reply with it.
void Connection::Linger() {
  CountClosed();
  stream_->Finish();
  phase_ = Phase::kLingering;
  worker_.Schedule(kLinger, id_, ++token_);
}

void Connection::Close() {
  CountClosed();
  phase_ = Phase::kEnded;
  socket_.Close();
}

void Connection::Reset() {
  const linger at_once{1, 0};
  setsockopt(socket_.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
  Close();
}

// The client is gone, or the program ends.
void Connection::Lost() {
  const bool hung = phase_ == Phase::kHanging;
  if (phase_ == Phase::kAwaiting) {
    context_.stats.StopWaiting(waiter_);
  }
  if (stream_->failed_handshake()) {
    context_.stats.TlsFailed();
  }
  EndExchange(Ending::kAborted);
  if (hung) {
    // Last: whoever has waited until nothing hangs must find the request counted.
    context_.gate.Forget(ticket_);
    context_.stats.HangEnded();
  }
  Close();
}

}  // namespace ai::mock
