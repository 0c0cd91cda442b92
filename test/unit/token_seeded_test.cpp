// A short run of the fuzz target of tokens; make fuzz has the long one.
#include <string>

#include "fuzz/seeded.hpp"
#include "fuzz/token_fuzz.hpp"
#include "unit/catch_bridge.hpp"

TEST_CASE("tokens survive random input", "[token][fuzz]") {
  const ai::fuzz::TokenFuzz fuzz;
  ai::fuzz::SeededInputs inputs(1);
  for (int i = 0; i < 800; ++i) {
    const std::string bytes = inputs.Next();
    CAPTURE(i);
    REQUIRE_NOTHROW(fuzz.Run(bytes));
  }
}
