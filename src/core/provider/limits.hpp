// How much one request may hold.
#pragma once

#include <cstddef>

namespace ai::provider {

/// A token limit of 0 means that there is none that we have to keep.
struct Limits {
  std::size_t max_items;
  std::size_t max_tokens = 0;                    // of all texts together
  std::size_t max_input_tokens = 0;              // of one text, which is truncated to it
  std::size_t max_bytes = std::size_t{8} << 20;  // of all texts together
};

}  // namespace ai::provider
