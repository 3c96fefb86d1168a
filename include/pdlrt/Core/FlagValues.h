//===- FlagValues.h - Validators of flag values -----------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Checks of flag values, shared by all programs. A separate header, so that
// only programs with flags include CLI11.
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_CORE_FLAGVALUES_H
#define PDLRT_CORE_FLAGVALUES_H

#include "pdlrt/Core/WholeNumber.h"

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>

namespace pdlrt {

/// Returns a validator for `CLI::Option::transform` that accepts a whole
/// decimal number from `least` to `most` (`parseWholeNumber`). Without it CLI11
/// would read 010 as eight and 0x10 as sixteen, and would clamp too large
/// numbers to the maximum.
inline CLI::Validator wholeNumber(uint64_t least = 0,
                                  uint64_t most = UINT64_MAX) {
  return CLI::Validator(
      [least, most](std::string &text) {
        Expected<uint64_t> number = parseWholeNumber(text, least, most);
        if (!number)
          return number.status().message();
        text = std::to_string(*number);
        return std::string();
      },
      "");
}

/// Returns a validator for `CLI::Option::check` that rejects an empty value. A
/// shell passes an empty value if it expands an unset variable.
inline CLI::Validator notEmpty() {
  return CLI::Validator(
      [](std::string &text) {
        return text.empty() ? std::string("the value is empty; name something, "
                                          "or leave the flag out (is a shell's "
                                          "variable not set?)")
                            : std::string();
      },
      "");
}

} // namespace pdlrt

#endif // PDLRT_CORE_FLAGVALUES_H
