// A group of jobs: those of a role with one embedding configuration.
#pragma once

#include <array>
#include <cstdint>
#include <tuple>
#include <vector>

#include "core/pipeline/row.hpp"
#include "pg/column.hpp"

namespace ai::worker {

using pipeline::Uuid;
static_assert(sizeof(Uuid) == UUID_LEN);

struct JobGroup {
  Oid role = InvalidOid;
  Uuid config = {};

  bool operator<(const JobGroup& other) const {
    return std::tie(role, config) < std::tie(other.role, other.config);
  }
};

/// A uuid datum, valid as long as what it points to; and the uuid of a datum.
inline Datum UuidDatum(const Uuid& uuid) {
  return PointerGetDatum(uuid.data());
}
inline Uuid UuidAt(Datum datum) {
  Uuid uuid;
  std::memcpy(uuid.data(), DatumGetUUIDP(datum)->data, uuid.size());
  return uuid;
}

/// A uuid[].
Datum UuidsDatum(std::span<const Uuid> uuids);

using UuidColumn = pg::Column<Uuid, UuidAt, UUIDOID>;

/// The column id of a result.
std::vector<Uuid> IdsFrom(const pg::Rows& rows);

}  // namespace ai::worker
