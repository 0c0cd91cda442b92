// How fast the embedded model is on one thread, next to what the processor can do at all: its
// floating point peak by vectors, measured in the same run before every measurement. Needs the real
// model (make model).
//
// The figures to reach were measured where the peak was 100 GFLOP/s; here they are scaled by the
// peak of this machine.
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "bench/bench.hpp"
#include "core/model/encoder.hpp"
#include "core/model/kernels.hpp"
#include "unit/model_file.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace {

using ai::bench::BestSeconds;
using ai::bench::Seconds;
using ai::bench::ThreadSeconds;
using ai::model::Encoder;
using ai::model::Kernels;
using ai::model::Model;

constexpr double kGiga = 1e9;
constexpr double kReferencePeak = 100;  // GFLOP/s, of the machine of the figures
constexpr std::size_t kRuns = 9;
constexpr std::size_t kComparisons = 41;
constexpr std::size_t kChains = 12;
constexpr std::size_t kLongRounds = 15'000'000;  // of the peak: as long as a few texts take

#if defined(__x86_64__)
/// Multiplies and adds in registers alone, as many as the processor can. The empty assembly keeps
/// the compiler from knowing the numbers, and from dropping sums that nobody reads.
__attribute__((target("avx2,fma"))) double Peak256(std::size_t rounds) {
  __m256 sums[kChains];
  const __m256 factor = _mm256_set1_ps(0.999F);
#pragma GCC unroll 12
  for (std::size_t i = 0; i < kChains; ++i) {
    sums[i] = factor;
    asm volatile("" : "+x"(sums[i]));
  }
  const double start = ThreadSeconds();
  for (std::size_t round = 0; round < rounds; ++round) {
#pragma GCC unroll 12
    for (std::size_t i = 0; i < kChains; ++i) {
      sums[i] = _mm256_fmadd_ps(sums[i], factor, factor);
      asm volatile("" : "+x"(sums[i]));
    }
  }
  const double seconds = ThreadSeconds() - start;
  return static_cast<double>(rounds * kChains * 16) / seconds / kGiga;
}

/// The same with registers of twice the width.
__attribute__((target("avx512f"))) double Peak512(std::size_t rounds) {
  __m512 sums[kChains];
  const __m512 factor = _mm512_set1_ps(0.999F);
#pragma GCC unroll 12
  for (std::size_t i = 0; i < kChains; ++i) {
    sums[i] = factor;
    asm volatile("" : "+v"(sums[i]));
  }
  const double start = ThreadSeconds();
  for (std::size_t round = 0; round < rounds; ++round) {
#pragma GCC unroll 12
    for (std::size_t i = 0; i < kChains; ++i) {
      sums[i] = _mm512_fmadd_ps(sums[i], factor, factor);
      asm volatile("" : "+v"(sums[i]));
    }
  }
  const double seconds = ThreadSeconds() - start;
  return static_cast<double>(rounds * kChains * 32) / seconds / kGiga;
}

double Peak(std::size_t rounds) {
  const double narrow = Peak256(rounds);
  return __builtin_cpu_supports("avx512f") ? std::max(narrow, Peak512(rounds)) : narrow;
}
#else
double Peak(std::size_t /*rounds*/) {
  return kReferencePeak;
}
#endif

/// The most of several tries: nothing makes it look better than it is.
double Peak() {
  double peak = 0;
  for (int i = 0; i < 5; ++i) {
    peak = std::max(peak, Peak(1'000'000));
  }
  return peak;
}

/// A measured number beside its goal.
class Goals {
 public:
  void AtLeast(const std::string& name, double value, const char* unit, double goal) {
    Print(name, value, unit, ">=", goal, value >= goal);
  }
  void AtMost(const std::string& name, double value, const char* unit, double goal) {
    Print(name, value, unit, "<=", goal, value <= goal);
  }
  int status() const { return missed_ ? 1 : 0; }

 private:
  void Print(const std::string& name, double value, const char* unit, const char* relation,
             double goal, bool met) {
    std::printf("%-48s %8.2f %s", name.c_str(), value, unit);
    if (goal != 0) {
      std::printf("  (%s %.4g%s)", relation, goal, met ? "" : ": MISSED");
    }
    std::printf("\n");
    std::fflush(stdout);
    missed_ = missed_ || (goal != 0 && !met);
  }

  bool missed_ = false;
};

/// Memory of this process that no other shares, in megabytes.
double PrivateMegabytes() {
  std::ifstream file("/proc/self/smaps_rollup");
  std::string line;
  double kilobytes = 0;
  while (std::getline(file, line)) {
    if (line.starts_with("Private_Dirty:")) {
      kilobytes = std::stod(line.substr(sizeof("Private_Dirty:")));
    }
  }
  return kilobytes / 1e3;
}

std::string TextOf(const Model& model, std::size_t tokens) {
  std::string text;
  while (model.CountTokens(text) < tokens) {
    text += "river ";
  }
  return text;
}

/// Encodes texts of so many tokens each.
class Texts {
 public:
  Texts(Encoder& encoder, std::size_t tokens, std::size_t count)
      : encoder_(encoder),
        text_(TextOf(encoder.model(), tokens)),
        texts_(count, text_),
        out_(count * encoder.model().dimensions()) {}
  Texts(const Texts&) = delete;
  Texts& operator=(const Texts&) = delete;

  void Encode() { encoder_.Encode(texts_, out_); }

 private:
  Encoder& encoder_;
  std::string text_;
  std::vector<std::string_view> texts_;
  std::vector<float> out_;
};

/// Texts per second next to the reference's where the peak is what it is here. Both are measured in
/// turn, for as long each, so that what else the machine does slows both; the median of the ratios
/// counts.
void CompareTexts(Goals& goals, Encoder& encoder, std::size_t tokens, std::size_t count,
                  double reference) {
  Texts texts(encoder, tokens, count);
  texts.Encode();
  std::vector<double> rates;
  std::vector<double> ratios;
  for (std::size_t run = 0; run < kComparisons; ++run) {
    const double peak = Peak(kLongRounds);
    rates.push_back(static_cast<double>(count) / Seconds([&] { texts.Encode(); }));
    ratios.push_back(rates.back() / (reference * peak / kReferencePeak));
  }
  std::sort(rates.begin(), rates.end());
  std::sort(ratios.begin(), ratios.end());
  const std::string name = "texts of " + std::to_string(tokens) + " tokens";
  goals.AtLeast(name + ", to the reference, median", ratios[ratios.size() / 2], "times", 1);
  goals.AtLeast(name + ", median", rates[rates.size() / 2], "per second", 0);
  goals.AtLeast(name + ", best", rates.back(), "per second", 0);
}

double MultiplyShare(const Kernels& kernels, std::size_t rows, std::size_t inputs,
                     std::size_t outputs) {
  const std::vector<float> in(rows * inputs, 0.5F);
  const std::vector<float> bias(outputs, 0.5F);
  const std::vector<std::uint16_t> panels(inputs * outputs, 0x3000);
  std::vector<float> out(rows * outputs);
  std::vector<float> scratch(ai::model::ProductScratch(rows, inputs));
  const double peak = Peak();
  const double seconds = BestSeconds(31, [&] {
    kernels.multiply({in.data(), inputs, rows, inputs, panels.data(), bias.data(), outputs,
                      out.data(), outputs, scratch.data()});
  });
  return 2.0 * static_cast<double>(rows * inputs * outputs) / seconds / kGiga / peak;
}

/// The longest that one step takes.
double LongestStep(Encoder& encoder) {
  const std::string text = TextOf(encoder.model(), 199);
  const std::vector<std::string_view> texts(8, text);
  std::vector<float> out(texts.size() * encoder.model().dimensions());
  double longest = 0;
  encoder.Start(texts, out);
  for (bool done = false; !done;) {
    const double start = ThreadSeconds();
    done = encoder.Step();
    longest = std::max(longest, ThreadSeconds() - start);
  }
  return longest;
}

void MeasureMemory(Goals& goals, const std::shared_ptr<const Model>& model) {
  const double before = PrivateMegabytes();
  Encoder query(model);
  const std::string_view text = "where does the river end";
  std::vector<float> out(model->dimensions());
  query.Encode({&text, 1}, out);
  goals.AtMost("private memory for a query", PrivateMegabytes() - before, "MB", 5);
  Encoder worker(model);
  Texts(worker, 256, 20).Encode();
  goals.AtMost("private memory for a worker", PrivateMegabytes() - before, "MB", 40);
}

void MeasureTokenizer(Goals& goals, const Model& model) {
  std::string text;
  while (text.size() < 4'000'000) {
    text += "The quick brown fox, unbelievably lazy, jumps over 12 rivers in the afternoon. ";
  }
  std::size_t count = 0;
  const double seconds = BestSeconds(3, [&] { count += model.CountTokens(text); });
  goals.AtLeast("counting tokens", static_cast<double>(text.size()) / seconds / 1e6, "MB/s", 0);
  const std::string run(4'000'000, 'a');
  const double long_word = BestSeconds(3, [&] { count += model.CountTokens(run); });
  goals.AtMost("counting one long word, against the same of text", long_word / seconds, "times", 4);
}

}  // namespace

int main() {
  const std::string path = ai::test::ModelPath();
  if (access(path.c_str(), F_OK) != 0) {
    std::printf("the model is not in %s: run \"make model\"\n", path.c_str());
    return 1;
  }
  Goals goals;
  const Kernels& kernels = ai::model::BestKernels();
  const double peak = Peak();
  std::printf("kernels \"%.*s\", floating point peak of vectors %.1f GFLOP/s\n",
              static_cast<int>(kernels.name.size()), kernels.name.data(), peak);
  std::shared_ptr<const Model> model;
  goals.AtMost("opening", BestSeconds(kRuns, [&] { model = Model::Open(path); }) * 1e3, "ms", 5);
  MeasureMemory(goals, model);
  goals.AtLeast("product 72 x 384 x 1152, share of peak", MultiplyShare(kernels, 72, 384, 1152), "",
                0.7);
  goals.AtLeast("product 72 x 384 x 1536, share of peak", MultiplyShare(kernels, 72, 384, 1536), "",
                0.7);
  goals.AtLeast("product 72 x 1536 x 384, share of peak", MultiplyShare(kernels, 72, 1536, 384), "",
                0.7);
  Encoder encoder(model);
  CompareTexts(goals, encoder, 19, 13, 211);
  CompareTexts(goals, encoder, 199, 1, 15.5);
  Texts query(encoder, 7, 1);
  goals.AtMost("a query of 7 tokens", BestSeconds(kRuns, [&] { query.Encode(); }) * 1e3, "ms", 4);
  goals.AtMost("the longest step", LongestStep(encoder) * 1e3, "ms", 30);
  MeasureTokenizer(goals, *model);
  return goals.status();
}
