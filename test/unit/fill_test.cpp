// Tests of core/text/fill: names in braces, and braces that have no partner.
#include "core/text/fill.hpp"

#include "core/error.hpp"
#include "unit/catch_bridge.hpp"

namespace {

using ai::ErrorCode;
using ai::test::IsError;
using ai::text::Fill;

std::string Shout(std::string_view name) {
  return "<" + std::string(name) + ">";
}

}  // namespace

TEST_CASE("names in braces are replaced", "[text][fill]") {
  CHECK(Fill("", Shout).empty());
  CHECK(Fill("nothing to do", Shout) == "nothing to do");
  CHECK(Fill("FROM {work} w WHERE {w matches q}", Shout) == "FROM <work> w WHERE <w matches q>");
  CHECK(Fill("{a}{b}{}", Shout) == "<a><b><>");
}

TEST_CASE("a value is not looked into", "[text][fill]") {
  CHECK(Fill("{a} {b}", [](std::string_view) { return std::string("{a}"); }) == "{a} {a}");
}

TEST_CASE("a brace without a partner is a mistake", "[text][fill]") {
  for (const char* text : {"{", "}", "a } b", "{a", "{a{b}}", "{a} }"}) {
    CHECK_THROWS_MATCHES(Fill(text, Shout), ai::Error, IsError(ErrorCode::kInternal));
  }
}
