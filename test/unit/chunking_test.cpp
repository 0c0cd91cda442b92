// Splitters from configurations.
#include "core/text/chunking.hpp"

#include <string>
#include <vector>

#include "core/error.hpp"
#include "core/json/document.hpp"
#include "core/text/splitter_cache.hpp"
#include "unit/catch_bridge.hpp"

namespace {

using ai::ErrorCode;
using ai::test::IsError;

/// Two characters to the unit, to see whether a length function is used.
class HalfLength final : public ai::text::LengthFunction {
 public:
  std::size_t Measure(std::string_view text) const override { return (text.size() + 1) / 2; }
};

std::shared_ptr<const ai::text::LengthFunction> FindLength(std::string_view name) {
  if (name != "half") {
    throw ai::Error(ErrorCode::kInvalidParameter, "no length " + std::string(name));
  }
  return std::make_shared<HalfLength>();
}

std::vector<std::string> Split(std::string_view config, std::string_view text) {
  const auto document = ai::json::Document::Parse(config);
  ai::text::ChunkList chunks(text);
  ai::text::MakeSplitter(document.root(), FindLength)->Split(text, chunks, nullptr);
  return {chunks.chunks().begin(), chunks.chunks().end()};
}

using Strings = std::vector<std::string>;

}  // namespace

TEST_CASE("each implementation is made with its options", "[chunking]") {
  REQUIRE(Split(R"({"config_type":"chunking","implementation":"none"})", "a b") == Strings{"a b"});
  REQUIRE(Split(R"({"config_type":"chunking","implementation":"none"})", "").empty());
  REQUIRE(Split(R"({"config_type":"chunking","implementation":"character_text_splitter",
                    "chunk_size":3,"chunk_overlap":0,"separator":"-","keep_separator":"end"})",
                "a-b-c") == Strings{"a-", "b-c"});
  REQUIRE(Split(R"({"config_type":"chunking","implementation":"recursive_character_text_splitter",
                    "chunk_size":4,"chunk_overlap":0,"separators":["-",""]})",
                "ab-cdefgh") == Strings{"ab", "-cde", "fgh"});
  REQUIRE(Split(R"({"config_type":"chunking","implementation":"sentence","chunk_size":6,
                    "min_characters_per_sentence":1,"delimiters":["."],"include_delimiter":"next"})",
                "one.two.three") == Strings{"one", ".two", ".three"});
  REQUIRE(Split(R"({"config_type":"chunking","implementation":"semantic","chunk_size":5})",
                "one two three") == Strings{"one", "two", "three"});
}

TEST_CASE("null members have the defaults", "[chunking]") {
  const std::string config =
      R"({"config_type":"chunking","implementation":"character_text_splitter",
                                 "chunk_size":null,"separator":null,"length":null})";
  REQUIRE(Split(config, "one\n\ntwo") == Strings{"one\n\ntwo"});
}

TEST_CASE("a named length is looked up", "[chunking]") {
  const std::string config =
      R"({"config_type":"chunking","implementation":"character_text_splitter",
                                 "chunk_size":3,"chunk_overlap":0,"separator":"","length":"half"})";
  REQUIRE(Split(config, "abcdef") == Strings{"abc", "def"});
  REQUIRE_THROWS_MATCHES(
      Split(R"({"config_type":"chunking","implementation":"semantic","length":"none"})", "a"),
      ai::Error, IsError(ErrorCode::kInvalidParameter, "no length none"));
}

TEST_CASE("a wrong configuration is refused", "[chunking]") {
  REQUIRE_THROWS_MATCHES(Split(R"({"config_type":"loading"})", "a"), ai::Error,
                         IsError(ErrorCode::kInvalidParameter, "config_type"));
  REQUIRE_THROWS_MATCHES(Split(R"({"config_type":"chunking","implementation":"x"})", "a"),
                         ai::Error, IsError(ErrorCode::kInvalidParameter, "\"x\""));
  REQUIRE_THROWS_MATCHES(
      Split(R"({"config_type":"chunking","implementation":"semantic","chunk_size":0})", "a"),
      ai::Error, IsError(ErrorCode::kInvalidParameter, "chunk_size"));
  REQUIRE_THROWS_MATCHES(
      Split(R"({"config_type":"chunking","implementation":"character_text_splitter",
                "keep_separator":"both"})",
            "a"),
      ai::Error, IsError(ErrorCode::kInvalidParameter, "keep_separator"));
}

TEST_CASE("splitters with patterns are kept, those that were used last", "[chunking]") {
  const auto config = [](const std::string& separator, bool is_regex = true) {
    return R"({"config_type":"chunking","implementation":"character_text_splitter","separator":")" +
           separator + R"(","is_separator_regex":)" + (is_regex ? "true}" : "false}");
  };
  ai::text::SplitterCache cache(2);
  const auto get = [&](const std::string& json) { return cache.Get(json, FindLength); };

  const auto first = get(config("a+"));
  CHECK(get(config("a+")) == first);
  const auto second = get(config("b+"));
  CHECK(get(config("a+")) == first);
  CHECK(cache.size() == 2);
  CHECK(get(config("c", false)) != get(config("c", false)));
  CHECK(cache.size() == 2);
  CHECK_THROWS_MATCHES(get(config("(")), ai::Error, IsError(ErrorCode::kInvalidText, "missing )"));
  CHECK(cache.size() == 2);

  get(config("c+"));  // in place of b+, which is alive in our hands
  CHECK(cache.size() == 2);
  CHECK(get(config("a+")) == first);
  CHECK(get(config("b+")) != second);

  cache.Forget(config("b+"));
  cache.Forget("not in it");
  CHECK(cache.size() == 1);
}
