#include "pg/local_model.hpp"

#include "pg/settings.hpp"
#include "pg/token_tables.hpp"

namespace ai::pg {
namespace {

std::string PathOf(std::string_view name) {
  std::string set = StringSetting("ai.model_path");
  if (!set.empty()) {
    return set;
  }
  // A name must not lead out of the directory.
  if (name.empty() || name.find('/') != std::string_view::npos || name[0] == '.') {
    throw ai::Error(ErrorCode::kInvalidParameter,
                    "\"" + std::string(name) + "\" is not the name of an embedded model", {},
                    "The default is \"" + std::string(kDefaultLocalModel) +
                        "\"; others are named in ai.model_path.");
  }
  return TokenTableDirectory() + "/" + std::string(name) + ".model";
}

}  // namespace

std::shared_ptr<const model::Model> OpenLocalModel(std::string_view name) {
  static auto* open = new std::pair<std::string, std::shared_ptr<const model::Model>>();
  const std::string path = PathOf(name);
  if (open->second == nullptr || open->first != path) {
    open->second = model::Model::Open(path);
    open->first = path;
  }
  return open->second;
}

std::shared_ptr<const model::Model> OpenLocalModel(std::string_view name, std::int64_t dimensions) {
  auto opened = OpenLocalModel(name);
  if (opened->name() != name) {
    throw ai::Error(ErrorCode::kInvalidParameter,
                    "the embedded model is \"" + std::string(opened->name()) + "\", not \"" +
                        std::string(name) + "\"",
                    "Vectors of two models cannot be compared.",
                    "Name the model of ai.model_path in the configuration, or reset that setting.");
  }
  if (dimensions != 0 && static_cast<std::size_t>(dimensions) != opened->dimensions()) {
    throw ai::Error(ErrorCode::kInvalidParameter,
                    "model \"" + std::string(opened->name()) + "\" has " +
                        std::to_string(opened->dimensions()) + " dimensions, not " +
                        std::to_string(dimensions));
  }
  return opened;
}

}  // namespace ai::pg
