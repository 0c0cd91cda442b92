// The embedded model of this process: opened when it is first needed, mapped once, shared with all
// other processes.
#pragma once

#include "core/model/encoder.hpp"
#include "core/model/model.hpp"
#include "pg/postgres.hpp"

namespace ai::pg {

/// The one that scripts/model installs.
inline constexpr const char* kDefaultLocalModel = "all-MiniLM-L6-v2";

/// The model of that name from the directory `ai` below the server's share directory; or that of
/// the setting ai.model_path, whatever its name. Throws ai::Error naming what is expected and how
/// to get it.
std::shared_ptr<const model::Model> OpenLocalModel(std::string_view name);

/// The same, with an error if it is another one than a configuration names, or if its vectors have
/// other dimensions.
std::shared_ptr<const model::Model> OpenLocalModel(std::string_view name, std::int64_t dimensions);

}  // namespace ai::pg
