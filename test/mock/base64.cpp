// base64.cpp: base64 of a vector's floats.
#include "mock/base64.hpp"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace ai::mock {

namespace {

constexpr char kAlphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static_assert(std::endian::native == std::endian::little, "floats are sent as they lie in memory");

}  // namespace

void AppendBase64(std::string& out, const std::vector<float>& values) {
  const auto* bytes = reinterpret_cast<const unsigned char*>(values.data());
  const size_t size = values.size() * sizeof(float);
  const size_t start = out.size();
  out.resize(start + (size + 2) / 3 * 4, '=');
  char* at = out.data() + start;
  size_t i = 0;
  for (; i + 3 <= size; i += 3) {
    const uint32_t group =
        (uint32_t{bytes[i]} << 16) | (uint32_t{bytes[i + 1]} << 8) | bytes[i + 2];
    *at++ = kAlphabet[group >> 18];
    *at++ = kAlphabet[(group >> 12) & 63];
    *at++ = kAlphabet[(group >> 6) & 63];
    *at++ = kAlphabet[group & 63];
  }
  const size_t left = size - i;
  if (left > 0) {
    const uint32_t group =
        (uint32_t{bytes[i]} << 16) | (left == 2 ? uint32_t{bytes[i + 1]} << 8 : 0);
    *at++ = kAlphabet[group >> 18];
    *at++ = kAlphabet[(group >> 12) & 63];
    if (left == 2) {
      *at++ = kAlphabet[(group >> 6) & 63];
    }
  }
}

}  // namespace ai::mock
