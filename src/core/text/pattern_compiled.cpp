// How PCRE2 is called: the limits, windows and callouts that keep it from holding up anybody.
#include "core/text/pattern_compiled.hpp"

#include <algorithm>
#include <array>
#include <new>

namespace ai::text {
namespace {

// Backtracking steps for one starting place, as PCRE2 counts them; it bounds exponential patterns.
constexpr std::uint32_t kMatchLimit = 1'000'000;
// The memory for backtracking. The interpreter takes it from the heap, and more for the same work,
// so that there is no use in trying again with it what the JIT's stack was too small for.
constexpr std::size_t kBacktrackBytes = std::size_t{64} * 1024 * 1024;
constexpr std::size_t kFirstBacktrackBytes = std::size_t{32} * 1024;

// A call that tries this many starting places costs too little to hold up anybody.
constexpr std::size_t kMaxWindow = std::size_t{64} * 1024;
// The work that a call may do at most, if its pattern has no callouts.
constexpr std::size_t kStepsPerCall = std::size_t{256} * 1024;
// The same where each attempt may scan the whole rest of the subject before its first callout.
constexpr std::size_t kRunWindow = 32;

// What TranslatedRegex asks for, and what the windows need.
constexpr std::uint32_t kOptions = PCRE2_UTF | PCRE2_UCP | PCRE2_DOTALL | PCRE2_ALT_CIRCUMFLEX |
                                   PCRE2_USE_OFFSET_LIMIT | PCRE2_NEVER_BACKSLASH_C;

template <typename T>
Pcre2Ptr<T> Own(T* object) {
  if (object == nullptr) {
    throw std::bad_alloc();
  }
  return Pcre2Ptr<T>(object);
}

std::string ErrorText(int error) {
  std::array<PCRE2_UCHAR, 256> buffer{};
  pcre2_get_error_message(error, buffer.data(), buffer.size());
  return reinterpret_cast<const char*>(buffer.data());
}

PCRE2_SPTR Units(std::string_view text) {
  return reinterpret_cast<PCRE2_SPTR>(text.data() == nullptr ? "" : text.data());
}

Pcre2Ptr<pcre2_code> CompileTranslated(std::string_view source, const std::string& text) {
  const auto context = Own(pcre2_compile_context_create(nullptr));
  pcre2_set_newline(context.get(), PCRE2_NEWLINE_LF);
  int error = 0;
  PCRE2_SIZE offset = 0;
  pcre2_code* code =
      pcre2_compile(Units(text), text.size(), kOptions, &error, &offset, context.get());
  if (code == nullptr) {
    // The syntax has been checked, so this is one of PCRE2's limits.
    throw Error(ErrorCode::kLimitExceeded, "regular expression is too complex",
                "The pattern is " + QuotePattern(source) + ": " + ErrorText(error) + ".");
  }
  return Pcre2Ptr<pcre2_code>(code);
}

std::size_t WindowFor(const TranslatedRegex& translated) {
  if (translated.has_callouts) {
    return translated.has_unwatched_run ? kRunWindow : kMaxWindow;
  }
  return std::min(kMaxWindow, kStepsPerCall / std::max<std::size_t>(translated.attempt_steps, 1));
}

// Called by PCRE2 wherever the pattern has a callout. No exception may pass through PCRE2's frames.
int PollInterrupt(pcre2_callout_block* /*block*/, void* pending) {
  const auto ask = *static_cast<const InterruptCheck*>(pending);
  return ask() ? PCRE2_ERROR_CALLOUT : 0;
}

// The first character boundary after offset, or one past the end.
std::size_t NextBoundary(std::string_view subject, std::size_t offset) {
  ++offset;
  while (offset < subject.size() && (static_cast<unsigned char>(subject[offset]) & 0xC0) == 0x80) {
    ++offset;
  }
  return offset;
}

}  // namespace

CompiledPattern::CompiledPattern(std::string_view python_pattern, Engine engine)
    : source_(python_pattern) {
  if (engine == Engine::kJitIfAvailable) {
    Compile(TranslatePythonRegex(source_, LeadingRun::kLeaveToJit));
    jit_ = pcre2_jit_compile(code_.get(), PCRE2_JIT_COMPLETE) == 0;
  }
  // A kernel may refuse memory that is both writable and executable.
  if (!jit_) {
    Compile(TranslatePythonRegex(source_, LeadingRun::kWatch));
  }
  match_data_ = Own(pcre2_match_data_create(1, nullptr));
  match_context_ = Own(pcre2_match_context_create(nullptr));
  pcre2_set_match_limit(match_context_.get(), kMatchLimit);
  pcre2_set_heap_limit(match_context_.get(), kBacktrackBytes / 1024);
}

void CompiledPattern::Compile(const TranslatedRegex& translated) {
  code_ = CompileTranslated(source_, translated.text);
  has_callouts_ = translated.has_callouts;
  window_ = WindowFor(translated);
}

bool CompiledPattern::Search(std::string_view subject, std::size_t from, bool not_empty_at_from,
                             InterruptCheck pending, Span& out) {
  if (has_callouts_) {
    // INVARIANT: pending lives until the last call of PCRE2 below.
    pcre2_set_callout(match_context_.get(), pending == nullptr ? nullptr : PollInterrupt, &pending);
  }
  std::uint32_t options = PCRE2_NO_UTF_CHECK | (not_empty_at_from ? PCRE2_NOTEMPTY_ATSTART : 0U);
  while (from <= subject.size()) {
    CheckInterrupt(pending);
    const std::size_t last_start = std::min(subject.size(), from + window_);
    pcre2_set_offset_limit(match_context_.get(), last_start);
    const int result = Match(subject, from, options);
    if (result >= 0) {
      const PCRE2_SIZE* offsets = pcre2_get_ovector_pointer(match_data_.get());
      out = {offsets[0], offsets[1]};
      return true;
    }
    if (result != PCRE2_ERROR_NOMATCH) {
      Fail(result);
    }
    from = NextBoundary(subject, last_start);
    options = PCRE2_NO_UTF_CHECK;
  }
  ReleaseStack();
  return false;
}

// One call of PCRE2, or two if the JIT turns out to need a larger stack. Returns PCRE2's code.
int CompiledPattern::Match(std::string_view subject, std::size_t from, std::uint32_t options) {
  if (!jit_) {
    return pcre2_match(code_.get(), Units(subject), subject.size(), from, options,
                       match_data_.get(), match_context_.get());
  }
  const auto match = [&] {
    return pcre2_jit_match(code_.get(), Units(subject), subject.size(), from, options,
                           match_data_.get(), match_context_.get());
  };
  const int result = match();
  if (result != PCRE2_ERROR_JIT_STACKLIMIT || jit_stack_ != nullptr) {
    return result;
  }
  jit_stack_ = Own(pcre2_jit_stack_create(kFirstBacktrackBytes, kBacktrackBytes, nullptr));
  pcre2_jit_stack_assign(match_context_.get(), nullptr, jit_stack_.get());
  return match();
}

// A pattern outlives the text that needed so much, and the pages stay touched.
void CompiledPattern::ReleaseStack() {
  if (jit_stack_ != nullptr) {
    pcre2_jit_stack_assign(match_context_.get(), nullptr, nullptr);
    jit_stack_.reset();
  }
}

void CompiledPattern::Fail(int pcre2_error) {
  // The stack and the match data may each hold all the memory that we allow.
  ReleaseStack();
  if (pcre2_error == PCRE2_ERROR_CALLOUT) {
    CheckInterrupt([] { return true; });
  }
  match_data_ = Own(pcre2_match_data_create(1, nullptr));
  switch (pcre2_error) {
    case PCRE2_ERROR_MATCHLIMIT:
    case PCRE2_ERROR_DEPTHLIMIT:
    case PCRE2_ERROR_HEAPLIMIT:
    case PCRE2_ERROR_JIT_STACKLIMIT:
    case PCRE2_ERROR_NOMEMORY:
      throw Error(
          ErrorCode::kLimitExceeded,
          "regular expression " + QuotePattern(source_) + " takes too long to match",
          "Matching stopped: " + ErrorText(pcre2_error) + ".",
          "Rewrite the pattern so that no text can be matched by its repeats in many ways.");
    default:
      throw Error(ErrorCode::kInternal,
                  "could not match regular expression " + QuotePattern(source_),
                  ErrorText(pcre2_error) + ".");
  }
}

}  // namespace ai::text
