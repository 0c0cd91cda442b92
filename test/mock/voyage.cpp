// voyage.cpp: Voyage AI: POST /v1/embeddings under the prefix /voyage.
//
// Floats only: a request for another output_dtype is refused and says that it is the mock that
// cannot, for no reply of another kind is ever wanted by the tests.
#include <algorithm>
#include <string>

#include "mock/provider.hpp"

namespace ai::mock {

namespace {

constexpr size_t kMaxItems = 1000;

std::string MessageOf(ErrorKind kind, const Call& call) {
  switch (kind) {
    case ErrorKind::kContextLength:
      return "Request to model '" + call.model +
             "' failed. The example at index 0 in your batch has too many tokens and does not fit"
             " into the model's context window.";
    case ErrorKind::kTooManyItems:
      return "The batch size limit is 1000. Your batch size is " +
             std::to_string(call.texts.size()) + ".";
    case ErrorKind::kTooManyTokens:
      return "Request to model '" + call.model +
             "' failed. The max allowed tokens per submitted batch is 120000. Your batch has " +
             std::to_string(call.tokens) +
             " tokens after truncation. Please lower the number of tokens in the batch.";
    case ErrorKind::kMissingKey:
    case ErrorKind::kInvalidKey:
      return "Provided API key is invalid.";
    case ErrorKind::kForbidden:
      return "The IP address you are using is not allowed.";
    case ErrorKind::kModelNotFound:
      return "Model " + call.model + " is not supported.";
    case ErrorKind::kNotFound:
      return "Not Found";
    case ErrorKind::kMethodNotAllowed:
      return "Method Not Allowed";
    case ErrorKind::kTooLarge:
      return "Request entity too large.";
    case ErrorKind::kRateLimit:
      return "Your request was rejected because you have reached the rate limit of requests or"
             " tokens per minute.";
    case ErrorKind::kQuota:
      return "You have not yet added your payment method in the billing page and will have reduced"
             " rate limits.";
    case ErrorKind::kServer:
      return "An unexpected error occurred on our server. Please retry your request.";
    case ErrorKind::kBadGateway:
    case ErrorKind::kOverloaded:
    case ErrorKind::kGatewayTimeout:
    case ErrorKind::kTimeout:
      return "The server is temporarily overloaded. Please retry your request after a brief wait.";
    default:
      return "The request body is not valid.";
  }
}

class VoyageProvider : public Provider {
 public:
  Vendor vendor() const override { return Vendor::kVoyage; }

  Reply Answer(const Call& call, const Plan& plan, const Settings& /*settings*/) const override {
    VectorWriter writer;
    Reply reply;
    std::string& out = reply.body;
    out = R"({"object":"list")";
    if (plan.with_embeddings) {
      out += R"(,"data":[)";
      for (const Item& item : plan.items) {
        out += out.back() == '[' ? "" : ",";
        out += R"({"object":"embedding","embedding":)";
        call.as_base64 ? writer.AppendBase64(out, item) : writer.AppendFloats(out, item);
        if (plan.with_index) {
          AppendJsonField(out, "index", item.index);
        }
        out += '}';
      }
      out += ']';
    }
    AppendJsonField(out, "model", call.model);
    if (plan.with_usage) {
      out += R"(,"usage":{"total_tokens":)" + std::to_string(call.tokens) + "}";
    }
    out += '}';
    return reply;
  }

  Reply Complain(ErrorKind kind, int status, const Call& call, std::string_view message,
                 std::string_view /*param*/) const override {
    // Voyage has no 404 for models: an unknown one is a bad request.
    Reply reply;
    reply.status = kind == ErrorKind::kModelNotFound && status == 404 ? 400 : status;
    reply.body = "{";
    AppendJsonField(reply.body, "detail", message.empty() ? MessageOf(kind, call) : message);
    reply.body += '}';
    return reply;
  }

 protected:
  void RefuseBody(const Request& /*request*/, std::string_view /*why*/, Call& call) const override {
    call.Refuse(ErrorKind::kBadRequest, "The request body is not valid JSON.");
  }

  void ReadBody(const JsonValue& body, const Settings& settings, Call& call) const override {
    const std::optional<Model> model = ReadModel(body, settings, call);
    if (call.model.empty()) {
      call.Refuse(ErrorKind::kBadRequest, "Argument 'model' is required.");
    }
    const JsonValue* input = FindMember(body, "input");
    if (input == nullptr || !ReadTexts(*input, call)) {
      call.Refuse(ErrorKind::kBadRequest,
                  "Argument 'input' must be a string or a list of strings.");
    }
    if (call.texts.empty() || std::any_of(call.texts.begin(), call.texts.end(),
                                          [](const std::string& text) { return text.empty(); })) {
      call.Refuse(ErrorKind::kBadRequest, "Input cannot contain empty strings or empty lists.");
    }
    if (call.texts.size() > kMaxItems) {
      call.Refuse(ErrorKind::kTooManyItems);
    }
    const JsonValue* truncation = FindMember(body, "truncation");
    call.truncates = truncation == nullptr || !truncation->IsBool() || truncation->GetBool();
    ReadOutput(body, model, call);
  }

 private:
  static void ReadOutput(const JsonValue& body, const std::optional<Model>& model, Call& call) {
    const JsonValue* type = FindMember(body, "input_type");
    if (type != nullptr && !type->IsNull() &&
        !(type->IsString() && (StringOf(*type) == "query" || StringOf(*type) == "document"))) {
      call.Refuse(ErrorKind::kBadRequest,
                  "Argument 'input_type' must be 'query', 'document' or null.");
    }
    const JsonValue* wanted = FindMember(body, "output_dimension");
    if (wanted != nullptr && !wanted->IsNull() && model.has_value()) {
      if (!wanted->IsUint() || !model->Offers(wanted->GetUint())) {
        call.Refuse(ErrorKind::kBadRequest, "Model " + call.model +
                                                " does not support this value of"
                                                " 'output_dimension'.");
      } else {
        call.dimensions = wanted->GetUint();
      }
    }
    const JsonValue* dtype = FindMember(body, "output_dtype");
    if (dtype != nullptr && !(dtype->IsString() && StringOf(*dtype) == "float")) {
      call.Refuse(ErrorKind::kBadRequest, "The mock knows no 'output_dtype' but 'float'.");
    }
    const JsonValue* format = FindMember(body, "encoding_format");
    if (format != nullptr && !format->IsNull()) {
      call.as_base64 = format->IsString() && StringOf(*format) == "base64";
      if (!call.as_base64) {
        call.Refuse(ErrorKind::kBadRequest, "Argument 'encoding_format' must be 'base64' or null.");
      }
    }
  }
};

}  // namespace

const Provider& Voyage() {
  static const VoyageProvider provider;
  return provider;
}

}  // namespace ai::mock
