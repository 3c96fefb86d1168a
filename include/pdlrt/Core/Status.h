//===- Status.h - Results that may be an error ------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// If a user can cause an error, the runtime returns it as a code and a message,
// which names the location and the remedy. It throws no exceptions for such
// errors.
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_CORE_STATUS_H
#define PDLRT_CORE_STATUS_H

#include "pdlabi/abi/status.h"

#include <cassert>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace pdlrt {

/// Success, or an ABI error code with an error message. Success is a null
/// pointer, so returning it for each row costs nothing.
class [[nodiscard]] Status {
public:
  /// Success.
  Status() = default;
  /// A failure. `code` must not be PDL_OK. `message` has no trailing line
  /// break.
  Status(pdl_status code, std::string message)
      : failure(std::make_unique<Failure>(Failure{code, std::move(message)})) {
    assert(code != PDL_OK && "success carries no message");
  }
  Status(const Status &other)
      : failure(other.ok() ? nullptr
                           : std::make_unique<Failure>(*other.failure)) {}
  Status(Status &&) noexcept = default;
  Status &operator=(const Status &other) { return *this = Status(other); }
  Status &operator=(Status &&) noexcept = default;
  ~Status() = default;

  // One factory for each code.

  /// A flag, a value in the data, or an argument of a call is invalid.
  static Status invalidArgument(std::string message) {
    return {PDL_INVALID_ARGUMENT, std::move(message)};
  }
  /// A file or folder does not exist.
  static Status notFound(std::string message) {
    return {PDL_NOT_FOUND, std::move(message)};
  }
  /// A system call on a file, folder or socket failed.
  static Status ioError(std::string message) {
    return {PDL_IO_ERROR, std::move(message)};
  }
  /// A file or message is incomplete or damaged.
  static Status dataLoss(std::string message) {
    return {PDL_DATA_LOSS, std::move(message)};
  }
  /// Another process has ended or cannot be reached yet.
  static Status unavailable(std::string message) {
    return {PDL_UNAVAILABLE, std::move(message)};
  }
  /// A time limit has passed.
  static Status deadlineExceeded(std::string message) {
    return {PDL_DEADLINE_EXCEEDED, std::move(message)};
  }
  /// A disk is full, or a limit other than memory is reached.
  static Status resourceExhausted(std::string message) {
    return {PDL_RESOURCE_EXHAUSTED, std::move(message)};
  }
  /// Memory is exhausted, of the host or of a device.
  static Status outOfMemory(std::string message) {
    return {PDL_OUT_OF_MEMORY, std::move(message)};
  }
  /// The current state does not allow the call. For example, a checkpoint is of
  /// another model.
  static Status failedPrecondition(std::string message) {
    return {PDL_FAILED_PRECONDITION, std::move(message)};
  }
  /// The work ended early because a stop was requested.
  static Status cancelled(std::string message) {
    return {PDL_CANCELLED, std::move(message)};
  }
  /// An invariant of PDL is broken.
  static Status internal(std::string message) {
    return {PDL_INTERNAL, std::move(message)};
  }
  /// Returns the error of a failed system call. `error` is its errno value and
  /// determines the code (`pdlabi::codeOfErrno`).
  static Status ofErrno(int error, std::string message);
  /// Converts the result of generated code. For PDL_OK, returns success.
  /// Otherwise returns an error with `code` and the last error message of the
  /// calling thread.
  static Status fromLastError(int32_t code) {
    if (code == PDL_OK)
      return {};
    return {static_cast<pdl_status>(code), pdlrt_last_error()};
  }

  bool ok() const { return !failure; }
  pdl_status code() const { return ok() ? PDL_OK : failure->code; }
  /// Returns the error message; empty on success.
  const std::string &message() const {
    static const std::string none;
    return ok() ? none : failure->message;
  }

  /// Returns the same error with `context` and ": " before its message.
  Status withContext(const std::string &context) && {
    if (!ok())
      failure->message = context + ": " + failure->message;
    return std::move(*this);
  }
  /// Stores the message as the calling thread's last error message, and returns
  /// the code. For the return statements of `pdlrt_*` functions.
  int32_t report() const {
    return ok() ? static_cast<int32_t>(PDL_OK)
                : pdlrt_set_error(failure->code, failure->message.c_str());
  }

private:
  struct Failure {
    pdl_status code;
    std::string message;
  };
  std::unique_ptr<Failure> failure;
};

/// Returns the name of a code, such as "InvalidArgument"; "Unknown" if this
/// program does not know the code.
const char *nameOf(pdl_status code);

/// The value that a function returns, or the error if the function failed.
template <typename T> class [[nodiscard]] Expected {
public:
  Expected(T value) : content(std::move(value)) {}
  Expected(Status failure) : failureStatus(std::move(failure)) {
    assert(!failureStatus.ok() && "an error must carry a message");
  }

  bool ok() const { return content.has_value(); }
  explicit operator bool() const { return ok(); }

  /// Returns the error; success if there is a value.
  const Status &status() const & { return failureStatus; }
  Status status() && { return std::move(failureStatus); }

  // Callers must check for an error before they access the value.
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

/// Returns from the calling function with the error of `expression`, if it has
/// one.
#define PDLRT_RETURN_IF_ERROR(expression)                                      \
  do {                                                                         \
    if (::pdlrt::Status pdlrtStatus = (expression); !pdlrtStatus.ok())         \
      return pdlrtStatus;                                                      \
  } while (false)

#endif // PDLRT_CORE_STATUS_H
