//===- Status.h - Results that may be an error ------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// How the runtime reports what a user can cause: a code and one sentence that
// names the place and the remedy. No exception is thrown for such an error.
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_CORE_STATUS_H
#define PDLRT_CORE_STATUS_H

#include "pdlabi/abi.h"

#include <cassert>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace pdlrt {

/// Success, or a code of the ABI with one sentence. Success is a null pointer,
/// so that it costs nothing to return it for each row.
class [[nodiscard]] Status {
public:
  /// Success.
  Status() = default;
  /// A failure. `code` is not PDL_OK; `message` is one sentence without a
  /// trailing line break.
  Status(pdl_status code, std::string message)
      : failure(std::make_unique<Failure>(Failure{code, std::move(message)})) {
    assert(code != PDL_OK && "success carries no sentence");
  }
  Status(const Status &other)
      : failure(other.ok() ? nullptr
                           : std::make_unique<Failure>(*other.failure)) {}
  Status(Status &&) noexcept = default;
  Status &operator=(const Status &other) { return *this = Status(other); }
  Status &operator=(Status &&) noexcept = default;
  ~Status() = default;

  static Status invalid(std::string message) {
    return {PDL_INVALID_ARGUMENT, std::move(message)};
  }
  static Status outOfMemory(std::string message) {
    return {PDL_OUT_OF_MEMORY, std::move(message)};
  }
  static Status internal(std::string message) {
    return {PDL_INTERNAL, std::move(message)};
  }
  /// What generated code left behind: `code` with the calling thread's last
  /// sentence; success for PDL_OK.
  static Status fromLastError(int32_t code) {
    if (code == PDL_OK)
      return {};
    return {static_cast<pdl_status>(code), pdlrt_last_error()};
  }

  bool ok() const { return !failure; }
  pdl_status code() const { return ok() ? PDL_OK : failure->code; }
  /// Empty on success.
  const std::string &message() const {
    static const std::string none;
    return ok() ? none : failure->sentence;
  }

  /// The same error with `context` and ": " before its sentence.
  Status withContext(const std::string &context) && {
    if (!ok())
      failure->sentence = context + ": " + failure->sentence;
    return std::move(*this);
  }
  /// Keeps the sentence for the calling thread and returns the code: the way
  /// out of a `pdlrt_*` function.
  int32_t report() const {
    return ok() ? static_cast<int32_t>(PDL_OK)
                : pdlrt_set_error(failure->code, failure->sentence.c_str());
  }

private:
  struct Failure {
    pdl_status code;
    std::string sentence;
  };
  std::unique_ptr<Failure> failure;
};

/// A value, or the status that says why there is none.
template <typename T> class [[nodiscard]] Expected {
public:
  Expected(T value) : content(std::move(value)) {}
  Expected(Status failure) : failureStatus(std::move(failure)) {
    assert(!failureStatus.ok() && "an error must carry a sentence");
  }

  bool ok() const { return content.has_value(); }
  explicit operator bool() const { return ok(); }

  /// The error; success if there is a value.
  const Status &status() const & { return failureStatus; }
  Status status() && { return std::move(failureStatus); }

  // A value is taken only after asking: an error here is the caller's.
  // NOLINTBEGIN(bugprone-unchecked-optional-access)
  T &operator*() & {
    assert(ok());
    return *content;
  }
  const T &operator*() const & {
    assert(ok());
    return *content;
  }
  T &&operator*() && {
    assert(ok());
    return std::move(*content);
  }
  T *operator->() {
    assert(ok());
    return &*content;
  }
  const T *operator->() const {
    assert(ok());
    return &*content;
  }
  // NOLINTEND(bugprone-unchecked-optional-access)

private:
  std::optional<T> content;
  Status failureStatus;
};

} // namespace pdlrt

/// Leaves the calling function with the error of `expression`, if it has one.
#define PDLRT_RETURN_IF_ERROR(expression)                                      \
  do {                                                                         \
    if (::pdlrt::Status pdlrtStatus = (expression); !pdlrtStatus.ok())         \
      return pdlrtStatus;                                                      \
  } while (false)

#endif // PDLRT_CORE_STATUS_H
