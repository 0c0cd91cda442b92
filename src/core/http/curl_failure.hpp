// What curl says went wrong, as a Failure: its class, and one line that names the endpoint and what
// happened, and nothing else of the request.
#pragma once

#include <curl/curl.h>

#include <chrono>
#include <cstddef>
#include <string_view>

#include "core/failure.hpp"
#include "core/http/message.hpp"
#include "core/http/url.hpp"

namespace ai::http {

/// The easy handle is asked for times and the system's error; curl_text is what it wrote into its
/// error buffer, of which only words about TLS are used.
Failure DescribeFailure(CURL* easy, CURLcode code, std::string_view curl_text, const Url& url,
                        const Timeouts& timeouts);

/// For what our own limits ended.
Failure TooLarge(const Url& url, std::size_t limit, int http_status);
Failure TooSlow(const Url& url, std::size_t bytes, std::chrono::milliseconds window,
                int http_status);

}  // namespace ai::http
