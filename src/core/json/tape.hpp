// How a Document is stored. Private to src/core/json.
//
// All values lie in one vector in the order of the text, each container before its content, a key
// (a string) before its member's value. A value says where the next one of the same container
// starts, so a subtree is skipped in one step. Nothing points anywhere: to destroy it is to free
// two blocks, however deep the document is.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/json/value.hpp"

namespace ai::json {

struct Node {
  union {
    std::int64_t integer;  // kInteger, and 0 or 1 for kBool
    double real;           // kDouble
    std::uint64_t offset;  // kString: in Tape::text
  };
  std::uint32_t size;  // of a string in bytes, of a container in elements or members
  std::uint32_t next;  // the index behind this value and all it contains
  Kind kind;
};

struct Tape {
  std::vector<Node> nodes;
  std::string text;

  std::string_view StringAt(std::uint32_t index) const {
    const Node& node = nodes[index];
    return std::string_view(text).substr(node.offset, node.size);
  }
};

}  // namespace ai::json
