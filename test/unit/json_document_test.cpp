// Tests of core/json's Document and Value.
#include "core/json/document.hpp"

#include <string>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "unit/catch_bridge.hpp"

using ai::ErrorCode;
using ai::json::Document;
using ai::json::Kind;
using ai::json::kMaxDepth;
using ai::json::Limits;
using ai::json::Value;
using ai::test::IsError;

namespace {

constexpr std::string_view kConfig = R"({
  "name": "docs", "size": 800, "ratio": 0.25, "on": true, "none": null, "whole": 3.0,
  "list": [1, [2, 3], {"deep": [true, "x"]}],
  "nested": {"a b": {"c": 1.5}},
  "twice": 1, "twice": 2
})";

IsError Says(std::string message) {
  return IsError(ErrorCode::kInvalidText, std::move(message));
}

}  // namespace

TEST_CASE("values are read by type", "[json][document]") {
  const Document document = Document::Parse(kConfig);
  const Value root = document.root();
  REQUIRE(root.kind() == Kind::kObject);
  REQUIRE(root.size() == 10);
  REQUIRE(root.GetString("name") == "docs");
  REQUIRE(root.GetInteger("size") == 800);
  REQUIRE(root.GetDouble("size") == 800.0);
  REQUIRE(root.GetDouble("ratio") == 0.25);
  REQUIRE(root.GetInteger("whole") == 3);
  REQUIRE(root.GetBool("on"));
  REQUIRE(root.At("none").IsNull());
  REQUIRE(root.At("nested").At("a b").GetDouble("c") == 1.5);
}

TEST_CASE("a member that is absent or null has a fallback, a wrong one does not",
          "[json][document]") {
  const Document document = Document::Parse(kConfig);
  const Value root = document.root();
  for (const char* key : {"absent", "none"}) {
    CHECK(root.GetString(key, "f") == "f");
    CHECK(root.GetInteger(key, 5) == 5);
    CHECK(root.GetDouble(key, 0.5) == 0.5);
    CHECK(root.GetBool(key, true));
  }
  REQUIRE(root.GetString("name", "f") == "docs");
  REQUIRE(root.GetInteger("size", 5) == 800);
  REQUIRE(root.GetDouble("ratio", 0.5) == 0.25);
  REQUIRE(root.GetBool("on", false));
  REQUIRE_THROWS_MATCHES(root.GetInteger("name", 5), ai::Error,
                         Says("JSON value \"name\" must be an integer, not a string"));
  REQUIRE_FALSE(root.Find("absent").has_value());
  REQUIRE(root.Find("none").has_value());
}

TEST_CASE("of duplicate keys the last counts, iteration shows all", "[json][document]") {
  const Document document = Document::Parse(kConfig);
  REQUIRE(document.root().GetInteger("twice") == 2);
  std::string keys;
  for (const auto& [key, value] : document.root().members()) {
    keys.append(key).append(" ");
  }
  REQUIRE(keys == "name size ratio on none whole list nested twice twice ");
}

TEST_CASE("elements are walked in order", "[json][document]") {
  const Document document = Document::Parse(kConfig);
  const Value list = document.root().At("list");
  REQUIRE(list.size() == 3);
  std::vector<Value> items;
  for (const Value item : list.items()) {
    items.push_back(item);
  }
  REQUIRE(items.size() == 3);
  REQUIRE(items[0].AsInteger() == 1);
  REQUIRE(items[1].size() == 2);
  REQUIRE(items[2].At("deep").size() == 2);
  REQUIRE(items[2].Path() == "list[2]");
  const Document empty = Document::Parse("[{},[]]");
  for (const Value item : empty.root().items()) {
    CHECK(item.size() == 0);
  }
}

TEST_CASE("an error names the path and both types", "[json][document]") {
  const Document document = Document::Parse(kConfig);
  const Value root = document.root();
  REQUIRE_THROWS_MATCHES(root.AsString(), ai::Error,
                         Says("JSON document must be a string, not an object"));
  REQUIRE_THROWS_MATCHES(root.GetInteger("ratio"), ai::Error,
                         Says("JSON value \"ratio\" must be an integer, not a fraction"));
  REQUIRE_THROWS_MATCHES(root.At("nested").At("a b").GetBool("c"), ai::Error,
                         Says("JSON value \"nested.a b.c\" must be a boolean, not a number"));
  REQUIRE_THROWS_MATCHES(root.GetDouble("on"), ai::Error, Says("must be a number, not a boolean"));
  REQUIRE_THROWS_MATCHES(root.GetString("none"), ai::Error, Says("must be a string, not null"));
  REQUIRE_THROWS_MATCHES(root.At("name").items(), ai::Error,
                         Says("must be an array, not a string"));
  REQUIRE_THROWS_MATCHES(root.At("list").members(), ai::Error,
                         Says("must be an object, not an array"));
  REQUIRE_THROWS_MATCHES(root.At("list").Find("x"), ai::Error, Says("must be an object"));
  REQUIRE_THROWS_MATCHES(root.At("size").size(), ai::Error,
                         Says("must be an object, not a number"));
  REQUIRE_THROWS_MATCHES(root.At("missing"), ai::Error, Says("JSON object has no key \"missing\""));
  REQUIRE_THROWS_MATCHES(root.At("nested").At("x"), ai::Error,
                         Says("JSON object \"nested\" has no key \"x\""));
  for (const Value item : root.At("list").items()) {
    if (item.kind() == Kind::kObject) {
      for (const Value inner : item.At("deep").items()) {
        CHECK_THROWS_MATCHES(inner.AsInteger(), ai::Error, Says("JSON value \"list[2].deep["));
      }
    }
  }
}

TEST_CASE("integers outside of what a double holds exactly are not guessed", "[json][document]") {
  const auto integer = [](const char* text) { return Document::Parse(text).root().AsInteger(); };
  REQUIRE(integer("1e3") == 1000);
  REQUIRE(integer("-0") == 0);
  REQUIRE(integer("9007199254740992.0") == 9007199254740992);
  REQUIRE(integer("9223372036854775807") == INT64_MAX);
  for (const char* text : {"1.5", "1e16", "9223372036854775808", "-1e300"}) {
    INFO(text);
    CHECK_THROWS_AS(integer(text), ai::Error);
  }
}

TEST_CASE("values survive a move and a copy of their document", "[json][document]") {
  Document document = Document::Parse(R"(["a string that does not fit into a small buffer"])");
  const Value root = document.root();
  const Document moved = std::move(document);
  const Document copy = moved;  // NOLINT(performance-unnecessary-copy-initialization): the point
  for (const Value item : root.items()) {
    REQUIRE(item.AsString() == "a string that does not fit into a small buffer");
  }
  REQUIRE(copy.root().size() == 1);
}

TEST_CASE("a document has the reader's limits, and one of its own", "[json][document]") {
  const auto nested = [](std::size_t depth) {
    return std::string(depth, '[') + "1" + std::string(depth, ']');
  };
  const Limits lax{std::size_t{1} << 20, std::size_t{1} << 20};
  for (const Limits& limits : {ai::json::kDocumentLimits, lax}) {
    const Document deep = Document::Parse(nested(kMaxDepth), limits);
    Value at = deep.root();
    while (at.kind() == Kind::kArray) {
      at = at.items()[0];
    }
    CHECK(at.AsInteger() == 1);
    CHECK(at.Path().size() == 3 * kMaxDepth);
    CHECK_THROWS_MATCHES(Document::Parse(nested(kMaxDepth + 1), limits), ai::Error,
                         IsError(ErrorCode::kLimitExceeded, "at byte 100"));
    CHECK_THROWS_MATCHES(Document::Parse(nested(lax.max_bytes / 4), limits), ai::Error,
                         IsError(ErrorCode::kLimitExceeded, "at byte 100"));
  }
  REQUIRE_THROWS_MATCHES(Document::Parse("[1,2]", Limits{4, 9}), ai::Error,
                         IsError(ErrorCode::kLimitExceeded));
  REQUIRE_THROWS_MATCHES(Document::Parse("[1,2"), ai::Error, Says("at byte 4"));
}

TEST_CASE("a long key is clipped in a message", "[json][document]") {
  const Document document = Document::Parse("{\"" + std::string(5000, 'k') + "\":1}");
  for (const auto& [key, value] : document.root().members()) {
    CHECK(key.size() == 5000);
    CHECK(value.Path().size() == 64);
  }
}
