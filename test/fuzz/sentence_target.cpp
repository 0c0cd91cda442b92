// libFuzzer's way into FuzzSentence, see sentence_fuzz.hpp.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "fuzz/sentence_fuzz.hpp"

// NOLINTNEXTLINE(readability-identifier-naming): the name is libFuzzer's
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  ai::fuzz::FuzzSentence({reinterpret_cast<const char*>(data), size});
  return 0;
}
