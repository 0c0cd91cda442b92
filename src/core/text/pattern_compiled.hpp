// The owner of what PCRE2 allocates for one pattern, and the only place that calls PCRE2. All of it
// is released by the destructor, so that an exception that passes leaks nothing.
#pragma once

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "core/interrupt.hpp"
#include "core/text/pattern.hpp"
#include "core/text/python_regex.hpp"

namespace ai::text {

struct Pcre2Deleter {
  void operator()(pcre2_code* code) const { pcre2_code_free(code); }
  void operator()(pcre2_match_data* data) const { pcre2_match_data_free(data); }
  void operator()(pcre2_match_context* context) const { pcre2_match_context_free(context); }
  void operator()(pcre2_compile_context* context) const { pcre2_compile_context_free(context); }
  void operator()(pcre2_jit_stack* stack) const { pcre2_jit_stack_free(stack); }
};

template <typename T>
using Pcre2Ptr = std::unique_ptr<T, Pcre2Deleter>;

enum class Engine { kJitIfAvailable, kInterpreter };

class CompiledPattern {
 public:
  explicit CompiledPattern(std::string_view python_pattern,
                           Engine engine = Engine::kJitIfAvailable);

  /// The first match that starts at or after from; with not_empty_at_from an empty match right
  /// there does not count. Asks pending() before each call of PCRE2 and, if the pattern has
  /// callouts, within it. Throws as Pattern::Finder::Next does.
  /// INVARIANT: subject is valid UTF-8, from is a boundary in it, pending does not throw.
  bool Search(std::string_view subject, std::size_t from, bool not_empty_at_from,
              InterruptCheck pending, Span& out);

 private:
  void Compile(const TranslatedRegex& translated);
  int Match(std::string_view subject, std::size_t from, std::uint32_t options);
  void ReleaseStack();
  [[noreturn]] void Fail(int pcre2_error);

  std::string source_;
  bool jit_ = false;
  bool has_callouts_ = false;
  std::size_t window_ = 0;  // how many bytes of starting places one call may try
  Pcre2Ptr<pcre2_code> code_;
  Pcre2Ptr<pcre2_match_data> match_data_;
  Pcre2Ptr<pcre2_match_context> match_context_;
  Pcre2Ptr<pcre2_jit_stack> jit_stack_;  // while the small built-in one is too small for a subject
};

}  // namespace ai::text
