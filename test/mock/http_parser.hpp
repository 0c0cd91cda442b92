// http_parser.hpp: reads HTTP/1.0 and HTTP/1.1 requests from pieces of any size.
//
// Strict where a client's mistake should show (line ends, lengths, versions): what a strict
// provider would refuse must not pass a test. Never looks into a body.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "mock/http_message.hpp"

namespace ai::mock {

inline constexpr size_t kMaxHead = size_t{64} << 10;
inline constexpr size_t kMaxBody = size_t{64} << 20;

class RequestParser {
 public:
  /// Reads on and returns how many bytes it took; what is left belongs to the next request.
  /// Stops at the end of a request and at an error.
  size_t Feed(std::string_view data);

  bool done() const { return state_ == State::kDone; }
  bool failed() const { return state_ == State::kFailed; }

  /// Whether the client waits for "100 Continue" before it sends the body. True once per request.
  bool TakeExpectation();

  /// Whether nothing of a request has come yet.
  bool idle() const { return state_ == State::kHead && buffer_.empty(); }

  /// The status that answers a failed request, and why.
  int error_status() const { return error_status_; }
  const std::string& error_text() const { return error_text_; }

  /// The request that is done; the parser is ready for the next one.
  Request Take();

  /// Bodies above this are refused with 413. The default is what the program promises to read.
  void set_max_body(size_t bytes) { max_body_ = bytes; }

 private:
  enum class State { kHead, kBody, kChunkSize, kChunkData, kChunkEnd, kTrailer, kDone, kFailed };

  size_t FeedHead(std::string_view data);
  size_t FeedLine(std::string_view data);
  size_t FeedData(std::string_view data);
  void ReadHead(std::string_view head);
  bool ReadRequestLine(std::string_view line);
  bool ReadHeader(std::string_view line);
  void ReadFraming();
  void ReadLine(std::string_view line);
  void Fail(int status, std::string text);

  State state_ = State::kHead;
  Request request_;
  std::string buffer_;  // the head, or a line of the chunked framing, that is not complete yet
  size_t wanted_ = 0;   // bytes to come of the body or of the chunk
  size_t max_body_ = kMaxBody;
  bool expects_continue_ = false;
  int error_status_ = 0;
  std::string error_text_;
};

}  // namespace ai::mock
