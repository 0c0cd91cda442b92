// control.hpp: the control interface: what a POST or GET under /control does.
#pragma once

#include <chrono>
#include <optional>
#include <string_view>

#include "mock/context.hpp"
#include "mock/http_message.hpp"
#include "mock/reply.hpp"

namespace ai::mock {

/// What is answered at once, or what is waited for before.
struct ControlAnswer {
  struct Waiting {
    Condition condition;
    std::chrono::milliseconds timeout;
  };
  Reply reply;
  std::optional<Waiting> waiting;
};

bool IsControl(std::string_view path);

ControlAnswer HandleControl(const Request& request, Context& context);

/// What a wait ends with.
Reply WriteWaitEnd(bool reached);

}  // namespace ai::mock
