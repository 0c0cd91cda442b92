// What each new embedding job needs and SQL computes too slowly: a time-ordered id (PostgreSQL has
// uuidv7() from 18 on), and the hash of its text.
#include "core/policy/content_hash.hpp"
#include "core/utf8.hpp"
#include "pg/datum.hpp"
#include "pg/guard.hpp"
#include "pg/settings.hpp"

namespace {

/// Milliseconds since 1970 and twelve bits of the time within one. Never the same twice in a
/// process, and never less than before.
std::uint64_t NextTime() {
  static std::uint64_t last = 0;
  constexpr TimestampTz kEpochs =
      TimestampTz{POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE} * USECS_PER_DAY;
  const auto micros = static_cast<std::uint64_t>(GetCurrentTimestamp() + kEpochs);
  return last = std::max(last + 1, micros / 1000 << 12 | micros % 1000 * 4096 / 1000);
}

/// Version 7 of RFC 9562: the time, then random bits.
pg_uuid_t* NewId() {
  auto* id = static_cast<pg_uuid_t*>(palloc(sizeof(pg_uuid_t)));
  const std::uint64_t time = NextTime();
  // Not a secret; and the server seeds this well in each process.
  const std::uint64_t halves[] = {
      pg_hton64(time >> 12 << 16 | std::uint64_t{7} << 12 | (time & 0xfff)),
      pg_hton64(pg_prng_uint64(&pg_global_prng_state) >> 2 | std::uint64_t{2} << 62)};
  static_assert(sizeof(halves) == UUID_LEN);
  std::memcpy(id->data, halves, UUID_LEN);
  return id;
}

}  // namespace

AI_FUNCTION(ai_new_job_id) {
  return UUIDPGetDatum(ai::pg::Call([] { return NewId(); }));
}

// The hash of a text, in 32 hexadecimal digits; raises an error if it contains only whitespace.
AI_FUNCTION(ai_text_hash) {
  constexpr char kDigits[] = "0123456789abcdef";
  const std::string_view text = ai::pg::Utf8View(PG_GETARG_DATUM(0));
  if (ai::utf8::Strip(text).empty()) {
    throw ai::Error(ai::ErrorCode::kInvalidParameter, "cannot embed an empty text",
                    "The text is empty or contains only whitespace.");
  }
  const std::size_t most = static_cast<std::size_t>(ai::pg::settings.max_text_size) << 10;
  if (text.size() > most) {
    throw ai::Error(ai::ErrorCode::kLimitExceeded,
                    "text has " + std::to_string(text.size()) +
                        " bytes, more than ai.max_text_size (" +
                        std::to_string(ai::pg::settings.max_text_size) + " kB)",
                    {}, "Shorten the text: a model reads a few thousand words at most.");
  }
  static const ai::policy::TextHasher hasher;
  std::array<char, 2 * sizeof(ai::policy::ContentHash)> digits;
  auto* digit = digits.data();
  for (const std::uint8_t byte : hasher({text})) {
    *digit++ = kDigits[byte >> 4];
    *digit++ = kDigits[byte & 15];
  }
  return ai::pg::TextDatum({digits.data(), digits.size()});
}
