// Tests of core/text/template: substitution, names and mistakes as in Python's string.Template, and
// the names in braces that go beyond it.
#include "core/text/template.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fuzz/seeded.hpp"
#include "fuzz/template_fuzz.hpp"
#include "unit/catch_bridge.hpp"

namespace {

using ai::Error;
using ai::ErrorCode;
using ai::test::IsError;
using ai::text::Template;

using Row = std::map<std::string, std::optional<std::string>>;

std::string Render(const Template& parsed, const Row& row) {
  std::string out = "> ";
  parsed.Render(
      [&row](const std::string& name) -> std::optional<std::string_view> { return row.at(name); },
      out);
  return out.substr(2);
}

std::string Render(std::string_view text, const Row& row) {
  return Render(Template::Parse(text), row);
}

}  // namespace

TEST_CASE("placeholders are filled in", "[template]") {
  const Row row{{"chunk", "the text"}, {"title", "A $title"}, {"_x1", "u"}, {"Title", "B"}};
  CHECK(Render("$chunk", row) == "the text");
  CHECK(Render("${title}: $chunk", row) == "A $title: the text");
  CHECK(Render("$title $Title", row) == "A $title B");
  CHECK(Render("${chunk}s$_x1-$_x1", row) == "the textsu-u");
  CHECK(Render("$chunk.$chunk", row) == "the text.the text");
  CHECK(Render("$chunké", row) == "the texté");
  CHECK(Render("no placeholder", row) == "no placeholder");
  CHECK(Render("", row).empty());
}

TEST_CASE("two dollars are one", "[template]") {
  const Row row{{"a", "1"}, {"b", "2"}};
  CHECK(Render("$$", row) == "$");
  CHECK(Render("$$a $$$a $$$$a", row) == "$a $1 $$a");
  CHECK(Render("cost: $$${a}", row) == "cost: $1");
  CHECK(Render("$$$$", row) == "$$");
  CHECK(Render("$a$b", row) == "12");
}

TEST_CASE("a null is an empty string", "[template]") {
  const Row row{{"chunk", "text"}, {"author", std::nullopt}};
  CHECK(Render("[$author] $chunk", row) == "[] text");
}

TEST_CASE("braces reach columns with any name", "[template]") {
  const Row row{{"Unit price", "3"}, {"größe", "L"}, {"a$b{c", "odd"}, {"1", "one"}, {" x ", "y"}};
  CHECK(Render("${Unit price} ${größe} ${a$b{c} ${1}${ x }", row) == "3 L odd oney");
}

TEST_CASE("names come once each, in order", "[template]") {
  const Template parsed = Template::Parse("${b} $a $$c $b ${A} $chunk_2");
  CHECK(parsed.names() == std::vector<std::string>{"b", "a", "A", "chunk_2"});
  CHECK(parsed.Uses("a"));
  CHECK(parsed.Uses("A"));
  CHECK_FALSE(parsed.Uses("c"));
  CHECK_FALSE(parsed.Uses("chunk"));
  CHECK(Template::Parse("$$").names().empty());
}

TEST_CASE("a lone dollar is refused with its place", "[template]") {
  const auto message = [](std::string_view text) -> std::string {
    try {
      Template::Parse(text);
      return "accepted";
    } catch (const Error& error) {
      CHECK(error.code() == ErrorCode::kInvalidText);
      CHECK(error.hint().find("$$") != std::string::npos);
      return error.what();
    }
  };
  const std::string prefix = "invalid placeholder in template: ";
  CHECK(message("$") == prefix + "line 1, column 1");
  CHECK(message("ab $") == prefix + "line 1, column 4");
  CHECK(message("costs $5") == prefix + "line 1, column 7");
  CHECK(message("$$$") == prefix + "line 1, column 3");
  CHECK(message("$é") == prefix + "line 1, column 1");
  CHECK(message("$ chunk") == prefix + "line 1, column 1");
  CHECK(message("${}") == prefix + "line 1, column 1");
  CHECK(message("x ${chunk") == prefix + "line 1, column 3");
  CHECK(message("$a\n日本 $-") == prefix + "line 2, column 4");
  CHECK(message("a\r\nb\rc\n\n$") == prefix + "line 5, column 1");
  CHECK(message("a\xe2\x80\xa8$") == prefix + "line 2, column 1");
}

TEST_CASE("random templates keep their meaning when they are rewritten", "[template][random]") {
  ai::fuzz::SeededInputs inputs(42);
  int accepted = 0;
  for (int round = 0; round < 10'000; ++round) {
    accepted += ai::fuzz::FuzzTemplate(inputs.Next()) ? 1 : 0;
  }
  CHECK(accepted > 1'000);
}
