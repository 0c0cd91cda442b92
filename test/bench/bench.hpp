// Timing and reporting for the benchmarks: rates, and ratios to memcpy measured in the same run.
// Header only, so that each benchmark is one source.
#pragma once

#include <sys/resource.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <limits>
#include <string>
#include <vector>

namespace ai::bench {

inline constexpr double kMega = 1e6;

/// The processor time of this thread in seconds: pure code is not to blame for what else runs.
inline double ThreadSeconds() {
  timespec now = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

/// The processor time of one call, in seconds.
template <typename Body>
double Seconds(const Body& body) {
  const double start = ThreadSeconds();
  body();
  return ThreadSeconds() - start;
}

/// The least processor time of one call, in seconds, over some runs after one to warm up. Others on
/// the same machine can only slow pure code down, so the best run is the one least disturbed.
template <typename Body>
double BestSeconds(std::size_t runs, const Body& body) {
  body();
  double best = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < runs; ++i) {
    best = std::min(best, Seconds(body));
  }
  return best;
}

/// Bytes per second of copying data, the yardstick of what the machine can do right now.
inline double MemcpyRate(const std::string& data, std::size_t runs) {
  std::vector<char> copy(data.size());
  return static_cast<double>(data.size()) / BestSeconds(runs, [&] {
           std::memcpy(copy.data(), data.data(), data.size());
           // Keeps the compiler from dropping a copy that nobody reads.
           asm volatile("" : : "r"(copy.data()) : "memory");
         });
}

/// The most memory this process has ever held, in kilobytes.
inline long PeakKilobytes() {
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

/// Prints lines of results and remembers whether any goal was missed.
class Report {
 public:
  explicit Report(double memcpy_rate) : memcpy_rate_(memcpy_rate) {
    std::printf("memcpy %.0f MB/s\n", memcpy_rate / kMega);
  }

  /// A rate in bytes per second against a goal, 0 for none.
  void Rate(const std::string& name, double rate, double goal) {
    std::printf("%-52s %8.1f MB/s  1/%-6.0f of memcpy", name.c_str(), rate / kMega,
                memcpy_rate_ / rate);
    Verdict(goal == 0 || rate >= goal, goal == 0 ? 0 : goal / kMega, "MB/s", ">=");
  }

  /// Any other number against an upper bound.
  void AtMost(const std::string& name, double value, const char* unit, double bound) {
    std::printf("%-52s %8.2f %s", name.c_str(), value, unit);
    Verdict(value <= bound, bound, unit, "<=");
  }

  /// Any other number against a lower bound, 0 for none.
  void AtLeast(const std::string& name, double value, const char* unit, double bound) {
    std::printf("%-52s %8.2f %s", name.c_str(), value, unit);
    Verdict(value >= bound, bound, unit, ">=");
  }

  /// The exit status of the benchmark.
  int status() const { return missed_ ? 1 : 0; }

 private:
  void Verdict(bool met, double goal, const char* unit, const char* relation) {
    if (goal != 0) {
      std::printf("  (%s %g %s%s)", relation, goal, unit, met ? "" : ": MISSED");
    }
    std::printf("\n");
    std::fflush(stdout);
    missed_ = missed_ || !met;
  }

  double memcpy_rate_;
  bool missed_ = false;
};

}  // namespace ai::bench
