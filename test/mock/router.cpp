// router.cpp: from a request to what is answered.
#include "mock/router.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace ai::mock {

namespace {

struct Route {
  std::string_view path;  // a star at the end stands for a name
  std::string_view method;
  const Provider& (*provider)();
  Operation operation;
};

constexpr std::array kRoutes{
    Route{"/v1/embeddings", "POST", OpenAi, Operation::kEmbed},
    Route{"/v1/models", "GET", OpenAi, Operation::kListModels},
    Route{"/v1/models/*", "GET", OpenAi, Operation::kShowModel},
    Route{"/api/embed", "POST", Ollama, Operation::kEmbed},
    Route{"/api/embeddings", "POST", Ollama, Operation::kEmbedOne},
    Route{"/api/tags", "GET", Ollama, Operation::kListModels},
    Route{"/voyage/v1/embeddings", "POST", Voyage, Operation::kEmbed},
    Route{"/v2/embed", "POST", Cohere, Operation::kEmbed},
};

bool Leads(const Route& route, std::string_view path) {
  if (route.path.ends_with('*')) {
    const std::string_view start = route.path.substr(0, route.path.size() - 1);
    return path.size() > start.size() && path.starts_with(start);
  }
  return route.path == path;
}

// A path that no provider has is answered by OpenAI.
Call ReadCall(const Request& request, const Settings& settings) {
  Call call;
  call.provider = &OpenAi();
  ErrorKind kind = ErrorKind::kNotFound;
  for (const Route& route : kRoutes) {
    if (!Leads(route, request.path)) {
      continue;
    }
    if (route.method == request.method || (route.method == "GET" && request.method == "HEAD")) {
      return route.provider().Read(request, route.operation, settings);
    }
    call.provider = &route.provider();
    kind = ErrorKind::kMethodNotAllowed;
  }
  call.Refuse(kind, kind == ErrorKind::kNotFound
                        ? "Invalid URL (" + request.method + " " + request.path + ")"
                        : "");
  return call;
}

std::optional<Refusal> CheckKey(const Request& request, const Settings& settings) {
  if (settings.api_keys.empty()) {
    return std::nullopt;
  }
  const std::string_view key = request.BearerKey();
  if (key.empty()) {
    return Refusal{ErrorKind::kMissingKey, {}, {}};
  }
  const auto& keys = settings.api_keys;
  if (std::find(keys.begin(), keys.end(), key) == keys.end()) {
    return Refusal{ErrorKind::kInvalidKey, {}, {}};
  }
  return std::nullopt;
}

// Only what the provider would answer uses a limit up, not what a rule fails.
void TakeQuota(RateLimiter& limiter, Exchange& exchange) {
  const std::shared_ptr<Rule>& decider = exchange.verdict.decider;
  const bool failed = decider != nullptr && (decider->spec.outcome.status >= 400 ||
                                             decider->spec.outcome.error.has_value());
  Call& call = exchange.call;
  const bool counts = !failed && !exchange.refusal.has_value();
  call.quota = limiter.Take(counts ? exchange.settings->rate_limit : RateLimit{}, call.tokens,
                            RateLimiter::Clock::now());
  if (call.quota.exceeded) {
    exchange.refusal = Refusal{ErrorKind::kRateLimit, {}, {}};
  }
  if (failed) {
    const Outcome& outcome = decider->spec.outcome;
    const uint64_t wait = outcome.retry_after.value_or(outcome.retry_after_date.value_or(1));
    call.quota.retry_after = std::chrono::seconds(wait);
  }
}

void AddRetryAfter(Reply& reply, const Outcome& outcome) {
  if (outcome.retry_after.has_value()) {
    reply.headers.push_back({"Retry-After", std::to_string(*outcome.retry_after)});
  }
  if (outcome.retry_after_date.has_value()) {
    const auto when =
        std::chrono::system_clock::now() + std::chrono::seconds(*outcome.retry_after_date);
    reply.headers.push_back({"Retry-After", HttpDate(when)});
  }
}

// What the provider would say by itself.
Reply WriteOwn(const Exchange& exchange, BodyFault fault, size_t wrong_dimensions) {
  const Call& call = exchange.call;
  const std::optional<Refusal>& refusal =
      exchange.refusal.has_value() ? exchange.refusal : call.refusal;
  if (refusal.has_value()) {
    Reply reply = call.provider->Complain(refusal->kind, StatusOf(refusal->kind), call,
                                          refusal->message, refusal->param);
    if (refusal->kind == ErrorKind::kRateLimit) {
      const auto wait = std::chrono::ceil<std::chrono::seconds>(call.quota.retry_after);
      reply.headers.push_back({"Retry-After", std::to_string(wait.count())});
    }
    return reply;
  }
  if (fault == BodyFault::kErrorWithStatus200) {
    return call.provider->Complain(ErrorKind::kServer, 200, call, {}, {});
  }
  const Plan plan = MakePlan(call.texts, call.dimensions, fault, wrong_dimensions);
  return call.provider->Answer(call, plan, *exchange.settings);
}

Reply WriteDecided(const Exchange& exchange, const Outcome& outcome) {
  const Call& call = exchange.call;
  Reply reply;
  const int status = outcome.status > 0          ? outcome.status
                     : outcome.error.has_value() ? StatusOf(*outcome.error)
                                                 : 0;
  if (status >= 400 && !outcome.body.has_value()) {
    reply = call.provider->Complain(outcome.error.value_or(KindOf(status)), status, call, {}, {});
  } else if (!outcome.body.has_value()) {
    reply = WriteOwn(exchange, outcome.fault, outcome.wrong_dimensions);
  }
  reply.status = status > 0 ? status : reply.status;
  reply.body = outcome.body.value_or(std::move(reply.body));
  if (!outcome.content_type.empty()) {
    reply.content_type = outcome.content_type;
  }
  SpoilBody(outcome.fault, reply);
  AddRetryAfter(reply, outcome);
  reply.headers.insert(reply.headers.end(), outcome.headers.begin(), outcome.headers.end());
  return reply;
}

constexpr Delivery kPlainDelivery;

}  // namespace

const Delivery& Exchange::delivery() const {
  return verdict.decider == nullptr ? kPlainDelivery : verdict.decider->spec.outcome.delivery;
}

Exchange Admit(Request request, Context& context) {
  Exchange exchange;
  exchange.settings = context.settings.Get();
  exchange.call = ReadCall(request, *exchange.settings);
  Call& call = exchange.call;
  exchange.verdict = context.rules.Judge(request, call);
  exchange.refusal = CheckKey(request, *exchange.settings);
  TakeQuota(context.limiter, exchange);
  exchange.to.keep_alive = request.KeepsAlive();
  exchange.to.head_only = request.method == "HEAD";
  exchange.to.accepts_gzip = request.HasToken("Accept-Encoding", "gzip");
  exchange.epoch = context.stats.RequestArrived(std::move(request), call.texts, call.tokens);
  return exchange;
}

Reply WriteReply(const Exchange& exchange) {
  const std::shared_ptr<Rule>& decider = exchange.verdict.decider;
  Reply reply = decider == nullptr ? WriteOwn(exchange, BodyFault::kNone, 0)
                                   : WriteDecided(exchange, decider->spec.outcome);
  exchange.call.provider->AddHeaders(reply, exchange.call);
  return reply;
}

Reply WriteBadRequest(int status, const std::string& why) {
  Reply reply;
  reply.status = status;
  reply.body = R"({"error":{)";
  AppendJsonField(reply.body, "message", why);
  AppendJsonField(reply.body, "type", "invalid_request_error");
  reply.body += R"(,"param":null,"code":null}})";
  return reply;
}

}  // namespace ai::mock
