// See curl_library.hpp.
#include "core/http/curl_library.hpp"

#include <new>
#include <string>

#include "core/error.hpp"

namespace ai::http {
namespace {

void RequireFeature(const curl_version_info_data& version, int feature, const char* name) {
  if ((version.features & feature) == 0) {
    throw Error(ErrorCode::kNotSupported,
                "curl " + std::string(version.version) + " was built without " + name, {},
                "Install the libcurl package of the distribution.");
  }
}

}  // namespace

void SetUpCurl() {
  // A local, so that loading this library sets nothing up. Never undone: a resolver's thread may
  // live until the process ends.
  static const CURLcode code = curl_global_init(CURL_GLOBAL_DEFAULT);
  if (code != CURLE_OK) {
    throw Error(ErrorCode::kInternal,
                "could not initialize curl: " + std::string(curl_easy_strerror(code)));
  }
  const curl_version_info_data& version = *curl_version_info(CURLVERSION_NOW);
  RequireFeature(version, CURL_VERSION_ASYNCHDNS, "asynchronous name resolution");
  RequireFeature(version, CURL_VERSION_SSL, "TLS");
}

void CheckOption(CURLcode code, CURLoption option) {
  if (code == CURLE_OUT_OF_MEMORY) {
    throw std::bad_alloc();
  }
  if (code != CURLE_OK) {
    throw Error(ErrorCode::kInternal, "could not set option " + std::to_string(option) +
                                          " of curl: " + curl_easy_strerror(code));
  }
}

SignalsBlocked::SignalsBlocked() {
  sigset_t all;
  sigfillset(&all);
  // These come from the thread's own faults; blocked, they would kill without a report.
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP}) {
    sigdelset(&all, signal);
  }
  pthread_sigmask(SIG_BLOCK, &all, &before_);
}

SignalsBlocked::~SignalsBlocked() {
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

}  // namespace ai::http
