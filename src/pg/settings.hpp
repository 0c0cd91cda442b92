// The settings `ai.*`: their values, and their registration from one table (settings.cpp).
#pragma once

namespace ai::pg {

/// PostgreSQL writes these; we only read them. The table in settings.cpp has every default.
struct Settings {
  bool preload_warning;

  // Providers. Strings may be null or empty, which both mean: not set.
  char* openai_api_key;
  char* openai_base_url;
  char* ollama_host;
  char* voyage_api_key;
  char* cohere_api_key;
  char* ca_file;
  char* allowed_hosts;
  char* model_path;
  int connect_timeout;    // milliseconds
  int request_timeout;    // milliseconds
  int max_response_size;  // kilobytes

  // Handling of failures.
  int retry_delay;       // milliseconds
  int breaker_failures;  // consecutive
  int breaker_pause;     // milliseconds

  // Embedding jobs.
  int job_retry_delay;  // milliseconds
  int job_retention;    // seconds; -1: forever
  int cache_ttl;        // seconds; 0: no reuse, -1: any age

  // Limits for roles.
  int max_priority;

  // Background processes.
  int workers;        // for each database
  int max_processes;  // of all databases; -1: by the server's settings
  int idle_timeout;   // milliseconds; -1: never idle
  int max_in_flight;
  int poll_interval;       // milliseconds
  int heartbeat_interval;  // milliseconds
  int max_text_size;       // kilobytes
  int store_timeout;       // milliseconds
  int job_lock_timeout;    // milliseconds
  int worker_timeout;      // milliseconds
  int restart_limit;       // crashes
  int restart_window;      // milliseconds
  char* databases;         // a list of names; empty: all
};

extern Settings settings;

/// Registers all settings. Called once, when the library is loaded.
void DefineSettings();

/// The value of a string setting by name, for example "ai.openai_base_url"; empty if it is not set
/// or there is no such string setting.
const char* StringSetting(const char* name);

}  // namespace ai::pg
