// gate.hpp: the requests that hang until somebody releases them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>

namespace ai::mock {

class Gate {
 public:
  /// Holds until `release` is called, from any thread and once; returns a ticket.
  uint64_t Hold(std::function<void()> release);

  /// Takes a request out that is gone.
  void Forget(uint64_t ticket);

  /// Releases all that hang now and says how many.
  size_t ReleaseAll();

 private:
  std::mutex mutex_;
  std::map<uint64_t, std::function<void()>> held_;
  uint64_t last_ = 0;
};

}  // namespace ai::mock
