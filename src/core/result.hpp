// Either a value or a failure: a Failure or a type derived from it. For expected outcomes; a
// programming error, such as reading the side that is not present, is thrown as an Error.
#pragma once

#include <optional>
#include <type_traits>
#include <utility>
#include <variant>

#include "core/error.hpp"
#include "core/failure.hpp"

namespace ai {

template <typename T, typename F = Failure>
class [[nodiscard]] Result {
  static_assert(!std::is_same_v<T, F> && !std::is_reference_v<T>);
  static_assert(std::is_base_of_v<Failure, F>);

 public:
  // Implicit, so that a function of type Result<T> can return either side by its plain name.
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}      // NOLINT
  Result(F failure) : state_(std::in_place_index<1>, std::move(failure)) {}  // NOLINT

  bool ok() const noexcept { return state_.index() == 0; }
  explicit operator bool() const noexcept { return ok(); }

  T& value() & { return Checked(*this); }
  const T& value() const& { return Checked(*this); }
  T&& value() && { return std::move(Checked(*this)); }

  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  const F& failure() const {
    if (ok()) {
      throw Error(ErrorCode::kInternal, "result holds a value, not a failure");
    }
    return std::get<1>(state_);
  }

 private:
  template <typename Self>
  static auto& Checked(Self& self) {
    if (!self.ok()) {
      throw Error(ErrorCode::kInternal, "result holds a failure: " + self.failure().message);
    }
    return std::get<0>(self.state_);
  }

  std::variant<T, F> state_;
};

template <typename F>
class [[nodiscard]] Result<void, F> {
 public:
  Result() = default;
  Result(F failure) : failure_(std::move(failure)) {}  // NOLINT: as above

  bool ok() const noexcept { return !failure_.has_value(); }
  explicit operator bool() const noexcept { return ok(); }

  const F& failure() const {
    if (ok()) {
      throw Error(ErrorCode::kInternal, "result holds no failure");
    }
    return *failure_;
  }

 private:
  std::optional<F> failure_;
};

}  // namespace ai
