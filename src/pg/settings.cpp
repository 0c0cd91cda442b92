#include "pg/settings.hpp"

#include <limits>

#include "core/http/host_policy.hpp"
#include "core/http/url.hpp"
#include "pg/guard.hpp"

namespace ai::pg {

Settings settings;

namespace {

struct BoolSetting {
  const char* name;
  bool* value;
  bool initial;
  GucContext context;
  int flags;
  const char* summary;
  const char* detail;
};

struct IntSetting {
  const char* name;
  int* value;
  int initial;
  int least;
  int most;
  GucContext context;
  int flags;
  const char* summary;
  const char* detail;
};

struct TextSetting {
  const char* name;
  char** value;
  const char* initial;
  GucContext context;
  int flags;
  GucStringCheckHook check;
  const char* summary;
  const char* detail;
  GucShowHook show = nullptr;
};

/// Runs a check of a new value; what it throws becomes the detail of the server's refusal.
template <typename Fn>
bool Accepts(Fn&& check) {
  try {
    check();
    return true;
  } catch (const std::exception& error) {
    GUC_check_errdetail("%s.", error.what());
    return false;
  }
}

bool CheckHosts(char** value, void** /*extra*/, GucSource /*source*/) {
  return Accepts([&] { http::HostList::Parse(*value == nullptr ? "" : *value); });
}

bool CheckBaseUrl(char** value, void** /*extra*/, GucSource /*source*/) {
  return Accepts([&] {
    if (*value == nullptr || **value == '\0') {
      return;
    }
    const auto url = http::ParseUrl(*value, http::UrlKind::kBase);
    if (!url) {
      throw ai::Error(ErrorCode::kInvalidParameter, url.failure().message);
    }
  });
}

/// What ALTER ROLE, ALTER DATABASE and CREATE FUNCTION keep, everybody can read.
bool CheckKey(char** value, void** /*extra*/, GucSource source) {
  if (source != PGC_S_TEST || *value == nullptr || **value == '\0') {
    return true;
  }
  GUC_check_errcode(ERRCODE_INVALID_PARAMETER_VALUE);
  GUC_check_errmsg("a key cannot be set for a role, a database or a function");
  GUC_check_errdetail("Everybody can read such settings.");
  GUC_check_errhint("Keep it with ai.set_secret, or set it in postgresql.conf.");
  return false;
}

/// The server lets pg_read_all_settings see what others must not; a key is for superusers alone.
template <char* Settings::*key>
const char* ShowKey() {
  const char* value = settings.*key;
  if (value == nullptr || *value == '\0') {
    return "";
  }
  return IsTransactionState() && superuser() ? value : "(hidden)";
}

/// Plain C, since the server's list may fail with an ereport.
bool CheckNames(char** value, void** /*extra*/, GucSource /*source*/) {
  List* names = NIL;
  char* copy = pstrdup(*value == nullptr ? "" : *value);
  const bool valid = SplitIdentifierString(copy, ',', &names);
  list_free(names);
  pfree(copy);
  if (!valid) {
    GUC_check_errdetail("List syntax is invalid.");
  }
  return valid;
}

constexpr int kSecret = GUC_SUPERUSER_ONLY | GUC_NO_SHOW_ALL | GUC_NOT_IN_SAMPLE;
constexpr int kMax = std::numeric_limits<int>::max();

constexpr BoolSetting kBoolSettings[] = {
    {"ai.preload_warning", &settings.preload_warning, true, PGC_USERSET, 0,
     "Warns when the library is loaded by a session instead of shared_preload_libraries.",
     "Without preloading there are no background workers, and changes are queued but not "
     "processed. Turn it off if only the SQL functions are used."},
};

constexpr IntSetting kIntSettings[] = {
    {"ai.connect_timeout", &settings.connect_timeout, 10'000, 1, kMax, PGC_SUSET,
     GUC_UNIT_MS | GUC_SUPERUSER_ONLY,
     "Sets the maximum time to wait for a connection to a "
     "provider.",
     nullptr},
    {"ai.request_timeout", &settings.request_timeout, 120'000, 1, kMax, PGC_SUSET,
     GUC_UNIT_MS | GUC_SUPERUSER_ONLY,
     "Sets the maximum time to wait for the complete reply of a "
     "provider.",
     nullptr},
    {"ai.retry_delay", &settings.retry_delay, 10'000, 1, kMax, PGC_SIGHUP, GUC_UNIT_MS,
     "Sets the delay before a row is retried after its first failed attempt.",
     "The delay doubles "
     "with each further "
     "attempt."},
    {"ai.breaker_failures", &settings.breaker_failures, 5, 1, kMax, PGC_SIGHUP, 0,
     "Sets the number of consecutive failures after which the circuit breaker of a provider "
     "opens.",
     nullptr},
    {"ai.breaker_pause", &settings.breaker_pause, 300'000, 1, kMax, PGC_SIGHUP, GUC_UNIT_MS,
     "Sets the maximum time that a circuit breaker stays open before the next probe.",
     "The first probe is sent after five seconds, each further one after twice as long. After a "
     "failure that an administrator has to fix, such as a refused key, every probe waits for the "
     "whole time."},
    {"ai.job_retry_delay", &settings.job_retry_delay, 30'000, 1, kMax, PGC_SIGHUP, GUC_UNIT_MS,
     "Sets the delay before an embedding job is retried after its first failed attempt.",
     "The delay doubles with each further attempt, up to five minutes."},
    {"ai.job_retention", &settings.job_retention, 7 * 24 * 3600, -1, kMax, PGC_SIGHUP, GUC_UNIT_S,
     "Sets how long completed and cancelled embedding jobs are kept.", "-1 keeps them forever."},
    {"ai.cache_ttl", &settings.cache_ttl, 3600, -1, kMax, PGC_SIGHUP, GUC_UNIT_S,
     "Sets the maximum age of an embedding job's vector to be reused for another job with the "
     "same text.",
     "0 disables reuse, -1 allows any age."},
    {"ai.max_priority", &settings.max_priority, 100, -32768, 32767, PGC_SUSET, 0,
     "Sets the maximum priority of a role's vectorizers and embedding jobs.",
     "Superusers and the owner of the extension are exempt. Set it for a role with ALTER ROLE."},
    {"ai.max_response_size", &settings.max_response_size, 64 * 1024, 1, 1024 * 1024, PGC_SUSET,
     GUC_UNIT_KB | GUC_SUPERUSER_ONLY, "Sets the maximum size of a provider's reply.",
     "A larger reply is an error and is not read to its end."},
    {"ai.workers", &settings.workers, 2, 0, 32, PGC_SIGHUP, 0,
     "Sets the number of worker processes per database while it has work.",
     "Limited by ai.max_processes. With 0, changes are queued and not processed."},
    {"ai.max_processes", &settings.max_processes, -1, -1, 10'000, PGC_SIGHUP, 0,
     "Sets the size of the process pool: the maximum number of background processes of all "
     "databases.",
     "Includes the launcher, coordinators, workers, indexers and reconcilers; all of them use "
     "max_worker_processes. -1 means what max_parallel_workers leaves of these, but at least half "
     "of them, and at least 5. Values below 3 are treated as 3."},
    {"ai.idle_timeout", &settings.idle_timeout, 60'000, -1, kMax, PGC_SIGHUP, GUC_UNIT_MS,
     "Sets how long an idle database keeps its processes.",
     "The next change restarts them. The minimum is half a second; -1 keeps them forever."},
    {"ai.max_in_flight", &settings.max_in_flight, 16, 1, 1000, PGC_SIGHUP, 0,
     "Sets the maximum number of requests that a worker process may have in flight.", nullptr},
    {"ai.max_text_size", &settings.max_text_size, 16 * 1024, 1, 1024 * 1024, PGC_SIGHUP,
     GUC_UNIT_KB, "Sets the maximum size of a row's text.",
     "A row with a longer text becomes a dead letter. While processing a row, a worker needs up "
     "to four times as much memory."},
    {"ai.store_timeout", &settings.store_timeout, 10'000, 100, kMax, PGC_SIGHUP, GUC_UNIT_MS,
     "Sets the maximum time to read or store rows of one vectorizer, including triggers.",
     "A step that takes longer is cancelled; its rows are charged an attempt, and the vectorizer "
     "backs off."},
    {"ai.poll_interval", &settings.poll_interval, 5'000, 100, kMax, PGC_SIGHUP, GUC_UNIT_MS,
     "Sets the interval at which workers poll for changes.",
     "Commits wake workers, so polling only finds what raised no event."},
    {"ai.heartbeat_interval", &settings.heartbeat_interval, 5'000, 100, kMax, PGC_SIGHUP,
     GUC_UNIT_MS, "Sets the interval between heartbeats of a worker.", nullptr},
    {"ai.job_lock_timeout", &settings.job_lock_timeout, 300'000, 1'000, kMax, PGC_SIGHUP,
     GUC_UNIT_MS, "Sets the time after the last heartbeat of a worker when its leases expire.",
     "When a worker process exits, its rows are released immediately. A process that makes no "
     "progress for this long is terminated."},
    {"ai.worker_timeout", &settings.worker_timeout, 30'000, 1'000, kMax, PGC_SIGHUP, GUC_UNIT_MS,
     "Sets the maximum time for a worker to start, to exit, and to respond.",
     "A worker that takes longer is considered crashed: it is terminated, its rows are released, "
     "and it is restarted."},
    {"ai.restart_limit", &settings.restart_limit, 5, 1, kMax, PGC_SIGHUP, 0,
     "Sets the number of crashes within ai.restart_window after which a worker is not restarted.",
     "It has failed then, until ai.restart_worker is called. A vectorizer whose rows crash as "
     "many workers is paused."},
    {"ai.restart_window", &settings.restart_window, 300'000, 1, kMax, PGC_SIGHUP, GUC_UNIT_MS,
     "Sets the time window for counting crashes, and how long a vectorizer that causes them is "
     "paused.",
     nullptr},
};

constexpr TextSetting kStringSettings[] = {
    {"ai.openai_api_key", &settings.openai_api_key, "", PGC_SUSET, kSecret, CheckKey,
     "Sets the API key for OpenAI, unless the secret OPENAI_API_KEY is stored.", nullptr,
     ShowKey<&Settings::openai_api_key>},
    {"ai.openai_base_url", &settings.openai_base_url, "", PGC_SUSET, GUC_SUPERUSER_ONLY,
     CheckBaseUrl, "Sets the base URL for OpenAI, unless a configuration has one.",
     "Empty means https://api.openai.com/v1."},
    {"ai.ollama_host", &settings.ollama_host, "", PGC_SUSET, GUC_SUPERUSER_ONLY, CheckBaseUrl,
     "Sets the base URL for Ollama, unless a configuration has one.",
     "Empty means the server's environment variable OLLAMA_HOST, or http://localhost:11434."},
    {"ai.voyage_api_key", &settings.voyage_api_key, "", PGC_SUSET, kSecret, CheckKey,
     "Sets the API key for Voyage AI, unless the secret VOYAGE_API_KEY is stored.", nullptr,
     ShowKey<&Settings::voyage_api_key>},
    {"ai.cohere_api_key", &settings.cohere_api_key, "", PGC_SUSET, kSecret, CheckKey,
     "Sets the API key for Cohere, unless the secret COHERE_API_KEY is stored.", nullptr,
     ShowKey<&Settings::cohere_api_key>},
    {"ai.ca_file", &settings.ca_file, "", PGC_SUSET, GUC_SUPERUSER_ONLY, nullptr,
     "Sets the file with the certificate authorities that are trusted for providers.",
     "Empty means those of the operating system."},
    {"ai.model_path", &settings.model_path, "", PGC_SUSET, GUC_SUPERUSER_ONLY, nullptr,
     "Sets the file or directory of the embedded model.",
     "A file packed by make model, or a directory with a published model of the BERT family. "
     "Empty means the model installed with the extension."},
    {"ai.allowed_hosts", &settings.allowed_hosts, http::kDefaultAllowedHosts.data(), PGC_SUSET,
     GUC_SUPERUSER_ONLY | GUC_LIST_INPUT, CheckHosts,
     "Sets the hosts to which requests may be "
     "sent.",
     "A list of host, host:port, *.domain, address or address/bits. Link-local addresses are "
     "always refused."},
    {"ai.databases", &settings.databases, "", PGC_SIGHUP, GUC_LIST_INPUT, CheckNames,
     "Sets the databases to serve.",
     "A list of names. Empty means all databases that have the extension."},
};

}  // namespace

void DefineSettings() {
  Call([] {
    for (const BoolSetting& s : kBoolSettings) {
      DefineCustomBoolVariable(s.name, s.summary, s.detail, s.value, s.initial, s.context, s.flags,
                               nullptr, nullptr, nullptr);
    }
    for (const IntSetting& s : kIntSettings) {
      DefineCustomIntVariable(s.name, s.summary, s.detail, s.value, s.initial, s.least, s.most,
                              s.context, s.flags, nullptr, nullptr, nullptr);
    }
    for (const TextSetting& s : kStringSettings) {
      DefineCustomStringVariable(s.name, s.summary, s.detail, s.value, s.initial, s.context,
                                 s.flags, s.check, nullptr, s.show);
    }
    MarkGUCPrefixReserved("ai");
  });
}

const char* StringSetting(const char* name) {
  for (const TextSetting& s : kStringSettings) {
    if (pg_strcasecmp(s.name, name) == 0) {
      return *s.value == nullptr ? "" : *s.value;
    }
  }
  return "";
}

}  // namespace ai::pg
