// How a Document is stored: rapidjson's tree, and the text that its strings point into. Private to
// src/core/json.
#pragma once

#include <string>

#include "core/json/rapidjson.hpp"
#include "core/json/value.hpp"

namespace ai::json {

struct Tree {
  static constexpr std::size_t kChunk = 4096;

  std::string text;  // with its strings decoded in place
  rapidjson::MemoryPoolAllocator<Allocator> pool{kChunk};
  rapidjson::GenericDocument<rapidjson::UTF8<>, rapidjson::MemoryPoolAllocator<Allocator>,
                             Allocator>
      root{&pool};
};

}  // namespace ai::json
