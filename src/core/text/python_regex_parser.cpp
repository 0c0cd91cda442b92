// Sequences and repeats. See python_regex_parser.hpp.
#include "core/text/python_regex_parser.hpp"

#include <cstdint>
#include <utility>

#include "core/text/python_regex_character.hpp"

namespace ai::text::python_regex {
namespace {

// PCRE2 allows 250 open parentheses, and the rewriting adds a few of its own.
constexpr std::size_t kMaxDepth = 200;

constexpr std::u32string_view kVerboseSpaces = U" \t\n\r\v\f";

bool IsVerboseSpace(const Token& token) {
  return !token.escaped && kVerboseSpaces.find(token.value) != std::u32string_view::npos;
}

std::optional<Anchor::Kind> AnchorOf(char32_t letter) {
  switch (letter) {
    case U'A':
      return Anchor::Kind::kStart;
    case U'Z':
      return Anchor::Kind::kEnd;
    case U'b':
      return Anchor::Kind::kWordEdge;
    case U'B':
      return Anchor::Kind::kNoWordEdge;
    default:
      return std::nullopt;
  }
}

}  // namespace

Tree Parser::Parse() {
  Tree tree;
  tree.branches = ParseBranches(Flags{}, true);
  if (!cursor_.Peek().end) {
    cursor_.Fail("unbalanced parenthesis");
  }
  for (const auto& [group, position] : conditions_) {
    if (group >= captures_.size()) {
      cursor_.FailAt("invalid group reference " + std::to_string(group), position);
    }
  }
  tree.referenced.assign(captures_.size(), false);
  for (const std::size_t group : referenced_) {
    tree.referenced[group] = true;
  }
  return tree;
}

Branches Parser::ParseBranches(Flags flags, bool top_level) {
  EnterNesting();
  Branches branches;
  do {
    branches.push_back(ParseSequence(flags, top_level && branches.empty()));
  } while (cursor_.Match(U'|'));
  --depth_;
  return branches;
}

void Parser::EnterNesting() {
  if (++depth_ > kMaxDepth) {
    cursor_.FailAt("more than " + std::to_string(kMaxDepth) + " nested parentheses", cursor_.Tell(),
                   ErrorCode::kLimitExceeded);
  }
}

Sequence Parser::ParseSequence(Flags& flags, bool may_set_flags) {
  using Kind = Anchor::Kind;
  Sequence sequence;
  for (;;) {
    const Token token = cursor_.Peek();
    if (token.end || token.Is(U'|') || token.Is(U')')) {
      return sequence;
    }
    cursor_.Get();
    if (flags.verbose && SkipVerbose(token)) {
      continue;
    }
    if (token.escaped) {
      sequence.push_back(ParseEscape(token, flags));
      continue;
    }
    switch (token.value) {
      case U'[':
        sequence.push_back(Node{ParseClass(cursor_, flags)});
        break;
      case U'.':
        sequence.push_back(Node{AnyCharacter{flags.dot_all}});
        break;
      case U'^':
        sequence.push_back(
            Node{Anchor{flags.multi_line ? Kind::kLineStart : Kind::kStart, flags.ascii}});
        break;
      case U'$':
        sequence.push_back(
            Node{Anchor{flags.multi_line ? Kind::kLineEnd : Kind::kEndOrLastNewline, flags.ascii}});
        break;
      case U'(':
        ParseGroup(flags, may_set_flags, sequence);
        break;
      case U'*':
      case U'+':
      case U'?':
      case U'{':
        ParseRepeat(token, sequence);
        break;
      default:
        sequence.push_back(Node{Literal{token.value, flags.ignore_case, flags.ascii}});
    }
  }
}

bool Parser::SkipVerbose(const Token& token) {
  if (IsVerboseSpace(token)) {
    return true;
  }
  if (!token.Is(U'#')) {
    return false;
  }
  for (;;) {
    const Token skipped = cursor_.Get();
    if (skipped.end || skipped.Is(U'\n')) {
      return true;
    }
  }
}

void Parser::ParseRepeat(const Token& token, Sequence& sequence) {
  const std::size_t start = cursor_.Tell() - 1;
  Repeat repeat{0, kUnlimited, Repeat::Mode::kGreedy, {}};
  if (token.value == U'{') {
    if (!ParseCounts(repeat)) {
      cursor_.Seek(start + 1);
      sequence.push_back(Node{Literal{U'{', false, false}});
      return;
    }
  } else {
    repeat.min = token.value == U'+' ? 1 : 0;
    repeat.max = token.value == U'?' ? 1 : kUnlimited;
  }
  if (sequence.empty() || std::holds_alternative<Anchor>(sequence.back().value)) {
    cursor_.FailAt("nothing to repeat", start);
  }
  if (std::holds_alternative<Repeat>(sequence.back().value)) {
    cursor_.FailAt("multiple repeat", start);
  }
  if (cursor_.Match(U'?')) {
    repeat.mode = Repeat::Mode::kLazy;
  } else if (cursor_.Match(U'+')) {
    repeat.mode = Repeat::Mode::kPossessive;
  }
  repeat.body.push_back(std::move(sequence.back()));
  sequence.back() = Node{std::move(repeat)};
}

// After "{": false if this is not a count and the brace stands for itself.
bool Parser::ParseCounts(Repeat& repeat) {
  const std::size_t start = cursor_.Tell();
  if (cursor_.Peek().Is(U'}')) {
    return false;
  }
  const std::string low = cursor_.TakeWhile(kUnlimited, IsDigit);
  const std::string high = cursor_.Match(U',') ? cursor_.TakeWhile(kUnlimited, IsDigit) : low;
  if (!cursor_.Match(U'}')) {
    return false;
  }
  if (!low.empty()) {
    repeat.min = ParseCount(low);
  }
  if (!high.empty()) {
    repeat.max = ParseCount(high);
    if (repeat.max < repeat.min) {
      cursor_.FailAt("min repeat greater than max repeat", start);
    }
  }
  return true;
}

std::uint32_t Parser::ParseCount(const std::string& digits) const {
  std::uint32_t count = 0;
  for (const char digit : digits) {
    count = count * 10 + static_cast<std::uint32_t>(digit - '0');
    if (count > kMaxCount) {
      cursor_.FailAt("the repetition number is above " + std::to_string(kMaxCount), cursor_.Tell(),
                     ErrorCode::kLimitExceeded);
    }
  }
  return count;
}

Node Parser::ParseEscape(const Token& token, const Flags& flags) {
  if (const auto anchor = AnchorOf(token.value)) {
    return Node{Anchor{*anchor, flags.ascii}};
  }
  if (const auto category = CategoryOf(token.value)) {
    return Node{CharacterClass{false, flags.ignore_case, flags.ascii, {}, {*category}}};
  }
  if (IsDigit(token.value)) {
    return ParseNumericEscape(token, flags);
  }
  return Node{Literal{ParseCharacterEscape(cursor_, token), flags.ignore_case, flags.ascii}};
}

// \0 and three octal digits are a character; everything else refers to a group.
Node Parser::ParseNumericEscape(const Token& token, const Flags& flags) {
  const auto literal = [&flags](char32_t value) {
    return Node{Literal{value, flags.ignore_case, flags.ascii}};
  };
  std::string digits = Spelling(Token{token.value});
  if (token.value == U'0') {
    return literal(ValueOf(digits + cursor_.TakeWhile(2, IsOctalDigit), 8));
  }
  digits += cursor_.TakeWhile(1, IsDigit);
  const Token next = cursor_.Peek();
  const bool octal = digits.size() == 2 && IsOctalDigit(token.value) && digits[1] <= '7' &&
                     !next.end && !next.escaped && IsOctalDigit(next.value);
  if (octal) {
    digits += Spelling(cursor_.Get());
    const char32_t value = ValueOf(digits, 8);
    if (value > 0377) {
      cursor_.Fail("octal escape value \\" + digits + " outside of range 0-0o377",
                   digits.size() + 1);
    }
    return literal(value);
  }
  const std::size_t group = ValueOf(digits, 10);
  if (group >= captures_.size()) {
    cursor_.Fail("invalid group reference " + digits, digits.size());
  }
  if (!captures_[group].width) {
    cursor_.Fail("cannot refer to an open group", digits.size() + 1);
  }
  return Refer(group, flags);
}

}  // namespace ai::text::python_regex
