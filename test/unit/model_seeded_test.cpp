// A short run of the fuzz target of the WordPiece tokenizer; make fuzz has the long one.
#include <string>

#include "fuzz/seeded.hpp"
#include "fuzz/wordpiece_fuzz.hpp"
#include "unit/catch_bridge.hpp"

TEST_CASE("the WordPiece tokenizer survives random input", "[model][fuzz]") {
  const ai::fuzz::WordPieceFuzz fuzz;
  ai::fuzz::SeededInputs inputs(1);
  for (int i = 0; i < 500; ++i) {
    const std::string bytes = inputs.Next();
    CAPTURE(i);
    REQUIRE_NOTHROW(fuzz.Run(bytes));
  }
}
