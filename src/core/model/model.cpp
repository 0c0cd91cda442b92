#include "core/model/model.hpp"

#include <sys/stat.h>

#include <cstring>
#include <utility>

#include "core/model/model_directory.hpp"

namespace ai::model {
namespace {

bool IsDirectory(const std::string& path) {
  struct stat status = {};
  return stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

template <std::size_t kSize>
std::string_view Field(const char (&field)[kSize]) {
  return {field, strnlen(field, kSize)};
}

}  // namespace

std::shared_ptr<const Model> Model::Open(const std::string& path) {
  if (IsDirectory(path)) {
    return std::make_shared<const Model>(PackedModel::Own(PackDirectory(path), path));
  }
  return std::make_shared<const Model>(PackedModel::Map(path));
}

Model::Model(PackedModel packed)
    : packed_(std::move(packed)), tokenizer_(packed_.vocabulary(), packed_.rules()) {}

std::string_view Model::name() const {
  return Field(packed_.header().name);
}

std::string_view Model::source() const {
  return Field(packed_.header().source);
}

std::string_view Model::Prefix(Purpose purpose) const {
  switch (purpose) {
    case Purpose::kQuery:
      return Field(packed_.header().query_prefix);
    case Purpose::kPassage:
      return Field(packed_.header().passage_prefix);
    case Purpose::kNone:
      break;
  }
  return {};
}

std::vector<TokenId> Model::Tokenize(std::string_view text, InterruptCheck pending) const {
  std::vector<TokenId> ids;
  tokenizer_.Tokenize({}, text, max_tokens(), ids, pending);
  return ids;
}

std::size_t Model::CountTokens(std::string_view text, InterruptCheck pending) const {
  return tokenizer_.Count(text, pending);
}

}  // namespace ai::model
