// Statements that carry a secret, hidden from the server's log. See secret.hpp.
//
// INVARIANT: plain C. This runs while an error is being reported, so it must not fail: what it
// allocates is in the memory of that report.
#include "pg/guard.hpp"
#include "pg/secret/secret.hpp"

namespace ai::pg {
namespace {

emit_log_hook_type next_hook = nullptr;

constexpr const char* kHidden = " (hidden)";

/// The beginning of a text and a mark that something was left out, in the memory of the report,
/// which frees it. Null if there is no memory.
char* Clipped(ErrorData* report, const char* text, std::size_t kept) {
  auto* clipped = static_cast<char*>(MemoryContextAllocExtended(
      report->assoc_context, kept + strlen(kHidden) + 1, MCXT_ALLOC_NO_OOM));
  if (clipped != nullptr) {
    memcpy(clipped, text, kept);
    memcpy(clipped + kept, kHidden, strlen(kHidden) + 1);
  }
  return clipped;
}

/// Cuts a text off where a secret may follow.
void Clip(ErrorData* report, char*& text) {
  if (const char* secret = SecretFollows(text)) {
    text = Clipped(report, text, static_cast<std::size_t>(secret - text));
  }
}

/// Log entries about a statement: its text is the message; its parameters, or the text of what it
/// executes, are the detail. If only the detail contains a secret, and our own statement does not,
/// it is about another process: that it crashed stays visible, what it was running only in part.
void HideStatement(ErrorData* report, bool is_current) {
  constexpr std::string_view kStatement = "statement";
  if (SecretFollows(report->message) != nullptr) {
    Clip(report, report->message);
  } else if (is_current) {
    report->message = Clipped(report, kStatement.data(), kStatement.size());
  } else {
    Clip(report, report->detail);
    return;
  }
  report->detail = nullptr;
}

/// The parameters of a statement that failed, which the log gets at the end of the context.
void HideParameters(ErrorData* report) {
  const char* first = report->context == nullptr ? nullptr : strstr(report->context, "$1 = ");
  if (first != nullptr) {
    report->context =
        Clipped(report, report->context, static_cast<std::size_t>(first - report->context));
  }
}

void HideSecrets(ErrorData* report) {
  const bool is_current = SecretInCurrentStatement() != nullptr;
  const bool carries_secret = is_current || SecretFollows(report->message) != nullptr ||
                              SecretFollows(report->detail) != nullptr ||
                              SecretFollows(report->detail_log) != nullptr;
  if (carries_secret) {
    report->hide_stmt = true;
    // An error has its own message, which the client has to see.
    if (report->elevel <= LOG_SERVER_ONLY) {
      HideStatement(report, is_current);
    }
    report->detail_log = nullptr;
    HideParameters(report);
  }
  Clip(report, report->context);
  Clip(report, report->internalquery);
  if (next_hook != nullptr) {
    next_hook(report);
  }
}

}  // namespace

void HideFromActivity() {
  const char* secret = SecretInCurrentStatement();
  if (secret == nullptr) {
    return;
  }
  Call([&] {
    const int kept = static_cast<int>(secret - debug_query_string);
    pgstat_report_activity(STATE_RUNNING, psprintf("%.*s%s", kept, debug_query_string, kHidden));
  });
}

void InstallSecretLogFilter() {
  next_hook = emit_log_hook;
  emit_log_hook = HideSecrets;
}

}  // namespace ai::pg
