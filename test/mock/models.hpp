// models.hpp: which models the providers know, and how long their vectors are.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mock/settings.hpp"

namespace ai::mock {

enum class Vendor { kOpenAi, kOllama, kVoyage, kCohere };

/// Which dimensions may be asked for instead of a model's own.
enum class Sizes { kOwn, kUpToOwn, kVoyage, kCohere, kAny };

struct Model {
  std::string name;
  size_t dimensions;
  Sizes sizes;

  bool Offers(size_t wanted) const;
};

/// The model of that name: one of the vendor's own, one of the settings, or "mock-<n>", which every
/// vendor has and whose vectors have n dimensions.
std::optional<Model> FindModel(Vendor vendor, std::string_view name, const Settings& settings);

/// The vendor's own models and those of the settings.
std::vector<Model> ListModels(Vendor vendor, const Settings& settings);

}  // namespace ai::mock
