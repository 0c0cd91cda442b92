// The entry point of the unit-test runner. Alone in its file because Catch2 version 2 compiles its
// whole implementation where CATCH_CONFIG_RUNNER is defined; version 3 ignores the macro.
#define CATCH_CONFIG_RUNNER
#include "unit/catch_bridge.hpp"

int main(int argc, char* argv[]) {
  return Catch::Session().run(argc, argv);
}
