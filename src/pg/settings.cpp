#include "pg/settings.hpp"

#include "pg/guard.hpp"

namespace ai::pg {

Settings settings;

namespace {

struct BoolSetting {
  const char* name;
  bool* value;
  bool initial;
  GucContext context;
  int flags;
  const char* summary;
  const char* detail;
};

constexpr BoolSetting kBoolSettings[] = {
    {"ai.preload_warning", &settings.preload_warning, true, PGC_USERSET, 0,
     "Warns when the library is loaded by a session instead of shared_preload_libraries.",
     "Without preloading there are no background workers and vectorizers wait. Turn it off where "
     "only the SQL functions are wanted."},
};

}  // namespace

void DefineSettings() {
  Call([] {
    for (const BoolSetting& s : kBoolSettings) {
      DefineCustomBoolVariable(s.name, s.summary, s.detail, s.value, s.initial, s.context, s.flags,
                               nullptr, nullptr, nullptr);
    }
    MarkGUCPrefixReserved("ai");
  });
}

}  // namespace ai::pg
