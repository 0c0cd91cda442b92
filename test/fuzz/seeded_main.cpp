// Drives a fuzz target with seeded inputs where libFuzzer is not installed.
//
//   <target> [seconds [seed]]
//
// Stops at the first input that the target does not survive, having said which one it was.
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <string>

#include "fuzz/seeded.hpp"

// NOLINTNEXTLINE(readability-identifier-naming): the name is libFuzzer's
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

std::string Hex(const std::string& bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string out;
  for (const char byte : bytes) {
    out += kDigits[static_cast<unsigned char>(byte) >> 4];
    out += kDigits[static_cast<unsigned char>(byte) & 15];
  }
  return out;
}

}  // namespace

int main(int argc, char* argv[]) {
  using Clock = std::chrono::steady_clock;
  const long seconds = argc > 1 ? std::strtol(argv[1], nullptr, 10) : 10;
  const auto seed = static_cast<std::uint64_t>(argc > 2 ? std::strtoll(argv[2], nullptr, 10) : 1);
  ai::fuzz::SeededInputs inputs(seed);
  const Clock::time_point end = Clock::now() + std::chrono::seconds(seconds);
  std::uint64_t runs = 0;
  while (Clock::now() < end) {
    const std::string bytes = inputs.Next();
    try {
      LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
    } catch (const std::exception& error) {
      std::cerr << "input " << runs << " of seed " << seed << ": " << error.what() << "\n"
                << Hex(bytes) << "\n";
      return 1;
    }
    ++runs;
  }
  std::cout << runs << " inputs of seed " << seed << " in " << seconds << " s, no difference\n";
  return 0;
}
