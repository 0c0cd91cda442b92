// libFuzzer's way into FuzzProvider, see provider_fuzz.hpp.
#include <cstddef>
#include <cstdint>

#include "fuzz/provider_fuzz.hpp"

// NOLINTNEXTLINE(readability-identifier-naming): the name is libFuzzer's
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  ai::fuzz::FuzzProvider({reinterpret_cast<const char*>(data), size});
  return 0;
}
