// Separators written as regular expressions in Python's syntax, matched by PCRE2.
//
// A pattern means what it means to Python's `re` on str: python_regex.hpp rewrites it and refuses
// what Python refuses. Matching never holds up a cancel: between two questions to the callback the
// work is at most linear in the subject, whatever the pattern is, and a pattern that explodes ends
// with an error. One that is merely quadratic goes on until somebody stops it, so a caller with a
// deadline should let its callback say so. Nothing here copies the subject or is global.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

#include "core/interrupt.hpp"

namespace ai::text {

class CompiledPattern;

/// Byte offsets into a subject; end is one past the last byte.
struct Span {
  std::size_t begin;
  std::size_t end;
};

/// A compiled separator. A copy is a cheap handle to the same compilation. Not thread-safe: handles
/// of one compilation share its match buffers, so they belong to one thread.
class Pattern {
 public:
  class Finder;

  /// Throws Error: kInvalidText for a syntax error (Python's message and position), kNotSupported
  /// for Python syntax we cannot match, kLimitExceeded for a pattern that is too large.
  static Pattern Compile(std::string_view python_pattern);

  /// Whether subject contains a match. The subject is the whole text: look-behind and anchors see
  /// nothing outside of it. Throws as Finder::Next does.
  /// INVARIANT: subject is valid UTF-8.
  bool Matches(std::string_view subject, InterruptCheck pending) const;

 private:
  explicit Pattern(std::shared_ptr<CompiledPattern> compiled);

  std::shared_ptr<CompiledPattern> compiled_;
};

/// Iterates over all non-overlapping matches from left to right, as re.finditer does: an empty
/// match may follow a non-empty one directly, but never another empty one at the same place.
class Pattern::Finder {
 public:
  /// INVARIANT: subject is valid UTF-8 and outlives the finder.
  Finder(const Pattern& pattern, std::string_view subject, InterruptCheck pending);

  /// The next match; false when there is none. Throws Error: kCancelled when pending() says so,
  /// kLimitExceeded when matching takes more backtracking or memory than we allow.
  bool Next(Span& out);

 private:
  std::shared_ptr<CompiledPattern> compiled_;
  std::string_view subject_;
  InterruptCheck pending_;
  std::size_t position_ = 0;
  bool last_was_empty_ = false;
  bool done_ = false;
};

}  // namespace ai::text
