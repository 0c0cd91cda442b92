// Writes a syntax tree as a pattern for PCRE2. Which options the pattern is to be compiled with is
// said in python_regex.hpp.
#pragma once

#include <string>

#include "core/text/python_regex_tree.hpp"

namespace ai::text::python_regex {

/// A callout stands before everything whose cost is not constant and in everything that can be
/// entered again and again; with kAllButLeadingRun not before a run that starts the pattern.
enum class Callouts { kNone, kAllButLeadingRun, kAll };

std::string Emit(const Tree& tree, Callouts callouts);

/// Whether the pattern, or one of its branches, starts with an unbounded run of single characters.
bool StartsWithRun(const Tree& tree);

}  // namespace ai::text::python_regex
