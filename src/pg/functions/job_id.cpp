// Ids of embedding jobs. PostgreSQL has uuidv7() from 18 on.
#include "pg/guard.hpp"

namespace {

constexpr int kTimeBytes = 6;

/// Version 7 of RFC 9562: milliseconds since 1970, then random bits.
pg_uuid_t* NewId() {
  auto* id = static_cast<pg_uuid_t*>(palloc(sizeof(pg_uuid_t)));
  if (!pg_strong_random(id->data, UUID_LEN)) {
    ereport(ERROR, errcode(ERRCODE_INTERNAL_ERROR), errmsg("could not generate random values"));
  }
  constexpr TimestampTz kEpochs =
      TimestampTz{POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE} * USECS_PER_DAY;
  const auto milliseconds = static_cast<std::uint64_t>((GetCurrentTimestamp() + kEpochs) / 1000);
  for (int i = 0; i < kTimeBytes; ++i) {
    id->data[i] = static_cast<unsigned char>(milliseconds >> (8 * (kTimeBytes - 1 - i)));
  }
  id->data[6] = (id->data[6] & 0x0f) | 0x70;
  id->data[8] = (id->data[8] & 0x3f) | 0x80;
  return id;
}

}  // namespace

AI_FUNCTION(ai_new_job_id) {
  return UUIDPGetDatum(ai::pg::Call([] { return NewId(); }));
}
