// See reader.hpp. The text is checked to be UTF-8 first, in one fast walk; then the grammar is
// walked with a stack of its own, so that nesting never costs stack.
#include "core/json/reader.hpp"

#include <algorithm>
#include <string>

#include "core/error.hpp"
#include "core/json/number.hpp"
#include "core/json/string.hpp"
#include "core/utf8.hpp"

namespace ai::json {
namespace {

constexpr std::size_t kHardMaxBytes = std::size_t{1} << 31;  // a Document counts in 32 bits

[[noreturn]] void ThrowInvalid(std::size_t offset, const char* what) {
  throw Error(ErrorCode::kInvalidText,
              "invalid JSON at byte " + std::to_string(offset) + ": " + what);
}

const char* SkipWhitespace(const char* at, const char* end) {
  while (at != end && (*at == ' ' || *at == '\n' || *at == '\r' || *at == '\t')) {
    ++at;
  }
  return at;
}

const char* SkipDigits(const char* at, const char* end) {
  while (at != end && *at >= '0' && *at <= '9') {
    ++at;
  }
  return at;
}

class Reader {
 public:
  Reader(std::string_view text, Handler& handler, std::size_t max_depth)
      : begin_(text.data()),
        at_(text.data()),
        end_(text.data() + text.size()),
        handler_(handler),
        max_depth_(max_depth) {}

  void Run() {
    Skip();
    if (at_ == end_ || *at_ == ']' || *at_ == '}' || *at_ == ',' || *at_ == ':') {
      Fail("expected a value");
    }
    TakeValue();
    while (!open_.empty()) {
      open_.back() == '{' ? TakeMember() : TakeElement();
    }
    Skip();
    if (at_ != end_) {
      Fail("expected the end of the text");
    }
  }

 private:
  [[noreturn]] void Fail(const char* what) const {
    ThrowInvalid(static_cast<std::size_t>(at_ - begin_), what);
  }

  bool Is(char c) const { return at_ != end_ && *at_ == c; }
  void Skip() { at_ = SkipWhitespace(at_, end_); }

  void TakeMember() {
    Skip();
    if (Is('}')) {
      Close();
      handler_.OnObjectEnd();
      return;
    }
    TakeComma("expected \",\" or \"}\" in an object");
    if (!Is('"')) {
      Fail("expected a key in double quotes");
    }
    handler_.OnKey(TakeString());
    Skip();
    if (!Is(':')) {
      Fail("expected \":\" after a key");
    }
    ++at_;
    Skip();
    TakeValue();
  }

  void TakeElement() {
    Skip();
    if (Is(']')) {
      Close();
      handler_.OnArrayEnd();
      return;
    }
    TakeComma("expected \",\" or \"]\" in an array");
    TakeValue();
  }

  /// Between two members or elements; there is none before the first.
  void TakeComma(const char* otherwise) {
    if (!at_first_) {
      if (!Is(',')) {
        Fail(otherwise);
      }
      ++at_;
      Skip();
    }
    at_first_ = false;
  }

  void TakeValue() {
    switch (at_ == end_ ? '\0' : *at_) {
      case '{':
        Open();
        handler_.OnObjectBegin();
        return;
      case '[':
        Open();
        handler_.OnArrayBegin();
        return;
      case '"':
        handler_.OnString(TakeString());
        return;
      case 'n':
        TakeWord("null");
        handler_.OnNull();
        return;
      case 't':
        TakeWord("true");
        handler_.OnBool(true);
        return;
      case 'f':
        TakeWord("false");
        handler_.OnBool(false);
        return;
      default:
        TakeNumbers();
    }
  }

  void Open() {
    if (open_.size() == max_depth_) {
      throw Error(ErrorCode::kLimitExceeded,
                  "JSON is nested too deeply at byte " + std::to_string(at_ - begin_),
                  "The limit is " + std::to_string(max_depth_) + " levels.");
    }
    open_.push_back(*at_);
    at_first_ = true;
    ++at_;
  }

  void Close() {
    open_.pop_back();
    at_first_ = false;
    ++at_;
  }

  std::string_view TakeString() {
    const ScannedString scanned = ScanString(at_, end_, buffer_);
    at_ = scanned.end;
    if (scanned.problem != nullptr) {
      Fail(scanned.problem);
    }
    return scanned.value;
  }

  void TakeWord(std::string_view word) {
    for (const char c : word) {
      if (!Is(c)) {
        Fail("invalid value");
      }
      ++at_;
    }
  }

  /// A number, and in an array those that follow it with nothing but commas between: long arrays
  /// of numbers are what replies consist of.
  void TakeNumbers() {
    const bool in_array = !open_.empty() && open_.back() == '[';
    TakeNumber();
    while (in_array && Is(',')) {
      const char* const next = SkipWhitespace(at_ + 1, end_);
      if (next == end_ || (*next != '-' && (*next < '0' || *next > '9'))) {
        return;
      }
      at_ = next;
      TakeNumber();
    }
  }

  void TakeNumber() {
    const ScannedNumber scanned = ScanNumber(at_, end_);
    if (scanned.outcome == NumberOutcome::kMalformed) {
      FailInNumber();
    }
    if (scanned.outcome == NumberOutcome::kTooLarge) {
      Fail("number too large");
    }
    at_ = scanned.end;
    if (scanned.number.is_integer) {
      handler_.OnInteger(scanned.number.integer);
    } else {
      handler_.OnDouble(scanned.number.real);
    }
  }

  /// Finds where a number that is none goes wrong.
  [[noreturn]] void FailInNumber() {
    at_ += Is('-') ? 1 : 0;
    const char* const digits = at_;
    at_ = Is('0') ? at_ + 1 : SkipDigits(at_, end_);
    if (at_ == digits) {
      Fail("invalid value");
    }
    if (Is('.')) {
      const char* const fraction = ++at_;
      at_ = SkipDigits(at_, end_);
      if (at_ == fraction) {
        Fail("expected a digit after the decimal point");
      }
    }
    ++at_;  // the "e": nothing else is left to be wrong
    at_ += Is('-') || Is('+') ? 1 : 0;
    Fail("expected a digit in the exponent");
  }

  const char* begin_;
  const char* at_;
  const char* end_;
  Handler& handler_;
  std::size_t max_depth_;
  std::string open_;       // the bracket of each container that is open
  bool at_first_ = false;  // the container has been opened and nothing of it read yet
  std::string buffer_;     // for strings with escapes
};

}  // namespace

void Read(std::string_view text, Handler& handler, const Limits& limits) {
  const std::size_t max_bytes = std::min(limits.max_bytes, kHardMaxBytes);
  if (text.size() > max_bytes) {
    throw Error(ErrorCode::kLimitExceeded,
                "JSON text of " + std::to_string(text.size()) + " bytes is too large",
                "The limit is " + std::to_string(max_bytes) + " bytes.");
  }
  if (const std::size_t valid = utf8::ValidPrefix(text); valid != text.size()) {
    ThrowInvalid(valid, "not valid UTF-8");
  }
  Reader(text, handler, limits.max_depth).Run();
}

}  // namespace ai::json
