// How many chunks to store in one transaction, so that it ends within a time: until then rows and
// tables of users are locked. Learned from the transactions before.
#pragma once

#include <chrono>
#include <cstddef>

namespace ai::policy {

class StoreBudget final {
 public:
  /// How long a transaction may take.
  static constexpr std::chrono::milliseconds kTime{50};

  /// How many chunks fit into the next one; at least one.
  std::size_t Chunks() const noexcept;

  /// A transaction with so many chunks has taken so long.
  void Took(std::size_t chunks, std::chrono::microseconds time) noexcept;

 private:
  double microseconds_ = 1000;  // for a chunk
};

}  // namespace ai::policy
