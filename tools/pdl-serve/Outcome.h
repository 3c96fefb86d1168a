//===- Outcome.h - Result of a request --------------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDL_TOOLS_PDL_SERVE_OUTCOME_H
#define PDL_TOOLS_PDL_SERVE_OUTCOME_H

#include <exception>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>

namespace pdlserve {

/// Category of a result, independent of the protocol.
enum class Code {
  Ok,
  BadRequest,
  NotFound,
  TooLarge,
  Unavailable,
  /// The client has closed the connection.
  Cancelled,
  Internal
};

/// Returns the name of a code in metrics.
constexpr const char *nameOf(Code code) {
  switch (code) {
  case Code::Ok:
    return "ok";
  case Code::BadRequest:
    return "bad_request";
  case Code::NotFound:
    return "not_found";
  case Code::TooLarge:
    return "too_large";
  case Code::Unavailable:
    return "unavailable";
  case Code::Cancelled:
    return "cancelled";
  case Code::Internal:
    return "internal";
  }
  return "internal";
}

/// Success, or a code and an error message for the client.
struct [[nodiscard]] Outcome {
  Outcome() = default;
  Outcome(Code code, std::string message)
      : code(code), message(std::move(message)) {}
  static Outcome bad(std::string message) {
    return {Code::BadRequest, std::move(message)};
  }

  bool ok() const { return code == Code::Ok; }

  Code code = Code::Ok;
  std::string message;
};

/// Returns the outcome of a request whose client has closed the connection
/// before the response. The message is so short that it needs no allocation.
inline Outcome clientLeft() { return {Code::Cancelled, "client left"}; }

/// Returns the outcome of a request for which the memory budget does not
/// suffice (MemoryBudget.h).
inline Outcome noBudget() {
  return {Code::Unavailable,
          "the requests in flight take as much memory as they may "
          "(--max-memory); send this one later, or to another server"};
}

/// Returns the outcome of a request for which an allocation has failed. Does
/// not throw.
inline Outcome outOfMemory() noexcept {
  // Short enough to need no allocation.
  Outcome outcome(Code::TooLarge, "out of memory");
  try {
    outcome.message = "out of memory; send smaller batches, or use a machine "
                      "with more memory";
  } catch (const std::bad_alloc &) {
  }
  return outcome;
}

/// Returns the result of `body`. Converts exceptions to outcomes, so that an
/// exception in one request does not end the process.
template <typename Body> Outcome guarded(Body &&body) {
  try {
    return body();
  } catch (const std::bad_alloc &) {
    return outOfMemory();
  } catch (const std::length_error &) {
    return outOfMemory();
  } catch (const std::exception &error) {
    // Short enough to need no allocation.
    Outcome failed(Code::Internal, "server error");
    try {
      failed.message = error.what();
    } catch (const std::bad_alloc &) {
    }
    return failed;
  }
}

} // namespace pdlserve

#endif // PDL_TOOLS_PDL_SERVE_OUTCOME_H
