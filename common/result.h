// Result<T>: a value, or the Error that stands in its place. Every function that can fail returns one.
#pragma once

#include <cassert>
#include <optional>
#include <utility>
#include <variant>

#include "common/error.h"

namespace sessiond {

template <class T>
class [[nodiscard]] Result {
 public:
  using value_type = T;

  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }

  // Precondition of value(), * and ->: ok(). Of error(): !ok().
  T& value() & { return *std::get_if<0>(&state_); }
  const T& value() const& { return *std::get_if<0>(&state_); }
  T&& value() && { return std::move(*std::get_if<0>(&state_)); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return std::get_if<0>(&state_); }
  const T* operator->() const { return std::get_if<0>(&state_); }
  Error& error() & { return *std::get_if<1>(&state_); }
  const Error& error() const& { return *std::get_if<1>(&state_); }
  Error&& error() && { return std::move(*std::get_if<1>(&state_)); }

 private:
  std::variant<T, Error> state_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  using value_type = void;

  Result() = default;
  Result(Error error) : error_(std::move(error)) {}

  bool ok() const { return !error_.has_value(); }
  explicit operator bool() const { return ok(); }
  Error& error() & { return *error_; }
  const Error& error() const& { return *error_; }
  Error&& error() && { return std::move(*error_); }

 private:
  std::optional<Error> error_;
};

using Status = Result<void>;

}  // namespace sessiond

// Leaves the function with the error of `expr`, a Status or a Result whose value is not needed.
#define SESSIOND_TRY(expr)                                                                \
  do {                                                                                    \
    if (auto try_result = (expr); !try_result.ok()) return std::move(try_result).error(); \
  } while (false)

#define SESSIOND_JOIN_(a, b) a##b
#define SESSIOND_JOIN(a, b) SESSIOND_JOIN_(a, b)
// SESSIOND_ASSIGN(auto x, f()) declares x with the value of f(), or leaves the function with its error.
#define SESSIOND_ASSIGN(target, expr) SESSIOND_ASSIGN_(SESSIOND_JOIN(result_at_, __LINE__), target, expr)
#define SESSIOND_ASSIGN_(holder, target, expr)        \
  auto holder = (expr);                               \
  if (!holder.ok()) return std::move(holder).error(); \
  target = std::move(holder).value()
