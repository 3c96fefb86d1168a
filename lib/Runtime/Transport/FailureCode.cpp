//===- FailureCode.cpp - Codes of failures on the wire --------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Transport/FailureCode.h"

#include "pdlrt/Core/WholeNumber.h"

#include <string_view>

using namespace pdlrt;

static constexpr std::string_view prefix = "failure code ";

pdl_status pdlrt::failureCodeOf(int64_t number) {
  return number > PDL_OK && number <= PDL_CANCELLED
             ? static_cast<pdl_status>(number)
             : codeOfUnknownFailure;
}

Message pdlrt::encodeFailureCode(pdl_status code) {
  return Message::ofString(std::string(prefix) +
                           std::to_string(static_cast<int>(code)));
}

pdl_status pdlrt::decodeFailureCode(const Message &note) {
  constexpr size_t longest = 32;
  if (note.size() > longest)
    return codeOfUnknownFailure;
  const std::string text = note.toString();
  if (!text.starts_with(prefix))
    return codeOfUnknownFailure;
  const auto number =
      parseWholeNumber(std::string_view(text).substr(prefix.size()), 1, 255);
  return number ? failureCodeOf(int64_t(*number)) : codeOfUnknownFailure;
}

Status pdlrt::failureOf(const Frame &frame, const std::string &context) {
  return {decodeFailureCode(frame.note), context + frame.payload.toString()};
}
