// A short, seeded run of the fuzz targets; the long one is in test/fuzz.
#include <string_view>

#include "fuzz/langchain_fuzz.hpp"
#include "fuzz/seeded.hpp"
#include "fuzz/semchunk_fuzz.hpp"
#include "fuzz/sentence_fuzz.hpp"
#include "unit/catch_bridge.hpp"

namespace {

constexpr int kInputs = 1500;

void Run(void (*entry)(std::string_view)) {
  ai::fuzz::SeededInputs inputs(20240501);
  for (int i = 0; i < kInputs; ++i) {
    const std::string bytes = inputs.Next();
    CAPTURE(i);
    REQUIRE_NOTHROW(entry(bytes));
  }
}

}  // namespace

TEST_CASE("the character splitter does what its model does", "[splitter][fuzz]") {
  Run(ai::fuzz::FuzzCharacter);
}

TEST_CASE("the recursive splitter does what its model does", "[splitter][fuzz]") {
  Run(ai::fuzz::FuzzRecursive);
}

TEST_CASE("the sentence chunker does what its model does", "[splitter][fuzz]") {
  Run(ai::fuzz::FuzzSentence);
}

TEST_CASE("the semantic splitter does what its model does", "[splitter][fuzz]") {
  Run(ai::fuzz::FuzzSemchunk);
}
