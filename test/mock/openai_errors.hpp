// openai_errors.hpp: how OpenAI words its errors.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "mock/provider.hpp"

namespace ai::mock {

Reply OpenAiError(ErrorKind kind, int status, const Call& call, std::string_view message,
                  std::string_view param);

/// A time as OpenAI writes it: "1.5s".
std::string OpenAiSeconds(std::chrono::milliseconds time);

}  // namespace ai::mock
