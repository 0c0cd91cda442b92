// Resolves the name of a vectorizer to its id.
#pragma once

#include <cstdint>

#include "pg/postgres.hpp"

namespace ai::pg {

/// The id of the vectorizer with that name, a text value. Raises PostgreSQL's error if there is
/// none: call it through Call where C++ objects live. Needs the rights of the extension's owner.
std::int32_t VectorizerIdOf(const NullableDatum& name);

}  // namespace ai::pg
