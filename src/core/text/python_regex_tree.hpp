// The syntax tree of a regular expression in Python's syntax. Flags are resolved while parsing, so
// a node says by itself what it matches; comments and verbose whitespace are gone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <variant>
#include <vector>

#include "core/text/python_regex_class.hpp"

namespace ai::text::python_regex {

struct Node;
using Sequence = std::vector<Node>;
using Branches = std::vector<Sequence>;

/// In code points, saturating at kUnlimited.
struct Width {
  std::uint32_t min = 0;
  std::uint32_t max = 0;
};
inline constexpr std::uint32_t kUnlimited = std::numeric_limits<std::uint32_t>::max();

struct Anchor {
  enum class Kind { kStart, kLineStart, kEnd, kEndOrLastNewline, kLineEnd, kWordEdge, kNoWordEdge };
  Kind kind;
  bool ascii;
};

struct BackReference {
  std::size_t group;
  Width width;
  bool ignore_case;
};

struct Group {
  std::size_t capture = 0;  // its number; 0 if nothing needs to remember what it matched
  bool atomic = false;
  Branches branches;
};

struct LookAround {
  bool behind;
  bool negative;
  Branches branches;
};

/// (?(group)yes|no); the second branch may be missing.
struct Conditional {
  std::size_t group;
  Branches branches;
};

struct Repeat {
  enum class Mode { kGreedy, kLazy, kPossessive };
  std::uint32_t min;
  std::uint32_t max;
  Mode mode;
  Sequence body;  // INVARIANT: exactly one node
};

struct Node {
  std::variant<Literal, AnyCharacter, CharacterClass, Anchor, BackReference, Group, LookAround,
               Conditional, Repeat>
      value;
};

struct Tree {
  Branches branches;
  std::vector<bool> referenced;  // by group number: some node needs what the group matched
};

/// Whether the node always consumes exactly one code point, in one way.
inline bool IsSingleCharacter(const Node& node) {
  return std::holds_alternative<Literal>(node.value) ||
         std::holds_alternative<AnyCharacter>(node.value) ||
         std::holds_alternative<CharacterClass>(node.value);
}

}  // namespace ai::text::python_regex
