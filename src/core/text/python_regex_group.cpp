// What follows an opening parenthesis. See python_regex_parser.hpp.
#include <utility>

#include "core/text/python_regex_measure.hpp"
#include "core/text/python_regex_parser.hpp"
#include "core/utf8.hpp"

namespace ai::text::python_regex {
namespace {

// Python's identifiers, except that every non-ASCII character may be part of one.
bool IsIdentifier(const std::string& name) {
  if (name.empty() || IsDigit(static_cast<unsigned char>(name.front()))) {
    return false;
  }
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x80 && byte != '_' && !IsAsciiLetter(byte) && !IsDigit(byte)) {
      return false;
    }
  }
  return true;
}

bool HasFixedWidth(const Branches& branches) {
  const Width width = MeasureWidth(branches);
  return width.min == width.max;
}

}  // namespace

// After "(". Comments and flags for the rest of the pattern add nothing to the sequence.
void Parser::ParseGroup(Flags& flags, bool may_set_flags, Sequence& sequence) {
  const std::size_t start = cursor_.Tell() - 1;
  if (!cursor_.Match(U'?')) {
    return ParseCapture(start, flags, {}, sequence);
  }
  const Token kind = cursor_.Get();
  if (kind.end) {
    cursor_.Fail("unexpected end of pattern");
  }
  switch (kind.escaped ? U'\0' : kind.value) {
    case U'P':
      return ParsePythonExtension(start, flags, sequence);
    case U':':
      return ParsePlainGroup(start, flags, false, sequence);
    case U'>':
      return ParsePlainGroup(start, flags, true, sequence);
    case U'#':
      return SkipComment(start);
    case U'=':
    case U'!':
    case U'<':
      return ParseLookAround(start, flags, kind, sequence);
    case U'(':
      return ParseConditional(start, flags, sequence);
    default:
      break;
  }
  if (!StartsFlags(kind)) {
    cursor_.Fail("unknown extension ?" + Spelling(kind), kind.length() + 1);
  }
  Flags changed = flags;
  if (ParseFlags(cursor_, kind, changed, pattern_flags_) == FlagScope::kGroup) {
    return ParsePlainGroup(start, changed, false, sequence);
  }
  if (!may_set_flags || !sequence.empty()) {
    cursor_.FailAt("global flags not at the start of the expression", start);
  }
  flags = changed;
}

// After "(?P".
void Parser::ParsePythonExtension(std::size_t start, const Flags& flags, Sequence& sequence) {
  if (cursor_.Match(U'<')) {
    const std::string name = cursor_.TakeUntil(U'>', "group name");
    CheckGroupName(name);
    return ParseCapture(start, flags, name, sequence);
  }
  if (!cursor_.Match(U'=')) {
    const Token other = cursor_.Get();
    if (other.end) {
      cursor_.Fail("unexpected end of pattern");
    }
    cursor_.Fail("unknown extension ?P" + Spelling(other), other.length() + 2);
  }
  const std::string name = cursor_.TakeUntil(U')', "group name");
  CheckGroupName(name);
  const auto found = names_.find(name);
  if (found == names_.end()) {
    cursor_.Fail("unknown group name '" + name + "'", utf8::CountCodePoints(name) + 1);
  }
  if (!captures_[found->second].width) {
    cursor_.Fail("cannot refer to an open group", utf8::CountCodePoints(name) + 1);
  }
  sequence.push_back(Refer(found->second, flags));
}

void Parser::ParseCapture(std::size_t start, const Flags& flags, const std::string& name,
                          Sequence& sequence) {
  const std::size_t number = captures_.size();
  if (!name.empty()) {
    const auto [found, added] = names_.emplace(name, number);
    if (!added) {
      cursor_.Fail("redefinition of group name '" + name + "' as group " + std::to_string(number) +
                       "; was group " + std::to_string(found->second),
                   utf8::CountCodePoints(name) + 1);
    }
  }
  captures_.push_back(Capture{});
  Group group{number, false, ParseBranches(flags, false)};
  ExpectClose(start);
  captures_[number].width = MeasureWidth(group.branches);
  sequence.push_back(Node{std::move(group)});
}

void Parser::ParsePlainGroup(std::size_t start, const Flags& flags, bool atomic,
                             Sequence& sequence) {
  Group group{0, atomic, ParseBranches(flags, false)};
  ExpectClose(start);
  sequence.push_back(Node{std::move(group)});
}

// After "(?=", "(?!" or "(?<".
void Parser::ParseLookAround(std::size_t start, const Flags& flags, Token kind,
                             Sequence& sequence) {
  const bool behind = kind.Is(U'<');
  if (behind) {
    kind = cursor_.Get();
    if (kind.end) {
      cursor_.Fail("unexpected end of pattern");
    }
    if (!kind.Is(U'=') && !kind.Is(U'!')) {
      cursor_.Fail("unknown extension ?<" + Spelling(kind), kind.length() + 2);
    }
  }
  const auto outer = look_behind_captures_;
  if (behind && !look_behind_captures_) {
    look_behind_captures_ = captures_.size();
  }
  LookAround look{behind, kind.Is(U'!'), ParseBranches(flags, false)};
  look_behind_captures_ = outer;
  ExpectClose(start);
  if (behind && !HasFixedWidth(look.branches)) {
    cursor_.FailAt("look-behind requires fixed-width pattern", start, ErrorCode::kInvalidText,
                   "Write alternatives of different lengths as separate look-behinds.");
  }
  sequence.push_back(Node{std::move(look)});
}

// After "(?(".
void Parser::ParseConditional(std::size_t start, const Flags& flags, Sequence& sequence) {
  Conditional conditional{ParseConditionGroup(), {}};
  referenced_.push_back(conditional.group);
  EnterNesting();
  Flags inner = flags;
  conditional.branches.push_back(ParseSequence(inner, false));
  if (cursor_.Match(U'|')) {
    conditional.branches.push_back(ParseSequence(inner, false));
    if (cursor_.Peek().Is(U'|')) {
      cursor_.Fail("conditional backref with more than two branches");
    }
  }
  --depth_;
  ExpectClose(start);
  sequence.push_back(Node{std::move(conditional)});
}

// A name must be known already; a number may be that of a later group.
std::size_t Parser::ParseConditionGroup() {
  const std::string name = cursor_.TakeUntil(U')', "group name");
  const std::size_t back = utf8::CountCodePoints(name) + 1;
  if (IsIdentifier(name)) {
    const auto found = names_.find(name);
    if (found == names_.end()) {
      cursor_.Fail("unknown group name '" + name + "'", back);
    }
    CheckLookBehindReference(found->second);
    return found->second;
  }
  std::size_t number = 0;
  for (const char c : name) {
    if (c < '0' || c > '9') {
      cursor_.Fail("bad character in group name '" + name + "'", back);
    }
    number = number * 10 + static_cast<std::size_t>(c - '0');
    if (number > kMaxCount) {
      cursor_.Fail("invalid group reference " + name, back);
    }
  }
  if (number == 0) {
    cursor_.Fail("bad group number", back);
  }
  conditions_.emplace_back(number, cursor_.Tell() - back);
  CheckLookBehindReference(number);
  return number;
}

void Parser::SkipComment(std::size_t start) {
  for (;;) {
    const Token token = cursor_.Get();
    if (token.end) {
      cursor_.FailAt("missing ), unterminated comment", start);
    }
    if (token.Is(U')')) {
      return;
    }
  }
}

void Parser::CheckGroupName(const std::string& name) const {
  if (!IsIdentifier(name)) {
    cursor_.Fail("bad character in group name '" + name + "'", utf8::CountCodePoints(name) + 1);
  }
}

// A look-behind cannot use what it captures itself.
void Parser::CheckLookBehindReference(std::size_t group) const {
  if (!look_behind_captures_) {
    return;
  }
  if (group >= captures_.size() || !captures_[group].width) {
    cursor_.Fail("cannot refer to an open group");
  }
  if (group >= *look_behind_captures_) {
    cursor_.Fail("cannot refer to group defined in the same lookbehind subpattern");
  }
}

// INVARIANT: the group is closed.
Node Parser::Refer(std::size_t group, const Flags& flags) {
  CheckLookBehindReference(group);
  referenced_.push_back(group);
  return Node{BackReference{group, *captures_[group].width, flags.ignore_case}};
}

void Parser::ExpectClose(std::size_t start) {
  if (!cursor_.Match(U')')) {
    cursor_.FailAt("missing ), unterminated subpattern", start);
  }
}

}  // namespace ai::text::python_regex
