//===- FailureCode.h - Codes of failures on the wire ------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The payload of a Refusal, and of the Leave of a trainer that has failed, is
// an error message. The note of these messages has the error code, so that all
// processes of a job end with the same exit code. Older programs ignore the
// note and do not send it.
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_TRANSPORT_FAILURECODE_H
#define PDLRT_TRANSPORT_FAILURECODE_H

#include "pdlrt/Core/Status.h"
#include "pdlrt/Transport/Frame.h"

namespace pdlrt {

/// Code of a failure if its message has no code, or a code that this program
/// does not know.
inline constexpr pdl_status codeOfUnknownFailure = PDL_FAILED_PRECONDITION;

/// Returns the error code with number `number`, or `codeOfUnknownFailure` if
/// there is none.
pdl_status failureCodeOf(int64_t number);

/// Returns the note of a Refusal or a Leave with error code `code`.
Message encodeFailureCode(pdl_status code);
/// Returns the error code in a note, or `codeOfUnknownFailure` if there is
/// none.
pdl_status decodeFailureCode(const Message &note);

/// Returns the error that a Refusal, or the Leave of a failed trainer, reports.
/// Its message begins with `context`.
Status failureOf(const Frame &frame, const std::string &context = {});

} // namespace pdlrt

#endif // PDLRT_TRANSPORT_FAILURECODE_H
