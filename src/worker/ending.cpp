#include "worker/ending.hpp"

#include "core/text/utf8.hpp"
#include "pg/datum.hpp"
#include "pg/guard.hpp"
#include "worker/extension.hpp"
#include "worker/places.hpp"
#include "worker/take.hpp"

namespace ai::worker {
namespace {

constexpr std::size_t kMostMessage = 2000;

Datum MessageDatum(const Failure& failure) {
  return pg::TextDatum(utf8::Clip(failure.message, kMostMessage));
}

/// Runs body with a Spi in a transaction, unless there is nothing to do it for.
template <typename Body>
void InTransaction(Lane& lane, std::size_t rows, const Body& body) {
  if (rows == 0) {
    return;
  }
  WorkTransaction transaction;
  {
    CheckPlaces(lane);
    pg::Spi spi;
    body(spi);
  }
  transaction.Commit();
}

}  // namespace

void GiveBackRows(Lane& lane, Datum lease, std::span<const Place> places,
                  std::chrono::milliseconds delay) {
  InTransaction(lane, places.size(), [&](pg::Spi& spi) {
    lane.vectorizer->statements().give_back.Execute(
        spi, {PlacesDatum(places), lease, pg::IntervalDatum(delay)});
  });
}

void GiveBackAll(Vectorizer& vectorizer, Datum lease) {
  WorkTransaction transaction;
  {
    pg::Spi spi;
    vectorizer.statements().give_back_all.Execute(spi, {lease});
  }
  transaction.Commit();
}

void TryAgain(Lane& lane, Datum lease, std::span<const RowPtr> rows, std::string_view step,
              const Failure& failure, std::chrono::milliseconds base) {
  std::vector<Place> again;
  std::vector<Place> over;
  for (const RowPtr& row : rows) {
    (row->attempts + 1 < lane.vectorizer->max_attempts() ? again : over).push_back(row->place);
  }
  InTransaction(lane, again.size(), [&](pg::Spi& spi) {
    lane.vectorizer->statements().try_again.Execute(
        spi, {PlacesDatum(again), lease, pg::IntervalDatum(base), MessageDatum(failure)});
  });
  GiveUp(lane, lease, over, step, failure);
}

void GiveUp(Lane& lane, Datum lease, std::span<const Place> places, std::string_view step,
            const Failure& failure) {
  InTransaction(lane, places.size(), [&](pg::Spi& spi) {
    lane.vectorizer->statements().fail.Execute(
        spi, {PlacesDatum(places), lease, pg::TextDatum(step), MessageDatum(failure),
              pg::TextDatum(Name(failure.failure_class))});
  });
}

void RecordError(std::int32_t vectorizer, const std::string& lease, std::string_view step,
                 const Failure& failure) {
  const bool no_hint = failure.hint.empty();
  WorkTransaction transaction;
  {
    pg::Spi spi;
    const pg::Argument arguments[] = {
        {INT4OID, Int32GetDatum(vectorizer)}, {TEXTOID, MessageDatum(failure)},
        {TEXTOID, pg::TextDatum(step)},       {TEXTOID, pg::TextDatum(Name(failure.failure_class))},
        {TEXTOID, pg::TextDatum(lease)},      {TEXTOID, pg::TextDatum(failure.hint), no_hint}};
    spi.Execute(
        "WITH recorded AS (INSERT INTO ai._vectorizer_errors (id, message, details) "
        "SELECT v.id, $2, pg_catalog.jsonb_strip_nulls(pg_catalog.jsonb_build_object("
        "'step', $3, 'class', $4, 'hint', $6)) "
        "FROM ai.vectorizer v WHERE v.id = $1 RETURNING id) "
        "SELECT ai._worker_progress($5::uuid, r.id, 0, $2) FROM recorded r",
        arguments);
  }
  transaction.Commit();
}

}  // namespace ai::worker
