// Statements that carry a secret, hidden from the server's log. See secret.hpp.
//
// INVARIANT: plain C. This runs while an error is being reported, so it must not fail: what it
// allocates is in the memory of that report.
#include "pg/guard.hpp"
#include "pg/secret.hpp"

namespace ai::pg {
namespace {

emit_log_hook_type next_hook = nullptr;

constexpr const char* kHidden = " (hidden)";

/// Behind the first word in text after which a secret may come; null if there is none.
const char* SecretFollows(const char* text) {
  if (text == nullptr) {
    return nullptr;
  }
  constexpr std::string_view kWords[] = {"set_secret", "api_key"};
  constexpr std::string_view kHarmless = "_name";
  for (const char* at = text; *at != '\0'; ++at) {
    for (const std::string_view word : kWords) {
      if (pg_strncasecmp(at, word.data(), word.size()) == 0 &&
          pg_strncasecmp(at + word.size(), kHarmless.data(), kHarmless.size()) != 0) {
        return at + word.size();
      }
    }
  }
  return nullptr;
}

/// Cuts a text off where a secret may follow.
void Clip(ErrorData* report, char*& text) {
  const char* secret = SecretFollows(text);
  if (secret == nullptr) {
    return;
  }
  const auto kept = static_cast<std::size_t>(secret - text);
  auto* clipped = static_cast<char*>(
      MemoryContextAllocExtended(report->assoc_context, kept + strlen(kHidden) + 1,
                                 MCXT_ALLOC_NO_OOM));
  if (clipped != nullptr) {
    memcpy(clipped, text, kept);
    strcpy(clipped + kept, kHidden);
  }
  text = clipped;
}

void HideSecrets(ErrorData* report) {
  // What the log says about the statement itself; a client's error has its own words.
  if (report->elevel <= LOG || report->elevel == LOG_SERVER_ONLY) {
    Clip(report, report->message);
  }
  Clip(report, report->context);
  Clip(report, report->internalquery);
  if (SecretFollows(debug_query_string) != nullptr) {
    report->hide_stmt = true;
    report->detail_log = nullptr;
    if (report->elevel <= LOG || report->elevel == LOG_SERVER_ONLY) {
      report->detail = nullptr;  // the parameters of the statement
    }
  }
  if (next_hook != nullptr) {
    next_hook(report);
  }
}

}  // namespace

void InstallSecretLogFilter() {
  next_hook = emit_log_hook;
  emit_log_hook = HideSecrets;
}

}  // namespace ai::pg
