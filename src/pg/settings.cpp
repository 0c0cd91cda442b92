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
constexpr int kMost = std::numeric_limits<int>::max();

constexpr BoolSetting kBoolSettings[] = {
    {"ai.preload_warning", &settings.preload_warning, true, PGC_USERSET, 0,
     "Warns when the library is loaded by a session instead of shared_preload_libraries.",
     "Without preloading there are no background workers and vectorizers wait. Turn it off where "
     "only the SQL functions are wanted."},
};

constexpr IntSetting kIntSettings[] = {
    {"ai.connect_timeout", &settings.connect_timeout, 10'000, 1, kMost, PGC_SUSET,
     GUC_UNIT_MS | GUC_SUPERUSER_ONLY, "How long to wait for a connection to a provider.", nullptr},
    {"ai.request_timeout", &settings.request_timeout, 120'000, 1, kMost, PGC_SUSET,
     GUC_UNIT_MS | GUC_SUPERUSER_ONLY, "How long to wait for the whole answer of a provider.",
     nullptr},
    {"ai.retry_delay", &settings.retry_delay, 10'000, 1, kMost, PGC_SIGHUP, GUC_UNIT_MS,
     "How long a row waits after its first failed attempt.", "Each further attempt doubles it."},
    {"ai.breaker_failures", &settings.breaker_failures, 5, 1, kMost, PGC_SIGHUP, 0,
     "After how many failures in a row a provider is left alone.", nullptr},
    {"ai.breaker_pause", &settings.breaker_pause, 300'000, 1, kMost, PGC_SIGHUP, GUC_UNIT_MS,
     "For how long a provider is left alone at most, before one request is tried.",
     "The first is tried after five seconds, each further one after twice as long. After a failure "
     "that only a hand can mend, such as a refused key, each takes the whole pause."},
    {"ai.job_retry_delay", &settings.job_retry_delay, 30'000, 1, kMost, PGC_SIGHUP, GUC_UNIT_MS,
     "How long an embedding job waits after its first failed attempt.",
     "Each further attempt doubles it, up to five minutes."},
    {"ai.job_retention", &settings.job_retention, 7 * 24 * 3600, -1, kMost, PGC_SIGHUP, GUC_UNIT_S,
     "How long embedding jobs are kept after they were completed or cancelled.",
     "With -1 they are kept for ever."},
    {"ai.cache_ttl", &settings.cache_ttl, 3600, -1, kMost, PGC_SIGHUP, GUC_UNIT_S,
     "How old the vector of an embedding job may be to be used for another one with that text.",
     "With 0 every job is sent, with -1 the age does not matter."},
    {"ai.max_priority", &settings.max_priority, 100, -32768, 32767, PGC_SUSET, 0,
     "Up to which priority a role may have vectorizers and embedding jobs.",
     "Superusers and the owner of the extension may have any. Set it for a role with ALTER ROLE."},
    {"ai.max_response_size", &settings.max_response_size, 64 * 1024, 1, 1024 * 1024, PGC_SUSET,
     GUC_UNIT_KB | GUC_SUPERUSER_ONLY, "How large the answer of a provider may be.",
     "A larger one is an error; it is not read to its end."},
    {"ai.workers", &settings.workers, 2, 0, 32, PGC_SIGHUP, 0,
     "How many worker processes a database gets while it has work.",
     "As far as ai.max_processes allows. With 0 changes are queued and not processed."},
    {"ai.max_processes", &settings.max_processes, -1, -1, 10'000, PGC_SIGHUP, 0,
     "How many background processes all databases may have together.",
     "The launcher, coordinators, workers and their helpers; all are taken from "
     "max_worker_processes. With -1 it is what max_parallel_workers leaves of these, half of them "
     "at least, and 5 at least. Less than 3 is 3."},
    {"ai.idle_timeout", &settings.idle_timeout, 60'000, -1, kMost, PGC_SIGHUP, GUC_UNIT_MS,
     "How long a database keeps its processes after the last change.",
     "The next change starts them again. Half a second is the least; with -1 they are never "
     "ended."},
    {"ai.max_in_flight", &settings.max_in_flight, 16, 1, 1000, PGC_SIGHUP, 0,
     "How many requests a worker process may have under way.", nullptr},
    {"ai.max_text_size", &settings.max_text_size, 16 * 1024, 1, 1024 * 1024, PGC_SIGHUP,
     GUC_UNIT_KB, "How long the text of a row may be.",
     "A row with a longer one is given up. While a row is worked on, a worker needs up to four "
     "times "
     "as much memory."},
    {"ai.store_timeout", &settings.store_timeout, 10'000, 100, kMost, PGC_SIGHUP, GUC_UNIT_MS,
     "How long a worker may take to read or store rows of one vectorizer, triggers included.",
     "What takes longer is cancelled; its rows are charged an attempt, and the vectorizer rests."},
    {"ai.poll_interval", &settings.poll_interval, 5'000, 100, kMost, PGC_SIGHUP, GUC_UNIT_MS,
     "How often a worker that nobody wakes looks for changes.",
     "A commit wakes the workers, so this is for what comes by another way."},
    {"ai.heartbeat_interval", &settings.heartbeat_interval, 5'000, 100, kMost, PGC_SIGHUP,
     GUC_UNIT_MS, "How often a worker notes that it is alive.", nullptr},
    {"ai.job_lock_timeout", &settings.job_lock_timeout, 300'000, 1'000, kMost, PGC_SIGHUP,
     GUC_UNIT_MS, "How long after its last heartbeat a worker loses the rows it has taken.",
     "When a worker process ends, they are released at once. One that lives and makes no "
     "progress "
     "for so long is ended."},
    {"ai.worker_timeout", &settings.worker_timeout, 30'000, 1'000, kMost, PGC_SIGHUP, GUC_UNIT_MS,
     "How long a worker may take to start, to end, and to give a sign of life.",
     "One that takes longer is taken for crashed: it is ended, its rows are released, and "
     "another "
     "one is started."},
    {"ai.restart_limit", &settings.restart_limit, 5, 1, kMost, PGC_SIGHUP, 0,
     "After how many crashes within ai.restart_window a worker is not started any more.",
     "It has failed then, until ai.restart_worker. A vectorizer whose rows end as many workers is "
     "paused."},
    {"ai.restart_window", &settings.restart_window, 300'000, 1, kMost, PGC_SIGHUP, GUC_UNIT_MS,
     "How far back crashes count, and how long a vectorizer that causes them is paused.", nullptr},
};

constexpr TextSetting kStringSettings[] = {
    {"ai.openai_api_key", &settings.openai_api_key, "", PGC_SUSET, kSecret, CheckKey,
     "Key for OpenAI, unless the secret OPENAI_API_KEY is in the store.", nullptr,
     ShowKey<&Settings::openai_api_key>},
    {"ai.openai_base_url", &settings.openai_base_url, "", PGC_SUSET, GUC_SUPERUSER_ONLY,
     CheckBaseUrl, "Where requests for OpenAI go, unless a configuration says otherwise.",
     "Empty stands for https://api.openai.com/v1."},
    {"ai.ollama_host", &settings.ollama_host, "", PGC_SUSET, GUC_SUPERUSER_ONLY, CheckBaseUrl,
     "Where requests for Ollama go, unless a configuration says otherwise.",
     "Empty stands for the server's environment variable OLLAMA_HOST, else "
     "http://localhost:11434."},
    {"ai.voyage_api_key", &settings.voyage_api_key, "", PGC_SUSET, kSecret, CheckKey,
     "Key for Voyage AI, unless the secret VOYAGE_API_KEY is in the store.", nullptr,
     ShowKey<&Settings::voyage_api_key>},
    {"ai.cohere_api_key", &settings.cohere_api_key, "", PGC_SUSET, kSecret, CheckKey,
     "Key for Cohere, unless the secret COHERE_API_KEY is in the store.", nullptr,
     ShowKey<&Settings::cohere_api_key>},
    {"ai.ca_file", &settings.ca_file, "", PGC_SUSET, GUC_SUPERUSER_ONLY, nullptr,
     "File of the certificate authorities that are trusted for providers.",
     "Empty stands for those of the operating system."},
    {"ai.model_path", &settings.model_path, "", PGC_SUSET, GUC_SUPERUSER_ONLY, nullptr,
     "File or directory of the embedded model.",
     "A file that was packed by make model, or a directory with a model of the BERT family as it "
     "is "
     "published. Empty stands for the model that was installed with the extension."},
    {"ai.allowed_hosts", &settings.allowed_hosts, http::kDefaultAllowedHosts.data(), PGC_SUSET,
     GUC_SUPERUSER_ONLY | GUC_LIST_INPUT, CheckHosts, "Hosts that requests may go to.",
     "A list of host, host:port, *.domain, address or address/bits. Link-local addresses are "
     "refused whatever is listed."},
    {"ai.databases", &settings.databases, "", PGC_SIGHUP, GUC_LIST_INPUT, CheckNames,
     "Databases whose vectorizers are worked on.",
     "A list of names. Empty stands for all databases that have the extension."},
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
