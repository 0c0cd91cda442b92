// libFuzzer's way into TokenFuzz, see token_fuzz.hpp.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "fuzz/token_fuzz.hpp"

// NOLINTNEXTLINE(readability-identifier-naming): the name is libFuzzer's
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const ai::fuzz::TokenFuzz fuzz;
  fuzz.Run({reinterpret_cast<const char*>(data), size});
  return 0;
}
