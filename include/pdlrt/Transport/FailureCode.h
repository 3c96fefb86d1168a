//===- FailureCode.h - Codes of failures on the wire ------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A refusal, and the leave of a process that failed, have an error message as
// their payload. Their note has the code, so that all processes of a job end
// with the same exit code. Programs that were built before this ignore the
// note, and send none.
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_TRANSPORT_FAILURECODE_H
#define PDLRT_TRANSPORT_FAILURECODE_H

#include "pdlrt/Core/Status.h"
#include "pdlrt/Transport/Frame.h"

namespace pdlrt {

/// Code of a failure whose sender gave no code that this program knows.
inline constexpr pdl_status codeOfUnknownFailure = PDL_FAILED_PRECONDITION;

/// Returns the code with that number, or `codeOfUnknownFailure`.
pdl_status failureCodeOf(int64_t number);

/// Returns the note of a refusal or a leave.
Message encodeFailureCode(pdl_status code);
/// Returns the code in a note, or `codeOfUnknownFailure`.
pdl_status decodeFailureCode(const Message &note);

/// Returns the error of a refusal or of a failed leave, with `context` before
/// its message.
Status failureOf(const Frame &frame, const std::string &context = {});

} // namespace pdlrt

#endif // PDLRT_TRANSPORT_FAILURECODE_H
