// Ends the leases of rows that were not stored: released, retried, dead letters.
#include "worker/vectorizer/ending.hpp"

#include "core/utf8.hpp"
#include "pg/datum.hpp"
#include "pg/guard.hpp"
#include "pg/settings.hpp"
#include "worker/process/extension.hpp"
#include "worker/vectorizer/vectorizer.hpp"

namespace ai::worker {

using pipeline::RowPtr;
using pipeline::Step;

namespace {

void LogBackOff(const std::string& vectorizer, std::string_view step, const std::string& message,
                const std::string& hint) {
  pg::Call([&] {
    ereport(LOG,
            errmsg("ai: vectorizer \"%s\" backs off after an error in %.*s: %s", vectorizer.c_str(),
                   static_cast<int>(step.size()), step.data(), message.c_str()),
            hint.empty() ? 0 : errhint("%s", hint.c_str()));
  });
}

}  // namespace

Step<> Vectorizer::Release(std::span<const RowPtr> rows, std::chrono::milliseconds delay) {
  return Attempt([&] {
    EndLeases(rows, [&](pg::Spi& spi, std::span<const Tid> tids) {
      statements().release.Execute(spi, tids, lease(), delay);
    });
  });
}

Step<> Vectorizer::ReleaseUnread(std::size_t keep) {
  return Attempt([&] {
    const auto rest = std::span<const Tid>(unread_).subspan(std::min(keep, unread_.size()));
    WorkTransaction transaction;
    {
      CheckWorkTable();
      pg::Spi spi;
      statements().release.Execute(spi, rest, lease(), std::chrono::milliseconds(0));
    }
    transaction.Commit();
    unread_.resize(std::min(keep, unread_.size()));
  });
}

/// A work table that was not renamed was dropped, with its rows.
Step<> Vectorizer::ReleaseAll() {
  unread_.clear();
  scan_ = {};
  auto released = Attempt([&] {
    WorkTransaction transaction;
    {
      pg::Spi spi;
      statements().release_all.Execute(spi, lease());
    }
    transaction.Commit();
  });
  if (!released && released.failure().error == pipeline::StepError::kOther && !HasWorkTable()) {
    return pipeline::StepFailure(pipeline::StepError::kDropped, released.failure().message);
  }
  return released;
}

Step<> Vectorizer::Retry(std::span<const RowPtr> rows, std::string_view step,
                         const Failure& failure) {
  std::vector<RowPtr> again;
  std::vector<RowPtr> over;
  for (const RowPtr& row : rows) {
    (row->attempts + 1 < definition.max_attempts ? again : over).push_back(row);
  }
  const auto retried = Attempt([&] {
    const std::chrono::milliseconds delay(pg::settings.retry_delay);
    EndLeases(again, [&](pg::Spi& spi, std::span<const Tid> tids) {
      statements().retry.Execute(spi, tids, lease(), delay, failure);
    });
  });
  return retried ? DeadLetter(over, step, failure) : retried;
}

Step<> Vectorizer::DeadLetter(std::span<const RowPtr> rows, std::string_view step,
                              const Failure& failure) {
  return Attempt([&] {
    EndLeases(rows, [&](pg::Spi& spi, std::span<const Tid> tids) {
      statements().dead_letter.Execute(spi, tids, lease(), step, failure);
    });
  });
}

/// Runs body with the tids of rows in a transaction, unless there are none.
void Vectorizer::EndLeases(std::span<const RowPtr> rows,
                           const std::function<void(pg::Spi&, std::span<const Tid>)>& body) {
  if (rows.empty()) {
    return;
  }
  std::vector<Tid> tids;
  for (const RowPtr& row : rows) {
    tids.push_back(row->tid);
  }
  WorkTransaction transaction;
  {
    CheckWorkTable();
    pg::Spi spi;
    body(spi, tids);
  }
  transaction.Commit();
}

bool Vectorizer::HasWorkTable() const {
  WorkTransaction transaction;
  const bool exists =
      pg::Call([this] { return SearchSysCacheExists1(RELOID, ObjectIdGetDatum(definition.work)); });
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
        {INT4OID, Int32GetDatum(vectorizer)}, {TEXTOID, pg::MessageDatum(failure.message)},
        {TEXTOID, pg::TextDatum(step)},       {TEXTOID, pg::TextDatum(Name(failure.failure_class))},
        {TEXTOID, pg::TextDatum(lease)},      {TEXTOID, pg::MessageDatum(failure.hint), no_hint}};
    const pg::Rows rows = spi.Execute(
        "SELECT n AS vectorizer, $2 AS message, $6 AS hint "
        "FROM ai._record_error($1, $2, $3, $4, $5::pg_catalog.uuid, $6) n WHERE n IS NOT NULL",
        arguments);
    if (rows.count() > 0) {
      LogBackOff(rows.TextAt(0, "vectorizer").value(), step, rows.TextAt(0, "message").value(),
                 rows.TextAt(0, "hint").value_or(""));
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
                                      {TEXTOID, pg::MessageDatum(failure.message)},
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
