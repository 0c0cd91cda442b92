// openai.cpp: OpenAI: POST /v1/embeddings, GET /v1/models, GET /v1/models/<name>.
#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "mock/openai_errors.hpp"
#include "mock/provider.hpp"

namespace ai::mock {

namespace {

constexpr std::array<std::string_view, 5> kKnownFields{"model", "input", "dimensions",
                                                       "encoding_format", "user"};

constexpr size_t kMaxItems = 2048;
class OpenAiProvider : public Provider {
 public:
  Vendor vendor() const override { return Vendor::kOpenAi; }

  Reply Answer(const Call& call, const Plan& plan, const Settings& settings) const override {
    if (call.operation == Operation::kListModels) {
      return AnswerModels(settings);
    }
    Reply reply;
    if (call.operation == Operation::kShowModel) {
      AppendModel(reply.body, call.model);
      return reply;
    }
    AnswerEmbeddings(reply.body, call, plan);
    return reply;
  }

  Reply Complain(ErrorKind kind, int status, const Call& call, std::string_view message,
                 std::string_view param) const override {
    return OpenAiError(kind, status, call, message, param);
  }

  void AddHeaders(Reply& reply, const Call& call) const override {
    const QuotaState& quota = call.quota;
    const auto add = [&](const char* name, std::string value) {
      reply.headers.push_back({name, std::move(value)});
    };
    add("openai-organization", "org-mock");
    add("openai-processing-ms", "1");
    add("openai-version", "2020-10-01");
    add("x-ratelimit-limit-requests", std::to_string(quota.limit_requests));
    add("x-ratelimit-limit-tokens", std::to_string(quota.limit_tokens));
    add("x-ratelimit-remaining-requests", std::to_string(quota.remaining_requests));
    add("x-ratelimit-remaining-tokens", std::to_string(quota.remaining_tokens));
    add("x-ratelimit-reset-requests", OpenAiSeconds(quota.reset_requests));
    add("x-ratelimit-reset-tokens", OpenAiSeconds(quota.reset_tokens));
    add("x-request-id", "req_" + NextUuid());
  }

 protected:
  void RefuseBody(const Request& /*request*/, std::string_view /*why*/, Call& call) const override {
    call.Refuse(ErrorKind::kBadRequest,
                "We could not parse the JSON body of your request. The OpenAI API expects a JSON"
                " payload.");
  }

  void ReadBody(const JsonValue& body, const Settings& settings, Call& call) const override {
    if (!body.IsObject()) {
      call.Refuse(ErrorKind::kBadRequest, "The body of the request must be a JSON object.");
      return;
    }
    RefuseUnknownFields(body, call);
    const std::optional<Model> model = ReadModel(body, settings, call);
    if (call.model.empty()) {
      call.Refuse(ErrorKind::kBadRequest, "you must provide a model parameter");
    }
    ReadInput(FindMember(body, "input"), call);
    ReadDimensions(FindMember(body, "dimensions"), model, call);
    ReadEncoding(FindMember(body, "encoding_format"), call);
  }

 private:
  static void RefuseUnknownFields(const JsonValue& body, Call& call) {
    for (const auto& member : body.GetObject()) {
      const std::string_view name = StringOf(member.name);
      if (std::find(kKnownFields.begin(), kKnownFields.end(), name) == kKnownFields.end()) {
        call.Refuse(ErrorKind::kBadRequest,
                    "Unrecognized request argument supplied: " + std::string(name));
      }
    }
  }

  static bool IsTokenList(const JsonValue& value) {
    return value.IsArray() && !value.Empty() &&
           std::all_of(value.Begin(), value.End(), [](const JsonValue& v) { return v.IsUint(); });
  }

  // A list of tokens is embedded as the text of its JSON, without blanks.
  static void AddTokens(const JsonValue& tokens, Call& call) {
    std::string text = "[";
    for (const JsonValue& token : tokens.GetArray()) {
      text += text.size() > 1 ? "," : "";
      text += std::to_string(token.GetUint());
    }
    call.texts.push_back(text + "]");
    call.tokens += tokens.Size();
  }

  static void ReadInput(const JsonValue* input, Call& call) {
    bool valid = input != nullptr;
    if (valid && IsTokenList(*input)) {
      AddTokens(*input, call);
    } else if (valid && input->IsArray() && !input->Empty() && input->Begin()->IsArray()) {
      for (const JsonValue& tokens : input->GetArray()) {
        valid = valid && IsTokenList(tokens);
        if (valid) {
          AddTokens(tokens, call);
        }
      }
    } else {
      valid = valid && ReadTexts(*input, call) && !call.texts.empty() &&
              std::none_of(call.texts.begin(), call.texts.end(),
                           [](const std::string& text) { return text.empty(); });
    }
    if (!valid) {
      call.Refuse(ErrorKind::kBadRequest);
    }
    if (call.texts.size() > kMaxItems) {
      call.Refuse(ErrorKind::kTooManyItems, {}, "input");
    }
  }

  static void ReadDimensions(const JsonValue* wanted, const std::optional<Model>& model,
                             Call& call) {
    if (wanted == nullptr || wanted->IsNull() || !model.has_value()) {
      return;
    }
    if (model->sizes == Sizes::kOwn) {
      call.Refuse(ErrorKind::kBadRequest, "This model does not support specifying dimensions.");
      return;
    }
    if (!wanted->IsUint() || !model->Offers(wanted->GetUint())) {
      call.Refuse(ErrorKind::kBadRequest,
                  "Invalid value for 'dimensions'. Must be an integer from 1 to " +
                      std::to_string(model->dimensions) + ".",
                  "dimensions");
      return;
    }
    call.dimensions = wanted->GetUint();
  }

  static void ReadEncoding(const JsonValue* format, Call& call) {
    if (format == nullptr || format->IsNull()) {
      return;
    }
    const std::string_view name = format->IsString() ? StringOf(*format) : std::string_view();
    if (name != "float" && name != "base64") {
      call.Refuse(ErrorKind::kBadRequest,
                  "Invalid value for 'encoding_format'. Supported values are: 'float' and"
                  " 'base64'.",
                  "encoding_format");
      return;
    }
    call.as_base64 = name == "base64";
  }

  static void AnswerEmbeddings(std::string& out, const Call& call, const Plan& plan) {
    VectorWriter writer;
    out = R"({"object":"list")";
    if (plan.with_embeddings) {
      out += R"(,"data":[)";
      for (const Item& item : plan.items) {
        out += out.back() == '[' ? "" : ",";
        out += R"({"object":"embedding")";
        if (plan.with_index) {
          AppendJsonField(out, "index", item.index);
        }
        AppendJsonName(out, "embedding");
        call.as_base64 ? writer.AppendBase64(out, item) : writer.AppendFloats(out, item);
        out += '}';
      }
      out += ']';
    }
    AppendJsonField(out, "model", call.model);
    if (plan.with_usage) {
      const std::string tokens = std::to_string(call.tokens);
      out += R"(,"usage":{"prompt_tokens":)" + tokens + R"(,"total_tokens":)" + tokens + "}";
    }
    out += '}';
  }

  static void AppendModel(std::string& out, std::string_view name) {
    out += '{';
    AppendJsonField(out, "id", name);
    out += R"(,"object":"model","created":1705948997,"owned_by":"system"})";
  }

  static Reply AnswerModels(const Settings& settings) {
    Reply reply;
    reply.body = R"({"object":"list","data":[)";
    for (const Model& model : ListModels(Vendor::kOpenAi, settings)) {
      reply.body += reply.body.back() == '[' ? "" : ",";
      AppendModel(reply.body, model.name);
    }
    reply.body += "]}";
    return reply;
  }
};

}  // namespace

const Provider& OpenAi() {
  static const OpenAiProvider provider;
  return provider;
}

}  // namespace ai::mock
