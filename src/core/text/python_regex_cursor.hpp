// Reads a pattern token by token as Python's parser does: a backslash and the character after it
// are one token everywhere, even in comments and names. Positions count code points, as in Python's
// messages.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "core/error.hpp"

namespace ai::text::python_regex {

struct Token {
  char32_t value = 0;
  bool escaped = false;
  bool end = false;

  bool Is(char32_t plain) const { return !end && !escaped && value == plain; }
  std::size_t length() const { return end ? 0 : escaped ? 2 : 1; }
};

bool IsDigit(char32_t c);
bool IsOctalDigit(char32_t c);
bool IsHexDigit(char32_t c);
bool IsAsciiLetter(char32_t c);

/// The token as it was written.
std::string Spelling(const Token& token);

class Cursor {
 public:
  /// INVARIANT: pattern outlives the cursor. Throws Error if it is not valid UTF-8.
  explicit Cursor(std::string_view pattern);

  Token Peek() const;
  Token Get();
  bool Match(char32_t plain);
  /// The position of the next token.
  std::size_t Tell() const { return next_; }
  void Seek(std::size_t position);

  /// At most max plain characters that accept() likes.
  std::string TakeWhile(std::size_t max, bool (*accept)(char32_t));
  /// A name that ends with terminator, which is consumed. what names it in a message.
  std::string TakeUntil(char32_t terminator, const std::string& what);

  /// Throws the error for a mistake that starts back code points before the next token.
  [[noreturn]] void Fail(const std::string& message, std::size_t back = 0) const;
  [[noreturn]] void FailAt(const std::string& message, std::size_t position,
                           ErrorCode code = ErrorCode::kInvalidText,
                           const std::string& hint = {}) const;

 private:
  std::string_view pattern_;
  std::u32string text_;
  std::size_t next_ = 0;
};

}  // namespace ai::text::python_regex
