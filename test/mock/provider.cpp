// provider.cpp: what the providers have in common.
#include "mock/provider.hpp"

#include <array>
#include <atomic>
#include <cstdio>
#include <utility>

#include "mock/random.hpp"
#include "mock/vectors.hpp"

namespace ai::mock {

void Call::Refuse(ErrorKind kind, std::string message, std::string param) {
  if (!refusal.has_value()) {
    refusal = Refusal{kind, std::move(message), std::move(param)};
  }
}

Call Provider::Read(const Request& request, Operation operation, const Settings& settings) const {
  Call call;
  call.provider = this;
  call.operation = operation;
  if (operation == Operation::kListModels) {
    return call;
  }
  if (operation == Operation::kShowModel) {
    call.model = request.path.substr(request.path.rfind('/') + 1);
    if (!FindModel(vendor(), call.model, settings).has_value()) {
      call.Refuse(ErrorKind::kModelNotFound);
    }
    return call;
  }
  try {
    ReadBody(ParseJson(request.body), settings, call);
  } catch (const JsonError& error) {
    RefuseBody(request, error.what(), call);
  }
  CheckTokens(settings, call);
  return call;
}

void Provider::AddHeaders(Reply& reply, const Call& /*call*/) const {
  reply.headers.push_back({"X-Request-Id", NextUuid()});
}

void Provider::AddText(std::string text, Call& call) {
  call.tokens += CountTokens(text);
  call.texts.push_back(std::move(text));
}

bool Provider::ReadTexts(const JsonValue& value, Call& call) {
  if (value.IsString()) {
    AddText(std::string(StringOf(value)), call);
    return true;
  }
  if (!value.IsArray()) {
    return false;
  }
  call.texts.reserve(value.Size());
  for (const JsonValue& text : value.GetArray()) {
    if (!text.IsString()) {
      return false;
    }
    AddText(std::string(StringOf(text)), call);
  }
  return true;
}

std::optional<Model> Provider::ReadModel(const JsonValue& body, const Settings& settings,
                                         Call& call) const {
  const JsonValue* name = FindMember(body, "model");
  if (name == nullptr || !name->IsString()) {
    return std::nullopt;
  }
  call.model = StringOf(*name);
  std::optional<Model> model = FindModel(vendor(), call.model, settings);
  if (!model.has_value()) {
    call.Refuse(ErrorKind::kModelNotFound);
    return std::nullopt;
  }
  call.dimensions = model->dimensions;
  return model;
}

void Provider::CheckTokens(const Settings& settings, Call& call) {
  for (const std::string& text : call.texts) {
    if (!call.truncates && settings.max_input_tokens > 0 &&
        CountTokens(text) > settings.max_input_tokens) {
      call.Refuse(ErrorKind::kContextLength);
    }
  }
  if (settings.max_request_tokens > 0 && call.tokens > settings.max_request_tokens) {
    call.Refuse(ErrorKind::kTooManyTokens);
  }
}

uint64_t NextId() {
  static std::atomic<uint64_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

std::string NextUuid() {
  const uint64_t id = NextId();
  std::array<char, 40> buffer;
  std::snprintf(buffer.data(), buffer.size(), "%08x-0000-4000-8000-%012llx",
                static_cast<unsigned>(SplitMix(id).Next()), static_cast<unsigned long long>(id));
  return buffer.data();
}

}  // namespace ai::mock
