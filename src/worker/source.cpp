#include "worker/source.hpp"

#include "core/provider/registry.hpp"
#include "pg/datum.hpp"
#include "pg/local_model.hpp"
#include "pg/provider_access.hpp"
#include "pg/token_tables.hpp"

namespace ai::worker {
namespace {

constexpr std::size_t kDefaultBatchSize = 200;
/// The embedded model gains nothing by more, and what is done is stored sooner.
constexpr std::size_t kDefaultLocalBatchSize = 32;
constexpr std::size_t kDefaultConcurrency = 50;

}  // namespace

void Source::OpenModel() {
  if (embedding().GetString("implementation") == "local") {
    local_model_ = pg::OpenLocalModel(model(), embedding().GetInteger("dimensions"));
  } else {
    provider_ = provider::MakeProvider(embedding(), pg::ProviderEnvironment());
    encoding_ = pg::FindModelEncoding(model());
  }
  batch_size_ = local_model_ != nullptr ? kDefaultLocalBatchSize : kDefaultBatchSize;
  concurrency_ = kDefaultConcurrency;
  vector_type = pg::VectorType();
}

}  // namespace ai::worker
