// gzip.cpp: a body compressed as Content-Encoding: gzip.
#include "mock/gzip.hpp"

#include <zlib.h>

#include <stdexcept>

namespace ai::mock {

namespace {

constexpr int kGzipWindow = 15 + 16;  // zlib: 16 more than the window asks for a gzip header
constexpr int kMemoryLevel = 8;

}  // namespace

std::string Gzip(std::string_view plain) {
  z_stream stream{};
  if (deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, kGzipWindow, kMemoryLevel,
                   Z_DEFAULT_STRATEGY) != Z_OK) {
    throw std::runtime_error("deflateInit2 failed");
  }
  std::string out(deflateBound(&stream, static_cast<uLong>(plain.size())), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(plain.data()));
  stream.avail_in = static_cast<uInt>(plain.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  const int status = deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  if (status != Z_STREAM_END) {
    throw std::runtime_error("deflate failed");
  }
  return out;
}

}  // namespace ai::mock
