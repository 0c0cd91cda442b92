// Chance without chance: a seeded sequence, and one that a test writes down.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <random>
#include <stdexcept>
#include <vector>

#include "core/random.hpp"

namespace ai::test {

class SeededRandom final : public Random {
 public:
  explicit SeededRandom(std::uint64_t seed) : engine_(seed) {}
  double Uniform() override { return static_cast<double>(engine_() >> 11) * 0x1.0p-53; }

 private:
  std::mt19937_64 engine_;
};

/// Answers with the numbers given, in order; one question more than answers fails the test.
class ScriptedRandom final : public Random {
 public:
  ScriptedRandom(std::initializer_list<double> script) : script_(script) {}

  double Uniform() override {
    if (next_ == script_.size()) {
      throw std::logic_error("ScriptedRandom: the script has ended");
    }
    return script_[next_++];
  }

  std::size_t asked() const { return next_; }

 private:
  std::vector<double> script_;
  std::size_t next_ = 0;
};

}  // namespace ai::test
