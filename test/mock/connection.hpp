// connection.hpp: one connection: reads requests one after the other, waits where it is told to,
// and sends the replies. Lives in one worker; its methods are called by that worker only.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "mock/context.hpp"
#include "mock/file_descriptor.hpp"
#include "mock/http_parser.hpp"
#include "mock/router.hpp"
#include "mock/sender.hpp"
#include "mock/stream.hpp"
#include "mock/worker.hpp"

namespace ai::mock {

class Connection {
 public:
  Connection(Worker& worker, Context& context, uint64_t id, FileDescriptor socket, Door door);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  void OnOpen();
  void OnEvents(uint32_t events);
  void OnTimer(uint64_t token);

  /// Whether nothing is left to do; the worker then deletes it.
  bool ended() const { return phase_ == Phase::kEnded; }

 private:
  // README.md draws these with their successors.
  enum class Phase {
    kReading,    // a request, or waiting for one
    kDelaying,   // a reply, because a rule says so
    kHanging,    // before or amid a reply, until released
    kAwaiting,   // what a control request waits for
    kSending,    // a reply, as fast as the client takes it
    kPausing,    // between the drops of a reply
    kLingering,  // all is sent; reads what the client still sends, so that it can read the reply
    kIgnoring,   // the client, because a setting says so
    kEnded,
  };
  enum class Counted { kNot, kOpen, kClosed };
  enum class Ending { kReplied, kDropped, kAborted };

  void Pump();
  bool ReadMore();
  void Consume(std::string_view data);
  void Begin(Request request);
  void BeginControl(const Request& request);
  void RefuseRequest();
  void Answer();
  void Send(Reply reply, const Delivery& delivery, const ReplyTo& to);
  void Continue();
  void Hang();
  void OnRelease();
  void OnReached(bool reached);
  void Pause(Phase phase, Clock::duration delay);
  void StartIdleTimer();
  void CountOpen();
  void CountClosed();
  void EndExchange(Ending ending);
  void Linger();
  void Close();
  void Reset();
  void Lost();

  Worker& worker_;
  Context& context_;
  const uint64_t id_;
  const Door door_;
  FileDescriptor socket_;
  std::unique_ptr<Stream> stream_;
  RequestParser parser_;
  Sender sender_;
  Phase phase_ = Phase::kReading;
  std::string pending_;      // read, but of a later request
  bool readable_ = false;    // the socket has more to read
  bool peer_ended_ = false;  // the client will send no more
  Counted counted_ = Counted::kNot;
  bool control_ = false;  // carries control requests
  uint64_t served_ = 0;   // requests
  uint64_t token_ = 0;    // of the timer that is wanted; older timers are not
  std::optional<Exchange> exchange_;
  ReplyTo control_to_;
  bool released_ = false;  // this request hung and does not hang again
  uint64_t ticket_ = 0;    // at the gate, while hanging
  uint64_t waiter_ = 0;    // at the counters, while awaiting
};

}  // namespace ai::mock
