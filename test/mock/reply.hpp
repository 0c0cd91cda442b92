// reply.hpp: what is answered (Reply), how it is to be sent (Delivery), and the bytes (Outgoing).
//
// Everything a provider can do wrong below the level of the body's JSON is a Delivery.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "mock/http_message.hpp"

namespace ai::mock {

struct Reply {
  int status = 200;
  std::string content_type = "application/json";
  std::vector<Header> headers;
  std::string body;
};

/// A place in a reply at which something happens to it.
enum class Point { kNone, kBefore, kHead, kBody, kAfter };

/// How the end of the body is told, rightly or wrongly.
enum class Framing { kLength, kChunked, kUntilClose, kBadChunk, kBadLength, kLongLength };

enum class Compression { kNone, kWhenAsked, kAlways, kCorrupt };

struct Delivery {
  Point hang = Point::kNone;        // stop there until released
  Point close = Point::kNone;       // close the connection there
  Point reset = Point::kNone;       // reset it there
  std::optional<uint64_t> at_byte;  // which byte of the body kBody is; else its middle
  Framing framing = Framing::kLength;
  Compression compression = Compression::kNone;
  size_t drip_bytes = 0;  // of the body at a time; 0 sends all at once
  std::chrono::milliseconds drip_every{0};
  uint64_t enormous_bytes = 0;  // instead of the body, at least so many bytes of numbers
  size_t header_bytes = 0;      // of useless headers
};

/// The bytes of one reply and what happens while they are sent.
struct Outgoing {
  static constexpr size_t kNowhere = SIZE_MAX;

  std::string bytes;   // the head and the body, framed
  std::string filler;  // sent `filler_times` after the bytes
  uint64_t filler_times = 0;
  std::string tail;           // sent after the filler
  size_t body_start = 0;      // in `bytes`
  size_t hang_at = kNowhere;  // in `bytes`
  size_t cut_at = kNowhere;   // in `bytes`
  bool cut_by_reset = false;
  size_t drip_bytes = 0;
  std::chrono::milliseconds drip_every{0};
  bool close_after = false;  // as announced, or as the framing needs
  bool drop_after = false;   // without a word
  bool reset_after = false;
};

/// What of the request the sending of its reply depends on.
struct ReplyTo {
  bool keep_alive = true;
  bool head_only = false;
  bool accepts_gzip = false;
  int minor_version = 1;
};

Outgoing Render(Reply reply, const Delivery& delivery, const ReplyTo& to);

}  // namespace ai::mock
