// Tests of core/provider/base64: floats of every number, and nothing that is not base64.
#include "core/provider/base64.hpp"

#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "unit/catch_bridge.hpp"

using ai::provider::Base64Outcome;
using ai::provider::DecodeFloats;

namespace {

constexpr std::string_view kAlphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Bit by bit, so that it has nothing in common with what it tests.
std::string Encode(const std::string& bytes) {
  std::string out;
  for (std::size_t bit = 0; bit < bytes.size() * 8; bit += 6) {
    unsigned value = 0;
    for (std::size_t i = bit; i < bit + 6; ++i) {
      const auto byte = i / 8 < bytes.size() ? static_cast<unsigned char>(bytes[i / 8]) : 0U;
      value = value * 2 + (byte >> (7 - i % 8) & 1U);
    }
    out += kAlphabet[value];
  }
  return out + std::string((4 - out.size() % 4) % 4, '=');
}

std::string RandomBytes(std::size_t count) {
  std::mt19937 random(static_cast<unsigned>(count));
  std::string bytes(count, '\0');
  for (char& byte : bytes) {
    byte = static_cast<char>(random());
  }
  return bytes;
}

}  // namespace

TEST_CASE("floats of every number come back", "[provider]") {
  for (std::size_t count = 0; count < 200; ++count) {
    INFO(count);
    const std::string bytes = RandomBytes(count * 4);
    std::vector<float> values = {7};
    REQUIRE(DecodeFloats(Encode(bytes), values) == Base64Outcome::kOk);
    REQUIRE(values.size() == count + 1);
    CHECK(values[0] == 7);
    CHECK(std::memcmp(values.data() + 1, bytes.data(), bytes.size()) == 0);
  }
}

TEST_CASE("floats are little-endian", "[provider]") {
  std::vector<float> values;
  REQUIRE(DecodeFloats("AACAPwAAAMA=", values) == Base64Outcome::kOk);
  CHECK(values == std::vector<float>{1, -2});
}

TEST_CASE("every character that does not belong is found everywhere", "[provider]") {
  const std::string good = Encode(RandomBytes(48));  // 64 characters
  std::vector<float> values = {7};
  for (int byte = 0; byte < 256; ++byte) {
    const char c = static_cast<char>(byte);
    const bool belongs = c != '\0' && kAlphabet.find(c) != std::string_view::npos;
    for (std::size_t at = 0; at < good.size(); ++at) {
      std::string text = good;
      text[at] = c;
      const bool ok = DecodeFloats(text, values) == Base64Outcome::kOk;
      if (ok != belongs) {
        FAIL("character " << byte << " at " << at);
      }
      values.resize(1);
    }
  }
}

TEST_CASE("a text that is not all of base64 is refused and adds nothing", "[provider]") {
  std::vector<float> values = {7};
  for (const std::string_view text :
       {"A", "AA", "AAA", "AAAAA", "====", "A===", "AA=A", "=AAA", "AAAA====", "AAAAAA=",
        "AAAAA===", "AAAAAB==", "AAAAAAB=", "AA==AAAA", "AAAA\nAAAA", " AAAAAAA", "AAAAAA-_"}) {
    INFO(text);
    CHECK(DecodeFloats(text, values) == Base64Outcome::kInvalid);
    CHECK(values == std::vector<float>{7});
  }
  for (const std::string_view text : {"AAAA", "AA==", "AAA=", "AAAAAAA="}) {
    INFO(text);
    CHECK(DecodeFloats(text, values) == Base64Outcome::kPartialFloat);
    CHECK(values == std::vector<float>{7});
  }
}
