// What a row says about its priority.
#include "core/policy/row_priority.hpp"
#include "unit/catch_bridge.hpp"

using ai::policy::ClampPriority;
using ai::policy::RowPriority;

TEST_CASE("words are priorities, in any case and with blanks around them", "[policy]") {
  CHECK(RowPriority("critical") == 200);
  CHECK(RowPriority("urgent") == 200);
  CHECK(RowPriority("high") == 100);
  CHECK(RowPriority("low") == -100);
  CHECK(RowPriority("  HiGh   ") == 100);
}

TEST_CASE("whole numbers are priorities, as far as these go", "[policy]") {
  CHECK(RowPriority("7") == 7);
  CHECK(RowPriority("-7") == -7);
  CHECK(RowPriority("32768") == 32767);
  CHECK(RowPriority("-9223372036854775808") == -32768);
  CHECK(ClampPriority(1'000'000'000'000) == 32767);
  CHECK(ClampPriority(-40'000) == -32768);
  CHECK(ClampPriority(12) == 12);
}

TEST_CASE("all else is normal", "[policy]") {
  for (const char* word : {"", " ", "normal", "highest", "hig", "1.5", "7x", "+7", "0x10", "\xff",
                           "99999999999999999999999", "critical\t"}) {
    CAPTURE(word);
    CHECK(RowPriority(word) == 0);
  }
}
