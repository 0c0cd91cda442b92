// Ending the hold on rows that were not written: given back, to be tried again, given up.
#include "worker/ending.hpp"

#include "core/text/utf8.hpp"
#include "pg/datum.hpp"
#include "pg/guard.hpp"
#include "pg/settings.hpp"
#include "worker/extension.hpp"
#include "worker/lane.hpp"
#include "worker/places.hpp"
#include "worker/vectorizer.hpp"

namespace ai::worker {
namespace {

Datum MessageDatum(const Failure& failure) {
  return pg::MessageDatum(utf8::Clip(failure.message, kMostMessage));
}

void LogRest(const std::string& vectorizer, std::string_view step, const std::string& message,
             const std::string& hint) {
  pg::Call([&] {
    ereport(LOG,
            errmsg("ai: vectorizer \"%s\" cannot go on with %.*s: %s", vectorizer.c_str(),
                   static_cast<int>(step.size()), step.data(), message.c_str()),
            hint.empty() ? 0 : errhint("%s", hint.c_str()));
  });
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

void Vectorizer::GiveBack(Lane& lane, Datum lease, std::span<const RowPtr> rows,
                          std::chrono::milliseconds delay) {
  InTransaction(lane, rows.size(), [&](pg::Spi& spi) {
    const std::vector<Place> places = PlacesOf(rows);
    statements().give_back.Execute(spi, {PlacesDatum(places), lease, pg::IntervalDatum(delay)});
  });
}

void Vectorizer::GiveBackAll(Datum lease) {
  WorkTransaction transaction;
  {
    pg::Spi spi;
    statements().give_back_all.Execute(spi, {lease});
  }
  transaction.Commit();
}

void Vectorizer::TryAgain(Lane& lane, Datum lease, std::span<const RowPtr> rows,
                          std::string_view step, const Failure& failure) {
  std::vector<RowPtr> again;
  std::vector<RowPtr> over;
  for (const RowPtr& row : rows) {
    (row->attempts + 1 < max_attempts() ? again : over).push_back(row);
  }
  InTransaction(lane, again.size(), [&](pg::Spi& spi) {
    const std::vector<Place> places = PlacesOf(again);
    const std::chrono::milliseconds delay(pg::settings.retry_delay);
    statements().try_again.Execute(
        spi, {PlacesDatum(places), lease, pg::IntervalDatum(delay), MessageDatum(failure)});
  });
  GiveUp(lane, lease, over, step, failure);
}

void Vectorizer::GiveUp(Lane& lane, Datum lease, std::span<const RowPtr> rows,
                        std::string_view step, const Failure& failure) {
  InTransaction(lane, rows.size(), [&](pg::Spi& spi) {
    const std::vector<Place> places = PlacesOf(rows);
    statements().fail.Execute(
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
        {TEXTOID, pg::TextDatum(lease)},      {TEXTOID, pg::MessageDatum(failure.hint), no_hint}};
    const pg::Rows rows = spi.Execute(
        "SELECT n, $2, $6 FROM ai._record_error($1, $2, $3, $4, $5::pg_catalog.uuid, $6) n "
        "WHERE n IS NOT NULL",
        arguments);
    if (rows.count() > 0) {
      LogRest(rows.TextAt(0, 0).value(), step, rows.TextAt(0, 1).value(),
              rows.TextAt(0, 2).value_or(""));
    }
  }
  transaction.Commit();
}

void RecordOpenBreaker(std::int32_t vectorizer, const std::string& lease, const Opening& opening) {
  const Failure& failure = opening.failure;
  WorkTransaction transaction;
  {
    pg::Spi spi;
    const pg::Argument arguments[] = {{INT4OID, Int32GetDatum(vectorizer)},
                                      {TEXTOID, MessageDatum(failure)},
                                      {TEXTOID, pg::TextDatum(Name(failure.failure_class))},
                                      {TEXTOID, pg::TextDatum(lease)},
                                      {TEXTOID, pg::MessageDatum(failure.hint)},
                                      {TIMESTAMPTZOID, TimestampTzGetDatum(opening.since)}};
    spi.Execute("SELECT ai._record_open_breaker($1, $2, $3, $4::pg_catalog.uuid, $5, $6)",
                arguments);
  }
  transaction.Commit();
}

}  // namespace ai::worker
