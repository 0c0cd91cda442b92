// See base64.hpp. Sixteen characters at a time where the processor can, four otherwise.
#include "core/provider/base64.hpp"

#if defined(__x86_64__) || defined(__i386__)
#define AI_BASE64_SSSE3 1
#include <tmmintrin.h>
#endif

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace ai::provider {
namespace {

constexpr std::uint32_t kInvalid = 0xFF;

constexpr std::array<std::uint8_t, 256> kValues = [] {
  constexpr std::string_view kAlphabet =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::array<std::uint8_t, 256> table{};
  table.fill(kInvalid);
  for (std::size_t i = 0; i < kAlphabet.size(); ++i) {
    table[static_cast<unsigned char>(kAlphabet[i])] = static_cast<std::uint8_t>(i);
  }
  return table;
}();

std::uint32_t ValueOf(char c) {
  return kValues[static_cast<unsigned char>(c)];
}

/// How far decoding has come: characters read and bytes written, four for three.
struct Progress {
  std::size_t read = 0;
  std::size_t written = 0;
};

#ifdef AI_BASE64_SSSE3

constexpr std::size_t kBlock = 16;
constexpr std::size_t kBlockBytes = 12;

/// The bytes that lie from first to last, as a mask. Signed: what is above 0x7F lies nowhere.
__attribute__((target("ssse3"))) inline __m128i Between(__m128i bytes, char first, char last) {
  return _mm_and_si128(_mm_cmpgt_epi8(bytes, _mm_set1_epi8(static_cast<char>(first - 1))),
                       _mm_cmplt_epi8(bytes, _mm_set1_epi8(static_cast<char>(last + 1))));
}

/// Decodes blocks until one has a character that does not belong, or so little is left that a block
/// would write over the end. What remains is for the plain loop to read or to refuse.
__attribute__((target("ssse3"))) Progress DecodeBlocks(std::string_view text, char* out,
                                                       std::size_t capacity) {
  const __m128i in_order = _mm_setr_epi8(2, 1, 0, 6, 5, 4, 10, 9, 8, 14, 13, 12, -1, -1, -1, -1);
  Progress done;
  while (text.size() - done.read >= kBlock && capacity - done.written >= kBlock) {
    const __m128i block =
        _mm_loadu_si128(reinterpret_cast<const __m128i*>(text.data() + done.read));
    const __m128i upper = Between(block, 'A', 'Z');
    const __m128i lower = Between(block, 'a', 'z');
    const __m128i digit = Between(block, '0', '9');
    const __m128i plus = _mm_cmpeq_epi8(block, _mm_set1_epi8('+'));
    const __m128i slash = _mm_cmpeq_epi8(block, _mm_set1_epi8('/'));
    const __m128i known =
        _mm_or_si128(_mm_or_si128(upper, lower), _mm_or_si128(digit, _mm_or_si128(plus, slash)));
    if (_mm_movemask_epi8(known) != 0xFFFF) {
      break;
    }
    // What has to be added to a character to get its value.
    const __m128i letters = _mm_or_si128(_mm_and_si128(upper, _mm_set1_epi8(0 - 'A')),
                                         _mm_and_si128(lower, _mm_set1_epi8(26 - 'a')));
    const __m128i others =
        _mm_or_si128(_mm_and_si128(digit, _mm_set1_epi8(52 - '0')),
                     _mm_or_si128(_mm_and_si128(plus, _mm_set1_epi8(62 - '+')),
                                  _mm_and_si128(slash, _mm_set1_epi8(63 - '/'))));
    const __m128i values = _mm_add_epi8(block, _mm_or_si128(letters, others));
    // Pairs of 6 bits to 12, pairs of those to 24, and those three bytes in the order of the text.
    const __m128i pairs = _mm_maddubs_epi16(values, _mm_set1_epi32(0x01400140));
    const __m128i triples = _mm_madd_epi16(pairs, _mm_set1_epi32(0x00011000));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out + done.written),
                     _mm_shuffle_epi8(triples, in_order));
    done.read += kBlock;
    done.written += kBlockBytes;
  }
  return done;
}

bool HasBlocks() {
  return __builtin_cpu_supports("ssse3") != 0;
}

#else

Progress DecodeBlocks(std::string_view /*text*/, char* /*out*/, std::size_t /*capacity*/) {
  return {};
}

bool HasBlocks() {
  return false;
}

#endif

/// Groups of four characters to three bytes. False at a character that does not belong.
bool DecodeGroups(std::string_view text, char* out, Progress& done) {
  for (; done.read < text.size(); done.read += 4, done.written += 3) {
    const char* const group = text.data() + done.read;
    const std::uint32_t a = ValueOf(group[0]);
    const std::uint32_t b = ValueOf(group[1]);
    const std::uint32_t c = ValueOf(group[2]);
    const std::uint32_t d = ValueOf(group[3]);
    if ((a | b | c | d) == kInvalid) {
      return false;
    }
    const std::uint32_t bits = a << 18 | b << 12 | c << 6 | d;
    out[done.written] = static_cast<char>(bits >> 16);
    out[done.written + 1] = static_cast<char>(bits >> 8);
    out[done.written + 2] = static_cast<char>(bits);
  }
  return true;
}

/// The last group, of two or three characters and padding, if there is one. The bits that do not
/// make a byte have to be zero.
bool DecodePadded(std::string_view group, char* out) {
  if (group.empty()) {
    return true;
  }
  const std::uint32_t a = ValueOf(group[0]);
  const std::uint32_t b = ValueOf(group[1]);
  const std::uint32_t c = group.size() == 3 ? ValueOf(group[2]) : 0;
  const std::uint32_t bits = a << 18 | b << 12 | c << 6;
  if ((a | b | c) == kInvalid || (bits & (group.size() == 3 ? 0xFFU : 0xFFFFU)) != 0) {
    return false;
  }
  out[0] = static_cast<char>(bits >> 16);
  if (group.size() == 3) {
    out[1] = static_cast<char>(bits >> 8);
  }
  return true;
}

void FromLittleEndian(float* values, std::size_t count) {
  if constexpr (std::endian::native == std::endian::big) {
    for (std::size_t i = 0; i < count; ++i) {
      values[i] = std::bit_cast<float>(__builtin_bswap32(std::bit_cast<std::uint32_t>(values[i])));
    }
  }
}

}  // namespace

Base64Outcome DecodeFloats(std::string_view text, std::vector<float>& values) {
  const std::size_t padding = text.ends_with("==") ? 2 : (text.ends_with('=') ? 1 : 0);
  if (text.size() % 4 != 0) {
    return Base64Outcome::kInvalid;
  }
  const std::size_t bytes = text.size() / 4 * 3 - padding;
  const std::size_t old_size = values.size();
  values.resize(old_size + (bytes + sizeof(float) - 1) / sizeof(float));
  char* const out = reinterpret_cast<char*>(values.data() + old_size);
  const std::string_view whole = text.substr(0, padding == 0 ? text.size() : text.size() - 4);
  const std::string_view last = text.substr(whole.size(), padding == 0 ? 0 : 4 - padding);
  Progress done = HasBlocks() ? DecodeBlocks(whole, out, bytes) : Progress();
  if (!DecodeGroups(whole, out, done) || !DecodePadded(last, out + done.written)) {
    values.resize(old_size);
    return Base64Outcome::kInvalid;
  }
  if (bytes % sizeof(float) != 0) {
    values.resize(old_size);
    return Base64Outcome::kPartialFloat;
  }
  FromLittleEndian(values.data() + old_size, bytes / sizeof(float));
  return Base64Outcome::kOk;
}

}  // namespace ai::provider
