// The handle and the iteration; the matching itself is in pattern_compiled.cpp.
#include "core/text/pattern.hpp"

#include <utility>

#include "core/text/pattern_compiled.hpp"

namespace ai::text {

Pattern::Pattern(std::shared_ptr<CompiledPattern> compiled) : compiled_(std::move(compiled)) {}

Pattern Pattern::Compile(std::string_view python_pattern) {
  return Pattern(std::make_shared<CompiledPattern>(python_pattern));
}

bool Pattern::Matches(std::string_view subject, InterruptCheck pending) const {
  Span ignored{};
  return compiled_->Search(subject, 0, false, pending, ignored);
}

Pattern::Finder::Finder(const Pattern& pattern, std::string_view subject, InterruptCheck pending)
    : compiled_(pattern.compiled_), subject_(subject), pending_(pending) {}

bool Pattern::Finder::Next(Span& out) {
  if (done_) {
    return false;
  }
  if (!compiled_->Search(subject_, position_, last_was_empty_, pending_, out)) {
    done_ = true;
    return false;
  }
  position_ = out.end;
  last_was_empty_ = out.begin == out.end;
  return true;
}

}  // namespace ai::text
