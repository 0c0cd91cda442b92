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
/// the setting ai.model_path, whatever its name. Throws ai::Error that names the missing file and
/// how to install it.
std::shared_ptr<const model::Model> OpenLocalModel(std::string_view name);

/// The same; throws if its name or number of dimensions differs from the configuration.
std::shared_ptr<const model::Model> OpenLocalModel(std::string_view name, std::int64_t dimensions);

}  // namespace ai::pg
