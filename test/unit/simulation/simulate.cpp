// simulate SEEDS [FIRST]: runs so many histories, one for each seed, on all cores. Prints how often
// each fault came; and of the first history that broke a promise, all of it, as of one that is run
// alone. The seed repeats it.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>

#include "unit/simulation/simulator.hpp"

namespace {

void Print(std::uint64_t seed, const ai::simulation::Result& result) {
  for (const std::string& line : result.history) {
    std::printf("%s\n", line.c_str());
  }
  std::printf("seed %llu: %s\n", static_cast<unsigned long long>(seed),
              result.violation.empty() ? "no promise is broken" : result.violation.c_str());
}

}  // namespace

int main(int argc, char** argv) {
  const std::uint64_t seeds = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 10'000;
  const std::uint64_t first = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
  std::atomic<std::uint64_t> next = first;
  std::atomic<std::uint64_t> broken = 0;
  ai::simulation::Counts counts;
  std::mutex mutex;
  std::vector<std::jthread> threads;
  for (unsigned i = 0; i < std::max(1U, std::thread::hardware_concurrency()); ++i) {
    threads.emplace_back([&] {
      for (std::uint64_t seed = next++; seed < first + seeds; seed = next++) {
        const ai::simulation::Result result = ai::simulation::Simulator(seed).Run();
        const std::lock_guard lock(mutex);
        for (const auto& [name, count] : result.counts) {
          counts[name] += count;
        }
        const bool is_first = !result.violation.empty() && broken++ == 0;
        if (is_first || seeds == 1) {
          Print(seed, result);
        }
      }
    });
  }
  threads.clear();
  for (const auto& [name, count] : counts) {
    std::printf("%12llu  %s\n", static_cast<unsigned long long>(count), name.c_str());
  }
  std::printf("%llu histories, %llu broken\n", static_cast<unsigned long long>(seeds),
              static_cast<unsigned long long>(broken.load()));
  return broken == 0 ? 0 : 1;
}
