//===- WholeNumber.cpp - Decimal numbers that users write -----------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Core/WholeNumber.h"

#include <charconv>
#include <string>

using namespace pdlrt;

Expected<uint64_t> pdlrt::parseWholeNumber(std::string_view text,
                                           uint64_t least, uint64_t most) {
  uint64_t number = 0;
  const char *end = text.data() + text.size();
  // from_chars accepts a sign only for signed types.
  const auto [last, error] = std::from_chars(text.data(), end, number);
  const bool isNumber = !text.empty() && last == end && error == std::errc();
  if (isNumber && number >= least && number <= most)
    return number;
  return Status::invalidArgument(
      "'" + std::string(text) + "' is no whole number from " +
      std::to_string(least) + " to " + std::to_string(most));
}
