// Tests of core/text/pattern: iterating over matches, windows, interrupts, limits, the cache. What
// a pattern means is tested in python_regex_test.cpp.
#include "core/text/pattern.hpp"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/text/pattern_compiled.hpp"
#include "fuzz/pattern_fuzz.hpp"
#include "fuzz/seeded.hpp"
#include "unit/catch_bridge.hpp"

namespace {

using ai::Error;
using ai::ErrorCode;
using ai::test::IsError;
using ai::text::CompiledPattern;
using ai::text::Engine;
using ai::text::LeadingRun;
using ai::text::Pattern;
using ai::text::Span;
using ai::text::TranslatePythonRegex;

using Spans = std::vector<std::pair<std::size_t, std::size_t>>;

Spans FindAll(const Pattern& pattern, std::string_view subject,
              ai::InterruptCheck pending = nullptr) {
  Pattern::Finder finder(pattern, subject, pending);
  Spans spans;
  Span span{};
  while (finder.Next(span)) {
    spans.emplace_back(span.begin, span.end);
  }
  CHECK_FALSE(finder.Next(span));
  return spans;
}

Spans FindAll(CompiledPattern& pattern, std::string_view subject, ai::InterruptCheck pending) {
  Spans spans;
  Span span{};
  std::size_t from = 0;
  bool empty = false;
  while (pattern.Search(subject, from, empty, pending, span)) {
    spans.emplace_back(span.begin, span.end);
    from = span.end;
    empty = span.begin == span.end;
  }
  return spans;
}

/// A request to stop that comes at a given question.
struct Stop {
  static inline long asked = 0;
  static inline long at = 0;

  static bool Pending() { return ++asked >= at; }
  static ai::InterruptCheck AtQuestion(long question) {
    asked = 0;
    at = question;
    return &Pending;
  }
  static ai::InterruptCheck Never() { return AtQuestion(1'000'000'000); }
};

std::string Repeated(std::string_view unit, std::size_t times) {
  std::string out;
  for (std::size_t i = 0; i < times; ++i) {
    out += unit;
  }
  return out;
}

}  // namespace

TEST_CASE("a finder goes through the matches and ends", "[pattern]") {
  const Pattern pattern = Pattern::Compile(R"((?<=[.!?])\s+)");
  CHECK(FindAll(pattern, "One. Two!  Three") == Spans{{4, 5}, {9, 11}});
  CHECK(FindAll(pattern, "").empty());
  CHECK(FindAll(pattern, std::string_view()).empty());
  CHECK(pattern.Matches("a. b", nullptr));
  CHECK_FALSE(pattern.Matches("a b.", nullptr));
}

TEST_CASE("finders of one pattern do not disturb each other", "[pattern]") {
  const Pattern pattern = Pattern::Compile("a|(b)b");
  Pattern::Finder first(pattern, "a-bb-a", nullptr);
  Pattern::Finder second(pattern, "bba", nullptr);
  Span span{};
  REQUIRE(first.Next(span));
  REQUIRE(second.Next(span));
  CHECK((span.begin == 0 && span.end == 2));
  REQUIRE(first.Next(span));
  CHECK((span.begin == 2 && span.end == 4));
  CHECK(pattern.Matches("bb", nullptr));
  REQUIRE(second.Next(span));
  CHECK((span.begin == 2 && span.end == 3));
}

TEST_CASE("the subject is all there is", "[pattern]") {
  const std::string text = "x\nab";
  CHECK_FALSE(Pattern::Compile(R"((?<=\n)ab)").Matches(std::string_view(text).substr(2), nullptr));
  CHECK(Pattern::Compile(R"(\Aab\Z)").Matches(std::string_view(text).substr(2), nullptr));
  CHECK(Pattern::Compile(R"(x$)").Matches(std::string_view(text).substr(0, 2), nullptr));
}

TEST_CASE("windows change no match", "[pattern]") {
  const std::string dots(100, '.');
  for (std::size_t at = 0; at < 100; ++at) {
    CAPTURE(at);
    // Runs at the start of a pattern have the smallest windows.
    const std::string number = dots.substr(0, at) + "a1" + dots;
    CHECK(FindAll(Pattern::Compile("[a-z]+[0-9]"), number) == Spans{{at, at + 2}});
    // An empty match is not allowed where the last one was, but is at the start of any window.
    const std::string marks = "!" + dots.substr(0, at) + "!" + dots;
    CHECK(FindAll(Pattern::Compile("a*(?=!)"), marks) == Spans{{0, 0}, {at + 1, at + 1}});
    // A window never starts inside of a character, where there would be something other than é.
    const std::string accents = dots.substr(0, at) + Repeated("é", 50);
    CHECK(FindAll(Pattern::Compile(R"(z*(?![é.]|\Z))"), accents).empty());
  }
}

TEST_CASE("a long subject takes several windows", "[pattern]") {
  const std::string far = Repeated("é", 40'000) + "ab" + Repeated("é", 30'000) + "\n";
  for (std::size_t shift = 0; shift < 3; ++shift) {
    const std::string subject = std::string(shift, '.') + far;
    const std::size_t ab = shift + 80'000;
    CHECK(FindAll(Pattern::Compile("ab"), subject) == Spans{{ab, ab + 2}});
    CHECK(FindAll(Pattern::Compile("(?<=é)(?=\n)"), subject) ==
          Spans{{subject.size() - 1, subject.size() - 1}});
    CHECK(FindAll(Pattern::Compile(R"(\Z)"), subject) == Spans{{subject.size(), subject.size()}});
    CHECK(FindAll(Pattern::Compile(R"(é+(?=a))"), subject) == Spans{{shift, ab}});
    CHECK(FindAll(Pattern::Compile(""), subject).size() == shift + 70'004);
  }
}

TEST_CASE("a request to stop is seen at once, whatever the pattern", "[pattern][interrupt]") {
  // Each of these takes minutes to years for 100 kB, some of them in a single attempt.
  const std::string spaces = std::string(100'000, ' ') + "x\n";
  const std::string letters = std::string(100'000, 'a') + "b";
  const std::pair<const char*, const std::string*> cases[] = {
      {R"((?: |\t)+\n)", &spaces},
      {R"((?:(?<=x)|)\s+\n)", &spaces},
      {R"(\s+\s+\n)", &spaces},
      {R"(\s+\s+\s+\s+\n)", &spaces},
      {R"((\s+)\1+y?\n)", &spaces},
      {R"((?s)(?=.*c))", &letters},
      {R"((?s)(?:(?=.*+).)*(?<=\n)b)", &letters},
      {R"((?:a|a)(?:a|a)*[^ab])", &letters},
      {R"(a*a*a*aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa[^ab])", &letters},
  };
  for (const auto& [source, subject] : cases) {
    for (const Engine engine : {Engine::kJitIfAvailable, Engine::kInterpreter}) {
      CAPTURE(source, static_cast<int>(engine));
      CompiledPattern pattern(source, engine);
      Span span{};
      CHECK_THROWS_MATCHES(pattern.Search(*subject, 0, false, Stop::AtQuestion(200), span), Error,
                           IsError(ErrorCode::kCancelled));
      CHECK(Stop::asked == 200);
    }
  }
}

TEST_CASE("there is a question for every linear piece of work", "[pattern][interrupt]") {
  const long length = 400;
  const std::string spaces(length, ' ');
  const auto questions = [&spaces](const char* source, Engine engine) {
    CompiledPattern pattern(source, engine);
    CHECK(FindAll(pattern, spaces, Stop::Never()).empty());
    return Stop::asked;
  };
  // The run is scanned anew from every starting place, or, by the JIT, from every window.
  CHECK(questions(R"(\s+[^ ])", Engine::kInterpreter) >= length);
  CHECK(questions(R"(\s+[^ ])", Engine::kJitIfAvailable) >= length / 33);
  // The second run is scanned anew for every end of the first one.
  for (const Engine engine : {Engine::kJitIfAvailable, Engine::kInterpreter}) {
    CHECK(questions(R"((?:x|)\s+\s+[^ ])", engine) >= length * (length - 1) / 2);
    CHECK(questions(R"((?:\s\s?)*+[^ ])", engine) >= length * length / 4);
  }
}

TEST_CASE("only patterns that can get expensive are watched", "[pattern][interrupt]") {
  const auto watched = [](std::string_view pattern) {
    return TranslatePythonRegex(pattern, LeadingRun::kWatch).has_callouts;
  };
  for (const char* cheap :
       {R"((?<=[.!?])\s+)", R"(\s+)", R"(\n\n)", R"(\n{2,})", R"((?:\r?\n){2,})", R"([.!?]\s*)",
        R"((?=\n#{1,6} ))", R"((?:a|b){3}c?)", R"((\s)+)", R"((a)\1)", R"(\b)", R"((?>a{2,9})b)"}) {
    CAPTURE(cheap);
    CHECK_FALSE(watched(cheap));
  }
  for (const char* dear :
       {R"(\s+\n)", R"((?: |\t)+\n)", R"((?=\s*x))", R"((a+)+$)", R"((.+)\1)", R"((?:a?){30}b)",
        R"((?:a|b|ab){9}c)", R"((?<=\s{60000})x)", R"((?>a+)b)", R"((?(1)a*b|c)(d))"}) {
    CAPTURE(dear);
    CHECK(watched(dear));
  }
}

TEST_CASE("a run that starts the pattern is left to the JIT", "[pattern][interrupt]") {
  const auto unwatched = [](std::string_view pattern, LeadingRun leading_run) {
    return TranslatePythonRegex(pattern, leading_run).has_unwatched_run;
  };
  CHECK(unwatched(R"(\s+\n)", LeadingRun::kLeaveToJit));
  CHECK(unwatched(R"((\s)+\n)", LeadingRun::kLeaveToJit));
  CHECK(unwatched(R"(x|\s*y)", LeadingRun::kLeaveToJit));
  CHECK_FALSE(unwatched(R"(\s+\n)", LeadingRun::kWatch));
  CHECK_FALSE(unwatched(R"(\s+)", LeadingRun::kLeaveToJit));
  CHECK_FALSE(unwatched(R"(x\s+\n)", LeadingRun::kLeaveToJit));
}

TEST_CASE("cheap patterns ask in long texts and between matches", "[pattern][interrupt]") {
  const std::string text = Repeated("aaaaaaaaaa", 1'000'000);
  CHECK_THROWS_MATCHES(Pattern::Compile("b").Matches(text, Stop::AtQuestion(20)), Error,
                       IsError(ErrorCode::kCancelled));
  CHECK_THROWS_MATCHES(FindAll(Pattern::Compile("a"), text, Stop::AtQuestion(20)), Error,
                       IsError(ErrorCode::kCancelled));
  CHECK(Stop::asked == 20);
}

TEST_CASE("a pattern that explodes is an error that names it", "[pattern][limits]") {
  const std::string letters = std::string(100'000, 'a') + "b";
  for (const char* source : {"(a+)+$", "(a|aa)+$", "(?:a?){30}a{30}[^ab]", "(?:(?:a+)+)+[^ab]"}) {
    for (const Engine engine : {Engine::kJitIfAvailable, Engine::kInterpreter}) {
      CAPTURE(source, static_cast<int>(engine));
      CompiledPattern pattern(source, engine);
      Span span{};
      // Twice: an error leaves the pattern usable.
      for (int i = 0; i < 2; ++i) {
        CHECK_THROWS_MATCHES(pattern.Search(letters, 0, false, nullptr, span), Error,
                             IsError(ErrorCode::kLimitExceeded, "\"" + std::string(source) + "\""));
      }
      CHECK_FALSE(pattern.Search("caab", 0, false, nullptr, span));
    }
  }
}

TEST_CASE("deep backtracking gets the memory it needs", "[pattern][limits]") {
  const std::string text = Repeated("ab", 100'000);
  for (const Engine engine : {Engine::kJitIfAvailable, Engine::kInterpreter}) {
    CompiledPattern pattern("(?:a|b)*", engine);
    // Twice: it is let go of at the end of a text.
    for (int i = 0; i < 2; ++i) {
      const Spans spans = FindAll(pattern, text, nullptr);
      CHECK(spans == Spans{{0, text.size()}, {text.size(), text.size()}});
    }
  }
}

TEST_CASE("random patterns: both engines agree and spans are sane", "[pattern][random]") {
  ai::fuzz::SeededInputs inputs(20240131);
  int accepted = 0;
  for (int round = 0; round < 4000; ++round) {
    accepted += ai::fuzz::FuzzPattern(inputs.Next()) ? 1 : 0;
  }
  CHECK(accepted > 400);
}
