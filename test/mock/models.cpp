// models.cpp: which models the providers know, and how long their vectors are.
#include "mock/models.hpp"

#include <array>
#include <charconv>

#include "mock/vectors.hpp"

namespace ai::mock {

namespace {

struct Known {
  Vendor vendor;
  std::string_view name;
  size_t dimensions;
  Sizes sizes;
};

constexpr std::array kKnown{
    Known{Vendor::kOpenAi, "text-embedding-3-small", 1536, Sizes::kUpToOwn},
    Known{Vendor::kOpenAi, "text-embedding-3-large", 3072, Sizes::kUpToOwn},
    Known{Vendor::kOpenAi, "text-embedding-ada-002", 1536, Sizes::kOwn},
    Known{Vendor::kOllama, "nomic-embed-text", 768, Sizes::kUpToOwn},
    Known{Vendor::kOllama, "mxbai-embed-large", 1024, Sizes::kUpToOwn},
    Known{Vendor::kOllama, "all-minilm", 384, Sizes::kUpToOwn},
    Known{Vendor::kOllama, "bge-m3", 1024, Sizes::kUpToOwn},
    Known{Vendor::kVoyage, "voyage-3-large", 1024, Sizes::kVoyage},
    Known{Vendor::kVoyage, "voyage-3.5", 1024, Sizes::kVoyage},
    Known{Vendor::kVoyage, "voyage-3.5-lite", 1024, Sizes::kVoyage},
    Known{Vendor::kVoyage, "voyage-3", 1024, Sizes::kOwn},
    Known{Vendor::kVoyage, "voyage-3-lite", 512, Sizes::kOwn},
    Known{Vendor::kVoyage, "voyage-code-3", 1024, Sizes::kVoyage},
    Known{Vendor::kVoyage, "voyage-2", 1024, Sizes::kOwn},
    Known{Vendor::kCohere, "embed-v4.0", 1536, Sizes::kCohere},
    Known{Vendor::kCohere, "embed-english-v3.0", 1024, Sizes::kOwn},
    Known{Vendor::kCohere, "embed-english-light-v3.0", 384, Sizes::kOwn},
    Known{Vendor::kCohere, "embed-multilingual-v3.0", 1024, Sizes::kOwn},
    Known{Vendor::kCohere, "embed-multilingual-light-v3.0", 384, Sizes::kOwn},
};

constexpr std::string_view kNumberedPrefix = "mock-";

std::optional<Model> FindNumbered(std::string_view name) {
  if (!name.starts_with(kNumberedPrefix)) {
    return std::nullopt;
  }
  const std::string_view number = name.substr(kNumberedPrefix.size());
  size_t dimensions = 0;
  const auto [end, error] =
      std::from_chars(number.data(), number.data() + number.size(), dimensions);
  if (error != std::errc() || end != number.data() + number.size() || dimensions == 0 ||
      dimensions > kMaxDimensions) {
    return std::nullopt;
  }
  return Model{std::string(name), dimensions, Sizes::kAny};
}

constexpr std::string_view kLatestTag = ":latest";

}  // namespace

bool Model::Offers(size_t wanted) const {
  switch (sizes) {
    case Sizes::kOwn:
      return wanted == dimensions;
    case Sizes::kUpToOwn:
      return wanted >= 1 && wanted <= dimensions;
    case Sizes::kVoyage:
      return wanted == 256 || wanted == 512 || wanted == 1024 || wanted == 2048;
    case Sizes::kCohere:
      return wanted == 256 || wanted == 512 || wanted == 1024 || wanted == 1536;
    case Sizes::kAny:
      return wanted >= 1 && wanted <= kMaxDimensions;
  }
  return false;
}

std::optional<Model> FindModel(Vendor vendor, std::string_view name, const Settings& settings) {
  if (vendor == Vendor::kOllama && name.ends_with(kLatestTag)) {
    name.remove_suffix(kLatestTag.size());
  }
  const auto added = settings.models.find(name);
  if (added != settings.models.end()) {
    return Model{added->first, added->second, Sizes::kAny};
  }
  for (const Known& known : kKnown) {
    if (known.vendor == vendor && known.name == name) {
      return Model{std::string(name), known.dimensions, known.sizes};
    }
  }
  return FindNumbered(name);
}

std::vector<Model> ListModels(Vendor vendor, const Settings& settings) {
  std::vector<Model> models;
  for (const Known& known : kKnown) {
    if (known.vendor == vendor) {
      models.push_back({std::string(known.name), known.dimensions, known.sizes});
    }
  }
  for (const auto& [name, dimensions] : settings.models) {
    models.push_back({name, dimensions, Sizes::kAny});
  }
  return models;
}

}  // namespace ai::mock
