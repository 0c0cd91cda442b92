// The parser of Python's regular-expression syntax (CPython 3.11, str patterns). It accepts what
// `re.compile` accepts and refuses the rest with the same message and position.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/text/python_regex_cursor.hpp"
#include "core/text/python_regex_flags.hpp"
#include "core/text/python_regex_tree.hpp"

namespace ai::text::python_regex {

class Parser {
 public:
  /// INVARIANT: pattern outlives the parser.
  explicit Parser(std::string_view pattern) : cursor_(pattern) {}

  /// To be called once.
  Tree Parse();

 private:
  // PCRE2's limit for repeat counts and for group numbers.
  static constexpr std::uint32_t kMaxCount = 65535;

  /// What has been seen of a capture group. An open group has no width and cannot be referred to.
  struct Capture {
    std::optional<Width> width;
  };

  // python_regex_parser.cpp: sequences, repeats, references
  Branches ParseBranches(Flags flags, bool top_level);
  Sequence ParseSequence(Flags& flags, bool may_set_flags);
  void EnterNesting();
  bool SkipVerbose(const Token& token);
  void ParseRepeat(const Token& token, Sequence& sequence);
  bool ParseCounts(Repeat& repeat);
  std::uint32_t ParseCount(const std::string& digits) const;
  Node ParseEscape(const Token& token, const Flags& flags);
  Node ParseNumericEscape(const Token& token, const Flags& flags);

  // python_regex_group.cpp: what follows an opening parenthesis
  void ParseGroup(Flags& flags, bool may_set_flags, Sequence& sequence);
  void ParsePythonExtension(std::size_t start, const Flags& flags, Sequence& sequence);
  void ParseCapture(std::size_t start, const Flags& flags, const std::string& name,
                    Sequence& sequence);
  void ParsePlainGroup(std::size_t start, const Flags& flags, bool atomic, Sequence& sequence);
  void ParseLookAround(std::size_t start, const Flags& flags, Token kind, Sequence& sequence);
  void ParseConditional(std::size_t start, const Flags& flags, Sequence& sequence);
  std::size_t ParseConditionGroup();
  void SkipComment(std::size_t start);
  void CheckGroupName(const std::string& name) const;
  void CheckLookBehindReference(std::size_t group) const;
  Node Refer(std::size_t group, const Flags& flags);
  void ExpectClose(std::size_t start);

  Cursor cursor_;
  std::size_t depth_ = 0;
  std::string pattern_flags_;                        // the letters of all (?...) without a group
  std::vector<Capture> captures_{Capture{Width{}}};  // by number; 0 is the whole match
  std::map<std::string, std::size_t> names_;
  std::vector<std::size_t> referenced_;
  std::vector<std::pair<std::size_t, std::size_t>> conditions_;  // group, position
  std::optional<std::size_t> look_behind_captures_;              // how many there were at its start
};

}  // namespace ai::text::python_regex
