// http_parser.cpp: reads HTTP/1.0 and HTTP/1.1 requests from pieces of any size.
#include "mock/http_parser.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

namespace ai::mock {

namespace {

constexpr std::string_view kLineEnd = "\r\n";
constexpr std::string_view kHeadEnd = "\r\n\r\n";
constexpr size_t kMaxLine = 4096;  // of the chunked framing

bool ParseNumber(std::string_view text, int base, size_t& out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out, base);
  return error == std::errc() && end == text.data() + text.size();
}

bool IsToken(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return c > 0x20 && c < 0x7f && c != ':' && c != '"' && c != '(' && c != ')' && c != ',';
  });
}

}  // namespace

size_t RequestParser::Feed(std::string_view data) {
  size_t taken = 0;
  while (taken < data.size() && !done() && !failed()) {
    const std::string_view rest = data.substr(taken);
    switch (state_) {
      case State::kHead:
        taken += FeedHead(rest);
        break;
      case State::kBody:
      case State::kChunkData:
        taken += FeedData(rest);
        break;
      case State::kChunkSize:
      case State::kChunkEnd:
      case State::kTrailer:
        taken += FeedLine(rest);
        break;
      case State::kDone:
      case State::kFailed:
        break;
    }
  }
  return taken;
}

size_t RequestParser::FeedHead(std::string_view data) {
  const size_t before = buffer_.size();
  const size_t searched = before < kHeadEnd.size() ? 0 : before - (kHeadEnd.size() - 1);
  const size_t piece = std::min(data.size(), kMaxHead + kHeadEnd.size() - before);
  buffer_.append(data.substr(0, piece));
  const size_t end = buffer_.find(kHeadEnd, searched);
  if (end == std::string::npos) {
    if (buffer_.size() > kMaxHead) {
      Fail(431, "the request's head is larger than " + std::to_string(kMaxHead) + " bytes");
    }
    return piece;
  }
  const size_t taken = end + kHeadEnd.size() - before;
  const std::string head = buffer_.substr(0, end);
  buffer_.clear();
  ReadHead(head);
  return taken;
}

void RequestParser::ReadHead(std::string_view head) {
  bool first = true;
  while (!head.empty()) {
    const size_t end = head.find(kLineEnd);
    const std::string_view line = head.substr(0, end);
    head = end == std::string_view::npos ? std::string_view() : head.substr(end + 2);
    if (first ? !ReadRequestLine(line) : !ReadHeader(line)) {
      return;
    }
    first = false;
  }
  if (first) {
    Fail(400, "the request line is empty");
    return;
  }
  ReadFraming();
}

bool RequestParser::ReadRequestLine(std::string_view line) {
  const size_t first = line.find(' ');
  const size_t last = line.rfind(' ');
  if (first == std::string_view::npos || first == last || !IsToken(line.substr(0, first))) {
    Fail(400, "malformed request line");
    return false;
  }
  const std::string_view version = line.substr(last + 1);
  if (version != "HTTP/1.1" && version != "HTTP/1.0") {
    Fail(505, "only HTTP/1.0 and HTTP/1.1 are spoken here");
    return false;
  }
  const std::string_view target = line.substr(first + 1, last - first - 1);
  if (target.empty() || target.front() != '/' || target.find(' ') != std::string_view::npos) {
    Fail(400, "malformed request target");
    return false;
  }
  const size_t mark = target.find('?');
  request_.method = line.substr(0, first);
  request_.path = target.substr(0, mark);
  request_.query = mark == std::string_view::npos ? std::string_view() : target.substr(mark + 1);
  request_.minor_version = version.back() == '0' ? 0 : 1;
  return true;
}

bool RequestParser::ReadHeader(std::string_view line) {
  const size_t colon = line.find(':');
  if (colon == std::string_view::npos || !IsToken(line.substr(0, colon))) {
    Fail(400, "malformed header line");
    return false;
  }
  request_.headers.push_back(
      {std::string(line.substr(0, colon)), std::string(Trim(line.substr(colon + 1)))});
  return true;
}

// Decides how the body is delimited. A request with two answers to that is an attack or a bug.
void RequestParser::ReadFraming() {
  const auto count = [&](std::string_view name) {
    return std::count_if(request_.headers.begin(), request_.headers.end(),
                         [&](const Header& h) { return EqualsIgnoringCase(h.name, name); });
  };
  const auto lengths = count("Content-Length");
  const auto encodings = count("Transfer-Encoding");
  expects_continue_ = request_.minor_version > 0 && request_.HasToken("Expect", "100-continue");
  if (lengths + encodings > 1) {
    Fail(400, "the length of the body is given more than once");
    return;
  }
  if (encodings == 1) {
    if (!EqualsIgnoringCase(request_.Find("Transfer-Encoding"), "chunked")) {
      Fail(501, "the only transfer encoding understood is chunked");
      return;
    }
    state_ = State::kChunkSize;
    return;
  }
  wanted_ = 0;
  if (lengths == 1 && !ParseNumber(request_.Find("Content-Length"), 10, wanted_)) {
    Fail(400, "malformed Content-Length");
    return;
  }
  if (wanted_ > max_body_) {
    Fail(413, "the body is larger than " + std::to_string(max_body_) + " bytes");
    return;
  }
  request_.body.reserve(wanted_);
  expects_continue_ = expects_continue_ && wanted_ > 0;
  state_ = wanted_ == 0 ? State::kDone : State::kBody;
}

size_t RequestParser::FeedData(std::string_view data) {
  const size_t piece = std::min(wanted_, data.size());
  request_.body.append(data.substr(0, piece));
  wanted_ -= piece;
  if (wanted_ == 0) {
    state_ = state_ == State::kBody ? State::kDone : State::kChunkEnd;
  }
  return piece;
}

size_t RequestParser::FeedLine(std::string_view data) {
  const size_t end = data.find('\n');
  const size_t piece = end == std::string_view::npos ? data.size() : end + 1;
  buffer_.append(data.substr(0, piece));
  if (buffer_.size() > kMaxLine) {
    Fail(400, "a line of the chunked body is too long");
    return piece;
  }
  if (end != std::string_view::npos) {
    const std::string line = std::exchange(buffer_, {});
    if (!line.ends_with(kLineEnd)) {
      Fail(400, "a line of the chunked body does not end in CR LF");
      return piece;
    }
    ReadLine(std::string_view(line).substr(0, line.size() - kLineEnd.size()));
  }
  return piece;
}

void RequestParser::ReadLine(std::string_view line) {
  if (state_ == State::kTrailer) {
    state_ = line.empty() ? State::kDone : State::kTrailer;
    return;
  }
  if (state_ == State::kChunkEnd) {
    if (!line.empty()) {
      Fail(400, "a chunk is longer than its size");
      return;
    }
    state_ = State::kChunkSize;
    return;
  }
  if (!ParseNumber(Trim(line.substr(0, line.find(';'))), 16, wanted_)) {
    Fail(400, "malformed chunk size");
    return;
  }
  if (wanted_ > max_body_ - request_.body.size()) {
    Fail(413, "the body is larger than " + std::to_string(max_body_) + " bytes");
    return;
  }
  state_ = wanted_ == 0 ? State::kTrailer : State::kChunkData;
}

bool RequestParser::TakeExpectation() {
  return std::exchange(expects_continue_, false);
}

Request RequestParser::Take() {
  state_ = State::kHead;
  expects_continue_ = false;
  return std::exchange(request_, {});
}

void RequestParser::Fail(int status, std::string text) {
  state_ = State::kFailed;
  error_status_ = status;
  error_text_ = std::move(text);
}

}  // namespace ai::mock
