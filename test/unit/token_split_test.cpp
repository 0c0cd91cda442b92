// Tests of core/token/split: by hand, and against the regular expressions taken literally.
#include "core/token/split.hpp"

#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "core/token/table_file.hpp"
#include "unit/catch_bridge.hpp"
#include "unit/token_expressions.hpp"
#include "unit/token_fixture.hpp"

using ai::test::ReferencePieces;
using ai::token::CharClasses;
using ai::token::SplitRule;
using ai::token::Splitter;
using Pieces = std::vector<std::string>;

namespace {

/// The splitter on a small table; lives as long as its classes.
class Split {
 public:
  Split()
      : file_(PackTable(ai::test::SmallSource(SplitRule::kCl100k, {}))),
        table_(file_.path()),
        classes_(table_.classes()) {}

  Pieces operator()(SplitRule rule, std::string_view text) const {
    const Splitter splitter(rule, classes_, text, nullptr);
    Pieces pieces;
    for (std::size_t pos = 0; pos < text.size();) {
      const std::size_t end = splitter.PieceEnd(pos);
      REQUIRE(end > pos);
      REQUIRE(end <= text.size());
      pieces.emplace_back(text.substr(pos, end - pos));
      pos = end;
    }
    return pieces;
  }

  const CharClasses& classes() const { return classes_; }

 private:
  ai::test::TemporaryFile file_;
  ai::token::TableFile table_;
  CharClasses classes_;
};

}  // namespace

TEST_CASE("pieces of both encodings, by hand", "[token]") {
  const Split split;
  const auto both = [&split](std::string_view text, const Pieces& expected) {
    CAPTURE(text);
    CHECK(split(SplitRule::kCl100k, text) == expected);
    CHECK(split(SplitRule::kO200k, text) == expected);
  };
  both("", {});
  both("hello world", {"hello", " world"});
  both("Hello, World!\n", {"Hello", ",", " World", "!\n"});
  both("  two spaces", {" ", " two", " spaces"});
  both("\ttab", {"\ttab"});
  both("1234567", {"123", "456", "7"});
  both(" 12", {" ", "12"});
  both("a \n \n  b", {"a", " \n \n", " ", " b"});
  both("a\r\nb", {"a", "\r\n", "b"});
  both("x  ", {"x", "  "});
  both("\"quoted\"", {"\"quoted", "\""});
  both(" ((x", {" ((", "x"});
  both("\u4E00\u4E01\u3000\u4E02", {"\u4E00\u4E01", "\u3000\u4E02"});
  both("\U0001F600\U0001F600", {"\U0001F600\U0001F600"});
}

TEST_CASE("pieces that differ between the encodings, by hand", "[token]") {
  const Split split;
  const auto check = [&split](std::string_view text, const Pieces& cl100k, const Pieces& o200k) {
    CAPTURE(text);
    CHECK(split(SplitRule::kCl100k, text) == cl100k);
    CHECK(split(SplitRule::kO200k, text) == o200k);
  };
  check("don't", {"don", "'t"}, {"don't"});
  check("WE'LL'", {"WE", "'LL", "'"}, {"WE'LL", "'"});
  check("it'\u017F", {"it", "'\u017F"}, {"it'\u017F"});
  check("'sun", {"'s", "un"}, {"'sun"});
  for (const char* word :
       {"'s", "'t", "'m", "'d", "'re", "'ve", "'ll", "'S", "'Re", "'vE", "'LL"}) {
    check(std::string("x") + word + "y", {"x", word, "y"}, {std::string("x") + word, "y"});
  }
  check("x'v", {"x", "'v"}, {"x", "'v"});
  check("x'le", {"x", "'le"}, {"x", "'le"});
  check("x\u2019s", {"x", "\u2019s"}, {"x", "\u2019s"});
  check("camelCaseWORD", {"camelCaseWORD"}, {"camel", "Case", "WORD"});
  check("ABCdef", {"ABCdef"}, {"ABCdef"});
  check("\u4E00ABC", {"\u4E00ABC"}, {"\u4E00", "ABC"});
  check("\u4E00ABCd", {"\u4E00ABCd"}, {"\u4E00ABCd"});
  check("e\u0301a", {"e", "\u0301a"}, {"e\u0301a"});
  check("\u0301ABC", {"\u0301ABC"}, {"\u0301", "ABC"});
  check("//\n//x", {"//\n", "//", "x"}, {"//\n//", "x"});
  check("a\n  ", {"a", "\n  "}, {"a", "\n", "  "});
}

TEST_CASE("pieces are those of the expressions", "[token]") {
  const Split split;
  const std::vector<std::string> alphabet = {
      "a",      "B", "s", "S",          "l",      "L",      "r",      "e",      "v",
      "t",      "m", "d", "\u017F",     "\u01C5", "\u02B0", "\u0301", "\u4E00", "1",
      "\u0660", " ", " ", "\t",         "\n",     "\r",     "\u3000", "\u00A0", "'",
      "'",      "/", "!", "\U0001F600", "\uFFFD", "\u00DF", "Z"};
  std::mt19937_64 random(3);
  for (int i = 0; i < 8000; ++i) {
    // Few different characters make long runs, many make short ones.
    const std::size_t different = 1 + random() % alphabet.size();
    const std::size_t first = random() % alphabet.size();
    std::string text;
    for (std::size_t length = random() % 14; length > 0; --length) {
      text += alphabet[(first + random() % different) % alphabet.size()];
    }
    CAPTURE(text);
    REQUIRE(split(SplitRule::kCl100k, text) == ReferencePieces(SplitRule::kCl100k, text));
    REQUIRE(split(SplitRule::kO200k, text) == ReferencePieces(SplitRule::kO200k, text));
  }
}

TEST_CASE("bytes that are not UTF-8 are symbols", "[token]") {
  const Split split;
  for (const SplitRule rule : {SplitRule::kCl100k, SplitRule::kO200k}) {
    CHECK(split(rule, "a\xFF\xFE b") == Pieces{"a", "\xFF\xFE", " b"});
    CHECK(split(rule, "\xE4\xB8") == Pieces{"\xE4\xB8"});
    CHECK(split(rule, "\x80x") == Pieces{"\x80x"});
    CHECK(split(rule, "1\xF0\x9F\x98") == Pieces{"1", "\xF0\x9F\x98"});
  }
}

TEST_CASE("runs of any length can be interrupted", "[token]") {
  const Split split;
  const std::size_t size = 2'500'000;
  std::string ideographs;
  while (ideographs.size() < size) {
    ideographs += "\u4E00";
  }
  for (const std::string& text :
       {std::string(size, 'a'), std::string(size, 'A'), std::string(size, ' '),
        std::string(size, '\n'), std::string(size, '!'), "!" + std::string(size, '\n'),
        ideographs}) {
    for (const SplitRule rule : {SplitRule::kCl100k, SplitRule::kO200k}) {
      const Splitter splitter(rule, split.classes(), text, [] { return true; });
      CAPTURE(text.substr(0, 3), static_cast<int>(rule));
      CHECK_THROWS_MATCHES(splitter.PieceEnd(0), ai::Error,
                           ai::test::IsError(ai::ErrorCode::kCancelled));
    }
  }
}
