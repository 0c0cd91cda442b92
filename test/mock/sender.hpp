// sender.hpp: sends one reply, and stops where its delivery says. Owns no socket and no timer:
// it tells its connection what to wait for.
#pragma once

#include <chrono>
#include <cstdint>
#include <string_view>

#include "mock/reply.hpp"
#include "mock/stream.hpp"

namespace ai::mock {

class Sender {
 public:
  enum class Step {
    kLast,     // the next call sends the last piece: with it, the client has its reply
    kDone,     // all is sent
    kBlocked,  // go on when the socket takes more
    kPause,    // go on after pause()
    kHang,     // go on when released
    kClose,    // say goodbye and close the connection
    kCut,      // close the connection without a word
    kReset,    // reset the connection now
    kLost,     // the client is gone
  };

  void Start(Outgoing outgoing);
  Step Advance(Stream& stream);

  /// Leaves the place at which the reply hung.
  void Release() { outgoing_.hang_at = Outgoing::kNowhere; }

  std::chrono::milliseconds pause() const { return outgoing_.drip_every; }

 private:
  enum class Part { kBytes, kFiller, kTail };

  bool NextPart();
  size_t StopBefore() const;
  bool AtLastPiece(size_t stop) const;

  Outgoing outgoing_;
  Part part_ = Part::kBytes;
  std::string_view current_;
  size_t at_ = 0;
  uint64_t filler_left_ = 0;
  bool told_last_ = false;
  bool dripped_ = false;  // a drop was sent; the pause comes before the next
};

}  // namespace ai::mock
