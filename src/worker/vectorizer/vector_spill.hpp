// Spills the vectors of one row that exceed a worker's memory to a temporary file until the row is
// complete. It is one of the server's temporary files: it counts towards temp_file_limit and is
// removed when the process exits.
#pragma once

#include "core/pipeline/row.hpp"
#include "pg/postgres.hpp"

namespace ai::worker {

/// More vectors than this of one row, or reused for some rows at once, go to a file.
inline constexpr std::size_t kMaxVectorBytes = std::size_t{8} << 20;

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
