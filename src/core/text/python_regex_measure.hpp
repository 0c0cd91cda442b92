// What can be said about a pattern without matching: how much text it consumes and how much work an
// attempt to match it can take.
#pragma once

#include <cstdint>

#include "core/text/python_regex_tree.hpp"

namespace ai::text::python_regex {

Width MeasureWidth(const Branches& branches);

/// Saturates here; nothing distinguishes larger numbers.
inline constexpr std::uint64_t kUnboundedSteps = std::uint64_t{1} << 31;

/// An upper bound of the elementary steps of one attempt at one place, with all backtracking.
/// Unbounded if the subject's length is a factor. A repeat at the very end of the pattern is
/// counted up to its minimum: nothing after it can fail, so what it scans beyond that is in the
/// match.
std::uint64_t MeasureAttempt(const Branches& branches);

}  // namespace ai::text::python_regex
