// control.cpp: the control interface.
#include "mock/control.hpp"

#include <array>
#include <charconv>
#include <string>

#include "mock/fields.hpp"

namespace ai::mock {

namespace {

constexpr std::string_view kRoot = "/control";
constexpr std::chrono::milliseconds kUsualTimeout{10'000};

ControlAnswer Answered(std::string json) {
  ControlAnswer answer;
  answer.reply.body = std::move(json);
  return answer;
}

ControlAnswer Refused(int status, std::string_view why) {
  ControlAnswer answer;
  answer.reply.status = status;
  answer.reply.body = "{";
  AppendJsonField(answer.reply.body, "error", why);
  answer.reply.body += '}';
  return answer;
}

ControlAnswer SetRules(const Request& request, Context& context) {
  context.rules.Set(ParseRules(request.body));
  return Answered(context.rules.Describe());
}

ControlAnswer AddRules(const Request& request, Context& context) {
  context.rules.Add(ParseRules(request.body));
  return Answered(context.rules.Describe());
}

ControlAnswer ShowRules(const Request& /*request*/, Context& context) {
  return Answered(context.rules.Describe());
}

ControlAnswer ChangeSettings(const Request& request, Context& context) {
  context.settings.Update(request.body);
  return Answered("{}");
}

ControlAnswer Release(const Request& /*request*/, Context& context) {
  return Answered(R"({"released":)" + std::to_string(context.gate.ReleaseAll()) + "}");
}

ControlAnswer Reset(const Request& request, Context& context) {
  context.rules.Set({});
  context.settings.Reset();
  context.limiter.Reset();
  context.stats.Reset();
  return Release(request, context);
}

ControlAnswer ShowStats(const Request& /*request*/, Context& context) {
  return Answered(context.stats.ToJson());
}

uint64_t ParseCount(std::string_view name, std::string_view text) {
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) {
    throw ControlError("\"" + std::string(name) + "\" must be a whole number");
  }
  return value;
}

ControlAnswer WaitFor(const Request& request, Context& /*context*/) {
  ControlAnswer answer;
  answer.waiting.emplace();
  answer.waiting->timeout = kUsualTimeout;
  std::string_view query = request.query;
  while (!query.empty()) {
    const size_t end = query.find('&');
    const std::string_view pair = query.substr(0, end);
    query = end == std::string_view::npos ? std::string_view() : query.substr(end + 1);
    const std::string_view name = pair.substr(0, pair.find('='));
    const uint64_t value = ParseCount(name, pair.substr(std::min(pair.size(), name.size() + 1)));
    if (name == "timeout_ms") {
      answer.waiting->timeout = std::chrono::milliseconds(value);
      continue;
    }
    const std::optional<Condition::Term> term = FindTerm(name, value);
    if (!term.has_value()) {
      throw ControlError("there is no counter \"" + std::string(name) + "\" to wait for");
    }
    answer.waiting->condition.terms.push_back(*term);
  }
  if (answer.waiting->condition.terms.empty()) {
    throw ControlError("name a counter to wait for, such as requests=1");
  }
  return answer;
}

struct Command {
  std::string_view path;
  std::string_view method;
  ControlAnswer (*run)(const Request& request, Context& context);
};

constexpr std::array kCommands{
    Command{"/control", "POST", SetRules},
    Command{"/control", "GET", ShowRules},
    Command{"/control/add", "POST", AddRules},
    Command{"/control/settings", "POST", ChangeSettings},
    Command{"/control/reset", "POST", Reset},
    Command{"/control/release", "POST", Release},
    Command{"/control/stats", "GET", ShowStats},
    Command{"/control/wait", "GET", WaitFor},
};

}  // namespace

bool IsControl(std::string_view path) {
  return path == kRoot || path.starts_with("/control/");
}

ControlAnswer HandleControl(const Request& request, Context& context) {
  try {
    for (const Command& command : kCommands) {
      if (command.path == request.path && command.method == request.method) {
        return command.run(request, context);
      }
    }
  } catch (const ControlError& error) {
    return Refused(400, error.what());
  } catch (const JsonError& error) {
    return Refused(400, error.what());
  }
  return Refused(404, "there is no " + request.method + " " + request.path);
}

Reply WriteWaitEnd(bool reached) {
  Reply reply;
  reply.body = reached ? R"({"reached":true})" : R"({"reached":false})";
  return reply;
}

}  // namespace ai::mock
