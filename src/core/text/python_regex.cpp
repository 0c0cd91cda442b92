// The steps from Python's syntax to PCRE2's: parse, simplify, measure, emit.
#include "core/text/python_regex.hpp"

#include <cstdint>

#include "core/error.hpp"
#include "core/text/python_regex_emit.hpp"
#include "core/text/python_regex_measure.hpp"
#include "core/text/python_regex_parser.hpp"
#include "core/text/python_regex_simplify.hpp"
#include "core/utf8.hpp"

namespace ai::text {
namespace {

constexpr std::size_t kMaxPatternBytes = 4096;
constexpr std::size_t kMaxQuotedBytes = 100;
// An attempt that may take more steps than this is watched by callouts.
constexpr std::uint64_t kMaxUnwatchedSteps = 4096;

}  // namespace

TranslatedRegex TranslatePythonRegex(std::string_view pattern, LeadingRun leading_run) {
  if (pattern.size() > kMaxPatternBytes) {
    throw Error(ErrorCode::kLimitExceeded, "regular expression is too long",
                "It has " + std::to_string(pattern.size()) + " bytes, the limit is " +
                    std::to_string(kMaxPatternBytes) + ".");
  }
  python_regex::Tree tree = python_regex::Parser(pattern).Parse();
  python_regex::Simplify(tree);
  const std::uint64_t steps = python_regex::MeasureAttempt(tree.branches);
  TranslatedRegex translated;
  translated.attempt_steps = static_cast<std::size_t>(steps);
  translated.has_callouts = steps > kMaxUnwatchedSteps;
  translated.has_unwatched_run = translated.has_callouts && python_regex::StartsWithRun(tree) &&
                                 leading_run == LeadingRun::kLeaveToJit;
  using python_regex::Callouts;
  const Callouts callouts = !translated.has_callouts       ? Callouts::kNone
                            : translated.has_unwatched_run ? Callouts::kAllButLeadingRun
                                                           : Callouts::kAll;
  translated.text = python_regex::Emit(tree, callouts);
  return translated;
}

std::string QuotePattern(std::string_view pattern) {
  const std::string_view clipped = utf8::Clip(pattern, kMaxQuotedBytes);
  return "\"" + std::string(clipped) + (clipped.size() < pattern.size() ? "...\"" : "\"");
}

}  // namespace ai::text
