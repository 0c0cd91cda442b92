// The requests of a SQL function: sends them, waits interruptibly, and reports on them if the
// caller wants that (verbose).
#pragma once

#include <string>
#include <vector>

#include "core/http/message.hpp"
#include "core/json/value.hpp"
#include "core/provider/provider.hpp"

namespace ai::pg {

/// The responses, of any status, in the order of the requests; raises the first failure. The
/// provider, if there is one, names its model in it.
std::vector<http::Response> Ask(const json::Value& config, std::vector<http::Request> requests,
                                const provider::Provider* provider);

/// Sends a message of a level below ERROR.
void Tell(int level, const std::string& message);

}  // namespace ai::pg
