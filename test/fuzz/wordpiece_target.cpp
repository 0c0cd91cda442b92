// libFuzzer's way into WordPieceFuzz, see wordpiece_fuzz.hpp.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "fuzz/wordpiece_fuzz.hpp"

// NOLINTNEXTLINE(readability-identifier-naming): the name is libFuzzer's
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const ai::fuzz::WordPieceFuzz fuzz;
  fuzz.Run({reinterpret_cast<const char*>(data), size});
  return 0;
}
