#include "worker/statements/ending.hpp"

#include "pg/column.hpp"

namespace ai::worker {

using pipeline::RowPtr;

namespace {

// $1 tids of the work table, $2 the lease, in all but one of these.
constexpr const char* kHeld = R"(
SELECT ctid AS tid FROM {work}
WHERE ctid OPERATOR(pg_catalog.=) ANY ($1) AND lease OPERATOR(pg_catalog.=) $2)";

// Skips the lookup while there are no dead letters.
constexpr const char* kComplete = R"(
WITH gone AS (
  DELETE FROM {work}
  WHERE ctid OPERATOR(pg_catalog.=) ANY ($1) AND lease OPERATOR(pg_catalog.=) $2 RETURNING *),
mended AS (
  DELETE FROM {failed} f USING gone g
  WHERE (SELECT pg_catalog.pg_relation_size({failed table})) OPERATOR(pg_catalog.>) 0
    AND {f matches g})
SELECT extract(epoch FROM pg_catalog.clock_timestamp() OPERATOR(pg_catalog.-) g.queued_at)
  ::pg_catalog.float8 AS lag FROM gone g)";

constexpr const char* kRelease = R"(
UPDATE {work} SET lease = NULL, retry_at = pg_catalog.now() OPERATOR(pg_catalog.+) $3
WHERE ctid OPERATOR(pg_catalog.=) ANY ($1) AND lease OPERATOR(pg_catalog.=) $2)";

constexpr const char* kReleaseAll = R"(
UPDATE {work} SET lease = NULL, retry_at = coalesce(retry_at, pg_catalog.now())
WHERE lease OPERATOR(pg_catalog.=) $1)";

constexpr const char* kRetry = R"(
UPDATE {work} SET lease = NULL, attempts = attempts OPERATOR(pg_catalog.+) 1,
  retry_at = pg_catalog.now() OPERATOR(pg_catalog.+) least($3 OPERATOR(pg_catalog.*)
    pg_catalog.power(2, least(attempts, 20)), interval '24 hours'), error = $4
WHERE ctid OPERATOR(pg_catalog.=) ANY ($1) AND lease OPERATOR(pg_catalog.=) $2)";

constexpr const char* kDeadLetter = R"(
WITH gone AS (
  DELETE FROM {work}
  WHERE ctid OPERATOR(pg_catalog.=) ANY ($1) AND lease OPERATOR(pg_catalog.=) $2 RETURNING *),
kept AS (
  INSERT INTO {failed} AS f ({key}, step, error, class, attempts)
  SELECT {key}, $3, $4, $5, g.attempts OPERATOR(pg_catalog.+) 1 FROM gone g
  ON CONFLICT ({key}) DO UPDATE SET step = excluded.step, error = excluded.error,
    class = excluded.class, attempts = excluded.attempts, failed_at = pg_catalog.now())
INSERT INTO ai._vectorizer_errors (id, message, details)
SELECT {id}, $4,
  pg_catalog.jsonb_build_object('step', $3, 'class', $5, 'key', {key as jsonb}) FROM gone g)";

}  // namespace

FindHeld::FindHeld(const StatementTexts& texts)
    : statement_(texts.Fill(kHeld), {TIDARRAYOID, UUIDOID}) {}

TidSet FindHeld::Execute(pg::Spi& spi, std::span<const RowPtr> rows, const pg_uuid_t& lease) {
  return TidSetFrom(statement_.Execute(spi, {TidDatums(rows).Array(), UUIDPGetDatum(&lease)}));
}

CompleteRows::CompleteRows(const StatementTexts& texts)
    : statement_(
          texts.Fill(kComplete, {{"failed table", std::to_string(texts.names.failed_table)}}),
          {TIDARRAYOID, UUIDOID}) {}

std::vector<double> CompleteRows::Execute(pg::Spi& spi, std::span<const RowPtr> rows,
                                          const pg_uuid_t& lease) {
  const pg::Rows ended = statement_.Execute(spi, {TidDatums(rows).Array(), UUIDPGetDatum(&lease)});
  const pg::Float8Column lag(ended, "lag");
  std::vector<double> lags;
  for (std::uint64_t i = 0; i < ended.count(); ++i) {
    lags.push_back(lag[i]);
  }
  return lags;
}

ReleaseRows::ReleaseRows(const StatementTexts& texts)
    : statement_(texts.Fill(kRelease), {TIDARRAYOID, UUIDOID, INTERVALOID}) {}

void ReleaseRows::Execute(pg::Spi& spi, std::span<const Tid> tids, const pg_uuid_t& lease,
                          std::chrono::milliseconds delay) {
  statement_.Execute(spi,
                     {TidDatums(tids).Array(), UUIDPGetDatum(&lease), pg::IntervalDatum(delay)});
}

ReleaseAllRows::ReleaseAllRows(const StatementTexts& texts)
    : statement_(texts.Fill(kReleaseAll), {UUIDOID}) {}

void ReleaseAllRows::Execute(pg::Spi& spi, const pg_uuid_t& lease) {
  statement_.Execute(spi, {UUIDPGetDatum(&lease)});
}

RetryRows::RetryRows(const StatementTexts& texts)
    : statement_(texts.Fill(kRetry), {TIDARRAYOID, UUIDOID, INTERVALOID, TEXTOID}) {}

void RetryRows::Execute(pg::Spi& spi, std::span<const Tid> tids, const pg_uuid_t& lease,
                        std::chrono::milliseconds delay, const Failure& failure) {
  statement_.Execute(spi, {TidDatums(tids).Array(), UUIDPGetDatum(&lease), pg::IntervalDatum(delay),
                           pg::MessageDatum(failure.message)});
}

DeadLetterRows::DeadLetterRows(const StatementTexts& texts)
    : statement_(texts.Fill(kDeadLetter, {{"id", std::to_string(texts.names.id)},
                                          {"key as jsonb", texts.names.key_as_jsonb}}),
                 {TIDARRAYOID, UUIDOID, TEXTOID, TEXTOID, TEXTOID}) {}

void DeadLetterRows::Execute(pg::Spi& spi, std::span<const Tid> tids, const pg_uuid_t& lease,
                             std::string_view step, const Failure& failure) {
  statement_.Execute(
      spi, {TidDatums(tids).Array(), UUIDPGetDatum(&lease), pg::TextDatum(step),
            pg::MessageDatum(failure.message), pg::TextDatum(Name(failure.failure_class))});
}

}  // namespace ai::worker
