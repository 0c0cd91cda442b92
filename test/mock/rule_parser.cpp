// rule_parser.cpp: reads rules as the control interface gets them. README.md lists the fields.
#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "mock/fields.hpp"
#include "mock/rule_spec.hpp"
#include "mock/vectors.hpp"

namespace ai::mock {

namespace {

std::chrono::microseconds Milliseconds(const Field& field) {
  return std::chrono::microseconds(static_cast<int64_t>(field.Number() * 1000));
}

// A value that is one of a few names.
template <typename Value, size_t kCount>
Value OneOf(const Field& field,
            const std::array<std::pair<std::string_view, Value>, kCount>& names) {
  const std::string name = field.Text();
  std::string known;
  for (const auto& [candidate, value] : names) {
    if (candidate == name) {
      return value;
    }
    known += known.empty() ? "" : ", ";
    known += candidate;
  }
  field.Refuse("one of " + known);
}

constexpr std::array<std::pair<std::string_view, Point>, 4> kPoints{{
    {"before", Point::kBefore},
    {"head", Point::kHead},
    {"body", Point::kBody},
    {"after", Point::kAfter},
}};

Point ReadPoint(const Field& field) {
  return OneOf(field, kPoints);
}

void ReadHang(const Field& field, RuleSpec& rule) {
  rule.outcome.delivery.hang = ReadPoint(field);
  if (rule.outcome.delivery.hang == Point::kAfter) {
    field.Refuse("before, head or body");
  }
}

void ReadShare(const Field& field, RuleSpec& rule) {
  rule.match.share = field.Number();
  if (rule.match.share > 1) {
    field.Refuse("a number from 0 to 1");
  }
}

void ReadLatency(const Field& field, RuleSpec& rule) {
  if (!field.value.IsArray()) {
    rule.latency.least = rule.latency.most = Milliseconds(field);
    return;
  }
  if (field.value.Size() != 2) {
    field.Refuse("a number, or an array of the least and the most");
  }
  rule.latency.least = Milliseconds({field.name, field.value[0]});
  rule.latency.most = Milliseconds({field.name, field.value[1]});
  if (rule.latency.most < rule.latency.least) {
    field.Refuse("an array whose second number is not below the first");
  }
}

void ReadStatus(const Field& field, RuleSpec& rule) {
  const uint64_t status = field.Count();
  if (status < 200 || status > 599) {
    field.Refuse("a status from 200 to 599");
  }
  rule.outcome.status = static_cast<int>(status);
}

void ReadError(const Field& field, RuleSpec& rule) {
  rule.outcome.error = FindErrorKind(field.Text());
  if (!rule.outcome.error.has_value()) {
    field.Refuse("one of " + ErrorKindNames());
  }
}

void ReadReply(const Field& field, RuleSpec& rule) {
  const std::optional<BodyFault> fault = FindBodyFault(field.Text());
  if (!fault.has_value()) {
    field.Refuse("one of " + BodyFaultNames());
  }
  rule.outcome.fault = *fault;
}

void ReadHeaders(const Field& field, RuleSpec& rule) {
  if (!field.value.IsObject()) {
    field.Refuse("an object of names and values");
  }
  for (const auto& member : field.value.GetObject()) {
    rule.outcome.headers.push_back(
        {std::string(StringOf(member.name)), Field{StringOf(member.name), member.value}.Text()});
  }
}

void ReadRedirect(const Field& field, RuleSpec& rule) {
  rule.outcome.headers.push_back({"Location", field.Text()});
  rule.outcome.body = rule.outcome.body.value_or("");
  if (rule.outcome.status == 0) {
    rule.outcome.status = 307;
  }
}

void ReadWrongDimensions(const Field& field, RuleSpec& rule) {
  rule.outcome.wrong_dimensions = field.Count();
  if (rule.outcome.wrong_dimensions > kMaxDimensions) {
    field.Refuse("a number of dimensions");
  }
}

constexpr std::array kDripFields{
    FieldReader<Delivery>{"bytes", [](const Field& f, Delivery& d) { d.drip_bytes = f.Count(); }},
    FieldReader<Delivery>{
        "every_ms",
        [](const Field& f, Delivery& d) { d.drip_every = std::chrono::milliseconds(f.Count()); }},
};

void ReadDrip(const Field& field, RuleSpec& rule) {
  ReadFields(field.value, kDripFields, rule.outcome.delivery);
  if (rule.outcome.delivery.drip_bytes == 0) {
    field.Refuse("an object with bytes above zero and every_ms");
  }
}

constexpr std::array<std::pair<std::string_view, Framing>, 6> kFramings{{
    {"length", Framing::kLength},
    {"chunked", Framing::kChunked},
    {"until_close", Framing::kUntilClose},
    {"bad_chunk", Framing::kBadChunk},
    {"bad_length", Framing::kBadLength},
    {"long_length", Framing::kLongLength},
}};

void ReadFraming(const Field& field, RuleSpec& rule) {
  rule.outcome.delivery.framing = OneOf(field, kFramings);
}

constexpr std::array<std::pair<std::string_view, Compression>, 3> kCompressions{{
    {"when_asked", Compression::kWhenAsked},
    {"always", Compression::kAlways},
    {"corrupt", Compression::kCorrupt},
}};

void ReadGzip(const Field& field, RuleSpec& rule) {
  rule.outcome.delivery.compression = OneOf(field, kCompressions);
}

using Reader = FieldReader<RuleSpec>;

constexpr std::array kMatchFields{
    Reader{"name", [](const Field& f, RuleSpec& r) { r.name = f.Text(); }},
    Reader{"path", [](const Field& f, RuleSpec& r) { r.match.path = f.Text(); }},
    Reader{"method", [](const Field& f, RuleSpec& r) { r.match.method = f.Text(); }},
    Reader{"text", [](const Field& f, RuleSpec& r) { r.match.text = f.Text(); }},
    Reader{"model", [](const Field& f, RuleSpec& r) { r.match.model = f.Text(); }},
    Reader{"key", [](const Field& f, RuleSpec& r) { r.match.key = f.Text(); }},
    Reader{"share", ReadShare},
    Reader{"seed", [](const Field& f, RuleSpec& r) { r.match.seed = f.Count(); }},
    Reader{"skip", [](const Field& f, RuleSpec& r) { r.match.skip = f.Count(); }},
    Reader{"count", [](const Field& f, RuleSpec& r) { r.match.count = f.Count(); }},
    Reader{"latency_ms", ReadLatency},
    Reader{"latency_per_item_ms",
           [](const Field& f, RuleSpec& r) { r.latency.per_item = Milliseconds(f); }},
};

constexpr std::array kOutcomeFields{
    Reader{"status", ReadStatus},
    Reader{"error", ReadError},
    Reader{"body", [](const Field& f, RuleSpec& r) { r.outcome.body = f.Text(); }},
    Reader{"content_type", [](const Field& f, RuleSpec& r) { r.outcome.content_type = f.Text(); }},
    Reader{"headers", ReadHeaders},
    Reader{"retry_after", [](const Field& f, RuleSpec& r) { r.outcome.retry_after = f.Count(); }},
    Reader{"retry_after_date",
           [](const Field& f, RuleSpec& r) { r.outcome.retry_after_date = f.Count(); }},
    Reader{"redirect", ReadRedirect},
    Reader{"reply", ReadReply},
    Reader{"dimensions", ReadWrongDimensions},
    Reader{"hang", ReadHang},
    Reader{"close", [](const Field& f, RuleSpec& r) { r.outcome.delivery.close = ReadPoint(f); }},
    Reader{"reset", [](const Field& f, RuleSpec& r) { r.outcome.delivery.reset = ReadPoint(f); }},
    Reader{"at_byte", [](const Field& f, RuleSpec& r) { r.outcome.delivery.at_byte = f.Count(); }},
    Reader{"drip", ReadDrip},
    Reader{"framing", ReadFraming},
    Reader{"gzip", ReadGzip},
    Reader{"enormous_bytes",
           [](const Field& f, RuleSpec& r) { r.outcome.delivery.enormous_bytes = f.Count(); }},
    Reader{"header_bytes",
           [](const Field& f, RuleSpec& r) { r.outcome.delivery.header_bytes = f.Count(); }},
};

constexpr auto kAllFields = [] {
  std::array<Reader, kMatchFields.size() + kOutcomeFields.size()> all{};
  std::copy(kMatchFields.begin(), kMatchFields.end(), all.begin());
  std::copy(kOutcomeFields.begin(), kOutcomeFields.end(), all.begin() + kMatchFields.size());
  return all;
}();

RuleSpec ParseRule(const JsonValue& value) {
  RuleSpec rule;
  ReadFields(value, kAllFields, rule);
  for (const Reader& reader : kOutcomeFields) {
    rule.outcome.decides =
        rule.outcome.decides || FindMember(value, std::string(reader.name).c_str()) != nullptr;
  }
  return rule;
}

}  // namespace

std::vector<RuleSpec> ParseRules(std::string_view json) {
  const JsonDocument document = ParseJson(json);
  std::vector<RuleSpec> rules;
  if (!document.IsArray()) {
    rules.push_back(ParseRule(document));
    return rules;
  }
  for (const JsonValue& rule : document.GetArray()) {
    rules.push_back(ParseRule(rule));
  }
  return rules;
}

}  // namespace ai::mock
