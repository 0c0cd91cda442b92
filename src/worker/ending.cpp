// Ending the hold on rows that were not written: given back, to be tried again, given up.
#include "worker/ending.hpp"

#include "core/text/utf8.hpp"
#include "pg/datum.hpp"
#include "pg/guard.hpp"
#include "pg/settings.hpp"
#include "worker/extension.hpp"
#include "worker/vectorizer.hpp"

namespace ai::worker {

using pipeline::RowPtr;
using pipeline::Step;

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

}  // namespace

Step<> Vectorizer::Release(std::span<const RowPtr> rows, std::chrono::milliseconds delay) {
  return Attempt([&] {
    EndLeases(rows, [&](pg::Spi& spi, Datum tids) {
      statements().give_back.Execute(spi, {tids, lease(), pg::IntervalDatum(delay)});
    });
  });
}

Step<> Vectorizer::ReleaseUnread(std::size_t keep) {
  return Attempt([&] {
    const std::span<const Tid> unread(unread_);
    const TidDatums rest(unread.subspan(std::min(keep, unread.size())));
    WorkTransaction transaction;
    {
      CheckWorkTable();
      pg::Spi spi;
      statements().give_back.Execute(
          spi, {rest.Array(), lease(), pg::IntervalDatum(std::chrono::milliseconds(0))});
    }
    transaction.Commit();
    unread_.resize(std::min(keep, unread_.size()));
  });
}

/// A work table that has no other name is gone, with the rows in it.
Step<> Vectorizer::ReleaseAll() {
  unread_.clear();
  scan_ = {};
  auto released = Attempt([&] {
    WorkTransaction transaction;
    {
      pg::Spi spi;
      statements().give_back_all.Execute(spi, {lease()});
    }
    transaction.Commit();
  });
  if (!released && released.failure().trouble == pipeline::StepTrouble::kOther && !HasWorkTable()) {
    return pipeline::StepFailure(pipeline::StepTrouble::kDropped, released.failure().message);
  }
  return released;
}

Step<> Vectorizer::Retry(std::span<const RowPtr> rows, std::string_view step,
                         const Failure& failure) {
  std::vector<RowPtr> again;
  std::vector<RowPtr> over;
  for (const RowPtr& row : rows) {
    (row->attempts + 1 < max_attempts() ? again : over).push_back(row);
  }
  const auto retried = Attempt([&] {
    const std::chrono::milliseconds delay(pg::settings.retry_delay);
    EndLeases(again, [&](pg::Spi& spi, Datum tids) {
      statements().try_again.Execute(
          spi, {tids, lease(), pg::IntervalDatum(delay), MessageDatum(failure)});
    });
  });
  return retried ? DeadLetter(over, step, failure) : retried;
}

Step<> Vectorizer::DeadLetter(std::span<const RowPtr> rows, std::string_view step,
                              const Failure& failure) {
  return Attempt([&] {
    EndLeases(rows, [&](pg::Spi& spi, Datum tids) {
      statements().fail.Execute(spi, {tids, lease(), pg::TextDatum(step), MessageDatum(failure),
                                      pg::TextDatum(Name(failure.failure_class))});
    });
  });
}

/// Runs body with the tids of rows in a transaction, unless there are none.
void Vectorizer::EndLeases(std::span<const RowPtr> rows,
                           const std::function<void(pg::Spi&, Datum)>& body) {
  if (rows.empty()) {
    return;
  }
  const TidDatums tids(rows);
  WorkTransaction transaction;
  {
    CheckWorkTable();
    pg::Spi spi;
    body(spi, tids.Array());
  }
  transaction.Commit();
}

bool Vectorizer::HasWorkTable() const {
  WorkTransaction transaction;
  const bool exists =
      pg::Call([this] { return SearchSysCacheExists1(RELOID, ObjectIdGetDatum(work)); });
  transaction.Commit();
  return exists;
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

void RecordOpenBreaker(std::int32_t vectorizer, const std::string& lease,
                       const pipeline::Opening& opening) {
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
