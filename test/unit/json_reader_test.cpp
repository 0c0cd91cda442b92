// Tests of core/json/reader and visitor: what is accepted, what is refused and where, and that no
// input does harm.
#include "core/json/reader.hpp"

#include <string>
#include <string_view>
#include <vector>

#include "core/error.hpp"
#include "core/json/visitor.hpp"
#include "unit/catch_bridge.hpp"

using ai::ErrorCode;
using ai::json::Handler;
using ai::json::kReadLimits;
using ai::json::Limits;
using ai::json::Read;
using ai::test::IsError;
using std::string_literals::operator""s;
using std::string_view_literals::operator""sv;

namespace {

constexpr std::size_t kMany = 1'000'000;

/// Writes down every event.
class Recorder final : public Handler {
 public:
  void OnNull() override { log += "null "; }
  void OnBool(bool value) override { log += value ? "true " : "false "; }
  void OnInteger(std::int64_t value) override { log += "i" + std::to_string(value) + " "; }
  void OnDouble(double value) override { log += "d" + std::to_string(value) + " "; }
  void OnString(std::string_view value) override { log.append("s:").append(value).append(" "); }
  void OnKey(std::string_view value) override { log.append("k:").append(value).append(" "); }
  void OnObjectBegin() override { log += "{ "; }
  void OnObjectEnd(std::uint32_t /*members*/) override { log += "} "; }
  void OnArrayBegin() override { log += "[ "; }
  void OnArrayEnd(std::uint32_t /*elements*/) override { log += "] "; }

  std::string log;
};

std::string Events(std::string_view text, const Limits& limits = kReadLimits) {
  Recorder recorder;
  std::string copy(text);
  Read(copy, recorder, limits);
  return recorder.log;
}

/// Reads without looking.
void Skim(std::string text, const Limits& limits = kReadLimits) {
  Handler ignore;
  Read(text, ignore, limits);
}

/// The error's message, "" if there is none.
std::string Complaint(std::string_view text) {
  try {
    Events(text);
  } catch (const ai::Error& error) {
    CHECK(error.code() == ErrorCode::kInvalidText);
    return error.what();
  }
  return "";
}

std::string Repeat(std::string_view part, std::size_t times) {
  std::string out;
  out.reserve(part.size() * times);
  for (std::size_t i = 0; i < times; ++i) {
    out.append(part);
  }
  return out;
}

}  // namespace

TEST_CASE("every kind of value is reported", "[json]") {
  REQUIRE(Events(R"( {"a": [1, -2.5, true], "b": null, "a": {"c": false, "d": ""}} )") ==
          "{ k:a [ i1 d-2.500000 true ] k:b null k:a { k:c false k:d s: } } ");
  REQUIRE(Events("7") == "i7 ");
  REQUIRE(Events("\"x\"") == "s:x ");
  REQUIRE(Events("[]") == "[ ] ");
  REQUIRE(Events("{}") == "{ } ");
  REQUIRE(Events("\t\r\n [ ] \n") == "[ ] ");
}

TEST_CASE("arrays of numbers are reported like any other", "[json]") {
  REQUIRE(Events("[1,2,3]") == "[ i1 i2 i3 ] ");
  REQUIRE(Events("[ 1 , 2 , 3 ]") == "[ i1 i2 i3 ] ");
  REQUIRE(Events("[1]") == "[ i1 ] ");
  REQUIRE(Events("[1,2,\"x\",3,4]") == "[ i1 i2 s:x i3 i4 ] ");
  REQUIRE(Events("[1,[2,3],4]") == "[ i1 [ i2 i3 ] i4 ] ");
  REQUIRE(Events("[[1,2],[3,4]]") == "[ [ i1 i2 ] [ i3 i4 ] ] ");
  REQUIRE(Events("[1,2,{\"a\":[5,6]},null]") == "[ i1 i2 { k:a [ i5 i6 ] } null ] ");
  REQUIRE(Events("[0.5,2]") == "[ d0.500000 i2 ] ");
}

TEST_CASE("strings are decoded", "[json]") {
  REQUIRE(Events(R"("\"\\\/\b\f\n\r\t")") == "s:\"\\/\b\f\n\r\t ");
  REQUIRE(Events(R"("\u0041\u00e9\u20AC\ud83d\ude00")") == "s:A\u00e9\u20ac\U0001F600 ");
  REQUIRE(Events("\"\u00e9\U0001F600\"") == "s:\u00e9\U0001F600 ");
  REQUIRE(Events(R"("a\u0000b")") == "s:a\0b "s);
  REQUIRE(Events(R"({"\u006b":1})") == "{ k:k i1 } ");
}

TEST_CASE("strings of every length are found whole", "[json]") {
  // Blocks of sixteen bytes, and what is left of them, with the first special character anywhere.
  for (std::size_t length = 0; length < 70; ++length) {
    const std::string plain = Repeat("x", length);
    INFO(length);
    CHECK(Events("\"" + plain + "\"") == "s:" + plain + " ");
    CHECK(Events("\"" + plain + "\\n" + plain + "\"") == "s:" + plain + "\n" + plain + " ");
    CHECK(Events("\"" + plain + "\u00e9\x7f\"") == "s:" + plain + "\u00e9\x7f ");
    CHECK(Complaint("\"" + plain + "\x1f" + plain + "\"") ==
          "invalid JSON at byte " + std::to_string(length + 1) +
              ": invalid escape or control character in a string");
    CHECK(Complaint("\"" + plain) ==
          "invalid JSON at byte " + std::to_string(length + 1) + ": string without an end");
  }
}

TEST_CASE("strings are decoded where they stand", "[json]") {
  class Address final : public Handler {
   public:
    void OnString(std::string_view value) override { data = value.data(); }
    const char* data = nullptr;
  };
  std::string text = "[\"" + Repeat("abc", 100) + "\",\"\\n\"]";
  Address address;
  Read(text, address);
  CHECK(address.data >= text.data());
  CHECK(address.data < text.data() + text.size());
}

TEST_CASE("every control character in a string is refused, wherever it stands", "[json]") {
  // rapidjson's SSE2 code overlooks the last six of them; it and our own check work in blocks.
  for (const std::size_t length : {0, 1, 15, 16, 17, 31, 100, 511, 512, 513, 1500}) {
    for (char c = 0; c < 0x20; ++c) {
      const std::string plain = Repeat("x", length);
      INFO(length << " " << static_cast<int>(c));
      CHECK(Complaint("[\"" + plain + c + plain + "\"]") ==
            "invalid JSON at byte " + std::to_string(length + 2) +
                ": invalid escape or control character in a string");
    }
  }
  CHECK(Complaint("[1,,\"\x1f\"]") == "invalid JSON at byte 3: invalid value");
  CHECK(Complaint("[1,\x1f]") == "invalid JSON at byte 3: invalid value");
  CHECK(Complaint("[1]\x1a") == "invalid JSON at byte 3: expected the end of the text");
}

TEST_CASE("mistakes are named with their place", "[json]") {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"", "at byte 0: expected a value"},
      {"  ", "at byte 2: expected a value"},
      {"[1,2", "at byte 4: expected \",\" or \"]\""},
      {"[1,2,]", "at byte 5: invalid value"},
      {"[1,]", "at byte 3: invalid value"},
      {"[,1]", "at byte 1: invalid value"},
      {"[1 2]", "at byte 3: expected \",\" or \"]\""},
      {"[1,2 3]", "at byte 5: expected \",\" or \"]\""},
      {"[1,02]", "at byte 4: expected \",\" or \"]\""},
      {"[1,2,3.]", "at byte 7: expected a digit"},
      {"[1,2e]", "at byte 5: expected a digit"},
      {"[1,+2]", "at byte 3: invalid value"},
      {"[1,NaN]", "at byte 3: invalid value"},
      {"[1,-]", "at byte 4: invalid value"},
      {"[1,1e999]", "at byte 3: number too large"},
      {"[1,123456789012345678901234567890e290,2]", "at byte 3: number too large"},
      {"{\"a\" 1}", "at byte 5: expected \":\""},
      {"{\"a\":1,}", "at byte 7: expected a key"},
      {"{a:1}", "at byte 1: expected a key"},
      {"{\"a\":1", "at byte 6: expected \",\" or \"}\""},
      {"{\"a\":}", "at byte 5: invalid value"},
      {"{1:2}", "at byte 1: expected a key"},
      {"\"abc", "at byte 4: string without an end"},
      {"\"a\nb\"", "at byte 2: invalid escape or control character"},
      {R"("\x41")", "at byte 1: invalid escape"},
      {R"("\u12g4")", "at byte 1: expected four hexadecimal digits"},
      {R"("\ud83d")", "at byte 1: half of a surrogate pair"},
      {R"("\ud83dA")", "at byte 1: half of a surrogate pair"},
      {R"("\ud83d\u0041")", "at byte 1: half of a surrogate pair"},
      {R"("\ud83d\ude00\ude00")", "at byte 13: half of a surrogate pair"},
      {R"("a\ude00")", "at byte 2: half of a surrogate pair"},
      {R"({"\udc00":1})", "at byte 2: half of a surrogate pair"},
      {R"("\)", "at byte 1: invalid escape"},
      {R"("\u00)", "at byte 1: expected four hexadecimal digits"},
      {"tru", "at byte 3: invalid value"},
      {"nul", "at byte 3: invalid value"},
      {"1 2", "at byte 2: expected the end"},
      {"{} {}", "at byte 3: expected the end"},
      {"]", "at byte 0: expected a value"},
      {"'a'", "at byte 0: invalid value"},
      {"// x\n1", "at byte 0: invalid value"},
      {"\xEF\xBB\xBF{}", "at byte 0: invalid value"},
      {"[1}", "at byte 2: expected \",\" or \"]\""},
  };
  for (const auto& [text, complaint] : cases) {
    INFO(text);
    CHECK_THAT(Complaint(text), ai::test::ContainsSubstring(std::string(complaint)));
  }
}

TEST_CASE("a view of nothing at all is an empty text", "[json]") {
  REQUIRE(Complaint(std::string_view()) == "invalid JSON at byte 0: expected a value");
}

TEST_CASE("a zero byte is never the end of the text", "[json]") {
  REQUIRE(Complaint("1\0"sv) == "invalid JSON at byte 1: expected the end of the text");
  REQUIRE(Complaint("{}\0garbage"sv) == "invalid JSON at byte 2: expected the end of the text");
  REQUIRE_FALSE(Complaint("\0"sv).empty());
  REQUIRE_FALSE(Complaint("[1,2\0]"sv).empty());
  REQUIRE_FALSE(Complaint("\"a\0b\""sv).empty());
}

TEST_CASE("a text that is not UTF-8 is refused where it goes wrong", "[json]") {
  REQUIRE(Complaint("\"ab\xFF\"") == "invalid JSON at byte 3: not valid UTF-8");
  REQUIRE(Complaint("\"\xED\xA0\x80\"") == "invalid JSON at byte 1: not valid UTF-8");
  REQUIRE(Complaint("\"\xC3") == "invalid JSON at byte 1: not valid UTF-8");
}

TEST_CASE("limits hold to the byte and to the level", "[json]") {
  REQUIRE(Events("[1]", {3, 1}) == "[ i1 ] ");
  REQUIRE_THROWS_MATCHES(Events("[1] ", {3, 1}), ai::Error,
                         IsError(ErrorCode::kLimitExceeded, "JSON text of 4 bytes is too large"));
  REQUIRE(Events("5", {10, 0}) == "i5 ");
  REQUIRE_THROWS_MATCHES(Events("[]", {10, 0}), ai::Error,
                         IsError(ErrorCode::kLimitExceeded, "at byte 0"));
  REQUIRE(Events("[[],{}]", {10, 2}) == "[ [ ] { } ] ");
  REQUIRE_THROWS_MATCHES(Events("[[],[{}]]", {10, 2}), ai::Error,
                         IsError(ErrorCode::kLimitExceeded, "nested too deeply at byte 5"));
  REQUIRE_THROWS_MATCHES(Events(R"({"a":{"b":{}}})", {100, 2}), ai::Error,
                         IsError(ErrorCode::kLimitExceeded, "at byte 10"));
}

TEST_CASE("a million brackets do not overflow the stack", "[json]") {
  const Limits deep{kReadLimits.max_bytes, 2 * kMany};
  Skim(Repeat("[", kMany) + Repeat("]", kMany), deep);
  Skim(Repeat("{\"a\":", kMany) + "1" + Repeat("}", kMany), deep);
  REQUIRE_THROWS_MATCHES(Skim(Repeat("[", kMany), deep), ai::Error,
                         IsError(ErrorCode::kInvalidText, "at byte 1000000"));
  REQUIRE_THROWS_MATCHES(Skim(Repeat("[", kMany)), ai::Error,
                         IsError(ErrorCode::kLimitExceeded, "at byte 100"));
}

TEST_CASE("an exception of a handler reaches the caller", "[json]") {
  class Picky final : public Handler {
   public:
    void OnDouble(double value) override {
      if (value < 0) {
        throw ai::Error(ErrorCode::kInvalidParameter, "negative");
      }
    }
  };
  Picky picky;
  std::string good = "[1, 2.5]";
  Read(good, picky);
  std::string bad = R"({"a":["x", 1, 2, -1, 3]})";
  REQUIRE_THROWS_MATCHES(Read(bad, picky), ai::Error,
                         IsError(ErrorCode::kInvalidParameter, "negative"));
}

TEST_CASE("extreme numbers are read without harm", "[json]") {
  // Each of these makes a careless conversion overflow an integer or shift too far.
  for (const std::string number :
       {"0.0000000000001e-2147483639", "0.000000000000000000000000000000e-30", "1e-2147483648",
        "0e308", "0.0e-99999999999"}) {
    INFO(number);
    CHECK(Events(number) == "d0.000000 ");
    CHECK(Events("[" + number + ",1]") == "[ d0.000000 i1 ] ");
    CHECK(Events("[1," + number + "]") == "[ i1 d0.000000 ] ");
  }
  // Whether a number is the first of an array or a later one makes no difference.
  for (const std::string number : {"0e309", "1e309", "0.0e310", "17976931348623159e292"}) {
    INFO(number);
    CHECK_THAT(Complaint("[" + number + ",1]"), ai::test::ContainsSubstring("byte 1: number too"));
    CHECK_THAT(Complaint("[1," + number + "]"), ai::test::ContainsSubstring("byte 3: number too"));
  }
  Skim("0." + Repeat("0", 100000) + "1");
  Skim("[0." + Repeat("3", 100000) + "e-10," + "1]");
  REQUIRE_FALSE(Complaint(Repeat("9", 100000)).empty());
}

TEST_CASE("a visitor knows the path of everything", "[json]") {
  class Trace final : public ai::json::Visitor {
   public:
    void OnNull(std::string_view path) override { Add("null", path); }
    void OnBool(std::string_view path, bool value) override { Add(value ? "true" : "false", path); }
    void OnInteger(std::string_view path, std::int64_t value) override {
      Add(std::to_string(value), path);
    }
    void OnDouble(std::string_view path, double value) override {
      Add(std::to_string(value), path);
    }
    void OnString(std::string_view path, std::string_view value) override { Add(value, path); }
    void OnObjectBegin(std::string_view path) override { Add("{", path); }
    void OnObjectEnd(std::string_view path) override { Add("}", path); }
    void OnArrayBegin(std::string_view path) override { Add("[", path); }
    void OnArrayEnd(std::string_view path) override { Add("]", path); }
    std::vector<std::string> lines;

   private:
    void Add(std::string_view what, std::string_view path) {
      lines.push_back(std::string(path) + "=" + std::string(what));
    }
  };
  Trace trace;
  std::string text =
      R"({"data":[{"e":[1,2.5],"i":0},{"e":["x"]}],"u":{"t":true},"":null,"a.b[c":false})";
  ai::json::Visit(text, trace);
  const std::vector<std::string> expected = {
      "={",         "data=[",      "data[]={", "data[].e=[", "data[].e[]=1", "data[].e[]=2.500000",
      "data[].e=]", "data[].i=0",  "data[]=}", "data[]={",   "data[].e=[",   "data[].e[]=x",
      "data[].e=]", "data[]=}",    "data=]",   "u={",        "u.t=true",     "u=}",
      "=null",      "a?b?c=false", "=}"};
  REQUIRE(trace.lines == expected);
}

TEST_CASE("a visitor may ask for doubles only", "[json]") {
  class Sum final : public ai::json::Visitor {
   public:
    void OnDouble(std::string_view path, double value) override {
      sum += path == "v[]" ? value : 0;
    }
    double sum = 0;
  };
  Sum sum;
  std::string text = R"({"v":[1,2.5,-1],"w":[100]})";
  ai::json::Visit(text, sum);
  REQUIRE(sum.sum == 2.5);
}
