// ollama.cpp: Ollama: POST /api/embed, POST /api/embeddings (the older one), GET /api/tags.
#include <array>
#include <cstdio>
#include <string>

#include "mock/provider.hpp"
#include "mock/vectors.hpp"

namespace ai::mock {

namespace {

std::string MessageOf(ErrorKind kind, const Call& call) {
  switch (kind) {
    case ErrorKind::kContextLength:
    case ErrorKind::kTooManyTokens:
      return "the input length exceeds the context length";
    case ErrorKind::kMissingKey:
    case ErrorKind::kInvalidKey:
      return "unauthorized";
    case ErrorKind::kForbidden:
      return "forbidden";
    case ErrorKind::kModelNotFound:
      return "model \"" + call.model + "\" not found, try pulling it first";
    case ErrorKind::kNotFound:
      return "404 page not found";
    case ErrorKind::kMethodNotAllowed:
      return "405 method not allowed";
    case ErrorKind::kTooLarge:
      return "http: request body too large";
    case ErrorKind::kRateLimit:
    case ErrorKind::kQuota:
      return "too many requests";
    case ErrorKind::kServer:
      return "llama runner process has terminated: signal: killed";
    case ErrorKind::kBadGateway:
      return "do embedding request: Post \"http://127.0.0.1:40001/embedding\": EOF";
    case ErrorKind::kOverloaded:
      return "server busy, please try again. maximum pending requests exceeded";
    case ErrorKind::kTimeout:
    case ErrorKind::kGatewayTimeout:
      return "timed out waiting for llama runner to start";
    default:
      return "invalid input type";
  }
}

class OllamaProvider : public Provider {
 public:
  Vendor vendor() const override { return Vendor::kOllama; }

  Reply Answer(const Call& call, const Plan& plan, const Settings& settings) const override {
    if (call.operation == Operation::kListModels) {
      return AnswerTags(settings);
    }
    Reply reply;
    if (call.operation == Operation::kEmbedOne) {
      AnswerOne(reply.body, plan);
      return reply;
    }
    AnswerMany(reply.body, call, plan);
    return reply;
  }

  Reply Complain(ErrorKind kind, int status, const Call& call, std::string_view message,
                 std::string_view /*param*/) const override {
    Reply reply;
    reply.status = status;
    reply.content_type = "application/json; charset=utf-8";
    reply.body = "{";
    AppendJsonField(reply.body, "error", message.empty() ? MessageOf(kind, call) : message);
    reply.body += '}';
    return reply;
  }

  // Ollama adds none of its own.
  void AddHeaders(Reply& /*reply*/, const Call& /*call*/) const override {}

 protected:
  void RefuseBody(const Request& request, std::string_view why, Call& call) const override {
    call.Refuse(ErrorKind::kBadRequest,
                request.body.empty() ? "missing request body" : std::string(why));
  }

  void ReadBody(const JsonValue& body, const Settings& settings, Call& call) const override {
    const std::optional<Model> model = ReadModel(body, settings, call);
    if (call.model.empty()) {
      call.Refuse(ErrorKind::kBadRequest, "model is required");
    }
    if (call.operation == Operation::kEmbedOne) {
      const JsonValue* prompt = FindMember(body, "prompt");
      call.truncates = true;
      // An empty prompt loads the model and embeds nothing.
      if (prompt != nullptr && prompt->IsString() && prompt->GetStringLength() > 0) {
        AddText(std::string(StringOf(*prompt)), call);
      }
      return;
    }
    const JsonValue* input = FindMember(body, "input");
    if (input != nullptr && !input->IsNull() && !ReadTexts(*input, call)) {
      call.Refuse(ErrorKind::kBadRequest);
    }
    const JsonValue* wanted = FindMember(body, "dimensions");
    if (wanted != nullptr && wanted->IsUint() && model.has_value() &&
        model->Offers(wanted->GetUint())) {
      call.dimensions = wanted->GetUint();
    }
    const JsonValue* truncate = FindMember(body, "truncate");
    call.truncates = truncate == nullptr || !truncate->IsBool() || truncate->GetBool();
  }

 private:
  static void AnswerMany(std::string& out, const Call& call, const Plan& plan) {
    VectorWriter writer;
    out = "{";
    AppendJsonField(out, "model", call.model);
    if (plan.with_embeddings) {
      out += R"(,"embeddings":[)";
      for (const Item& item : plan.items) {
        out += out.back() == '[' ? "" : ",";
        writer.AppendFloats(out, item);
      }
      out += ']';
    }
    if (plan.with_usage) {
      out += R"(,"total_duration":14143917,"load_duration":1019500,"prompt_eval_count":)" +
             std::to_string(call.tokens);
    }
    out += '}';
  }

  static void AnswerOne(std::string& out, const Plan& plan) {
    VectorWriter writer;
    out = "{";
    if (plan.with_embeddings) {
      AppendJsonName(out, "embedding");
      if (plan.items.empty()) {
        out += "[]";
      } else {
        writer.AppendFloats(out, plan.items.front());
      }
    }
    out += '}';
  }

  static Reply AnswerTags(const Settings& settings) {
    Reply reply;
    reply.body = R"({"models":[)";
    for (const Model& model : ListModels(Vendor::kOllama, settings)) {
      reply.body += reply.body.back() == '[' ? "{" : ",{";
      std::array<char, 65> digest;
      std::snprintf(digest.data(), digest.size(), "%064llx",
                    static_cast<unsigned long long>(HashText(model.name)));
      AppendJsonField(reply.body, "name", model.name + ":latest");
      AppendJsonField(reply.body, "model", model.name + ":latest");
      AppendJsonField(reply.body, "modified_at", "2025-01-01T00:00:00Z");
      AppendJsonField(reply.body, "size", 274302450);
      AppendJsonField(reply.body, "digest", digest.data());
      reply.body += R"(,"details":{"parent_model":"","format":"gguf","family":"bert",)"
                    R"("families":["bert"],"parameter_size":"137M","quantization_level":"F16"}})";
    }
    reply.body += "]}";
    return reply;
  }
};

}  // namespace

const Provider& Ollama() {
  static const OllamaProvider provider;
  return provider;
}

}  // namespace ai::mock
