// sender.cpp: sends one reply, and stops where its delivery says.
#include "mock/sender.hpp"

#include <algorithm>
#include <utility>

namespace ai::mock {

namespace {

// What a socket takes in one go; all but the smallest replies are more than one.
constexpr size_t kPiece = size_t{64} << 10;

}  // namespace

void Sender::Start(Outgoing outgoing) {
  outgoing_ = std::move(outgoing);
  part_ = Part::kBytes;
  // INVARIANT: current_ looks into outgoing_, which is not touched until the next Start.
  current_ = outgoing_.bytes;
  at_ = 0;
  filler_left_ = outgoing_.filler_times;
  told_last_ = false;
  dripped_ = false;
}

// Goes to what comes after the part that is sent; false when nothing does.
bool Sender::NextPart() {
  at_ = 0;
  if (part_ != Part::kTail && filler_left_ > 0) {
    --filler_left_;
    part_ = Part::kFiller;
    current_ = outgoing_.filler;
    return true;
  }
  if (part_ != Part::kTail && !outgoing_.tail.empty()) {
    part_ = Part::kTail;
    current_ = outgoing_.tail;
    return true;
  }
  part_ = Part::kTail;
  current_ = {};
  return false;
}

// The end of what may be sent in one go.
size_t Sender::StopBefore() const {
  size_t stop = std::min(current_.size(), at_ + kPiece);
  if (part_ == Part::kBytes) {
    stop = std::min({stop, outgoing_.hang_at, outgoing_.cut_at});
    if (outgoing_.drip_bytes > 0 && at_ < outgoing_.body_start) {
      return std::min(stop, outgoing_.body_start);
    }
  }
  return outgoing_.drip_bytes > 0 ? std::min(stop, at_ + outgoing_.drip_bytes) : stop;
}

bool Sender::AtLastPiece(size_t stop) const {
  const bool last_part = part_ == Part::kTail || (filler_left_ == 0 && outgoing_.tail.empty());
  const bool to_the_end =
      part_ != Part::kBytes || stop < std::min(outgoing_.hang_at, outgoing_.cut_at);
  return last_part && to_the_end && stop == current_.size();
}

Sender::Step Sender::Advance(Stream& stream) {
  for (;;) {
    if (part_ == Part::kBytes && at_ == outgoing_.hang_at) {
      return Step::kHang;
    }
    if (part_ == Part::kBytes && at_ == outgoing_.cut_at) {
      return outgoing_.cut_by_reset ? Step::kReset : Step::kCut;
    }
    if (at_ == current_.size() && !NextPart()) {
      return outgoing_.reset_after                           ? Step::kReset
             : outgoing_.close_after || outgoing_.drop_after ? Step::kClose
                                                             : Step::kDone;
    }
    if (std::exchange(dripped_, false)) {
      return Step::kPause;
    }
    const size_t stop = StopBefore();
    if (!told_last_ && AtLastPiece(stop)) {
      told_last_ = true;
      return Step::kLast;
    }
    const IoResult sent = stream.Write(current_.substr(at_, stop - at_));
    if (sent.status == IoStatus::kWouldBlock) {
      return Step::kBlocked;
    }
    if (sent.status != IoStatus::kOk) {
      return Step::kLost;
    }
    const bool in_body = part_ != Part::kBytes || at_ >= outgoing_.body_start;
    at_ += sent.bytes;
    dripped_ = outgoing_.drip_bytes > 0 && in_body;
  }
}

}  // namespace ai::mock
