// reply.cpp: turns a reply and its delivery into bytes.
#include "mock/reply.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <string_view>
#include <utility>

#include "mock/gzip.hpp"

namespace ai::mock {

namespace {

constexpr size_t kChunkSize = 4096;
constexpr size_t kFillerSize = size_t{64} << 10;
constexpr uint64_t kMissingBytes = 1000;  // what kLongLength promises and never sends
constexpr std::string_view kEnormousStart =
    R"({"object":"list","data":[{"object":"embedding","index":0,"embedding":[)";

std::string Chunk(std::string_view data) {
  std::array<char, 24> size;
  const int length = std::snprintf(size.data(), size.size(), "%zx\r\n", data.size());
  std::string chunk(size.data(), static_cast<size_t>(length));
  chunk += data;
  chunk += "\r\n";
  return chunk;
}

void AppendFramed(std::string& out, std::string_view body, Framing framing) {
  if (framing == Framing::kBadChunk) {
    out += Chunk(body.substr(0, body.size() / 2));
    out += "not a size\r\n";
    return;
  }
  if (framing != Framing::kChunked) {
    out += body;
    return;
  }
  for (size_t at = 0; at < body.size(); at += kChunkSize) {
    out += Chunk(body.substr(at, kChunkSize));
  }
  out += "0\r\n\r\n";
}

void AppendFramingHeader(std::string& head, Framing framing, uint64_t length) {
  switch (framing) {
    case Framing::kLength:
      head += "Content-Length: " + std::to_string(length) + "\r\n";
      break;
    case Framing::kLongLength:
      head += "Content-Length: " + std::to_string(length + kMissingBytes) + "\r\n";
      break;
    case Framing::kBadLength:
      head += "Content-Length: many\r\n";
      break;
    case Framing::kChunked:
    case Framing::kBadChunk:
      head += "Transfer-Encoding: chunked\r\n";
      break;
    case Framing::kUntilClose:
      break;
  }
}

constexpr size_t kFillerLine = 1000;  // under what clients take for one line

void AppendUselessHeaders(std::string& head, size_t bytes) {
  for (size_t done = 0, line = 0; done < bytes; done += kFillerLine, ++line) {
    head += "X-Filler-" + std::to_string(line) + ": ";
    head.append(std::min(kFillerLine, bytes - done), 'x');
    head += "\r\n";
  }
}

std::string RenderHead(const Reply& reply, const Delivery& delivery, uint64_t length, bool close) {
  std::string head = "HTTP/1.1 " + std::to_string(reply.status) + ' ';
  head += ReasonOf(reply.status);
  head += "\r\nDate: " + HttpDate(std::chrono::system_clock::now());
  head += "\r\nContent-Type: " + reply.content_type + "\r\n";
  AppendFramingHeader(head, delivery.framing, length);
  for (const Header& header : reply.headers) {
    head += header.name;
    head += ": ";
    head += header.value;
    head += "\r\n";
  }
  AppendUselessHeaders(head, delivery.header_bytes);
  head += close ? "Connection: close\r\n\r\n" : "Connection: keep-alive\r\n\r\n";
  return head;
}

bool Compresses(Compression compression, bool accepts_gzip) {
  return compression == Compression::kAlways || compression == Compression::kCorrupt ||
         (compression == Compression::kWhenAsked && accepts_gzip);
}

void Compress(Reply& reply, Compression compression) {
  reply.body = Gzip(reply.body);
  if (compression == Compression::kCorrupt) {
    // Behind the header, so that the damage shows only while the body is being unpacked.
    const size_t start = std::min<size_t>(reply.body.size(), 12);
    std::fill(reply.body.begin() + static_cast<std::ptrdiff_t>(start), reply.body.end(), '\xff');
  }
  reply.headers.push_back({"Content-Encoding", "gzip"});
}

// Numbers without end: the client has to stop reading, for nothing in them is wrong.
void MakeEnormous(Outgoing& out, const Delivery& delivery) {
  std::string numbers;
  while (numbers.size() < kFillerSize) {
    numbers += "0.00012207,";
  }
  out.filler_times = delivery.enormous_bytes / numbers.size() + 1;
  const bool chunked = delivery.framing == Framing::kChunked;
  if (chunked) {
    numbers = Chunk(numbers);
  }
  out.filler = std::move(numbers);
  out.tail = chunked ? "0\r\n\r\n" : "";
}

size_t Place(Point point, const Outgoing& out, const Delivery& delivery) {
  if (point == Point::kHead) {
    return out.body_start;
  }
  if (point != Point::kBody) {
    return Outgoing::kNowhere;
  }
  const size_t size = out.bytes.size() - out.body_start;
  return out.body_start + std::min<size_t>(delivery.at_byte.value_or(size / 2), size);
}

}  // namespace

Outgoing Render(Reply reply, const Delivery& delivery, const ReplyTo& to) {
  Outgoing out;
  const bool enormous = delivery.enormous_bytes > 0;
  if (enormous) {
    reply.body = kEnormousStart;
    MakeEnormous(out, delivery);
  } else if (Compresses(delivery.compression, to.accepts_gzip)) {
    Compress(reply, delivery.compression);
  }
  const bool endless = delivery.framing == Framing::kUntilClose;
  out.close_after = !to.keep_alive || endless;
  const uint64_t length = reply.body.size() + out.filler.size() * out.filler_times;
  out.bytes = RenderHead(reply, delivery, length, out.close_after);
  out.body_start = out.bytes.size();
  if (!to.head_only) {
    if (enormous && delivery.framing == Framing::kChunked) {
      out.bytes += Chunk(reply.body);
    } else {
      AppendFramed(out.bytes, reply.body, delivery.framing);
    }
  }
  out.hang_at = Place(delivery.hang, out, delivery);
  out.cut_by_reset = delivery.reset != Point::kNone;
  out.cut_at = Place(out.cut_by_reset ? delivery.reset : delivery.close, out, delivery);
  out.drop_after = delivery.close == Point::kAfter || delivery.framing == Framing::kLongLength ||
                   delivery.framing == Framing::kBadChunk;
  out.reset_after = delivery.reset == Point::kAfter;
  out.drip_bytes = delivery.drip_bytes;
  out.drip_every = delivery.drip_every;
  return out;
}

}  // namespace ai::mock
