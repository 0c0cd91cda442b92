// One visit of the tree that writes the pattern for PCRE2, with callouts where asked for.
#include "core/text/python_regex_emit.hpp"

#include <string_view>
#include <variant>

#include "core/text/python_regex_class.hpp"

namespace ai::text::python_regex {
namespace {

constexpr std::string_view kCallout = "(?C1)";
// How many items of constant cost may stand in a row without a callout.
constexpr std::size_t kMaxPlainItems = 8;

bool IsUnboundedRun(const Node& node) {
  const auto* repeat = std::get_if<Repeat>(&node.value);
  return repeat != nullptr && repeat->max == kUnlimited && IsSingleCharacter(repeat->body.front());
}

class Emitter {
 public:
  Emitter(const Tree& tree, Callouts callouts) : tree_(tree), callouts_(callouts) {}

  std::string Run() {
    for (std::size_t i = 0; i < tree_.branches.size(); ++i) {
      if (i > 0) {
        out_.push_back('|');
      }
      EmitSequence(tree_.branches[i], true);
    }
    return out_;
  }

  void operator()(const Literal& literal) { EmitCharacter(FormatLiteral(literal)); }
  void operator()(const CharacterClass& of) { EmitCharacter(FormatClass(of)); }
  void operator()(const AnyCharacter& any) { out_ += any.newline_too ? "." : "[^\\n]"; }
  void operator()(const Anchor& anchor) { EmitAnchor(anchor); }

  void operator()(const BackReference& reference) {
    EmitCallout();
    SetCaseless(reference.ignore_case);
    out_ += "\\g{" + std::to_string(reference.group) + "}";
  }

  void operator()(const Group& group) {
    const bool needs_parentheses =
        group.capture != 0 || group.atomic || repeated_ || group.branches.size() > 1;
    if (!needs_parentheses) {
      return EmitSequence(group.branches.front(), false);
    }
    EmitParentheses(group.capture != 0 ? "(" : group.atomic ? "(?>" : "(?:", group.branches);
  }

  void operator()(const LookAround& look) {
    repeated_ = false;  // PCRE2 enters a look-around at most once
    const char* const ahead = look.negative ? "(?!" : "(?=";
    const char* const behind = look.negative ? "(?<!" : "(?<=";
    EmitParentheses(look.behind ? behind : ahead, look.branches);
  }

  void operator()(const Conditional& conditional) {
    EmitParentheses("(?(" + std::to_string(conditional.group) + ")", conditional.branches);
  }

  void operator()(const Repeat& repeat) {
    const Node& body = repeat.body.front();
    if (IsSingleCharacter(body) && !leads_) {
      EmitCallout();
    }
    repeated_ = true;
    std::visit(*this, body.value);
    EmitCounts(repeat);
  }

 private:
  void EmitSequence(const Sequence& sequence, bool starts_pattern) {
    for (std::size_t i = 0; i < sequence.size(); ++i) {
      const Node& node = sequence[i];
      if (++plain_items_ > kMaxPlainItems) {
        EmitCallout();
      }
      leads_ = starts_pattern && i == 0 && IsUnboundedRun(node) && callouts_ != Callouts::kAll;
      repeated_ = false;
      std::visit(*this, node.value);
      leads_ = false;
    }
  }

  // The options set inside of parentheses end with them, and hold from one branch to the next.
  void EmitParentheses(const std::string& open, const Branches& branches) {
    const bool caseless = caseless_;
    out_ += open;
    if (repeated_) {
      EmitCallout();
    }
    for (std::size_t i = 0; i < branches.size(); ++i) {
      if (i > 0) {
        out_.push_back('|');
      }
      EmitSequence(branches[i], false);
    }
    out_.push_back(')');
    caseless_ = caseless;
  }

  void EmitCharacter(const CharacterPattern& pattern) {
    SetCaseless(pattern.caseless);
    out_ += pattern.text;
  }

  void EmitAnchor(const Anchor& anchor) {
    const std::string word(WordClass(anchor.ascii));
    switch (anchor.kind) {
      case Anchor::Kind::kStart:
        out_ += "\\A";
        return;
      case Anchor::Kind::kLineStart:
        out_ += "(?m)^(?-m)";
        return;
      case Anchor::Kind::kEnd:
        out_ += "\\z";
        return;
      case Anchor::Kind::kEndOrLastNewline:
        out_ += "$";
        return;
      case Anchor::Kind::kLineEnd:
        out_ += "(?m)$(?-m)";
        return;
      case Anchor::Kind::kWordEdge:
        SetCaseless(false);
        out_ += "(?:(?<=" + word + ")(?!" + word + ")|(?<!" + word + ")(?=" + word + "))";
        return;
      case Anchor::Kind::kNoWordEdge:
        // Python before 3.14 finds no \B in an empty text.
        SetCaseless(false);
        out_ += "(?!\\A\\z)(?:(?<=" + word + ")(?=" + word + ")|(?<!" + word + ")(?!" + word + "))";
        return;
    }
  }

  void EmitCounts(const Repeat& repeat) {
    if (repeat.max == kUnlimited && repeat.min <= 1) {
      out_.push_back(repeat.min == 0 ? '*' : '+');
    } else if (repeat.max == kUnlimited) {
      out_ += "{" + std::to_string(repeat.min) + ",}";
    } else {
      out_ += "{" + std::to_string(repeat.min) + "," + std::to_string(repeat.max) + "}";
    }
    if (repeat.mode != Repeat::Mode::kGreedy) {
      out_.push_back(repeat.mode == Repeat::Mode::kLazy ? '?' : '+');
    }
  }

  void EmitCallout() {
    if (callouts_ != Callouts::kNone) {
      out_ += kCallout;
    }
    plain_items_ = 0;
  }

  void SetCaseless(bool caseless) {
    if (caseless != caseless_) {
      out_ += caseless ? "(?i)" : "(?-i)";
      caseless_ = caseless;
    }
  }

  const Tree& tree_;
  Callouts callouts_;
  std::string out_;
  bool caseless_ = false;
  bool leads_ = false;     // the node is a run that starts the pattern and gets no callout
  bool repeated_ = false;  // the node is the body of a repeat
  std::size_t plain_items_ = 0;
};

}  // namespace

std::string Emit(const Tree& tree, Callouts callouts) {
  return Emitter(tree, callouts).Run();
}

bool StartsWithRun(const Tree& tree) {
  for (const Sequence& branch : tree.branches) {
    if (!branch.empty() && IsUnboundedRun(branch.front())) {
      return true;
    }
  }
  return false;
}

}  // namespace ai::text::python_regex
