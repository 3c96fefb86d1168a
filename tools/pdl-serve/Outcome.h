//===- Outcome.h - How a request ended --------------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLSERVE_OUTCOME_H
#define PDLSERVE_OUTCOME_H

#include <new>
#include <string>
#include <utility>

namespace pdlserve {

/// Whose fault it is, in the words of no protocol.
enum class Code {
  Ok,
  BadRequest,
  NotFound,
  TooLarge,
  Unavailable,
  /// Who asked has left.
  Cancelled,
  Internal
};

/// As the metrics name it.
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

/// Success, or a code and one sentence for who asked.
struct [[nodiscard]] Outcome {
  Outcome() = default;
  Outcome(Code code, std::string sentence)
      : code(code), sentence(std::move(sentence)) {}
  static Outcome bad(std::string sentence) {
    return {Code::BadRequest, std::move(sentence)};
  }

  bool ok() const { return code == Code::Ok; }

  Code code = Code::Ok;
  std::string sentence;
};

/// What `body` returns, or that there is no memory for it.
template <typename Body> Outcome withMemory(Body &&body) {
  try {
    return body();
  } catch (const std::bad_alloc &) {
    return {Code::TooLarge, "out of memory; send smaller batches, or use a "
                            "machine with more memory"};
  }
}

} // namespace pdlserve

#endif // PDLSERVE_OUTCOME_H
