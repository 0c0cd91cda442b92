// A separator, of one of three kinds: a literal, found without a regular expression engine; a
// pattern in Python's syntax; and the empty one, which stands between any two code points.
#pragma once

#include <optional>
#include <string>

#include "core/text/pattern.hpp"

namespace ai::text {

class Separator {
 public:
  /// Throws what Pattern::Compile throws.
  Separator(std::string text, bool is_regex);

  const std::string& text() const { return text_; }
  bool cuts_everywhere() const { return text_.empty(); }
  /// Set for what needs the engine, which a pattern without special characters does not.
  const std::optional<Pattern>& pattern() const { return pattern_; }

 private:
  std::string text_;
  std::optional<Pattern> pattern_;
};

}  // namespace ai::text
