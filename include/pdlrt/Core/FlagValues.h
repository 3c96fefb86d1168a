//===- FlagValues.h - What flags may be given -------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Checks of the values of flags, the same in all programs. A header of its own,
// so that only programs with flags include CLI11.
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_CORE_FLAGVALUES_H
#define PDLRT_CORE_FLAGVALUES_H

#include "pdlrt/Core/WholeNumber.h"

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>

namespace pdlrt {

/// For `transform` of an option: a whole decimal number from `least` to `most`
/// (`parseWholeNumber`). CLI11 by itself takes 010 for eight, 0x10 for sixteen,
/// and the largest number for what is larger.
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

/// For `check` of an option that names something: not nothing, as a shell gives
/// it for a variable that is not set.
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
