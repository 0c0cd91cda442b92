// Walking through the elements of an array or the members of an object with range-for.
#pragma once

#include <cstdint>
#include <string_view>

#include "core/json/value.hpp"

namespace ai::json {

struct Member {
  std::string_view key;
  Value value;
};

/// Just enough of an iterator for range-for. Each node of an object's range is a key.
template <typename Element>
class Iterator {
 public:
  Iterator(const Tape& tape, std::uint32_t index) : tape_(&tape), index_(index) {}

  Element operator*() const;
  Iterator& operator++();
  bool operator==(const Iterator& other) const { return index_ == other.index_; }

 private:
  const Tape* tape_;
  std::uint32_t index_;
};

template <>
Value Iterator<Value>::operator*() const;
template <>
Iterator<Value>& Iterator<Value>::operator++();
template <>
Member Iterator<Member>::operator*() const;
template <>
Iterator<Member>& Iterator<Member>::operator++();

class Items {
 public:
  Items(const Tape& tape, std::uint32_t begin, std::uint32_t end)
      : begin_(tape, begin), end_(tape, end) {}
  Iterator<Value> begin() const { return begin_; }
  Iterator<Value> end() const { return end_; }

 private:
  Iterator<Value> begin_;
  Iterator<Value> end_;
};

/// In the order of the text, duplicates included.
class Members {
 public:
  Members(const Tape& tape, std::uint32_t begin, std::uint32_t end)
      : begin_(tape, begin), end_(tape, end) {}
  Iterator<Member> begin() const { return begin_; }
  Iterator<Member> end() const { return end_; }

 private:
  Iterator<Member> begin_;
  Iterator<Member> end_;
};

}  // namespace ai::json
