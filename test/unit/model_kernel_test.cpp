// Every variant of the kernels that this processor can run, against plain sums in double precision.
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "core/model/half.hpp"
#include "core/model/kernels.hpp"
#include "unit/catch_bridge.hpp"

using namespace ai::model;  // NOLINT: everything here is about it

namespace {

std::vector<float> RandomFloats(std::size_t count, std::uint64_t seed, double scale = 1) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal(0, scale);
  std::vector<float> values(count);
  for (float& value : values) {
    value = static_cast<float>(normal(random));
  }
  return values;
}

double Gelu(double x) {
  return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0)));
}

void CheckProduct(const Kernels& kernels, std::size_t rows, std::size_t inputs, std::size_t outputs,
                  Activation activation, Target target) {
  const std::size_t in_stride = inputs + 3;
  const std::size_t out_stride = outputs + 5;
  const std::vector<float> in = RandomFloats(rows * in_stride, 1);
  const std::vector<float> bias = RandomFloats(outputs, 2);
  std::vector<std::uint16_t> panels;
  for (const float value : RandomFloats(inputs * outputs, 3, 0.2)) {
    panels.push_back(ToHalf(value));
  }
  const std::vector<float> before = RandomFloats(rows * out_stride, 4);
  std::vector<float> out = before;
  std::vector<float> scratch(ProductScratch(rows, inputs));
  kernels.multiply({in.data(), in_stride, rows, inputs, panels.data(), bias.data(), outputs,
                    out.data(), out_stride, scratch.data(), activation, target});
  double worst = 0;
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t output = 0; output < out_stride; ++output) {
      const std::size_t at = row * out_stride + output;
      if (output >= outputs) {
        CHECK(out[at] == before[at]);
        continue;
      }
      double sum = bias[output];
      const std::size_t panel = output / kPanelWidth * kPanelWidth * inputs + output % kPanelWidth;
      for (std::size_t k = 0; k < inputs; ++k) {
        sum += double{in[row * in_stride + k]} * FromHalf(panels[panel + k * kPanelWidth]);
      }
      sum = activation == Activation::kGelu ? Gelu(sum) : sum;
      sum += target == Target::kAdd ? before[at] : 0;
      worst = std::max(worst, std::fabs(sum - out[at]));
    }
  }
  // Tiles multiply numbers of 16 bits.
  CHECK(worst < (kernels.name == "amx" ? 1e-4 : 1e-5));
}

void CheckAttention(const Kernels& kernels, std::size_t tokens, std::size_t width, double scale) {
  const std::size_t stride = 3 * width + 1;
  const std::vector<float> before = RandomFloats(tokens * stride, tokens, scale);
  std::vector<float> rows = before;
  std::vector<float> scratch(AttentionScratch(tokens, width));
  kernels.attend({rows.data(), rows.data() + width, rows.data() + 2 * width, stride, tokens, width,
                  scratch.data()});
  double worst = 0;
  for (std::size_t i = 0; i < tokens; ++i) {
    std::vector<double> scores(tokens);
    double greatest = -1e300;
    for (std::size_t j = 0; j < tokens; ++j) {
      for (std::size_t k = 0; k < width; ++k) {
        scores[j] += double{before[i * stride + k]} * before[j * stride + width + k] /
                     std::sqrt(static_cast<double>(width));
      }
      greatest = std::max(greatest, scores[j]);
    }
    double sum = 0;
    for (double& score : scores) {
      score = std::exp(score - greatest);
      sum += score;
    }
    for (std::size_t k = 0; k < width; ++k) {
      double expected = 0;
      for (std::size_t j = 0; j < tokens; ++j) {
        expected += scores[j] / sum * before[j * stride + 2 * width + k];
      }
      worst = std::max(worst, std::fabs(expected - rows[i * stride + k]));
    }
    CHECK(rows[i * stride + width] == before[i * stride + width]);
  }
  CHECK(worst < 1e-4);
}

}  // namespace

TEST_CASE("16-bit floats are read and written exactly", "[model]") {
  for (std::uint32_t bits = 0; bits < 65536; ++bits) {
    const auto half = static_cast<std::uint16_t>(bits);
    const float value = FromHalf(half);
    if (std::isnan(value)) {
      CHECK((ToHalf(value) & 0x7FFF) > 0x7C00);
    } else if (ToHalf(value) != half) {
      FAIL("half " << bits);
    }
  }
  CHECK(FromHalf(0x3C00) == 1.0F);
  CHECK(FromHalf(0xC000) == -2.0F);
  CHECK(FromHalf(0x0001) == 0x1p-24F);
  CHECK(FromHalf(0x7BFF) == 65504.0F);
  CHECK(ToHalf(65519.9F) == 0x7BFF);
  CHECK(ToHalf(65520.0F) == 0x7C00);
  CHECK(ToHalf(1.0F + 0x1p-11F) == 0x3C00);  // a tie goes to the even one
  CHECK(ToHalf(1.0F + 0x3p-11F) == 0x3C02);
  CHECK(ToHalf(0x1p-25F) == 0);
  CHECK(ToHalf(0x1.8p-25F) == 1);
}

TEST_CASE("kernels: products", "[model]") {
  for (const Kernels* const kernels : RunnableKernels()) {
    CAPTURE(kernels->name);
    for (std::size_t rows = 1; rows <= 20; ++rows) {
      CAPTURE(rows);
      CheckProduct(*kernels, rows, 33, 48, Activation::kNone, Target::kReplace);
      CheckProduct(*kernels, rows, 16, 16, Activation::kGelu, Target::kReplace);
      CheckProduct(*kernels, rows, 7, 32, Activation::kNone, Target::kAdd);
    }
    for (const std::size_t rows : {31, 32, 33, 48, 49, 64, 100}) {
      CAPTURE(rows);
      CheckProduct(*kernels, rows, 32, 32, Activation::kGelu, Target::kReplace);
      CheckProduct(*kernels, rows, 96, 64, Activation::kNone, Target::kAdd);
      CheckProduct(*kernels, rows, 64, 48, Activation::kNone, Target::kReplace);
    }
  }
}

TEST_CASE("kernels: the activation is right everywhere", "[model]") {
  for (const Kernels* const kernels : RunnableKernels()) {
    CAPTURE(kernels->name);
    const std::vector<std::uint16_t> panel(kPanelWidth, ToHalf(1));
    const std::vector<float> bias(kPanelWidth);
    std::vector<float> scratch(ProductScratch(1, 1));
    double worst = 0;
    for (int step = -4000; step <= 4000; ++step) {
      const double x = 0.003 * step;
      const auto in = static_cast<float>(x);
      std::vector<float> out(kPanelWidth);
      kernels->multiply({&in, 1, 1, 1, panel.data(), bias.data(), kPanelWidth, out.data(),
                         kPanelWidth, scratch.data(), Activation::kGelu, Target::kReplace});
      worst = std::max(worst, std::fabs(out[3] - Gelu(in)));
    }
    CHECK(worst < 3e-6);
  }
}

TEST_CASE("kernels: attention", "[model]") {
  for (const Kernels* const kernels : RunnableKernels()) {
    CAPTURE(kernels->name);
    for (std::size_t tokens = 1; tokens <= 40; ++tokens) {
      CAPTURE(tokens);
      CheckAttention(*kernels, tokens, 32, 1);
    }
    CheckAttention(*kernels, 130, 16, 1);
    CheckAttention(*kernels, 30, 64, 8);  // scores that differ by hundreds
  }
}

TEST_CASE("kernels: normalization and embeddings", "[model]") {
  for (const Kernels* const kernels : RunnableKernels()) {
    CAPTURE(kernels->name);
    const std::size_t width = 48;
    const std::vector<float> before = RandomFloats(3 * width, 9, 5);
    const std::vector<float> weight = RandomFloats(width, 10);
    const std::vector<float> bias = RandomFloats(width, 11);
    std::vector<float> rows = before;
    kernels->normalize({rows.data(), 2, width, weight.data(), bias.data(), 0.1F});
    for (std::size_t row = 0; row < 2; ++row) {
      double mean = 0;
      double squares = 0;
      for (std::size_t k = 0; k < width; ++k) {
        mean += before[row * width + k] / static_cast<double>(width);
      }
      for (std::size_t k = 0; k < width; ++k) {
        squares += std::pow(before[row * width + k] - mean, 2) / static_cast<double>(width);
      }
      for (std::size_t k = 0; k < width; ++k) {
        const double expected =
            (before[row * width + k] - mean) / std::sqrt(squares + 0.1) * weight[k] + bias[k];
        CHECK(std::fabs(rows[row * width + k] - expected) < 1e-5);
      }
    }
    CHECK(rows[2 * width] == before[2 * width]);

    // Every finite 16-bit float, also the subnormal ones.
    std::vector<std::uint16_t> halves;
    for (std::uint32_t bits = 0; bits < 65536; ++bits) {
      const auto half = static_cast<std::uint16_t>(bits);
      halves.push_back(std::isfinite(FromHalf(half)) ? half : 0);
    }
    std::vector<float> sums(halves.size(), 0.0F);
    kernels->add_halves(halves.data(), halves.size(), sums.data());
    for (std::size_t i = 0; i < halves.size(); ++i) {
      if (sums[i] != FromHalf(halves[i])) {
        FAIL("half " << halves[i]);
      }
    }
  }
}

TEST_CASE("kernels: the plain ones run everywhere and come first", "[model]") {
  REQUIRE_FALSE(RunnableKernels().empty());
  CHECK(RunnableKernels().front()->name == "plain");
  CHECK(&BestKernels() == RunnableKernels().back());
}
