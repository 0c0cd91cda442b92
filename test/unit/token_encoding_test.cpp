// Tests of core/token/encoding on small tables: counting, encoding, decoding, truncation.
#include "core/token/encoding.hpp"

#include <string>
#include <vector>

#include "core/token/utf8_repair.hpp"
#include "unit/catch_bridge.hpp"
#include "unit/token_fixture.hpp"

using ai::ErrorCode;
using ai::test::IsError;
using ai::test::SmallEncoding;
using ai::token::Encoding;
using ai::token::RepairUtf8;
using ai::token::SplitRule;
using ai::token::TokenId;
using Ids = std::vector<TokenId>;
using std::string_literals::operator""s;

namespace {

Ids Encode(const Encoding& encoding, std::string_view text) {
  Ids ids;
  encoding.Encode(text, ids);
  CHECK(encoding.Count(text) == ids.size());
  return ids;
}

int interrupt_countdown = 0;
bool CountDown() {
  return --interrupt_countdown < 0;
}

}  // namespace

TEST_CASE("text becomes tokens", "[token]") {
  // The tokens 256 and on, in this order.
  const auto encoding = SmallEncoding(SplitRule::kCl100k, {"he", "ll", "llo", "hello", " w", "wo"});
  CHECK(encoding->name() == "small");
  CHECK(encoding->source() == "made by a test");
  CHECK(Encode(*encoding, "").empty());
  CHECK(Encode(*encoding, "h") == Ids{'h'});
  CHECK(Encode(*encoding, "llo") == Ids{258});
  CHECK(Encode(*encoding, "hello world") == Ids{259, 260, 'o', 'r', 'l', 'd'});
  CHECK(Encode(*encoding, "\n") == Ids{'\n'});
  CHECK(Encode(*encoding, "\0"s) == Ids{0});
  CHECK(Encode(*encoding, "\xFF") == Ids{255});

  Ids ids = {1};
  encoding->Encode("he", ids);
  CHECK(ids == Ids{1, 256});
}

TEST_CASE("a piece that is a token is that token, even if merging never makes it", "[token]") {
  const auto encoding = SmallEncoding(SplitRule::kCl100k, {"bc", "abc"});
  CHECK(Encode(*encoding, "abc") == Ids{257});
  const auto unreachable = SmallEncoding(SplitRule::kCl100k, {"bc", "cd", "abcd"});
  CHECK(Encode(*unreachable, "abcd") == Ids{258});
  CHECK(Encode(*unreachable, "abcde") == Ids{'a', 256, 'd', 'e'});
}

TEST_CASE("special tokens are text when encoded and known when decoded", "[token]") {
  const auto encoding = SmallEncoding(SplitRule::kO200k, {});
  CHECK(Encode(*encoding, "<|end|>").size() == 7);
  CHECK(encoding->Decode(Ids{'a', 100'000, 100'002}) == "a<|end|><|start|>");
}

TEST_CASE("long pieces have the same tokens as short ones", "[token]") {
  const auto encoding = SmallEncoding(SplitRule::kCl100k, {"aa", "aaaa"});
  for (const std::size_t size : {127U, 128U, 129U, 130U, 1000U, 70'000U, 200'001U}) {
    CAPTURE(size);
    CHECK(Encode(*encoding, std::string(size, 'a')).size() == size / 4 + size % 4 / 2 + size % 2);
  }
}

TEST_CASE("counting up to a limit", "[token]") {
  const auto encoding = SmallEncoding(SplitRule::kCl100k, {"aa", "bb"});
  const std::string text = "aab abb " + std::string(300, 'a') + " x";
  const std::size_t count = encoding->Count(text);
  for (std::size_t limit = 0; limit < count + 3; ++limit) {
    CHECK(encoding->CountUpTo(text, limit) == (limit < count ? limit + 1 : count));
  }
  CHECK(encoding->CountUpTo(text, static_cast<std::size_t>(-1)) == count);
  CHECK(encoding->CountUpTo("", 0) == 0);
}

TEST_CASE("counting up to a limit does not read the rest", "[token]") {
  const auto encoding = SmallEncoding(SplitRule::kCl100k, {});
  std::string text;
  while (text.size() < 1'000'000) {
    text += "some words ";
  }
  // Would be interrupted if it came past the first interrupt check.
  CHECK(encoding->CountUpTo(text, 100, [] { return true; }) == 101);
  CHECK(encoding->Truncate(text, 100, [] { return true; }).size() == 100);
}

TEST_CASE("decoding is the opposite of encoding", "[token]") {
  const auto encoding = SmallEncoding(SplitRule::kO200k, {"he", "\xE4\xB8", "\xE4\xB8\x80"});
  for (const std::string& text : {""s, "hello"s, "\u4E00\u4E01 \U0001F600"s, "a\0b"s}) {
    CHECK(encoding->Decode(Encode(*encoding, text)) == text);
  }
  const std::string broken = "a\xFF\xE4\xB8 \xF0\x9F";
  CHECK(encoding->DecodeBytes(Encode(*encoding, broken)) == broken);
  CHECK(encoding->Decode(Encode(*encoding, broken)) == "a\uFFFD\uFFFD \uFFFD");
}

TEST_CASE("unknown tokens cannot be decoded", "[token]") {
  const auto encoding = SmallEncoding(SplitRule::kO200k, {"he"});
  CHECK(encoding->Decode(Ids{256}) == "he");
  for (const TokenId id : {257, 99'999, 100'001, 100'003, -1, -2'147'483'647 - 1, 2'147'483'647}) {
    CHECK_THROWS_MATCHES(
        encoding->Decode(Ids{256, id}), ai::Error,
        IsError(ErrorCode::kInvalidParameter, "token " + std::to_string(id) + " does not exist"));
  }
}

TEST_CASE("a text too long to decode is refused before it fills the memory", "[token]") {
  const auto encoding = SmallEncoding(SplitRule::kO200k, {std::string(100'000, 'x')});
  const Ids ids(10'000, 256);
  CHECK_THROWS_MATCHES(encoding->Decode(ids), ai::Error, IsError(ErrorCode::kLimitExceeded));
}

TEST_CASE("ill-formed UTF-8 is replaced as the Unicode standard recommends", "[token]") {
  CHECK(RepairUtf8("") == "");
  CHECK(RepairUtf8("fine \u00E4\u4E00\U0001F600") == "fine \u00E4\u4E00\U0001F600");
  // The examples of the standard, chapter 3, tables 3-8 to 3-11.
  CHECK(RepairUtf8("\xC0\xAF\xE0\x80\xBF\xF0\x81\x82\x41") ==
        "\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFDA");
  CHECK(RepairUtf8("\xED\xA0\x80\xED\xBF\xBF\xED\xAF\x41") ==
        "\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFDA");
  CHECK(RepairUtf8("\xF4\x91\x92\x93\xFF\x41\x80\xBF\x42") ==
        "\uFFFD\uFFFD\uFFFD\uFFFD\uFFFDA\uFFFD\uFFFDB");
  CHECK(RepairUtf8("\xE1\x80\xE2\xF0\x91\x92\xF1\xBF\x41") == "\uFFFD\uFFFD\uFFFD\uFFFDA");
  CHECK(RepairUtf8("x\xF0\x9F\x98") == "x\uFFFD");
}

TEST_CASE("truncation keeps the first tokens", "[token]") {
  const auto encoding = SmallEncoding(SplitRule::kCl100k, {"aa", " b", "cc"});
  const std::string text = "aab bcc";  // aa b | " b" cc
  CHECK(encoding->Truncate(text, 0) == "");
  CHECK(encoding->Truncate(text, 1) == "aa");
  CHECK(encoding->Truncate(text, 2) == "aab");
  CHECK(encoding->Truncate(text, 3) == "aab b");
  CHECK(encoding->Truncate(text, 4) == text);
  CHECK(encoding->Truncate(text, 100) == text);
  CHECK(encoding->Truncate("", 0) == "");
  CHECK(encoding->Truncate(std::string(1000, 'a'), 7) == std::string(14, 'a'));
}

TEST_CASE("truncation never splits a character", "[token]") {
  const auto encoding = SmallEncoding(SplitRule::kCl100k, {});  // one token for each byte
  const std::string text = "a\u00E4\u4E00\U0001F600z";
  const std::vector<std::string> expected = {
      "", "a", "a", "a\u00E4", "a\u00E4", "a\u00E4", "a\u00E4\u4E00",
  };
  for (std::size_t tokens = 0; tokens < expected.size(); ++tokens) {
    CHECK(encoding->Truncate(text, tokens) == expected[tokens]);
  }
  CHECK(encoding->Truncate(text, 9) == "a\u00E4\u4E00");
  CHECK(encoding->Truncate(text, 10) == "a\u00E4\u4E00\U0001F600");
}

TEST_CASE("a truncated text has no more tokens than asked for, taken by itself", "[token]") {
  // As long as a lower case letter follows, the capitals are one piece with the ideograph; without
  // it they are not, and the token of ideograph and A is no longer possible.
  const auto encoding = SmallEncoding(SplitRule::kO200k, {"\xE4\xB8", "\xE4\xB8\x80",
                                                          "\xE4\xB8\x80"
                                                          "A"});
  const std::string text = "\u4E00ABc";
  CHECK(Encode(*encoding, text) == Ids{258, 'B', 'c'});
  CHECK(Encode(*encoding, "\u4E00AB") == Ids{257, 'A', 'B'});
  CHECK(encoding->Truncate(text, 2) == "\u4E00A");
  CHECK(encoding->Count("\u4E00A") == 2);
  CHECK(encoding->Truncate(text, 1) == "\u4E00");
}

TEST_CASE("everything that takes long can be interrupted", "[token]") {
  const auto encoding = SmallEncoding(SplitRule::kO200k, {"aa"});
  std::string words;
  while (words.size() < 300'000) {
    words += "word ";
  }
  const std::string run(300'000, 'a');
  const auto cancelled = IsError(ErrorCode::kCancelled);
  for (const std::string& text : {words, run}) {
    const ai::InterruptCheck always = [] { return true; };
    Ids ids;
    CHECK_THROWS_MATCHES(encoding->Count(text, always), ai::Error, cancelled);
    CHECK_THROWS_MATCHES(encoding->CountUpTo(text, 1'000'000, always), ai::Error, cancelled);
    CHECK_THROWS_MATCHES(encoding->Encode(text, ids, always), ai::Error, cancelled);
    CHECK_THROWS_MATCHES(encoding->Truncate(text, 1'000'000, always), ai::Error, cancelled);
    // It asks at least once in 100 kB, and goes on as long as the answer is no.
    interrupt_countdown = 2;
    CHECK_THROWS_MATCHES(encoding->Count(text, CountDown), ai::Error, cancelled);
    interrupt_countdown = 1'000'000;
    CHECK(encoding->Count(text, CountDown) == encoding->Count(text));
  }
}
