// Memory of answers that were read, kept for the next ones: fresh memory costs a page fault for
// every 4 kB, which is more than to receive them. Bounded in number and bytes.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace ai::http {

class BufferPool {
 public:
  static constexpr std::size_t kSmallest = std::size_t{16} << 10;  // below it is not worth it
  static constexpr std::size_t kMaxBytes = std::size_t{8} << 20;

  explicit BufferPool(std::size_t most_buffers) : most_buffers_(most_buffers) {}

  /// An empty string, with memory if there is some.
  std::string Take() {
    if (buffers_.empty()) {
      return {};
    }
    std::string buffer = std::move(buffers_.back());
    buffers_.pop_back();
    bytes_ -= buffer.capacity();
    return buffer;
  }

  /// Keeps the memory of the string, or frees it.
  void Give(std::string buffer) {
    const std::size_t capacity = buffer.capacity();
    if (capacity < kSmallest || capacity > kMaxBytes - bytes_ || buffers_.size() == most_buffers_) {
      return;
    }
    buffer.clear();
    buffers_.push_back(std::move(buffer));
    bytes_ += capacity;
  }

  std::size_t bytes() const { return bytes_; }

 private:
  std::size_t most_buffers_;
  std::size_t bytes_ = 0;
  std::vector<std::string> buffers_;
};

}  // namespace ai::http
