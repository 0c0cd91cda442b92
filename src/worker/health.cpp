#include "worker/health.hpp"

#include <charconv>

#include "core/json/document.hpp"
#include "core/json/writer.hpp"
#include "pg/datum.hpp"
#include "pg/guard.hpp"
#include "pg/settings.hpp"
#include "worker/process.hpp"

namespace ai::worker {

namespace {

constexpr std::string_view kWorkerPrefix = "worker:vectorizer:";

pg::Argument Text(const std::string& value) {
  return {TEXTOID, pg::TextDatum(value)};
}

pg::Argument MyPid() {
  return {INT4OID, Int32GetDatum(MyProcPid)};
}

/// A statement that returns nothing of interest.
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
  record.component = rows.TextAt(row, 0).value();
  record.number = NumberOf(record.component);
  record.status = rows.TextAt(row, 1).value();
  const auto details = json::Document::Parse(pg::JsonText(rows.At(row, 2).value()));
  record.restart = details.root().GetBool("restart", false);
  record.crashes = ReadCrashes(details.root());
  return record;
}

std::string DetailsOf(const Heartbeat& beat) {
  std::string text;
  json::Writer writer(text);
  writer.BeginObject().Key("queue_type").String("vectorizer");
  writer.Key("process").String(beat.process);
  writer.Key("rows").Integer(static_cast<std::int64_t>(beat.in_hand.rows));
  writer.Key("requests").Integer(static_cast<std::int64_t>(beat.in_hand.requests));
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

BeatResult Beat(const Heartbeat& beat) {
  BeatResult result;
  const pipeline::Tally& tally = beat.tally;
  const auto job = beat.in_hand.queue;
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
  Run("SELECT ai._worker_stopping($1, $2)", {Text(MyComponent()), MyPid()});
}

void NoteStopped() {
  Run("SELECT ai._worker_stopped($1, $2)", {Text(MyComponent()), MyPid()});
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

CoordinatorBeat BeatAsCoordinator() {
  CoordinatorBeat beat;
  WithExtension([&](pg::Spi& spi) {
    const pg::Argument arguments[] = {MyPid(),
                                      {INT4OID, Int32GetDatum(pg::settings.worker_timeout)}};
    const pg::Rows rows = spi.Execute(
        "SELECT b.component, b.status, b.details, b.is_silent "
        "FROM ai._coordinator_beat($1, $2 OPERATOR(pg_catalog.*) interval '1 millisecond') b",
        arguments);
    for (std::uint64_t i = 0; i < rows.count(); ++i) {
      if (DatumGetBool(*rows.At(i, 3))) {
        beat.silent.push_back(rows.TextAt(i, 0).value());
      } else {
        beat.workers.push_back(ReadRecord(rows, i));
      }
    }
  });
  return beat;
}

void MarkCrashed(const std::string& component, const Crash& crash) {
  Run("SELECT ai._worker_crashed($1, $2, $3, $4, $5)",
      {Text(component),
       Text(crash.why),
       {JSONBOID, pg::JsonbDatum(WriteCrashes(crash.crashes))},
       {BOOLOID, BoolGetDatum(crash.process_is_gone)},
       {BOOLOID, BoolGetDatum(crash.failed)}});
}

void MarkStarting(const std::string& component, bool restarted) {
  Run("SELECT ai._worker_starting($1, $2)", {Text(component), {BOOLOID, BoolGetDatum(restarted)}});
}

void MarkGone(const std::string& component) {
  Run("SELECT ai._worker_gone($1)", {Text(component)});
}

void Forget(const std::string& component) {
  Run("SELECT ai._worker_forget($1)", {Text(component)});
}

}  // namespace ai::worker
