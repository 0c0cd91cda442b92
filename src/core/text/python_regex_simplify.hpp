// Takes out of a syntax tree what has no effect on the whole match: captures that nothing refers to
// and parentheses around a single repeated character. (\s)+ becomes \s+, which is much cheaper.
#pragma once

#include "core/text/python_regex_tree.hpp"

namespace ai::text::python_regex {

/// Captures that remain are numbered anew.
void Simplify(Tree& tree);

}  // namespace ai::text::python_regex
