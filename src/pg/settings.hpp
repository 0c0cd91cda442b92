// The settings `ai.*`: their values, and their registration from one table (settings.cpp).
#pragma once

namespace ai::pg {

/// PostgreSQL writes these; we only read them. The table in settings.cpp has every default.
struct Settings {
  bool preload_warning;
};

extern Settings settings;

/// Registers all settings. Called once, when the library is loaded.
void DefineSettings();

}  // namespace ai::pg
