// See splitter.hpp.
#include "core/text/splitter.hpp"

#include <functional>

#include "core/error.hpp"

namespace ai::text {

void ValidateChunkSize(const SplitterOptions& options) {
  if (options.chunk_size <= 0) {
    throw Error(ErrorCode::kInvalidParameter,
                "chunk_size must be > 0, got " + std::to_string(options.chunk_size));
  }
}

void ValidateChunkOverlap(const SplitterOptions& options) {
  if (options.chunk_overlap < 0) {
    throw Error(ErrorCode::kInvalidParameter,
                "chunk_overlap must be >= 0, got " + std::to_string(options.chunk_overlap));
  }
}

void ChunkList::Add(std::string_view chunk) {
  // std::less orders pointers of different objects, which < need not.
  const std::less<const char*> before;
  const bool slice = !before(chunk.data(), document_.data()) &&
                     !before(document_.data() + document_.size(), chunk.data() + chunk.size());
  chunks_.push_back(slice ? chunk : std::string_view(copies_.emplace_back(chunk)));
}

}  // namespace ai::text
