// How many chunks to store in one transaction, so that it stays short: it holds locks on users'
// rows and tables. Learned from previous transactions.
#pragma once

#include <chrono>
#include <cstddef>

namespace ai::policy {

class StoreBudget final {
 public:
  /// How long a transaction may take.
  static constexpr std::chrono::milliseconds kTime{50};

  /// How many chunks fit into the next transaction; at least one.
  std::size_t Chunks() const noexcept;

  /// A transaction with so many chunks took so long.
  void Took(std::size_t chunks, std::chrono::microseconds time) noexcept;

 private:
  double microseconds_ = 1000;  // per chunk
};

}  // namespace ai::policy
