// body_fault.cpp: what can be wrong with the body of a reply whose status is 200.
#include "mock/body_fault.hpp"

#include <array>

namespace ai::mock {

namespace {

struct Named {
  std::string_view name;
  BodyFault fault;
};

constexpr std::array kNames{
    Named{"garbage", BodyFault::kGarbage},
    Named{"html", BodyFault::kHtml},
    Named{"empty", BodyFault::kEmpty},
    Named{"truncated", BodyFault::kTruncated},
    Named{"null", BodyFault::kNull},
    Named{"wrong_shape", BodyFault::kWrongShape},
    Named{"trailing_garbage", BodyFault::kTrailingGarbage},
    Named{"deep_nesting", BodyFault::kDeepNesting},
    Named{"invalid_utf8", BodyFault::kInvalidUtf8},
    Named{"error_with_status_200", BodyFault::kErrorWithStatus200},
    Named{"missing_item", BodyFault::kMissingItem},
    Named{"extra_item", BodyFault::kExtraItem},
    Named{"empty_list", BodyFault::kEmptyList},
    Named{"wrong_order", BodyFault::kWrongOrder},
    Named{"duplicate_index", BodyFault::kDuplicateIndex},
    Named{"bad_index", BodyFault::kBadIndex},
    Named{"no_index", BodyFault::kNoIndex},
    Named{"no_embeddings", BodyFault::kNoEmbeddings},
    Named{"no_usage", BodyFault::kNoUsage},
    Named{"wrong_dimensions", BodyFault::kWrongDimensions},
    Named{"uneven_dimensions", BodyFault::kUnevenDimensions},
    Named{"null_item", BodyFault::kNullItem},
    Named{"null_value", BodyFault::kNullValue},
    Named{"string_value", BodyFault::kStringValue},
    Named{"nan", BodyFault::kNan},
    Named{"infinity", BodyFault::kInfinity},
    Named{"zero_vector", BodyFault::kZeroVector},
    Named{"bad_base64", BodyFault::kBadBase64},
};

// Deep enough to overflow the stack of a parser that recurses.
constexpr size_t kNesting = 200'000;

}  // namespace

std::optional<BodyFault> FindBodyFault(std::string_view name) {
  for (const Named& named : kNames) {
    if (named.name == name) {
      return named.fault;
    }
  }
  return std::nullopt;
}

std::string BodyFaultNames() {
  std::string names;
  for (const Named& named : kNames) {
    names += names.empty() ? "" : ", ";
    names += named.name;
  }
  return names;
}

void SpoilBody(BodyFault fault, Reply& reply) {
  switch (fault) {
    case BodyFault::kGarbage:
      reply.body = "\x01\x9d{]not json at all\xff\xfe\x7f}";
      return;
    case BodyFault::kHtml:
      reply.content_type = "text/html; charset=UTF-8";
      reply.body =
          "<!DOCTYPE html>\n<html><head><title>Maintenance</title></head>"
          "<body><h1>We will be back soon</h1></body></html>\n";
      return;
    case BodyFault::kEmpty:
      reply.body.clear();
      return;
    case BodyFault::kTruncated:
      reply.body.resize(reply.body.size() / 2);
      return;
    case BodyFault::kNull:
      reply.body = "null";
      return;
    case BodyFault::kWrongShape:
      reply.body = R"([{"unexpected":true},17,"text"])";
      return;
    case BodyFault::kTrailingGarbage:
      reply.body += "}]garbage";
      return;
    case BodyFault::kDeepNesting:
      reply.body.assign(kNesting, '[');
      reply.body.append(kNesting, ']');
      return;
    case BodyFault::kInvalidUtf8:
      reply.body.insert(1, "\"note\":\"\xc3\x28\xed\xa0\x80\",");
      return;
    default:
      return;
  }
}

}  // namespace ai::mock
