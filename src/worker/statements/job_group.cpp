#include "worker/statements/job_group.hpp"

namespace ai::worker {

Datum UuidsDatum(std::span<const Uuid> uuids) {
  std::vector<Datum> elements;
  elements.reserve(uuids.size());
  for (const Uuid& uuid : uuids) {
    elements.push_back(UuidDatum(uuid));
  }
  return pg::ArrayDatum(UUIDOID, elements);
}

std::vector<Uuid> IdsFrom(const pg::Rows& rows) {
  const UuidColumn id(rows, "id");
  std::vector<Uuid> ids;
  ids.reserve(rows.count());
  for (std::uint64_t i = 0; i < rows.count(); ++i) {
    ids.push_back(id[i]);
  }
  return ids;
}

}  // namespace ai::worker
