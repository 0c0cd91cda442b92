// Vectors of one row that are too many for the memory of a worker: they wait in a temporary file
// until all of the row are there. The file is the server's, so it counts for temp_file_limit and is
// gone when the process is.
#pragma once

#include "core/pipeline/row.hpp"
#include "pg/postgres.hpp"

namespace ai::worker {

/// More than this of one row, or found for some rows at once, goes to a file.
inline constexpr std::size_t kMostVectorBytes = std::size_t{8} << 20;

class VectorSpill final : public pipeline::VectorFile {
 public:
  explicit VectorSpill(std::size_t dimensions);
  ~VectorSpill() override;

  pipeline::Step<std::size_t> Append(std::span<const float> vector) override;
  std::span<const float> Read(std::size_t number, std::vector<float>& buffer) const override;

 private:
  std::size_t bytes() const { return dimensions_ * sizeof(float); }

  std::size_t dimensions_;
  std::size_t count_ = 0;
  File file_;
};

}  // namespace ai::worker
