// Rewrites a regular expression from Python's syntax into PCRE2's, so that it matches what Python's
// `re` matches on str: Unicode classes, anchors, escapes and flags are spelled out where the two
// differ, and what Python refuses is refused with Python's message. It does not match anything.
//
// The rewriting also says how expensive one attempt to match can get, and, where that has no small
// bound, strews callouts over the result so that matching can be stopped from the inside.
//
// Known differences: \N{NAME} is refused; group names may hold any non-ASCII character; a repeat
// count is at most 65535; a counted repeat over an alternation with an empty branch may take
// another of its alternatives than Python does.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace ai::text {

/// INVARIANT: text means what it says only with the options PCRE2_UTF, PCRE2_UCP, PCRE2_DOTALL and
/// PCRE2_ALT_CIRCUMFLEX and with LF as the newline.
struct TranslatedRegex {
  std::string text;
  /// An upper bound of the elementary steps of one attempt at one place, if has_callouts is false.
  /// A repeat that ends the pattern counts once: what it consumes is part of the match.
  std::size_t attempt_steps = 0;
  /// Whether callouts are part of text: between two of them an attempt takes a number of steps that
  /// is linear in the subject.
  bool has_callouts = false;
  /// Whether an attempt starts by consuming an unbounded run without a callout before it.
  bool has_unwatched_run = false;
};

/// What to do with an unbounded run that starts a pattern. PCRE2's JIT knows how to skip the next
/// starting places inside of such a run, which a callout before it would keep it from doing.
enum class LeadingRun { kWatch, kLeaveToJit };

/// Throws Error as Pattern::Compile does.
TranslatedRegex TranslatePythonRegex(std::string_view pattern, LeadingRun leading_run);

/// The pattern as it should appear in a message: in quotes, clipped if it is long.
std::string QuotePattern(std::string_view pattern);

}  // namespace ai::text
