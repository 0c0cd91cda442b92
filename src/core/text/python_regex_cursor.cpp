// Tokens, names and the error that points at a place in the pattern.
#include "core/text/python_regex_cursor.hpp"

#include "core/text/python_regex.hpp"
#include "core/utf8.hpp"

namespace ai::text::python_regex {

bool IsDigit(char32_t c) {
  return c >= U'0' && c <= U'9';
}

bool IsOctalDigit(char32_t c) {
  return c >= U'0' && c <= U'7';
}

bool IsHexDigit(char32_t c) {
  return IsDigit(c) || (c >= U'a' && c <= U'f') || (c >= U'A' && c <= U'F');
}

bool IsAsciiLetter(char32_t c) {
  return (c >= U'a' && c <= U'z') || (c >= U'A' && c <= U'Z');
}

std::string Spelling(const Token& token) {
  std::string out;
  if (token.end) {
    return out;
  }
  if (token.escaped) {
    out.push_back('\\');
  }
  utf8::Append(out, token.value);
  return out;
}

Cursor::Cursor(std::string_view pattern) : pattern_(pattern) {
  if (!utf8::IsValid(pattern)) {
    throw Error(ErrorCode::kInvalidText, "invalid regular expression: not valid UTF-8");
  }
  text_.reserve(pattern.size());
  for (std::size_t at = 0; at < pattern.size();) {
    const utf8::Decoded decoded = utf8::DecodeAt(pattern, at);
    text_.push_back(decoded.code_point);
    at += decoded.length;
  }
  Seek(0);
}

Token Cursor::Peek() const {
  if (next_ >= text_.size()) {
    return Token{0, false, true};
  }
  if (text_[next_] != U'\\') {
    return Token{text_[next_], false, false};
  }
  if (next_ + 1 >= text_.size()) {
    FailAt("bad escape (end of pattern)", next_);
  }
  return Token{text_[next_ + 1], true, false};
}

// Python looks one token ahead, so it sees a lone backslash at the end before any other mistake.
void Cursor::Seek(std::size_t position) {
  next_ = position;
  Peek();
}

Token Cursor::Get() {
  const Token token = Peek();
  Seek(next_ + token.length());
  return token;
}

bool Cursor::Match(char32_t plain) {
  if (!Peek().Is(plain)) {
    return false;
  }
  Seek(next_ + 1);
  return true;
}

std::string Cursor::TakeWhile(std::size_t max, bool (*accept)(char32_t)) {
  std::string taken;
  for (std::size_t count = 0; count < max; ++count) {
    const Token token = Peek();
    if (token.end || token.escaped || !accept(token.value)) {
      break;
    }
    taken += Spelling(Get());
  }
  return taken;
}

std::string Cursor::TakeUntil(char32_t terminator, const std::string& what) {
  const std::size_t start = next_;
  std::string taken;
  for (;;) {
    const Token token = Get();
    if (token.end) {
      if (taken.empty()) {
        Fail("missing " + what);
      }
      FailAt("missing " + Spelling(Token{terminator}) + ", unterminated name", start);
    }
    if (token.Is(terminator)) {
      if (taken.empty()) {
        Fail("missing " + what, 1);
      }
      return taken;
    }
    taken += Spelling(token);
  }
}

void Cursor::Fail(const std::string& message, std::size_t back) const {
  FailAt(message, next_ - back);
}

void Cursor::FailAt(const std::string& message, std::size_t position, ErrorCode code,
                    const std::string& hint) const {
  throw Error(code,
              "invalid regular expression: " + message + " at position " + std::to_string(position),
              "The pattern is " + QuotePattern(pattern_) + ".", hint);
}

}  // namespace ai::text::python_regex
