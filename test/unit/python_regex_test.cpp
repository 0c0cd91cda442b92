// Tests of core/text/python_regex: what a pattern in Python's syntax matches and which ones are
// refused. The expected spans and messages are those of CPython 3.11.
#include "core/text/python_regex.hpp"

#include <string>
#include <string_view>
#include <vector>

#include "core/text/pattern_compiled.hpp"
#include "unit/catch_bridge.hpp"

namespace {

using ai::Error;
using ai::ErrorCode;
using ai::test::IsError;
using ai::text::CompiledPattern;
using ai::text::Engine;
using ai::text::LeadingRun;
using ai::text::Span;
using ai::text::TranslatePythonRegex;

/// All matches as "begin-end begin-end", in bytes.
std::string Spans(std::string_view pattern, std::string_view subject, Engine engine) {
  CompiledPattern compiled(pattern, engine);
  std::string out;
  Span span{};
  std::size_t from = 0;
  bool empty = false;
  while (compiled.Search(subject, from, empty, nullptr, span)) {
    out += out.empty() ? "" : " ";
    out += std::to_string(span.begin) + "-" + std::to_string(span.end);
    from = span.end;
    empty = span.begin == span.end;
  }
  return out;
}

struct MatchCase {
  std::string_view pattern;
  std::string_view subject;
  std::string_view spans;
};

constexpr std::string_view kProse = "Rain fell. Did it stop?  No!\nIt went on.\n\nAll night";
constexpr std::string_view kMarkdown = "# One\ntext\n## Two\n\nmore\n";
// With U+001C, U+00A0, U+2003, U+200B (which is no space) and U+3000.
constexpr std::string_view kSpaces = "a\034b\302\240c\342\200\203d\342\200\213e\343\200\200f";
// With a combining mark, which is not part of a word.
constexpr std::string_view kWords = "naïve café_2 ก\340\271\207 x";

constexpr MatchCase kMatches[] = {
    // separators
    {R"(\n\n)", kProse, "40-42"},
    {R"(\s+)", kProse, "4-5 10-11 14-15 17-18 23-25 28-29 31-32 36-37 40-42 45-46"},
    {R"((?<=[.!?])\s+)", kProse, "10-11 23-25 28-29 40-42"},
    {R"((?<=[.!?]) +(?=[A-Z]))", kProse, "10-11 23-25"},
    {R"([.!?]+\s*)", kProse, "9-11 22-25 27-29 39-42"},
    {R"(\n{2,})", kProse, "40-42"},
    {R"((?:\r?\n){2,})", "a\r\n\r\nb\n\nc\r\nd", "1-5 6-8"},
    {R"(\s*\n\s*)", "a \n b\n\n\tc", "1-4 5-8"},
    {R"(\n(?=#{1,6} ))", kMarkdown, "10-11"},
    {R"((?m)^#{1,6} )", kMarkdown, "0-2 11-14"},
    {R"((?m)^$)", kMarkdown, "18-18 24-24"},
    {R"([,;]\s*)", "p, q;r ,s", "1-3 4-5 7-8"},
    {R"(<br\s*/?>)", "a<br>b<br />c<BR>", "1-5 6-12"},
    {R"((?i)<BR\s*/?>)", "a<br>b<br />c<BR>", "1-5 6-12 13-17"},
    {R"((?<=[。！？]))", "天気。いい！", "9-9 18-18"},
    {R"([。！？]+)", "天気。いい！", "6-9 15-18"},
    {R"((?<!\w\.\w.)(?<![A-Z][a-z]\.)(?<=\.|\?)\s)", "Dr. No saw e.g. tea. Why? Ok", "20-21 25-26"},
    {R"((\n)+)", "a\n\nb", "1-3"},
    {R"((?P<sep>--+)|(?P<other>==+))", "a--b===c", "1-3 4-7"},
    {R"((?s)<!--.*?-->)", "a<!--\n-->b<!--x-->", "1-9 10-18"},
    // empty matches
    {R"()", "ab", "0-0 1-1 2-2"},
    {R"(x*)", "axxb", "0-0 1-3 3-3 4-4"},
    {R"(x*?)", "axx", "0-0 1-1 1-2 2-2 2-3 3-3"},
    {R"(a|)", "ba", "0-0 1-2 2-2"},
    {R"(|a)", "ba", "0-0 1-1 1-2 2-2"},
    {R"(\b)", "go on", "0-0 2-2 3-3 5-5"},
    {R"(\B)", "go on", "1-1 4-4"},
    {R"(\B)", "", ""},
    {R"((?=b))", "abb", "1-1 2-2"},
    {R"($)", "a\n", "1-1 2-2"},
    {R"((?m)$)", "a\nb\n", "1-1 3-3 4-4"},
    {R"((?m)^)", "a\nb\n", "0-0 2-2 4-4"},
    {R"(^)", "a\nb", "0-0"},
    {R"(\A|\Z)", "a\n", "0-0 2-2"},
    {R"(\s*)", "a  b", "0-0 1-3 3-3 4-4"},
    {R"((?s).*)", "a\nb", "0-3 3-3"},
    {R"(.*)", "a\nb", "0-1 1-1 2-3 3-3"},
    {R"()", "日本", "0-0 3-3 6-6"},
    {R"((?<=本)|日)", "日本", "0-3 6-6"},
    // classes
    {R"(\s)", kSpaces, "1-2 3-5 6-9 14-17"},
    {R"(\S+)", kSpaces, "0-1 2-3 5-6 9-14 17-18"},
    {R"([^\S\n])", kSpaces, "1-2 3-5 6-9 14-17"},
    {R"((?a)\s)", kSpaces, ""},
    {R"(\w+)", kWords, "0-6 7-14 15-18 22-23"},
    {R"(\W+)", kWords, "6-7 14-15 18-22"},
    {R"([\W_]+)", kWords, "6-7 12-13 14-15 18-22"},
    {R"([^\W\d_]+)", kWords, "0-6 7-12 15-18 22-23"},
    {R"((?a)\w+)", kWords, "0-2 4-6 7-10 12-14 22-23"},
    {R"(\d+)", "7 ٣٤ ½", "0-1 2-6"},
    {R"([\D4]+)", "74 x", "1-4"},
    {R"((?a:\d)+)", "7 ٣٤", "0-1"},
    {R"([[:al]+)", "x[:a:]", "1-5"},
    {R"([]x]+)", "a]x", "1-3"},
    {R"([^]x]+)", "a]xb", "0-1 3-4"},
    {R"([a\-z])", "a-mz", "0-1 1-2 3-4"},
    {R"([a-])", "a-b", "0-1 1-2"},
    {R"([\b])", "a\010b", "1-2"},
    {R"([\x41-\x43\u00e9])", "ABDé", "0-1 1-2 3-5"},
    {R"([\101\0])", "A\001", "0-1"},
    {R"(.)", "\n\r\342\200\250x", "1-2 2-5 5-6"},
    {R"([\ud800-\udfff]|\ud83d)", "a👩", ""},
    {R"([^\ud800])", "a👩", "0-1 1-5"},
    // case
    {R"((?i)i)", "iI\304\260\304\261j", "0-1 1-2 2-4 4-6"},
    {R"((?i)[^h-j])", "hIJ\304\261k", "5-6"},
    {R"((?i)straße)", "STRASSE straße", "8-15"},
    {R"((?i)k+)", "kK\342\204\252", "0-5"},
    {R"((?ia)k+)", "kK\342\204\252", "0-2"},
    {R"((?i:a)b)", "Ab AB", "0-2"},
    {R"((?i)a(?-i:b)c)", "ABC AbC", "4-7"},
    {R"((?i)(a)\1)", "aA Ab", "0-2"},
    {R"((?ia)[Y-b]+)", "xyzabcB", "1-5 6-7"},
    {R"((?i)\ufb05)", "\357\254\206", "0-3"},
    // escapes and anchors
    {R"(\v)", "\n\013\014", "1-2"},
    {R"(\Z)", "a\n", "2-2"},
    {R"(a\Z)", "a\n", ""},
    {R"(a$)", "a\n", "0-1"},
    {R"(\x09|\u0020)", "\t x", "0-1 1-2"},
    {R"(\U0001F469)", "a👩", "1-5"},
    {R"(\060+)", "a00", "1-3"},
    {R"(\a\f\r\t)", "\007\014\r\t", "0-4"},
    {R"(\.\*\#\-\ )", ".*#- ", "0-5"},
    {R"(a{,2}b)", "aaab", "1-4"},
    {R"(a{,}b)", "aaab", "0-4"},
    {R"(x{a}|y{|z{})", "x{a}y{z{}", "0-4 4-6 6-9"},
    {R"(a{2}?)", "aaa", "0-2"},
    // groups
    {R"((a)|b(?(1)x|y))", "abyabx", "0-1 1-3 3-4"},
    {R"((a)?(?(1)b|c))", "abcac", "0-2 2-3 4-5"},
    {R"((?P<q>["\']).*?(?P=q))", "say \"it's\" 'a'", "4-10 11-14"},
    {R"((?>a+)b|a+)", "aab aa", "0-3 4-6"},
    {R"(a++a|b)", "aab", "2-3"},
    {R"((?:a|ab)(?:c|bcd))", "abcd", "0-4"},
    {R"((?x) a  b # two letters)", "ab a b", "0-2"},
    {R"(a(?#note)+)", "aaa", "0-3"},
    {R"((a)(b)\2\1)", "abba", "0-4"},
    {R"((?<=(?<=a)b)c)", "abc bc", "2-3"},
    {R"((?=(\w))\1x)", "ax bx", "0-2 3-5"},
    {R"(((a)|b)\2)", "aabaa", "0-2 3-5"},
    {R"((?s:.)\n.)", "\n\n\n", ""},
};

struct ErrorCase {
  std::string_view pattern;
  std::string_view message;
};

constexpr ErrorCase kErrors[] = {
    {R"([a)", "unterminated character set at position 0"},
    {R"((a)", "missing ), unterminated subpattern at position 0"},
    {R"(a))", "unbalanced parenthesis at position 1"},
    {R"((?)", "unexpected end of pattern at position 2"},
    {R"(*a)", "nothing to repeat at position 0"},
    {R"(a**)", "multiple repeat at position 2"},
    {R"(a{2}{3})", "multiple repeat at position 4"},
    {R"(^*)", "nothing to repeat at position 1"},
    {R"(a{3,2})", "min repeat greater than max repeat at position 2"},
    {R"([c-a])", "bad character range c-a at position 1"},
    {R"([\d-x])", "bad character range \\d-x at position 1"},
    {R"(a\)", "bad escape (end of pattern) at position 1"},
    {R"(\h)", "bad escape \\h at position 0"},
    {R"(\R)", "bad escape \\R at position 0"},
    {R"(\X)", "bad escape \\X at position 0"},
    {R"(\K)", "bad escape \\K at position 0"},
    {R"(\G)", "bad escape \\G at position 0"},
    {R"(\C)", "bad escape \\C at position 0"},
    {R"(\Qa\E)", "bad escape \\Q at position 0"},
    {R"(\p{L})", "bad escape \\p at position 0"},
    {R"(\z)", "bad escape \\z at position 0"},
    {R"(\e)", "bad escape \\e at position 0"},
    {R"(\g)", "bad escape \\g at position 0"},
    {R"([\A])", "bad escape \\A at position 1"},
    {R"(\x4)", "incomplete escape \\x4 at position 0"},
    {R"(\u12)", "incomplete escape \\u12 at position 0"},
    {R"(\U00110000)", "bad escape \\U00110000 at position 0"},
    {R"(\400)", "octal escape value \\400 outside of range 0-0o377 at position 0"},
    {R"(\1)", "invalid group reference 1 at position 1"},
    {R"((a\1))", "cannot refer to an open group at position 2"},
    {R"((?<n>a))", "unknown extension ?<n at position 1"},
    {R"((?R))", "unknown extension ?R at position 1"},
    {R"((?1))", "unknown extension ?1 at position 1"},
    {R"((?|a|b))", "unknown extension ?| at position 1"},
    {R"((?^i:a))", "unknown extension ?^ at position 1"},
    {R"((?U)a)", "unknown extension ?U at position 1"},
    {R"((?J)a)", "unknown extension ?J at position 1"},
    {R"((?C1)a)", "unknown extension ?C at position 1"},
    {R"((*ACCEPT))", "nothing to repeat at position 1"},
    {R"((*LIMIT_MATCH=9)a)", "nothing to repeat at position 1"},
    {R"((?P<1>a))", "bad character in group name '1' at position 4"},
    {R"((?P<a>x)(?P<a>y))",
     "redefinition of group name 'a' as group 2; was group 1 at position 12"},
    {R"((?P=b))", "unknown group name 'b' at position 4"},
    {R"((?P>a))", "unknown extension ?P> at position 1"},
    {R"((?P<a)", "missing >, unterminated name at position 4"},
    {R"((?(2)a))", "invalid group reference 2 at position 3"},
    {R"((?(x)a))", "unknown group name 'x' at position 3"},
    {R"((a)(?(1)b|c|d))", "conditional backref with more than two branches at position 11"},
    {R"((?#a)", "missing ), unterminated comment at position 0"},
    {R"(a(?i)b)", "global flags not at the start of the expression at position 1"},
    {R"((?:(?i)a))", "global flags not at the start of the expression at position 3"},
    {R"((?i)", "missing -, : or ) at position 3"},
    {R"((?ik)a)", "unknown flag at position 3"},
    {R"((?-i)a)", "missing : at position 4"},
    {R"((?L)a)", "bad inline flags: cannot use 'L' flag with a str pattern at position 3"},
    {R"((?au)a)", "bad inline flags: flags 'a', 'u' and 'L' are incompatible at position 4"},
    {R"((?i-i:a))", "bad inline flags: flag turned on and off at position 5"},
    {R"(é[)", "unterminated character set at position 1"},
    {R"(\N)", "missing { at position 2"},
    {R"((?<=(a)\1)b)",
     "cannot refer to group defined in the same lookbehind subpattern at position 9"},
    {R"((?<x))", "unknown extension ?<x at position 1"},
    {R"((?<=a+)b)", "look-behind requires fixed-width pattern at position 0"},
    {R"(x(?<!a|bc)d)", "look-behind requires fixed-width pattern at position 1"},
};

}  // namespace

TEST_CASE("a pattern matches what Python matches", "[python_regex]") {
  for (const MatchCase& test : kMatches) {
    CAPTURE(test.pattern, test.subject);
    CHECK(Spans(test.pattern, test.subject, Engine::kJitIfAvailable) == test.spans);
    CHECK(Spans(test.pattern, test.subject, Engine::kInterpreter) == test.spans);
  }
}

TEST_CASE("a text may hold the character 0", "[python_regex]") {
  const std::string subject("a\0b", 3);
  CHECK(Spans(R"(\x00)", subject, Engine::kJitIfAvailable) == "1-2");
  CHECK(Spans(std::string_view("\0", 1), subject, Engine::kJitIfAvailable) == "1-2");
}

TEST_CASE("what Python refuses is refused with its message", "[python_regex]") {
  for (const ErrorCase& test : kErrors) {
    CAPTURE(test.pattern);
    try {
      TranslatePythonRegex(test.pattern, LeadingRun::kWatch);
      FAIL_CHECK("was accepted");
    } catch (const Error& error) {
      CHECK(error.code() == ErrorCode::kInvalidText);
      CHECK(error.what() == "invalid regular expression: " + std::string(test.message));
      CHECK(error.detail() == "The pattern is \"" + std::string(test.pattern) + "\".");
    }
  }
}

TEST_CASE("a pattern that we cannot do is refused as such", "[python_regex]") {
  const auto translate = [](const std::string& pattern) {
    TranslatePythonRegex(pattern, LeadingRun::kWatch);
  };
  CHECK_THROWS_MATCHES(translate(R"(\N{EM DASH})"), Error,
                       IsError(ErrorCode::kNotSupported, "at position 0"));
  CHECK_THROWS_MATCHES(translate("a{65536}"), Error,
                       IsError(ErrorCode::kLimitExceeded, "above 65535"));
  CHECK_NOTHROW(translate("a{65535}"));
  CHECK_THROWS_MATCHES(translate("a{99999999999999999999}"), Error,
                       IsError(ErrorCode::kLimitExceeded, "above 65535"));
  CHECK_THROWS_MATCHES(translate(std::string(4097, 'a')), Error,
                       IsError(ErrorCode::kLimitExceeded, "too long"));
  CHECK_NOTHROW(translate(std::string(4096, 'a')));
  CHECK_THROWS_MATCHES(translate(std::string(300, '(') + std::string(300, ')')), Error,
                       IsError(ErrorCode::kLimitExceeded, "nested parentheses"));
  CHECK_THROWS_MATCHES(translate("a\xff"), Error, IsError(ErrorCode::kInvalidText, "UTF-8"));
  CHECK_THROWS_MATCHES(CompiledPattern("(?:[a-f]{200}x){65535}"), Error,
                       IsError(ErrorCode::kLimitExceeded, "too complex"));
}

TEST_CASE("a long pattern is clipped in a message", "[python_regex]") {
  CHECK(ai::text::QuotePattern("a+") == "\"a+\"");
  const std::string quoted = ai::text::QuotePattern(std::string(99, 'x') + "éé");
  CHECK(quoted == "\"" + std::string(99, 'x') + "...\"");
}
