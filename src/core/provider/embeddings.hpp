// The vectors of one reply, in the order of the texts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace ai::provider {

/// pgvector's type vector has no more.
inline constexpr std::size_t kMaxDimensions = 16'000;

struct Embeddings {
  std::size_t dimensions = 0;
  std::vector<float> values = {};  // one vector behind the other, every value finite
  std::optional<std::int64_t> input_tokens = std::nullopt;  // as the provider counted them

  std::size_t count() const { return dimensions == 0 ? 0 : values.size() / dimensions; }
  std::span<const float> operator[](std::size_t index) const {
    return std::span(values).subspan(index * dimensions, dimensions);
  }
  /// Keeps the memory.
  void Clear() {
    dimensions = 0;
    values.clear();
    input_tokens.reset();
  }
};

}  // namespace ai::provider
