// cohere.cpp: Cohere: POST /v2/embed.
//
// Texts only, and of the embedding types "float" and "base64" only: a request for another type is
// refused and says that it is the mock that cannot.
#include <algorithm>
#include <array>
#include <string>

#include "mock/provider.hpp"

namespace ai::mock {

namespace {

constexpr size_t kMaxItems = 96;

std::string MessageOf(ErrorKind kind, const Call& call) {
  switch (kind) {
    case ErrorKind::kContextLength:
      return "invalid request: text at index 0 is too long; set truncate to START or END";
    case ErrorKind::kTooManyItems:
      return "invalid request: total number of texts must be at most 96 - received " +
             std::to_string(call.texts.size());
    case ErrorKind::kTooManyTokens:
      return "too many tokens: total number of tokens in the request is " +
             std::to_string(call.tokens);
    case ErrorKind::kMissingKey:
      return "no api key supplied";
    case ErrorKind::kInvalidKey:
      return "invalid api token";
    case ErrorKind::kForbidden:
      return "this api token does not have access to the resource";
    case ErrorKind::kModelNotFound:
      return "model '" + call.model +
             "' not found, make sure the correct model ID was used and that you have access to the"
             " model.";
    case ErrorKind::kNotFound:
      return "resource not found";
    case ErrorKind::kMethodNotAllowed:
      return "method not allowed";
    case ErrorKind::kTooLarge:
      return "request entity too large";
    case ErrorKind::kUnprocessable:
      return "request is well-formed but cannot be processed";
    case ErrorKind::kRateLimit:
      return "You are past the per minute request limit, please wait and try again later.";
    case ErrorKind::kQuota:
      return "You are using a Trial key, which is limited to 1000 API calls / month. You can"
             " continue to use the Trial key for free or upgrade to a Production key.";
    case ErrorKind::kServer:
      return "internal server error, this has been reported to our developers";
    case ErrorKind::kBadGateway:
      return "bad gateway";
    case ErrorKind::kOverloaded:
      return "the service is currently unavailable";
    case ErrorKind::kTimeout:
    case ErrorKind::kGatewayTimeout:
      return "the request took too long to process";
    default:
      return "invalid request";
  }
}

constexpr std::array<std::string_view, 5> kInputTypes{"search_document", "search_query",
                                                      "classification", "clustering", "image"};

class CohereProvider : public Provider {
 public:
  Vendor vendor() const override { return Vendor::kCohere; }

  Reply Answer(const Call& call, const Plan& plan, const Settings& /*settings*/) const override {
    Reply reply;
    std::string& out = reply.body;
    out = "{";
    AppendJsonField(out, "id", NextUuid());
    if (plan.with_embeddings) {
      out += R"(,"embeddings":{)";
      AppendVectors(out, call, plan);
      out += '}';
    }
    out += R"(,"texts":[)";
    for (const std::string& text : call.texts) {
      out += out.back() == '[' ? "" : ",";
      AppendJsonString(out, text);
    }
    out += R"(],"meta":{"api_version":{"version":"2"})";
    if (plan.with_usage) {
      out += R"(,"billed_units":{"input_tokens":)" + std::to_string(call.tokens) + "}";
    }
    out += R"(},"response_type":"embeddings_by_type"})";
    return reply;
  }

  Reply Complain(ErrorKind kind, int status, const Call& call, std::string_view message,
                 std::string_view /*param*/) const override {
    Reply reply;
    reply.status = status;
    reply.body = "{";
    AppendJsonField(reply.body, "id", NextUuid());
    AppendJsonField(reply.body, "message", message.empty() ? MessageOf(kind, call) : message);
    reply.body += '}';
    return reply;
  }

 protected:
  void RefuseBody(const Request& /*request*/, std::string_view /*why*/, Call& call) const override {
    call.Refuse(ErrorKind::kBadRequest, "invalid request: the body is not valid JSON");
  }

  void ReadBody(const JsonValue& body, const Settings& settings, Call& call) const override {
    const std::optional<Model> model = ReadModel(body, settings, call);
    if (call.model.empty()) {
      call.Refuse(ErrorKind::kBadRequest, "invalid request: model is required");
    }
    const JsonValue* texts = FindMember(body, "texts");
    if (texts == nullptr || !texts->IsArray() || !ReadTexts(*texts, call)) {
      call.Refuse(ErrorKind::kBadRequest, "invalid request: texts must be a list of strings");
    }
    if (call.texts.empty()) {
      call.Refuse(ErrorKind::kBadRequest, "invalid request: at least one text is required");
    }
    if (call.texts.size() > kMaxItems) {
      call.Refuse(ErrorKind::kTooManyItems);
    }
    ReadInputType(FindMember(body, "input_type"), call);
    ReadEmbeddingTypes(FindMember(body, "embedding_types"), call);
    const JsonValue* wanted = FindMember(body, "output_dimension");
    if (wanted != nullptr && !wanted->IsNull() && model.has_value()) {
      if (!wanted->IsUint() || !model->Offers(wanted->GetUint())) {
        call.Refuse(ErrorKind::kBadRequest, "invalid request: output_dimension is not supported");
      } else {
        call.dimensions = wanted->GetUint();
      }
    }
    const JsonValue* truncate = FindMember(body, "truncate");
    call.truncates = truncate == nullptr || !truncate->IsString() || StringOf(*truncate) != "NONE";
  }

 private:
  static void AppendVectors(std::string& out, const Call& call, const Plan& plan) {
    VectorWriter writer;
    if (call.as_floats) {
      AppendJsonName(out, "float");
      out += '[';
      for (const Item& item : plan.items) {
        out += out.back() == '[' ? "" : ",";
        writer.AppendFloats(out, item);
      }
      out += ']';
    }
    if (call.as_base64) {
      AppendJsonName(out, "base64");
      out += '[';
      for (const Item& item : plan.items) {
        out += out.back() == '[' ? "" : ",";
        writer.AppendBase64(out, item);
      }
      out += ']';
    }
  }

  static void ReadInputType(const JsonValue* type, Call& call) {
    if (type == nullptr || !type->IsString() ||
        std::find(kInputTypes.begin(), kInputTypes.end(), StringOf(*type)) == kInputTypes.end()) {
      call.Refuse(ErrorKind::kBadRequest, "invalid request: valid input_type must be provided");
    }
  }

  static void ReadEmbeddingTypes(const JsonValue* types, Call& call) {
    if (types == nullptr || types->IsNull()) {
      return;
    }
    if (!types->IsArray() || types->Empty()) {
      call.Refuse(ErrorKind::kBadRequest, "invalid request: embedding_types must be a list");
      return;
    }
    call.as_floats = false;
    for (const JsonValue& type : types->GetArray()) {
      const std::string_view name = type.IsString() ? StringOf(type) : std::string_view();
      call.as_floats = call.as_floats || name == "float";
      call.as_base64 = call.as_base64 || name == "base64";
      if (name != "float" && name != "base64") {
        call.Refuse(ErrorKind::kBadRequest,
                    "the mock knows no embedding type but float and base64");
      }
    }
  }
};

}  // namespace

const Provider& Cohere() {
  static const CohereProvider provider;
  return provider;
}

}  // namespace ai::mock
