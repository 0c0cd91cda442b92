// A queue in one block of memory that is reused, because a deque allocates as it moves along.
#pragma once

#include <cstddef>
#include <vector>

namespace ai::text {

template <typename T>
class FlatQueue {
 public:
  bool empty() const { return head_ == items_.size(); }
  std::size_t size() const { return items_.size() - head_; }

  /// INVARIANT: the queue is not empty, index is below size().
  const T& front() const { return items_[head_]; }
  const T& back() const { return items_.back(); }
  const T& operator[](std::size_t index) const { return items_[head_ + index]; }

  void push_back(const T& item) {
    if (head_ > kMinimumSlack && head_ > size()) {
      items_.erase(items_.begin(), items_.begin() + static_cast<std::ptrdiff_t>(head_));
      head_ = 0;
    }
    items_.push_back(item);
  }

  void pop_back() { items_.pop_back(); }
  void pop_front() { ++head_; }

  void clear() {
    items_.clear();
    head_ = 0;
  }

 private:
  static constexpr std::size_t kMinimumSlack = 64;

  std::vector<T> items_;
  std::size_t head_ = 0;
};

}  // namespace ai::text
