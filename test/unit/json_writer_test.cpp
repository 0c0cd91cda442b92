// Tests of core/json/writer: what it writes reads back as the same, and it refuses what is not
// JSON.
#include "core/json/writer.hpp"

#include <bit>
#include <cmath>
#include <random>
#include <string>

#include "core/error.hpp"
#include "core/json/document.hpp"
#include "unit/catch_bridge.hpp"

using ai::ErrorCode;
using ai::json::Document;
using ai::json::Writer;
using ai::test::IsError;
using std::string_view_literals::operator""sv;

namespace {

std::string Copied(std::string_view text) {
  std::string out;
  Writer(out).Copy(Document::Parse(text).root());
  return out;
}

std::string Written(double value) {
  std::string out;
  Writer(out).Double(value);
  return out;
}

}  // namespace

TEST_CASE("objects and arrays get their commas", "[json][writer]") {
  std::string out = "prefix ";
  Writer writer(out);
  writer.BeginObject();
  writer.Key("a").Integer(-5).Key("b").BeginArray().EndArray();
  REQUIRE_FALSE(writer.complete());
  writer.Key("c").BeginArray().Null().Bool(true).Bool(false).BeginObject().EndObject().EndArray();
  writer.Key("d").String("x").Key("e").Double(0.1).EndObject();
  REQUIRE(writer.complete());
  REQUIRE(out == R"(prefix {"a":-5,"b":[],"c":[null,true,false,{}],"d":"x","e":0.1})");
}

TEST_CASE("strings are escaped as little as possible", "[json][writer]") {
  std::string out;
  Writer(out).String("a\"b\\c/\b\f\n\r\t\x01\x1f\x7f\0\u00e9\U0001F600"sv);
  REQUIRE(out == "\"a\\\"b\\\\c/\\b\\f\\n\\r\\t\\u0001\\u001F\x7f\\u0000\u00e9\U0001F600\"");
  std::string all;
  for (int c = 0; c < 128; ++c) {
    all.push_back(static_cast<char>(c));
  }
  std::string text;
  Writer(text).BeginObject().Key(all).String(all).EndObject();
  REQUIRE(Document::Parse(text).root().GetString(all) == all);
}

TEST_CASE("an empty text may be nowhere", "[json][writer]") {
  std::string out;
  Writer(out).BeginObject().Key({}).String({}).EndObject();
  REQUIRE(out == R"({"":""})");
}

TEST_CASE("numbers read back as the same", "[json][writer]") {
  REQUIRE(Written(1.0) == "1");
  REQUIRE(Written(-0.0) == "-0");
  REQUIRE(Written(0.1) == "0.1");
  std::mt19937_64 random(11);  // NOLINT(cert-msc51-cpp): a test must repeat
  std::size_t wrong = 0;
  for (int i = 0; i < 30000; ++i) {
    const double value = std::bit_cast<double>(random());
    if (std::isfinite(value)) {
      const double read = Document::Parse(Written(value)).root().AsDouble();
      wrong += std::bit_cast<std::uint64_t>(read) == std::bit_cast<std::uint64_t>(value) ? 0 : 1;
    }
  }
  REQUIRE(wrong == 0);
  for (const std::int64_t value : {INT64_MIN, INT64_MAX, std::int64_t{0}}) {
    std::string out;
    Writer(out).Integer(value);
    CHECK(Document::Parse(out).root().AsInteger() == value);
  }
}

TEST_CASE("what is not JSON is refused and leaves nothing behind", "[json][writer]") {
  std::string out;
  Writer writer(out);
  writer.BeginArray().Integer(1);
  const auto invalid = IsError(ErrorCode::kInvalidParameter, "NaN or infinity");
  REQUIRE_THROWS_MATCHES(writer.Double(NAN), ai::Error, invalid);
  REQUIRE_THROWS_MATCHES(writer.Double(INFINITY), ai::Error, invalid);
  REQUIRE_THROWS_MATCHES(writer.Double(-INFINITY), ai::Error, invalid);
  REQUIRE_THROWS_MATCHES(writer.String("ab\xFF"), ai::Error,
                         IsError(ErrorCode::kInvalidText, "at byte 2"));
  REQUIRE(out == "[1");
  writer.Integer(2).EndArray();
  REQUIRE(out == "[1,2]");
}

TEST_CASE("a text that would not be JSON cannot be written", "[json][writer]") {
  std::string out;
  Writer writer(out);
  const auto misuse = IsError(ErrorCode::kInternal);
  REQUIRE_THROWS_MATCHES(writer.Key("a"), ai::Error, misuse);
  REQUIRE_THROWS_MATCHES(writer.EndObject(), ai::Error, misuse);
  writer.BeginObject();
  REQUIRE_THROWS_MATCHES(writer.Integer(1), ai::Error, misuse);
  REQUIRE_THROWS_MATCHES(writer.EndArray(), ai::Error, misuse);
  writer.Key("a");
  REQUIRE_THROWS_MATCHES(writer.Key("b"), ai::Error, misuse);
  REQUIRE_THROWS_MATCHES(writer.EndObject(), ai::Error, misuse);
  writer.BeginArray();
  REQUIRE_THROWS_MATCHES(writer.Key("b"), ai::Error, misuse);
  REQUIRE_THROWS_MATCHES(writer.EndObject(), ai::Error, misuse);
  writer.EndArray().EndObject();
  REQUIRE_THROWS_MATCHES(writer.Null(), ai::Error, misuse);
  REQUIRE(out == R"({"a":[]})");
}

TEST_CASE("a value is copied with all it contains", "[json][writer]") {
  for (const char* text : {"null", "1", "\"a\\nb\"", "[]", "{}", "[[],{},[[]]]",
                           R"({"a":{"b":[1,2.5,{"c":null}]},"d":[]})", R"({"a":1,"a":2})",
                           R"([true,false,{"":""}])"}) {
    INFO(text);
    CHECK(Copied(text) == text);
  }
  const Document document = Document::Parse(R"({"x":1,"options":{"n":[1,{"m":2}]},"y":2})");
  std::string out;
  Writer(out).BeginObject().Key("o").Copy(document.root().At("options")).EndObject();
  REQUIRE(out == R"({"o":{"n":[1,{"m":2}]}})");
}
