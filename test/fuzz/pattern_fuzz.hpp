// Fuzzes regular expressions: patterns put together from pieces of Python's syntax, on texts that
// they may match. Nothing may crash, leak or run on; matches must be in order and on character
// boundaries, and the JIT and the interpreter must agree.
#pragma once

#include <array>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/text/pattern_compiled.hpp"
#include "core/utf8.hpp"
#include "fuzz/fuzz_input.hpp"

namespace ai::fuzz {

/// What a pattern did with a subject. Spans are complete only if it finished.
struct PatternOutcome {
  std::vector<std::pair<std::size_t, std::size_t>> spans;
  bool accepted = false;
  bool finished = false;
};

/// Stops what would take too long here: patterns that can take long are those that ask often.
struct Patience {
  static inline long left = 0;
  static bool Exhausted() { return --left < 0; }
};

inline void RequirePattern(bool condition, const char* what) {
  if (!condition) {
    throw std::logic_error(what);
  }
}

inline PatternOutcome MatchAll(std::string_view pattern, std::string_view subject,
                               text::Engine engine) {
  PatternOutcome outcome;
  Patience::left = 20'000;
  try {
    text::CompiledPattern compiled(pattern, engine);
    outcome.accepted = true;
    text::Span span{};
    std::size_t from = 0;
    bool empty = false;
    while (compiled.Search(subject, from, empty, &Patience::Exhausted, span)) {
      RequirePattern(from <= span.begin && span.begin <= span.end && span.end <= subject.size(),
                     "order");
      RequirePattern(utf8::IsValid(subject.substr(span.begin, span.end - span.begin)), "boundary");
      RequirePattern(!empty || span.end > from, "two empty matches at one place");
      outcome.spans.emplace_back(span.begin, span.end);
      from = span.end;
      empty = span.begin == span.end;
    }
    outcome.finished = true;
  } catch (const Error& error) {
    RequirePattern(error.code() != ErrorCode::kInternal, error.what());
  }
  return outcome;
}

/// Returns whether the pattern was accepted.
inline bool FuzzPattern(std::string_view bytes) {
  static constexpr std::array<std::string_view, 70> kPieces = {
      "a",       "b",     "A",      "\xC3\xA9", "\xE6\x97\xA5",
      ".",       "-",     " ",      "\\s",      "\\S",
      "\\w",     "\\W",   "\\d",    "\\b",      "\\B",
      "\\A",     "\\Z",   "\\n",    "\\.",      "\\x41",
      "\\u00e9", "\\0",   "\\400",  "\\1",      "\\2",
      "\\h",     "\\",    "^",      "$",        "*",
      "+",       "?",     "{1,2}",  "{,3}",     "{2,}",
      "{",       "}",     "*?",     "++",       "(",
      "(",       ")",     ")",      ")",        "(?:",
      "(?=",     "(?!",   "(?<=",   "(?<!",     "(?>",
      "(?i)",    "(?i:",  "(?a-s:", "(?mx)",    "(?P<n>",
      "(?P=n)",  "(?(1)", "(?#",    "|",        "|",
      "[",       "]",     "[^",     "[ab]",     "[^\\Wa]",
      "[\\s.]",  "[a-",   "#",      "\n",       "(?s)"};
  static constexpr std::array<std::string_view, 14> kText = {
      "a", "a", "b",        "A",        "ab",           " ", "\n", ".",
      "-", "1", "\xC3\xA9", "\xC3\x89", "\xE6\x97\xA5", "_"};
  FuzzInput input(bytes);
  std::string pattern;
  for (unsigned count = input.Below(16); count > 0; --count) {
    pattern += input.Pick(kPieces);
  }
  std::string subject;
  while (subject.size() < bytes.size()) {
    subject += input.Pick(kText);
  }
  const PatternOutcome jit = MatchAll(pattern, subject, text::Engine::kJitIfAvailable);
  const PatternOutcome interpreted = MatchAll(pattern, subject, text::Engine::kInterpreter);
  RequirePattern(jit.accepted == interpreted.accepted, "accepted by one engine only");
  RequirePattern(!jit.finished || !interpreted.finished || jit.spans == interpreted.spans,
                 "the engines differ");
  // The same bytes as they are: mistakes that the pieces cannot make.
  const std::string_view half = bytes.substr(0, bytes.size() / 2);
  MatchAll(half, subject, text::Engine::kJitIfAvailable);
  return jit.accepted;
}

}  // namespace ai::fuzz
