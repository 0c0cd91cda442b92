// Requests for callers that have nothing else to do meanwhile, as a SQL function: they wait, and
// stop when asked to.
//
// The transport must be the caller's own: what else is under way on it would get lost.
#pragma once

#include <cstddef>
#include <vector>

#include "core/http/transport.hpp"
#include "core/interrupt.hpp"

namespace ai::http {

/// Sends the request and waits for its end. Throws Error(kCancelled) within 50 ms after the check
/// says so, at once if a signal or wake_fd ends the wait; the request is then cancelled.
Result<Response> Fetch(Transport& transport, Request request, InterruptCheck interrupted,
                       int wake_fd = kNoFd);

/// The same for several, at most so many of them under way at a time. The responses are in the
/// order of the requests. The first failure ends all and is returned. Responses of any status are
/// responses.
Result<std::vector<Response>> FetchAll(Transport& transport, std::vector<Request> requests,
                                       std::size_t most_in_flight, InterruptCheck interrupted,
                                       int wake_fd = kNoFd);

}  // namespace ai::http
