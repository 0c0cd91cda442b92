// Watches the statements of our background processes, and of sessions that ask for it, and writes
// each distinct one to the file ai_security.jsonl in the data directory: process, role, whether it
// runs with the rights of an owner as a security-restricted operation, whether the process sent it
// or a function ran it, the text, and what is wrong with its names.
//
// The process itself sends what is analysed while no other statement is planned or runs. What is
// analysed meanwhile comes from a function.
#include <fcntl.h>
#include <unistd.h>

#include "findings.hpp"

extern "C" {
#include "common/hashfn.h"
#include "optimizer/planner.h"
#include "parser/analyze.h"
#include "utils/json.h"

PG_MODULE_MAGIC;

PGDLLEXPORT void _PG_init();
}

namespace {

constexpr const char* kFile = "ai_security.jsonl";

post_parse_analyze_hook_type next_analyze = nullptr;
planner_hook_type next_planner = nullptr;
ExecutorStart_hook_type next_start = nullptr;
ExecutorRun_hook_type next_run = nullptr;
ExecutorFinish_hook_type next_finish = nullptr;
ProcessUtility_hook_type next_utility = nullptr;

bool watch_session = false;
int depth = 0;        // statements that are planned or run
bool noting = false;  // what the check itself needs is not watched

template <typename Fn>
void Deeper(Fn&& run) {
  ++depth;
  PG_TRY();
  { run(); }
  PG_FINALLY();
  { --depth; }
  PG_END_TRY();
}

const char* ProcessKind() {
  if (MyBgworkerEntry != nullptr && std::strncmp(MyBgworkerEntry->bgw_type, "ai ", 3) == 0) {
    return MyBgworkerEntry->bgw_type;
  }
  return watch_session ? "session" : nullptr;
}

/// Whether this process has not noted this before.
bool IsNew(const char* line, int length) {
  static HTAB* seen = nullptr;
  if (seen == nullptr) {
    HASHCTL control = {};
    control.keysize = sizeof(uint64);
    control.entrysize = sizeof(uint64);
    seen = hash_create("ai security", 1024, &control, HASH_ELEM | HASH_BLOBS);
  }
  const uint64 key = hash_bytes_extended(reinterpret_cast<const unsigned char*>(line), length, 0);
  bool found = false;
  hash_search(seen, &key, HASH_ENTER, &found);
  return !found;
}

void AppendString(StringInfo line, const char* name, const char* value) {
  appendStringInfo(line, "%s\"%s\": ", line->len > 1 ? ", " : "", name);
  escape_json(line, value);
}

void AppendFindings(StringInfo line, const List* findings) {
  ListCell* cell = nullptr;
  appendStringInfoString(line, ", \"findings\": [");
  foreach (cell, findings) {
    appendStringInfoString(line, foreach_current_index(cell) > 0 ? ", " : "");
    escape_json(line, static_cast<const char*>(lfirst(cell)));
  }
  appendStringInfoString(line, "]}\n");
}

/// One write, so that the lines of several processes do not mix.
void Write(const StringInfoData& line) {
  const int file = open(kFile, O_WRONLY | O_APPEND | O_CREAT, 0600);
  if (file < 0 || write(file, line.data, line.len) != line.len) {
    ereport(WARNING, errcode_for_file_access(), errmsg("could not write to \"%s\": %m", kFile));
  }
  if (file >= 0) {
    close(file);
  }
}

void Note(const char* kind, const char* text, Query* query) {
  StringInfoData line;
  initStringInfo(&line);
  appendStringInfoChar(&line, '{');
  AppendString(&line, "process", kind);
  AppendString(&line, "role", GetUserNameFromId(GetUserId(), true));
  AppendString(&line, "restricted", InSecurityRestrictedOperation() ? "yes" : "no");
  AppendString(&line, "sent by", depth == 0 ? "process" : "function");
  AppendString(&line, "text", text);
  if (IsNew(line.data, line.len)) {
    List* findings = depth == 0 ? security::NamesInText(text, security::Names::kQualified) : NIL;
    List* meant = query == nullptr ? NIL : security::NamesInQuery(query);
    AppendFindings(&line, list_concat(findings, meant));
    Write(line);
  }
}

/// The query is null for a command that is run without analysis.
void Look(const char* text, Query* query) {
  const char* kind = ProcessKind();
  if (kind == nullptr || noting || text == nullptr) {
    return;
  }
  if (depth == 0 && std::strcmp(kind, "session") == 0) {
    return;  // what a user sends is the user's affair
  }
  noting = true;
  PG_TRY();
  { Note(kind, text, query); }
  PG_FINALLY();
  { noting = false; }
  PG_END_TRY();
}

void OnAnalyze(ParseState* state, Query* query, JumbleState* jumble) {
  if (next_analyze != nullptr) {
    next_analyze(state, query, jumble);
  }
  Look(state->p_sourcetext, query);
}

PlannedStmt* OnPlan(Query* query, const char* text, int options, ParamListInfo parameters) {
  PlannedStmt* planned = nullptr;
  Deeper([&] {
    planned = next_planner != nullptr ? next_planner(query, text, options, parameters)
                                      : standard_planner(query, text, options, parameters);
  });
  return planned;
}

void OnStart(QueryDesc* description, int flags) {
  Deeper([&] {
    next_start != nullptr ? next_start(description, flags)
                          : standard_ExecutorStart(description, flags);
  });
}

#if PG_VERSION_NUM >= 180000
void OnRun(QueryDesc* description, ScanDirection direction, uint64 count) {
  Deeper([&] {
    next_run != nullptr ? next_run(description, direction, count)
                        : standard_ExecutorRun(description, direction, count);
  });
}
#else
void OnRun(QueryDesc* description, ScanDirection direction, uint64 count, bool once) {
  Deeper([&] {
    next_run != nullptr ? next_run(description, direction, count, once)
                        : standard_ExecutorRun(description, direction, count, once);
  });
}
#endif

void OnFinish(QueryDesc* description) {
  Deeper([&] {
    next_finish != nullptr ? next_finish(description) : standard_ExecutorFinish(description);
  });
}

void OnUtility(PlannedStmt* statement, const char* text, bool read_only,
               ProcessUtilityContext context, ParamListInfo parameters,
               QueryEnvironment* environment, DestReceiver* destination,
               QueryCompletion* completion) {
  if (depth == 0) {
    Look(text, nullptr);
  }
  Deeper([&] {
    next_utility != nullptr
        ? next_utility(statement, text, read_only, context, parameters, environment, destination,
                       completion)
        : standard_ProcessUtility(statement, text, read_only, context, parameters, environment,
                                  destination, completion);
  });
}

text* Joined(const List* findings) {
  StringInfoData lines;
  ListCell* cell = nullptr;
  initStringInfo(&lines);
  foreach (cell, findings) {
    appendStringInfo(&lines, "%s%s", lines.len > 0 ? ", " : "",
                     static_cast<const char*>(lfirst(cell)));
  }
  return cstring_to_text_with_len(lines.data, lines.len);
}

}  // namespace

extern "C" {

// security_names(statement text, in_catalog boolean) RETURNS text: what the parser's check finds;
// names of pg_catalog are let pass on request.
PGDLLEXPORT Datum security_names(PG_FUNCTION_ARGS);
PG_FUNCTION_INFO_V1(security_names);
Datum security_names(PG_FUNCTION_ARGS) {
  const char* statement = text_to_cstring(PG_GETARG_TEXT_PP(0));
  PG_RETURN_TEXT_P(Joined(security::NamesInText(
      statement, PG_GETARG_BOOL(1) ? security::Names::kCatalog : security::Names::kQualified)));
}

void _PG_init() {
  DefineCustomBoolVariable("ai_security.watch", "Whether this session is watched, too.", nullptr,
                           &watch_session, false, PGC_USERSET, 0, nullptr, nullptr, nullptr);
  next_analyze = std::exchange(post_parse_analyze_hook, OnAnalyze);
  next_planner = std::exchange(planner_hook, OnPlan);
  next_start = std::exchange(ExecutorStart_hook, OnStart);
  next_run = std::exchange(ExecutorRun_hook, OnRun);
  next_finish = std::exchange(ExecutorFinish_hook, OnFinish);
  next_utility = std::exchange(ProcessUtility_hook, OnUtility);
}
}
