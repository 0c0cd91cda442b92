// What every use of curl here needs: the library set up once, owners for its handles, and signals
// kept away from the threads that it starts.
#pragma once

#include <curl/curl.h>

#include <csignal>
#include <memory>

#if LIBCURL_VERSION_NUM < 0x075700
#error "curl 7.87 or later is needed: earlier ones wait for a hanging resolver"
#endif

namespace ai::http {

/// Sets the library up, once in the life of the process. Throws Error(kNotSupported) if this curl
/// would block while it resolves a name or cannot do TLS.
void SetUpCurl();

struct EasyDeleter {
  void operator()(CURL* easy) const { curl_easy_cleanup(easy); }
};
struct MultiDeleter {
  void operator()(CURLM* multi) const { curl_multi_cleanup(multi); }
};
struct ListDeleter {
  void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};
using EasyHandle = std::unique_ptr<CURL, EasyDeleter>;
using MultiHandle = std::unique_ptr<CURLM, MultiDeleter>;
using HeaderList = std::unique_ptr<curl_slist, ListDeleter>;

/// Throws if curl did not take an option: std::bad_alloc for want of memory, else Error.
void CheckOption(CURLcode code, CURLoption option);

template <typename Value>
void SetOption(CURL* easy, CURLoption option, Value value) {
  CheckOption(curl_easy_setopt(easy, option, value), option);
}

/// While it lives no signal is handled in this thread. A thread that is started meanwhile never
/// handles any: PostgreSQL's handlers must run in its only thread.
class SignalsBlocked {
 public:
  SignalsBlocked();
  ~SignalsBlocked();
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_;
};

}  // namespace ai::http
