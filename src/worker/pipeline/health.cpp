#include "worker/pipeline/health.hpp"

#include <charconv>

#include "core/json/document.hpp"
#include "core/json/writer.hpp"
#include "pg/column.hpp"
#include "pg/guard.hpp"
#include "pg/settings.hpp"
#include "worker/process/process.hpp"

namespace ai::worker {

namespace {

constexpr std::string_view kWorkerPrefix = "worker:vectorizer:";

pg::Argument Text(const std::string& value) {
  return {TEXTOID, pg::TextDatum(value)};
}

pg::Argument MyPid() {
  return {INT4OID, Int32GetDatum(MyProcPid)};
}

/// Runs a statement and ignores its result.
void Run(const char* sql, std::initializer_list<pg::Argument> arguments) {
  WithExtension([&](pg::Spi& spi) { spi.Execute(sql, std::span(arguments)); });
}

int NumberOf(const std::string& component) {
  int number = -1;
  if (component.starts_with(kWorkerPrefix)) {
    const char* end = component.data() + component.size();
    std::from_chars(component.data() + kWorkerPrefix.size(), end, number);
  }
  return number;
}

policy::CrashHistory ReadCrashes(const json::Value& details) {
  std::vector<WallTime> times;
  if (const auto crashes = details.Find("crashes")) {
    for (const json::Value& seconds : crashes->items()) {
      times.emplace_back(std::chrono::duration_cast<WallTime::duration>(
          std::chrono::duration<double>(seconds.AsDouble())));
    }
  }
  return policy::CrashHistory(std::move(times));
}

std::string WriteCrashes(const policy::CrashHistory& crashes) {
  std::string text;
  json::Writer writer(text);
  writer.BeginArray();
  for (const WallTime when : crashes.times()) {
    writer.Double(std::chrono::duration<double>(when.time_since_epoch()).count());
  }
  writer.EndArray();
  return text;
}

/// From the columns component, status and details.
WorkerRecord ReadRecord(const pg::Rows& rows, std::uint64_t row) {
  WorkerRecord record;
  record.component = rows.TextAt(row, "component").value();
  record.number = NumberOf(record.component);
  record.status = rows.TextAt(row, "status").value();
  const auto details =
      json::Document::Parse(pg::JsonText(rows.At(row, rows.Find("details")).value()));
  record.restart = details.root().GetBool("restart", false);
  record.crashes = ReadCrashes(details.root());
  return record;
}

std::string DetailsOf(const Heartbeat& beat) {
  std::string text;
  json::Writer writer(text);
  writer.BeginObject().Key("queue_type").String("vectorizer");
  writer.Key("process").String(beat.process);
  writer.Key("rows").Integer(static_cast<std::int64_t>(beat.in_progress.rows));
  writer.Key("requests").Integer(static_cast<std::int64_t>(beat.in_progress.requests));
  writer.EndObject();
  return text;
}

}  // namespace

std::string ComponentName(int number) {
  return std::string(kWorkerPrefix) + std::to_string(number);
}

bool Register(pg::Spi& spi, const std::string& process) {
  const pg::Argument arguments[] = {Text(MyComponent()), MyPid(), Text(process)};
  const pg::Rows rows = spi.Execute(
      "SELECT ai._worker_register($1, $2, pg_catalog.jsonb_build_object('process', $3))",
      arguments);
  return DatumGetBool(*rows.At(0, 0));
}

HeartbeatResult SendHeartbeat(const Heartbeat& beat) {
  HeartbeatResult result;
  const pipeline::Tally& tally = beat.tally;
  const auto job = beat.in_progress.queue;
  result.extension =
      WithExtension([&](pg::Spi& spi) {
        const std::string job_text =
            job.value_or(0) == 0 ? "embedding jobs" : "vectorizer/" + std::to_string(*job);
        const bool has_error = !tally.last_error.empty();
        const pg::Argument arguments[] = {
            Text(MyComponent()),
            MyPid(),
            {TEXTOID, job ? pg::TextDatum(job_text) : Datum{0}, !job},
            {JSONBOID, pg::JsonbDatum(DetailsOf(beat))},
            Text(beat.process),
            {INT8OID, Int64GetDatum(tally.rows_done)},
            {INT8OID, Int64GetDatum(tally.errors)},
            {TEXTOID, has_error ? pg::MessageDatum(tally.last_error) : Datum{0}, !has_error},
        };
        const pg::Rows rows = spi.Execute(
            "SELECT ai._worker_beat($1, $2, $3, $4, $5::pg_catalog.uuid, $6, $7, $8)", arguments);
        result.is_known = DatumGetBool(*rows.At(0, 0));
      }).presence;
  return result;
}

void NoteStopping() {
  Run("UPDATE ai.worker w SET status = 'stopping', last_seen = pg_catalog.clock_timestamp() "
      "WHERE w.component OPERATOR(pg_catalog.=) $1 AND w.pid OPERATOR(pg_catalog.=) $2 "
      "AND w.status OPERATOR(pg_catalog.=) ANY ('{starting,healthy}')",
      {Text(MyComponent()), MyPid()});
}

void NoteStopped() {
  Run("DELETE FROM ai.worker w WHERE w.component OPERATOR(pg_catalog.=) $1 "
      "AND w.pid OPERATOR(pg_catalog.=) $2 AND w.status OPERATOR(pg_catalog.=) 'stopping'",
      {Text(MyComponent()), MyPid()});
}

std::vector<WorkerRecord> ReadWorkers() {
  std::vector<WorkerRecord> workers;
  WithExtension([&](pg::Spi& spi) {
    const pg::Rows rows = spi.Execute(
        "SELECT w.component, w.status, w.details FROM ai.worker w "
        "WHERE ai._is_supervised(w.component)");
    for (std::uint64_t i = 0; i < rows.count(); ++i) {
      workers.push_back(ReadRecord(rows, i));
    }
  });
  return workers;
}

CoordinatorHeartbeat HeartbeatAsCoordinator() {
  CoordinatorHeartbeat beat;
  WithExtension([&](pg::Spi& spi) {
    const pg::Argument arguments[] = {MyPid(),
                                      {INT4OID, Int32GetDatum(pg::settings.worker_timeout)}};
    const pg::Rows rows = spi.Execute(
        "SELECT b.component, b.status, b.details, b.is_silent "
        "FROM ai._coordinator_beat($1, $2 OPERATOR(pg_catalog.*) interval '1 millisecond') b",
        arguments);
    const pg::BoolColumn is_silent(rows, "is_silent");
    for (std::uint64_t i = 0; i < rows.count(); ++i) {
      if (is_silent[i]) {
        beat.silent.push_back(rows.TextAt(i, "component").value());
      } else {
        beat.workers.push_back(ReadRecord(rows, i));
      }
    }
  });
  return beat;
}

void MarkCrashed(const std::string& component, const Crash& crash) {
  WithExtension([&](pg::Spi& spi) {
    const pg::Argument arguments[] = {Text(component),
                                      Text(crash.why),
                                      {JSONBOID, pg::JsonbDatum(WriteCrashes(crash.crashes))},
                                      {BOOLOID, BoolGetDatum(crash.process_is_gone)}};
    spi.Execute(
        "UPDATE ai.worker w SET status = 'crashed', current_job = NULL, "
        "pid = CASE WHEN NOT $4 THEN w.pid END, "
        "details = w.details OPERATOR(pg_catalog.||) "
        "pg_catalog.jsonb_build_object('error_message', $2, 'crashes', $3) "
        "WHERE w.component OPERATOR(pg_catalog.=) $1 "
        "AND w.status OPERATOR(pg_catalog.=) ANY ('{starting,healthy,stopping}')",
        arguments);
    if (crash.failed) {
      spi.Execute(
          "UPDATE ai.worker w SET status = 'failed' WHERE w.component OPERATOR(pg_catalog.=) $1 "
          "AND w.status OPERATOR(pg_catalog.=) 'crashed'",
          std::span(arguments, 1));
    }
  });
}

/// A row with status healthy or stopping is left from a process that could not remove it.
void MarkStarting(const std::string& component, bool restarted) {
  WithExtension([&](pg::Spi& spi) {
    const pg::Argument arguments[] = {Text(component), {BOOLOID, BoolGetDatum(restarted)}};
    spi.Execute(
        "UPDATE ai.worker w SET status = 'crashed' WHERE w.component OPERATOR(pg_catalog.=) $1 "
        "AND w.status OPERATOR(pg_catalog.=) ANY ('{healthy,stopping}')",
        std::span(arguments, 1));
    spi.Execute(
        "INSERT INTO ai.worker AS w (component, status) VALUES ($1, 'starting') "
        "ON CONFLICT ON CONSTRAINT worker_pkey DO UPDATE SET status = 'starting', pid = NULL, "
        "current_job = NULL, last_seen = pg_catalog.clock_timestamp(), "
        "details = w.details OPERATOR(pg_catalog.-) 'restart', "
        "restart_count = w.restart_count OPERATOR(pg_catalog.+) CASE WHEN $2 THEN 1 ELSE 0 END, "
        "last_restart = CASE WHEN $2 THEN pg_catalog.clock_timestamp() ELSE w.last_restart END",
        arguments);
  });
}

void MarkGone(const std::string& component) {
  Run("UPDATE ai.worker w SET pid = NULL WHERE w.component OPERATOR(pg_catalog.=) $1 "
      "AND w.status OPERATOR(pg_catalog.=) ANY ('{crashed,failed}')",
      {Text(component)});
}

/// A row can only be removed from status crashed, see ai._worker_transitions.
void Forget(const std::string& component) {
  WithExtension([&](pg::Spi& spi) {
    const pg::Argument arguments[] = {Text(component)};
    spi.Execute(
        "UPDATE ai.worker w SET status = 'crashed' WHERE w.component OPERATOR(pg_catalog.=) $1 "
        "AND w.status OPERATOR(pg_catalog.=) ANY ('{starting,healthy,stopping}')",
        arguments);
    spi.Execute("DELETE FROM ai.worker w WHERE w.component OPERATOR(pg_catalog.=) $1", arguments);
  });
}

}  // namespace ai::worker
