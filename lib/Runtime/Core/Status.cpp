//===- Status.cpp - Results that may be an error --------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Core/Status.h"

#include "pdlabi/exit_code.h"

using namespace pdlrt;

Status Status::ofErrno(int error, std::string message) {
  return {pdlabi::codeOfErrno(error), std::move(message)};
}

const char *pdlrt::nameOf(pdl_status code) {
  switch (code) {
  case PDL_OK:
    return "Ok";
  case PDL_INVALID_ARGUMENT:
    return "InvalidArgument";
  case PDL_OUT_OF_MEMORY:
    return "OutOfMemory";
  case PDL_INTERNAL:
    return "Internal";
  case PDL_UNAVAILABLE:
    return "Unavailable";
  case PDL_NOT_FOUND:
    return "NotFound";
  case PDL_IO_ERROR:
    return "IoError";
  case PDL_DATA_LOSS:
    return "DataLoss";
  case PDL_DEADLINE_EXCEEDED:
    return "DeadlineExceeded";
  case PDL_RESOURCE_EXHAUSTED:
    return "ResourceExhausted";
  case PDL_FAILED_PRECONDITION:
    return "FailedPrecondition";
  case PDL_CANCELLED:
    return "Cancelled";
  }
  return "Unknown";
}
